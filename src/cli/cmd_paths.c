/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn paths: the paths that ran, hottest first, with their lines and the
 * branch outcomes that define them, as text, JSON or a page for a browser.
 */
#include "cli/cli.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/hot.h"
#include "cli/html.h"
#include "cli/report.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn paths [OPTION...] FILE...\n\n"
        "Shows the paths that ran, hottest first: how often, their source "
        "lines, and how\ntheir branches went.  Several files of one build are "
        "summed.  Programs count\npaths if they are built with "
        "--cairn=paths.\n\n"
        "  --json           all of them, as JSON\n"
        "  --html FILE      write a page with source, CFGs and paths\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --function GLOB  only functions of this name\n"
        "  --line FILE:LINE only paths through this line\n"
        "  --top N          rows of the table (20; 0: all)\n"
        "  --sort KEY       count (default), or blocks: executions of "
        "blocks\n"
        "  --blocks         details of all rows, not just of the first 10\n"
        "  --unfinished     paths that frames were on when they died, too\n"
        "  --model          entropy of paths, probabilities of edges, gamma\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20

enum {
	OPT_JSON = CLI_OPT_OWN,
	OPT_HTML,
	OPT_FUNCTION,
	OPT_LINE,
	OPT_TOP,
	OPT_SORT,
	OPT_BLOCKS,
	OPT_UNFINISHED,
	OPT_MODEL,
	OPT_NO_DEMANGLE,
	OPT_STABLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        {"json", no_argument, NULL, OPT_JSON},
        {"html", required_argument, NULL, OPT_HTML},
        {"output", required_argument, NULL, 'o'},
        {"function", required_argument, NULL, OPT_FUNCTION},
        {"line", required_argument, NULL, OPT_LINE},
        {"top", required_argument, NULL, OPT_TOP},
        {"sort", required_argument, NULL, OPT_SORT},
        {"blocks", no_argument, NULL, OPT_BLOCKS},
        {"unfinished", no_argument, NULL, OPT_UNFINISHED},
        {"model", no_argument, NULL, OPT_MODEL},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {"stable", no_argument, NULL, OPT_STABLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct report_options report;
	struct hot_options hot;
	char *file; /* of --line, owned */
	bool json, html;
	const char *output;
	unsigned noutputs; /* times that the user named one */
};

static bool parse_line_number(const char *arg, unsigned *n)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno || v > INT_MAX)
		return false;
	*n = (unsigned)v;
	return true;
}

static bool parse_line(struct request *q, const char *arg)
{
	const char *colon = strrchr(arg, ':');

	if (!colon || colon == arg ||
	    !parse_line_number(colon + 1, &q->hot.line) || !q->hot.line)
		return false;
	free(q->file);
	q->file = xstrndup(arg, (size_t)(colon - arg));
	q->hot.file = q->file;
	return true;
}

static bool take_switch(struct request *q, int c)
{
	switch (c) {
	case OPT_JSON:
		q->json = true;
		return true;
	case OPT_BLOCKS:
		q->hot.all_details = true;
		return true;
	case OPT_UNFINISHED:
		q->hot.unfinished = true;
		return true;
	case OPT_MODEL:
		q->hot.model = true;
		return true;
	case OPT_NO_DEMANGLE:
		q->report.no_demangle = true;
		return true;
	case OPT_STABLE:
		q->report.stable = true;
		return true;
	default:
		return false;
	}
}

/* Handles one option.  Returns an exit status, having said what is wrong. */
static int take_option(struct request *q, int c, char **argv)
{
	switch (c) {
	case 'o':
	case OPT_HTML:
		q->html |= c == OPT_HTML;
		q->output = optarg;
		q->noutputs++;
		return CLI_FINE;
	case OPT_FUNCTION:
		q->report.function = optarg;
		return CLI_FINE;
	case OPT_LINE:
		if (parse_line(q, optarg))
			return CLI_FINE;
		return cli_usage(argv[0], "--line takes FILE:LINE, not '%s'",
		                 optarg);
	case OPT_TOP:
		return cli_take_top(argv[0], optarg, &q->hot.top);
	case OPT_SORT:
		q->hot.by_blocks = !strcmp(optarg, "blocks");
		if (q->hot.by_blocks || !strcmp(optarg, "count"))
			return CLI_FINE;
		return cli_usage(argv[0],
		                 "--sort takes count or blocks, not '%s'",
		                 optarg);
	default:
		if (take_switch(q, c) ||
		    cli_input_option(&q->inputs, c, optarg))
			return CLI_FINE;
		return cli_bad_option(c, argv, options);
	}
}

static int check_options(const struct request *q, char **argv, int argc)
{
	if (q->json && q->html)
		return cli_usage(argv[0],
		                 "--json and --html exclude each other");
	if (q->html && q->noutputs > 1)
		return cli_usage(argv[0],
		                 "--html FILE is the output; name one");
	if (optind == argc)
		return cli_usage(argv[0], "no profile given");
	if (q->output && !*q->output)
		return cli_usage(argv[0], "no output; name one with -o");
	if (q->output && cli_is_among(q->output, argv + optind, argc - optind))
		return cli_usage(argv[0], "%s %s would overwrite the profile",
		                 q->html ? "--html" : "-o", q->output);
	return CLI_FINE;
}

static int check_paths(const struct profile *p, const char *path)
{
	struct cairn_err err;

	if (hot_has_paths(p))
		return CLI_FINE;
	cairn_fail(&err, CAIRN_E_ABSENT,
	           "%s: no function in it counts paths; build the program with "
	           "--cairn=paths",
	           path);
	return cli_fail(&err);
}

/* Does anything match what was asked for? */
static int check_matches(const struct request *q, const struct hot *h,
                         const char *path)
{
	if (!h->nfunctions && q->report.function)
		fprintf(stderr,
		        "cairn: %s: no function that counts paths matches "
		        "%s\n",
		        path, q->report.function);
	else if (q->file && !h->npaths && !h->nprefixes)
		fprintf(stderr,
		        "cairn: %s: no path that ran goes through %s:%u\n",
		        path, q->file, q->hot.line);
	else
		return CLI_FINE;
	return CLI_NEGATIVE;
}

static int write_paths(const struct request *q, const struct hot *h)
{
	struct cli_output o;

	cli_output_begin(&o, q->output);
	if (q->html)
		html_report(h->report, h, o.stream);
	else if (q->json)
		hot_json(h, o.stream);
	else
		hot_text(h, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

static int show_paths(struct request *q, char **paths, int npaths)
{
	struct profile *p = cli_open(&q->inputs, paths, npaths);
	struct report r;
	struct counts *c;
	struct lines *l;
	struct hot h;
	int status;

	if (!p)
		return CLI_ERROR;
	cli_say_missing(p);
	status = check_paths(p, paths[0]);
	if (status) {
		profile_free(p);
		return status;
	}
	c = counts_new(p);
	l = q->html ? lines_new(c) : NULL;
	report_init(&r, c, l, &q->report);
	hot_init(&h, &r, &q->hot);
	status = check_matches(q, &h, paths[0]);
	if (!status)
		status = write_paths(q, &h);
	hot_release(&h);
	report_release(&r);
	lines_free(l);
	counts_free(c);
	profile_free(p);
	return status;
}

int cmd_paths(int argc, char **argv)
{
	struct request q = {.hot = {.top = DEFAULT_TOP}};
	int c, status = CLI_FINE;

	opterr = 0;
	while (!status &&
	       (c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (c == 'h') {
			status = cli_help(help);
			goto done;
		}
		status = take_option(&q, c, argv);
	}
	if (!status)
		status = check_options(&q, argv, argc);
	if (!status)
		status = show_paths(&q, argv + optind, argc - optind);
done:
	free(q.file);
	cli_inputs_release(&q.inputs);
	return status;
}
