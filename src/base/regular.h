/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_REGULAR_H
#define CAIRN_BASE_REGULAR_H

#include <stddef.h>
#include <stdio.h>

struct cairn_err;
struct stat;

/*
 * Regular files at paths that somebody else may have chosen: a FIFO there does
 * not make the caller wait, a terminal does not become its own, and a device
 * has no end.  A symbolic link counts as what it leads to.  `remedy` ends
 * sentences: "name a list of profiles".
 */

/* A descriptor to read from, and what fstat says.
 * Fails: CAIRN_E_SYSTEM, CAIRN_E_FOREIGN if it is not a regular file. */
int regular_open(const char *path, const char *remedy, struct stat *st,
                 struct cairn_err *err);
/* The same as a stream; NULL on failure. */
FILE *regular_stream(const char *path, const char *remedy,
                     struct cairn_err *err);
/* What the user named on the command line: a pipe or terminal will do, and "-"
 * is stdin.  Directories and devices are refused.  NULL on failure. */
FILE *named_stream(const char *path, const char *remedy, struct cairn_err *err);
/* All of it, at most `limit` bytes, and a NUL, for the caller to free.
 * Fails: also CAIRN_E_LIMIT. */
int regular_read(const char *path, size_t limit, const char *remedy,
                 char **text, size_t *size, struct cairn_err *err);
/* The same of an open descriptor. */
int regular_read_fd(int fd, const struct stat *st, const char *path,
                    size_t limit, const char *remedy, char **text, size_t *size,
                    struct cairn_err *err);

#endif /* CAIRN_BASE_REGULAR_H */
