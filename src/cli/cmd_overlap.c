/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn overlap: paths across loop iterations and calls, how often they ran,
 * and how well that can be told from paths and overlapping paths.
 */
#include "cli/overlap.h"
#include "cli/trace_input.h"

#include "abi/map.h"
#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/cli.h"
#include "format/map.h"
#include "format/profile.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn overlap [OPTION...] FILE\n\n"
        "Pairs of paths that follow each other in a run of a program that was "
        "built with\n--cairn=trace, record or paths,overlap: "
        "two turns of a loop, a caller up to\na call and the callee's first "
        "path, the callee's last path and the rest of the\ncaller's.  Says how "
        "often they ran, and between which bounds\nthat would be known from "
        "path profiles and from overlapping paths, which know\nthe first "
        "decisions of the second half.  A profile of\n--cairn=paths has these "
        "bounds only.\n\n"
        "  --degree K       so many decisions; auto: a third of the highest "
        "degree (the\n"
        "                   default, unless built with overlap=K); max: the "
        "highest; all:\n"
        "                   each, with --json\n"
        "  --plain          from path profiles only\n"
        "  --lp             the tightest lower bounds that there are, those "
        "of linear\n"
        "                   programming, instead of those of the equations\n"
        "  --function NAME  show pairs of this function only\n"
        "  --top N          functions and pairs that are shown (10; 0: "
        "all)\n"
        "  --json           as JSON\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --no-demangle    C++ names as the linker sees them\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 10
#define DEGREE_MAX CAIRN_DEGREE_LIMIT

enum {
	OPT_DEGREE = CLI_OPT_OWN,
	OPT_PLAIN,
	OPT_LP,
	OPT_FUNCTION,
	OPT_TOP,
	OPT_NO_DEMANGLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_OUTPUT_OPTION,
        {"degree", required_argument, NULL, OPT_DEGREE},
        {"plain", no_argument, NULL, OPT_PLAIN},
        {"lp", no_argument, NULL, OPT_LP},
        {"function", required_argument, NULL, OPT_FUNCTION},
        {"top", required_argument, NULL, OPT_TOP},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	struct overlap_options overlap;
	bool has_degree;
	bool no_demangle;
};

static int take_degree(const char *command, struct overlap_options *o)
{
	unsigned long v;
	char *end;

	o->choice = OVERLAP_NUMBER;
	if (!strcmp(optarg, "auto"))
		o->choice = OVERLAP_AUTO;
	else if (!strcmp(optarg, "max"))
		o->choice = OVERLAP_HIGHEST;
	else if (!strcmp(optarg, "all"))
		o->choice = OVERLAP_EACH;
	if (o->choice != OVERLAP_NUMBER)
		return CLI_FINE;
	errno = 0;
	v = strtoul(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno || v > DEGREE_MAX)
		return cli_usage(command,
		                 "--degree takes a number, auto, max or all, "
		                 "not '%s'",
		                 optarg);
	o->number = (uint32_t)v;
	return CLI_FINE;
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_DEGREE:
		q->has_degree = true;
		return take_degree(command, &q->overlap);
	case OPT_PLAIN:
		q->overlap.plain = true;
		return CLI_FINE;
	case OPT_LP:
		q->overlap.tight = true;
		return CLI_FINE;
	case OPT_FUNCTION:
		q->overlap.function = optarg;
		return CLI_FINE;
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->overlap.top);
	case OPT_NO_DEMANGLE:
		q->no_demangle = true;
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
		return cli_usage(argv[0], "one trace or profile at a time");
	if (q->overlap.plain && q->has_degree)
		return cli_usage(argv[0],
		                 "--plain and --degree exclude each other");
	if (q->overlap.choice == OVERLAP_EACH && !q->form.json)
		return cli_usage(argv[0], "--degree all needs --json");
	return cli_check_output(argv[0], &q->form, argv + optind,
	                        argc - optind);
}

static int write_view(const struct request *q, const struct overlap_view *v)
{
	struct cli_output o;

	cli_output_begin(&o, q->form.output);
	if (q->form.json)
		overlap_json(v, o.stream);
	else
		overlap_text(v, o.stream);
	return cli_output_end(&o, CLI_FINE);
}

/* Names of the functions that count pairs; takes the profile over. */
static void name_counted(const struct request *q, const char *path,
                         struct profile *p, const struct overlap_counts *x,
                         struct trace_input *in)
{
	uint32_t(*functions)[2] = xcalloc(x->n, sizeof(*functions));

	for (uint32_t i = 0; i < x->n; i++) {
		functions[i][0] = x->functions[i].module;
		functions[i][1] = x->functions[i].index;
	}
	trace_input_name_all(in, p, path, functions, x->n, q->no_demangle);
	free(functions);
}

/* The degree that the program was built for, unless one is given. */
static void take_built(struct request *q, const struct profile *p,
                       const struct overlap_counts *x)
{
	const struct overlap_counted *f = &x->functions[0];
	uint32_t degree = p->modules[f->module].map->functions[f->index].degree;

	if (q->has_degree || degree == CAIRN_DEGREE_NONE)
		return;
	q->overlap.choice = degree == CAIRN_DEGREE_AUTO  ? OVERLAP_AUTO
	                    : degree == CAIRN_DEGREE_MAX ? OVERLAP_HIGHEST
	                                                 : OVERLAP_NUMBER;
	q->overlap.number = degree - CAIRN_DEGREE_FIRST;
}

/* Of a profile that has pairs, or paths only. */
static int show_counted(struct request *q, const char *command, char *path)
{
	struct profile *p = cli_open(&q->inputs, &path, 1);
	struct overlap_counts x;
	struct trace_input in;
	struct overlap_view v;
	struct cairn_err err, e;
	struct counts *c;
	int status;

	if (!p)
		return CLI_ERROR;
	cli_say_missing(p);
	c = counts_new(p);
	if (overlap_counts_init(&x, c, &e) < 0) {
		cairn_fail(&err, CAIRN_E_ABSENT, "%s: %s", path, e.text);
		counts_free(c);
		profile_free(p);
		return cli_fail(&err);
	}
	if (x.profile.is_plain && q->has_degree) {
		overlap_counts_release(&x);
		counts_free(c);
		profile_free(p);
		return cli_usage(command,
		                 "%s has paths only, for which there are no "
		                 "degrees; build the program with "
		                 "--cairn=paths,overlap",
		                 path);
	}
	name_counted(q, path, p, &x, &in);
	take_built(q, p, &x);
	if (overlap_view_init_counted(&v, &in, &x, cli_count_findings(c),
	                              &q->overlap, &err) < 0) {
		status = cli_fail(&err);
	} else {
		status = write_view(q, &v);
		overlap_view_release(&v);
	}
	counts_free(c);
	trace_input_close(&in);
	return status;
}

static int show(struct request *q, const char *command, char *path)
{
	struct trace_input trace;
	struct overlap_view v;
	struct cairn_err err;
	int status;
	int rc =
	        trace_input_try(&trace, &q->inputs, path, q->no_demangle, &err);

	if (rc == CAIRN_E_ABSENT && profile_is_one(path))
		return show_counted(q, command, path);
	if (rc < 0)
		return cli_fail(&err);
	if (overlap_view_init(&v, &trace, &q->overlap, &err) < 0) {
		status = cli_fail(&err);
	} else {
		status = write_view(q, &v);
		overlap_view_release(&v);
	}
	trace_input_close(&trace);
	return status;
}

int cmd_overlap(int argc, char **argv)
{
	struct request q = {.overlap = {.top = DEFAULT_TOP}};
	int status;

	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = show(&q, argv[0], argv[optind]);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
