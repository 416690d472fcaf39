/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn report: counts of functions, blocks, edges and lines, as text, JSON or
 * an lcov tracefile.
 */
#include "cli/cli.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/err.h"
#include "cli/report.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
        "usage: cairn report [OPTION...] FILE...\n\n"
        "Shows how often everything ran.  Several files of one build are "
        "summed.\n\n"
        "  --json           everything, as JSON\n"
        "  --lcov           an lcov tracefile, for genhtml and others\n"
        "  -o FILE          write there instead of to stdout\n"
        "  --function GLOB  only functions of this name\n"
        "  --file GLOB      only functions and lines of this source file\n"
        "  --top N          rows of the table (20; 0: all)\n"
        "  --sort KEY       executions (default), entries, instructions, "
        "name, line\n"
        "  --lines          whole source files with counts\n"
        "  --no-source      no source lines\n"
        "  --no-demangle    C++ names as the linker sees them\n"
        "  --stable         nothing that differs between two equal "
        "runs\n" CLI_INPUT_HELP;

#define DEFAULT_TOP 20

enum {
	OPT_JSON = CLI_OPT_OWN,
	OPT_LCOV,
	OPT_FUNCTION,
	OPT_FILE,
	OPT_TOP,
	OPT_SORT,
	OPT_LINES,
	OPT_NO_SOURCE,
	OPT_NO_DEMANGLE,
	OPT_STABLE,
};

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        {"json", no_argument, NULL, OPT_JSON},
        {"lcov", no_argument, NULL, OPT_LCOV},
        {"output", required_argument, NULL, 'o'},
        {"function", required_argument, NULL, OPT_FUNCTION},
        {"file", required_argument, NULL, OPT_FILE},
        {"top", required_argument, NULL, OPT_TOP},
        {"sort", required_argument, NULL, OPT_SORT},
        {"lines", no_argument, NULL, OPT_LINES},
        {"no-source", no_argument, NULL, OPT_NO_SOURCE},
        {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
        {"stable", no_argument, NULL, OPT_STABLE},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct report_options options;
	void (*write)(const struct report *r, FILE *out);
	const char *output;
};

static bool parse_top(const char *arg, unsigned *top)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno || n > UINT_MAX)
		return false;
	*top = n ? (unsigned)n : UINT_MAX;
	return true;
}

static bool parse_sort(const char *arg, enum report_sort *sort)
{
	static const char *const keys[] = {
	        [REPORT_BY_EXECUTIONS] = "executions",
	        [REPORT_BY_ENTRIES] = "entries",
	        [REPORT_BY_INSTRUCTIONS] = "instructions",
	        [REPORT_BY_NAME] = "name",
	        [REPORT_BY_LINE] = "line",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(arg, keys[i])) {
			*sort = (enum report_sort)i;
			return true;
		}
	return false;
}

/* Handles one option; false if it or its argument is no good. */
static bool take_option(struct request *q, int c, const char *arg)
{
	struct report_options *o = &q->options;

	switch (c) {
	case OPT_JSON:
		q->write = report_json;
		return true;
	case OPT_LCOV:
		q->write = report_lcov;
		return true;
	case 'o':
		q->output = arg;
		return true;
	case OPT_FUNCTION:
		o->function = arg;
		return true;
	case OPT_FILE:
		o->file = arg;
		return true;
	case OPT_TOP:
		return parse_top(arg, &o->top);
	case OPT_SORT:
		return parse_sort(arg, &o->sort);
	case OPT_LINES:
		o->all_lines = true;
		return true;
	case OPT_NO_SOURCE:
		o->no_source = true;
		return true;
	case OPT_NO_DEMANGLE:
		o->no_demangle = true;
		return true;
	case OPT_STABLE:
		o->stable = true;
		return true;
	default:
		return cli_input_option(&q->inputs, c, arg);
	}
}

/* A tracefile without a line is of no use to anybody: say why. */
static int check_lines(const struct request *q, const struct lines *l,
                       const char *path)
{
	struct cairn_err err;

	if (q->write != report_lcov || l->n)
		return CLI_FINE;
	cairn_fail(&err, CAIRN_E_ABSENT,
	           "%s: the program has no line numbers; build it with -g",
	           path);
	return cli_fail(&err);
}

static int report(struct request *q, char **paths, int npaths)
{
	struct profile *p = cli_open(&q->inputs, paths, npaths);
	struct cli_output o;
	struct report r;
	struct counts *c;
	struct lines *l;
	int status;

	if (!p)
		return CLI_ERROR;
	c = counts_new(p);
	l = lines_new(c);
	status = check_lines(q, l, paths[0]);
	report_init(&r, c, l, &q->options);
	if (status == CLI_FINE && q->options.function && !r.nrows) {
		fprintf(stderr, "cairn: %s: no function matches %s\n", paths[0],
		        q->options.function);
		status = CLI_NEGATIVE;
	}
	if (status == CLI_FINE) {
		cli_output_begin(&o, q->output);
		q->write(&r, o.stream);
		status = cli_output_end(&o, status);
	}
	report_release(&r);
	lines_free(l);
	counts_free(c);
	profile_free(p);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct request q = {
	        .options = {.top = DEFAULT_TOP},
	        .write = report_text,
	};
	int c, status;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == 'h') {
			struct cli_output o;

			cli_output_begin(&o, NULL);
			fputs(help, o.stream);
			return cli_output_end(&o, CLI_FINE);
		}
		if (!take_option(&q, c, optarg))
			return cli_usage(argv[0], "bad option %s",
			                 argv[optind - 1]);
	}
	if (optind == argc)
		status = cli_usage(argv[0], "no profile given");
	else
		status = report(&q, argv + optind, argc - optind);
	cli_inputs_release(&q.inputs);
	return status;
}
