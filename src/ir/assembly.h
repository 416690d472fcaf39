/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_IR_ASSEMBLY_H
#define CAIRN_IR_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * May control leave inline assembly other than at its end: does the text call,
 * return, or jump to anything but a label of its own?
 *
 * Requires: n bytes of text as LLVM has it, of x86, in either syntax.
 * Ensures:  true if one of the instructions may do so, however it is prefixed;
 *           system calls, traps and faults do not count.
 */
bool ir_assembly_leaves(const char *text, size_t n);

/*
 * Does assembly hand over to another stack?  It keeps the stack pointer in
 * memory and then, before it calls or returns, sets it to something else; what
 * calls a function on another stack and comes back does not, if it keeps it in
 * a register, nor do setjmp and longjmp.
 *
 * Requires: as above, or the assembly of a whole module.
 */
bool ir_assembly_hands_over(const char *text, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_IR_ASSEMBLY_H */
