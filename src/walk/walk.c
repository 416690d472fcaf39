/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regeneration: from the stream of a thread to what it executed.
 *
 * Figure 7 of Ball and Larus (1994) regenerates a trace from witnesses with a
 * stack for calls.  Here a stream has codes of paths (graph/codes.h), and paths
 * end at calls, too.  So the walk always knows who writes next: the innermost
 * frame, and which path it begins with.  Three things it has to be told.  A
 * function that anybody may call marks that it was entered; one that a throw or
 * a jump takes away is marked by whoever sees that; and so is where its catcher
 * goes on.
 *
 * Behind a call of anything nobody knows whether a function with marks was
 * called: the path that begins there is always written, so that what comes next
 * is either its code, and the call came back, or a mark.  Functions that are
 * entered in the middle of a path, signal handlers, are marked as well: they
 * stand before the path that they interrupted.
 *
 * Invariant: a frame that is not in a call is the innermost one.  What the walk
 * does without reading, silent paths, their calls and returns, ends: a cycle of
 * the graph has a path with an alternative, which is not silent, unless the
 * program cannot leave it.
 * Breaks when: a program is in a loop without a way out, or in a recursion that
 * cannot end, all of it silent: the walk stops before a frame repeats itself.
 * Oracle: proof_trace runs random programs.
 * Cost: O(length of a path) per event; memory is the depth of the stack.
 */
#include "walk/walk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"

#define WALK_AGAIN 2

void walk_init(struct walk *w, const struct walk_function *functions,
               uint32_t nfunctions, const uint8_t *bytes, size_t nbytes)
{
	*w = (struct walk){
	        .functions = functions,
	        .nfunctions = nfunctions,
	        .bytes = bytes,
	        .nbytes = nbytes,
	        .calls = WALK_NOTHING,
	};
}

void walk_release(struct walk *w)
{
	free(w->frames);
	path_release(&w->path);
	*w = (struct walk){0};
}

static struct walk_frame *walk_top(const struct walk *w)
{
	return w->nframes ? &w->frames[w->nframes - 1] : NULL;
}

static int walk_corrupt(const struct walk *w, const char *what,
                        struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT, "%s at byte %zu of a trace",
	                  what, w->at);
}

/* A number, highest byte first; false if the stream ends before. */
static bool walk_read(struct walk *w, unsigned width, uint64_t *value)
{
	if (w->nbytes - w->at < width)
		return false;
	*value = 0;
	for (unsigned i = 0; i < width; i++)
		*value = *value << 8 | w->bytes[w->at++];
	return true;
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

static int walk_enter(struct walk *w, uint32_t function,
                      struct walk_event *event)
{
	VEC_RESERVE(w->frames, w->nframes, w->frames_cap);
	w->frames[w->nframes++] = (struct walk_frame){
	        .function = function,
	        .next = CFG_OUTSIDE,
	};
	w->calls = WALK_NOTHING;
	return walk_say(w, event, WALK_ENTER);
}

static int walk_leave(struct walk *w, struct walk_event *event)
{
	walk_say(w, event, WALK_LEAVE);
	w->nframes--;
	w->nsilent -= w->nsilent > 0;
	w->is_leaving = false;
	return 1;
}

static int walk_die(struct walk *w, uint64_t function, struct walk_event *event)
{
	if (walk_top(w)->function != function)
		return -1;
	walk_say(w, event, WALK_DEATH);
	w->nframes--;
	if (w->nframes) /* goes on elsewhere, or dies as well */
		walk_top(w)->state = WALK_AWAY;
	return 1;
}

static int walk_land(struct walk *w, uint64_t block, struct walk_event *event)
{
	walk_top(w)->next = (block_id)block;
	walk_top(w)->state = WALK_READY;
	walk_say(w, event, WALK_LAND);
	event->block = (block_id)block;
	return 1;
}

/*
 * A mark: 1 if it is an event, 0 at the end, WALK_AGAIN if nothing happens.
 *
 * A frame that dies in the middle of a silent path, in a signal handler's jump,
 * has taken it already: the mark of its death is of a frame that is gone.
 */
static int walk_take_mark(struct walk *w, struct walk_event *event,
                          struct cairn_err *err)
{
	size_t start = w->at++;
	uint64_t kind, value;

	w->nsilent = 0;
	if (!walk_read(w, 1, &kind) || !walk_read(w, 4, &value)) {
		w->nbytes = w->at = start; /* cut in the middle */
		return 0;
	}
	if (kind == WALK_MARK_ENTER && value < w->nfunctions)
		return walk_enter(w, (uint32_t)value, event);
	if (kind == WALK_MARK_LAND && w->nframes)
		return walk_land(w, value, event);
	if (kind == WALK_MARK_DEATH && w->nframes) {
		if (walk_die(w, value, event) == 1)
			return 1;
		walk_top(w)->state = WALK_AWAY;
		return WALK_AGAIN;
	}
	w->at = start;
	return walk_corrupt(w, "an impossible mark", err);
}

/* --- paths --------------------------------------------------------------- */

/* The path has been taken: where is its frame now? */
static void walk_advance(struct walk *w, const struct walk_function *f)
{
	struct walk_frame *top = walk_top(w);
	edge_id last;

	if (w->path.end == PATH_STOPS) {
		top->state = WALK_AWAY;
		return;
	}
	last = w->path.edges[w->path.nedges - 1];
	top->next = f->codes->paths.dag.g->edges[last].dst;
	w->is_leaving = w->path.end == PATH_LEAVES;
	if (f->callee[last] == WALK_ANYTHING)
		top->state = WALK_WAITING;
	else
		w->calls = f->callee[last];
}

static int walk_take_path(struct walk *w, uint64_t code,
                          struct walk_event *event, struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	const struct walk_function *f = &w->functions[top->function];
	int result = codes_decode(f->codes, top->next, code, &w->path, err);

	if (result < 0)
		return result;
	walk_say(w, event, WALK_PATH);
	event->path = &w->path;
	walk_advance(w, f);
	return 1;
}

/* A path that nobody writes down, unless the program turns in a circle. */
static bool walk_is_silent(struct walk *w)
{
	struct walk_frame *top = walk_top(w);
	const struct codes *c = w->functions[top->function].codes;

	if (top->at != w->at)
		top->nsilent = 0;
	top->at = w->at;
	return codes_is_silent(c, top->next) &&
	       top->nsilent <= c->paths.dag.g->nblocks &&
	       w->nsilent <= w->nfunctions;
}

static int walk_take_code(struct walk *w, struct walk_event *event,
                          struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	const struct codes *c = w->functions[top->function].codes;
	uint64_t code;

	if (codes_is_silent(c, top->next))
		return walk_corrupt(w, "a code that nobody writes", err);
	if (!walk_read(w, c->width, &code)) {
		w->nbytes = w->at; /* cut in the middle */
		return 0;
	}
	w->nsilent = 0;
	return walk_take_path(w, code, event, err);
}

static int walk_step(struct walk *w, struct walk_event *event,
                     struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);

	if (w->calls != WALK_NOTHING) {
		w->nsilent++;
		return walk_enter(w, w->calls, event);
	}
	if (w->is_leaving)
		return walk_leave(w, event);
	if (top && top->state == WALK_READY && walk_is_silent(w)) {
		top->nsilent++;
		return walk_take_path(w, 0, event, err);
	}
	if (w->at == w->nbytes)
		return 0;
	if (w->bytes[w->at] == CODES_MARK)
		return walk_take_mark(w, event, err);
	if (!top || top->state == WALK_AWAY)
		return walk_corrupt(w, "a code of nobody", err);
	top->state = WALK_READY;
	return walk_take_code(w, event, err);
}

int walk_next(struct walk *w, struct walk_event *event, struct cairn_err *err)
{
	int result;

	do
		result = walk_step(w, event, err);
	while (result == WALK_AGAIN);
	return result;
}
