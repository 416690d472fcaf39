/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn paths: the paths that ran, hottest first, with their lines and the
 * branch outcomes that define them, as text, JSON or a page for a browser.
 */
#include "cli/cli.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "analysis/trace_counts.h"
#include "base/err.h"
#include "base/spot.h"
#include "base/text.h"
#include "cli/chain.h"
#include "cli/hot.h"
#include "cli/html.h"
#include "cli/report.h"
#include "cli/sequence.h"
#include "format/profile.h"

#include <getopt.h>
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
        "  --iterations N   sequences of N paths, one behind the other (built "
        "with\n"
        "                   iterations=K, N up to K)\n"
        "  --chains N       paths with the N calls that led to them (built "
        "with chains=D,\n"
        "                   N up to D)\n"
        "  --model          entropy of paths, probabilities of edges, gamma\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20

enum {
	OPT_FUNCTION = CLI_OPT_OWN,
	OPT_LINE,
	OPT_TOP,
	OPT_SORT,
	OPT_BLOCKS,
	OPT_UNFINISHED,
	OPT_MODEL,
	OPT_NO_DEMANGLE,
	OPT_STABLE,
	OPT_ITERATIONS,
	OPT_CHAINS,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_HTML_OPTION,
        CLI_OUTPUT_OPTION,
        {"function", required_argument, NULL, OPT_FUNCTION},
        {"line", required_argument, NULL, OPT_LINE},
        {"top", required_argument, NULL, OPT_TOP},
        {"sort", required_argument, NULL, OPT_SORT},
        {"blocks", no_argument, NULL, OPT_BLOCKS},
        {"unfinished", no_argument, NULL, OPT_UNFINISHED},
        {"iterations", required_argument, NULL, OPT_ITERATIONS},
        {"chains", required_argument, NULL, OPT_CHAINS},
        {"model", no_argument, NULL, OPT_MODEL},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {"stable", no_argument, NULL, OPT_STABLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct report_options report;
	struct hot_options hot;
	unsigned length; /* of --iterations; 0: not asked for */
	bool iterations;
	bool chains;      /* --chains: length is that of a path and calls */
	struct spot spot; /* of --line */
	struct cli_form form;
};

static bool parse_line(struct request *q, const char *arg)
{
	struct spot spot;

	if (!spot_parse(&spot, arg))
		return false;
	spot_release(&q->spot);
	q->spot = spot;
	q->hot.file = spot.file;
	q->hot.line = spot.line;
	return true;
}

static bool take_switch(struct request *q, int c)
{
	switch (c) {
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

static int take_length(const char *command, unsigned *length)
{
	char *end;
	unsigned long n = strtoul(optarg, &end, 10);

	*length = (unsigned)n;
	if (*optarg >= '0' && *optarg <= '9' && !*end && n >= 1 &&
	    n <= CAIRN_FOREST_MAX)
		return CLI_FINE;
	return cli_usage(command,
	                 "--iterations takes a number from 1 to %u, not '%s'",
	                 CAIRN_FOREST_MAX, optarg);
}

static int take_callers(const char *command, struct request *q)
{
	char *end;
	unsigned long n = strtoul(optarg, &end, 10);

	q->length = (unsigned)n + 1;
	q->chains = true;
	if (*optarg >= '0' && *optarg <= '9' && !*end && n <= CAIRN_CHAINS_MAX)
		return CLI_FINE;
	return cli_usage(command, "--chains takes a number up to %u, not '%s'",
	                 CAIRN_CHAINS_MAX, optarg);
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_FUNCTION:
		q->report.function = optarg;
		return CLI_FINE;
	case OPT_LINE:
		if (parse_line(q, optarg))
			return CLI_FINE;
		return cli_usage(command, "--line takes FILE:LINE, not '%s'",
		                 optarg);
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->hot.top);
	case OPT_ITERATIONS:
		q->iterations = true;
		return take_length(command, &q->length);
	case OPT_CHAINS:
		return take_callers(command, q);
	case OPT_SORT:
		q->hot.by_blocks = !strcmp(optarg, "blocks");
		if (q->hot.by_blocks || !strcmp(optarg, "count"))
			return CLI_FINE;
		return cli_usage(command,
		                 "--sort takes count or blocks, not '%s'",
		                 optarg);
	default:
		return take_switch(q, c) ||
		                       cli_form_option(&q->form, c, optarg) ||
		                       cli_input_option(&q->inputs, c, optarg)
		               ? CLI_FINE
		               : CLI_OTHER;
	}
}

static const struct cli_syntax syntax = {help, ":o:h", options, take_option};

static int check_options(const struct request *q, char **argv, int argc)
{
	int status = cli_check_form(argv[0], &q->form);

	if (status)
		return status;
	if (optind == argc)
		return cli_usage(argv[0], "no profile given");
	if (q->length &&
	    (q->form.html || q->spot.file || q->hot.unfinished || q->hot.model))
		return cli_usage(argv[0],
		                 "--%s excludes --html, --line, --unfinished "
		                 "and --model",
		                 q->chains ? "chains" : "iterations");
	if (q->iterations && q->chains)
		return cli_usage(argv[0], "--iterations excludes --chains");
	return cli_check_output(argv[0], &q->form, argv + optind,
	                        argc - optind);
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
                         char **paths, int npaths)
{
	char *list = cli_list_files(paths, (size_t)npaths);
	int status = CLI_NEGATIVE;

	if (!h->nfunctions && q->report.function)
		text_print(stderr,
		           "cairn: %s: no function that counts paths matches "
		           "%s\n",
		           list, q->report.function);
	else if (q->spot.file && !h->npaths && !h->nprefixes)
		text_print(stderr,
		           "cairn: %s: no path that ran goes through %s:%u\n",
		           list, q->spot.file, q->spot.line);
	else
		status = CLI_FINE;
	free(list);
	return status;
}

static int write_paths(const struct request *q, const struct hot *h)
{
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->form.html)
		html_report(h->report, h, o.stream);
	else if (q->form.json)
		hot_json(h, o.stream);
	else
		hot_text(h, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

static int write_sequences(const struct request *q, const struct hot *h,
                           const char *path)
{
	struct cairn_err err;
	struct cli_output o;
	struct sequences s = {.length = q->length, .of_chains = q->chains};

	if (sequences_init(&s, h, path, &err) < 0)
		return cli_fail(&err);
	cli_output_begin(&o, q->form.output);
	if (q->chains && q->form.json)
		chains_json(&s, o.stream);
	else if (q->chains)
		chains_text(&s, o.stream);
	else if (q->form.json)
		sequences_json(&s, o.stream);
	else
		sequences_text(&s, o.stream);
	sequences_release(&s);
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
	cli_say_findings(c);
	l = q->form.html ? lines_new(c) : NULL;
	report_init(&r, c, l, &q->report);
	hot_init(&h, &r, &q->hot);
	status = check_matches(q, &h, paths, npaths);
	if (!status && q->length)
		status = write_sequences(q, &h, paths[0]);
	else if (!status)
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
	int status;

	q.inputs.options.untrace = trace_counts_file;
	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = show_paths(&q, argv + optind, argc - optind);
	}
	spot_release(&q.spot);
	cli_inputs_release(&q.inputs);
	return status;
}
