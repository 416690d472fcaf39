/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps over frames that were seen before: the short way of walk.c.
 *
 * An interpreter may make a million longjmps a second, over the same few
 * places.  Such a frame's rule is in the thread's table, and is nearly always
 * "the CFA is %rsp, or %rbp, plus a constant": so these two registers and the
 * pc are all there is to carry from frame to frame, and the rule remembers the
 * word that counts the frame's death; or where the frame's path register is, if
 * that can be told from those two, and then the word is looked up.
 *
 * Everything else (a new pc, a signal frame, a stack page never read, a jump
 * under way, too many frames) is for jump_plan, which also leaves the rules
 * behind that make the next time short.
 *
 * A handler on the same thread may put a rule in the place of one that is being
 * read; the number of rules kept is then another one, and the plan is dropped.
 * Invariant: nothing is read outside the pages known to be readable, even by a
 * rule that is a mixture of two.
 * Cost: about 30 instructions per frame.
 */
#include "runtime/frames.h"
#include "runtime/registers.h"
#include "runtime/rt.h"
#include "runtime/walk.h"

#define SAVED_RBP 1 /* index in unwind_rule.saved */

/* Makes a rule one that we can go by, if it is simple enough. */
__attribute__((noinline)) static void
complete_rule(struct thread *t, const struct unwind_rule *place, uintptr_t pc)
{
	struct unwind_rule rule;

	rt_copy_words(&rule, place, sizeof(rule));
	if (rule.key != pc << 1 ||
	    (rule.cfa_reg != UNWIND_RSP && rule.cfa_reg != UNWIND_RBP) ||
	    (pc >= (uintptr_t)jump_commit_ready &&
	     pc <= (uintptr_t)jump_commit_end))
		return;
	rule.slot = frames_slot(
	        t, &(struct frames_place){CAIRN_FRAME_OUT, rule.module, pc, 0});
	if (rule.slot)
		unwind_keep(t, &rule);
}

/* The rule of a frame, NULL if there is none to go by. */
static inline const struct unwind_rule *known(struct thread *t, uintptr_t pc,
                                              uint32_t generation)
{
	const struct unwind_rule *rule = unwind_known(t, pc << 1, generation);

	if (!rule || __builtin_expect(rule->slot || rule->reg_at, 1))
		return rule;
	complete_rule(t, rule, pc);
	return NULL;
}

/*
 * The word that counts the death of a frame with a path register; NULL if its
 * rule is not whole, or takes more than what we know of the frame.
 */
__attribute__((noinline)) static uint64_t *
slot_with(struct thread *t, const struct unwind_rule *there,
          const struct near *at, uint32_t kept)
{
	struct unwind_rule rule;
	uint64_t path;
	uint32_t number;

	rt_copy_words(&rule, there, sizeof(rule));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	number = rule.reg_at & CAIRN_REG_NUMBER;
	if (unwind_nkept(t) != kept || rule.key != at->pc << 1 ||
	    (rule.cfa_reg != UNWIND_RSP && rule.cfa_reg != UNWIND_RBP) ||
	    (number != UNWIND_RSP && number != UNWIND_RBP))
		return NULL;
	path = number == UNWIND_RSP ? at->rsp : at->rbp;
	if (!(rule.reg_at & CAIRN_REG_IN_REGISTER)) {
		path += registers_offset(rule.reg_at);
		if (path < at->rsp || path > t->stack_hi - 8)
			return NULL;
		path = rt_get64((const void *)path);
	}
	return frames_slot(t,
	                   &(struct frames_place){CAIRN_FRAME_OUT, rule.module,
	                                          at->pc, 1 + path});
}

/* To the caller; false if that would read words that nobody has read. */
static inline bool step(struct near *at, const struct unwind_rule *rule,
                        uintptr_t lo, uintptr_t hi)
{
	uintptr_t cfa = rule->cfa_reg == UNWIND_RSP ? at->rsp : at->rbp;

	cfa += (uintptr_t)(intptr_t)rule->cfa_offset;
	if (cfa < at->rsp + 8 || cfa > hi)
		return false;
	if (rule->saved[SAVED_RBP]) {
		uintptr_t from =
		        cfa + (uintptr_t)((intptr_t)rule->saved[SAVED_RBP] * 8);

		if (from < lo || from > hi - 8)
			return false;
		at->rbp = rt_get64((const void *)from);
	}
	at->pc = rt_get64((const void *)(cfa - 8));
	at->rsp = cfa;
	return true;
}

bool jump_plan_near(struct jump *j, struct thread *t, struct near at,
                    uintptr_t sp, uintptr_t pc)
{
	const uint32_t generation = process.generation;
	const uint32_t kept = unwind_nkept(t);
	const uintptr_t lo = t->stack_lo, hi = t->stack_hi;
	uint64_t *slot = frames_slot_of(t, CAIRN_FRAME_IN, pc), n = 0;

	if (at.rsp < lo || sp < at.rsp)
		return false;
	if (slot)
		j->entry[n++] = (struct jump_entry){slot, 1};
	do {
		const struct unwind_rule *rule = known(t, at.pc, generation);

		if (!rule || n == JUMP_ENTRIES)
			return false;
		slot = rule->slot;
		if (__builtin_expect(rule->reg_at != 0, 0))
			slot = slot_with(t, rule, &at, kept);
		if (!slot)
			return false;
		j->entry[n++] = (struct jump_entry){slot, 1};
		if (!step(&at, rule, lo, hi))
			return false;
	} while (sp >= at.rsp);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unwind_nkept(t) != kept)
		return false;
	j->target_cfa = at.rsp;
	j->target_pc = pc;
	j->n = n;
	return true;
}

static void plan_slowly(struct jump *j, struct thread *t, uintptr_t to,
                        uintptr_t sp, uintptr_t pc)
{
	struct unwind u;

	u.nswitches = 0;
	u.is_async = false;
	unwind_capture(&u);
	if (walk_start(&u, t, to))
		jump_plan(j, t, &u, sp, pc);
}

void jump_leave(struct jump *j, const struct jump_frame *f, uintptr_t sp,
                uintptr_t pc)
{
	struct thread *t = process.is_off ? NULL : rt_self();

	j->sign = 1;
	j->done = j->n = 0;
	j->is_blocked = false;
	j->target_cfa = 0;
	if (t) {
		struct near from = {f->pc, (uintptr_t)f->stack, f->rbp};

		if (!jump_plan_near(j, t, from, sp, pc))
			plan_slowly(j, t, f->pc, sp, pc);
	}
	jump_commit(j);
}
