/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn match-path: does a run do what a path expression says?  The expression
 * is looked at before the file, which may take long.
 */
#include "cli/cli.h"

#include "analysis/alphabet.h"
#include "analysis/automaton.h"
#include "analysis/expression.h"
#include "base/err.h"
#include "cli/match.h"

#include <getopt.h>
#include <limits.h>

static const char help[] =
        "usage: cairn match-path [OPTION...] FILE EXPRESSION\n\n"
        "Every thread of the trace is to do what EXPRESSION says, such as\n"
        "  'open (read|write)* close'\n"
        "again and again; shows where one does not.  What the expression does "
        "not name\nmay happen anywhere.  Exit status 1 if it is violated.\n\n"
        "  f            function f is called; leave(f): it returns or dies\n"
        "  file.c:12    a line runs\n"
        "  \"str*\"       quoted, any characters; * and ? stand for any, \\* "
        "for itself\n"
        "  a b   a|b    one after the other, or either\n"
        "  a* a+ a?     any number, at least one, at most one; a{2}, a{2,}, "
        "a{2,5}\n"
        "  (a b)   ()   together; nothing\n\n"
        "  --once           once per thread, not again and again\n"
        "  --interleave     all threads together do it, in one order (cairn "
        "trace)\n"
        "  --json           everything, as JSON\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --progress       say how far it is, even if stderr is no "
        "terminal\n"
        "  --top N          violations that are shown (20; 0: "
        "all)\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20

enum { OPT_TOP = CLI_OPT_OWN, OPT_ONCE, OPT_PROGRESS, OPT_INTERLEAVE };

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_OUTPUT_OPTION,
        {"top", required_argument, NULL, OPT_TOP},
        {"once", no_argument, NULL, OPT_ONCE},
        {"progress", no_argument, NULL, OPT_PROGRESS},
        {"interleave", no_argument, NULL, OPT_INTERLEAVE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	bool once, progress, interleave;
	unsigned top;
	struct match_input input;
	struct expression expression;
	struct automaton automaton;
	struct alphabet alphabet;
	struct violations violations;
};

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->top);
	case OPT_ONCE:
		q->once = true;
		return CLI_FINE;
	case OPT_PROGRESS:
		q->progress = true;
		return CLI_FINE;
	case OPT_INTERLEAVE:
		q->interleave = true;
		return CLI_FINE;
	default:
		return cli_form_option(&q->form, c, optarg) ||
		                       cli_input_option(&q->inputs, c, optarg)
		               ? CLI_FINE
		               : CLI_OTHER;
	}
}

static const struct cli_syntax syntax = {help, ":o:h", options, take_option};

static int check_options(const struct request *q, char **argv, int argc)
{
	if (argc - optind != 2)
		return cli_usage(
		        argv[0],
		        "it takes a trace and an expression, in quotes "
		        "for the shell, not %d argument%s",
		        argc - optind, argc - optind == 1 ? "" : "s");
	return cli_check_output(argv[0], &q->form, argv + optind, 1);
}

/* From the trace to q->violations. */
static int find_violations(struct request *q, const char *file,
                           struct cairn_err *err)
{
	const struct match_input *in = &q->input;

	alphabet_init(&q->alphabet, &q->automaton);
	CAIRN_TRY(in->add_functions(in->context, &q->alphabet, err));
	CAIRN_TRY(alphabet_finish(&q->alphabet, file, err));
	violations_init(&q->violations, &q->automaton, &q->alphabet,
	                q->top == UINT_MAX ? SIZE_MAX : q->top);
	CAIRN_TRY(in->walk(in, &q->violations, err));
	violations_finish(&q->violations);
	return 0;
}

static int write_match(const struct request *q, const char *file,
                       const char *expression)
{
	struct match m = {.input = &q->input,
	                  .file = file,
	                  .expression = expression,
	                  .violations = &q->violations};
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->form.json)
		match_json(&m, o.stream);
	else
		match_text(&m, o.stream);
	return cli_output_end(&o,
	                      q->violations.count ? CLI_NEGATIVE : CLI_FINE);
}

static int show_match(struct request *q, char **argv, match_open *open)
{
	struct cairn_err err;
	int status;

	if (expression_parse(&q->expression, argv[1], &err) ||
	    automaton_init(&q->automaton, &q->expression, !q->once, &err))
		return cli_fail(&err);
	status = open(&q->input, &q->inputs, argv[0]);
	if (status)
		return status;
	q->input.progress = q->progress;
	q->input.interleave = q->interleave;
	status = find_violations(q, argv[0], &err)
	                 ? cli_fail_in(argv[0], &err)
	                 : write_match(q, argv[0], argv[1]);
	q->input.close(q->input.context);
	return status;
}

int match_command(int argc, char **argv, match_open *open)
{
	struct request q = {.top = DEFAULT_TOP};
	int status;

	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = show_match(&q, argv + optind, open);
	}
	violations_release(&q.violations);
	alphabet_release(&q.alphabet);
	automaton_release(&q.automaton);
	expression_release(&q.expression);
	cli_inputs_release(&q.inputs);
	return status;
}
