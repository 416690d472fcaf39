/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_REPORT_ARGUMENTS_H
#define CAIRN_CLI_REPORT_ARGUMENTS_H

#include "cli/cli.h"

struct report_options;

/* Options of all that reports: REPORT_ARGUMENTS in the table, and
 * report_argument() for what getopt_long returns. */
enum {
	REPORT_ARG_FUNCTION = CLI_OPT_OWN,
	REPORT_ARG_FILE,
	REPORT_ARG_TOP,
	REPORT_ARG_THRESHOLD,
	REPORT_ARG_ALL_FILES,
	REPORT_ARG_NO_SOURCE,
	REPORT_ARG_NO_DEMANGLE,
	REPORT_ARG_STABLE,
	REPORT_ARG_OWN,
};

#define REPORT_ARGUMENTS                                                      \
	{"function", required_argument, NULL, REPORT_ARG_FUNCTION},           \
	        {"file", required_argument, NULL, REPORT_ARG_FILE},           \
	        {"top", required_argument, NULL, REPORT_ARG_TOP},             \
	        {"threshold", required_argument, NULL, REPORT_ARG_THRESHOLD}, \
	        {"all-files", no_argument, NULL, REPORT_ARG_ALL_FILES},       \
	        {"no-source", no_argument, NULL, REPORT_ARG_NO_SOURCE},       \
	        {"no-demangle", no_argument, NULL, REPORT_ARG_NO_DEMANGLE},   \
	{                                                                     \
		"stable", no_argument, NULL, REPORT_ARG_STABLE                \
	}

/* Takes one of these, whose value is optarg: an exit status, having said what
 * is wrong; CLI_OTHER if it is another option. */
int report_argument(struct report_options *o, int option, const char *command);

#endif /* CAIRN_CLI_REPORT_ARGUMENTS_H */
