/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_IR_UNWINDING_H
#define CAIRN_IR_UNWINDING_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ptrmap;

/*
 * Code that unwinds: it is behind a landing pad, and nothing has caught the
 * exception since.  It cleans up, or looks which handler is to have it.
 *
 * Adds the blocks of f that only such code leads to.  Requires: f has a body.
 */
void ir_find_unwinding(LLVMValueRef f, struct ptrmap *blocks);

/* Does an instruction unwind, if what is before it in its block does? */
bool ir_unwinds(LLVMValueRef instruction, bool before);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_IR_UNWINDING_H */
