/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a thread-local variable is in each thread: whenever code asks for its
 * address, that is told.
 *
 * Invariant: a thread has one place; handlers of signals are of their thread.
 * Cost: one replay of all contexts.
 */
#include "replay/locals.h"

#include "base/alloc.h"
#include "base/err.h"
#include "replay/command.h"
#include "replay/debug.h"
#include "replay/engine.h"
#include "replay/globals.h"
#include "replay/session.h"

#include <stdlib.h>
#include <string.h>

/* A unit that is asked. */
struct asked {
	const struct locals *l;
	uint32_t unit;
};

static uint64_t is_it(void *asked, const char *name, bool is_static)
{
	const struct asked *a = asked;
	const struct global *g = a->l->g;

	return !strcmp(g->local, name) && g->is_static == is_static &&
	       (!is_static || g->unit == a->unit);
}

static bool wants_unit(void *locals, uint32_t unit)
{
	const struct locals *l = locals;

	(void)unit;
	return l->g && l->g->local;
}

static void ask_unit(void *locals, LLVMModuleRef m, uint32_t unit)
{
	struct locals *l = locals;
	struct asked a = {l, unit};
	const struct debug_request r = {
	        .words = l->words, .local = is_it, .context = &a};

	if (wants_unit(l, unit))
		debug_ask(m, &r);
}

void locals_prepare(struct locals *l, struct rewrite_options *code)
{
	code->ask = ask_unit;
	code->wants = wants_unit;
	code->context = l;
}

static void hear(void *locals, uint64_t id, uint64_t tick, const uint64_t *args)
{
	struct locals *l = locals;

	(void)id;
	(void)tick;
	(void)args;
	for (size_t i = 0; i < l->n; i++)
		if (l->places[i].thread == l->thread) {
			l->is_at_two |= l->places[i].address != l->words[1];
			return;
		}
	VEC_RESERVE(l->places, l->n, l->cap);
	l->places[l->n++] = (struct local_place){l->thread, l->words[1]};
}

static int by_thread(const void *a, const void *b)
{
	const struct local_place *x = a, *y = b;

	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int fail_two(const struct locals *l)
{
	struct cairn_err err;

	cairn_fail(&err, CAIRN_E_LIMIT,
	           "the variable %s is at several places in one thread, whose "
	           "library was loaded again; use --addr with one of them",
	           l->g->local);
	return command_fail(&err);
}

int locals_find(struct locals *l, struct session *s)
{
	struct engine_result result;
	struct cairn_err err;

	engine_listen(hear, l);
	for (size_t i = 0; i < s->recording.ncontexts; i++) {
		const struct recording_context *c = &s->recording.contexts[i];

		l->thread = c->thread;
		if (session_run(s, c, &result, &err) < 0)
			return command_fail(&err);
		if (result.end == ENGINE_DIVERGED) {
			command_fail(&err);
			return DIFFERENT;
		}
	}
	engine_listen(NULL, NULL);
	if (l->is_at_two)
		return fail_two(l);
	if (l->n)
		qsort(l->places, l->n, sizeof(*l->places), by_thread);
	return FINE;
}

void locals_release(struct locals *l)
{
	free(l->places);
}
