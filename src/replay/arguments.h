/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_ARGUMENTS_H
#define CAIRN_REPLAY_ARGUMENTS_H

#include <stdbool.h>

struct option;
struct session_options;

/* What a command takes besides SESSION_OPTIONS, which are in its table, too. */
struct arguments {
	const char *command, *help;
	const struct option *options;
	const char *shorts; /* of one letter; NULL: "hq" */
	/* One of its own, with optarg; false: it was used wrongly, which was
	 * said, or there is none such.  NULL: it has none. */
	bool (*take)(void *question, int option);
	const char *operands; /* what to name, if there are not as many */
	int noperands;
};

#define ARGUMENTS_FINE (-1)

/* Reads options and notes them; operands are behind optind.  Returns
 * ARGUMENTS_FINE, or the exit status to end with. */
int arguments_read(const struct arguments *a, int argc, char **argv,
                   struct session_options *o, void *question);

/* Frees what the options hold. */
void arguments_release(struct session_options *o);

#endif /* CAIRN_REPLAY_ARGUMENTS_H */
