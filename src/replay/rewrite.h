/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_REWRITE_H
#define CAIRN_REPLAY_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

struct cairn_err;

/* Changes with the code that is made: part of the names of cached objects. */
#define REWRITE_VERSION 22

/* What replay code does besides replaying. */
struct rewrite_options {
	bool saves; /* frames can be written into a checkpoint: points.h */
	bool shows_calls;  /* arguments of foreign calls are in the state */
	bool shows_steps;  /* it says which way it goes: steps.h */
	bool notes_seen;   /* which memory was seen: SHADOW_SEEN of shadow.h */
	bool shows_stores; /* those to what the state watches are told */
	/*
	 * Puts questions into a unit: calls of REPLAY_TELL, at any place.  It
	 * is called when all sites are known and nothing has been changed; it
	 * must not remove anything.  NULL: nobody asks.  `wants` says whether
	 * it would do anything in this unit; others come from the cache.
	 */
	void (*ask)(void *context, LLVMModuleRef module, uint32_t unit);
	bool (*wants)(void *context, uint32_t unit);
	void *context;
};

/*
 * Turns a module of canonical IR into replay code, as replay/state.h says.
 * `name` stands in sentences; `unit` is its number in the program.
 *
 * Fails: CAIRN_E_CORRUPT if it is not canonical, or does something that cannot
 *        be replayed; the module is then spoiled.
 */
int rewrite_module(LLVMModuleRef module, uint32_t unit, const char *name,
                   const struct rewrite_options *options,
                   struct cairn_err *err);

/* A function of a unit that makes its frames again, at some points. */
struct rewrite_again {
	uint32_t function; /* of those that the unit defines */
	const uint32_t *points;
	uint32_t n;
};

/* The same, of nothing but this function. */
int rewrite_again(LLVMModuleRef module, uint32_t unit, const char *name,
                  const struct rewrite_options *options,
                  const struct rewrite_again *again, struct cairn_err *err);

/* The line of a cell of a function, by its index, in a module as it is
 * embedded; 0 if it has none. */
uint32_t rewrite_line(LLVMModuleRef module, uint32_t function, uint32_t cell);

/*
 * What a unit defines, in the order of its table: variables, functions,
 * aliases; then functions of others that calls of kind IR_LINKED go to.  The
 * caller frees *values.
 */
uint32_t rewrite_table(LLVMModuleRef module, LLVMValueRef **values);

#endif /* CAIRN_REPLAY_REWRITE_H */
