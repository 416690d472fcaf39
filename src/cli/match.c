/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints where a run violates a path expression: each time the events since it
 * was last complete, the one that should not have come, and what should.
 */
#include "cli/match.h"

#include "analysis/alphabet.h"
#include "analysis/automaton.h"
#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>

#define JSON_VERSION 1

static const struct expression *expression_of(const struct match *m)
{
	return m->violations->automaton->e;
}

/* Where an event came from; false if that is not known. */
static bool place_of(const struct match *m, const struct violations_event *e,
                     const char **file, uint32_t *line)
{
	const struct match_input *in = m->input;

	if (e->what == EXPRESSION_LINE) {
		*file = m->violations->alphabet->files.items[e->line->file];
		*line = e->line->line;
		return true;
	}
	return e->caller != VIOLATIONS_NOBODY &&
	       e->block != VIOLATIONS_NOBODY &&
	       in->place(in->context, e->caller, e->block, file, line);
}

/* --- text --------------------------------------------------------------- */

static void print_event(const struct match *m, FILE *out,
                        const struct violations_event *e)
{
	const struct match_input *in = m->input;
	const char *name = in->name(in->context, e->function), *file;
	uint32_t line;
	bool has_place = place_of(m, e, &file, &line);

	if (in->interleave)
		text_print(out, "%6" PRIu32 " ", e->thread);
	text_print(out, "%14" PRIu64 "  ", e->time);
	if (e->what == EXPRESSION_LINE) {
		text_print(out, "%s:%" PRIu32 "  in %s", file, line, name);
		return;
	}
	text_print(out,
	           e->what == EXPRESSION_ENTER ? "%s"
	           : e->died                   ? "leave(%s), not by a return"
	                                       : "leave(%s)",
	           name);
	if (e->caller == VIOLATIONS_NOBODY)
		return;
	text_print(out, "  %s %s",
	           e->what == EXPRESSION_ENTER ? "called by" : "to",
	           in->name(in->context, e->caller));
	if (has_place)
		text_print(out, "  %s:%" PRIu32, file, line);
}

/* The n-th of `total` in a list: a, b or c */
static void print_item(FILE *out, const char *text, uint32_t n, uint32_t total)
{
	text_print(out, "%s%s", !n ? "" : n + 1 < total ? ", " : " or ", text);
}

static bool is_expected(const struct violation *x, uint32_t symbol)
{
	return x->expected[symbol / 64] >> symbol % 64 & 1;
}

static void print_expected(const struct match *m, FILE *out,
                           const struct violation *x)
{
	const struct expression *e = expression_of(m);
	uint32_t total = x->may_end, n = 0;

	for (uint32_t i = 0; i < e->nsymbols; i++)
		total += is_expected(x, i);
	for (uint32_t i = 0; i < e->nsymbols; i++)
		if (is_expected(x, i))
			print_item(out, e->symbols[i].text, n++, total);
	if (x->may_end)
		print_item(out, total > 1 ? "nothing more" : "nothing", n,
		           total);
}

static void print_history(const struct match *m, FILE *out,
                          const struct violation *x)
{
	for (size_t i = 0; i < x->nhistory; i++) {
		if (i == VIOLATIONS_FIRST && x->nhidden)
			text_print(out, "%14s  ... %" PRIu64 " more ...\n", "",
			           x->nhidden);
		print_event(m, out, &x->history[i]);
		text_print(out, "\n");
	}
}

static void print_violation(const struct match *m, FILE *out,
                            const struct violation *x)
{
	const struct match_input *in = m->input;

	text_print(out, "\nthread %" PRIu32 ": ", x->thread);
	if (x->kind == VIOLATION_UNEXPECTED) {
		const struct violations_event *e = &x->event;

		text_print(out, "unexpected ");
		if (e->what == EXPRESSION_LINE)
			text_print(out, "line %" PRIu32, e->line->line);
		else
			text_print(out,
			           e->what == EXPRESSION_ENTER ? "%s"
			                                       : "leave(%s)",
			           in->name(in->context, e->function));
	} else {
		text_print(out, "unfinished at its end");
	}
	text_print(out, "; expected ");
	print_expected(m, out, x);
	text_print(out, "\n");
	print_history(m, out, x);
	if (x->kind == VIOLATION_UNEXPECTED) {
		print_event(m, out, &x->event);
		text_print(out, "  <<<\n");
	}
	if (x->nskipped)
		text_print(out, "%14s  %" PRIu64 " more until it %s\n", "",
		           x->nskipped,
		           m->violations->automaton->is_repeated
		                   ? "could begin anew"
		                   : "ended");
}

void match_text(const struct match *m, FILE *out)
{
	const struct violations *v = m->violations;

	text_print(out,
	           "expression %s%s\n"
	           "file       %s\n"
	           "events     %" PRIu64 " that it names, in %" PRIu32
	           " thread%s; complete %" PRIu64 " time%s\n"
	           "violations %" PRIu64 "\n",
	           m->expression,
	           v->automaton->is_repeated ? ", repeated" : ", once", m->file,
	           v->nevents, v->nthreads, v->nthreads == 1 ? "" : "s",
	           v->ncomplete, v->ncomplete == 1 ? "" : "s", v->count);
	for (size_t i = 0; i < v->n; i++)
		print_violation(m, out, &v->items[i]);
	if (v->n < v->count)
		text_print(out, "\n(%" PRIu64 " more; --top 0 shows all)\n",
		           v->count - v->n);
}

/* --- JSON --------------------------------------------------------------- */

static void put_number(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_string(j, text);
}

static void put_event(const struct match *m, struct json *j,
                      const struct violations_event *e)
{
	static const char *const whats[] = {
	        [EXPRESSION_ENTER] = "enter",
	        [EXPRESSION_LEAVE] = "leave",
	        [EXPRESSION_LINE] = "line",
	};
	const struct match_input *in = m->input;
	const char *file;
	uint32_t line;

	json_begin(j, '{');
	put_number(j, "time", e->time);
	if (in->interleave)
		put_number(j, "thread", e->thread);
	put_text(j, "what", whats[e->what]);
	put_text(j, "function", in->name(in->context, e->function));
	if (e->what == EXPRESSION_LEAVE) {
		json_key(j, "died");
		json_bool(j, e->died);
	}
	if (e->caller != VIOLATIONS_NOBODY)
		put_text(j, "caller", in->name(in->context, e->caller));
	if (place_of(m, e, &file, &line)) {
		put_text(j, "file", file);
		put_number(j, "line", line);
	}
	json_end(j, '}');
}

static void put_expected(const struct match *m, struct json *j,
                         const struct violation *x)
{
	const struct expression *e = expression_of(m);

	json_key(j, "expected");
	json_begin(j, '[');
	for (uint32_t i = 0; i < e->nsymbols; i++)
		if (is_expected(x, i))
			json_string(j, e->symbols[i].text);
	json_end(j, ']');
	json_key(j, "complete_before");
	json_bool(j, x->may_end);
}

static void put_violation(const struct match *m, struct json *j,
                          const struct violation *x)
{
	bool is_unexpected = x->kind == VIOLATION_UNEXPECTED;

	json_begin(j, '{');
	put_text(j, "kind", is_unexpected ? "unexpected" : "unfinished");
	put_number(j, "thread", x->thread);
	put_number(j, "time", x->time);
	if (is_unexpected) {
		json_key(j, "event");
		put_event(m, j, &x->event);
	}
	put_expected(m, j, x);
	json_key(j, "history");
	json_begin(j, '[');
	for (size_t i = 0; i < x->nhistory; i++)
		put_event(m, j, &x->history[i]);
	json_end(j, ']');
	/* between the first VIOLATIONS_FIRST of these and the rest */
	put_number(j, "history_left_out", x->nhidden);
	put_number(j, "skipped", x->nskipped);
	json_end(j, '}');
}

void match_json(const struct match *m, FILE *out)
{
	const struct violations *v = m->violations;
	struct json j = {.out = out, .flat_below = 3};

	json_begin(&j, '{');
	put_number(&j, "version", JSON_VERSION);
	put_text(&j, "file", m->file);
	put_text(&j, "expression", m->expression);
	json_key(&j, "interleaved");
	json_bool(&j, m->input->interleave);
	json_key(&j, "repeated");
	json_bool(&j, v->automaton->is_repeated);
	put_number(&j, "events", v->nevents);
	put_number(&j, "threads", v->nthreads);
	put_number(&j, "complete", v->ncomplete);
	put_number(&j, "violations", v->count);
	json_key(&j, "list");
	json_begin(&j, '[');
	for (size_t i = 0; i < v->n; i++)
		put_violation(m, &j, &v->items[i]);
	json_end(&j, ']');
	json_end(&j, '}');
}
