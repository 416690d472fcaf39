/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_ADD_H
#define CAIRN_RUNTIME_ADD_H

#include <stdbool.h>

/*
 * Adds the file of this process, which is closed, to the sum that CAIRN_OUT
 * names, and removes it.  If it cannot, the file stays, and it has said why.
 * Returns true if the file is gone.
 *
 * Requires: the lock; `path` is the file's name.
 */
bool add_to_sum(const char *path);
/* Says that it cannot be, and why. */
void add_refuse(const char *path, int error);

#endif /* CAIRN_RUNTIME_ADD_H */
