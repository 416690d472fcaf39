/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn match-path on a trace: what the walk over each thread says becomes what
 * the automaton is told.
 *
 * A stream may have several threads one after the other (START); each is judged
 * by itself.  One whose first event is a frame that was there before, in a
 * child of fork, began elsewhere.  Times are executed blocks.
 */
#include "cli/cli.h"

#include "analysis/alphabet.h"
#include "analysis/violations.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/match.h"
#include "cli/trace_input.h"
#include "format/map.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 256

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
};

static void begin_thread(struct teller *t, uint64_t time, bool is_cut)
{
	if (t->is_open)
		return;
	violations_begin(&t->t, t->v, t->id, is_cut);
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
		t->id = (uint32_t)e->value;
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
                       struct violations *v, struct cairn_err *err)
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
	}
	end_thread(&t, result < 0 ||
	                       in->streams.c.state != CAIRN_STATE_CLOSED ||
	                       in->streams.c.flags & CAIRN_FILE_TRUNCATED);
	traced_end(&w);
	return told < 0 ? told : result;
}

static int walk_all(void *context, struct violations *v, struct cairn_err *err)
{
	struct trace_input *in = context;

	for (size_t i = 0; i < in->streams.nthreads; i++)
		CAIRN_TRY(walk_thread(in, i, v, err));
	return 0;
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
	        .walk = walk_all,
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
