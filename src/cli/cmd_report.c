/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn report: counts of functions, blocks, edges and lines, as text, JSON, a
 * page for a browser, or what other tools read.  All of these are views of one
 * report (report.h), whether a program counted edges or paths, wrote a trace or
 * was recorded.
 */
#include "cli/cli.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "analysis/trace_counts.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/costs.h"
#include "cli/hot.h"
#include "cli/html.h"
#include "cli/report.h"
#include "cli/report_arguments.h"

#include <getopt.h>
#include <limits.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn report [OPTION...] FILE...\n\n"
        "Shows how often everything ran.  Several files of one build are "
        "summed.\n\n"
        "  --json           everything, as JSON\n"
        "  --format FORMAT  text, json, html; lcov, cobertura, gcovr; "
        "callgrind,\n                   pprof, speedscope, folded; dot; "
        "llvm-sample\n"
        "  --lcov           the same as --format lcov\n"
        "  --html FILE      write a page with source, CFGs and paths\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --function GLOB  only functions of this name\n"
        "  --file GLOB      only functions and lines of this source file\n"
        "  --top N          rows of the table (20; 0: all)\n"
        "  --threshold P    only functions with P % of all executions\n"
        "  --sort KEY       executions (default), entries, instructions, "
        "name, line\n"
        "  --lines          whole source files with counts; system headers "
        "only\n                   if --file names them\n"
        "  --files          files in the table of directories\n"
        "  --copies         below a line, the inlined and other copies that "
        "its\n                   count adds up\n"
        "  --all-files      with --lines or --html, system headers too\n"
        "  --no-branches    how branches went is not shown below lines\n"
        "  --no-source      no source lines\n"
        "  --color WHEN     auto (default: on a terminal), always, never\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20

enum {
	OPT_LCOV = REPORT_ARG_OWN,
	OPT_FORMAT,
	OPT_SORT,
	OPT_LINES,
	OPT_FILES,
	OPT_COPIES,
	OPT_NO_BRANCHES,
	OPT_COLOR,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        {"lcov", no_argument, NULL, OPT_LCOV},
        {"format", required_argument, NULL, OPT_FORMAT},
        CLI_HTML_OPTION,
        CLI_OUTPUT_OPTION,
        REPORT_ARGUMENTS,
        {"sort", required_argument, NULL, OPT_SORT},
        {"lines", no_argument, NULL, OPT_LINES},
        {"files", no_argument, NULL, OPT_FILES},
        {"copies", no_argument, NULL, OPT_COPIES},
        {"no-branches", no_argument, NULL, OPT_NO_BRANCHES},
        {"color", required_argument, NULL, OPT_COLOR},
        {0},
};

/* A form of the report.  Some are about source lines, and have nothing to say
 * of a program without any; some about what instructions cost. */
struct format {
	const char *name;
	void (*write)(const struct report *r, FILE *out);
	bool needs_lines;
};

static void write_page(const struct report *r, FILE *out);

static const struct format formats[] = {
        {"text", report_text, false},
        {"json", report_json, false},
        {"html", write_page, false},
        {"lcov", report_lcov, true},
        {"cobertura", report_cobertura, true},
        {"gcovr", report_gcovr, true},
        {"callgrind", report_callgrind, false},
        {"pprof", report_pprof, false},
        {"speedscope", report_speedscope, false},
        {"folded", report_folded, false},
        {"dot", report_dot, false},
        {"llvm-sample", report_sample, true},
};

#define NFORMATS (sizeof(formats) / sizeof(formats[0]))

struct request {
	struct cli_inputs inputs;
	struct report_options options;
	const struct format *format; /* --format, --lcov; NULL: none */
	const char *format_option;   /* which of them */
	enum cli_color color;
	struct cli_form form;
};

/* The values of --sort. */
static const char *const keys[] = {
        [REPORT_BY_EXECUTIONS] = "executions",
        [REPORT_BY_ENTRIES] = "entries",
        [REPORT_BY_INSTRUCTIONS] = "instructions",
        [REPORT_BY_NAME] = "name",
        [REPORT_BY_LINE] = "line",
};

static bool parse_sort(const char *arg, enum report_sort *sort)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(arg, keys[i])) {
			*sort = (enum report_sort)i;
			return true;
		}
	return false;
}

/* Handles an option without an argument; false if it is another one. */
static bool take_switch(struct request *q, int c)
{
	struct report_options *o = &q->options;

	switch (c) {
	case OPT_LINES:
		o->all_lines = true;
		return true;
	case OPT_FILES:
		o->files = true;
		return true;
	case OPT_COPIES:
		o->copies = true;
		return true;
	case OPT_NO_BRANCHES:
		o->no_branches = true;
		return true;
	default:
		return false;
	}
}

static int take_format(struct request *q, const char *command, const char *name,
                       const char *option)
{
	for (size_t i = 0; i < NFORMATS; i++)
		if (!strcmp(name, formats[i].name)) {
			if (q->format && q->format != &formats[i])
				return cli_usage(command,
				                 "%s and %s exclude each other",
				                 q->format_option, option);
			q->format = &formats[i];
			q->format_option = option;
			return CLI_FINE;
		}
	return cli_usage(command,
	                 "--format takes text, json, html, lcov, cobertura, "
	                 "gcovr, callgrind, pprof, speedscope, folded, dot or "
	                 "llvm-sample, not '%s'",
	                 name);
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;
	struct report_options *o = &q->options;

	switch (c) {
	case OPT_LCOV:
		return take_format(q, command, "lcov", "--lcov");
	case OPT_FORMAT:
		return take_format(q, command, optarg, "--format");
	case OPT_COLOR:
		return cli_take_color(command, optarg, &q->color);
	case OPT_SORT:
		if (parse_sort(optarg, &o->sort))
			return CLI_FINE;
		return cli_usage(
		        command, "--sort takes %s, %s, %s, %s or %s, not '%s'",
		        keys[0], keys[1], keys[2], keys[3], keys[4], optarg);
	default:
		return take_switch(q, c) ||
		                       cli_form_option(&q->form, c, optarg) ||
		                       cli_input_option(&q->inputs, c, optarg)
		               ? CLI_FINE
		               : report_argument(o, c, command);
	}
}

static const struct cli_syntax syntax = {help, ":o:h", options, take_option};

static bool is_text(const struct request *q)
{
	return !q->form.json && !q->form.html &&
	       (!q->format || q->format->write == report_text);
}

/* Refuses options that ask for two things at once. */
static int check_options(const struct request *q, char **argv, int argc)
{
	const struct cli_form *f = &q->form;

	if (f->json && q->format)
		return cli_usage(argv[0], "--json and %s exclude each other",
		                 q->format_option);
	if (f->html && (f->json || q->format))
		return cli_usage(argv[0], "--html excludes --json, --lcov and "
		                          "--format");
	if (f->html && f->noutputs > 1)
		return cli_usage(argv[0],
		                 "--html FILE is the output; name one");
	if (!is_text(q) && (q->options.threshold > 0 || q->options.all_lines))
		return cli_usage(argv[0], "%s is about the text of the report",
		                 q->options.all_lines ? "--lines"
		                                      : "--threshold");
	if (q->options.all_lines && q->options.no_source)
		return cli_usage(argv[0],
		                 "--lines and --no-source exclude each other");
	if (optind == argc)
		return cli_usage(argv[0], "no profile given");
	return cli_check_output(argv[0], f, argv + optind, argc - optind);
}

/* Coverage without a line is of no use to anybody: say why. */
static int check_lines(const struct request *q, const struct lines *l,
                       const char *path)
{
	struct cairn_err err;

	if (!q->format || !q->format->needs_lines || l->n)
		return CLI_FINE;
	cairn_fail(&err, CAIRN_E_ABSENT,
	           "%s: the program has no line numbers; build it with -g",
	           path);
	return cli_fail(&err);
}

/* Do the patterns match anything? */
static int check_matches(const struct report *r, const char *path)
{
	const struct report_options *o = &r->options;
	bool has_lines = false;

	if (r->nrows || (!o->function && !o->file) || report_has_body(r))
		return CLI_FINE;
	for (uint32_t i = 0; i < r->lines->files.n && !o->function; i++)
		has_lines |= report_wants_file(r, r->lines->files.items[i]);
	if (has_lines)
		return CLI_FINE;
	if (o->function)
		text_print(stderr, "cairn: %s: no function matches %s%s%s\n",
		           path, o->function,
		           o->file ? " in a file that matches " : "",
		           o->file ? o->file : "");
	else
		text_print(stderr, "cairn: %s: no source file matches %s\n",
		           path, o->file);
	return CLI_NEGATIVE;
}

/* The page has paths if the program counts them. */
static void write_page(const struct report *r, FILE *out)
{
	struct hot_options o = {.top = UINT_MAX};
	struct hot h;

	if (!hot_has_paths(r->profile)) {
		html_report(r, NULL, out);
		return;
	}
	hot_init(&h, r, &o);
	html_report(r, &h, out);
	hot_release(&h);
}

/* Formats of other tools have no mark for a count that is not exact. */
static void say_inconsistent(const struct request *q, const struct report *r)
{
	uint64_t n = r->counts->totals.inconsistent;
	uint64_t nstops = r->counts->totals.stops;

	if (!q->format || q->format->write == report_text ||
	    q->format->write == report_json)
		return;
	if (nstops)
		text_print(stderr,
		           "cairn: %s: places where frames were stopped "
		           "between calls: %" PRIu64
		           "; lines there may have run less often than the "
		           "output says, cairn report marks them\n",
		           r->profile->files[0].name, nstops);
	if (n)
		text_print(stderr,
		           "cairn: %s: functions whose flow does not add up: "
		           "%" PRIu64
		           "; what the output has of them is not exact, cairn "
		           "check says why\n",
		           r->profile->files[0].name, n);
}

static int write_report(const struct request *q, const struct report *r)
{
	struct cli_output o;

	say_inconsistent(q, r);
	cli_output_begin(&o, q->form.output);
	if (q->form.json)
		report_json(r, o.stream);
	else if (q->form.html)
		write_page(r, o.stream);
	else if (q->format)
		q->format->write(r, o.stream);
	else
		report_text(r, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

static int report(struct request *q, char **paths, int npaths)
{
	struct profile *p = cli_open(&q->inputs, paths, npaths);
	struct report r;
	struct counts *c;
	struct lines *l;
	int status;

	if (!p)
		return CLI_ERROR;
	status = cli_check_maps(p, paths[0]);
	if (status) {
		profile_free(p);
		return status;
	}
	cli_say_missing(p);
	c = counts_new(p);
	cli_say_findings(c);
	l = lines_new(c);
	q->options.colour = cli_wants_colour(q->color, &q->form);
	report_init(&r, c, l, &q->options);
	status = check_lines(q, l, paths[0]);
	if (!status)
		status = check_matches(&r, paths[0]);
	if (!status)
		status = write_report(q, &r);
	report_release(&r);
	lines_free(l);
	counts_free(c);
	profile_free(p);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct request q = {.options = {.top = DEFAULT_TOP}};
	int status;

	q.inputs.options.untrace = trace_counts_file;
	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = report(&q, argv + optind, argc - optind);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
