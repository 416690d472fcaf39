/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_IR_CODE_H
#define CAIRN_IR_CODE_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/*
 * Is an instruction code, so that its line is one that can be executed?  In all
 * modes lines and instructions are those of code, as the optimizer has left it.
 *
 * No code is what makes no machine instruction at its place: phis, variables of
 * fixed size, `unreachable`, `freeze`, and intrinsics that only say something
 * of memory or values.
 */
bool ir_is_code(LLVMValueRef instruction);

#endif /* CAIRN_IR_CODE_H */
