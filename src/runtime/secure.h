/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_SECURE_H
#define CAIRN_RUNTIME_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names the folder for the files of privileged programs. */
#define SECURE_CONFIG "/etc/cairn/secure-output"

/*
 * Does the program have privileges that its caller does not have: is it
 * set-user-ID or set-group-ID, or has its file capabilities?  True if unknown.
 */
bool secure_is(void);

/*
 * Reads the folder that root has named.  Returns 0, -ENOENT if there is no
 * SECURE_CONFIG, -ENOTNAM if it is not root's alone or names no folder, or
 * another negative errno.
 */
int secure_folder(char *to, size_t size);

/* May a file of this owner be mapped, in this folder?  Not if the caller could
 * change it. */
bool secure_accepts(uint32_t owner, const char *folder);

/* Takes CAIRN_* out of the environment that the program was started with, so
 * that programs which it starts do not obey its caller. */
void secure_clean(char **env);

#endif /* CAIRN_RUNTIME_SECURE_H */
