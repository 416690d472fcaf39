/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_DEBUG_H
#define CAIRN_REPLAY_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spot;
struct type;

/* A value of the replayed program that a place hands over, in words from `word`
 * on. */
struct debug_operand {
	uint32_t word, nbytes;
	bool is_own; /* it is an address in our memory, not the program's */
};

/*
 * Where some bits of a variable are.  `ops` are operations of DWARF on a stack
 * (DW_OP_LLVM_arg pushes an operand); what is on top at the end is the address
 * of the bits, or the value that has them.  Bits `skip` from there on are
 * meant.
 */
struct debug_piece {
	uint64_t bit, nbits, skip;
	bool is_memory;
	const uint64_t *ops;
	size_t nops;
	const struct debug_operand *operands;
	size_t noperands;
};

struct debug_variable {
	const char *name; /* for globals, qualified: a::b */
	const struct type *type;
	uint32_t line;    /* of its declaration */
	uint32_t rival;   /* line of another of the name, if nobody knows which
	                     of them is meant; 0: this is */
	const char *file; /* of a global */
	uint32_t arg;     /* from 1 on; 0: it is no parameter */
	bool is_artificial;
	/* does the line assign it? */
	bool is_assigned;
	/* a variable with an address of its own, if `unit` is not NONE: place
	 * in the unit's table */
	uint32_t unit, index;
	const char *symbol; /* of a global: its name for the linker */
	bool is_thread_local;
	uint32_t home;  /* the unit that this is from */
	bool is_static; /* other units cannot name it */
	const struct debug_piece *pieces;
	size_t npieces; /* 0: it is optimized out */
};

#define DEBUG_NONE UINT32_MAX

/*
 * Where a line begins to be executed, or was executed.  Words: word 0 is 0 if
 * control did not come from outside of the line (or from it, at its end) after
 * all.
 */
struct debug_place {
	bool is_end;
	uint32_t group; /* places that are the same line of the same function,
	                   inlined at the same place */
	const char *function; /* qualified */
	const char *scope;    /* what its name is qualified with */
	const char *file;
	/* Innermost scope first; no two have the same name. */
	const struct debug_variable *variables;
	size_t nvariables;
	/* symbols of what the line writes to */
	const char *const *written;
	size_t nwritten;
	uint32_t nwords;
};

/* The debug information of a unit. */
struct debug;

/* NULL if the bitcode is damaged.  `unit`: its number. */
struct debug *debug_open(const unsigned char *bitcode, size_t n, uint32_t unit);
void debug_close(struct debug *d);

/* Was it compiled with -g? */
bool debug_is_there(const struct debug *d);

/* The places of a line, until the next call. */
const struct debug_place *debug_places(struct debug *d, const struct spot *s,
                                       size_t *n);

/* Lines with code in the same file that are next to one; 0: none.  Returns
 * whether the file has any. */
bool debug_near(struct debug *d, const struct spot *s, uint32_t *below,
                uint32_t *above);

/* Variables with an address that stand in no function. */
const struct debug_variable *debug_globals(struct debug *d, size_t *n);

/* The type that a name is in a scope a::b.  tag: "struct", "union", "enum", or
 * "" for any name; NULL if there is none, or if who knows which is meant. */
const struct type *debug_type(struct debug *d, const char *tag,
                              const char *name, const char *scope);
/* The record of this name, as our types have names, if the unit has all of it;
 * NULL: it has not. */
const struct type *debug_record(struct debug *d, const char *name);
/* Looks for what is missing in a type, and in all that is a part of it. */
void debug_complete(const struct type *t,
                    const struct type *(*find)(void *context, const char *name),
                    void *context);
/* The same for a constant of an enum: how near it is to the scope, 0 if there
 * is none; the length of the scope that it is in and 2, or 1 if its name only
 * ends so. */
size_t debug_constant(struct debug *d, const char *name, const char *scope,
                      const struct type **type, int64_t *value);

/*
 * Puts code into a module that is the unit's.  At place i, if it is wanted, the
 * words of those variables that are wanted are stored from `words` on, and
 * REPLAY_TELL is called with first + i.
 */
struct debug_request {
	const struct spot *spot; /* NULL: there are no places */
	uint64_t *words;
	uint64_t first;
	bool (*wants_place)(void *context, size_t place);
	bool (*wants)(void *context, size_t place, size_t variable);
	/* Where a thread-local variable is, goes to words[1] whenever code
	 * finds out; told with this number.  0: nobody wants to know.
	 * is_static: as of a variable. */
	uint64_t (*local)(void *context, const char *name, bool is_static);
	void *context;
};

void debug_ask(LLVMModuleRef m, const struct debug_request *r);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_REPLAY_DEBUG_H */
