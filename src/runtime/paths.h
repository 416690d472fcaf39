/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_PATHS_H
#define CAIRN_RUNTIME_PATHS_H

#include <stdbool.h>

struct chunk;
struct thread;

/* Has the thread tables of paths? */
bool paths_any(const struct thread *t);

/*
 * For a fork child, whose one thread is t, in this order; lock held.
 * The new chunk in the place of *c, one of t's: the same tables and paths, all
 * counts 0.  paths_hold is for a child that does not count.
 */
void paths_renew(struct chunk *c);
void paths_hold(struct chunk *c);
/* The shards of t are zero: lets their words point at its tables again. */
void paths_adopt(struct thread *t, const struct chunk *chunks);

#endif /* CAIRN_RUNTIME_PATHS_H */
