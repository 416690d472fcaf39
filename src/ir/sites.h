/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_IR_SITES_H
#define CAIRN_IR_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What an instruction of canonical IR is to a recording.  Recorder and replayer
 * ask the same code, and so have the same numbers.
 */
enum ir_kind {
	IR_PLAIN, /* follows from its operands; replay executes it as it is.
	             Also: loads and stores of what is left of allocas, which
	             nobody else can reach, and of CAIRN_RT_RECORD */
	IR_LOAD,  /* also atomic ones */
	IR_SEEN,  /* a load of what the context has just seen or stored: it is
	             made of the shadow */
	IR_STORE, /* also atomic ones, which have a cell, if the IR says so
	             (CAIRN_IR_TURN): that of older recordings does not */
	IR_RMW,
	IR_CMPXCHG,
	IR_COPY,   /* llvm.memcpy, llvm.memmove */
	IR_SET,    /* llvm.memset */
	IR_READ,   /* a call of a function of libc that only reads memory:
	              ir_read; it has two cells */
	IR_KNOWN,  /* call or invoke of a function of the unit that has marks
	              and that no other can take the place of; if it looks it
	              has the cells of IR_CALL */
	IR_LINKED, /* of a function of another file, whose body is called if
	              the linker has found one, and else the address that is
	              in the table of those: ir_linked.  It has a cell for the
	              address, then those of IR_CALL */
	IR_CALL,   /* any other call or invoke */
	IR_TWICE,  /* a call of setjmp or the like, which is foreign */
	IR_INPUT,  /* its result, if any, is an input; replay does not execute
	              it: inline assembly, unknown intrinsics */
	IR_ENV,    /* the same, and it may change how floating-point arithmetic
	              rounds */
	IR_PAD,    /* landingpad: its result is an input */
	IR_RESUME, /* goes on unwinding */
	IR_STOP,   /* ends the program: llvm.trap */
	IR_RETURN, /* of a function that calls setjmp: a handler of a signal may
	              jump into it from its last tick, while it is there */
};

struct ir_site {
	LLVMValueRef at;
	enum ir_kind kind; /* not IR_PLAIN */
	/* Of calls of the kinds KNOWN, LINKED and CALL: it is a tail call; or,
	 * if it is not, the caller looks whether its result is that of foreign
	 * code, and so an input. */
	bool is_tail, looks;
	uint32_t cell;    /* its first one; 0 if it has none */
	uint32_t ncells;  /* see ir_ncells; loads and the like have one */
	bool ticks_after; /* a call: the tick goes on when it has returned */
};

/* A function that has marks, and what is in it. */
struct ir_function {
	LLVMValueRef f;
	uint32_t ncells; /* of all, with that of the function itself, 0 */
	uint32_t nargs;
	uint32_t *args; /* the first cell of each argument */
	struct ir_site *sites;
	uint32_t nsites;
	/* Blocks at whose top (behind phis) the tick goes on: the targets of
	 * retreating edges; not the entry, where it does so in any case. */
	LLVMBasicBlockRef *heads;
	uint32_t nheads;
	uint32_t seed; /* of ir_tick */
};

/*
 * Requires: f has a body and ir_has_marks(f); it is canonical.
 * Ensures:  the result is a function of the IR alone; sites are in the order of
 *           the instructions.  Memory: until ir_function_release.
 */
void ir_function_init(struct ir_function *fn, LLVMValueRef f);
void ir_function_release(struct ir_function *fn);

/* Which one is called (enum cairn_read), or -1. */
int ir_read(LLVMValueRef call);

/* Which one of the globals of other files (CAIRN_IR_EXTERNS) a call of kind
 * IR_LINKED calls, or a function declared for such calls is; else -1. */
int ir_linked(LLVMValueRef call);
int ir_linked_function(LLVMValueRef f);

/*
 * Tail calls (CAIRN_IR_TAIL): the frame of the caller is gone when the callee
 * begins, so nothing can be done after the call.  ir_can_be_tail: is it a call
 * of kind KNOWN, LINKED or CALL, and is nothing to be done after it?
 */
bool ir_can_be_tail(LLVMValueRef call);
bool ir_is_tail(LLVMValueRef call);
/* Is it the switch that a recording has for a computed goto (CAIRN_IR_GOTO)?
 * Both have the same edges, in the same order. */
bool ir_was_goto(LLVMValueRef end);
/* Of a call of these kinds: may what it returns be the result of foreign code?
 * So it may for a known function that ends in a tail call of anything. */
bool ir_hands_on(LLVMValueRef call);

/* Is it defined here and not left out? */
bool ir_has_marks(LLVMValueRef f);

/*
 * Values are written into cells leaf by leaf: each scalar or vector in them
 * takes as many words as it needs in memory.
 */
uint32_t ir_ncells(LLVMTypeRef type, LLVMTargetDataRef layout);

/* May an instruction change how floating-point arithmetic rounds, as far as
 * the name of what it calls, its text or CAIRN_IR_ROUNDS says?  Does a
 * function, by its name? */
bool ir_changes_env(LLVMValueRef i);
bool ir_function_changes_env(LLVMValueRef f);

/* Does it end a tick before it is made? */
static inline bool ir_ticks_before(enum ir_kind kind)
{
	return kind == IR_CALL || kind == IR_TWICE || kind == IR_RESUME ||
	       kind == IR_ENV || kind == IR_RETURN;
}

/* Or behind it?  (Of IR_PAD: with the pad.) */
static inline bool ir_ticks_behind(enum ir_kind kind)
{
	return kind == IR_TWICE || kind == IR_PAD;
}

/*
 * By how much the tick goes on: not by one, but by a number that differs from
 * place to place, so that the tick is also a sum over the way that was taken,
 * and a replay that takes another way is found out by the next event.  Behind a
 * call that returns, or at a pad, it is IR_TICK_BEHIND, and elsewhere more.
 */
#define IR_TICK_BEHIND 1u

static inline uint32_t ir_tick(const struct ir_function *fn, uint32_t place)
{
	return IR_TICK_BEHIND + 1 + ((fn->seed + place) * 0x9e3779b1u >> 29);
}

static inline uint32_t ir_tick_at_entry(const struct ir_function *fn)
{
	return ir_tick(fn, 0);
}

static inline uint32_t ir_tick_at_head(const struct ir_function *fn,
                                       uint32_t head)
{
	return ir_tick(fn, 1 + head);
}

static inline uint32_t ir_tick_before(const struct ir_function *fn,
                                      const struct ir_site *s)
{
	return ir_tick(fn, 1 + fn->nheads + (uint32_t)(s - fn->sites));
}

static inline uint32_t ir_tick_after(const struct ir_function *fn,
                                     const struct ir_site *s)
{
	return ir_tick_before(fn, s) + 1;
}

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_IR_SITES_H */
