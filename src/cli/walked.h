/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_WALKED_H
#define CAIRN_CLI_WALKED_H

/* From now on recordings are read as the traces that their replays make. */
void walked_begin(void);
/* Or no longer. */
void walked_end(void);
/* --exe, for them. */
void walked_look_in(const char *path);

#endif /* CAIRN_CLI_WALKED_H */
