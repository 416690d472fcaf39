/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_READING_H
#define CAIRN_TESTS_READING_H

/*
 * Is a stream read the same from anywhere?  One after the other the events of a
 * walk are what they are; here they are read in batches, from random moments
 * forwards and backwards, over checkpoints that are thinned, and with the
 * stream in parts; and of streams that are cut or damaged what comes before
 * must be the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/trace.h"
#include "base/alloc.h"
#include "base/err.h"
#include "walk/checkpoints.h"
#include "walk/reader.h"
#include "walk/walk.h"
#include "../unit/graphs.h"

/* A stream in parts, which end between items. */
struct reading {
	struct walk_program *program;
	const uint8_t *bytes;
	size_t n;
	size_t *ends; /* of parts */
	size_t nparts, ends_cap, part;
	struct rng *rng;
	struct reader_event *events; /* all of them */
	size_t nevents, events_cap;
	uint64_t nblocks;
};

static inline size_t reading_item(uint8_t byte)
{
	if (byte <= CAIRN_TRACE_SMALL || byte == CAIRN_TRACE_PAD)
		return 1;
	if (byte < CAIRN_TRACE_MARK)
		return 1 + (byte & 15u);
	return byte == CAIRN_TRACE_TIME || byte == CAIRN_TRACE_SYNC ||
	                       byte == CAIRN_TRACE_COUNT
	               ? 9
	               : 5;
}

static inline int reading_next(void *context, const uint8_t **bytes, size_t *n,
                               struct cairn_err *err)
{
	struct reading *r = context;
	size_t start = r->part ? r->ends[r->part - 1] : 0;

	(void)err;
	if (r->part == r->nparts)
		return 0;
	*bytes = r->bytes + start;
	*n = r->ends[r->part++] - start;
	return 1;
}

static inline void reading_seek(void *context, uint64_t part)
{
	struct reading *r = context;

	r->part = (size_t)part;
}

static inline void reading_split(struct reading *r)
{
	size_t at = 0;

	while (at < r->n) {
		at += reading_item(r->bytes[at]);
		if (at < r->n && !rng_percent(r->rng, 10))
			continue;
		VEC_RESERVE(r->ends, r->nparts, r->ends_cap);
		r->ends[r->nparts++] = at < r->n ? at : r->n;
	}
}

static inline void reading_begin(struct reading *r, struct walk *w)
{
	r->part = 0;
	walk_init(w, r->program,
	          (struct walk_source){r, reading_next, reading_seek});
}

static inline bool reading_same(const struct reader_event *a,
                                const struct reader_event *b)
{
	return a->block == b->block && a->e.kind == b->e.kind &&
	       a->e.function == b->e.function && a->e.depth == b->e.depth &&
	       a->e.way == b->e.way && a->e.nskipped == b->e.nskipped &&
	       a->e.block == b->e.block && a->e.value == b->e.value;
}

/* All events, one by one. */
static inline int reading_all(struct reading *r)
{
	struct reader_event event;
	struct walk w;
	int got;

	reading_begin(r, &w);
	for (;;) {
		event.block = w.nblocks;
		got = walk_next(&w, &event.e, NULL);
		if (got != 1)
			break;
		VEC_RESERVE(r->events, r->nevents, r->events_cap);
		r->events[r->nevents++] = event;
	}
	r->nblocks = w.nblocks;
	walk_release(&w);
	return got;
}

/* In batches, with checkpoints. */
static inline const char *reading_batches(struct reading *r,
                                          struct checkpoints *c)
{
	struct walk_event batch[40];
	struct reader_event event;
	size_t at = 0, n;
	struct walk w;
	int got = 1;
	const char *why = NULL;

	reading_begin(r, &w);
	while (got == 1 && !why) {
		event.block = w.nblocks;
		checkpoints_offer(c, &w);
		got = walk_run(&w, batch, 1 + rng_below(r->rng, 40), &n, NULL);
		for (size_t i = 0; i < n && !why; i++) {
			event.e = batch[i];
			if (at == r->nevents ||
			    !reading_same(&event, &r->events[at++]))
				why = "other events in batches";
			event.block += walk_nblocks(&event.e);
		}
	}
	if (!why && (at != r->nevents || w.nblocks != r->nblocks))
		why = "fewer events in batches";
	walk_release(&w);
	return why;
}

/* From where the reader is, some steps back and forth. */
static inline const char *reading_steps(struct reading *r, struct reader *x,
                                        size_t at)
{
	for (int turn = 0; turn < 4; turn++) {
		uint32_t n = rng_below(r->rng, 60);
		bool back = turn % 2;

		if (rng_percent(r->rng, 10))
			n = 1000000;
		while (n-- > 0) {
			struct reader_event event;
			int got = back ? reader_prev(x, &event, NULL)
			               : reader_next(x, &event, NULL);

			if (got != (back ? at > 0 : at < r->nevents))
				return "the end is elsewhere";
			if (!got)
				break;
			if (!reading_same(&event,
			                  &r->events[back ? --at : at++]))
				return back ? "other events backwards"
				            : "other events forwards";
			if (reader_tell(x) != at)
				return "another number of the event";
		}
	}
	return NULL;
}

static inline size_t reading_event_of(const struct reading *r, uint64_t block)
{
	size_t i = 0;

	while (i < r->nevents &&
	       r->events[i].block + walk_nblocks(&r->events[i].e) <= block)
		i++;
	return i;
}

static inline const char *reading_moments(struct reading *r,
                                          const struct checkpoints *c)
{
	struct reader x;
	struct walk w;
	const char *why;

	reading_begin(r, &w);
	reader_init(&x, &w, c);
	why = reading_steps(r, &x, 0);
	for (int i = 0; i < 6 && !why; i++) {
		uint64_t block = rng_below(r->rng, (uint32_t)r->nblocks + 2);
		size_t at = rng_below(r->rng, (uint32_t)r->nevents + 1);
		int result;

		if (i % 2) {
			result = reader_seek_event(&x, at, NULL);
		} else {
			result = reader_seek(&x, block, NULL);
			at = reading_event_of(r, block);
		}
		if (result < 0 || reader_tell(&x) != at)
			why = "another moment";
		else if (at < r->nevents && at > 0 &&
		         r->events[at].e.kind == WALK_PATH &&
		         w.nframes != r->events[at].e.depth + 1)
			why = "other frames at a moment";
		else
			why = reading_steps(r, &x, at);
	}
	reader_release(&x);
	walk_release(&w);
	return why;
}

/* A stream that ends earlier has the same events before that. */
static inline const char *reading_cut(struct reading *r, size_t n)
{
	struct reader_event event;
	struct walk w;
	size_t at = 0;
	const char *why = NULL;
	int got;

	walk_init_bytes(&w, r->program, r->bytes, n);
	for (;;) {
		event.block = w.nblocks;
		got = walk_next(&w, &event.e, NULL);
		if (got != 1)
			break;
		if (at == r->nevents ||
		    !reading_same(&event, &r->events[at++])) {
			why = "other events of a stream that is cut";
			break;
		}
	}
	if (got < 0)
		why = "a stream that is cut cannot be read";
	walk_release(&w);
	return why;
}

/* Damaged streams end, with a failure or not: that nothing else happens is for
 * the sanitizers to see. */
static inline void reading_damaged(struct reading *r)
{
	uint8_t *bytes = xmalloc(r->n + 1);
	struct walk_event batch[64];
	size_t n = 1, most = 2000;
	struct cairn_err err;
	struct walk w;

	memcpy(bytes, r->bytes, r->n);
	for (uint32_t i = 1 + rng_below(r->rng, 4); i-- > 0;)
		bytes[rng_below(r->rng, (uint32_t)r->n)] =
		        (uint8_t)rng_next(r->rng);
	walk_init_bytes(&w, r->program, bytes, r->n);
	while (walk_run(&w, batch, 64, &n, &err) == 1 && most-- > 0) {
	}
	walk_release(&w);
	free(bytes);
}

/* NULL, or what is wrong. */
static inline const char *reading_judge(struct walk_program *program,
                                        const uint8_t *bytes, size_t n,
                                        struct rng *rng)
{
	struct reading r = {
	        .program = program, .bytes = bytes, .n = n, .rng = rng};
	struct checkpoints c;
	const char *why = NULL;

	reading_split(&r);
	checkpoints_init(&c, rng_below(rng, 100),
	                 rng_percent(rng, 50) ? 0 : 500);
	if (reading_all(&r) < 0)
		why = "the walk over parts fails";
	if (!why)
		why = reading_batches(&r, &c);
	if (!why)
		why = reading_moments(&r, &c);
	for (size_t cut = 0; cut < n && !why; cut++)
		why = reading_cut(&r, cut);
	for (int i = 0; n && i < 5 && !why; i++)
		reading_damaged(&r);
	checkpoints_release(&c);
	free(r.events);
	free(r.ends);
	return why;
}

#endif /* CAIRN_TESTS_READING_H */
