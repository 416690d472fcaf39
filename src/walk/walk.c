/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regeneration: from the stream of a thread to what it executed.
 *
 * Figure 7 of Ball and Larus (1994) regenerates a trace from witnesses with a
 * stack for calls.  Here a stream has histories (graph/codes.h), which end at
 * calls, too.  So the walk always knows who writes next, the innermost frame,
 * and where its paths begin.  Three things it has to be told.  A function that
 * anybody may call marks that it was entered; one that a throw or a jump takes
 * away is marked by whoever sees that; and so is where a setjmp comes back.
 *
 * Behind a call of anything nobody knows whether a function with marks was
 * called: the history that begins there is always written, so that what comes
 * next is either this one, and the call came back, or a mark.  Functions that
 * are entered in the middle of a history, signal handlers, are marked as well:
 * they stand before the history that they interrupted.
 *
 * A path is looked up once, and then remembered with its blocks (walk_ways), by
 * where it begins and its code.
 *
 * Invariant: a frame that is not in a call is the innermost one.  What the walk
 * does without reading, silent paths, their calls and returns, ends: a cycle of
 * the graph has a path with an alternative, which is not silent, unless the
 * program cannot leave it.
 * Breaks when: a program is in a loop without a way out, or in a recursion that
 * cannot end, all of it silent: the walk stops before a frame repeats itself.
 * Oracle: proof_trace runs random programs.
 * Cost: O(1) per event, and the length of a path when it is new; memory is the
 * depth of the stack, and the paths.
 */
#include "walk/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/trace.h"
#include "base/alloc.h"
#include "base/err.h"

#define WALK_AGAIN 2

/* --- paths, remembered --------------------------------------------------- */

/* Of one function: a table by code for every block where paths begin. */
struct walk_ways {
	struct walk_way **of; /* per block, or NULL: not asked for yet */
	struct path path;
};

#define WALK_TABLE_BITS 16u /* wider ones are not kept */

static void walk_free_table(struct walk_way *table, size_t n)
{
	for (size_t i = 0; table && i < n; i++) {
		free((void *)table[i].blocks);
		free((void *)table[i].edges);
	}
	free(table);
}

/* Wide codes share one entry. */
static size_t walk_table_size(const struct codes *c, block_id first)
{
	return c->width[first] > WALK_TABLE_BITS ? 1
	                                         : (size_t)1 << c->width[first];
}

void walk_program_release(struct walk_program *p)
{
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		struct walk_function *f = &p->functions[i];

		if (!f->ways)
			continue;
		for (block_id b = 0; b < f->codes->paths.dag.g->nblocks; b++)
			walk_free_table(f->ways->of[b],
			                walk_table_size(f->codes, b));
		path_release(&f->ways->path);
		free(f->ways->of);
		free(f->ways);
		f->ways = NULL;
	}
}

static void walk_list_blocks(struct walk_way *way, const struct path *path,
                             const struct cfg *g)
{
	block_id *blocks = xcalloc((size_t)path->nedges + 1, sizeof(*blocks));
	uint32_t i = 0, n = path->nedges;

	if (!path->enters)
		blocks[way->nblocks++] = path->first;
	if (path->end != PATH_STOPS)
		n--; /* leads to where the next one begins, or out */
	for (; i < n; i++)
		blocks[way->nblocks++] = g->edges[path->edges[i]].dst;
	way->blocks = blocks;
}

static void walk_learn(struct walk_way *way, const struct walk_function *f,
                       const struct path *path)
{
	const struct cfg *g = f->codes->paths.dag.g;
	edge_id *edges = xcalloc((size_t)path->nedges + 1, sizeof(*edges));

	free((void *)way->blocks);
	free((void *)way->edges);
	*way = (struct walk_way){
	        .is_known = true,
	        .enters = path->enters,
	        .leaves = path->end == PATH_LEAVES,
	        .stops = path->end == PATH_STOPS,
	        .end = codes_end_of(f->codes, path),
	        .callee = WALK_NOTHING,
	        .nedges = path->nedges,
	        .edges = edges,
	};
	if (path->nedges)
		memcpy(edges, path->edges, path->nedges * sizeof(*edges));
	walk_list_blocks(way, path, g);
	if (path->nedges) {
		edge_id last = path->edges[path->nedges - 1];

		way->next = g->edges[last].dst;
		way->callee = f->callee[last];
		way->stops |= way->leaves && f->is_final[last];
		way->leaves &= !way->stops;
	}
}

/* The path with this code that begins in a block. */
static int walk_find(struct walk_function *f, block_id first, uint64_t code,
                     const struct walk_way **out, struct cairn_err *err)
{
	const struct codes *c = f->codes;
	struct walk_way *way;
	int result;

	if (!f->ways) {
		f->ways = xcalloc(1, sizeof(*f->ways));
		f->ways->of =
		        xcalloc(c->paths.dag.g->nblocks, sizeof(*f->ways->of));
	}
	if (!f->ways->of[first])
		f->ways->of[first] = xcalloc(walk_table_size(c, first),
		                             sizeof(**f->ways->of));
	way = f->ways->of[first];
	if (c->width[first] <= WALK_TABLE_BITS)
		way += code;
	if (!way->is_known || c->width[first] > WALK_TABLE_BITS) {
		result = codes_decode(c, first, code, &f->ways->path, err);
		if (result < 0)
			return result;
		walk_learn(way, f, &f->ways->path);
	}
	*out = way;
	return 0;
}

/* --- the stream ---------------------------------------------------------- */

void walk_init(struct walk *w, struct walk_program *program,
               struct walk_source source)
{
	*w = (struct walk){
	        .program = program,
	        .source = source,
	        .calls = WALK_NOTHING,
	};
}

static int walk_no_more(void *context, const uint8_t **bytes, size_t *n,
                        struct cairn_err *err)
{
	(void)context;
	(void)bytes;
	(void)n;
	(void)err;
	return 0;
}

void walk_init_bytes(struct walk *w, struct walk_program *program,
                     const uint8_t *bytes, size_t nbytes)
{
	walk_init(w, program, (struct walk_source){.next = walk_no_more});
	w->bytes = bytes;
	w->nbytes = nbytes;
}

void walk_release(struct walk *w)
{
	free(w->frames);
	*w = (struct walk){0};
}

static struct walk_frame *walk_top(const struct walk *w)
{
	return w->nframes ? &w->frames[w->nframes - 1] : NULL;
}

static int walk_corrupt(const struct walk *w, const char *what,
                        struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s at byte %" PRIu64 " of a trace", what,
	                  w->before + w->at);
}

/* The next item's first byte, without taking it: 1, 0 at the end. */
static int walk_peek(struct walk *w, uint8_t *byte, struct cairn_err *err)
{
	int result;

	for (;;) {
		while (w->at < w->nbytes &&
		       (w->bytes[w->at] == 0 ||
		        w->bytes[w->at] == CAIRN_TRACE_PAD))
			w->at++;
		if (w->at < w->nbytes) {
			*byte = w->bytes[w->at];
			return 1;
		}
		if (w->is_over)
			return 0;
		w->before += w->nbytes;
		w->at = w->nbytes = 0;
		result = w->source.next(w->source.context, &w->bytes,
		                        &w->nbytes, err);
		if (result < 0)
			return result;
		w->is_over = result == 0;
	}
}

/* An item of one byte and n more, which are `value`.  False at the end. */
static bool walk_take(struct walk *w, unsigned n, uint64_t *value)
{
	if (w->nbytes - w->at < 1 + (size_t)n) { /* cut in the middle */
		w->at = w->nbytes;
		w->is_over = true;
		return false;
	}
	*value = 0;
	for (unsigned i = 0; i < n; i++)
		*value |= (uint64_t)w->bytes[w->at + 1 + i] << 8 * i;
	w->at += 1 + (size_t)n;
	w->nread++;
	w->nsilent = 0;
	return true;
}

/* Takes the next item, whose first byte this is, as a history. */
static int walk_take_history(struct walk *w, uint8_t byte,
                             struct cairn_err *err)
{
	uint64_t value = byte;
	unsigned n = byte & 15;

	w->is_full = (byte & 0xf0u) == CAIRN_TRACE_FULL;
	if (byte <= CAIRN_TRACE_SMALL) {
		w->at++;
		w->nread++;
		w->nsilent = 0;
	} else if (n < 1 || n > 8 ||
	           (!w->is_full && (byte & 0xf0u) != CAIRN_TRACE_WORD)) {
		return walk_corrupt(w, "an impossible item", err);
	} else if (!walk_take(w, n, &value)) {
		return 0;
	}
	if (value == 0)
		return walk_corrupt(w, "an empty history", err);
	w->nbits = 63 - (unsigned)__builtin_clzll(value);
	w->word = value;
	w->has_history = true;
	return 1;
}

/* --- events -------------------------------------------------------------- */

static int walk_say(const struct walk *w, struct walk_event *event,
                    enum walk_kind kind)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = walk_top(w)->function,
	        .depth = w->nframes - 1,
	};
	return 1;
}

static int walk_tell(struct walk_event *event, enum walk_kind kind,
                     uint64_t value)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = WALK_NOTHING,
	        .value = value,
	};
	return 1;
}

static void walk_push(struct walk *w, uint32_t function)
{
	VEC_RESERVE(w->frames, w->nframes, w->frames_cap);
	w->frames[w->nframes++] = (struct walk_frame){
	        .function = function,
	        .next = CFG_OUTSIDE,
	};
	w->calls = WALK_NOTHING;
}

static int walk_enter(struct walk *w, uint32_t function,
                      struct walk_event *event)
{
	walk_push(w, function);
	return walk_say(w, event, WALK_ENTER);
}

static int walk_leave(struct walk *w, struct walk_event *event)
{
	bool has_tails = w->program->functions[walk_top(w)->function].has_tails;

	walk_say(w, event, WALK_LEAVE);
	w->nframes--;
	if (has_tails && w->nframes && walk_top(w)->state == WALK_READY)
		walk_top(w)->state = WALK_WAITING;
	w->nsilent -= w->nsilent > 0;
	w->is_leaving = false;
	return 1;
}

/* --- marks --------------------------------------------------------------- */

/*
 * A frame that dies in the middle of a silent path, in a signal handler's jump,
 * has taken it already: the mark of its death is of a frame that is gone.
 */
static int walk_die(struct walk *w, uint32_t function, struct walk_event *event)
{
	if (walk_top(w)->function != function) {
		walk_top(w)->state = WALK_WAITING;
		return WALK_AGAIN;
	}
	walk_say(w, event, WALK_DEATH);
	w->nframes--;
	if (w->nframes) /* goes on elsewhere, or dies as well */
		walk_top(w)->state = WALK_WAITING;
	return 1;
}

static int walk_land(struct walk *w, block_id block, bool is_inside,
                     struct walk_event *event)
{
	walk_top(w)->is_inside = is_inside;
	walk_top(w)->next = block;
	walk_top(w)->state = WALK_WAITING;
	walk_say(w, event, WALK_LAND);
	event->block = block;
	return 1;
}

static int walk_found_frame(struct walk *w, uint32_t function, block_id block,
                            bool is_inside, struct walk_event *event)
{
	walk_push(w, function);
	walk_top(w)->is_inside = is_inside;
	walk_top(w)->next = block;
	walk_top(w)->state = WALK_WAITING;
	walk_say(w, event, WALK_FRAME);
	event->block = block;
	return 1;
}

/* A mark about a place: 1 if it is an event, WALK_AGAIN if nothing happens,
 * negative if there is no such place. */
static int walk_take_place(struct walk *w, uint8_t mark, uint32_t address,
                           struct walk_event *event)
{
	const struct walk_program *p = w->program;
	block_id block = CFG_OUTSIDE;
	bool is_inside = false;
	uint32_t function;

	if (mark == CAIRN_TRACE_ENTER || mark == CAIRN_TRACE_CUT)
		function = p->function_at(p->context, address);
	else
		function = p->site_at(p->context, address, &block, &is_inside);
	if (function >= p->nfunctions)
		return -1;
	switch (mark) {
	case CAIRN_TRACE_ENTER:
		return walk_enter(w, function, event);
	case CAIRN_TRACE_FRAME:
		return walk_found_frame(w, function, block, is_inside, event);
	case CAIRN_TRACE_LAND:
		if (!w->nframes || walk_top(w)->function != function)
			return -1;
		return walk_land(w, block, is_inside, event);
	default:
		return w->nframes ? walk_die(w, function, event) : -1;
	}
}

/* 1 if it is an event, 0 at the end, WALK_AGAIN if nothing happens. */
static int walk_take_mark(struct walk *w, uint8_t mark,
                          struct walk_event *event, struct cairn_err *err)
{
	bool is_long = mark == CAIRN_TRACE_TIME || mark == CAIRN_TRACE_SYNC;
	size_t at = w->at;
	uint64_t value;
	int result = -1;

	if (mark > CAIRN_TRACE_CUT)
		return walk_corrupt(w, "an unknown mark", err);
	if (!walk_take(w, is_long ? 8 : 4, &value))
		return 0;
	switch (mark) {
	case CAIRN_TRACE_TIME:
		return walk_tell(event, WALK_TIME, value);
	case CAIRN_TRACE_SYNC:
		return walk_tell(event, WALK_SYNC, value);
	case CAIRN_TRACE_START:
		w->nframes = 0;
		w->has_history = false;
		return walk_tell(event, WALK_START, value);
	default:
		if (!w->has_history)
			result = walk_take_place(w, mark, (uint32_t)value,
			                         event);
	}
	if (result >= 0)
		return result;
	w->at = at;
	return walk_corrupt(w, "an impossible mark", err);
}

/* --- paths --------------------------------------------------------------- */

/* The history ends here: it must be all used up.  1, 0 at the end of the
 * stream. */
static int walk_finish_history(struct walk *w, const struct walk_way *way,
                               struct cairn_err *err)
{
	if (way->end == CODES_GOES_ON) {
		if (w->has_history && w->is_full && w->nbits == 0)
			w->has_history = false;
		return 1;
	}
	if (w->has_history != (way->end == CODES_WRITES) ||
	    (w->has_history && (w->is_full || w->nbits)))
		return walk_corrupt(w, "a history of another length", err);
	w->has_history = false;
	return 1;
}

/* Where its frame is now. */
static void walk_advance(struct walk *w, const struct walk_way *way)
{
	struct walk_frame *top = walk_top(w);

	if (way->stops) {
		top->state = WALK_AWAY;
		return;
	}
	top->next = way->next;
	w->is_leaving = way->leaves;
	if (way->callee == WALK_ANYTHING)
		top->state = WALK_WAITING;
	else
		w->calls = way->callee;
}

static int walk_take_path(struct walk *w, const struct walk_way *way,
                          struct walk_event *event, struct cairn_err *err)
{
	int result;

	walk_say(w, event, WALK_PATH);
	event->way = way;
	event->nskipped = walk_top(w)->is_inside;
	walk_top(w)->is_inside = false;
	result = walk_finish_history(w, way, err);
	if (result < 0)
		return result;
	walk_advance(w, way);
	return 1;
}

/* May a frame go on without reading, or does it turn in a circle? */
static bool walk_may_go_on(struct walk *w)
{
	struct walk_frame *top = walk_top(w);
	const struct codes *c = w->program->functions[top->function].codes;

	if (top->read != w->nread)
		top->nsilent = 0;
	top->read = w->nread;
	return top->nsilent++ <= c->paths.dag.g->nblocks &&
	       w->nsilent <= w->program->nfunctions;
}

/* Does the innermost frame need a history before it can go on?  If not, *way is
 * its next path. */
static int walk_needs_history(struct walk *w, const struct walk_way **way,
                              struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	struct walk_function *f = &w->program->functions[top->function];
	int result;

	if (top->state == WALK_WAITING)
		return 1;
	if (f->codes->width[top->next])
		return 1;
	result = walk_find(f, top->next, 0, way, err);
	if (result < 0)
		return result;
	return (*way)->end == CODES_WRITES || !walk_may_go_on(w);
}

/* The next path of the innermost frame, whose history is in hand. */
static int walk_next_path(struct walk *w, struct walk_event *event,
                          struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	struct walk_function *f = &w->program->functions[top->function];
	unsigned width = f->codes->width[top->next];
	const struct walk_way *way;
	int result;

	if (width > w->nbits)
		return walk_corrupt(w, "a history that is too short", err);
	w->nbits -= width;
	result = walk_find(f, top->next,
	                   w->word >> w->nbits & (((uint64_t)1 << width) - 1),
	                   &way, err);
	if (result < 0)
		return result;
	top->state = WALK_READY;
	return walk_take_path(w, way, event, err);
}

static int walk_step(struct walk *w, struct walk_event *event,
                     struct cairn_err *err)
{
	struct walk_frame *top;
	const struct walk_way *way;
	uint8_t byte;
	int result;

	if (w->is_leaving)
		return walk_leave(w, event);
	if (w->calls != WALK_NOTHING) {
		w->nsilent++;
		return walk_enter(w, w->calls, event);
	}
	if (w->has_history)
		return walk_next_path(w, event, err);
	top = walk_top(w);
	if (top && top->state != WALK_AWAY) {
		result = walk_needs_history(w, &way, err);
		if (result < 0)
			return result;
		if (result == 0)
			return walk_take_path(w, way, event, err);
	}
	result = walk_peek(w, &byte, err);
	if (result <= 0)
		return result;
	if (byte >= CAIRN_TRACE_MARK)
		return walk_take_mark(w, byte, event, err);
	if (!top || top->state == WALK_AWAY)
		return walk_corrupt(w, "a history of nobody", err);
	result = walk_take_history(w, byte, err);
	return result == 1 ? WALK_AGAIN : result;
}

int walk_next(struct walk *w, struct walk_event *event, struct cairn_err *err)
{
	int result;

	do
		result = walk_step(w, event, err);
	while (result == WALK_AGAIN);
	return result;
}
