/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn match-path on a trace: what the walk over each thread says becomes what
 * the automaton is told.
 *
 * A stream may have several threads one after the other (START); each is judged
 * by itself.  One whose first event is a frame that was there before, in a
 * child of fork, began elsewhere.  Times are executed blocks.
 *
 * With --interleave all threads are told as one, in the order of
 * analysis/interleave.c; each keeps the frames that it has.  Times are then the
 * executed blocks of all.
 */
#include "cli/cli.h"

#include "analysis/alphabet.h"
#include "analysis/interleave.h"
#include "analysis/violations.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/progress.h"
#include "cli/match.h"
#include "cli/trace_input.h"
#include "format/map.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 256
#define TELL_EVERY 65536

static const char *name_of(void *context, uint32_t function)
{
	return trace_input_name(context, function);
}

/* --- functions ----------------------------------------------------------- */

struct adder {
	struct alphabet *alphabet;
	uint32_t block;
};

static void add_line(void *context, const char *file,
                     const struct map_line *line)
{
	struct adder *a = context;

	alphabet_add_line(a->alphabet, a->block, line->instance, file,
	                  line->line);
}

static int add_functions(void *context, struct alphabet *l,
                         struct cairn_err *err)
{
	struct trace_input *in = context;

	(void)err;
	for (uint32_t i = 0; i < in->traced.n; i++) {
		const char *name = traced_name(&in->traced, i);
		struct adder a = {.alphabet = l};

		alphabet_add_function(l, name,
		                      strcmp(in->names[i], name) ? in->names[i]
		                                                 : NULL);
		for (; l->has_lines &&
		       a.block < in->traced.functions[i].g.nblocks;
		     a.block++)
			trace_input_lines(in, i, a.block, add_line, &a);
	}
	return 0;
}

/* --- lines --------------------------------------------------------------- */

struct place {
	const char *file;
	uint32_t line;
};

static void take_line(void *context, const char *file,
                      const struct map_line *line)
{
	struct place *p = context;

	*p = (struct place){file, line->line};
}

static bool find_place(void *context, uint32_t function, uint32_t block,
                       const char **file, uint32_t *line)
{
	struct place p = {0};

	trace_input_lines(context, function, block, take_line, &p);
	*file = p.file;
	*line = p.line;
	return p.file != NULL;
}

/* --- what threads do ----------------------------------------------------- */

/* A thread as it is told; is_open: one has begun. */
struct teller {
	struct violations *v;
	struct violations_thread t;
	uint32_t id;
	bool is_open;
	bool was_lost; /* what it did just before is not known */
};

static void begin_thread(struct teller *t, uint64_t time, bool is_cut)
{
	if (t->is_open)
		return;
	violations_begin(&t->t, t->v, t->id, is_cut || t->was_lost);
	t->was_lost = false;
	t->t.time = time;
	t->is_open = true;
}

static void end_thread(struct teller *t, bool is_cut)
{
	if (t->is_open)
		violations_end(&t->t, is_cut);
	t->is_open = false;
}

static int tell(struct teller *t, const struct walk_event *e,
                struct cairn_err *err)
{
	switch (e->kind) {
	case WALK_START:
		end_thread(t, false);
		t->was_lost = false;
		return 0;
	case WALK_LOST: /* anything may happen until a frame is known again */
		end_thread(t, true);
		t->was_lost = true;
		return 0;
	case WALK_FRAME:
		violations_resume(&t->t, e->function,
		                  e->block == CFG_OUTSIDE ? VIOLATIONS_NOBODY
		                                          : e->block);
		return 0;
	case WALK_ENTER:
		return violations_enter(&t->t, e->function, err);
	case WALK_PATH:
		return violations_blocks(&t->t, e->way->blocks + e->nskipped,
		                         walk_nblocks(e), err);
	case WALK_LEAVE:
	case WALK_DEATH:
		return violations_leave(&t->t, e->kind == WALK_DEATH, err);
	case WALK_LAND:
	case WALK_TIME:
	case WALK_SYNC:
		return 0;
	}
	return 0;
}

static int walk_thread(struct trace_input *in, size_t thread,
                       struct trace_way *way, struct violations *v,
                       struct cairn_err *err)
{
	struct teller t = {.v = v, .id = in->streams.threads[thread].id};
	struct walk_event events[BATCH];
	struct traced_walk w;
	bool is_dropped = in->streams.threads[thread].ndropped != 0;
	int result = 1, told = 0;

	traced_begin(&w, &in->traced, thread);
	while (result == 1 && told >= 0) {
		uint64_t time = w.walk.nblocks;
		size_t n;

		result = walk_run(&w.walk, events, BATCH, &n, err);
		for (size_t i = 0; i < n && told >= 0; i++) {
			if (events[i].kind < WALK_START)
				begin_thread(&t, time,
				             events[i].kind == WALK_FRAME ||
				                     (is_dropped && !time));
			t.t.time = time;
			told = tell(&t, &events[i], err);
			time += walk_nblocks(&events[i]);
		}
		trace_way_tell(way, &w);
	}
	end_thread(&t, result < 0 ||
	                       in->streams.c.state != CAIRN_STATE_CLOSED ||
	                       in->streams.c.flags & CAIRN_FILE_TRUNCATED);
	traced_end(&w);
	return told < 0 ? told : result;
}

static int walk_all(const struct match_input *input, struct violations *v,
                    struct cairn_err *err)
{
	struct trace_input *in = input->context;
	struct trace_way way;
	int rc = 0;

	trace_way_begin(&way, &in->streams, "matching", input->progress);
	for (size_t i = 0; i < in->streams.nthreads && rc >= 0; i++)
		rc = walk_thread(in, i, &way, v, err);
	progress_end(&way.progress);
	return rc < 0 ? rc : 0;
}

/* --- all threads in one order -------------------------------------------- */

/* What a thread has when it is not its turn. */
struct lane {
	struct violations_frame *frames;
	size_t n, cap;
	uint32_t id;
	bool has_events; /* that the expression names */
};

static int tell_lane(struct teller *t, struct lane *l,
                     const struct walk_event *e, struct cairn_err *err)
{
	uint64_t before = t->v->nevents;
	int rc;

	if (e->kind == WALK_START || e->kind == WALK_LOST) {
		violations_drop(l->frames, l->n);
		l->n = 0;
	}
	if (e->kind == WALK_START)
		return 0;
	if (e->kind > WALK_START)
		return tell(t, e, err);
	t->t.id = l->id;
	t->t.frames = l->frames;
	t->t.nframes = l->n;
	t->t.frames_cap = l->cap;
	rc = tell(t, e, err);
	*l = (struct lane){t->t.frames, t->t.nframes, t->t.frames_cap, l->id,
	                   l->has_events || t->v->nevents > before};
	t->t.frames = NULL;
	t->t.nframes = t->t.frames_cap = 0;
	return rc;
}

/* How many threads did something that the expression names. */
static uint32_t end_lanes(struct lane *lanes, size_t n)
{
	uint32_t nthreads = 0;

	for (size_t i = 0; i < n; i++) {
		nthreads += lanes[i].has_events;
		violations_drop(lanes[i].frames, lanes[i].n);
		free(lanes[i].frames);
	}
	free(lanes);
	return nthreads;
}

static int walk_lanes(struct trace_input *in, struct interleave *x,
                      struct violations *v, struct progress *progress,
                      struct cairn_err *err)
{
	struct lane *lanes = xcalloc(x->nlanes + 1, sizeof(*lanes));
	struct teller t = {.v = v};
	struct reader_event event;
	uint64_t time = 0;
	size_t i;
	int result, told = 0;

	for (i = 0; i < x->nlanes; i++)
		lanes[i].id = in->streams.threads[i].id;
	while (told >= 0 &&
	       (result = interleave_next(x, &i, &event, err)) == 1) {
		if (event.e.kind < WALK_START)
			begin_thread(&t, time, event.e.kind == WALK_FRAME);
		t.t.time = time;
		told = tell_lane(&t, &lanes[i], &event.e, err);
		time += walk_nblocks(&event.e);
		if (x->done % TELL_EVERY == 0)
			progress_tell(progress, x->done, x->all);
	}
	end_thread(&t, told < 0 || result < 0 ||
	                       in->streams.c.state != CAIRN_STATE_CLOSED ||
	                       in->streams.c.flags & CAIRN_FILE_TRUNCATED);
	v->nthreads = end_lanes(lanes, x->nlanes);
	return told < 0 ? told : result;
}

static int walk_interleaved(const struct match_input *input,
                            struct violations *v, struct cairn_err *err)
{
	struct trace_input *in = input->context;
	struct progress progress;
	struct interleave x;
	int rc;

	in->wants_progress = input->progress;
	trace_input_index(in);
	trace_input_interleave(in, &x, NULL);
	progress_begin(&progress, "matching", input->progress);
	rc = walk_lanes(in, &x, v, &progress, err);
	progress_end(&progress);
	interleave_release(&x);
	return rc;
}

static int walk_input(const struct match_input *input, struct violations *v,
                      struct cairn_err *err)
{
	return input->interleave ? walk_interleaved(input, v, err)
	                         : walk_all(input, v, err);
}

/* --- the command --------------------------------------------------------- */

static void close_input(void *context)
{
	trace_input_close(context);
	free(context);
}

static int open_input(struct match_input *in, struct cli_inputs *inputs,
                      const char *file)
{
	struct trace_input *trace = xcalloc(1, sizeof(*trace));
	char *path = (char *)file;
	int status = trace_input_open(trace, inputs, path, false);

	if (status) {
		free(trace);
		return status;
	}
	*in = (struct match_input){
	        .context = trace,
	        .add_functions = add_functions,
	        .walk = walk_input,
	        .name = name_of,
	        .place = find_place,
	        .close = close_input,
	};
	return CLI_FINE;
}

int cmd_match_path(int argc, char **argv)
{
	return match_command(argc, argv, open_input);
}
