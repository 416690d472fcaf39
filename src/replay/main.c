/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn-replay: what `cairn replay` executes, so that only replays load LLVM.
 * It prints, as src/cli does; exit status 0 fine, 1 a divergence, 2 an error.
 */
#include "base/alloc.h"
#include "base/err.h"
#include "format/recording.h"
#include "replay/arena.h"
#include "replay/engine.h"
#include "replay/jit.h"
#include "replay/program.h"
#include "replay/unit.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINE = 0, DIVERGED = 1, ERROR = 2 };

static const char help[] =
        "usage: cairn replay [OPTION...] FILE\n\n"
        "Executes a recorded run again, from the IR in the program and the "
        "log in FILE,\nand says whether it did the same, to the last tick and "
        "event.  It needs none of\nthe program's inputs.\n\n"
        "  --exe PATH       look for the executables and libraries that ran "
        "in\n"
        "                   this file or directory first (may be repeated)\n"
        "  --partial        of a truncated file, read what is whole\n"
        "  --no-cache       compile everything anew, and keep nothing in\n"
        "                   ~/.cache/cairn\n"
        "  -h, --help       this text\n";

enum { OPT_EXE = 256, OPT_PARTIAL, OPT_NO_CACHE };

static const struct option options[] = {
        {"exe", required_argument, NULL, OPT_EXE},
        {"partial", no_argument, NULL, OPT_PARTIAL},
        {"no-cache", no_argument, NULL, OPT_NO_CACHE},
        {"help", no_argument, NULL, 'h'},
        {0},
};

struct request {
	const char **exes;
	size_t nexes, exes_cap;
	bool is_partial, no_cache, shows_calls;
	const char *file;
};

/* All contexts together. */
struct sum {
	uint64_t nticks;
	size_t ncontexts, ncut;
};

static int fail(const struct cairn_err *err)
{
	fprintf(stderr, "cairn: %s\n", err->text);
	return ERROR;
}

static int usage(const char *what)
{
	fprintf(stderr,
	        "cairn replay: %s\nTry 'cairn replay --help' for more "
	        "information.\n",
	        what);
	return ERROR;
}

/* --- the program --------------------------------------------------------- */

static uint32_t count_numbers(const struct recording *r)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->nmodules; i++)
		if (r->modules[i].number >= n)
			n = r->modules[i].number + 1;
	return n;
}

/* Modules get their numbers of the file; those in between are empty. */
static int add_modules(struct program *p, const struct recording *r,
                       const struct request *q, struct cairn_err *err)
{
	uint32_t n = count_numbers(r);

	if (n > r->nmodules + 16)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "%s: its modules have impossible numbers",
		                  q->file);
	for (uint32_t i = 0; i < n; i++) {
		const struct recording_module *m = recording_module(r, i);
		struct unit_module u;

		if (!m || !m->ncells) {
			CAIRN_TRY(program_add_module(p, m ? m->path : "", 0, 0,
			                             0, err));
			continue;
		}
		u = (struct unit_module){
		        .file = {m->path, "", m->id, m->nid},
		        .bias = m->bias,
		        .cells = m->cells,
		        .ncells = m->ncells,
		};
		CAIRN_TRY(unit_add_module(p, &u, q->exes, q->nexes, err));
	}
	return program_finish(p, err);
}

/* --- contexts ------------------------------------------------------------ */

static int next_event(void *log, struct recording_event *v,
                      struct cairn_err *err)
{
	return recording_next_event(log, v, err);
}

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
static int replay_context(const struct recording *r,
                          const struct recording_context *c,
                          const struct request *q, struct sum *sum)
{
	struct recording_log log;
	struct engine_log source = {q->file, next_event, &log};
	struct engine_result result;
	struct cairn_err err;
	int rc;

	if (c->is_forked) {
		cairn_fail(
		        &err, CAIRN_E_LIMIT,
		        "%s: goes on from a process that was forked (%" PRIu32
		        "); this cairn replays only processes from their "
		        "beginning",
		        q->file, c->parent_pid);
		return fail(&err);
	}
	recording_log_init(&log, r, c);
	if (q->shows_calls)
		engine_watch(show_call);
	rc = engine_run(&source, &result, &err);
	recording_log_release(&log);
	if (rc < 0)
		return fail(&err);
	if (result.end == ENGINE_DIVERGED) {
		fail(&err);
		return DIVERGED;
	}
	sum->nticks += result.nticks;
	sum->ncontexts++;
	sum->ncut += result.end == ENGINE_LOG_ENDS;
	return FINE;
}

static int report(const struct sum *s)
{
	char contexts[64] = "";

	if (s->ncontexts > 1)
		snprintf(contexts, sizeof(contexts), " in %zu contexts",
		         s->ncontexts);
	printf("replayed %" PRIu64 " ticks%s, identical%s\n", s->nticks,
	       contexts, s->ncut ? " up to where the log was cut off" : "");
	if (fflush(stdout)) {
		perror("cairn: stdout");
		return ERROR;
	}
	return FINE;
}

static int replay_all(const struct recording *r, const struct request *q)
{
	struct sum sum = {0};

	for (size_t i = 0; i < r->ncontexts; i++) {
		int status = replay_context(r, &r->contexts[i], q, &sum);

		if (status != FINE)
			return status;
	}
	return report(&sum);
}

static int replay(const struct request *q)
{
	struct recording r;
	struct program p = {0};
	struct cairn_err err;
	int status = ERROR;

	if (recording_open(&r, q->file,
	                   q->is_partial ? CONTAINER_PARTIAL : CONTAINER_WHOLE,
	                   &err) < 0)
		return fail(&err);
	if (arena_open(&err) < 0 || add_modules(&p, &r, q, &err) < 0 ||
	    engine_open(&p, &jit_compiler, &err) < 0 ||
	    jit_open(!q->no_cache, q->shows_calls, &err) < 0)
		fail(&err);
	else
		status = replay_all(&r, q);
	jit_close();
	engine_close();
	program_release(&p);
	arena_close();
	recording_release(&r);
	return status;
}

/* --- the command line ---------------------------------------------------- */

static void add_exe(struct request *q, const char *path)
{
	VEC_RESERVE(q->exes, q->nexes, q->exes_cap);
	q->exes[q->nexes++] = path;
}

int main(int argc, char **argv)
{
	struct request q = {0};
	int option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case OPT_EXE:
			add_exe(&q, optarg);
			break;
		case OPT_PARTIAL:
			q.is_partial = true;
			break;
		case OPT_NO_CACHE:
			q.no_cache = true;
			break;
		case 'h':
			fputs(help, stdout);
			return FINE;
		default:
			return ERROR;
		}
	}
	if (argc - optind != 1)
		return usage("name one file");
	q.file = argv[optind];
	q.shows_calls = is_debugged("calls");
	status = replay(&q);
	free(q.exes);
	return status;
}
