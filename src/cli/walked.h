/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_WALKED_H
#define CAIRN_CLI_WALKED_H

/* From now on recordings are read as the traces that their replays make. */
void walked_begin(void);
/* Or no longer. */
void walked_end(void);
/* --exe, for them. */
void walked_look_in(const char *path);

/* The path of cairn-replay, for the caller to free; NULL if it is not known. */
char *walked_tool(void);
/* "cannot execute TOOL: ...": what is wrong with it, from errno. */
struct cairn_err;
int walked_fail(const char *tool, struct cairn_err *err);

#endif /* CAIRN_CLI_WALKED_H */
