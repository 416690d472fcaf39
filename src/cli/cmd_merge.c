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

/* merge and pack take the same options; pack wants exactly one file. */
static int run(int argc, char **argv, const char *text, int max_files)
{
	static const struct option options[] = {
	        CLI_INPUT_OPTIONS,
	        {"output", required_argument, NULL, 'o'},
	        {0},
	};
	struct cli_inputs in = {0};
	const char *out = NULL;
	int c, status;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (c == 'h')
			return cli_help(text);
		if (c == 'o')
			out = optarg;
		else if (!cli_input_option(&in, c, optarg))
			return cli_bad_option(c, argv, options);
	}
	if (!out || !*out)
		status = cli_usage(argv[0], "no output; name one with -o");
	else if (optind == argc)
		status = cli_usage(argv[0], "no profile given");
	else if (argc - optind > max_files)
		status =
		        cli_usage(argv[0], "more than one profile given; merge "
		                           "sums several");
	else
		status = merge(&in, out, argv + optind, argc - optind);
	cli_inputs_release(&in);
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
