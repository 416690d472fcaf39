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

/* What a context left there until it got a number, or what it found. */
struct changes_part {
	uint64_t order, since; /* since: its number before what it found */
	uint64_t until;        /* its next number */
	uint64_t number;       /* of all, in the order of adding */
	uint32_t context;
	uint32_t found; /* its index; CHANGES_STORED: the context stored it */
	uint64_t offset;
	size_t n;
	size_t bytes; /* where they are, in `bytes` and `whose` */
};

#define CHANGES_STORED UINT32_MAX

/* A byte was stored between two numbers of a context. */
struct changes_stored {
	uint32_t context;
	uint32_t before; /* another one of the same byte; PTRMAP_NONE: none */
	uint64_t order, until;
	/* of the one that wrote over it, in the order of all; 0: none yet */
	uint64_t gone;
	uint32_t gone_by; /* context */
};

/* Of something that was found. */
struct changes_found {
	uint64_t order;
	bool is_news; /* no context has stored it */
};

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
	/* The bits that count; a store that leaves these as they were is not a
	 * change.  NULL: all do, and any store counts. */
	const unsigned char *mask;
	uint32_t thread; /* whose memory it is; 0: that of all */
	/* private from here on */
	bool has_several;      /* contexts, all of which were noted */
	struct ptrmap last_of; /* a byte at an offset to the last in `stored` */
	struct changes_stored *stored;
	size_t nstored, stored_cap, nclosed; /* closed: `until` is known */
	struct changes_part *parts;
	size_t nparts, parts_cap;
	unsigned char *bytes;
	uint32_t *whose; /* index in `stored` of each */
	size_t nbytes, bytes_cap, whose_cap;
	uint32_t *last_here; /* in `stored`, of each byte that is watched */
	size_t nended;       /* parts whose `until` is known */
	struct changes_found *found;
	size_t nfound, found_cap, next_found, nplaced; /* placed: in order */
	bool *is_left; /* bytes that were stored since `left_order`: */
	uint64_t left_from, left_to, left_order;
	uint64_t last; /* number of the context */
	uint32_t context;
	unsigned char *now;
	bool *knows;
	struct change *items;
	size_t n, cap, first; /* of the context: items from `first` on */
	uint64_t total;
	uint64_t nsame; /* stores that left the bits that count as they were */
	bool is_cut;    /* the log of a context breaks off: there may be more */
	uint64_t ndoubtful; /* stores that were made, or not (struct
	                       engine_write) */
};

/* Requires: the fields above are set. */
void changes_init(struct changes *c);
void changes_release(struct changes *c);

/* A context begins: nothing is known but what the memory began with. */
void changes_begin(struct changes *c, uint32_t context);
/* Only remembers who stored and found what: of all contexts, before the first
 * is added. */
void changes_note(struct changes *c, const struct engine_write *w,
                  const unsigned char *now);
/* The context that is noted got a number (engine_listen_numbers), or ended. */
void changes_number(struct changes *c, uint64_t number, uint64_t own);
void changes_end(struct changes *c);
/* All contexts were noted: finds out what is news. */
void changes_decide(struct changes *c);
/* Adds one of it; what is there now is at `now`. */
void changes_add(struct changes *c, const struct engine_write *w,
                 const unsigned char *now);
/* Puts those of all contexts in order, and leaves `limit` of them. */
void changes_finish(struct changes *c);

#endif /* CAIRN_REPLAY_CHANGES_H */
