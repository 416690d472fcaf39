/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, its program and the compiler, opened together.
 */
#include "replay/session.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/progress.h"
#include "base/text.h"
#include "replay/arena.h"
#include "replay/broker.h"
#include "replay/checkpoint.h"
#include "replay/engine.h"
#include "replay/fatal.h"
#include "replay/jit.h"
#include "replay/lineage.h"
#include "replay/meter.h"
#include "replay/outlet.h"
#include "replay/sandbox.h"
#include "replay/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NJOBS_MAX 1024u

/* False: it was used wrongly, which is said. */
static bool take_jobs(struct session_options *o, const char *argument)
{
	char *end;
	unsigned long n = strtoul(argument, &end, 10);

	o->njobs = (unsigned)n;
	if (*argument >= '1' && *argument <= '9' && !*end && n <= NJOBS_MAX)
		return true;
	text_print(stderr,
	           "cairn: --jobs needs a number from 1 to %u, not %s\n",
	           NJOBS_MAX, argument);
	return false;
}

bool session_option(struct session_options *o, int option, const char *argument)
{
	switch (option) {
	case SESSION_EXE:
		VEC_RESERVE(o->exes, o->nexes, o->exes_cap);
		o->exes[o->nexes++] = argument;
		return true;
	case SESSION_PARENT:
		VEC_RESERVE(o->parents, o->nparents, o->parents_cap);
		o->parents[o->nparents++] = argument;
		return true;
	case SESSION_PARTIAL:
		o->is_partial = true;
		return true;
	case SESSION_NO_CACHE:
		o->no_cache = true;
		return true;
	case 'q':
		o->is_quiet = true;
		return true;
	case SESSION_TRUSTED:
		o->is_trusted = true;
		return true;
	case SESSION_JOBS:
		return take_jobs(o, argument);
	default:
		return false;
	}
}

/* --- the sandbox --------------------------------------------------------- */

/* For commands that read recordings as traces, and have no such option. */
static bool is_trusted_by_environment(void)
{
	const char *text = getenv("CAIRN_REPLAY_TRUSTED");

	return text && !strcmp(text, "1");
}

/* Progress is shown as it would be without a wall. */
static int wall_in(const struct broker_rights *rights,
                   const struct outlet_options *outlets, struct cairn_err *err)
{
	CAIRN_TRY(sandbox_enter(rights, outlets, err));
	progress_know(outlet_is_terminal(progress_place()));
	return 0;
}

int session_wall_in(const struct session_options *o, const char *out,
                    struct cairn_err *err)
{
	static struct broker_rights rights;

	if (rights.recording)
		return 0;
	rights = (struct broker_rights){
	        .recording = o->file,
	        .exes = o->exes,
	        .nexes = o->nexes,
	        .parents = o->parents,
	        .nparents = o->nparents,
	        .out = out,
	        .has_no_cache = o->no_cache,
	        .is_quiet = o->is_quiet,
	};
	if (!o->is_trusted && !is_trusted_by_environment())
		return wall_in(&rights, &o->outlets, err);
	broker_stay(&rights);
	return 0;
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
static int add_modules(struct session *s, struct cairn_err *err)
{
	const struct recording *r = &s->recording;
	uint32_t n = count_numbers(r);

	if (n > r->nmodules + 16)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "%s: its modules have impossible numbers",
		                  s->options->file);
	for (uint32_t i = 0; i < n; i++) {
		const struct recording_module *m = recording_module(r, i);
		struct unit_module u;

		if (!m || !m->ncells) {
			CAIRN_TRY(program_add_module(
			        &s->program, m ? m->path : "", 0, 0, 0, err));
			continue;
		}
		u = (struct unit_module){
		        .file = {m->path, "", m->id, m->nid, true},
		        .bias = m->bias,
		        .cells = m->cells,
		        .ncells = m->ncells,
		};
		CAIRN_TRY(unit_add_module(&s->program, &u, s->options->exes,
		                          s->options->nexes, err));
	}
	return program_finish(&s->program, err);
}

static int open_all(struct session *s, struct cairn_err *err)
{
	const struct session_options *o = s->options;

	CAIRN_TRY(arena_open(err));
	CAIRN_TRY(add_modules(s, err));
	CAIRN_TRY(engine_open(&s->program, &jit_compiler, err));
	return jit_open(&s->program, !o->no_cache, &o->code, err);
}

static enum container_mode mode_of(const struct session_options *o)
{
	return o->is_partial ? CONTAINER_PARTIAL : CONTAINER_WHOLE;
}

/* Files that the user named are there. */
static int check_named(const struct session_options *o, struct cairn_err *err)
{
	for (size_t i = 0; i < o->nexes; i++)
		if (access(o->exes[i], R_OK))
			return cairn_fail(err, CAIRN_E_USAGE,
			                  "--exe %s: cannot open: %s; name a "
			                  "file or directory",
			                  o->exes[i], strerror(errno));
	for (size_t i = 0; i < o->nparents; i++)
		if (access(o->parents[i], R_OK))
			return cairn_fail(err, CAIRN_E_USAGE,
			                  "--parent %s: cannot open: %s; name "
			                  "a recording",
			                  o->parents[i], strerror(errno));
	return 0;
}

int session_open(struct session *s, const struct session_options *options,
                 struct cairn_err *err)
{
	int rc;

	*s = (struct session){.options = options};
	fatal_file(options->file);
	CAIRN_TRY(session_wall_in(options, NULL, err));
	CAIRN_TRY(check_named(options, err));
	CAIRN_TRY(recording_open(&s->recording, options->file, mode_of(options),
	                         err));
	if (!options->is_quiet)
		meter_open(&s->recording, &s->program);
	rc = open_all(s, err);
	if (rc < 0)
		session_close(s);
	return rc;
}

void session_close(struct session *s)
{
	meter_close();
	jit_close();
	engine_close();
	program_release(&s->program);
	arena_close();
	interrupts_release(&s->interrupts);
	recording_release(&s->recording);
}

int session_load(struct session *s, uint32_t unit, struct cairn_err *err)
{
	if (s->program.units[unit].is_loaded)
		return 0;
	return jit_compiler.load(&s->program, unit, err);
}

/* --- contexts ------------------------------------------------------------ */

static int refuse_cut(const struct session *s, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%s: its beginning was dropped, and %s; ask a whole "
	                  "recording, or cairn values, print or output",
	                  s->options->file, s->needs_whole);
}

/*
 * Where a replay begins: at a checkpoint that the caller has, or at the one
 * with which the recording, or that of an ancestor, begins.  None: `start` has
 * no moment.
 */
static int find_start(struct session *s, const struct lineage *log,
                      struct checkpoint *from, struct checkpoint *own,
                      struct engine_start *start, struct cairn_err *err)
{
	const struct recording_base *base;
	struct engine_mark mark;

	if (!from) {
		base = lineage_base(log, &mark);
		if (s->needs_whole && (base || s->recording.is_cut))
			return refuse_cut(s, err);
		if (!base)
			return 0;
		CAIRN_TRY(checkpoint_take(own, &s->recording, base,
		                          s->options->file, err));
		own->moment.mark = mark;
		from = own;
	}
	CAIRN_TRY(checkpoint_load(from, err));
	((struct checkpoint_filler *)start->context)->c = from;
	start->moment = &from->moment;
	return 0;
}

/* Tells the engine where handlers interrupt the context. */
static void interrupt(struct session *s, const struct recording_context *c,
                      const struct lineage_options *where)
{
	const struct engine_came *came;
	size_t n;

	if (s->needs_order && !s->has_interrupts) {
		interrupts_read(&s->interrupts, &s->recording, where);
		s->has_interrupts = true;
	}
	came = interrupts_of(&s->interrupts, c->number, &n);
	engine_interrupt(came, n);
}

int session_run_from(struct session *s, const struct recording_context *c,
                     struct checkpoint *from, struct engine_result *result,
                     struct cairn_err *err)
{
	const struct session_options *o = s->options;
	const struct lineage_options where = {o->parents, o->nparents,
	                                      mode_of(o)};
	struct lineage log;
	struct engine_log source = {o->file, lineage_next, &log, lineage_where,
	                            lineage_seek};
	struct checkpoint_filler filler = {NULL, &s->program,
	                                   o->code.notes_seen};
	struct engine_start start = {.fill = checkpoint_fill,
	                             .context = &filler};
	struct checkpoint own = {0};
	int rc;

	CAIRN_TRY(lineage_open(&log, &s->recording, c, &where, err));
	interrupt(s, c, &where);
	rc = find_start(s, &log, from, &own, &start, err);
	if (rc == 0)
		rc = engine_run(&source, start.moment ? &start : NULL, result,
		                err);
	checkpoint_release(&own);
	lineage_close(&log);
	return rc;
}

int session_run(struct session *s, const struct recording_context *c,
                struct engine_result *result, struct cairn_err *err)
{
	return session_run_from(s, c, NULL, result, err);
}
