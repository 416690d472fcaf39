/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_OVERLAP_MARGINS_H
#define CAIRN_ANALYSIS_OVERLAP_MARGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/overlap.h"

/*
 * One half of pairs, and how often it was taken, whatever it was joined with.
 * Its group says what it could be joined with: of a LOOP the block that its
 * ended edges lead to (overlap_margins.base + block), of a CALL or RETURN the
 * site for a caller's half, the function for a callee's.
 */
struct overlap_item {
	uint32_t group;
	/* what tells it from others of its group: the part of a LOOP; else the
	 * sum, which is a prefix, a path or the rest of one */
	uint32_t first, last;
	uint64_t sum;
	uint64_t count;
	/* of a second half: a path that has it, for overlap_behind; the number
	 * also of the first half of a LOOP */
	uint32_t function;
	block_id from, block;
	uint64_t number;
};

struct overlap_items {
	struct overlap_item *items; /* by group, first, last, sum */
	size_t n, cap;
};

/* A pair with its halves named as items are, and all that was counted of it. */
struct overlap_joint {
	struct overlap_item row; /* its group is that of the second half */
	struct overlap_item to;
	size_t column; /* in second[kind]; SIZE_MAX: it is not whole */
	size_t sample; /* a count of the profile that has it */
};

/* All that does not depend on a degree. */
struct overlap_margins {
	const struct overlap_profile *profile; /* borrowed */
	uint32_t *base;                        /* per function: its blocks */
	struct overlap_items first[OVERLAP_NKINDS], second[OVERLAP_NKINDS];
	/* second halves that were not completed, or are torn */
	struct overlap_items open[OVERLAP_NKINDS];
	struct overlap_items torn[OVERLAP_NKINDS]; /* first halves that are */
	struct overlap_joint *joints[OVERLAP_NKINDS]; /* by group and names */
	size_t njoints[OVERLAP_NKINDS];
	uint32_t *site_at, *sites; /* sites by base + block */
};

/* Requires: p outlives m, and its numbers are right: overlap_profile_check. */
void overlap_margins_init(struct overlap_margins *m,
                          const struct overlap_profile *p);
void overlap_margins_release(struct overlap_margins *m);

/* The items of a group: *n from the result on. */
const struct overlap_item *overlap_items_of(const struct overlap_items *x,
                                            uint32_t group, size_t *n);
/* The place of an item with the same group and name, or SIZE_MAX. */
size_t overlap_items_find(const struct overlap_items *x,
                          const struct overlap_item *item);

#endif /* CAIRN_ANALYSIS_OVERLAP_MARGINS_H */
