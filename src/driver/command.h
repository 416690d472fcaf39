/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_DRIVER_COMMAND_H
#define CAIRN_DRIVER_COMMAND_H

#include <stdbool.h>

struct argv;
struct cairn_err;
struct option;
struct scan;
struct words;

/* Where things are. */
struct command_tools {
	const char *compiler; /* clang of the LLVM that the plugin is for */
	const char *plugin;
	const char *runtime;
	const char *executable; /* the part of it that is not for libraries */
	const char *output;     /* and that of programs that are recorded */
	bool cxx;               /* called as a C++ compiler */
};

/*
 * Builds the command line of clang: everything of the user's, then what marks
 * need.
 *
 * Requires: w was scanned into *s and *o.
 * Fails:  CAIRN_E_USAGE for a combination in which marks cannot work,
 *         CAIRN_E_ABSENT if plugin or runtime is not installed, and as
 *         profile_open() for the feedback of a step that compiles.
 * Memory: the strings of *out live as long as the process.
 */
int command_build(const struct command_tools *t, const struct words *w,
                  const struct option *o, const struct scan *s,
                  struct argv *out, struct cairn_err *err);

#endif /* CAIRN_DRIVER_COMMAND_H */
