/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn segments: path segments that go into calls, of a trace or of a profile
 * that counted them; lists of them for cairn-cc.
 */
#include "cli/ips.h"

#include "base/err.h"
#include "cli/cli.h"
#include "cli/trace_input.h"
#include "format/profile.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn segments [OPTION...] FILE\n\n"
        "Shows path segments: paths that go into calls and come back.  FILE is "
        "a trace,\nor the profile of a program that was built with "
        "--cairn=paths,calls=D.\n\n"
        "  --depth D        go into calls up to D deep (1; of a trace)\n"
        "  --top N          choose the N hottest segments\n"
        "  --share PERCENT  choose the hottest that make this share of all\n"
        "  --list           write call sites and segments for cairn-cc: those "
        "that are\n"
        "                   chosen, of a trace; of a profile with calls=0, all "
        "call sites\n"
        "                   that ran, in chains of up to D\n"
        "  --like FILE      count as a build does that this is a profile of, "
        "or that this\n"
        "                   list would make (of a trace)\n"
        "  --all            show those that go into no call, too\n"
        "  --rows N         segments that are shown (20; 0: all)\n"
        "  --json           all of them, as JSON\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --no-demangle    C++ names as the linker sees them\n" CLI_INPUT_HELP;

#define DEFAULT_ROWS 20

enum {
	OPT_DEPTH = CLI_OPT_OWN,
	OPT_TOP,
	OPT_SHARE,
	OPT_LIST,
	OPT_LIKE,
	OPT_ALL,
	OPT_ROWS,
	OPT_NO_DEMANGLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_OUTPUT_OPTION,
        {"depth", required_argument, NULL, OPT_DEPTH},
        {"top", required_argument, NULL, OPT_TOP},
        {"share", required_argument, NULL, OPT_SHARE},
        {"list", no_argument, NULL, OPT_LIST},
        {"like", required_argument, NULL, OPT_LIKE},
        {"all", no_argument, NULL, OPT_ALL},
        {"rows", required_argument, NULL, OPT_ROWS},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	struct ips_options ips;
	bool list;
};

static int take_depth(const char *command, uint32_t *depth)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno ||
	    v > SEGMENTS_DEPTH_MAX)
		return cli_usage(command,
		                 "--depth takes a number from 0 to %u, not "
		                 "'%s'",
		                 SEGMENTS_DEPTH_MAX, optarg);
	*depth = (uint32_t)v;
	return CLI_FINE;
}

static int take_top(const char *command, uint64_t *top)
{
	char *end;

	errno = 0;
	*top = strtoull(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno || !*top)
		return cli_usage(command,
		                 "--top takes a number of segments from 1 on, "
		                 "not '%s'",
		                 optarg);
	return CLI_FINE;
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_DEPTH:
		return take_depth(command, &q->ips.depth);
	case OPT_TOP:
		return take_top(command, &q->ips.top);
	case OPT_SHARE:
		return cli_take_share(command, optarg, &q->ips.share);
	case OPT_LIKE:
		q->ips.like = optarg;
		return CLI_FINE;
	case OPT_ROWS:
		return cli_take_top(command, optarg, &q->ips.shown);
	case OPT_LIST:
		q->list = true;
		return CLI_FINE;
	case OPT_ALL:
		q->ips.every = true;
		return CLI_FINE;
	case OPT_NO_DEMANGLE:
		q->ips.no_demangle = true;
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
	int status = cli_check_form(argv[0], &q->form);

	if (status)
		return status;
	if (optind == argc)
		return cli_usage(argv[0], "no trace or profile given");
	if (optind + 1 < argc)
		return cli_usage(argv[0], "one file at a time");
	if (q->list && q->form.json)
		return cli_usage(argv[0], "--list or --json, not both");
	return cli_check_output(argv[0], &q->form, argv + optind,
	                        argc - optind);
}

static int print_list(const struct request *q, const struct segment_list *l)
{
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	segment_list_write(l, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

static int print(struct request *q, struct ips *x)
{
	struct segment_list list = {0};
	struct cli_output o;
	int status;

	if (q->list) {
		list.kind = x->nchosen < x->nrows ? SEGMENT_LIST_SOME
		                                  : SEGMENT_LIST_ALL;
		ips_list(x, &list);
		status = print_list(q, &list);
		segment_list_release(&list);
		return status;
	}
	cli_output_begin(&o, q->form.output);
	if (q->form.json)
		ips_json(x, o.stream);
	else
		ips_text(x, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

/* A list of what a build will count that inlines what the chosen ones need. */
static int print_plan(struct request *q, struct ips *x)
{
	bool is_all = x->nchosen == x->nrows;
	struct segment_list list = {.kind = is_all ? SEGMENT_LIST_ALL
	                                           : SEGMENT_LIST_SOME};
	struct cairn_err err;
	struct ips y;
	int status;

	if (ips_plan(&y, x, &err) < 0) {
		status = cli_fail(&err);
	} else {
		ips_list(&y, &list);
		status = print_list(q, &list);
	}
	segment_list_release(&list);
	ips_release(&y);
	return status;
}

static int show_trace(struct request *q, char *path)
{
	struct trace_input trace;
	struct cairn_err err;
	struct ips x;
	int status;

	status = trace_input_open(&trace, &q->inputs, path, q->ips.no_demangle);
	if (status)
		return status;
	/* a list has all that a build counts */
	q->ips.every |= q->list && q->ips.like;
	if (ips_from_trace(&x, &trace, &q->ips, &err) < 0)
		status = cli_fail_in(path, &err);
	else if (q->list && !q->ips.like)
		status = print_plan(q, &x);
	else
		status = print(q, &x);
	ips_release(&x);
	trace_input_close(&trace);
	return status;
}

static int show_profile(struct request *q, struct profile *p)
{
	struct segment_list list = {0};
	struct cairn_err err;
	struct ips x;
	int status;

	if (q->list) {
		if (ips_sites(p, q->ips.depth, &list, &err) < 0)
			return cli_fail(&err);
		status = print_list(q, &list);
		segment_list_release(&list);
		return status;
	}
	if (ips_from_profile(&x, p, &q->ips, &err) < 0)
		status = cli_fail(&err);
	else
		status = print(q, &x);
	ips_release(&x);
	return status;
}

static int show(struct request *q, char *path)
{
	struct cairn_err err;
	const char *name = path;
	struct profile *p;
	int status;

	if (profile_open(&p, &name, 1, &q->inputs.options, &err) < 0)
		return cli_fail(&err);
	if (profile_is_traced(p)) {
		profile_free(p);
		return show_trace(q, path);
	}
	if (q->ips.like)
		status = cli_usage("segments",
		                   "--like counts a trace as a build does; %s "
		                   "has counts already",
		                   path);
	else
		status = show_profile(q, p);
	profile_free(p);
	return status;
}

int cmd_segments(int argc, char **argv)
{
	struct request q = {.ips = {.depth = 1, .shown = DEFAULT_ROWS}};
	int status;

	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = show(&q, argv[optind]);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
