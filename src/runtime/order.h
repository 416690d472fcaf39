/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_ORDER_H
#define CAIRN_RUNTIME_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct chunk;

/* Makes the list, when there is the first table of paths.
 * Requires: lock held. */
void order_begin(void);

/*
 * A path is about to be put into a table: appends it, unless it is in the list.
 * `owner` is the link-time address of its function's words, `r` 1 + its number.
 * Threads: any, in signal handlers too.  Requires: lock not held.
 */
void order_note(uint32_t module, uint64_t owner, uint64_t r);

/* Is it part of the list? */
bool order_is_part(const struct chunk *c);

/*
 * For a fork child; lock held, and the old parts belong to the parent.  The
 * child begins a list of its own, or has none if it keeps tables: paths that
 * are in them would never come here.
 */
void order_fork(bool keeps_tables);

#endif /* CAIRN_RUNTIME_ORDER_H */
