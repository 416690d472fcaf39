/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regeneration from witnesses: from the stream of a thread to what it executed.
 *
 * Figure 7 of T. Ball and J. Larus, "Optimally profiling and tracing programs",
 * TOPLAS 16(4), 1994, with the stack of section 4.2: follow the function along
 * edges that are the only ones; at a predicate look at the next witness, and
 * take the edge whose set it is in; at a call go on in the callee, and at the
 * exit in the caller.  The witness that is looked at is used up by the edge
 * that wrote it.  By the blocking property that comes before the next call and
 * before the exit, so between paths no witness is pending, and the walk reads
 * one only when a path is due that needs it.
 *
 * Three things it has to be told, with marks: that a function was entered that
 * anybody may call, that a frame was taken away by a throw or a jump, and where
 * its catcher goes on.  Behind a call of anything the function writes a witness
 * before it calls again or leaves (it is loud), so that what comes next is
 * either that, and the call came back, or a mark.  A signal handler's mark
 * stands before the witness of the path that it interrupted.
 *
 * A path is decoded once (witness_decode), and then remembered with its blocks,
 * by where it begins and its witness.
 *
 * Invariant: a frame that is not in a call is the innermost one.  What the walk
 * does without reading ends: every cycle of a graph has a witness.
 * Breaks when: a program is in a recursion that cannot end and writes nothing:
 * the walk stops when more functions have called each other than there are.  A
 * handler that interrupts a silent path comes after it; if it jumps out, the
 * frame that it takes away may be one that the walk has left already (see
 * witness_walk_die).
 * Oracle: proof_witness runs random programs.
 * Cost: O(log of the witnesses that can come next) per event, and the length of
 * a path when it is new; memory is the depth of the stack, and the paths.
 */
#include "walk/witness_walk.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/trace.h"
#include "base/alloc.h"
#include "base/err.h"

#define WITNESS_WALK_AGAIN 2

_Static_assert(WITNESS_FIRST > 0 && WITNESS_LAST < CAIRN_TRACE_MARK,
               "a witness can be told from a mark, and from nothing");

/* --- paths, remembered --------------------------------------------------- */

/* A path from a place to a witness, or to its silent end. */
struct witness_known {
	struct walk_way way;
	witness_place_id next;
	uint32_t callee;
	bool is_known, leaves, stops;
};

static uint32_t witness_walk_nplaces(const struct witness_function *f)
{
	return 2 * f->witness->graph.g->nblocks;
}

/* Paths from a place: one for each witness, or a silent one. */
static uint32_t witness_walk_npaths(const struct witness_function *f,
                                    witness_place_id at)
{
	return f->witness->nways[at] ? f->witness->nways[at] : 1;
}

static void witness_walk_forget(struct witness_known *known)
{
	free((void *)known->way.blocks);
	free((void *)known->way.edges);
}

void witness_program_release(struct witness_program *p)
{
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		struct witness_function *f = &p->functions[i];

		if (!f->known)
			continue;
		for (uint32_t at = 0; at < witness_walk_nplaces(f); at++) {
			uint32_t n =
			        f->known[at] ? witness_walk_npaths(f, at) : 0;

			for (uint32_t k = 0; k < n; k++)
				witness_walk_forget(&f->known[at][k]);
			free(f->known[at]);
		}
		free(f->known);
		f->known = NULL;
	}
}

/* The blocks that run: not the one where the next path begins. */
static void witness_walk_list_blocks(struct walk_way *way,
                                     const struct path *path,
                                     const struct cfg *g)
{
	block_id *blocks = xcalloc((size_t)path->nedges + 1, sizeof(*blocks));
	uint32_t n = path->nedges;

	if (!path->enters)
		blocks[way->nblocks++] = path->first;
	if (path->end != PATH_STOPS && n)
		n--;
	for (uint32_t i = 0; i < n; i++)
		blocks[way->nblocks++] = g->edges[path->edges[i]].dst;
	way->blocks = blocks;
}

static void witness_walk_learn(struct witness_known *known,
                               const struct witness_function *f,
                               const struct path *path)
{
	edge_id *edges = xcalloc((size_t)path->nedges + 1, sizeof(*edges));

	known->is_known = true;
	known->leaves = path->end == PATH_LEAVES;
	known->stops = path->end == PATH_STOPS;
	known->callee = WALK_NOTHING;
	known->way.enters = path->enters;
	known->way.nedges = path->nedges;
	known->way.edges = edges;
	witness_walk_list_blocks(&known->way, path, f->witness->graph.g);
	if (!path->nedges)
		return;
	memcpy(edges, path->edges, path->nedges * sizeof(*edges));
	known->callee = f->callee[edges[path->nedges - 1]];
	known->stops |= known->leaves && f->is_final[edges[path->nedges - 1]];
	known->leaves &= !known->stops;
}

/* The path from a place to a witness, or with WITNESS_NONE to its end. */
static int witness_walk_find(struct witness_walk *w, struct witness_function *f,
                             witness_place_id at, uint32_t code,
                             const struct witness_known **out,
                             struct cairn_err *err)
{
	uint32_t n = witness_walk_npaths(f, at);
	uint32_t i = witness_find(f->witness, at, code);
	struct witness_known *known;

	if (!f->known)
		f->known = xcalloc(witness_walk_nplaces(f), sizeof(*f->known));
	if (!f->known[at])
		f->known[at] = xcalloc(n, sizeof(**f->known));
	known = &f->known[at][i < n ? i : 0];
	if (i >= n || !known->is_known) {
		CAIRN_TRY(witness_decode(f->witness, at, code, &w->path,
		                         &known->next, err));
		witness_walk_learn(known, f, &w->path);
	}
	*out = known;
	return 0;
}

/* --- the stream ---------------------------------------------------------- */

void witness_walk_init(struct witness_walk *w, struct witness_program *program,
                       struct walk_source source)
{
	*w = (struct witness_walk){
	        .program = program,
	        .source = source,
	        .calls = WALK_NOTHING,
	};
}

static int witness_walk_no_more(void *context, const uint8_t **bytes, size_t *n,
                                struct cairn_err *err)
{
	(void)context;
	(void)bytes;
	(void)n;
	(void)err;
	return 0;
}

void witness_walk_init_bytes(struct witness_walk *w,
                             struct witness_program *program,
                             const uint8_t *bytes, size_t nbytes)
{
	witness_walk_init(w, program,
	                  (struct walk_source){.next = witness_walk_no_more});
	w->bytes = bytes;
	w->nbytes = nbytes;
}

void witness_walk_release(struct witness_walk *w)
{
	free(w->frames);
	path_release(&w->path);
	*w = (struct witness_walk){0};
}

static struct witness_frame *witness_walk_top(const struct witness_walk *w)
{
	return w->nframes ? &w->frames[w->nframes - 1] : NULL;
}

static int witness_walk_corrupt(const struct witness_walk *w, const char *what,
                                struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s at byte %" PRIu64 " of a trace", what,
	                  w->before + w->pos);
}

/* The next item's first byte, without taking it: 1, 0 at the end. */
static int witness_walk_peek(struct witness_walk *w, uint8_t *byte,
                             struct cairn_err *err)
{
	int result;

	for (;;) {
		while (w->pos < w->nbytes &&
		       (w->bytes[w->pos] == 0 ||
		        w->bytes[w->pos] == CAIRN_TRACE_PAD))
			w->pos++;
		if (w->pos < w->nbytes) {
			*byte = w->bytes[w->pos];
			return 1;
		}
		if (w->is_over)
			return 0;
		w->before += w->nbytes;
		w->pos = w->nbytes = 0;
		result = w->source.next(w->source.context, &w->bytes,
		                        &w->nbytes, err);
		if (result < 0)
			return result;
		w->is_over = result == 0;
	}
}

/* Are there n bytes?  If not, the stream ends here, cut in the middle. */
static bool witness_walk_has(struct witness_walk *w, size_t n)
{
	if (w->nbytes - w->pos >= n)
		return true;
	w->pos = w->nbytes;
	w->is_over = true;
	return false;
}

/* --- events -------------------------------------------------------------- */

static int witness_walk_say(const struct witness_walk *w,
                            struct walk_event *event, enum walk_kind kind)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = witness_walk_top(w)->function,
	        .depth = w->nframes - 1,
	};
	return 1;
}

static int witness_walk_tell(struct walk_event *event, enum walk_kind kind,
                             uint64_t value)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = WALK_NOTHING,
	        .value = value,
	};
	return 1;
}

static int witness_walk_enter(struct witness_walk *w, uint32_t function,
                              struct walk_event *event)
{
	VEC_RESERVE(w->frames, w->nframes, w->frames_cap);
	w->frames[w->nframes++] = (struct witness_frame){
	        .function = function,
	        .at = CFG_OUTSIDE,
	        .state = WALK_READY,
	        .nsilent = w->calls == WALK_NOTHING ? 0 : w->nsilent + 1,
	        .read = w->nread,
	};
	w->calls = WALK_NOTHING;
	return witness_walk_say(w, event, WALK_ENTER);
}

static int witness_walk_leave(struct witness_walk *w, struct walk_event *event)
{
	witness_walk_say(w, event, WALK_LEAVE);
	w->nframes--;
	w->is_leaving = false;
	return 1;
}

/* --- marks --------------------------------------------------------------- */

/*
 * A frame that dies in the middle of a silent path, in a signal handler's jump,
 * has taken it already: the mark of its death is of a frame that is gone.
 */
static int witness_walk_die(struct witness_walk *w, uint32_t function,
                            struct walk_event *event)
{
	if (witness_walk_top(w)->function != function) {
		witness_walk_top(w)->state = WALK_WAITING;
		return WITNESS_WALK_AGAIN;
	}
	witness_walk_say(w, event, WALK_DEATH);
	w->nframes--;
	if (w->nframes) /* goes on elsewhere, or dies as well */
		witness_walk_top(w)->state = WALK_WAITING;
	return 1;
}

/* The innermost frame goes on in a block. */
static int witness_walk_land(struct witness_walk *w, block_id block,
                             enum walk_kind kind, struct walk_event *event)
{
	struct witness_frame *top = witness_walk_top(w);
	const struct witness *witness =
	        w->program->functions[top->function].witness;

	if (block == CFG_OUTSIDE || block >= witness->graph.g->nblocks)
		return -1;
	top->at = witness_at(witness, block);
	top->state = kind == WALK_LAND ? WALK_READY : WALK_WAITING;
	witness_walk_say(w, event, kind);
	event->block = block;
	return 1;
}

/* A mark about a place: 1 if it is an event, AGAIN if nothing happens, negative
 * if there is no such place. */
static int witness_walk_take_place(struct witness_walk *w, uint8_t mark,
                                   uint32_t address, struct walk_event *event)
{
	const struct witness_program *p = w->program;
	block_id block = CFG_OUTSIDE;
	uint32_t function;

	if (mark == CAIRN_TRACE_ENTER || mark == CAIRN_TRACE_CUT)
		function = p->function_at(p->context, address);
	else
		function = p->site_at(p->context, address, &block);
	if (function >= p->nfunctions)
		return -1;
	if (mark == CAIRN_TRACE_ENTER)
		return witness_walk_enter(w, function, event);
	if (mark == CAIRN_TRACE_FRAME) {
		witness_walk_enter(w, function, event);
		return witness_walk_land(w, block, WALK_FRAME, event);
	}
	if (!w->nframes)
		return -1;
	if (mark != CAIRN_TRACE_LAND)
		return witness_walk_die(w, function, event);
	if (witness_walk_top(w)->function != function)
		return -1;
	return witness_walk_land(w, block, WALK_LAND, event);
}

/* 1 if it is an event, 0 at the end, AGAIN if nothing happens. */
static int witness_walk_take_mark(struct witness_walk *w, uint8_t mark,
                                  struct walk_event *event,
                                  struct cairn_err *err)
{
	bool is_long = mark == CAIRN_TRACE_TIME || mark == CAIRN_TRACE_SYNC;
	size_t n = is_long ? 8 : 4, start = w->pos;
	uint64_t value = 0;
	int result;

	if (mark > CAIRN_TRACE_CUT)
		return witness_walk_corrupt(w, "an unknown mark", err);
	if (!witness_walk_has(w, 1 + n))
		return 0;
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)w->bytes[w->pos + 1 + i] << 8 * i;
	w->pos += 1 + n;
	w->nread++;
	if (is_long)
		return witness_walk_tell(
		        event, mark == CAIRN_TRACE_TIME ? WALK_TIME : WALK_SYNC,
		        value);
	if (mark == CAIRN_TRACE_START) {
		w->nframes = 0;
		return witness_walk_tell(event, WALK_START, value);
	}
	result = witness_walk_take_place(w, mark, (uint32_t)value, event);
	if (result >= 0)
		return result;
	w->pos = start;
	return witness_walk_corrupt(w, "an impossible mark", err);
}

/* --- paths --------------------------------------------------------------- */

/* How many frames have called each other and nothing was read? */
static uint32_t witness_walk_nsilent(const struct witness_walk *w)
{
	const struct witness_frame *top = witness_walk_top(w);

	return top->read == w->nread ? top->nsilent : 0;
}

/* The path has been taken: what comes next? */
static void witness_walk_advance(struct witness_walk *w,
                                 const struct witness_known *known)
{
	struct witness_frame *top = witness_walk_top(w);

	w->nsilent = witness_walk_nsilent(w);
	if (known->stops) {
		top->state = WALK_AWAY;
		w->calls = known->callee < WALK_ANYTHING ? known->callee
		                                         : WALK_NOTHING;
		return;
	}
	top->at = known->next;
	w->is_leaving = known->leaves;
	if (known->callee == WALK_ANYTHING)
		top->state = WALK_WAITING;
	else
		w->calls = known->callee;
}

/* A witness that stands where its frame is already makes no path. */
static int witness_walk_take_path(struct witness_walk *w, uint32_t code,
                                  struct walk_event *event,
                                  struct cairn_err *err)
{
	struct witness_frame *top = witness_walk_top(w);
	const struct witness_known *known;
	int result = witness_walk_find(w, &w->program->functions[top->function],
	                               top->at, code, &known, err);

	if (result < 0)
		return result;
	top->state = WALK_READY;
	witness_walk_say(w, event, WALK_PATH);
	event->way = &known->way;
	witness_walk_advance(w, known);
	return known->way.nedges || known->stops ? 1 : WITNESS_WALK_AGAIN;
}

static int witness_walk_take_witness(struct witness_walk *w,
                                     struct walk_event *event,
                                     struct cairn_err *err)
{
	struct witness_frame *top = witness_walk_top(w);
	const struct witness *witness =
	        w->program->functions[top->function].witness;
	uint32_t code = 0;

	if (witness_is_silent(witness, top->at))
		return witness_walk_corrupt(w, "a witness that nobody writes",
		                            err);
	if (!witness_walk_has(w, witness->width))
		return 0;
	for (unsigned i = 0; i < witness->width; i++)
		code = code << 8 | w->bytes[w->pos++];
	w->nread++;
	return witness_walk_take_path(w, code, event, err);
}

/* Comes to a call or its end without writing, in a recursion that may end. */
static bool witness_walk_is_silent(const struct witness_walk *w)
{
	const struct witness_frame *top = witness_walk_top(w);

	return top && top->state == WALK_READY &&
	       witness_is_silent(w->program->functions[top->function].witness,
	                         top->at) &&
	       witness_walk_nsilent(w) <= w->program->nfunctions;
}

static int witness_walk_step(struct witness_walk *w, struct walk_event *event,
                             struct cairn_err *err)
{
	const struct witness_frame *top = witness_walk_top(w);
	uint8_t byte;
	int result;

	if (w->is_leaving)
		return witness_walk_leave(w, event);
	if (w->calls != WALK_NOTHING)
		return witness_walk_enter(w, w->calls, event);
	if (witness_walk_is_silent(w))
		return witness_walk_take_path(w, WITNESS_NONE, event, err);
	result = witness_walk_peek(w, &byte, err);
	if (result <= 0)
		return result;
	if (byte >= CAIRN_TRACE_MARK)
		return witness_walk_take_mark(w, byte, event, err);
	if (!top || top->state == WALK_AWAY)
		return witness_walk_corrupt(w, "a witness of nobody", err);
	return witness_walk_take_witness(w, event, err);
}

int witness_walk_next(struct witness_walk *w, struct walk_event *event,
                      struct cairn_err *err)
{
	int result;

	do
		result = witness_walk_step(w, event, err);
	while (result == WITNESS_WALK_AGAIN);
	return result;
}
