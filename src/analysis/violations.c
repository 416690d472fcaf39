/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the automaton of a path expression beside each thread, and notes where
 * the thread leaves the language.
 *
 * The 2007 thesis, section 2.3.2 (after Bruegge and Hibbard): the automaton is
 * monitored in parallel with the execution, and something is done when it gets
 * to an error state or a final one.  Here an error state is a violation, and
 * final states are counted.  Open(Read + Write)*Close there says how files are
 * used, however many are; so the expression repeats, as between the path and
 * end of R. Campbell and N. Habermann, "The specification of process
 * synchronization by path expressions", 1974, unless it is to happen once.
 *
 * A violation is the first event that no continuation allows.  Then the
 * expression begins anew: with that event if it can begin it, otherwise with
 * the next one that can.  Events up to there belong to the violation, so that
 * one mistake is reported once.  What is to happen once has no such place: the
 * rest of the thread belongs to its first violation.
 *
 * A line happens when a frame comes to it from another line, or gets back to a
 * block where it was since the line last happened: a statement of several
 * blocks happens once, a loop on one line once, and once more whenever it gets
 * round.
 *
 * Where the beginning of a thread is not known it may be anywhere in the
 * expression; where its end is not known nothing is unfinished.
 *
 * Invariant: unless a thread is lost its state is not dead, and what happened
 * since the state was last final is in its history.  Cost: O(1) per event,
 * memory for the call depth, with a word per block in functions whose lines are
 * named, and for the violations that are kept.
 */
#include "analysis/violations.h"

#include "analysis/alphabet.h"
#include "analysis/automaton.h"
#include "base/alloc.h"
#include "base/err.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void violations_init(struct violations *v, struct automaton *a,
                     const struct alphabet *l, size_t keep)
{
	*v = (struct violations){.automaton = a,
	                         .alphabet = l,
	                         .start = automaton_start(a),
	                         .keep = keep};
}

void violations_release(struct violations *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->items[i].expected);
		free(v->items[i].history);
	}
	free(v->items);
	*v = (struct violations){0};
}

/* --- history ------------------------------------------------------------ */

static void remember(struct violations_thread *t,
                     const struct violations_event *e)
{
	if (t->nhistory < VIOLATIONS_FIRST)
		t->first[t->nhistory] = *e;
	else
		t->recent[(t->nhistory - VIOLATIONS_FIRST) % VIOLATIONS_LAST] =
		        *e;
	t->nhistory++;
}

static void copy_history(const struct violations_thread *t, struct violation *x)
{
	uint64_t n = t->nhistory, last = 0;

	if (n > VIOLATIONS_FIRST + VIOLATIONS_LAST)
		x->nhidden = n - VIOLATIONS_FIRST - VIOLATIONS_LAST;
	x->nhistory = (size_t)(n - x->nhidden);
	x->history = xmalloc((x->nhistory + 1) * sizeof(*x->history));
	for (size_t i = 0; i < x->nhistory; i++) {
		if (i < VIOLATIONS_FIRST) {
			x->history[i] = t->first[i];
			continue;
		}
		last = x->nhidden + i - VIOLATIONS_FIRST;
		x->history[i] = t->recent[last % VIOLATIONS_LAST];
	}
}

/* --- violations --------------------------------------------------------- */

/* In the state where the thread is; `e` is NULL at its end. */
static void note(struct violations_thread *t, const struct violations_event *e)
{
	struct violations *v = t->v;
	struct automaton *a = v->automaton;
	struct violation *x;

	v->count++;
	t->last = VIOLATIONS_NONE;
	if (v->n == v->keep)
		return;
	VEC_RESERVE(v->items, v->n, v->cap);
	t->last = v->n++;
	x = &v->items[t->last];
	*x = (struct violation){
	        .kind = e ? VIOLATION_UNEXPECTED : VIOLATION_UNFINISHED,
	        .thread = t->id,
	        .time = t->time,
	        .may_end = automaton_is_final(a, t->state),
	        .expected = xmalloc((a->symbol_width + 1) * sizeof(uint64_t))};
	if (e)
		x->event = *e;
	automaton_expected(a, t->state, x->expected);
	copy_history(t, x);
}

/* The event was allowed. */
static void advance(struct violations_thread *t, uint32_t state,
                    const struct violations_event *e)
{
	t->state = state;
	if (automaton_is_final(t->v->automaton, state)) {
		t->v->ncomplete++;
		t->nhistory = 0;
	} else {
		remember(t, e);
	}
}

/* Begins anew with the event, if it can. */
static int restart(struct violations_thread *t,
                   const struct violations_event *e, struct cairn_err *err)
{
	struct violations *v = t->v;
	uint32_t next;

	CAIRN_TRY(
	        automaton_next(v->automaton, v->start, e->letter, &next, err));
	t->is_lost = !v->automaton->is_repeated || next == AUTOMATON_DEAD;
	t->nhistory = 0;
	if (!t->is_lost)
		advance(t, next, e);
	return 0;
}

static int happen(struct violations_thread *t, const struct violations_event *e,
                  struct cairn_err *err)
{
	struct violations *v = t->v;
	uint32_t next;

	if (e->letter == AUTOMATON_OTHER)
		return 0;
	v->nevents++;
	v->nthreads += !t->nevents++;
	if (t->is_lost) {
		CAIRN_TRY(restart(t, e, err));
		if (t->is_lost && t->last != VIOLATIONS_NONE)
			v->items[t->last].nskipped++;
		return 0;
	}
	CAIRN_TRY(
	        automaton_next(v->automaton, t->state, e->letter, &next, err));
	if (next != AUTOMATON_DEAD) {
		advance(t, next, e);
		return 0;
	}
	note(t, e);
	return restart(t, e, err);
}

/* --- threads ------------------------------------------------------------ */

void violations_begin(struct violations_thread *t, struct violations *v,
                      uint32_t id, bool is_cut)
{
	*t = (struct violations_thread){
	        .v = v, .id = id, .last = VIOLATIONS_NONE};
	v->is_cut |= is_cut;
	t->state = is_cut ? automaton_anywhere(v->automaton) : v->start;
}

void violations_resume(struct violations_thread *t, uint32_t function,
                       uint32_t block)
{
	VEC_RESERVE(t->frames, t->nframes, t->frames_cap);
	t->frames[t->nframes++] =
	        (struct violations_frame){.function = function, .block = block};
}

void violations_drop(struct violations_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(frames[i].visits);
}

/* An ENTER or a LEAVE of a function by the frame that is now innermost. */
static struct violations_event call_event(const struct violations_thread *t,
                                          enum expression_what what,
                                          uint32_t function)
{
	const struct alphabet_function *f =
	        &t->v->alphabet->functions[function];
	const struct violations_frame *below =
	        t->nframes ? &t->frames[t->nframes - 1] : NULL;

	return (struct violations_event){
	        .what = what,
	        .letter = what == EXPRESSION_ENTER ? f->enter : f->leave,
	        .function = function,
	        .caller = below ? below->function : VIOLATIONS_NOBODY,
	        .block = below ? below->block : VIOLATIONS_NOBODY,
	        .time = t->time,
	        .thread = t->id,
	};
}

int violations_enter(struct violations_thread *t, uint32_t function,
                     struct cairn_err *err)
{
	struct violations_event e = call_event(t, EXPRESSION_ENTER, function);

	violations_resume(t, function, VIOLATIONS_NOBODY);
	return happen(t, &e, err);
}

int violations_leave(struct violations_thread *t, bool died,
                     struct cairn_err *err)
{
	struct violations_event e;

	assert(t->nframes);
	t->nframes--;
	violations_drop(&t->frames[t->nframes], 1);
	e = call_event(t, EXPRESSION_LEAVE, t->frames[t->nframes].function);
	e.died = died;
	return happen(t, &e, err);
}

static bool is_same_line(const struct alphabet_line *a,
                         const struct alphabet_line *b)
{
	return a && a->line == b->line && a->file == b->file &&
	       a->instance == b->instance;
}

/* Begins another visit. */
static void begin_visit(struct violations_frame *f, uint32_t nblocks)
{
	if (!f->visits)
		f->visits = xcalloc(nblocks, sizeof(*f->visits));
	if (!++f->visit) {
		memset(f->visits, 0, nblocks * sizeof(*f->visits));
		f->visit = 1;
	}
}

/* The innermost frame runs a line of a block. */
static int run_line(struct violations_thread *t, uint32_t block,
                    const struct alphabet_line *line, bool is_first,
                    struct cairn_err *err)
{
	struct violations_frame *f = &t->frames[t->nframes - 1];
	uint32_t nblocks = t->v->alphabet->functions[f->function].nblocks;
	struct violations_event e = {
	        .what = EXPRESSION_LINE,
	        .letter = line->letter,
	        .function = f->function,
	        .line = line,
	        .caller = VIOLATIONS_NOBODY,
	        .block = block,
	        .time = t->time,
	        .thread = t->id,
	};
	bool is_new = !is_same_line(f->line, line) ||
	              (is_first && f->visits[block] == f->visit);

	if (is_new)
		begin_visit(f, nblocks);
	f->visits[block] = f->visit;
	f->line = line;
	return is_new ? happen(t, &e, err) : 0;
}

int violations_blocks(struct violations_thread *t, const uint32_t *blocks,
                      size_t n, struct cairn_err *err)
{
	struct violations_frame *f;
	uint32_t nlines;

	assert(t->nframes);
	f = &t->frames[t->nframes - 1];
	for (size_t i = 0; i < n; i++) {
		const struct alphabet_line *lines = alphabet_lines(
		        t->v->alphabet, f->function, blocks[i], &nlines);

		f->block = blocks[i];
		for (uint32_t k = 0; k < nlines; k++)
			CAIRN_TRY(run_line(t, blocks[i], &lines[k], !k, err));
	}
	return 0;
}

void violations_end(struct violations_thread *t, bool is_cut)
{
	t->v->is_cut |= is_cut;
	if (!is_cut && t->nevents && !t->is_lost &&
	    !automaton_is_final(t->v->automaton, t->state))
		note(t, NULL);
	violations_drop(t->frames, t->nframes);
	free(t->frames);
	t->frames = NULL;
	t->nframes = t->frames_cap = 0;
}

void violations_finish(struct violations *v)
{
	struct violations_thread nobody;

	if (v->nevents || v->is_cut ||
	    automaton_is_final(v->automaton, v->start))
		return;
	violations_begin(&nobody, v, 0, false);
	note(&nobody, NULL);
	violations_end(&nobody, true);
}
