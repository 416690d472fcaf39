/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only.)  vfork: a child that runs on its parent's stack, in its
 * parent's memory.
 *
 * What it counts is the parent's, and that is right: its frames were entered
 * by the same code.  When it ends, by exec or _exit, its frames are gone and
 * the parent goes on in the frame that called vfork, a second time: as if the
 * child had made a longjmp.  vfork.S notes where.
 *
 * Cost: two words per vfork.
 */
#include "runtime/vfork.h"

#include "runtime/frames.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/walk.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* Layout: vfork.S. */
HIDDEN __thread struct {
	uint64_t depth;
	struct {
		uintptr_t sp, pc;
	} at[RT_VFORKS];
} vfork_state __attribute__((tls_model("initial-exec")));

bool vfork_is_child(void)
{
	return process.is_started && sys_getpid() != process.pid;
}

static bool record(const struct unwind *u, int64_t sign)
{
	struct thread *t = rt_self();
	uint64_t depth = vfork_state.depth;
	struct jump j;

	if (!vfork_is_child())
		return false;
	if (!t || process.is_off || !depth || depth > RT_VFORKS || !u)
		return true;
	if (t->stream && sign > 0)
		process.trace->jump_for_now(t, u, vfork_state.at[depth - 1].sp,
		                            vfork_state.at[depth - 1].pc);
	else if (t->stream)
		process.trace->jump_back(t, u, vfork_state.at[depth - 1].sp);
	j.sign = sign;
	jump_plan(&j, t, u, vfork_state.at[depth - 1].sp,
	          vfork_state.at[depth - 1].pc);
	for (uint64_t i = 0; i < j.n; i++)
		*j.entry[i].slot += (uint64_t)j.entry[i].n;
	if (j.is_blocked)
		sys_restore_signals(&j.mask);
	return true;
}

bool vfork_ends(const struct unwind *u)
{
	return record(u, 1);
}

void vfork_take_back(const struct unwind *u)
{
	record(u, -1);
}
