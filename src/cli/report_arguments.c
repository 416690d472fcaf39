/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `cairn report` and `cairn diff` both take: which functions and files,
 * how many, and how they are shown.
 */
#include "cli/report_arguments.h"

#include "cli/report.h"

#include <getopt.h>

int report_argument(struct report_options *o, int option, const char *command)
{
	switch (option) {
	case REPORT_ARG_FUNCTION:
		o->function = optarg;
		return CLI_FINE;
	case REPORT_ARG_FILE:
		o->file = optarg;
		return CLI_FINE;
	case REPORT_ARG_TOP:
		return cli_take_top(command, optarg, &o->top);
	case REPORT_ARG_THRESHOLD:
		return cli_take_percent(command, "--threshold", optarg, 100,
		                        &o->threshold);
	case REPORT_ARG_ALL_FILES:
		o->all_files = true;
		return CLI_FINE;
	case REPORT_ARG_NO_SOURCE:
		o->no_source = true;
		return CLI_FINE;
	case REPORT_ARG_NO_DEMANGLE:
		o->no_demangle = true;
		return CLI_FINE;
	case REPORT_ARG_STABLE:
		o->stable = true;
		return CLI_FINE;
	default:
		return CLI_OTHER;
	}
}
