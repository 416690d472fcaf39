/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn values: what variables were whenever a line was executed.
 *
 * A variable that the line assigns is shown when the line has been executed,
 * any other when it begins: so it is what the line made of it, or what the line
 * found.  Without --var, all are shown when the line has been executed, if it
 * assigns any of them.
 */
#include "base/err.h"
#include "replay/arguments.h"
#include "replay/command.h"
#include "replay/question.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn values [OPTION...] FILE --at FILE:LINE\n\n"
        "Shows the values that variables had each time a line was executed, in "
        "order:\n[context:tick] name = value, ...  The program has to be "
        "compiled with -g.\n\n"
        "A variable that the line assigns is shown when the line has been "
        "executed, any\nother when it begins.  Without --var all local "
        "variables are shown whose values\nare known; when the line has been "
        "executed, if it assigns one of them.\n\n"
        "  --at FILE:LINE   the line; FILE is the end of a path\n"
        "  --var NAME       only this variable; it may be a global "
        "one\n" QUESTION_HELP SESSION_HELP;

enum { OPTION_VAR = QUESTION_OTHERS };

static const struct option options[] = {
        {"var", required_argument, NULL, OPTION_VAR},
        QUESTION_OPTIONS,
        SESSION_OPTIONS,
        {0}};

static bool is_shown(const struct debug_variable *v)
{
	return !v->is_artificial && !v->rival && strncmp(v->name, "__", 2) != 0;
}

/* Parameters, then the others as they are declared. */
static bool is_before(const struct debug_variable *a,
                      const struct debug_variable *b)
{
	if (!a->arg != !b->arg)
		return a->arg != 0;
	return a->arg ? a->arg < b->arg : a->line < b->line;
}

/* Adds all, in order: insertion, since they are few. */
static int add_all(struct question *q, struct question_place *p,
                   struct cairn_err *err)
{
	size_t n = p->place->nvariables;
	const struct debug_variable *last = NULL;

	for (;;) {
		const struct debug_variable *next = NULL;

		for (size_t i = 0; i < n; i++) {
			const struct debug_variable *v =
			        &p->place->variables[i];
			bool is_later = !last || is_before(last, v) ||
			                (!is_before(v, last) && v > last);

			if (is_shown(v) && is_later &&
			    (!next || is_before(v, next)))
				next = v;
		}
		if (!next)
			return 0;
		CAIRN_TRY(question_add(q, p, next->name, false, err));
		last = next;
	}
}

/* Does the line assign something that is asked for?  `global` is, if it is not
 * NULL. */
static bool assigns(const struct question_place *p,
                    const struct debug_variable *global)
{
	for (size_t i = 0; global && i < p->place->nwritten; i++)
		if (global->symbol &&
		    !strcmp(p->place->written[i], global->symbol))
			return true;
	for (size_t i = 0; i < p->place->nvariables; i++)
		if (p->wants[i] && p->place->variables[i].is_assigned)
			return true;
	return false;
}

static int add_terms(struct question *q, const char *variable,
                     struct cairn_err *err)
{
	bool is_known = false;

	for (size_t i = 0; i < q->nplaces; i++) {
		struct question_place *p = &q->places[i];
		size_t n = q->nglobals;

		if (!variable)
			CAIRN_TRY(add_all(q, p, err));
		else
			CAIRN_TRY(question_add(q, p, variable, true, err));
		p->is_used = p->place->is_end ==
		             assigns(p, q->nglobals > n ? q->globals[n] : NULL);
		is_known |= !variable || p->terms[0].formula;
	}
	if (!is_known)
		return question_add(q, &q->places[0], variable, false, err);
	return 0;
}

/* Also of a member of a template: A<int>::b. */
static bool is_name(const char *text)
{
	static const char more[] = "<>, *&abcdefghijklmnopqrstuvwxyz"
	                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                           "0123456789_$:";
	const char *set = strstr(text, ">::") ? more : strchr(more, 'a');

	return *text && strspn(text, set) == strlen(text);
}

static int run(struct question_options *o, const char *variable)
{
	struct question q;
	struct cairn_err err;
	int status;

	o->skips_unknown = !variable;
	if (question_open(&q, o, &err) < 0)
		return command_fail(&err);
	if (add_terms(&q, variable, &err) < 0)
		status = command_fail(&err);
	else
		status = question_run(&q);
	question_close(&q);
	return status;
}

/* The command line. */
struct asked {
	struct question_options o;
	const char *variable;
};

static bool take_option(void *asked, int option)
{
	struct asked *a = asked;

	if (option != OPTION_VAR)
		return question_option(&a->o, option, optarg);
	a->variable = optarg;
	return true;
}

static const struct arguments arguments = {
        .command = "values",
        .help = help,
        .options = options,
        .take = take_option,
        .operands = "name one file",
        .noperands = 1,
};

int command_values(int argc, char **argv)
{
	struct asked a = {.o = {.command = "values"}};
	struct question_options *o = &a.o;
	int status = arguments_read(&arguments, argc, argv, &o->session, &a);

	if (status != ARGUMENTS_FINE)
		return status;
	if (!o->at)
		return command_usage("values", "name a line, by --at");
	if (a.variable && !is_name(a.variable))
		return command_usage("values",
		                     "--var needs the name of a variable; "
		                     "cairn print takes expressions");
	o->session.file = argv[optind];
	status = run(o, a.variable);
	arguments_release(&o->session);
	return status;
}
