/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn replay: executes all contexts of a recording again and says whether
 * they did the same.
 */
#include "base/err.h"
#include "replay/command.h"
#include "replay/engine.h"
#include "replay/session.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn replay [OPTION...] FILE\n\n"
        "Executes a recorded run again, from the IR in the program and the "
        "log in FILE,\nand says whether it did the same, to the last tick and "
        "event.  It needs none of\nthe program's inputs.\n\n" SESSION_HELP;

static const struct option options[] = {SESSION_OPTIONS, {0}};

/* All contexts together. */
struct sum {
	uint64_t nticks;
	size_t ncontexts, ncut;
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

/* Returns an exit status. */
static int replay_context(struct session *s, const struct recording_context *c,
                          struct sum *sum)
{
	struct engine_result result;
	struct cairn_err err;

	if (s->options->code.shows_calls)
		engine_watch(show_call);
	if (session_run(s, c, &result, &err) < 0)
		return command_fail(&err);
	if (result.end == ENGINE_DIVERGED) {
		command_fail(&err);
		return DIFFERENT;
	}
	sum->nticks += result.nticks;
	sum->ncontexts++;
	sum->ncut += result.end == ENGINE_LOG_ENDS;
	return FINE;
}

static int replay_all(struct session *s)
{
	struct sum sum = {0};
	char contexts[64] = "";
	struct cairn_err err;

	if (!s->recording.ncontexts) {
		cairn_fail(
		        &err, CAIRN_E_ABSENT,
		        "%s: has no log, so nothing can be replayed; no code "
		        "that is recorded ran, or the file was cut before",
		        s->options->file);
		return command_fail(&err);
	}

	for (size_t i = 0; i < s->recording.ncontexts; i++) {
		int status = replay_context(s, &s->recording.contexts[i], &sum);

		if (status != FINE)
			return status;
	}
	if (sum.ncontexts > 1)
		snprintf(contexts, sizeof(contexts), " in %zu contexts",
		         sum.ncontexts);
	printf("replayed %" PRIu64 " ticks%s, identical%s\n", sum.nticks,
	       contexts, sum.ncut ? " up to where the log was cut off" : "");
	return command_flush();
}

int command_replay(int argc, char **argv)
{
	struct session_options o = {0};
	struct session s;
	struct cairn_err err;
	int option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return FINE;
		}
		if (!session_option(&o, option, optarg))
			return ERROR;
	}
	if (argc - optind != 1)
		return command_usage("replay", "name one file");
	o.file = argv[optind];
	o.code.shows_calls = is_debugged("calls");
	if (session_open(&s, &o, &err) < 0)
		return command_fail(&err);
	status = replay_all(&s);
	session_close(&s);
	free(o.exes);
	free(o.parents);
	return status;
}
