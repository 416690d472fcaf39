/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_NAME_H
#define CAIRN_RUNTIME_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Keeps the template (NULL or empty: "%n.%p.cairn") and the working directory
 * as they are now: the program may change both.  A privileged program
 * (secure.h) does not ask for the template. Returns 0, or a negative errno if
 * such a program must not write: it has said why.
 */
int name_init(const char *pattern);

/*
 * The absolute path of the output of this process, its n-th choice: a number
 * before the extension .cairn, or at the end, from n = 1 on.
 * Returns 0, or -1 if it does not fit.
 */
int name_make(char *path, size_t size, unsigned n);

/* Was CAIRN_OUT "NAME,merge"?  Then name_make gives names beside NAME, with
 * the process id in them, and NAME is that of the sum. */
bool name_is_sum(void);
/* The path of the sum, and that of the n-th choice of another process for its
 * own file; 0, or -1 if it does not fit. */
int name_sum(char *path, size_t size);
int name_part(char *path, size_t size, unsigned pid, unsigned n);
/* Writes a number in decimal and a 0: up to 11 bytes. */
void name_number(char *to, unsigned v);

/* The folder that root has named for the files of this program, which is
 * privileged; NULL: it is not. */
const char *name_secure_folder(void);

/* Path of the executable, working directory at start.  Never NULL. */
const char *name_program(void);
const char *name_directory(void);

#endif /* CAIRN_RUNTIME_NAME_H */
