/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn merge: profiles of several runs of one build become one.  Different
 * builds are refused, since their counters mean different things.
 * cairn pack: the same with one file, for the sake of the maps inside.
 */
#include "cli/cli.h"

#include "base/err.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char merge_help[] =
        "usage: cairn merge -o OUT [OPTION...] FILE...\n\n"
        "Sums profiles of one build into OUT, which needs no executable to "
        "be read.\n\n"
        "  -o OUT           the file to write; it may be one of those "
        "read\n" CLI_INPUT_HELP;

static const char pack_help[] =
        "usage: cairn pack -o OUT [OPTION...] FILE\n\n"
        "Writes FILE again with the maps of its executables inside, so that "
        "OUT can be\nread anywhere and after a rebuild.\n\n"
        "  -o OUT           the file to write; it may be one of those "
        "read\n" CLI_INPUT_HELP;

static int merge(struct cli_inputs *in, const char *out, char **paths,
                 int npaths)
{
	struct profile *p = cli_open(in, paths, npaths);
	struct cairn_err err;
	int status = CLI_FINE;

	if (!p)
		return CLI_ERROR;
	cli_say_missing(p);
	if (profile_write(p, out, &err))
		status = cli_fail(&err);
	profile_free(p);
	return status;
}

static const struct option options[] = {
        CLI_INPUT_OPTIONS,
        CLI_OUTPUT_OPTION,
        {0},
};

struct request {
	struct cli_inputs inputs;
	struct cli_form form;
};

static int take_option(void *request, int c, const char *command)
{
	struct request *q = request;

	(void)command;
	return cli_form_option(&q->form, c, optarg) ||
	                       cli_input_option(&q->inputs, c, optarg)
	               ? CLI_FINE
	               : CLI_OTHER;
}

/* merge and pack take the same options; pack wants exactly one file. */
static int run(int argc, char **argv, const char *text, int max_files)
{
	const struct cli_syntax syntax = {text, ":o:h", options, take_option};
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
	else if (argc - optind > max_files)
		status =
		        cli_usage(argv[0], "more than one profile given; merge "
		                           "sums several");
	else
		status = merge(&q.inputs, out, argv + optind, argc - optind);
done:
	cli_inputs_release(&q.inputs);
	return status;
}

int cmd_merge(int argc, char **argv)
{
	return run(argc, argv, merge_help, INT_MAX);
}

int cmd_pack(int argc, char **argv)
{
	return run(argc, argv, pack_help, 1);
}
