/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of whoever asks a recording: its own options and those of
 * every session.
 */
#include "replay/arguments.h"

#include "base/options.h"
#include "replay/command.h"
#include "replay/session.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

int arguments_read(const struct arguments *a, int argc, char **argv,
                   struct session_options *o, void *question)
{
	char what[256];
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, a->shorts ? a->shorts : ":hq",
	                             a->options, NULL)) != -1) {
		if (option == '?' || option == ':') {
			options_judge(option, argv, a->options, what,
			              sizeof(what));
			return command_usage(a->command, what);
		}
		if (option == 'h') {
			fputs(a->help, stdout);
			return FINE;
		}
		if (!session_option(o, option, optarg) &&
		    !(a->take && a->take(question, option)))
			return ERROR;
	}
	if (argc - optind != a->noperands)
		return command_usage(a->command, a->operands);
	return ARGUMENTS_FINE;
}

void arguments_release(struct session_options *o)
{
	free(o->exes);
	free(o->parents);
}
