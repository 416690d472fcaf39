/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_WANTED_H
#define CAIRN_PLUGIN_WANTED_H

#include <llvm-c/Types.h>
#include <stdbool.h>

struct function;
struct interest;
struct wanted;

/* The sets of paths that are asked for, in one module; NULL if there are none.
 * The interest outlives it. */
struct wanted *wanted_new(const struct interest *in, LLVMModuleRef module);
void wanted_free(struct wanted *w);

/*
 * The blocks of a function that are asked for: all, or those with a line.  Per
 * block, valid until the next call; NULL if there are none.
 */
const bool *wanted_blocks(struct wanted *w, const struct function *fn);
/* Once the paths of this function are numbered. */
void wanted_count(struct wanted *w, const struct function *fn);

/* After the last function: warns of what cannot be meant, and with `remarks`
 * says what each set has found. */
void wanted_say(const struct wanted *w, bool remarks);

#endif /* CAIRN_PLUGIN_WANTED_H */
