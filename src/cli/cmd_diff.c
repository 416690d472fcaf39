/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn diff: what ran in one profile and not in another, how often, and
 * whether that is within limits.  Both are read as cairn report reads them.
 */
#include "cli/cli.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "analysis/patch.h"
#include "analysis/trace_counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/regular.h"
#include "base/text.h"
#include "cli/diff.h"
#include "cli/report_arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn diff [OPTION...] A B\n\n"
        "Compares two profiles: functions, lines and ways of branches that "
        "ran in one\nof them only, or not equally often.  A and B may be of "
        "different builds.\n\n"
        "  --json           everything, as JSON\n"
        "  --html FILE      write a page with source and both counts\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --patch FILE     what changed in the source between A and B, as "
        "git diff\n                   prints it (- is standard input)\n"
        "  --function GLOB  only functions of this name, and their lines\n"
        "  --file GLOB      only functions and lines of this source file\n"
        "  --top N          rows of the table, lines of each file (20; 0: "
        "all)\n"
        "  --threshold P    only functions with P % of the executions of A "
        "or B\n"
        "  --sort KEY       change (default), growth, executions, entries, "
        "name, line\n"
        "  --changed        lines that ran in both, not equally often, and "
        "of A alone\n"
        "  --all-files      system headers, too\n"
        "  --no-source      no source lines\n"
        "  --color WHEN     auto (default: on a terminal), always, never\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP "\nLimits, exit status 1 if one is broken:\n"
        "  --fail-under-lines P, --fail-under-branches P, --fail-under-new "
        "P\n"
        "                   less than P % ran of B: lines, ways of branches, "
        "lines that\n                   A does not have\n"
        "  --max-drop P     the share of lines that ran is P points lower in "
        "B\n"
        "  --max-lost-lines N, --max-lost-branches N, --max-lost-functions "
        "N\n                   more of them ran in A and not in B\n"
        "  --max-growth P   a function, or all of them, executed P % more\n";

#define DEFAULT_TOP 20
#define GROWTH_MOST 1e9

enum {
	OPT_PATCH = REPORT_ARG_OWN,
	OPT_SORT,
	OPT_CHANGED,
	OPT_COLOR,
	OPT_UNDER_LINES,
	OPT_UNDER_BRANCHES,
	OPT_UNDER_NEW,
	OPT_MAX_DROP,
	OPT_LOST_LINES,
	OPT_LOST_BRANCHES,
	OPT_LOST_FUNCTIONS,
	OPT_MAX_GROWTH,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_HTML_OPTION,
        CLI_OUTPUT_OPTION,
        REPORT_ARGUMENTS,
        {"patch", required_argument, NULL, OPT_PATCH},
        {"sort", required_argument, NULL, OPT_SORT},
        {"changed", no_argument, NULL, OPT_CHANGED},
        {"color", required_argument, NULL, OPT_COLOR},
        {"fail-under-lines", required_argument, NULL, OPT_UNDER_LINES},
        {"fail-under-branches", required_argument, NULL, OPT_UNDER_BRANCHES},
        {"fail-under-new", required_argument, NULL, OPT_UNDER_NEW},
        {"max-drop", required_argument, NULL, OPT_MAX_DROP},
        {"max-lost-lines", required_argument, NULL, OPT_LOST_LINES},
        {"max-lost-branches", required_argument, NULL, OPT_LOST_BRANCHES},
        {"max-lost-functions", required_argument, NULL, OPT_LOST_FUNCTIONS},
        {"max-growth", required_argument, NULL, OPT_MAX_GROWTH},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct diff diff;
	const char *patch_path; /* NULL: none */
	struct patch patch;
	enum cli_color color;
	struct cli_form form;
};

/* --- options -------------------------------------------------------------- */

static int take_sort(const char *command, const char *arg, enum diff_sort *sort)
{
	static const char *const keys[] = {
	        [DIFF_BY_CHANGE] = "change",
	        [DIFF_BY_GROWTH] = "growth",
	        [DIFF_BY_EXECUTIONS] = "executions",
	        [DIFF_BY_ENTRIES] = "entries",
	        [DIFF_BY_NAME] = "name",
	        [DIFF_BY_LINE] = "line",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(arg, keys[i])) {
			*sort = (enum diff_sort)i;
			return CLI_FINE;
		}
	return cli_usage(command,
	                 "--sort takes change, growth, executions, entries, "
	                 "name or line, not '%s'",
	                 arg);
}

static int take_number(const char *command, const char *option, const char *arg,
                       int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno)
		return cli_usage(command, "%s takes a number, not '%s'", option,
		                 arg);
	return CLI_FINE;
}

static int take_limit(struct diff_limits *l, int c, const char *command)
{
	switch (c) {
	case OPT_UNDER_LINES:
		return cli_take_percent(command, "--fail-under-lines", optarg,
		                        100, &l->under_lines);
	case OPT_UNDER_BRANCHES:
		return cli_take_percent(command, "--fail-under-branches",
		                        optarg, 100, &l->under_branches);
	case OPT_UNDER_NEW:
		return cli_take_percent(command, "--fail-under-new", optarg,
		                        100, &l->under_new);
	case OPT_MAX_DROP:
		return cli_take_percent(command, "--max-drop", optarg, 100,
		                        &l->drop);
	case OPT_MAX_GROWTH:
		return cli_take_percent(command, "--max-growth", optarg,
		                        GROWTH_MOST, &l->growth);
	case OPT_LOST_LINES:
		return take_number(command, "--max-lost-lines", optarg,
		                   &l->lost_lines);
	case OPT_LOST_BRANCHES:
		return take_number(command, "--max-lost-branches", optarg,
		                   &l->lost_branches);
	case OPT_LOST_FUNCTIONS:
		return take_number(command, "--max-lost-functions", optarg,
		                   &l->lost_functions);
	default:
		return CLI_OTHER;
	}
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;
	struct report_options *o = &q->diff.options.report;
	int status;

	switch (c) {
	case OPT_CHANGED:
		q->diff.options.changed = true;
		return CLI_FINE;
	case OPT_PATCH:
		q->patch_path = optarg;
		return CLI_FINE;
	case OPT_COLOR:
		return cli_take_color(command, optarg, &q->color);
	case OPT_SORT:
		return take_sort(command, optarg, &q->diff.options.sort);
	default:
		if (cli_form_option(&q->form, c, optarg) ||
		    cli_input_option(&q->inputs, c, optarg))
			return CLI_FINE;
		status = take_limit(&q->diff.options.limits, c, command);
		return status == CLI_OTHER ? report_argument(o, c, command)
		                           : status;
	}
}

static const struct cli_syntax syntax = {help, ":o:h", options, take_option};

static int check_options(const struct request *q, char **argv, int argc)
{
	int status = cli_check_form(argv[0], &q->form);

	if (status)
		return status;
	if (argc - optind != 2)
		return cli_usage(argv[0],
		                 "it takes two profiles, not %d; cairn merge "
		                 "makes one of several",
		                 argc - optind);
	return cli_check_output(argv[0], &q->form, argv + optind, 2);
}

/* --- inputs --------------------------------------------------------------- */

static int read_patch(struct request *q)
{
	const char *path = q->patch_path;
	bool is_stdin = path && !strcmp(path, "-");
	struct cairn_err err;
	FILE *f =
	        !path ? NULL
	              : named_stream(path, "--patch takes what git diff prints",
	                             &err);
	size_t size = 0, cap = 0, got;
	char *text = NULL;
	int rc = 0;

	if (!path)
		return CLI_FINE;
	if (!f)
		return cli_fail(&err);
	do {
		cap = cap ? 2 * cap : 65536;
		text = xrealloc(text, cap, 1);
		got = fread(text + size, 1, cap - size, f);
		size += got;
	} while (size == cap);
	if (ferror(f))
		rc = cairn_fail(&err, CAIRN_E_SYSTEM, "%s: cannot read: %s",
		                path, strerror(errno));
	/* nothing changed: git diff says nothing */
	else if (size)
		rc = patch_parse(&q->patch, text, size, true, path, &err);
	if (!is_stdin)
		fclose(f);
	free(text);
	if (rc)
		return cli_fail(&err);
	q->diff.patch = &q->patch;
	return CLI_FINE;
}

static int open_side(struct request *q, struct diff_side *s, char *path)
{
	struct report_options o = q->diff.options.report, all = o;
	struct cairn_err err;
	int status;

	s->path = path;
	s->profile = cli_open(&q->inputs, &path, 1);
	if (!s->profile)
		return CLI_ERROR;
	status = cli_check_maps(s->profile, path);
	if (status)
		return status;
	cli_say_missing(s->profile);
	s->counts = counts_new(s->profile);
	cli_say_findings(s->counts);
	s->lines = lines_new(s->counts);
	/* of one side alone a pattern may name nothing */
	all.function = all.file = NULL;
	report_init(&s->report, s->counts, s->lines, &all);
	s->report.options = o;
	if (s->lines->n)
		return CLI_FINE;
	cairn_fail(&err, CAIRN_E_ABSENT,
	           "%s: the program has no line numbers; build it with -g",
	           path);
	return cli_fail(&err);
}

static void close_side(struct diff_side *s)
{
	if (s->lines)
		report_release(&s->report);
	lines_free(s->lines);
	counts_free(s->counts);
	profile_free(s->profile);
}

/* --- output --------------------------------------------------------------- */

/* Do the patterns match anything? */
static int check_matches(const struct diff *d)
{
	const struct report_options *o = &d->options.report;

	if (d->nlines || d->nfunctions || (!o->function && !o->file))
		return CLI_FINE;
	text_print(stderr, "cairn: %s, %s: no %s matches %s%s%s\n", d->a.path,
	           d->b.path, o->function ? "function" : "source file",
	           o->function ? o->function : o->file,
	           o->function && o->file ? " in a file that matches " : "",
	           o->function && o->file ? o->file : "");
	return CLI_NEGATIVE;
}

/* Says which limits are broken. */
static int judge(const struct diff *d)
{
	struct diff_verdict v[DIFF_NVERDICTS];
	size_t n = diff_judge(d, v);
	int status = CLI_FINE;

	for (size_t i = 0; i < n; i++) {
		char *text = diff_verdict_text(&v[i]);

		if (v[i].is_broken) {
			text_print(stderr, "cairn: %s\n", text);
			status = CLI_NEGATIVE;
		}
		free(text);
	}
	return status;
}

static int write_diff(struct request *q)
{
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->form.json)
		diff_json(&q->diff, o.stream);
	else if (q->form.html)
		diff_html(&q->diff, o.stream);
	else
		diff_text(&q->diff, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

static int show_diff(struct request *q, char **paths)
{
	int status = read_patch(q);

	if (!status)
		status = open_side(q, &q->diff.a, paths[0]);
	if (!status)
		status = open_side(q, &q->diff.b, paths[1]);
	if (!status) {
		diff_init(&q->diff);
		status = check_matches(&q->diff);
		if (!status)
			status = write_diff(q);
		if (!status)
			status = judge(&q->diff);
		diff_release(&q->diff);
	}
	close_side(&q->diff.b);
	close_side(&q->diff.a);
	patch_release(&q->patch);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct request q = {
	        .diff.options = {.report = {.top = DEFAULT_TOP},
	                         .limits = {-1, -1, -1, -1, -1, -1, -1, -1}}};
	int status;

	q.inputs.options.untrace = trace_counts_file;
	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		q.diff.options.report.colour =
		        cli_wants_colour(q.color, &q.form);
		status = check_options(&q, argv, argc);
		if (!status)
			status = show_diff(&q, argv + optind);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
