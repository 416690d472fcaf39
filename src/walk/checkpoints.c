/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments of a walk, kept so that it can go on from any of them.
 *
 * A moment is small but for the stack, and stacks have most frames in common:
 * the walk changes its innermost frame only.  So frames are kept once, each
 * with the one below it, and the stacks are a tree.  walk.nkept says how far
 * down the stack was torn since the last moment; above that frames are new.
 *
 * Invariant: items are in order of events; a frame comes after the one below
 * it; stack[] are the frames of the last item.
 * Breaks when: the stack goes up and down by thousands of frames between two
 * moments.  Beyond `bound` bytes every second moment is dropped, and the
 * interval doubled, so that memory is bounded however long the walk is, but for
 * what one stack takes.
 * Cost: a moment takes O(frames that are new), restoring one O(frames).
 */
#include "walk/checkpoints.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

void checkpoints_init(struct checkpoints *c, uint64_t interval, size_t bound)
{
	*c = (struct checkpoints){.interval = interval, .bound = bound};
}

void checkpoints_release(struct checkpoints *c)
{
	free(c->items);
	free(c->frames);
	free(c->stack);
	*c = (struct checkpoints){0};
}

static size_t checkpoints_size(const struct checkpoints *c)
{
	return c->n * sizeof(*c->items) + c->nframes * sizeof(*c->frames);
}

/* Fills in stack[] for the last moment. */
static void checkpoints_list_stack(struct checkpoints *c)
{
	uint32_t f = c->n ? c->items[c->n - 1].top : CHECKPOINTS_NOBODY;

	c->nstack = c->n ? c->items[c->n - 1].nframes : 0;
	while (c->stack_cap < c->nstack) {
		c->stack_cap = c->stack_cap ? 2 * c->stack_cap : 64;
		c->stack = xrealloc(c->stack, c->stack_cap, sizeof(*c->stack));
	}
	for (size_t i = c->nstack; i-- > 0; f = c->frames[f].below)
		c->stack[i] = f;
}

/* Drops frames that no moment has, and gives the rest new numbers. */
static void checkpoints_sweep(struct checkpoints *c)
{
	uint32_t *number = xcalloc((size_t)c->nframes + 1, sizeof(*number));
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->items[i].top != CHECKPOINTS_NOBODY)
			number[c->items[i].top] = 1;
	for (uint32_t f = c->nframes; f-- > 0;)
		if (number[f] && c->frames[f].below != CHECKPOINTS_NOBODY)
			number[c->frames[f].below] = 1;
	for (uint32_t f = 0; f < c->nframes; f++) {
		struct checkpoint_frame frame = c->frames[f];

		if (!number[f])
			continue;
		if (frame.below != CHECKPOINTS_NOBODY)
			frame.below = number[frame.below];
		number[f] = n;
		c->frames[n++] = frame;
	}
	c->nframes = n;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->items[i].top != CHECKPOINTS_NOBODY)
			c->items[i].top = number[c->items[i].top];
	free(number);
}

/* Keeps the first of every two, and the last: the walk goes on from there. */
static void checkpoints_thin(struct checkpoints *c)
{
	struct checkpoint last = c->items[c->n - 1];
	uint32_t n = 0;

	for (uint32_t i = 0; i + 1 < c->n; i += 2)
		c->items[n++] = c->items[i];
	c->items[n++] = last;
	c->n = n;
	c->interval *= 2;
	checkpoints_sweep(c);
	checkpoints_list_stack(c);
	if (c->bound < 2 * checkpoints_size(c))
		c->bound = 2 * checkpoints_size(c);
}

void checkpoints_cut(struct checkpoints *c, uint32_t n)
{
	uint32_t nframes = 0;

	if (n >= c->n)
		return;
	c->n = n;
	for (uint32_t i = 0; i < n; i++)
		if (c->items[i].top != CHECKPOINTS_NOBODY &&
		    c->items[i].top >= nframes)
			nframes = c->items[i].top + 1;
	c->nframes = nframes;
	checkpoints_list_stack(c);
}

static void checkpoints_push(struct checkpoints *c, const struct walk_frame *f)
{
	VEC_RESERVE(c->frames, c->nframes, c->frames_cap);
	c->frames[c->nframes] = (struct checkpoint_frame){
	        .below = c->nstack ? c->stack[c->nstack - 1]
	                           : CHECKPOINTS_NOBODY,
	        .function = f->function,
	        .next = f->next,
	        .nsilent = f->nsilent,
	        .read = f->read,
	        .nahead = f->nahead,
	        .depth = (uint32_t)c->nstack + 1,
	        .state = (uint8_t)f->state,
	        .is_inside = f->is_inside,
	};
	VEC_RESERVE(c->stack, c->nstack, c->stack_cap);
	c->stack[c->nstack++] = c->nframes++;
}

void checkpoints_add(struct checkpoints *c, struct walk *w)
{
	size_t nsame = w->nkept ? w->nkept - 1 : 0;

	if (c->nstack > nsame)
		c->nstack = nsame;
	while (c->nstack < w->nframes)
		checkpoints_push(c, &w->frames[c->nstack]);
	w->nkept = w->nframes;
	VEC_RESERVE(c->items, c->n, c->cap);
	c->items[c->n++] = (struct checkpoint){
	        .nblocks = w->nblocks,
	        .nevents = w->nevents,
	        .nparts = w->nparts,
	        .before = w->before,
	        .at = w->at,
	        .nread = w->nread,
	        .word = w->word,
	        .sync = w->sync,
	        .ns = w->ns,
	        .top = c->nstack ? c->stack[c->nstack - 1] : CHECKPOINTS_NOBODY,
	        .nframes = (uint32_t)c->nstack,
	        .calls = w->calls,
	        .nsilent = w->nsilent,
	        .nidle = w->nidle,
	        .nbits = w->nbits,
	        .has_history = w->has_history,
	        .is_full = w->is_full,
	        .is_leaving = w->is_leaving,
	        .is_lost = w->is_lost,
	};
	if (c->bound && checkpoints_size(c) > c->bound && c->n > 2)
		checkpoints_thin(c);
	c->due = w->nblocks + c->interval;
}

void checkpoints_offer(struct checkpoints *c, struct walk *w)
{
	if ((w->nblocks >= c->due || !c->n) && !w->is_over)
		checkpoints_add(c, w);
}

uint32_t checkpoints_at_block(const struct checkpoints *c, uint64_t nblocks)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t middle = lo + (hi - lo) / 2;

		if (c->items[middle].nblocks <= nblocks)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo ? lo - 1 : CHECKPOINTS_NOBODY;
}

uint32_t checkpoints_at_event(const struct checkpoints *c, uint64_t nevents)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t middle = lo + (hi - lo) / 2;

		if (c->items[middle].nevents <= nevents)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo ? lo - 1 : CHECKPOINTS_NOBODY;
}

static void checkpoints_put_stack(const struct checkpoints *c,
                                  const struct checkpoint *k, struct walk *w)
{
	uint32_t f = k->top;

	if (w->frames_cap < k->nframes) {
		w->frames_cap = k->nframes;
		w->frames =
		        xrealloc(w->frames, w->frames_cap, sizeof(*w->frames));
	}
	w->nframes = k->nframes;
	for (size_t i = k->nframes; i-- > 0; f = c->frames[f].below)
		w->frames[i] = (struct walk_frame){
		        .function = c->frames[f].function,
		        .next = c->frames[f].next,
		        .is_inside = c->frames[f].is_inside,
		        .state = c->frames[f].state,
		        .nsilent = c->frames[f].nsilent,
		        .read = c->frames[f].read,
		        .nahead = c->frames[f].nahead,
		};
}

/* The bytes it was in. */
static int checkpoints_find_part(const struct checkpoint *k, struct walk *w,
                                 struct cairn_err *err)
{
	int result;

	if (w->nparts == k->nparts && w->before == k->before && w->nbytes &&
	    k->at <= w->nbytes && !w->is_over)
		return 0; /* it is in hand */
	w->bytes = NULL;
	w->nbytes = 0;
	w->source.seek(w->source.context, k->nparts ? k->nparts - 1 : 0);
	if (!k->nparts)
		return 0;
	result = w->source.next(w->source.context, &w->bytes, &w->nbytes, err);
	if (result < 0)
		return result;
	if (result == 0 || k->at > w->nbytes)
		return cairn_fail(
		        err, CAIRN_E_CORRUPT,
		        "byte %" PRIu64
		        " of a trace is gone: it changed while it was "
		        "read",
		        k->before + k->at);
	return 0;
}

int checkpoints_restore(const struct checkpoints *c, uint32_t i, struct walk *w,
                        struct cairn_err *err)
{
	const struct checkpoint *k = &c->items[i];

	CAIRN_TRY(checkpoints_find_part(k, w, err));
	checkpoints_put_stack(c, k, w);
	w->nkept = 0;
	w->nblocks = k->nblocks;
	w->nevents = k->nevents;
	w->nparts = k->nparts;
	w->before = k->before;
	w->at = (size_t)k->at;
	w->nread = k->nread;
	w->word = k->word;
	w->sync = k->sync;
	w->ns = k->ns;
	w->calls = k->calls;
	w->nsilent = k->nsilent;
	w->nidle = k->nidle;
	w->nbits = k->nbits;
	w->has_history = k->has_history;
	w->is_full = k->is_full;
	w->is_leaving = k->is_leaving;
	w->is_lost = k->is_lost;
	w->is_over = false;
	return 0;
}
