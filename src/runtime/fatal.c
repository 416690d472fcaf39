/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only.)  Fatal signals: a last look at the stack before the
 * process dies of one.
 *
 * At the start every signal that would end the process and is not ignored gets
 * our handler; signal.c makes the program see SIG_DFL all the same.  The
 * handler finishes the file, puts SIG_DFL back and sends itself the signal
 * again with the same siginfo: blocked until the handler returns, it then
 * strikes at the very instruction it first came at, so that exit status and
 * core dump are what they would have been.
 *
 * Cost: two system calls per signal at the start.
 */
#include "runtime/fatal.h"

#include <signal.h>

#include "runtime/exe.h"
#include "runtime/finish.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"
#include "runtime/vfork.h"

#define DEPTH 10 /* frames between a signal and the call that sends it */

bool fatal_is_fatal(int sig)
{
	switch (sig) {
	case SIGKILL:
	case SIGSTOP:
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case 32: /* glibc's own */
	case 33:
		return false;
	default:
		return sig > 0 && sig <= 64;
	}
}

/* Goes from where a signal came to the frame of `function`, if it is near. */
static bool find(struct unwind *u, void (*function)(void))
{
	for (int i = 0; function && i < DEPTH; i++) {
		uintptr_t pc = u->is_async ? u->pc : u->pc - 1;

		if (unwind_function(pc) == (uintptr_t)function)
			return true;
		if (unwind_step(u, rt_self()) != UNWIND_OK)
			return false;
	}
	return false;
}

bool fatal_is_from(const struct unwind *at, void (*function)(void))
{
	struct unwind u;

	unwind_copy(&u, at);
	return find(&u, function);
}

void fatal_note_canary(const struct unwind *at)
{
	struct unwind u;

	unwind_copy(&u, at);
	if (process.is_recording || !find(&u, libc.stack_chk_fail) ||
	    unwind_step(&u, rt_self()) != UNWIND_OK)
		return;
	u.module = 0;
	unwind_step(&u, rt_self());
	if (u.module)
		out_flag(CAIRN_FILE_FRAMES_LOST, 0);
}

static void on_fatal(int sig, siginfo_t *info, void *context)
{
	const struct sys_sigaction dfl = {.handler = (uintptr_t)SIG_DFL};
	struct unwind u;

	if (process.is_recording)
		process.trace->fault(sig, info, context);
	rt_zero(&u, sizeof(u));
	unwind_from_signal(&u, context);
	if (!vfork_ends(&u)) {
		if (!rt_is_inside())
			exe_end_output(false);
		if (sig == SIGABRT)
			fatal_note_canary(&u);
		finish_process(CAIRN_HOW_SIGNAL, (uint32_t)sig, &u);
	}
	sys_sigaction(sig, &dfl, NULL);
	sys4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), sig,
	     (long)info);
}

void fatal_action(struct sys_sigaction *act)
{
	rt_zero(act, sizeof(*act));
	act->handler = (uintptr_t)on_fatal;
	act->flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
}

bool fatal_is_ours(const struct sys_sigaction *act)
{
	return act->handler == (uintptr_t)on_fatal;
}

void fatal_install(void)
{
	struct sys_sigaction ours, now;

	fatal_action(&ours);
	for (int sig = 1; sig <= 64; sig++)
		if (fatal_is_fatal(sig) &&
		    sys_sigaction(sig, NULL, &now) == 0 &&
		    now.handler == (uintptr_t)SIG_DFL)
			sys_sigaction(sig, &ours, NULL);
}
