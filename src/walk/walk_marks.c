/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What marks in a stream tell the walk (walk.c): that a function was entered,
 * that a frame died or goes on elsewhere, which frames were there when a stream
 * began, when it was, and what happened before.
 *
 * A flight recorder forgets the beginning.  Every part of its stream begins
 * with marks of the frames that are there (PART); who comes from the part
 * before, and knows them, skips these.  What a frame had done when it was
 * interrupted, or when the program was killed, is a history that is not
 * complete (HELD, HEAD): it is taken, and left out of the complete one, if that
 * comes.
 *
 * A recording knows more: where a frame was stopped, block by block (HALT).
 *
 * Invariant: between marks no history is in hand.
 * Cost: O(1) per mark; LAND and LOST take as long as there are frames.
 */
#include "walk/step.h"

#include "abi/trace.h"
#include "base/bytes.h"
#include "base/err.h"
#include "walk/ways.h"

#define WALK_REPEAT 3 /* an event, and the mark is taken once more */

static void walk_kill(struct walk *w, struct walk_event *event)
{
	walk_say(w, event, WALK_DEATH);
	walk_pop(w);
	if (w->nframes) /* goes on elsewhere, or dies as well */
		walk_top(w)->state = WALK_WAITING;
}

/*
 * A frame that dies in the middle of a silent path, in a signal handler's jump,
 * has taken it already: the mark of its death is of a frame that is gone.  So
 * has one that dies in a call in tail position for which the compiler left the
 * frame there; it may be the first of its thread.
 */
static int walk_die(struct walk *w, uint8_t mark, uint32_t function,
                    struct walk_event *event)
{
	uint64_t how;

	if (!w->nframes)
		return w->is_lost || w->program->functions[function].has_tails
		               ? WALK_AGAIN
		               : -1;
	if (walk_top(w)->function != function) {
		walk_top(w)->state = WALK_WAITING;
		return WALK_AGAIN;
	}
	how = mark != CAIRN_TRACE_CUT ? WALK_IN_CALL
	      : walk_is_halted(w)     ? WALK_HALTED
	                              : WALK_BETWEEN;
	walk_kill(w, event);
	event->value = how;
	return 1;
}

static bool walk_has(const struct walk *w, uint32_t function)
{
	for (size_t i = w->nframes; i-- > 0;)
		if (w->frames[i].function == function)
			return true;
	return false;
}

static int walk_land(struct walk *w, block_id block, bool is_inside,
                     struct walk_event *event)
{
	bool was_halted = walk_is_halted(w);

	walk_top(w)->is_inside = is_inside;
	walk_top(w)->next = block;
	walk_top(w)->state = WALK_WAITING;
	walk_top(w)->nahead = 0;
	walk_say(w, event, WALK_LAND);
	event->block = block;
	event->value = was_halted ? WALK_HALTED : WALK_BETWEEN;
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

/* The edge by which a frame is in a call; CFG_NONE: none. */
static edge_id walk_call_of(const struct walk_function *f, block_id next)
{
	const struct cfg *g = walk_graph(f);

	for (uint32_t i = g->in_at[next]; i < g->in_at[next + 1]; i++)
		if (f->callee[g->in[i]] != WALK_NOTHING)
			return g->in[i];
	return CFG_NONE;
}

/* One that was found is the callee of the next one, if that is known: then it
 * goes on as behind any known call. */
static void walk_found_callee(struct walk *w, uint32_t function)
{
	struct walk_frame *top = walk_top(w);
	const struct walk_function *f;
	edge_id e;

	if (!top || top->next == CFG_OUTSIDE)
		return;
	f = &w->program->functions[top->function];
	if (top->next >= walk_graph(f)->nblocks)
		return;
	e = walk_call_of(f, top->next);
	if (e != CFG_NONE && f->callee[e] == function)
		top->state = WALK_READY;
}

/* A frame is somewhere, or in a call at which no history ended. */
static int walk_lose(struct walk *w, struct walk_event *event)
{
	size_t n = w->nframes;

	w->nframes = w->nkept = 0;
	w->is_lost = true;
	return walk_tell(event, WALK_LOST, n);
}

/* A frame was interrupted, if it is one of the program. */
static int walk_take_lost(struct walk *w, uint32_t address,
                          struct walk_event *event)
{
	const struct walk_program *p = w->program;

	if (address && p->function_at(p->context, address) >= p->nfunctions)
		return WALK_AGAIN;
	return walk_lose(w, event);
}

/* Can a function end in a call that does not come back? */
static bool walk_has_final(const struct walk_function *f)
{
	const struct cfg *g = walk_graph(f);

	for (edge_id e = 0; e < g->nedges; e++)
		if (f->is_final[e])
			return true;
	for (block_id b = 1; b < g->nblocks; b++)
		if (g->out_at[b] == g->out_at[b + 1])
			return true;
	return false;
}

/*
 * A frame of a flight recorder's stack.  Where it does not go on, it is in a
 * call that does not come back, or in one in tail position, for which the
 * compiler left the frame there: then it has left.  If the function has both
 * nobody knows.
 */
static int walk_take_stack(struct walk *w, uint32_t function, block_id block,
                           bool is_inside, struct walk_event *event)
{
	const struct walk_function *f = &w->program->functions[function];

	if (block == CFG_OUTSIDE && f->has_tails)
		return walk_has_final(f) ? walk_lose(w, event) : WALK_AGAIN;
	walk_found_callee(w, function);
	walk_found_frame(w, function, block, is_inside, event);
	if (block == CFG_OUTSIDE)
		walk_top(w)->state = WALK_AWAY;
	return 1;
}

/*
 * A mark about a place: 1 if it is an event, WALK_AGAIN if nothing happens,
 * negative if there is no such place.  One that is interrupted just before a
 * known call has made it already, as far as the walk knows; so frames inside
 * the one that lands may be there that nobody marked as dead.
 */
static int walk_take_place(struct walk *w, uint8_t mark, uint32_t address,
                           struct walk_event *event)
{
	const struct walk_program *p = w->program;
	block_id block = CFG_OUTSIDE;
	bool is_inside = false;
	uint32_t function;

	if (!address) /* interrupted there, and never went on */
		return WALK_AGAIN;
	if (mark == CAIRN_TRACE_ENTER || mark == CAIRN_TRACE_CUT)
		function = p->function_at(p->context, address);
	else
		function = p->site_at(p->context, address, &block, &is_inside);
	if (function >= p->nfunctions) /* of our modules, but without marks */
		return mark == CAIRN_TRACE_ENTER ? -1 : WALK_AGAIN;
	/* that of one whose history does not follow: the part ends before */
	if (walk_top(w) && walk_top(w)->state == WALK_RESUMES) {
		walk_lose(w, event);
		return WALK_REPEAT;
	}
	switch (mark) {
	case CAIRN_TRACE_ENTER:
		return walk_enter(w, function, event);
	case CAIRN_TRACE_STACK:
		return walk_take_stack(w, function, block, is_inside, event);
	case CAIRN_TRACE_FRAME:
		if (block == CFG_OUTSIDE)
			return walk_lose(w, event);
		walk_found_callee(w, function);
		return walk_found_frame(w, function, block, is_inside, event);
	case CAIRN_TRACE_LAND:
		if (!w->nframes && w->is_lost && block != CFG_OUTSIDE)
			return walk_found_frame(w, function, block, is_inside,
			                        event);
		if (!walk_has(w, function) || block == CFG_OUTSIDE)
			return -1;
		if (walk_top(w)->function != function) {
			walk_kill(w, event);
			return WALK_REPEAT;
		}
		return walk_land(w, block, is_inside, event);
	default:
		return walk_die(w, mark, function, event);
	}
}

/* --- flight recorders ---------------------------------------------------- */

/* What who begins here has to know; who has read what was before skips it. */
static int walk_take_part(struct walk *w, struct cairn_err *err)
{
	uint64_t n;
	int result = walk_take(w, 4, &n, err);

	if (result <= 0)
		return result;
	if (n > w->nbytes - w->at)
		return walk_corrupt(w, "a part that begins too far", err);
	if (w->nparts > 1 && !(w->is_lost && !w->nframes)) {
		w->at += (size_t)n;
	} else if (w->nparts > 1) { /* it is the same thread */
		while (w->at < w->nbytes &&
		       (w->bytes[w->at] == CAIRN_TRACE_START ||
		        w->bytes[w->at] == CAIRN_TRACE_SYNC))
			w->at += 1 + cairn_trace_behind(w->bytes[w->at]);
		w->is_lost = false;
	}
	return WALK_AGAIN;
}

/* The innermost frame, at the end of a path whose beginning is not known. */
static int walk_take_resume(struct walk *w, struct walk_event *event,
                            struct cairn_err *err)
{
	const struct walk_program *p = w->program;
	struct walk_function *f;
	uint32_t function, place;
	uint64_t value;
	int result = walk_take(w, 8, &value, err);

	if (result <= 0)
		return result;
	place = (uint32_t)(value >> 32);
	function = p->function_at(p->context, (uint32_t)value - 1);
	if (function >= p->nfunctions ||
	    !walk_is_place(&p->functions[function], place))
		return walk_lose(w, event);
	f = &p->functions[function];
	walk_found_callee(w, function);
	walk_found_frame(w, function, walk_block_of(f, place), true, event);
	walk_top(w)->state = WALK_RESUMES;
	walk_top(w)->nsilent = place;
	return 1;
}

int walk_resume(struct walk *w, uint8_t byte, struct walk_event *event,
                struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	uint32_t place = top->nsilent;
	int result = walk_take_history(w, byte, err);

	if (result != 1)
		return result;
	if (!walk_is_place(&w->program->functions[top->function], place))
		return walk_corrupt(w, "no such place", err);
	top->state = WALK_READY;
	top->nsilent = 0;
	top->nahead = 0;
	w->nbits = 0;
	w->has_history = true;
	if (place >> CAIRN_PLACE_KIND_SHIFT == CAIRN_PLACE_TOP) {
		if (!w->is_full)
			return walk_corrupt(w, "a history of another kind",
			                    err);
		w->has_history = false;
		return WALK_AGAIN;
	}
	return walk_take_path(
	        w, walk_find_rest(&w->program->functions[top->function], place),
	        event, err);
}

static int walk_take_interrupted(struct walk *w, struct cairn_err *err)
{
	size_t at = w->at;
	uint64_t back, value;
	int result = walk_take(w, 12, &value, err);

	if (result <= 0)
		return result;
	back = get_le32(w->bytes + at + 9);
	if (back <= at && !walk_has_history(w->bytes, at - (size_t)back, at))
		walk_take_held(w, value);
	return WALK_AGAIN;
}

/* Marks of a flight recorder. */
static int walk_take_recorder(struct walk *w, uint8_t mark,
                              struct walk_event *event, struct cairn_err *err)
{
	uint64_t value;
	int result;

	switch (mark) {
	case CAIRN_TRACE_PART:
		return walk_take_part(w, err);
	case CAIRN_TRACE_RESUME:
		return walk_take_resume(w, event, err);
	case CAIRN_TRACE_HELD:
		return walk_take_interrupted(w, err);
	case CAIRN_TRACE_HEAD:
		result = walk_take(w, CAIRN_HEAD_SIZE - 1, &value, err);
		return result <= 0 ? result : WALK_AGAIN;
	default:
		return walk_corrupt(w, "an unknown mark", err);
	}
}

/* --- recordings ---------------------------------------------------------- */

static uint32_t walk_halt_depth(const struct walk *w)
{
	return w->nbytes - w->at < 5 ? 0 : get_le32(w->bytes + w->at + 1);
}

bool walk_halts_below(const struct walk *w)
{
	return walk_halt_depth(w) < w->nframes;
}

/* Frames that are not known are nobody's concern. */
static int walk_take_halt(struct walk *w, struct cairn_err *err)
{
	const uint8_t *p = w->bytes + w->at + 1;
	uint32_t depth = walk_halt_depth(w);
	struct walk_frame *top = walk_top(w);
	uint64_t unused;
	int result = walk_take(w, CAIRN_HALT_SIZE, &unused, err);

	if (result <= 0)
		return result;
	if (depth != w->nframes || !top || top->state == WALK_AWAY)
		return w->is_lost ? WALK_AGAIN
		                  : walk_corrupt(w, "a halt of nobody", err);
	if (!w->program->functions[top->function].codes)
		return walk_corrupt(w, "a halt of a witness", err);
	walk_take_held(w, get_le64(p + 4));
	top->nahead = 0;
	top->nsilent = 0;
	top->read = get_le64(p + 12);
	top->state = WALK_STOPPING;
	return WALK_AGAIN;
}

static int walk_take_step(struct walk *w, uint8_t mark,
                          struct walk_event *event, struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	const struct walk_way *way;
	uint64_t value;
	int result = walk_take(w, 4, &value, err);

	if (result <= 0)
		return result;
	if (!top || top->state != WALK_STOPPED)
		return w->is_lost ? WALK_AGAIN
		                  : walk_corrupt(w, "a step of nobody", err);
	if (mark == CAIRN_TRACE_LINE) {
		top->nsilent = (uint32_t)value;
		return WALK_AGAIN;
	}
	way = walk_find_step(&w->program->functions[top->function], top->next,
	                     (uint32_t)value);
	if (!way)
		return walk_corrupt(w, "a step over no edge", err);
	return walk_take_path(w, way, event, err);
}

/* --- all of them --------------------------------------------------------- */

int walk_take_mark(struct walk *w, uint8_t mark, struct walk_event *event,
                   struct cairn_err *err)
{
	bool is_long = mark == CAIRN_TRACE_TIME || mark == CAIRN_TRACE_SYNC;
	size_t at = w->at;
	uint64_t value;
	int result;

	if (mark == CAIRN_TRACE_HALT)
		return walk_take_halt(w, err);
	if (mark == CAIRN_TRACE_STEP || mark == CAIRN_TRACE_LINE)
		return walk_take_step(w, mark, event, err);
	if (mark < CAIRN_TRACE_ENTER)
		return walk_corrupt(w, "an unknown mark", err);
	if (mark > CAIRN_TRACE_LOST && mark != CAIRN_TRACE_STACK)
		return walk_take_recorder(w, mark, event, err);
	result = walk_take(w, is_long ? 8 : 4, &value, err);
	if (result <= 0)
		return result;
	result = -1;
	switch (mark) {
	case CAIRN_TRACE_TIME:
		w->ns = value;
		return walk_tell(event, WALK_TIME, value);
	case CAIRN_TRACE_SYNC:
		w->sync = value;
		return walk_tell(event, WALK_SYNC, value);
	case CAIRN_TRACE_START:
		w->nframes = w->nkept = 0;
		w->has_history = w->is_lost = false;
		return walk_tell(event, WALK_START, value);
	case CAIRN_TRACE_LOST:
		return walk_take_lost(w, (uint32_t)value, event);
	default:
		if (!w->has_history)
			result = walk_take_place(w, mark, (uint32_t)value,
			                         event);
	}
	if (result >= 0 && result != WALK_REPEAT)
		return result;
	w->at = at;
	if (result == WALK_REPEAT)
		return 1;
	return walk_corrupt(w, "an impossible mark", err);
}
