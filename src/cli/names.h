/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_NAMES_H
#define CAIRN_CLI_NAMES_H

#include <stddef.h>

struct cairn_err;

/* Names of profiles, each for the list to free. */
struct names {
	char **items;
	size_t n, cap;
};

/*
 * Adds what an argument means: the .cairn files of a directory, sorted, but for
 * `output`; the names in a list if it is @FILE; else a file of that name.
 */
int names_add(struct names *names, const char *arg, const char *output,
              struct cairn_err *err);
/* Adds the names that a file has, one on a line; "-": stdin. */
int names_add_list(struct names *names, const char *path,
                   struct cairn_err *err);
void names_release(struct names *names);

#endif /* CAIRN_CLI_NAMES_H */
