/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_NAME_H
#define CAIRN_RUNTIME_NAME_H

#include <stddef.h>

/*
 * Keeps the template (NULL or empty: "%n.%p.cairn") and the working directory
 * as they are now: the program may change both.
 */
void name_init(const char *pattern);

/*
 * The absolute path of the output of this process, its n-th choice: a number
 * before the extension .cairn, or at the end, from n = 1 on.
 * Returns 0, or -1 if it does not fit.
 */
int name_make(char *path, size_t size, unsigned n);

/* Writes a number in decimal and a 0: up to 11 bytes. */
void name_number(char *to, unsigned v);

/* Path of the executable, working directory at start.  Never NULL. */
const char *name_program(void);
const char *name_directory(void);

#endif /* CAIRN_RUNTIME_NAME_H */
