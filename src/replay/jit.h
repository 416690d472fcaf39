/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_JIT_H
#define CAIRN_REPLAY_JIT_H

#include <stdbool.h>

struct cairn_err;
struct engine_compiler;

/*
 * Compiles units and links them into this process.  There is one in a process.
 *
 * If shows_calls, code is made that says what it calls (rewrite.h); it is not
 * kept.
 *
 * Requires: an open arena.
 */
int jit_open(bool use_cache, bool shows_calls, struct cairn_err *err);
void jit_close(void);

/* For the engine. */
extern const struct engine_compiler jit_compiler;

#endif /* CAIRN_REPLAY_JIT_H */
