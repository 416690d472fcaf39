/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_MATCH_H
#define CAIRN_CLI_MATCH_H

#include "analysis/violations.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct alphabet;
struct cairn_err;
struct cli_inputs;

/* A trace that a path expression is matched with. */
struct match_input {
	void *context;
	/* Adds all functions, and their lines if l->has_lines. */
	int (*add_functions)(void *context, struct alphabet *l,
	                     struct cairn_err *err);
	/* Tells v what the threads did: for each violations_begin, what it did,
	 * and violations_end. */
	int (*walk)(const struct match_input *in, struct violations *v,
	            struct cairn_err *err);
	/* How a function is called in a report. */
	const char *(*name)(void *context, uint32_t function);
	/* The last line of a block; false if it has none. */
	bool (*place)(void *context, uint32_t function, uint32_t block,
	              const char **file, uint32_t *line);
	void (*close)(void *context);
	bool progress;   /* say how far it is, even if stderr is no terminal */
	bool interleave; /* all threads together, not each by itself */
};

/* Opens a file; prints what is wrong, and returns an exit status then. */
typedef int match_open(struct match_input *in, struct cli_inputs *inputs,
                       const char *file);

/* cairn match-path, over what `open` opens. */
int match_command(int argc, char **argv, match_open *open);

/* What was found, to be printed. */
struct match {
	const struct match_input *input;
	const char *file, *expression;
	const struct violations *violations;
};

void match_text(const struct match *m, FILE *out);
void match_json(const struct match *m, FILE *out);

#endif /* CAIRN_CLI_MATCH_H */
