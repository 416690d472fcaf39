/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a walk in both directions, from anywhere.
 *
 * A walk goes forwards only: what a history says depends on where its frame is.
 * So to get to a moment the walk is restored at the checkpoint before it and
 * goes on from there.  To go backwards, events up to here are collected in a
 * window and given in reverse.  There may be more between two checkpoints than
 * a window has; then the way from the checkpoint is walked once to put down
 * finer ones, a window apart, and each window is walked again when its turn
 * comes.
 *
 * Invariant: the window has the events first .. first + n - 1, and the walk is
 * behind them.
 * Cost: an event forwards is an event of the walk, backwards two.  Memory: a
 * window, and checkpoints for those between two of `points`.
 */
#include "walk/reader.h"

#include <stdlib.h>

#include "base/alloc.h"

void reader_init(struct reader *r, struct walk *walk,
                 const struct checkpoints *points)
{
	*r = (struct reader){.walk = walk, .points = points, .status = 1};
	r->window = xcalloc(READER_WINDOW, sizeof(*r->window));
	r->blocks = xcalloc(READER_WINDOW, sizeof(*r->blocks));
	checkpoints_init(&r->fine, 0, 0);
}

void reader_release(struct reader *r)
{
	checkpoints_release(&r->fine);
	free(r->window);
	free(r->blocks);
	*r = (struct reader){0};
}

uint64_t reader_tell(const struct reader *r)
{
	return r->first + r->at;
}

/* Walks on: the window has what follows, up to so many events. */
static void reader_fill(struct reader *r, size_t most)
{
	uint64_t nblocks = r->walk->nblocks;

	r->first = r->walk->nevents;
	r->at = 0;
	r->status = walk_run(r->walk, r->window, most, &r->n, &r->err);
	for (size_t i = 0; i < r->n; i++) {
		r->blocks[i] = nblocks;
		nblocks += walk_nblocks(&r->window[i]);
	}
}

/* Takes the walk to a checkpoint; the window is empty then. */
static int reader_restore(struct reader *r, const struct checkpoints *c,
                          uint32_t i, struct cairn_err *err)
{
	int result = checkpoints_restore(c, i, r->walk, err);

	r->is_lost = result < 0;
	CAIRN_TRY(result);
	r->n = r->at = 0;
	r->first = r->walk->nevents;
	r->status = 1;
	return 0;
}

/* From a window to the event at its place i, so that the walk is there. */
static int reader_settle(struct reader *r, size_t i, struct cairn_err *err)
{
	CAIRN_TRY(reader_restore(r, &r->fine, r->fine.n - 1, err));
	if (i)
		reader_fill(r, i);
	r->at = r->n;
	return 0;
}

static bool reader_is_before(const struct reader *r, uint64_t block)
{
	size_t last = r->n - 1;

	return r->blocks[last] + walk_nblocks(&r->window[last]) <= block;
}

/* The event of the window that executes the block. */
static size_t reader_find(const struct reader *r, uint64_t block)
{
	size_t i = 0;

	while (r->blocks[i] + walk_nblocks(&r->window[i]) <= block)
		i++;
	return i;
}

int reader_seek(struct reader *r, uint64_t block, struct cairn_err *err)
{
	checkpoints_cut(&r->fine, 0);
	CAIRN_TRY(reader_restore(r, r->points,
	                         checkpoints_at_block(r->points, block), err));
	while (r->status == 1) {
		checkpoints_cut(&r->fine, 0);
		checkpoints_add(&r->fine, r->walk);
		reader_fill(r, READER_WINDOW);
		if (r->n && !reader_is_before(r, block))
			return reader_settle(r, reader_find(r, block), err);
	}
	r->at = r->n;
	return 0;
}

/* Takes the walk to the last checkpoint before event number `end`. */
static int reader_go_before(struct reader *r, uint64_t end,
                            struct cairn_err *err)
{
	uint32_t fine = checkpoints_at_event(&r->fine, end - 1);
	uint32_t coarse = checkpoints_at_event(r->points, end - 1);

	if (fine != CHECKPOINTS_NOBODY &&
	    r->fine.items[fine].nevents >= r->points->items[coarse].nevents) {
		checkpoints_cut(&r->fine, fine + 1);
		return reader_restore(r, &r->fine, fine, err);
	}
	checkpoints_cut(&r->fine, 0);
	CAIRN_TRY(reader_restore(r, r->points, coarse, err));
	checkpoints_add(&r->fine, r->walk);
	return 0;
}

/* The window before event number `end`, which is not the first one. */
static int reader_fill_before(struct reader *r, uint64_t end,
                              struct cairn_err *err)
{
	CAIRN_TRY(reader_go_before(r, end, err));
	for (;;) {
		uint64_t left = end - r->walk->nevents;

		reader_fill(r, left < READER_WINDOW ? (size_t)left
		                                    : READER_WINDOW);
		if (r->walk->nevents == end)
			return 0;
		if (r->status != 1) { /* they were there before */
			r->is_lost = true;
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "the trace changed while it was "
			                  "read; read it again");
		}
		checkpoints_add(&r->fine, r->walk);
	}
}

int reader_seek_event(struct reader *r, uint64_t event, struct cairn_err *err)
{
	checkpoints_cut(&r->fine, 0);
	if (event) {
		CAIRN_TRY(reader_fill_before(r, event, err));
		r->at = r->n;
		return 0;
	}
	return reader_restore(r, r->points, 0, err);
}

static void reader_give(const struct reader *r, size_t i,
                        struct reader_event *event)
{
	event->e = r->window[i];
	event->block = r->blocks[i];
}

int reader_next(struct reader *r, struct reader_event *event,
                struct cairn_err *err)
{
	if (r->is_lost)
		CAIRN_TRY(reader_seek_event(r, reader_tell(r), err));
	if (r->at == r->n && r->status == 1)
		reader_fill(r, READER_WINDOW);
	if (r->at < r->n) {
		reader_give(r, r->at++, event);
		return 1;
	}
	if (r->status < 0 && err)
		*err = r->err;
	return r->status;
}

int reader_prev(struct reader *r, struct reader_event *event,
                struct cairn_err *err)
{
	if (r->at == 0 || r->is_lost) {
		uint64_t here = reader_tell(r);

		if (here == 0)
			return 0;
		CAIRN_TRY(reader_fill_before(r, here, err));
		r->at = r->n;
	}
	reader_give(r, --r->at, event);
	return 1;
}
