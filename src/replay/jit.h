/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_JIT_H
#define CAIRN_REPLAY_JIT_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_err;
struct program;

/*
 * Compiles units and links them into this process.  There is one in a process.
 *
 * Requires: an open arena and engine.
 */
int jit_open(bool use_cache, struct cairn_err *err);
void jit_close(void);

/* Loads a unit: its functions get their bodies and entries. */
int jit_load(struct program *p, uint32_t unit, struct cairn_err *err);

#endif /* CAIRN_REPLAY_JIT_H */
