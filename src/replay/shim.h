/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_SHIM_H
#define CAIRN_REPLAY_SHIM_H

/* What the rewriter needs and LLVM-C lacks. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls it where memory lacks, in LLVM and in other code in C++; it does not
 * return. */
void replay_shim_on_no_memory(void (*handle)(void));

/* Splits a block before an instruction; returns the second part. */
LLVMBasicBlockRef replay_shim_split(LLVMValueRef before);
/* Removes an instruction and the rest of its block. */
void replay_shim_cut(LLVMValueRef first);
/* Puts a block that runs if `condition` holds before an instruction; returns
 * its end.  Both are rare if `is_rare`. */
LLVMValueRef replay_shim_if(LLVMValueRef condition, LLVMValueRef before,
                            bool is_rare);
/* The same with a block for either case. */
void replay_shim_if_else(LLVMValueRef condition, LLVMValueRef before,
                         LLVMValueRef *then, LLVMValueRef *otherwise);
/* Turns an invoke into a call of the same, followed by a branch to the normal
 * destination, and returns the call.  The unwind destination's phis are not
 * touched: there is no edge to it now. */
LLVMValueRef replay_shim_invoke_to_call(LLVMValueRef invoke);
/* Phis of `block` now have their value of `from` when coming from `to`. */
void replay_shim_phis_from(LLVMBasicBlockRef block, LLVMBasicBlockRef from,
                           LLVMBasicBlockRef to);
/* A call of `callee` like another call: arguments, convention and what the
 * convention depends on. */
LLVMValueRef replay_shim_call_like(LLVMValueRef call, LLVMValueRef callee,
                                   LLVMValueRef before);
/* The same, as a tail call: one for certain if the function around it is of the
 * same type, else if the code generator can. */
LLVMValueRef replay_shim_tail_like(LLVMValueRef call, LLVMValueRef callee,
                                   LLVMValueRef before);
/* Leaves a call or a function only those attributes that a calling convention
 * or the choice of instructions depends on. */
void replay_shim_strip_call(LLVMValueRef call);
void replay_shim_strip_function(LLVMValueRef f);
/* Makes a call agree with the function it calls, convention and attributes, and
 * the function around it use the same instructions. */
void replay_shim_call_abi(LLVMValueRef call, LLVMValueRef f);
/* Removes what only a linker or a loader looks at: flags, inline assembly, the
 * special variables of LLVM. */
void replay_shim_clear_module(LLVMModuleRef m);
/* Does anything that matters use a global? */
bool replay_shim_is_used(LLVMValueRef global);
/* Removes an alias that has no uses. */
void replay_shim_erase(LLVMValueRef alias);
/* Moves all fixed-size allocas of the entry to its top; returns what follows
 * them. */
LLVMValueRef replay_shim_after_allocas(LLVMValueRef f);
/* The first place in a block where ordinary code may stand. */
LLVMValueRef replay_shim_insertion_point(LLVMBasicBlockRef block);
/* No value of f is used in another block than its own; or: as few as can be
 * are in memory. */
void replay_shim_demote(LLVMValueRef f);
void replay_shim_promote(LLVMValueRef f);
/* Loads and stores instead of atomic updates.  A replay has its memory for
 * itself; and LLVM 19 forgets the segment of an update whose result is only
 * compared (lock dec, lock bts). */
void replay_shim_lower_atomics(LLVMValueRef f);
/* Is a parameter the address of a copy on the real stack? */
bool replay_shim_is_in_memory(LLVMValueRef f, unsigned parameter);
/* The line of an instruction in its function, not in what was inlined there; 0
 * if there is none. */
unsigned replay_shim_line(LLVMValueRef instruction);

/* Where an instruction is in the source, in what was inlined, too, unless a
 * header of the system has it.  Memory: the module's.  False: it does not say.
 */
struct replay_shim_place {
	const char *function, *file;
	size_t nfunction, nfile;
	unsigned line;
};
bool replay_shim_find_place(LLVMValueRef instruction,
                            struct replay_shim_place *place);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_REPLAY_SHIM_H */
