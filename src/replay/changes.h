/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_CHANGES_H
#define CAIRN_REPLAY_CHANGES_H

#include "base/ptrmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_write;

#define CHANGE_FEW 16u

/* A store to memory that is watched, or a change of it that was found. */
struct change {
	uint32_t context;
	uint64_t tick, order, cell; /* as in struct engine_write */
	uint32_t site;
	bool is_outside, is_copy;
	bool is_first;   /* what was there before is not known */
	uint64_t number; /* of all, in the order of adding */
	uint64_t offset; /* in what is watched */
	size_t n;
	/* n bytes before, then n afterwards: in `few` if they fit */
	unsigned char few[2 * CHANGE_FEW], *many;
};

static inline unsigned char *change_bytes(struct change *x)
{
	return x->n <= CHANGE_FEW ? x->few : x->many;
}

/*
 * The first or the last of all changes, at most `limit` of each context (0: no
 * limit), and what the context knows of the memory.
 */
struct changes {
	uint64_t at;
	size_t size;
	size_t limit;
	bool keeps_last;
	const unsigned char *initial; /* size bytes, where is_known; NULL: */
	const bool *is_known;         /* nothing is */
	/* Makes of n bytes at an offset, which were found, what they are a part
	 * of.  NULL: they stay as they are. */
	void (*widen)(const void *context, uint64_t *offset, uint64_t *n);
	const void *context_of_widen;
	/* private from here on */
	struct ptrmap stored; /* bytes at offsets to who has stored them */
	uint32_t context;
	unsigned char *now;
	bool *knows;
	struct change *items;
	size_t n, cap, first; /* of the context: items from `first` on */
	uint64_t total;
};

/* Requires: the fields above are set. */
void changes_init(struct changes *c);
void changes_release(struct changes *c);

/* A context begins: nothing is known but what the memory began with. */
void changes_begin(struct changes *c, uint32_t context);
/* Only remembers who stored what, so that it is known when others find it: of
 * all contexts, before the first is added. */
void changes_note(struct changes *c, const struct engine_write *w,
                  const unsigned char *now);
/* Adds one of it; what is there now is at `now`. */
void changes_add(struct changes *c, const struct engine_write *w,
                 const unsigned char *now);
/* Puts those of all contexts in order, and leaves `limit` of them. */
void changes_finish(struct changes *c);

#endif /* CAIRN_REPLAY_CHANGES_H */
