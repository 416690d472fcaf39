/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_VFORK_H
#define CAIRN_RUNTIME_VFORK_H

#include <stdbool.h>

struct unwind;

/*
 * If the caller is the child of a vfork, which counts in its parent's memory:
 * records that the frames from *u to the caller of vfork are gone, and that
 * the latter goes on where vfork returns.  False if it is no such child.
 */
bool vfork_ends(const struct unwind *u);
/* It did not end after all. */
void vfork_take_back(const struct unwind *u);
/* Is the caller a process that only shares our memory? */
bool vfork_is_child(void);

#endif /* CAIRN_RUNTIME_VFORK_H */
