/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_CLI_H
#define CAIRN_CLI_CLI_H

#include "format/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cairn_err;
struct counts;
struct option;

/* Exit statuses of every subcommand. */
enum cli_exit { CLI_FINE = 0, CLI_NEGATIVE = 1, CLI_ERROR = 2 };

/* Subcommands: argv[0] is their name.  They return an exit status. */
int cmd_report(int argc, char **argv);
int cmd_paths(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_drift(int argc, char **argv);
int cmd_residual(int argc, char **argv);
int cmd_tests(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_match_path(int argc, char **argv);
int cmd_wpp(int argc, char **argv);
int cmd_twpp(int argc, char **argv);
int cmd_overlap(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_segments(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_check(int argc, char **argv);

/* Options that all subcommands have, and the files they name. */
struct cli_inputs {
	struct profile_options options;
	const char **exes;
	size_t exes_cap;
};

#define CLI_INPUT_OPTIONS                                          \
	{"exe", required_argument, NULL, CLI_OPT_EXE},             \
	        {"partial", no_argument, NULL, CLI_OPT_PARTIAL},   \
	        {"skip-missing", no_argument, NULL, CLI_OPT_SKIP}, \
	        {"quiet", no_argument, NULL, 'q'},                 \
	{                                                          \
		"help", no_argument, NULL, 'h'                     \
	}

/* Without the line about --quiet. */
#define CLI_FILES_HELP                                                        \
	"  --exe PATH       look for the executables and libraries that ran " \
	"in\n"                                                                \
	"                   this file or directory first (may be repeated)\n" \
	"  --partial        of a truncated file, read what is whole\n"        \
	"  --skip-missing   leave out modules whose map cannot be found\n"    \
	"  -h, --help       this text\n"

#define CLI_INPUT_HELP \
	"  -q, --quiet      do not show how far it is\n" CLI_FILES_HELP

enum {
	CLI_OPT_EXE = 256,
	CLI_OPT_PARTIAL,
	CLI_OPT_SKIP,
	CLI_OPT_JSON,
	CLI_OPT_HTML,
	CLI_OPT_OWN,
};

/* The form of the results, and where they go: --json, --html FILE, -o FILE. */
struct cli_form {
	bool json, html;
	const char *output; /* NULL or "-": stdout */
	const char *option; /* that names it; NULL: -o, or --html */
	unsigned noutputs;  /* times that the user named one */
};

#define CLI_JSON_OPTION                                 \
	{                                               \
		"json", no_argument, NULL, CLI_OPT_JSON \
	}
#define CLI_HTML_OPTION                                       \
	{                                                     \
		"html", required_argument, NULL, CLI_OPT_HTML \
	}
#define CLI_OUTPUT_OPTION                              \
	{                                              \
		"output", required_argument, NULL, 'o' \
	}

/* Handles one of these options; false if it is another one. */
bool cli_form_option(struct cli_form *f, int option, const char *arg);
/* Is it one form, and one output?  An exit status. */
int cli_check_form(const char *command, const struct cli_form *f);
/* Is the output, if any is named, a file other than the inputs?  An exit
 * status. */
int cli_check_output(const char *command, const struct cli_form *f,
                     char **inputs, int ninputs);

/* Handles an option of CLI_INPUT_OPTIONS; false if it is another one. */
bool cli_input_option(struct cli_inputs *in, int option, const char *arg);
void cli_inputs_release(struct cli_inputs *in);
/* Opens the files named on the command line, or says why not. */
struct profile *cli_open(struct cli_inputs *in, char **paths, int npaths);
/* Without any map there is no function to report on: says why.  An exit
 * status. */
int cli_check_maps(const struct profile *p, const char *path);
/* How many contradictions cairn check finds in the counts (rules C): what
 * follows from them is not exact. */
size_t cli_count_findings(const struct counts *c);
/* Says that parts of a profile contradict each other, if no count is marked for
 * it. */
void cli_say_findings(const struct counts *c);
/* Says which modules --skip-missing has left out, and which files are of flight
 * recorders that dropped something. */
void cli_say_missing(const struct profile *p);
/* Names of files for a sentence: "a, b, c and 4 more files"; for the caller to
 * free. */
char *cli_list_files(char **paths, size_t n);
/* True if `path` is one of the files, by whatever name. */
bool cli_is_among(const char *path, char **paths, int npaths);

/* Prints "cairn: sentence" to stderr and returns CLI_ERROR. */
int cli_fail(const struct cairn_err *err);
/* The same of something in a file, which the sentence names first or not. */
int cli_fail_in(const char *path, const struct cairn_err *err);
/* Usage errors: prints the sentence and where help is. */
int cli_usage(const char *command, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Returned by cli_syntax.take: an option that it does not know. */
#define CLI_OTHER (-1)

/* What the command line of a subcommand may say. */
struct cli_syntax {
	const char *help;
	const char *letters; /* short options, for getopt_long, with a ':' */
	const struct option *options;
	/* Takes one option, whose value is optarg.  Returns an exit status,
	 * having said what is wrong, or CLI_OTHER. */
	int (*take)(void *request, int option, const char *command);
};

/*
 * Takes all options; optind is then the first file.  False if the command ends
 * here, with *status: it was asked for help, or something is wrong.
 */
bool cli_parse(const struct cli_syntax *s, int argc, char **argv, void *request,
               int *status);
/* Takes the value of --top: rows, 0 becomes UINT_MAX.  An exit status. */
int cli_take_top(const char *command, const char *arg, unsigned *top);
/* --share PERCENT, in millionths of the whole. */
int cli_take_share(const char *command, const char *arg, uint32_t *share);
/* A number of percent from 0 to `most`, with or without a %. */
int cli_take_percent(const char *command, const char *option, const char *arg,
                     double most, double *out);

/* --color WHEN. */
enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };
int cli_take_color(const char *command, const char *arg, enum cli_color *out);
/* On a terminal, unless the user says otherwise (no-color.org). */
bool cli_wants_colour(enum cli_color color, const struct cli_form *f);

/* Prints a help text. */
int cli_help(const char *text);

/*
 * Where results go: stdout, or a file that appears only when it is complete.
 * cli_output_end returns an exit status: `status`, or CLI_ERROR if not all
 * could be written.
 */
struct cli_output {
	FILE *stream;
	const char *path; /* NULL: stdout */
	char *data;
	size_t size;
};

void cli_output_begin(struct cli_output *o, const char *path);
int cli_output_end(struct cli_output *o, int status);

#endif /* CAIRN_CLI_CLI_H */
