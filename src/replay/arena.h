/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_ARENA_H
#define CAIRN_REPLAY_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/*
 * Memory below 2 GiB, which instructions reach with 32 bits: the state, cells,
 * and replay code.  There is one arena in a process.
 */
int arena_open(struct cairn_err *err);
void arena_close(void);

/* Is an address in what was given out? */
bool arena_has(uint64_t address);

/* Zeroed pages that can be written; NULL if the arena is full. */
void *arena_take(size_t size);
/* Makes the pages of something taken read-only, and executable if it is code.
 */
int arena_seal(void *p, size_t size, bool is_code, struct cairn_err *err);
/* Lets them be written again. */
void arena_unseal(void *p, size_t size);

#endif /* CAIRN_REPLAY_ARENA_H */
