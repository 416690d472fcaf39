/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn: the tool that reads profiles.  One file cmd_NAME.c per subcommand;
 * exit status 0 fine, 1 a negative answer, 2 an error.
 */
#include "base/files.h"
#include "cli/cli.h"
#include "cli/walked.h"

#include <stdio.h>
#include <string.h>

static const struct command {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} commands[] = {
        {"report", "show counts: text, JSON, a page, formats of other tools",
         cmd_report},
        {"diff", "what ran more, less, no longer: two profiles; limits for CI",
         cmd_diff},
        {"paths", "show the paths that ran, hottest first", cmd_paths},
        {"drift", "are the paths that were hot still hot? two profiles",
         cmd_drift},
        {"residual", "paths that ran in the field and in no test",
         cmd_residual},
        {"tests",
         "which tests are needed, in which order; what failed ones ran",
         cmd_tests},
        {"trace", "show what a program did, in order; exports", cmd_trace},
        {"match-path", "does a trace do what a path expression says?",
         cmd_match_path},
        {"wpp", "the whole program path: phases, hot subpaths, loops", cmd_wpp},
        {"twpp", "path traces per function, with timestamps; find a path",
         cmd_twpp},
        {"overlap", "paths across loop iterations and calls, with bounds",
         cmd_overlap},
        {"segments", "paths that go into calls; lists of them for cairn-cc",
         cmd_segments},
        {"replay", "execute a recorded run again, and compare", cmd_replay},
        {"values", "what variables were whenever a line of a recording ran",
         cmd_replay},
        {"print", "expressions of C whenever a line of a recording ran",
         cmd_replay},
        {"output", "what a recorded run wrote to stdout and stderr, and where",
         cmd_replay},
        {"writes", "who wrote a variable of a recorded run, when and what",
         cmd_replay},
        {"trim", "keep the newest part of a recording", cmd_replay},
        {"merge", "sum the profiles of several runs into one file", cmd_merge},
        {"pack", "make a profile self-contained", cmd_pack},
        {"check", "is this profile sound? which function is not, and why",
         cmd_check},
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static int print_help(void)
{
	struct cli_output o;

	cli_output_begin(&o, NULL);
	printf("usage: cairn COMMAND [OPTION...] FILE...\n\n");
	for (size_t i = 0; i < NCOMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].what);
	printf("\ncairn COMMAND --help tells more; cairn --version says which "
	       "cairn this is.\nBuild programs with cairn-cc; they write the "
	       "FILEs when they run.\n");
	return cli_output_end(&o, CLI_FINE);
}

static int print_version(void)
{
	struct cli_output o;

	cli_output_begin(&o, NULL);
	printf("cairn %s\n", CAIRN_VERSION);
	return cli_output_end(&o, CLI_FINE);
}

static int run(const char *name, int argc, char **argv)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc, argv);
	return cli_usage("",
	                 *name == '-' ? "there is no option %s"
	                              : "there is no command %s",
	                 name);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	char option[] = "--help";

	files_fill_usual();
	files_outlive_limits();
	walked_begin();
	if (!name)
		return cli_usage("", "no command given");
	if (!strcmp(name, "help") && argc > 2)
		return run(argv[2], 2, (char *[]){argv[2], option, NULL});
	if (!strcmp(name, "--help") || !strcmp(name, "-h") ||
	    !strcmp(name, "help"))
		return print_help();
	if (!strcmp(name, "--version"))
		return print_version();
	return run(name, argc - 1, argv + 1);
}
