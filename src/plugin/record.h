/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_RECORD_H
#define CAIRN_PLUGIN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "abi/record.h"
#include "ir/sites.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bytes;
struct function;
struct mode;

/* For the writer of sections: the IR, the unit's id, what it defines. */
#define RECORD_UNIT "cairn.unit"

/* Before all else: what has other ways out than the rest of us knows, asm goto
 * and __builtin_setjmp, becomes calls: canonical.cpp. */
void canonical_begin(LLVMModuleRef module);
/* Before the optimizer: arguments that are structures in memory become
 * variables whose assignments debug records follow, arguments.cpp.  Returns
 * whether there were any. */
bool record_copy_arguments(LLVMModuleRef module);
/* Before anything else: what catch, while and switch declare in their heads
 * gets a lexical block, heads.cpp.  Returns whether there was any. */
bool record_give_blocks(LLVMModuleRef module);
/* Makes a module canonical: canonical.cpp. */
void canonical_module(LLVMModuleRef module, bool is_executable);
/* Why that cannot be done with f, or NULL. */
const char *canonical_why_not(LLVMValueRef f);
/* Finds loads of kind IR_SEEN in a canonical module: seen.cpp. */
void record_find_seen(LLVMModuleRef module);
/* Lets atomic stores have cells (CAIRN_IR_TURN). */
void record_number_stores(LLVMModuleRef module);
/* Finds calls after which the tick has to go on (CAIRN_IR_AFTER): returns.cpp.
 * Requires: both of the above are done. */
void record_find_returns(LLVMModuleRef module);
/* Notes that f has no marks. */
void canonical_leave_out(LLVMValueRef f);

/* A unit of translation as it is embedded. */
struct record_unit {
	uint8_t id[CAIRN_UNIT_ID];
	unsigned char *blob;
	size_t nblob;
	/* what it defines: variables, functions, aliases */
	LLVMValueRef *globals;
	size_t nglobals, globals_cap;
	size_t functions, aliases; /* index of the first */
};

void record_unit_init(struct record_unit *u, LLVMModuleRef module);
void record_unit_leave(struct record_unit *u, LLVMModuleRef module);
void record_unit_release(struct record_unit *u);

/* Marks a function; returns the one that others call. */
LLVMValueRef record_mark(struct function *fn, const struct ir_function *ir,
                         const struct mode *mode);
/* What the map says of it. */
void describe_recorded(const struct record_unit *u, uint32_t index,
                       struct bytes *b);

/* --- record_entries.cpp --------------------------------------------------- */

enum record_entries {
	RECORD_KNOWN, /* only known calls reach it */
	RECORD_ONE,   /* others do, but it cannot have a second entry */
	RECORD_TWO,
};

/* Gives a function a second entry, for all but known calls, without a body as
 * yet, if it needs one and can have it. */
enum record_entries record_split(LLVMValueRef f, LLVMValueRef *entry);
/*
 * Makes two calls of one whose callee may be 0, which is then not made: the
 * other is made instead, and its callee is to be set.  After both of them there
 * is `rest`, with what has been called as a result; not after tail calls, each
 * of which returns, and not if the call does not come back.
 */
struct record_fork {
	LLVMValueRef other;
	LLVMValueRef rest, result; /* or NULL */
};
void record_fork(LLVMBuilderRef builder, LLVMValueRef call,
                 struct record_fork *fork);
/* Calls the body with the arguments of the entry, as the last thing that it
 * does if is_last, and returns what it returns.  Returns the `ret`. */
LLVMValueRef record_hand_on(LLVMBuilderRef builder, LLVMValueRef entry,
                            LLVMValueRef body, bool is_last);
/* If the body may throw: makes the entry's ordinary call of it one whose
 * exceptions come by here, and returns the `resume` that lets them go on. */
LLVMValueRef record_catch(LLVMValueRef body, LLVMValueRef entry);
/* The same of a function that has one entry: afterwards exceptions leave it by
 * a `resume` alone. */
void record_catch_here(LLVMValueRef f);
/* Makes plain loads and stores of an atomic instruction on a shadow: no other
 * context has it, and the code generator would make a call of one that the
 * processor does not have, which knows nothing of segments. */
void record_lower_atomic(LLVMValueRef atomic, unsigned alignment);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_PLUGIN_RECORD_H */
