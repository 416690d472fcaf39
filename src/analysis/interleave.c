/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the threads of a trace in one order, in which nothing stands before what
 * happened before it.
 *
 * A stream is cut into pieces, at SYNC and TIME marks.  Of each piece is known
 *
 *     sync    the greatest SYNC number so far (abi/trace.h),
 *     since   the time when it began: that of the last TIME mark before it,
 *     until   a time when it was over: that of a TIME mark behind it.
 *
 * Let e happen before f, in another thread.  Then the thread of f waited behind
 * e, so that (1) sync of e < sync of f; and the clock was read for `since` of e
 * before e was written, which is before its thread let go of what the other one
 * waited for, so that (2) since of e <= until of f.  (That e is written before
 * is the rule that histories end at calls.)
 *
 * So a piece may come next if no other thread is at a piece with a smaller
 * sync and with a `since` that is not behind its `until`: later pieces of these
 * threads have neither a smaller sync nor an earlier since.  The one with the
 * smallest sync may always come.  Of those that may, that comes which began
 * first.  (1) alone gives an order, too, but one in which a thread that waits
 * for nobody runs to its end at once.
 *
 * A SYNC belongs to the piece behind it, and so does the START of a thread,
 * which stands before its first SYNC.
 *
 * Without SYNC marks only time is known, and that comes first which began
 * first.
 *
 * Invariant: order[] has the threads with events left, by ascending sync.
 * Cost: the walk; per piece O(threads).  Memory: per thread that has begun and
 * not ended a batch of events and a part of its stream.
 * Oracle: tests/trace/order.py: programs that say themselves who came when.
 */
#include "analysis/interleave.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/trace_index.h"
#include "analysis/traced.h"
#include "base/alloc.h"

#define BATCH 64
#define NOBODY SIZE_MAX
/* The marks that a piece begins with, at most: TIME START SYNC TIME. */
#define MARKS_MAX 4

struct interleave_lane {
	struct traced_walk w;
	bool is_begun; /* w and events are in use */
	int status;    /* of the walk, behind the events here */
	struct walk_event *events;
	size_t at, n;
	uint64_t block; /* executed before the next event */
	uint64_t event; /* its number ... */
	uint64_t last;  /* ... and that of the first one that is not wanted */
	size_t nmarks;  /* of the piece, that are still to come */
	uint64_t sync, since, until;
	size_t time;    /* the first one of the index behind the piece */
	uint32_t *open; /* frames before the first event */
	size_t nopen;
};

/* --- one thread ---------------------------------------------------------- */

static const struct trace_index_thread *
lane_index(const struct interleave *x, const struct interleave_lane *l)
{
	return &x->index->threads[l - x->lanes];
}

static void lane_end(struct interleave_lane *l)
{
	if (l->is_begun)
		traced_end(&l->w);
	free(l->events);
	l->events = NULL;
	l->n = l->at = 0;
	l->is_begun = false;
}

/* A walk that fails ends its thread, not the others. */
static void lane_fail(struct interleave *x, struct interleave_lane *l,
                      const struct cairn_err *err)
{
	l->status = 0;
	if (!x->status) {
		x->status = err->code;
		x->err = *err;
	}
}

/* At least as many events as a piece can have marks, unless it ends. */
static void lane_fill(struct interleave *x, struct interleave_lane *l)
{
	struct cairn_err err;
	size_t n;

	if (l->n - l->at >= MARKS_MAX || l->status != 1)
		return;
	memmove(l->events, l->events + l->at,
	        (l->n - l->at) * sizeof(*l->events));
	l->n -= l->at;
	l->at = 0;
	l->status =
	        walk_run(&l->w.walk, l->events + l->n, BATCH - l->n, &n, &err);
	l->n += n;
	if (l->status < 0)
		lane_fail(x, l, &err);
}

/* To a time; the number of the event there. */
static int lane_seek(struct interleave *x, struct interleave_lane *l,
                     uint64_t ns, uint64_t *event, struct cairn_err *err)
{
	const struct trace_index_thread *t = lane_index(x, l);
	struct reader r;
	int rc;

	reader_init(&r, &l->w.walk, &t->points);
	rc = reader_seek(&r, trace_index_block(t, ns), err);
	*event = reader_tell(&r);
	reader_release(&r);
	return rc;
}

static void lane_list_open(struct interleave_lane *l)
{
	const struct walk *w = &l->w.walk;

	free(l->open);
	l->nopen = w->nframes;
	l->open = xcalloc(l->nopen + 1, sizeof(*l->open));
	for (size_t i = 0; i < l->nopen; i++)
		l->open[i] = w->frames[i].function;
}

/* From the first event that is wanted on. */
static void lane_begin(struct interleave *x, struct interleave_lane *l)
{
	struct cairn_err err;
	int rc = 0;

	lane_end(l);
	traced_begin(&l->w, x->traced, (size_t)(l - x->lanes));
	l->is_begun = true;
	l->events = xcalloc(BATCH, sizeof(*l->events));
	l->status = 1;
	l->event = l->time = 0;
	if (x->range.has_from)
		rc = lane_seek(x, l, x->range.from, &l->event, &err);
	if (rc < 0)
		lane_fail(x, l, &err);
	l->block = l->w.walk.nblocks;
	l->sync = x->range.by_time ? 0 : l->w.walk.sync;
	l->since = l->w.walk.ns;
	lane_list_open(l);
	lane_fill(x, l);
}

static void lane_find_end(struct interleave *x, struct interleave_lane *l)
{
	struct cairn_err err;

	l->last = UINT64_MAX;
	if (!x->range.has_to)
		return;
	traced_begin(&l->w, x->traced, (size_t)(l - x->lanes));
	l->is_begun = true;
	if (lane_seek(x, l, x->range.to, &l->last, &err) < 0)
		lane_fail(x, l, &err);
	lane_end(l);
}

static bool is_mark(const struct walk_event *e)
{
	return e->kind == WALK_START || e->kind == WALK_SYNC ||
	       e->kind == WALK_TIME;
}

static const struct walk_event *lane_see(const struct interleave_lane *l,
                                         size_t i)
{
	return l->at + i < l->n ? &l->events[l->at + i] : NULL;
}

/* Is the i-th event from here of this kind? */
static bool lane_has(const struct interleave_lane *l, size_t i,
                     enum walk_kind kind)
{
	return lane_see(l, i) && lane_see(l, i)->kind == kind;
}

/* What is known of the piece that begins at the next event. */
static void lane_begin_piece(const struct interleave *x,
                             struct interleave_lane *l)
{
	const struct trace_index_thread *t = lane_index(x, l);
	size_t i = 0;

	if (lane_has(l, 0, WALK_TIME) && lane_has(l, 1, WALK_START))
		i++;
	i += lane_has(l, i, WALK_START);
	i += lane_has(l, i, WALK_SYNC);
	i += lane_has(l, i, WALK_TIME);
	l->nmarks = i;
	while (i-- > 0) {
		const struct walk_event *e = lane_see(l, i);

		if (e->kind == WALK_SYNC && !x->range.by_time &&
		    e->value > l->sync)
			l->sync = e->value;
		if (e->kind == WALK_TIME && e->value > l->since)
			l->since = e->value;
	}
	while (l->time < t->ntimes && t->times[l->time].block <= l->block)
		l->time++;
	l->until = l->time < t->ntimes ? t->times[l->time].ns : UINT64_MAX;
}

static bool lane_is_over(const struct interleave_lane *l)
{
	return l->at == l->n || l->event >= l->last;
}

/* --- all of them --------------------------------------------------------- */

/* From place i of the order, where its sync may be too great, to its own. */
static void interleave_sort(struct interleave *x, size_t i)
{
	size_t lane = x->order[i];

	while (i + 1 < x->norder &&
	       x->lanes[x->order[i + 1]].sync < x->lanes[lane].sync) {
		x->order[i] = x->order[i + 1];
		i++;
	}
	x->order[i] = lane;
}

/* A new one, at its place. */
static void interleave_insert(struct interleave *x, size_t lane)
{
	size_t i = x->norder++;

	while (i > 0 && x->lanes[x->order[i - 1]].sync > x->lanes[lane].sync) {
		x->order[i] = x->order[i - 1];
		i--;
	}
	x->order[i] = lane;
}

/* A thread that has not begun keeps only what its first piece is. */
void interleave_init(struct interleave *x, struct traced *t,
                     const struct trace_index *index,
                     const struct interleave_range *range)
{
	*x = (struct interleave){
	        .traced = t,
	        .index = index,
	        .range = *range,
	        .nlanes = t->streams->nthreads,
	        .current = NOBODY,
	};
	x->lanes = xcalloc(x->nlanes + 1, sizeof(*x->lanes));
	x->order = xcalloc(x->nlanes + 1, sizeof(*x->order));
	for (size_t i = 0; i < x->nlanes; i++) {
		struct interleave_lane *l = &x->lanes[i];
		uint64_t last;

		lane_find_end(x, l);
		lane_begin(x, l);
		lane_begin_piece(x, l);
		if (!lane_is_over(l)) {
			last = index->threads[i].nevents;
			last = last < l->last ? last : l->last;
			x->all += last > l->event ? last - l->event : 0;
			interleave_insert(x, i);
		}
		lane_end(l);
	}
}

void interleave_release(struct interleave *x)
{
	for (size_t i = 0; i < x->nlanes; i++) {
		lane_end(&x->lanes[i]);
		free(x->lanes[i].open);
	}
	free(x->lanes);
	free(x->order);
	*x = (struct interleave){0};
}

const uint32_t *interleave_open(const struct interleave *x, size_t thread,
                                size_t *n)
{
	*n = x->lanes[thread].nopen;
	return x->lanes[thread].open;
}

/* The place in the order of the piece that comes next. */
static size_t interleave_choose(const struct interleave *x)
{
	uint64_t since = UINT64_MAX; /* the earliest of those before it */
	size_t best = 0;

	for (size_t i = 0; i < x->norder; i++) {
		const struct interleave_lane *l = &x->lanes[x->order[i]];
		const struct interleave_lane *b = &x->lanes[x->order[best]];

		if ((since > l->until || x->range.by_time) &&
		    l->since < b->since)
			best = i;
		if (l->since < since)
			since = l->since;
	}
	return best;
}

/* The thread at this place of the order has given all of its piece. */
static void interleave_turn(struct interleave *x, size_t place)
{
	struct interleave_lane *l = &x->lanes[x->order[place]];

	if (lane_is_over(l)) {
		lane_end(l);
		x->norder--;
		memmove(x->order + place, x->order + place + 1,
		        (x->norder - place) * sizeof(*x->order));
		return;
	}
	lane_begin_piece(x, l);
	interleave_sort(x, place);
}

static size_t interleave_place(const struct interleave *x, size_t lane)
{
	size_t i = 0;

	while (x->order[i] != lane)
		i++;
	return i;
}

/* Is its next event one of the piece that it is in? */
static bool lane_goes_on(const struct interleave_lane *l)
{
	return !lane_is_over(l) && (l->nmarks || !is_mark(&l->events[l->at]));
}

static void lane_give(struct interleave_lane *l, struct reader_event *event)
{
	event->e = l->events[l->at++];
	event->block = l->block;
	l->block += walk_nblocks(&event->e);
	l->event++;
	l->nmarks -= l->nmarks > 0;
}

int interleave_next(struct interleave *x, size_t *thread,
                    struct reader_event *event, struct cairn_err *err)
{
	struct interleave_lane *l;

	if (x->current != NOBODY) {
		l = &x->lanes[x->current];
		lane_fill(x, l);
		if (!lane_goes_on(l)) {
			interleave_turn(x, interleave_place(x, x->current));
			x->current = NOBODY;
		}
	}
	if (x->current == NOBODY && x->norder) {
		x->current = x->order[interleave_choose(x)];
		l = &x->lanes[x->current];
		if (!l->is_begun) {
			lane_begin(x, l);
			lane_begin_piece(x, l);
		}
	}
	if (x->current == NOBODY) {
		if (x->status < 0 && err)
			*err = x->err;
		return x->status;
	}
	lane_give(&x->lanes[x->current], event);
	*thread = x->current;
	x->done++;
	return 1;
}
