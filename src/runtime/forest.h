/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_FOREST_H
#define CAIRN_RUNTIME_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/forest_steps.h"

struct chunk;

/* Counters at these addresses are not those that the file says: whatever they
 * own is counted nowhere from now on.  Requires: lock held; their code does not
 * run yet. */
void forest_refuse(uint64_t first, uint64_t end);
/* Is it a part of a forest? */
bool forest_is_part(const struct chunk *c);
/* In the child of a fork: no thread has a forest any more, and states of before
 * are those of nobody.  `zeros` are STARTS of abi/rt.h. */
void forest_fork(uint64_t *zeros);

/* What `take` of a forest is; the second, in forest.S, saves all registers that
 * whoever made the step may use, and calls the first. */
bool forest_take(struct forest *f, enum forest_what what, uint64_t n,
                 unsigned sixteenths, void **where);
bool forest_take_saved(struct forest *f, enum forest_what what, uint64_t n,
                       unsigned sixteenths, void **where);

#endif /* CAIRN_RUNTIME_FOREST_H */
