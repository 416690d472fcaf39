/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn wpp: the whole program path of a traced run as a grammar: hot subpaths,
 * loops, phases.
 */
#include "cli/trace_input.h"
#include "cli/wpp.h"

#include "base/err.h"
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

static const char help[] =
        "usage: cairn wpp [OPTION...] FILE\n\n"
        "Shows what a traced run did over and over: its whole program path, "
        "which is all\npaths of all functions in the order of time, with calls "
        "and returns, is made a\ngrammar.  Prints phases of the run, hot "
        "subpaths, and its loops.\n\n"
        "  --json           all of it, with the grammar, as JSON\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --min N          shortest hot subpath, in symbols (2)\n"
        "  --max N          longest hot subpath, in symbols (32)\n"
        "  --share PERCENT  of all instructions that a hot subpath executes "
        "(1)\n"
        "  --top N          hot subpaths and loops that are shown (10; 0: "
        "all)\n"
        "  --no-demangle    C++ names as the linker sees them\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 10
#define DEFAULT_MIN 2
#define DEFAULT_MAX 32
#define DEFAULT_SHARE 10000 /* millionths */

enum {
	OPT_MIN = CLI_OPT_OWN,
	OPT_MAX,
	OPT_SHARE,
	OPT_TOP,
	OPT_NO_DEMANGLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_JSON_OPTION,
        CLI_OUTPUT_OPTION,
        {"min", required_argument, NULL, OPT_MIN},
        {"max", required_argument, NULL, OPT_MAX},
        {"share", required_argument, NULL, OPT_SHARE},
        {"top", required_argument, NULL, OPT_TOP},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	struct wpp_options wpp;
	bool no_demangle;
};

/* Takes a length of subpaths.  An exit status. */
static int take_length(const char *command, const char *name, uint32_t *length)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno || !v ||
	    v > SUBPATHS_LONGEST)
		return cli_usage(command,
		                 "--%s takes a number from 1 to %d, not '%s'",
		                 name, SUBPATHS_LONGEST, optarg);
	*length = (uint32_t)v;
	return CLI_FINE;
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	switch (c) {
	case OPT_MIN:
		return take_length(command, "min", &q->wpp.hot.shortest);
	case OPT_MAX:
		return take_length(command, "max", &q->wpp.hot.longest);
	case OPT_SHARE:
		return cli_take_share(command, optarg, &q->wpp.share);
	case OPT_TOP:
		return cli_take_top(command, optarg, &q->wpp.top);
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
		return cli_usage(argv[0], "no trace given");
	if (optind + 1 < argc)
		return cli_usage(argv[0], "one trace at a time");
	if (q->wpp.hot.shortest > q->wpp.hot.longest)
		return cli_usage(argv[0], "--min is more than --max");
	return cli_check_output(argv[0], &q->form, argv + optind,
	                        argc - optind);
}

static int show(struct request *q, char *path)
{
	struct trace_input trace;
	struct wpp w;
	struct cli_output o;
	struct cairn_err err;
	int status = trace_input_open(&trace, &q->inputs, path, q->no_demangle);

	if (status)
		return status;
	wpp_init(&w, &q->wpp);
	if (wpp_from_trace(&w, &trace, &err) < 0 || wpp_finish(&w, &err) < 0) {
		status = cli_fail_in(path, &err);
	} else {
		cli_output_begin(&o, q->form.output);
		if (q->form.json)
			wpp_json(&w, o.stream);
		else
			wpp_text(&w, o.stream);
		status = cli_output_end(&o, CLI_FINE);
	}
	wpp_release(&w);
	trace_input_close(&trace);
	return status;
}

int cmd_wpp(int argc, char **argv)
{
	struct request q = {.wpp = {.hot = {DEFAULT_MIN, DEFAULT_MAX, 0},
	                            .share = DEFAULT_SHARE,
	                            .top = DEFAULT_TOP}};
	int status;

	if (cli_parse(&syntax, argc, argv, &q, &status)) {
		status = check_options(&q, argv, argc);
		if (!status)
			status = show(&q, argv[optind]);
	}
	cli_inputs_release(&q.inputs);
	return status;
}
