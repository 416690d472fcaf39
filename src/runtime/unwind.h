/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_UNWIND_H
#define CAIRN_RUNTIME_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/rt.h"
#include "runtime/sys.h"

/* One frame: its registers, by DWARF number.  Layout: capture.S. */
struct unwind {
	uint64_t reg[16];
	uint64_t pc;
	uint64_t cfa;    /* of the frame that unwind_step just left */
	bool is_async;   /* pc is where it was, not a return address */
	uint16_t module; /* of the frame just left, 0: not instrumented */
	uint32_t nswitches;
	uint64_t path; /* 1 + path register of the frame just left, 0: none */
};

enum unwind_result {
	UNWIND_LOST = -1, /* no description of this code, or a broken stack */
	UNWIND_END = 0,   /* the frame was the outermost */
	UNWIND_OK = 1,
};

#define UNWIND_RBX 3
#define UNWIND_RBP 6
#define UNWIND_RSP 7

/* Callee-saved registers, in the order of struct unwind_rule.saved: %rbx, %rbp,
 * %r12 to %r15. */
#define UNWIND_NSAVED 6

static inline unsigned unwind_saved_index(unsigned reg)
{
	return reg >= 12 ? reg - 10 : reg == UNWIND_RBP;
}

static inline void unwind_copy(struct unwind *to, const struct unwind *from)
{
	_Static_assert(sizeof(*to) % 8 == 0, "words");
	rt_copy_words(to, from, sizeof(*to));
}

/* The caller's frame, as it is when the call returns. */
void unwind_capture(struct unwind *u);

/* A frame in a call that returns to pc, with these callee-saved registers and
 * stack pointer then.  Requires: the rest of *u is 0. */
void unwind_from_call(struct unwind *u, const uint64_t *saved, uintptr_t sp,
                      uintptr_t pc);

/* The frame that a signal interrupted; `context` is a ucontext_t. */
void unwind_from_signal(struct unwind *u, const void *context);

/*
 * Goes from a frame to its caller: sets cfa, module and path of the frame it
 * leaves and the rest to the caller's.  On UNWIND_END only those are set.
 * Threads: t is the calling thread, NULL allowed (slower).
 */
enum unwind_result unwind_step(struct unwind *u, struct thread *t);

/*
 * What a thread remembers under a key: in one of RT_RULE_WAYS places from here
 * on.  Key of a frame: its pc shifted left by one, plus 1 if it is async.
 */
static inline struct unwind_rule *unwind_home(struct thread *t, uint64_t key)
{
	_Static_assert(RT_RULES == 1 << (64 - 54), "so many high bits");
	return &t->rules[(key * 0x9e3779b97f4a7c15u) >> 54];
}

/*
 * The rule of this key, NULL if it is not there.  A handler may put another one
 * in its place: read t->nrules_kept before this and after the last use.
 */
static inline const struct unwind_rule *
unwind_known(struct thread *t, uint64_t key, uint32_t generation)
{
	const struct unwind_rule *rule = unwind_home(t, key);

	for (unsigned i = 0; i < RT_RULE_WAYS; i++, rule++)
		if (rule->key == key)
			return rule->generation == generation ? rule : NULL;
	return NULL;
}

/*
 * Keeps a rule, its key and generation included.  A handler that interrupts
 * this does not keep its own; one that never returns leaves the rules as they
 * are for good.
 */
void unwind_keep(struct thread *t, const struct unwind_rule *rule);

/*
 * Notes in a rule with a path register where frames with this one are counted
 * (`path` is not 0).  `rule` is from unwind_known, *kept the number read before
 * that, which is the new one afterwards.  Does nothing if the rule may be
 * another one by now.
 */
void unwind_set_slot(struct thread *t, const struct unwind_rule *rule,
                     uint64_t path, uint64_t *slot, uint32_t *kept);

static inline uint32_t unwind_nkept(const struct thread *t)
{
	uint32_t n = __atomic_load_n(&t->nrules_kept, __ATOMIC_RELAXED);

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return n;
}

/* First address of the function that contains pc, 0 if unknown. */
uintptr_t unwind_function(uintptr_t pc);

#endif /* CAIRN_RUNTIME_UNWIND_H */
