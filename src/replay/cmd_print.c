/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn print: evaluates expressions whenever a line begins to be executed.
 */
#include "base/err.h"
#include "replay/arguments.h"
#include "replay/command.h"
#include "replay/question.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
        "usage: cairn print [OPTION...] 'EXPR, ...' FILE --at FILE:LINE\n\n"
        "Evaluates expressions of C each time a line begins to be executed, as "
        "a\nbreakpoint would: [context:tick] expr = value, ...  The program "
        "has to be\ncompiled with -g.\n\n"
        "  --at FILE:LINE   the line; FILE is the end of a path\n"
        "  --if COND        only if this expression is not 0\n" QUESTION_HELP
                SESSION_HELP;

enum { OPTION_IF = QUESTION_OTHERS };

static const struct option options[] = {
        {"if", required_argument, NULL, OPTION_IF},
        QUESTION_OPTIONS,
        SESSION_OPTIONS,
        {0}};

/* Where the line begins; a place where the names mean nothing is left out, but
 * not all can be. */
static int add_terms(struct question *q, const char *text,
                     const char *condition, struct cairn_err *err)
{
	struct cairn_err first = {0}, other;
	bool is_fine = false;

	for (size_t i = 0; i < q->nplaces; i++) {
		struct question_place *p = &q->places[i];
		struct cairn_err *e = first.code ? &other : &first;

		if (p->place->is_end)
			continue;
		p->is_used = question_add(q, p, text, false, e) == 0 &&
		             (!condition ||
		              question_condition(q, p, condition, e) == 0);
		is_fine |= p->is_used;
	}
	if (!is_fine) {
		*err = first;
		return first.code;
	}
	return 0;
}

static int run(struct question_options *o, const char *text,
               const char *condition)
{
	struct question q;
	struct cairn_err err;
	int status;

	if (question_open(&q, o, &err) < 0)
		return command_fail(&err);
	if (add_terms(&q, text, condition, &err) < 0)
		status = command_fail(&err);
	else
		status = question_run(&q);
	question_close(&q);
	return status;
}

/* Expression and file may come in either order: the one that is a file is the
 * file. */
static void tell_apart(char **argv, const char **text, const char **file)
{
	bool is_swapped = access(argv[1], F_OK) && !access(argv[0], F_OK);

	*text = argv[is_swapped];
	*file = argv[!is_swapped];
}

/* The command line. */
struct asked {
	struct question_options o;
	const char *condition;
};

static bool take_option(void *asked, int option)
{
	struct asked *a = asked;

	if (option != OPTION_IF)
		return question_option(&a->o, option, optarg);
	a->condition = optarg;
	return true;
}

static const struct arguments arguments = {
        .command = "print",
        .help = help,
        .options = options,
        .take = take_option,
        .operands = "name an expression and one file",
        .noperands = 2,
};

int command_print(int argc, char **argv)
{
	struct asked a = {.o = {.command = "print"}};
	struct question_options *o = &a.o;
	int status = arguments_read(&arguments, argc, argv, &o->session, &a);
	const char *text;

	if (status != ARGUMENTS_FINE)
		return status;
	if (!o->at)
		return command_usage("print", "name a line, by --at");
	tell_apart(argv + optind, &text, &o->session.file);
	status = run(o, text, a.condition);
	arguments_release(&o->session);
	return status;
}
