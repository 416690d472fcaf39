/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delta of an executable is the base of %gs, which user programs on x86-64
 * leave alone.  A new thread inherits its creator's, so a word in the thread's
 * own memory tells whether it was set for this thread.
 *
 * A member of its own in the archive, since local-exec TLS cannot be linked
 * into a shared object: only code of an executable names the word and so
 * brings it in.
 */
#include <asm/prctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "runtime/sys.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define HWCAP2_FSGSBASE 2 /* the kernel lets us use the instruction */

HIDDEN __thread int64_t __cairn_delta __attribute__((tls_model("local-exec")));

HIDDEN bool cairn_delta_set(int64_t delta);

/* Asked once, early: there is no answer any more when the first thread is gone.
 * Requires: the runtime's lock. */
static bool may_use_instruction(void)
{
	static bool was_asked, answer;
	struct sys_aux aux;

	if (!was_asked) {
		sys_read_aux(&aux);
		answer = aux.hwcap2 & HWCAP2_FSGSBASE;
		was_asked = true;
	}
	return answer;
}

/*
 * The system call takes no negative value, which a static-pie needs: it is
 * loaded above everything else.  The instruction does, but valgrind, for one,
 * does not know it.
 */
static bool set_gs(int64_t value)
{
	bool may = may_use_instruction();

	if (sys3(SYS_arch_prctl, ARCH_SET_GS, value, 0) == 0)
		return true;
	if (may)
		__asm__ volatile("wrgsbase %0" : : "r"(value));
	return may;
}

/* 0 is "none yet": %gs stays, for code that has looked already. */
bool cairn_delta_set(int64_t delta)
{
	if (delta && !set_gs(delta))
		return false;
	__cairn_delta = delta;
	return true;
}
