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
 * A function may write witnesses instead (graph/witness.h), as in the paper: an
 * item is then a witness, and the path that it is read for leads up to where it
 * was written.  By the blocking property that is before the next call, and
 * before the exit; so between paths no witness is pending, and one is read only
 * when a path is due that needs it.  All else is the same, and functions of
 * both kinds call each other.
 *
 * Paths are remembered in ways.c; what marks mean is in walk_marks.c.
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
#include "base/bytes.h"
#include "base/err.h"
#include "graph/witness.h"
#include "walk/step.h"
#include "walk/ways.h"

_Static_assert(WITNESS_FIRST > 0 && WITNESS_LAST == CAIRN_TRACE_SMALL,
               "a witness is an item as a history is");

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
	w->nparts = 1;
}

void walk_release(struct walk *w)
{
	free(w->frames);
	*w = (struct walk){0};
}

int walk_corrupt(const struct walk *w, const char *what, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s at byte %" PRIu64
	                  " of a trace: the program switches stacks by itself "
	                  "(fibers), which a trace cannot follow, or the file "
	                  "is damaged; then run the program again",
	                  what, w->before + w->at);
}

bool walk_has_history(const uint8_t *p, size_t at, size_t end)
{
	while (at < end) {
		if (p[at] && p[at] < CAIRN_TRACE_MARK)
			return true;
		at += 1 + cairn_trace_behind(p[at]);
	}
	return false;
}

/* The history that the last head of a part has, not written yet; or 0. */
static uint64_t walk_open_history(const uint8_t *p, size_t n)
{
	const uint8_t *head = NULL;
	uint64_t history, back;

	for (size_t at = 0; at < n; at += 1 + cairn_trace_behind(p[at]))
		if (p[at] == CAIRN_TRACE_HEAD && n - at >= CAIRN_HEAD_SIZE)
			head = p + at;
	if (!head)
		return 0;
	history = get_le64(head + CAIRN_HEAD_HISTORY);
	back = get_le64(head + CAIRN_HEAD_AT) -
	       get_le64(head + CAIRN_HEAD_BASE);
	n -= (size_t)(head - p);
	if (back < n && walk_has_history(head, (size_t)back, n))
		return 0;
	return history;
}

bool walk_is_halted(const struct walk *w)
{
	const struct walk_frame *top = walk_top(w);

	return top && top->state == WALK_STOPPED &&
	       top->nsilent != CAIRN_LINE_SOMEWHERE;
}

/* May its frame take a history? */
static bool walk_may_read(enum walk_state state)
{
	return state != WALK_AWAY && state != WALK_RESUMES &&
	       state != WALK_STOPPED;
}

/* Does a history that is not written yet say more of the innermost frame than
 * is known? */
static bool walk_is_new(const struct walk *w, uint64_t history)
{
	const struct walk_frame *top = walk_top(w);

	return history >= 2 && !(history >> WALK_MANY_TURNS) && top &&
	       walk_may_read(top->state) &&
	       63 - (unsigned)__builtin_clzll(history) > top->nahead;
}

int walk_take_held(struct walk *w, uint64_t history)
{
	struct walk_frame *top = walk_top(w);
	unsigned nbits;

	if (!walk_is_new(w, history))
		return 0;
	nbits = 63 - (unsigned)__builtin_clzll(history);
	w->word = history;
	w->nbits = nbits - top->nahead;
	w->nidle = 0;
	w->is_full = w->has_history = true;
	top->nahead = nbits;
	return 1;
}

/* The next item's first byte, without taking it: 1, 0 at the end. */
static int walk_peek(struct walk *w, uint8_t *byte, struct cairn_err *err)
{
	int result;

	for (;;) {
		const uint8_t *bytes;
		size_t n;

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
		result = w->source.next(w->source.context, &bytes, &n, err);
		if (result < 0)
			return result;
		w->is_over = result == 0;
		if (result == 0) /* the last part stays in hand */
			return 0;
		w->before += w->nbytes;
		w->bytes = bytes;
		w->nbytes = n;
		w->at = 0;
		w->nparts++;
	}
}

/* The stream ends in the middle of an item: nothing may follow.  0, or
 * negative. */
static int walk_end_in_item(struct walk *w, struct cairn_err *err)
{
	const uint8_t *bytes;
	size_t n;
	int result = w->source.next(w->source.context, &bytes, &n, err);

	w->is_over = true;
	if (result > 0)
		return walk_corrupt(w, "an item that is cut off", err);
	w->at = w->nbytes;
	return result;
}

int walk_take(struct walk *w, unsigned n, uint64_t *value,
              struct cairn_err *err)
{
	if (w->nbytes - w->at < 1 + (size_t)n)
		return walk_end_in_item(w, err);
	*value = 0;
	for (unsigned i = 0; i < n && i < 8; i++)
		*value |= (uint64_t)w->bytes[w->at + 1 + i] << 8 * i;
	w->at += 1 + (size_t)n;
	w->nread++;
	w->nsilent = 0;
	return 1;
}

int walk_take_history(struct walk *w, uint8_t byte, struct cairn_err *err)
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
	} else {
		int result = walk_take(w, n, &value, err);

		if (result <= 0)
			return result;
	}
	if (value == 0) /* interrupted there, and never went on */
		return WALK_AGAIN;
	if (value >> WALK_MANY_TURNS)
		return walk_corrupt(w, "a history that is too long", err);
	w->nbits = 63 - (unsigned)__builtin_clzll(value);
	w->word = value;
	w->nidle = 0;
	w->has_history = true;
	if (walk_top(w) && walk_top(w)->nahead) {
		if (walk_top(w)->nahead > w->nbits)
			return walk_corrupt(w,
			                    "a history that is shorter than "
			                    "it was",
			                    err);
		w->nbits -= walk_top(w)->nahead;
		walk_top(w)->nahead = 0;
		w->has_history = !w->is_full || w->nbits;
	}
	return 1;
}

/* --- events -------------------------------------------------------------- */

int walk_enter(struct walk *w, uint32_t function, struct walk_event *event)
{
	walk_push(w, function);
	return walk_say(w, event, WALK_ENTER);
}

static int walk_leave(struct walk *w, struct walk_event *event)
{
	bool has_tails = w->program->functions[walk_top(w)->function].has_tails;

	walk_say(w, event, WALK_LEAVE);
	walk_pop(w);
	if (has_tails && w->nframes && walk_top(w)->state == WALK_READY)
		walk_top(w)->state = WALK_WAITING;
	w->nsilent -= w->nsilent > 0;
	w->is_leaving = false;
	return 1;
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

/* The innermost frame leaves, and does not return: its caller is in the call,
 * until a mark says what becomes of it. */
static void walk_keep_caller(struct walk *w)
{
	if (w->nframes < 2 || w->frames[w->nframes - 2].state != WALK_READY)
		return;
	w->frames[w->nframes - 2].state = WALK_WAITING;
	if (w->nkept > w->nframes - 2)
		w->nkept = w->nframes - 2;
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
	if (way->resumes)
		walk_keep_caller(w);
	if (way->callee == WALK_ANYTHING)
		top->state = WALK_WAITING;
	else
		w->calls = way->callee;
}

int walk_take_path(struct walk *w, const struct walk_way *way,
                   struct walk_event *event, struct cairn_err *err)
{
	int result;

	walk_say(w, event, WALK_PATH);
	event->way = way;
	event->nskipped = walk_top(w)->is_inside && way->nblocks;
	walk_top(w)->is_inside = false;
	result = walk_finish_history(w, way, err);
	if (result < 0)
		return result;
	w->nblocks += walk_nblocks(event);
	walk_advance(w, way);
	return 1;
}

/* May a frame go on without reading, or does it turn in a circle? */
static bool walk_may_go_on(struct walk *w)
{
	struct walk_frame *top = walk_top(w);
	const struct cfg *g = walk_graph(&w->program->functions[top->function]);

	if (top->read != w->nread)
		top->nsilent = 0;
	top->read = w->nread;
	return top->nsilent++ <= g->nblocks &&
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
	if (!f->codes) {
		if (!witness_is_silent(f->witness,
		                       walk_swap_place(f, top->next)) ||
		    !walk_may_go_on(w))
			return 1;
		return walk_find_witness(f, top->next, 0, way, err);
	}
	if (f->codes->width[top->next])
		return 1;
	result = walk_find(f, top->next, 0, way, err);
	if (result < 0)
		return result;
	return (*way)->end == CODES_WRITES || !walk_may_go_on(w);
}

/*
 * The turns of a loop are many: how many is behind the history, which becomes
 * that number.  1, or 0 at the end of the stream.
 */
static int walk_read_turns(struct walk *w, unsigned bits, uint64_t leaves,
                           struct cairn_err *err)
{
	uint64_t n;
	uint8_t byte;
	int result;

	if (!w->is_full || w->nbits)
		return walk_corrupt(w, "too many turns in a history", err);
	result = walk_peek(w, &byte, err);
	if (result <= 0)
		return result;
	if (byte != CAIRN_TRACE_COUNT)
		return walk_corrupt(w, "no number of turns", err);
	result = walk_take(w, 8, &n, err);
	if (result <= 0)
		return result;
	if (n < CODES_COUNT_MAX || n >> (63 - bits))
		return walk_corrupt(w, "an impossible number of turns", err);
	w->word = n << bits | leaves;
	w->nbits = WALK_MANY_TURNS;
	return 1;
}

/*
 * Where a loop that counts its turns stands: at another turn, 0, or behind the
 * last, 1 + exit.  What is left of the number stays in the history.  1, or 0 at
 * the end of the stream.
 */
static int walk_next_turn(struct walk *w, const struct codes_loop *l,
                          uint64_t *code, struct cairn_err *err)
{
	unsigned width = CODES_COUNT_BITS + l->bits, low = 0;
	uint64_t mask = ((uint64_t)1 << l->bits) - 1, count;
	int result;

	if (w->nbits != WALK_MANY_TURNS) {
		if (width > w->nbits)
			return walk_corrupt(w, "a history that is too short",
			                    err);
		low = w->nbits - width;
		count = w->word >> (low + l->bits) & CODES_COUNT_MAX;
		if (count == CODES_COUNT_MAX) {
			uint64_t leaves = w->word >> low & mask;

			w->nbits = low;
			result = walk_read_turns(w, l->bits, leaves, err);
			if (result == 0)
				w->has_history = false;
			if (result <= 0)
				return result;
			low = 0;
		}
	}
	if (w->nbits == WALK_MANY_TURNS)
		count = w->word >> l->bits;
	*code = 0;
	if (count) {
		w->word -= (uint64_t)1 << (low + l->bits);
		return 1;
	}
	*code = 1 + (w->word >> low & mask);
	w->nbits = low;
	return 1;
}

/* A history tells what the frame does. */
static void walk_go_on(struct walk_frame *top)
{
	if (top->state != WALK_STOPPING)
		top->state = WALK_READY;
}

/* The path of the innermost frame up to the witness that is in hand.  One that
 * stands where the frame is already makes no path. */
static int walk_next_witness(struct walk *w, struct walk_event *event,
                             struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	struct walk_function *f = &w->program->functions[top->function];
	const struct walk_way *way;
	int result;

	w->has_history = false;
	w->nbits = 0;
	if (w->is_full || w->word > WITNESS_LAST_WIDE ||
	    witness_is_silent(f->witness, walk_swap_place(f, top->next)))
		return walk_corrupt(w, "a witness that nobody writes", err);
	result = walk_find_witness(f, top->next, (uint32_t)w->word, &way, err);
	if (result < 0)
		return result;
	walk_go_on(top);
	if (way->nedges || way->stops)
		return walk_take_path(w, way, event, err);
	top->next = way->next;
	return WALK_AGAIN;
}

/* The next path of the innermost frame, whose history is in hand. */
static int walk_next_path(struct walk *w, struct walk_event *event,
                          struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	struct walk_function *f = &w->program->functions[top->function];
	unsigned width = f->codes->width[top->next];
	const struct walk_way *way;
	uint64_t code;
	int result;

	if (f->codes->loop_of[top->next]) {
		result = walk_next_turn(
		        w, &f->codes->loops[f->codes->loop_of[top->next] - 1],
		        &code, err);
		if (result <= 0)
			return result;
		w->nidle = 0;
		result = walk_find(f, top->next, code, &way, err);
		if (result < 0)
			return result;
		walk_go_on(top);
		return walk_take_path(w, way, event, err);
	}
	if (width > w->nbits)
		return walk_corrupt(w, "a history that is too short", err);
	w->nidle = width ? 0 : w->nidle + 1;
	if (w->nidle > f->codes->paths.dag.g->nblocks)
		return walk_corrupt(w, "a history of an endless loop", err);
	w->nbits -= width;
	result = walk_find(f, top->next,
	                   w->word >> w->nbits & (((uint64_t)1 << width) - 1),
	                   &way, err);
	if (result < 0)
		return result;
	walk_go_on(top);
	return walk_take_path(w, way, event, err);
}

/* Of what is at hand: a thread that is stopped anywhere says what time it is.
 */
static bool walk_has_only_times(const struct walk *w)
{
	size_t at = w->at;

	while (at < w->nbytes &&
	       (!w->bytes[at] || w->bytes[at] == CAIRN_TRACE_PAD ||
	        w->bytes[at] == CAIRN_TRACE_TIME))
		at += 1 + cairn_trace_behind(w->bytes[at]);
	return at >= w->nbytes;
}

/*
 * Is there nothing more in the stream, and no history that is not written yet,
 * of the innermost frame or one that it leads to?  1, 0, or negative.
 */
static int walk_is_last(struct walk *w, struct cairn_err *err)
{
	uint8_t byte;
	int result = walk_peek(w, &byte, err);

	if (result < 0 || (result && !walk_has_only_times(w)))
		return result < 0 ? result : 0;
	return !walk_is_new(w, walk_open_history(w->bytes, w->nbytes));
}

/*
 * May the innermost frame take a path that nothing tells of?  It may have been
 * stopped before, which is next in the stream then.  1, 0, or negative.
 */
static int walk_may_be_silent(struct walk *w, struct cairn_err *err)
{
	uint8_t byte;
	int result;

	if (w->program->was_killed) {
		result = walk_is_last(w, err);
		if (result)
			return result < 0 ? result : 0;
	}
	if (!w->program->has_halts)
		return 1;
	result = walk_peek(w, &byte, err);
	if (result < 0)
		return result;
	return !result || byte != CAIRN_TRACE_HALT || walk_halts_below(w);
}

/* Is nothing written at its end, though what it calls may do anything? */
static bool walk_is_silent_call(const struct walk_way *way)
{
	return way->end == CODES_IS_SILENT && !way->leaves && !way->stops &&
	       way->callee == WALK_ANYTHING;
}

/* The innermost frame comes to where it was stopped. */
static int walk_come_to_halt(struct walk *w, struct walk_event *event,
                             struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	struct walk_function *f = &w->program->functions[top->function];
	const struct walk_way *way;
	int result;

	if (!top->read) {
		top->state = WALK_STOPPED;
		return top->next == CFG_OUTSIDE
		               ? WALK_AGAIN
		               : walk_take_path(w,
		                                walk_find_stand(f, top->next),
		                                event, err);
	}
	top->read--;
	CAIRN_TRY(walk_find(f, top->next, 0, &way, err));
	if (!(way->is_plain || walk_is_silent_call(way)) ||
	    (f->codes->width[top->next] && !f->codes->loop_of[top->next]))
		return walk_corrupt(w, "an impossible way to a halt", err);
	result = walk_take_path(w, way, event, err);
	top->state = WALK_STOPPING;
	return result;
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
	top = walk_top(w);
	if (w->has_history)
		return w->program->functions[top->function].codes
		               ? walk_next_path(w, event, err)
		               : walk_next_witness(w, event, err);
	if (top && top->state == WALK_STOPPING)
		return walk_come_to_halt(w, event, err);
	if (top && walk_may_read(top->state)) {
		result = walk_needs_history(w, &way, err);
		if (result == 0)
			result = walk_may_be_silent(w, err);
		else if (result > 0)
			result = 0;
		if (result < 0)
			return result;
		if (result)
			return walk_take_path(w, way, event, err);
	}
	result = walk_peek(w, &byte, err);
	if (result == 0 &&
	    walk_take_held(w, walk_open_history(w->bytes, w->nbytes)))
		return WALK_AGAIN;
	if (result <= 0)
		return result;
	if (byte >= CAIRN_TRACE_MARK)
		return walk_take_mark(w, byte, event, err);
	if (top && top->state == WALK_RESUMES)
		return walk_resume(w, byte, event, err);
	if (!w->is_lost && (!top || !walk_may_read(top->state)))
		return walk_corrupt(w, "a history of nobody", err);
	result = walk_take_history(w, byte, err);
	if (!top ||
	    !walk_may_read(top->state)) /* of a frame that is not known */
		w->has_history = false;
	return result == 1 ? WALK_AGAIN : result;
}

int walk_next(struct walk *w, struct walk_event *event, struct cairn_err *err)
{
	int result;

	do
		result = walk_step(w, event, err);
	while (result == WALK_AGAIN);
	w->nevents += result == 1;
	return result;
}

/*
 * The next path of the innermost frame, if that is known, its history lasts and
 * nothing else happens behind it.  NULL: walk_step has to look.
 */
static inline const struct walk_way *
walk_plain_path(const struct walk_start *s, uint64_t *word, unsigned *nbits)
{
	unsigned width = s->width, low = 0;
	const struct walk_way *way = s->table;
	uint64_t count;

	if (!way)
		return NULL;
	if (width != WALK_COUNTED) {
		if (width > *nbits)
			return NULL;
		way += *word >> (*nbits - width) & (((uint64_t)1 << width) - 1);
		*nbits -= width;
		return way->is_plain ? way : NULL;
	}
	width = CODES_COUNT_BITS + s->exits;
	count = *word >> s->exits;
	if (*nbits != WALK_MANY_TURNS) {
		if (width > *nbits)
			return NULL;
		low = *nbits - width;
		count = *word >> (low + s->exits) & CODES_COUNT_MAX;
		if (count == CODES_COUNT_MAX)
			return NULL;
	}
	if (count) {
		*word -= (uint64_t)1 << (low + s->exits);
		return way->is_plain ? way : NULL;
	}
	way += 1 + (*word >> low & (((uint64_t)1 << s->exits) - 1));
	*nbits = low;
	return way->is_plain ? way : NULL;
}

/* Takes paths as long as there are such: most of a trace. */
static size_t walk_take_plain(struct walk *w, struct walk_event *events,
                              size_t cap)
{
	struct walk_frame *top = walk_top(w);
	const struct walk_function *f = &w->program->functions[top->function];
	uint64_t word = w->word, nblocks = 0;
	unsigned nbits = w->nbits, nidle = w->nidle;
	block_id next = top->next;
	size_t n = 0;

	if (!f->codes || f->codes->one_by_one || !f->ways || top->is_inside)
		return 0;
	while (n < cap && (nbits || !w->is_full)) {
		const struct walk_start *s = &f->ways->starts[next];
		const struct walk_way *way = walk_plain_path(s, &word, &nbits);

		nidle = s->width ? 0 : nidle + 1;
		if (!way || nidle > f->codes->paths.dag.g->nblocks)
			break;
		w->word = word;
		w->nbits = nbits;
		w->nidle = nidle;
		events[n++] = (struct walk_event){
		        .kind = WALK_PATH,
		        .function = top->function,
		        .depth = w->nframes - 1,
		        .way = way,
		};
		nblocks += way->nblocks;
		next = way->next;
	}
	if (!n)
		return 0;
	top->next = next;
	walk_go_on(top);
	w->nblocks += nblocks;
	w->has_history = w->nbits || !w->is_full;
	return n;
}

/* An item of one path, of few bytes; its size, or 0: walk_step has to look. */
static inline unsigned walk_small_item(const struct walk *w, size_t at,
                                       uint32_t *value)
{
	if (at >= w->nbytes)
		return 0;
	*value = w->bytes[at];
	if (*value <= CAIRN_TRACE_SMALL)
		return 1;
	if (*value != CAIRN_TRACE_WORD + 4 || w->nbytes - at < 5)
		return 0;
	memcpy(value, w->bytes + at + 1, 4);
	*value = le32toh(*value);
	return 5;
}

/* The path that an item means, if it is plain and known. */
static inline const struct walk_way *
walk_item_path(const struct walk_ways *ways, block_id first, uint32_t value,
               bool has_codes)
{
	const struct walk_start *s = &ways->starts[first];
	const struct walk_way *way = NULL;

	if (has_codes) {
		if (s->width > 31 || value >> s->width != 1)
			return NULL;
		value -= UINT32_C(1) << s->width;
	} else if (!value) {
		return NULL;
	}
	if (s->table)
		way = value < s->size ? &s->table[value] : NULL;
	else if (!s->size && ways->wide.cap)
		way = walk_wide_slot(&ways->wide, first, value)->way;
	return way && way->is_plain ? way : NULL;
}

/* Takes paths of a function that writes them one by one, or witnesses, as long
 * as nothing else happens between them. */
static size_t walk_take_items(struct walk *w, struct walk_event *events,
                              size_t cap)
{
	struct walk_frame *top = walk_top(w);
	const struct walk_function *f = &w->program->functions[top->function];
	bool has_codes = f->codes != NULL;
	uint64_t nblocks = 0, nread = 0;
	size_t n = 0, at = w->at;

	if (!f->ways || top->is_inside || !walk_may_read(top->state))
		return 0;
	while (n < cap) {
		uint32_t value;
		unsigned size = walk_small_item(w, at, &value);
		const struct walk_way *way;

		if (!size)
			break;
		way = walk_item_path(f->ways, top->next, value, has_codes);
		if (!way)
			break;
		at += size;
		nread++;
		top->next = way->next;
		if (!way->nedges) /* a witness where the frame was already */
			continue;
		nblocks += way->nblocks;
		events[n++] = (struct walk_event){
		        .kind = WALK_PATH,
		        .function = top->function,
		        .depth = w->nframes - 1,
		        .way = way,
		};
	}
	if (!nread)
		return 0;
	top->state = WALK_READY;
	w->at = at;
	w->nread += nread;
	w->nsilent = 0;
	w->nblocks += nblocks;
	return n;
}

/* Is the next thing that happens an item of its own for each path? */
static bool walk_reads_items(const struct walk *w)
{
	const struct walk_frame *top = walk_top(w);
	const struct codes *c;

	if (!top || w->is_leaving || w->calls != WALK_NOTHING)
		return false;
	c = w->program->functions[top->function].codes;
	return !c || c->one_by_one;
}

int walk_run(struct walk *w, struct walk_event *events, size_t cap, size_t *n,
             struct cairn_err *err)
{
	int result = 1;

	*n = 0;
	while (result > 0 && *n < cap) {
		if (w->has_history)
			*n += walk_take_plain(w, events + *n, cap - *n);
		else if (walk_reads_items(w))
			*n += walk_take_items(w, events + *n, cap - *n);
		if (*n == cap)
			break;
		result = walk_step(w, &events[*n], err);
		*n += result == 1;
	}
	w->nevents += *n;
	return result < 0 ? result : result > 0;
}
