/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_OPTIONS_H
#define CAIRN_BASE_OPTIONS_H

#include <stddef.h>

struct option;

/*
 * Says in `what` what is wrong with an option for which getopt_long returned
 * '?' or ':'.
 * Requires: opterr is 0, and the short options begin with ':'.
 */
void options_judge(int c, char **argv, const struct option *options, char *what,
                   size_t size);

#endif /* CAIRN_BASE_OPTIONS_H */
