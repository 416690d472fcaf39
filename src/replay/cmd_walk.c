/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn-replay walk OUT FILE: replays a recording and writes the trace that it
 * would have been, with its maps, into OUT.  It is what `cairn trace`,
 * `report`, `paths` and the others read instead of a recording (cli/walked.c).
 *
 * A context becomes a thread of the trace.  The rest of the file is copied.
 */
#include "abi/file.h"
#include "abi/trace.h"
#include "analysis/traced.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/progress.h"
#include "format/pack_trace.h"
#include "format/profile.h"
#include "replay/arguments.h"
#include "replay/command.h"
#include "replay/engine.h"
#include "replay/flow.h"
#include "replay/meter.h"
#include "replay/session.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART ((size_t)4 << 20)

static const char help[] =
        "usage: cairn-replay walk [OPTION...] OUT FILE\n\n"
        "Writes the trace of a recording into OUT.\n\n"
        "  --progress FD    the terminal to show progress on\n" SESSION_HELP;

enum { OPT_PROGRESS = SESSION_OTHERS };

static const struct option options[] = {
        {"progress", required_argument, NULL, OPT_PROGRESS},
        SESSION_OPTIONS,
        {0}};

struct walker {
	struct session session;
	int terminal; /* to show progress on, or 0 */
	struct profile *profile;
	struct traced traced;
	struct flow flow;
	struct pack_writer *out;
	const struct recording_context *context;
	bool is_inherited; /* what it does, its ancestors did before a fork */
	bool is_cut;       /* some context has done more than is known */
	int rc;            /* of what was written */
	struct cairn_err *err;
};

static bool take_option(void *walker, int option)
{
	struct walker *w = walker;

	if (option != OPT_PROGRESS)
		return false;
	w->terminal = (int)strtol(optarg, NULL, 10);
	progress_show_on(w->terminal);
	return true;
}

static const struct arguments arguments = {
        .command = "walk",
        .help = help,
        .options = options,
        .take = take_option,
        .operands = "name two files",
        .noperands = 2,
};

static void write_part(struct walker *w)
{
	struct bytes *b = &w->flow.stream;

	if (w->rc == 0 && b->n && !w->is_inherited)
		w->rc = pack_writer_part(w->out, w->context->number, b->data,
		                         b->n, w->err);
	b->n = 0;
}

static void take_steps(void *context, const uint32_t *words, size_t n)
{
	struct walker *w = context;

	flow_take(&w->flow, words, n);
	if (w->flow.stream.n >= PART)
		write_part(w);
}

static void take_doubt(void *context, const uint32_t *words, size_t n,
                       bool is_past)
{
	struct walker *w = context;

	flow_doubt(&w->flow, words, n, is_past);
}

static void take_halt(void *context, uint32_t line)
{
	struct walker *w = context;

	flow_halt(&w->flow, line);
}

static void take_sync(void *context, uint64_t number)
{
	struct walker *w = context;

	flow_sync(&w->flow, number);
}

static void take_fork(void *context, bool is_in_call)
{
	struct walker *w = context;

	flow_fork(&w->flow, w->context->tid, is_in_call);
	w->is_inherited = false;
}

/* A replay that diverges is no failure of the engine, but of ours. */
static int walk_context(struct walker *w, const struct recording_context *c,
                        struct cairn_err *err)
{
	struct engine_result result;
	struct cairn_err later;

	w->context = c;
	w->is_inherited = c->is_forked;
	w->err = &later;
	flow_begin(&w->flow, c->tid);
	CAIRN_TRY(session_run(&w->session, c, &result, err));
	if (result.end == ENGINE_DIVERGED)
		return CAIRN_E_MISMATCH;
	/* the frames that exit or exec left behind are in calls, too */
	if (result.end == ENGINE_STOPPED_IN_CALL || result.end == ENGINE_ENDED)
		flow_end(&w->flow, c->kind == CAIRN_CONTEXT_SIGNAL);
	else if (result.end == ENGINE_LOG_ENDS)
		flow_halt(&w->flow, CAIRN_LINE_SOMEWHERE);
	if (result.end != ENGINE_ENDED &&
	    result.end != ENGINE_STOPPED_IN_CALL && result.end != ENGINE_HALTED)
		w->is_cut = true;
	w->is_cut |= engine_has_doubts();
	write_part(w);
	if (w->flow.nonsense)
		return cairn_fail(
		        err, CAIRN_E_CORRUPT,
		        "%s: replay code says %s; cairn replay and "
		        "values may be able to read it; report this as "
		        "a mistake of Cairn",
		        w->session.options->file, w->flow.nonsense);
	if (w->rc < 0)
		*err = later;
	return w->rc;
}

static int walk_all(struct walker *w, struct cairn_err *err)
{
	struct engine_follower follower = {
	        .steps = take_steps,
	        .doubt = take_doubt,
	        .halted = take_halt,
	        .sync = take_sync,
	        .forked = take_fork,
	        .context = w,
	};
	const struct recording *r = &w->session.recording;

	CAIRN_TRY(traced_init(&w->traced, w->profile, NULL, err));
	CAIRN_TRY(flow_init(&w->flow, &w->session.program, &w->traced, err));
	engine_follow(&follower);
	meter_plan_all(1);
	for (size_t i = 0; i < r->ncontexts; i++) {
		meter_begin(i);
		CAIRN_TRY(walk_context(w, &r->contexts[i], err));
	}
	return 0;
}

/* OUT is a file without a name in $TMPDIR (cli/walked.c). */
static int write_trace(struct walker *w, const char *out, struct cairn_err *err)
{
	static const char place[] = "stdout: ";
	struct cairn_err why;
	int rc = pack_writer_end(w->out, out, w->is_cut, &why);
	const char *text = why.text;

	if (rc == CAIRN_E_SYSTEM && !strncmp(text, place, strlen(place)))
		text += strlen(place);
	if (rc == CAIRN_E_SYSTEM)
		return cairn_fail(err, rc,
		                  "%s: the trace of it cannot be written (%s); "
		                  "set TMPDIR to a folder that has more room",
		                  w->session.options->file, text);
	if (rc < 0)
		*err = why;
	return rc;
}

static int walk(struct walker *w, const struct session_options *o,
                const char *out, struct cairn_err *err)
{
	struct profile_options po = {
	        .exes = o->exes,
	        .nexes = o->nexes,
	        .partial = o->is_partial,
	        .recordings = true,
	};
	int rc;

	CAIRN_TRY(session_wall_in(o, out, err));
	CAIRN_TRY(profile_open(&w->profile, &o->file, 1, &po, err));
	CAIRN_TRY(session_open(&w->session, o, err));
	w->session.needs_whole = "traces, counts and paths begin there";
	w->out = pack_writer_new(w->profile, &w->session.recording.s);
	rc = walk_all(w, err);
	if (rc == 0)
		rc = write_trace(w, out, err);
	pack_writer_free(w->out);
	flow_release(&w->flow);
	traced_release(&w->traced);
	session_close(&w->session);
	return rc;
}

int command_walk(int argc, char **argv)
{
	struct session_options o = {.code = {.shows_steps = true}};
	struct walker w = {0};
	struct cairn_err err;
	int rc = arguments_read(&arguments, argc, argv, &o, &w);

	if (rc != ARGUMENTS_FINE)
		return rc;
	o.file = argv[optind + 1];
	o.outlets = (struct outlet_options){.has_own_stdout = true,
	                                    .terminal = w.terminal};
	rc = walk(&w, &o, argv[optind], &err);
	profile_free(w.profile);
	arguments_release(&o);
	return rc < 0 ? command_fail(&err) : FINE;
}
