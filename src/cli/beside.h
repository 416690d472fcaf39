/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_BESIDE_H
#define CAIRN_CLI_BESIDE_H

/*
 * Sums that runs add to (CAIRN_OUT=NAME,merge) and what is beside them.  Puts
 * the paths but for those that are part of another one already into kept[],
 * which has room for all, and says which these are on stderr; returns how many
 * it kept.  Says, too, if runs are beside a sum that are neither in it nor
 * among the paths.
 */
int beside_find(char **paths, int npaths, char **kept);

#endif /* CAIRN_CLI_BESIDE_H */
