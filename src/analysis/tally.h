/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TALLY_H
#define CAIRN_ANALYSIS_TALLY_H

#include <stddef.h>
#include <stdint.h>

/* How often each pair of numbers was seen; {0} is an empty one. */
struct tally_item {
	uint64_t a, b;
	uint64_t count; /* 0: no item */
};

struct tally {
	struct tally_item *items;
	size_t n, cap; /* cap is 0 or a power of two */
};

void tally_release(struct tally *t);
/* Room for one more, and where it is counted. */
uint64_t *tally_find(struct tally *t, uint64_t a, uint64_t b);

static inline void tally_add(struct tally *t, uint64_t a, uint64_t b)
{
	++*tally_find(t, a, b);
}

#endif /* CAIRN_ANALYSIS_TALLY_H */
