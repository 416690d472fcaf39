/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_BESIDE_H
#define CAIRN_CLI_BESIDE_H

#include <stdbool.h>

struct cairn_err;

/*
 * Puts the paths into kept[], which has room for all, and their number into
 * *nkept, but for those whose runs are in another one already and for empty
 * runs; says on stderr which these are.  At least one is kept.  Says, too, if
 * beside a sum that runs add to (CAIRN_OUT=NAME,merge) there are runs that are
 * neither in it nor among the paths.
 *
 * Fails: CAIRN_E_MISMATCH if two files share only some of their runs.
 */
int beside_find(char **paths, int npaths, char **kept, int *nkept,
                struct cairn_err *err);

/* Is this an empty run whose process may still begin to count? */
bool beside_may_begin(const char *path);

#endif /* CAIRN_CLI_BESIDE_H */
