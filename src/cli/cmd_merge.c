/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn merge: profiles of several runs of one build become one.  Different
 * builds are refused, since their counters mean different things.
 * Of traces, what they count is summed: what several runs did, one after the
 * other, is no run.
 * cairn pack: the same with one file, for the sake of the maps inside; a trace
 * stays one.
 */
#include "cli/cli.h"
#include "cli/walked.h"

#include "analysis/trace_counts.h"
#include "base/err.h"
#include "format/pack_trace.h"
#include "format/streams.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char merge_help[] =
        "usage: cairn merge -o OUT [OPTION...] FILE...\n\n"
        "Sums profiles of one build into OUT, which needs no executable to "
        "be read.\nOf traces, it sums what their runs executed.\n\n"
        "  -o OUT           the file to write; it may be one of those "
        "read\n" CLI_INPUT_HELP;

static const char pack_help[] =
        "usage: cairn pack -o OUT [OPTION...] FILE\n\n"
        "Writes FILE again with the maps of its executables inside, so that "
        "OUT can be\nread anywhere and after a rebuild.  A trace stays a "
        "trace.\n\n"
        "  -o OUT           the file to write; it may be one of those "
        "read\n"
        "  --best           pack a trace as small as possible, which takes "
        "time\n" CLI_INPUT_HELP;

enum { OPT_BEST = CLI_OPT_OWN };

static const struct option merge_options[] = {
        CLI_INPUT_OPTIONS,
        CLI_OUTPUT_OPTION,
        {0},
};

static const struct option pack_options[] = {
        CLI_INPUT_OPTIONS,
        CLI_OUTPUT_OPTION,
        {"best", no_argument, NULL, OPT_BEST},
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
	bool best;
};

static int write_packed(const struct request *q, const struct profile *p,
                        const char *path)
{
	enum container_mode mode =
	        q->inputs.options.partial ? CONTAINER_PARTIAL : CONTAINER_WHOLE;
	struct cairn_err err;
	struct streams s;
	int rc = streams_open(&s, path, mode, &err);

	if (rc == 0) {
		if (s.nthreads)
			rc = pack_trace(p, &s, q->best, q->form.output, &err);
		else
			rc = profile_write(p, q->form.output, &err);
		streams_release(&s);
	}
	return rc ? cli_fail(&err) : CLI_FINE;
}

static int pack(struct request *q, char **paths)
{
	struct profile *p = cli_open(&q->inputs, paths, 1);
	int status;

	if (!p)
		return CLI_ERROR;
	cli_say_missing(p);
	status = write_packed(q, p, paths[0]);
	profile_free(p);
	return status;
}

static int merge(struct request *q, char **paths, int npaths)
{
	struct profile *p;
	struct cairn_err err;
	int status = CLI_FINE;

	q->inputs.options.untrace = trace_counts_file;
	p = cli_open(&q->inputs, paths, npaths);
	if (!p)
		return CLI_ERROR;
	cli_say_missing(p);
	if (profile_write(p, q->form.output, &err))
		status = cli_fail(&err);
	profile_free(p);
	return status;
}

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	(void)command;
	q->best |= c == OPT_BEST;
	return c == OPT_BEST || cli_form_option(&q->form, c, optarg) ||
	                       cli_input_option(&q->inputs, c, optarg)
	               ? CLI_FINE
	               : CLI_OTHER;
}

/* pack wants exactly one file. */
static int run(int argc, char **argv, bool is_pack)
{
	const struct cli_syntax syntax = {
	        is_pack ? pack_help : merge_help, ":o:h",
	        is_pack ? pack_options : merge_options, take_option};
	struct request q = {0};
	const char *out;
	int status;

	if (!cli_parse(&syntax, argc, argv, &q, &status))
		goto done;
	out = q.form.output;
	if (!out || !*out)
		status = cli_usage(argv[0], "no output; name one with -o");
	else if (!strcmp(out, "-"))
		status = cli_usage(argv[0], "-o -: a profile does not go to "
		                            "stdout; name a file");
	else if (optind == argc)
		status = cli_usage(argv[0], "no profile given");
	else if (is_pack && argc - optind > 1)
		status =
		        cli_usage(argv[0], "more than one profile given; merge "
		                           "sums several");
	else if (is_pack)
		status = pack(&q, argv + optind);
	else
		status = merge(&q, argv + optind, argc - optind);
done:
	cli_inputs_release(&q.inputs);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	return run(argc, argv, false);
}

int cmd_pack(int argc, char **argv)
{
	walked_end(); /* a recording would no longer be one */
	return run(argc, argv, true);
}
