/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_JIT_H
#define CAIRN_REPLAY_JIT_H

#include <stdbool.h>

struct cairn_err;
struct engine_compiler;
struct program;
struct rewrite_options;

/*
 * Compiles units and links them into this process.  There is one in a process.
 *
 * Units that somebody asks something (rewrite.h) are not kept.
 *
 * Requires: an open arena, and all units of the program in it.
 */
int jit_open(struct program *p, bool use_cache,
             const struct rewrite_options *options, struct cairn_err *err);
void jit_close(void);

/* For the engine. */
extern const struct engine_compiler jit_compiler;

#endif /* CAIRN_REPLAY_JIT_H */
