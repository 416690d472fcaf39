/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks: which frames die, which begin in the middle.
 *
 * A process that ends takes all frames of all its threads with it; a longjmp
 * those between its caller and its target, and the target itself goes on at
 * another place than it was at.  Each becomes an entry of the frames table
 * (Ball and Larus 1994, figure 4).
 *
 * A frame dies once.  A second walk of the same thread (abort in an exit
 * handler) stops at the youngest frame of the first.  A jump is planned first
 * and counted by jump_commit, which a signal may interrupt for good: a walk
 * that comes through such a frame counts the rest itself and treats the jump
 * as done.
 *
 * A frame in the middle of a path has a path register, which is recorded with
 * it.  One that goes on behind setjmp has none: its path ended before the call.
 *
 * Invariant: every instrumented frame is recorded exactly once when it dies,
 * or the header says that frames were lost.
 * Cost: one step and one table look-up per frame.
 */
#include "runtime/walk.h"

#include "runtime/frames.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define NEAR 24u

bool walk_start(struct unwind *u, struct thread *t, uintptr_t to)
{
	for (int i = 0; i < 16; i++) {
		if (u->pc == to)
			return true;
		if (unwind_step(u, t) != UNWIND_OK)
			return false;
	}
	return false;
}

static unsigned kind_of(bool is_async, bool is_in)
{
	if (is_in)
		return is_async ? CAIRN_FRAME_IN_ASYNC : CAIRN_FRAME_IN;
	return is_async ? CAIRN_FRAME_OUT_ASYNC : CAIRN_FRAME_OUT;
}

/* --- jumps under way ------------------------------------------------------ */

/* The jump that this frame, if it is jump_commit's, keeps in %rbx. */
static struct jump *jump_of(const struct unwind *u)
{
	uintptr_t from = (uintptr_t)jump_commit_ready;

	uintptr_t end = (uintptr_t)jump_commit_end + !u->is_async;

	return u->pc >= from && u->pc < end ? (struct jump *)u->reg[UNWIND_RBX]
	                                    : NULL;
}

/* Counts what an interrupted jump_commit did not come to. */
static void complete_jump(struct jump *j, uintptr_t pc)
{
	uint64_t i = j->done;

	if (pc == (uintptr_t)jump_commit_added)
		i++;
	for (; i < j->n; i++)
		*j->entry[i].slot += (uint64_t)j->entry[i].n;
	j->done = j->n;
}

/* --- whole stacks --------------------------------------------------------- */

struct walk {
	struct thread *t;
	bool is_in;
	int64_t n;
	uintptr_t stop;     /* CFA of a frame that is recorded already */
	uintptr_t youngest; /* CFA of the first frame recorded */
};

static void walk(struct walk *w, struct unwind *u)
{
	struct jump *jump = NULL;

	for (;;) {
		uintptr_t pc = u->pc;
		bool is_async = u->is_async, is_dead;
		enum unwind_result r;

		if (!jump) {
			jump = jump_of(u);
			if (jump)
				complete_jump(jump, pc);
		}
		u->module = 0;
		r = unwind_step(u, w->t);
		if (w->stop && u->cfa == w->stop)
			return;
		is_dead = jump && u->cfa != jump->target_cfa;
		if (jump && !is_dead) {
			pc = jump->target_pc;
			is_async = false;
			u->path = 0;
			jump = NULL;
		}
		if (u->module && !is_dead) {
			const struct frames_place place = {
			        kind_of(is_async, w->is_in), u->module, pc,
			        u->path};

			frames_add(w->t, &place, w->n);
			if (!w->youngest)
				w->youngest = u->cfa;
		}
		if (r == UNWIND_LOST)
			out_flag(CAIRN_FILE_FRAMES_LOST, 1);
		if (r != UNWIND_OK)
			return;
	}
}

void walk_out(struct thread *t, const struct unwind *u)
{
	struct walk w = {.t = t, .n = 1, .stop = t->walked_to};
	struct unwind copy;

	unwind_copy(&copy, u);
	walk(&w, &copy);
	if (w.youngest)
		t->walked_to = w.youngest;
}

void walk_back(struct thread *t, const struct unwind *u, uintptr_t before)
{
	struct walk w = {.t = t, .n = -1, .stop = before};
	struct unwind copy;

	unwind_copy(&copy, u);
	walk(&w, &copy);
	t->walked_to = before;
}

void walk_in(struct thread *t, const struct unwind *u)
{
	struct walk w = {.t = t, .is_in = true, .n = 1};
	struct unwind copy;

	unwind_copy(&copy, u);
	walk(&w, &copy);
}

/* --- jumps ---------------------------------------------------------------- */

static void plan_entry(struct jump *j, struct thread *t,
                       const struct frames_place *place)
{
	uint64_t *slot = frames_slot(t, place);

	if (!slot)
		return;
	for (uint64_t i = 0; i < j->n; i++)
		if (j->entry[i].slot == slot) {
			j->entry[i].n += j->sign;
			return;
		}
	if (j->n < JUMP_ENTRIES) {
		j->entry[j->n++] = (struct jump_entry){slot, j->sign};
		return;
	}
	if (!j->is_blocked)
		sys_block_signals(&j->mask);
	j->is_blocked = true;
	*slot += (uint64_t)j->sign;
}

/*
 * The CFA of the frame that sp lies in, 0 if there is none.  Stacks may lie
 * anywhere (a handler on its own stack), so a frame is recognised by its
 * bounds.  A frame that was interrupted in its epilogue is smaller than it was
 * when it called setjmp: then the function tells.
 */
static uintptr_t find_target(struct thread *t, const struct unwind *from,
                             uintptr_t sp, uintptr_t pc)
{
	uintptr_t function = 0, candidate = 0;
	struct unwind u;
	enum unwind_result r;

	unwind_copy(&u, from);
	do {
		uintptr_t lo = u.reg[UNWIND_RSP], at = u.pc;
		bool is_async = u.is_async;

		r = unwind_step(&u, t);
		if (r == UNWIND_LOST)
			return candidate;
		if (sp >= lo && sp < u.cfa)
			return u.cfa;
		if (!is_async || candidate || sp >= u.cfa)
			continue;
		if (!function)
			function = unwind_function(pc - 1);
		if (function && unwind_function(at) == function)
			candidate = u.cfa;
	} while (r == UNWIND_OK);
	return candidate;
}

/*
 * No frame of this stack: a switch between stacks (coroutines on longjmp).
 * Where such code jumps from, its own setjmp will come back to, so that frame
 * alone changes place; if it is otherwise nobody can tell.
 */
static void plan_switch(struct jump *j, struct thread *t,
                        const struct unwind *from)
{
	struct frames_place place = {.kind = CAIRN_FRAME_OUT, .pc = from->pc};
	struct unwind u;

	unwind_copy(&u, from);
	u.module = 0;
	unwind_step(&u, t);
	place.module = u.module;
	place.reg = u.path;
	if (u.module)
		plan_entry(j, t, &place);
	out_flag(CAIRN_FILE_FRAMES_LOST, 1);
}

/*
 * The common case: the target is near, on the same stack, and no other jump is
 * under way.  Returns false, with nothing planned, if it is not so.
 */
static bool plan_near(struct jump *j, struct thread *t,
                      const struct unwind *from, uintptr_t sp)
{
	/* before it is known whether this way leads to the target */
	struct frames_place passed[NEAR];
	struct unwind u;

	unwind_copy(&u, from);
	for (unsigned n = 0; n < NEAR; n++) {
		uintptr_t lo = u.reg[UNWIND_RSP];

		passed[n].pc = u.pc;
		passed[n].kind = kind_of(u.is_async, false);
		if (jump_of(&u) || sp < lo || unwind_step(&u, t) != UNWIND_OK)
			return false;
		passed[n].module = u.module;
		passed[n].reg = u.path;
		if (sp >= u.cfa)
			continue;
		for (unsigned i = 0; i <= n; i++)
			if (passed[i].module)
				plan_entry(j, t, &passed[i]);
		j->target_cfa = u.cfa;
		return true;
	}
	return false;
}

/* Everything up to the frame of j->target_cfa. */
static void plan_frames(struct jump *j, struct thread *t,
                        const struct unwind *from)
{
	struct jump *inner = NULL;
	struct unwind u;

	unwind_copy(&u, from);
	for (;;) {
		uintptr_t pc = u.pc;
		bool is_async = u.is_async, is_dead;

		if (!inner) {
			inner = jump_of(&u);
			if (inner)
				complete_jump(inner, pc);
		}
		u.module = 0;
		if (unwind_step(&u, t) == UNWIND_LOST)
			return;
		is_dead = inner && u.cfa != inner->target_cfa;
		if (inner && !is_dead) {
			pc = inner->target_pc;
			is_async = false;
			u.path = 0;
			inner = NULL;
		}
		if (u.module && !is_dead)
			plan_entry(
			        j, t,
			        &(struct frames_place){kind_of(is_async, false),
			                               u.module, pc, u.path});
		if (u.cfa == j->target_cfa)
			return;
	}
}

void jump_plan(struct jump *j, struct thread *t, const struct unwind *u,
               uintptr_t sp, uintptr_t pc)
{
	const struct frames_place in = {CAIRN_FRAME_IN, rt_module_of(pc - 1),
	                                pc, 0};

	j->done = j->n = 0;
	j->is_blocked = false;
	j->target_pc = pc;
	if (!plan_near(j, t, u, sp)) {
		j->target_cfa = find_target(t, u, sp, pc);
		if (j->target_cfa)
			plan_frames(j, t, u);
		else
			plan_switch(j, t, u);
	}
	if (in.module)
		plan_entry(j, t, &in);
}

/* --- __builtin_longjmp ---------------------------------------------------- */

/* Its buffer: frame pointer, where to go on, stack pointer. */
#define BUILTIN_PC 1
#define BUILTIN_SP 2

static void leave_builtin(struct jump *j)
{
	if (j->is_blocked)
		sys_restore_signals(&j->mask);
	jump_builtin(j->env);
}

__attribute__((used)) static _Noreturn void
jump_as_builtin(void *env, int value, const struct jump_frame *f)
{
	const uint64_t *slot = env;
	struct jump j;

	(void)value;
	j.then = leave_builtin;
	j.env = env;
	jump_leave(&j, f, slot[BUILTIN_SP], slot[BUILTIN_PC]);
	__builtin_unreachable();
}

__attribute__((naked)) void core_jump(void *env)
{
	__asm__(JUMP_ENTER : : "i"(jump_as_builtin));
}
