/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps over frames that were seen before: the short way of walk.c.
 *
 * An interpreter may make a million longjmps a second, over the same few
 * places.  Such a frame's rule is in the thread's table, and is nearly always
 * "the CFA is %rsp, or %rbp, plus a constant": so %rsp and the pc are all there
 * is to carry from frame to frame, and the rule remembers the word that counts
 * the frame's death.  Where there is a path register the rule remembers the
 * word of the last path, too, which is most often that of this one.
 *
 * Callee-saved registers are not carried.  Who needs one (for a path register,
 * for the CFA) goes back to the last frame passed that saved it, most often the
 * last of all, or to what the first frame has in it.
 *
 * Everything else (a new pc, a signal frame, a stack page never read, a jump
 * under way, too many frames) is for jump_plan, which also leaves the rules
 * behind that make the next time short.
 *
 * A handler on the same thread may put a rule in the place of one that is being
 * read, or of one that was passed; the number of rules kept is then another
 * one, and the plan is dropped.
 * Invariant: nothing is read outside the pages known to be readable, even by a
 * rule that is a mixture of two.
 * Cost: about 35 instructions per frame, 55 with a path register.
 */
#include "runtime/frames.h"
#include "runtime/registers.h"
#include "runtime/rt.h"
#include "runtime/walk.h"

/* Makes a rule one that we can go by, if it is simple enough. */
__attribute__((noinline)) static void
complete_rule(struct thread *t, const struct unwind_rule *place, uintptr_t pc)
{
	const uint32_t kept = unwind_nkept(t);
	struct unwind_rule rule;

	rt_copy_words(&rule, place, sizeof(rule));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unwind_nkept(t) != kept || rule.key != pc << 1 ||
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

/* A way from frame to frame. */
struct way {
	struct thread *t;
	uint32_t kept;    /* as unwind_nkept must say at the end */
	uint32_t npassed; /* frames */
	uintptr_t lo, hi; /* may be read */
	uintptr_t pc, rsp;
	const uint64_t *saved; /* registers of the first frame */
	struct {
		const struct unwind_rule *rule;
		uintptr_t cfa;
	} passed[JUMP_ENTRIES];
};

/*
 * A callee-saved register of the frame that the way stands in: where the last
 * one that saved it put it.  False if nobody has read that word before.
 */
static inline bool get_saved(const struct way *w, unsigned i, uint64_t *value)
{
	for (uint32_t n = w->npassed; n-- > 0;) {
		intptr_t at = w->passed[n].rule->saved[i];
		uintptr_t from = w->passed[n].cfa + (uintptr_t)(at * 8);

		if (!at)
			continue;
		if (from < w->lo || from > w->hi - 8)
			return false;
		*value = rt_get64((const void *)from);
		return true;
	}
	*value = w->saved[i];
	return true;
}

/* 1 + the path register of the frame, 0 if it cannot be told. */
static inline uint64_t get_path(const struct way *w, uint32_t at)
{
	const uint32_t number = at & CAIRN_REG_NUMBER;
	uint64_t value = w->rsp;

	if (number != UNWIND_RSP &&
	    !get_saved(w, unwind_saved_index(number), &value))
		return 0;
	if (at & CAIRN_REG_IN_REGISTER)
		return 1 + value;
	value += registers_offset(at);
	if (value < w->rsp || value > w->hi - 8)
		return 0;
	return 1 + rt_get64((const void *)value);
}

/* The word of a path that the rule does not have, which it has next time.
 * NULL if the rule is not whole. */
__attribute__((noinline)) static uint64_t *
look_up(struct way *w, const struct unwind_rule *rule, uint64_t path)
{
	const struct frames_place place = {CAIRN_FRAME_OUT, rule->module, w->pc,
	                                   path};
	uint64_t *slot;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unwind_nkept(w->t) != w->kept)
		return NULL;
	slot = frames_slot(w->t, &place);
	if (slot)
		unwind_set_slot(w->t, rule, path, slot, &w->kept);
	return slot;
}

/* The word that counts the death of a frame with a path register, NULL if that
 * takes more than what we know. */
static inline uint64_t *slot_with(struct way *w, const struct unwind_rule *rule)
{
	uint64_t path = get_path(w, rule->reg_at);

	if (!path ||
	    (rule->cfa_reg != UNWIND_RSP && rule->cfa_reg != UNWIND_RBP))
		return NULL;
	return rule->path == path ? rule->slot : look_up(w, rule, path);
}

/* To the caller; false if that would read words that nobody has read. */
static inline bool step(struct way *w, const struct unwind_rule *rule)
{
	uint64_t cfa = w->rsp;

	if (rule->cfa_reg != UNWIND_RSP &&
	    !get_saved(w, unwind_saved_index(UNWIND_RBP), &cfa))
		return false;
	cfa += (uint64_t)(int64_t)rule->cfa_offset;
	if (cfa < w->rsp + 8 || cfa > w->hi)
		return false;
	w->passed[w->npassed].rule = rule;
	w->passed[w->npassed++].cfa = cfa;
	w->pc = rt_get64((const void *)(cfa - 8));
	w->rsp = cfa;
	return true;
}

bool jump_plan_near(struct jump *j, struct thread *t,
                    const struct jump_frame *from, uintptr_t sp, uintptr_t pc)
{
	const uint32_t generation = process.generation;
	struct way w;
	uint64_t *slot, n = 0;

	w.t = t;
	w.kept = unwind_nkept(t);
	w.npassed = 0;
	w.lo = t->stack_lo;
	w.hi = t->stack_hi;
	w.pc = from->pc;
	w.rsp = (uintptr_t)from->stack;
	w.saved = from->saved;
	if (w.rsp < w.lo || sp < w.rsp)
		return false;
	slot = frames_slot_of(t, CAIRN_FRAME_IN, pc);
	if (slot)
		j->entry[n++] = (struct jump_entry){slot, 1};
	do {
		const struct unwind_rule *rule = known(t, w.pc, generation);

		if (!rule || n == JUMP_ENTRIES)
			return false;
		slot = rule->slot;
		if (rule->reg_at)
			slot = slot_with(&w, rule);
		if (!slot)
			return false;
		j->entry[n++] = (struct jump_entry){slot, 1};
		if (!step(&w, rule))
			return false;
	} while (sp >= w.rsp);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unwind_nkept(t) != w.kept)
		return false;
	j->target_cfa = w.rsp;
	j->target_pc = pc;
	j->n = n;
	return true;
}

static void plan_slowly(struct jump *j, struct thread *t,
                        const struct jump_frame *f, uintptr_t sp, uintptr_t pc)
{
	struct unwind u;

	rt_zero(&u, sizeof(u));
	unwind_from_call(&u, f->saved, (uintptr_t)f->stack, f->pc);
	jump_plan(j, t, &u, sp, pc);
}

static void trace_jump(struct thread *t, const struct jump_frame *f,
                       uintptr_t sp, uintptr_t pc)
{
	struct unwind u;

	rt_zero(&u, sizeof(u));
	unwind_from_call(&u, f->saved, (uintptr_t)f->stack, f->pc);
	process.trace->jump(t, &u, sp, pc);
}

void jump_leave(struct jump *j, const struct jump_frame *f, uintptr_t sp,
                uintptr_t pc)
{
	struct thread *t = process.is_off ? NULL : rt_self();

	j->sign = 1;
	j->done = j->n = 0;
	j->is_blocked = false;
	j->target_cfa = 0;
	if (t && t->stream)
		trace_jump(t, f, sp, pc);
	if (process.is_recording)
		process.trace->jump(t, NULL, sp, pc);
	if (t && process.has_counters && !jump_plan_near(j, t, f, sp, pc))
		plan_slowly(j, t, f, sp, pc);
	jump_commit(j);
}
