/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn replay: executes all contexts of a recording again and says whether
 * they did the same.
 */
#include "base/err.h"
#include "replay/arguments.h"
#include "replay/checkpoint.h"
#include "replay/command.h"
#include "replay/engine.h"
#include "replay/session.h"
#include "replay/spans.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn replay [OPTION...] FILE\n\n"
        "Executes a recorded run again, from the IR in the program and the "
        "log in FILE,\nand says whether it did the same, to the last tick and "
        "event.  It needs none of\nthe program's inputs.\n\n"
        "If that takes long, checkpoints are kept in the folder "
        "FILE.checkpoints: from\nthem questions begin anywhere, and the next "
        "replay, if it is long, runs on all\nprocessors.\n\n"
        "  --from TICK      begin at the checkpoint before this tick\n"
        "  --to TICK        end there, or at the next checkpoint\n"
        "  --every N        keep a checkpoint every N ticks, instead of every "
        "quarter of\n"
        "                   a second, and such that values and print can begin "
        "there\n" SESSION_HELP;

enum { OPT_FROM = SESSION_OTHERS, OPT_TO, OPT_EVERY };

static const struct option options[] = {
        {"from", required_argument, NULL, OPT_FROM},
        {"to", required_argument, NULL, OPT_TO},
        {"every", required_argument, NULL, OPT_EVERY},
        SESSION_OPTIONS,
        {0}};

/* All contexts together. */
struct sum {
	struct spans spans;
	uint64_t nticks;
	uint64_t first; /* where one began that was cut */
	uint64_t begin, end;
	size_t ncontexts, ncut, nbases;
	bool is_part; /* was asked for, of one context */
};

/* For who looks for a mistake: every call of foreign code, on stderr. */
static void show_call(uint64_t tick, uint64_t callee, const uint64_t *args,
                      unsigned nargs)
{
	fprintf(stderr, "call %" PRIu64 " %#" PRIx64, tick, callee);
	for (unsigned i = 0; i < nargs; i++)
		fprintf(stderr, " %" PRIx64, args[i]);
	fprintf(stderr, "\n");
}

/* Does CAIRN_DEBUG name this? */
static bool is_debugged(const char *what)
{
	const char *list = getenv("CAIRN_DEBUG");

	return list && strstr(list, what);
}

static void replay_span(void *sum, const struct span *s, struct span_result *r)
{
	const struct sum *all = sum;
	struct engine_result result;

	r->status = FINE;
	if (spans_replay(&all->spans, s, &result, &r->err) < 0) {
		r->status = ERROR;
		return;
	}
	r->end = result.end;
	r->nticks = result.nticks - result.first;
	r->counts[0] = result.first;
	r->counts[1] = result.nticks;
	if (result.end == ENGINE_DIVERGED)
		r->status = DIFFERENT;
}

static int take_span(void *sum, const struct span *s,
                     const struct span_result *r, FILE *out)
{
	struct sum *all = sum;

	(void)out;
	if (r->status != FINE) {
		command_fail(&r->err);
		return r->status;
	}
	all->nticks += r->nticks;
	if (r->counts[0] < all->begin)
		all->begin = r->counts[0];
	if (r->counts[1] > all->end)
		all->end = r->counts[1];
	if (!s->from && r->counts[0]) {
		all->first = r->counts[0];
		all->nbases++;
	}
	if (s->to && r->end == ENGINE_PAUSED)
		return FINE;
	all->ncontexts++;
	all->ncut += r->end == ENGINE_LOG_ENDS;
	return FINE;
}

static void say(const struct sum *sum)
{
	char contexts[64] = "", from[64] = "";

	if (sum->ncontexts > 1)
		snprintf(contexts, sizeof(contexts), " in %zu contexts",
		         sum->ncontexts);
	if (sum->is_part)
		snprintf(from, sizeof(from),
		         " from tick %" PRIu64 " to tick %" PRIu64, sum->begin,
		         sum->end);
	else if (sum->nbases && sum->ncontexts == 1)
		snprintf(from, sizeof(from), " from tick %" PRIu64, sum->first);
	else if (sum->nbases)
		snprintf(from, sizeof(from), " from what was kept on");
	printf("replayed %" PRIu64 " ticks%s%s, identical%s\n", sum->nticks,
	       contexts, from,
	       sum->ncut ? " up to where the log was cut off" : "");
}

static int replay_all(struct session *s, const struct spans_wish *wish)
{
	struct sum sum = {
	        .begin = UINT64_MAX,
	        .is_part = (wish->from || wish->last != UINT64_MAX) &&
	                   s->recording.ncontexts == 1,
	};
	struct spans_work work = {replay_span, take_span, &sum};
	struct cairn_err err;
	int status;

	if (!s->recording.ncontexts) {
		cairn_fail(
		        &err, CAIRN_E_ABSENT,
		        "%s: has no log, so nothing can be replayed; no code "
		        "that is recorded ran, or the file was cut before",
		        s->options->file);
		return command_fail(&err);
	}
	if (s->options->code.shows_calls)
		engine_watch(show_call);
	if (s->options->code.notes_seen)
		engine_note_seen();
	spans_plan(&sum.spans, s, wish);
	status = spans_run(&sum.spans, &work);
	spans_release(&sum.spans);
	if (status != FINE)
		return status;
	if (sum.is_part && sum.end <= wish->from) {
		cairn_fail(&err, CAIRN_E_ABSENT,
		           "%s: ends at tick %" PRIu64 ", before --from",
		           s->options->file, sum.end);
		return command_fail(&err);
	}
	say(&sum);
	return command_flush();
}

/* One that is not of every session.  False: it was used wrongly, which was
 * said. */
static bool take_option(void *wish, int option)
{
	struct spans_wish *w = wish;

	switch (option) {
	case OPT_FROM:
		return command_tick("replay", "--from", optarg, &w->from);
	case OPT_TO:
		return command_tick("replay", "--to", optarg, &w->last);
	case OPT_EVERY:
		if (!command_tick("replay", "--every", optarg, &w->every))
			return false;
		if (!w->every)
			command_usage("replay", "--every 0 is no distance; "
			                        "use a number from 1 on");
		return w->every;
	default:
		return false;
	}
}

static const struct arguments arguments = {
        .command = "replay",
        .help = help,
        .options = options,
        .take = take_option,
        .operands = "name one file",
        .noperands = 1,
};

/* Calls are shown in their order, by one process.  Checkpoints that are asked
 * for can be used by questions, too, though it takes longer. */
static void choose_code(struct session_options *o, struct spans_wish *wish)
{
	o->code.shows_calls = is_debugged("calls");
	o->is_quiet |= o->code.shows_calls;
	wish->no_checkpoints = o->no_cache || o->code.shows_calls;
	wish->njobs = o->njobs;
	wish->least = o->njobs ? 0 : SPANS_LEAST;
	wish->is_divisible = !o->code.shows_calls;
	o->code.saves = !wish->no_checkpoints;
	o->code.notes_seen = o->code.saves && wish->every;
}

int command_replay(int argc, char **argv)
{
	struct session_options o = {0};
	struct spans_wish wish = {.last = UINT64_MAX};
	struct session s;
	struct cairn_err err;
	int status = arguments_read(&arguments, argc, argv, &o, &wish);

	if (status != ARGUMENTS_FINE)
		return status;
	o.file = argv[optind];
	choose_code(&o, &wish);
	if (session_open(&s, &o, &err) < 0) {
		status = command_fail(&err);
	} else {
		status = replay_all(&s, &wish);
		session_close(&s);
	}
	arguments_release(&o);
	return status;
}
