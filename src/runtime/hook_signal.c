/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only.)  Signal dispositions as the program sees them.
 *
 * Our handler stands for SIG_DFL: whoever asks is told SIG_DFL, whoever sets
 * SIG_DFL gets ours.  Ignored signals and handlers of the program's own are
 * none of our business, but for two kinds of them, behind which a handler of
 * ours calls the program's.  With SA_RESETHAND the kernel would put the real
 * SIG_DFL in place: we put ours.  And when a handler of SIGABRT returns to
 * abort, the process ends without another word: we look first.
 *
 * In two kinds of programs we are behind all handlers.  In one that is recorded
 * they are contexts of their own.  In one that counts paths a caller leaves
 * words for its callee, and these for their callers: a handler begins with
 * words that are nobody's, and whom it has interrupted finds his own again.
 * (So it is where the executable has paths, or a library that was there when
 * the handler was set.)
 *
 * Cost: one system call, as without us.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "runtime/exe.h"
#include "runtime/fatal.h"
#include "runtime/finish.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"
#include "runtime/vfork.h"

/* weak: a program may have its own */
#define SHOWN __attribute__((visibility("default"), weak))

const char hook_signal_member = 1;
#define NSIG_ 65

SHOWN int sigaction(int sig, const struct sigaction *act,
                    struct sigaction *old);

/* What the program asked for where the kernel has something else. */
static struct {
	struct sys_sigaction handler; /* behind on_behalf */
	struct sys_sigaction dfl;     /* mask and flags given with SIG_DFL */
} given[NSIG_];

static uint64_t interrupts; /* siginterrupt, by bit */

/* The program's handler; calls that it makes are none of those around it. */
static void handle(uintptr_t address, int sig, siginfo_t *info, void *context)
{
	struct rt_thread *t = &__cairn_thread;
	uint64_t calls[RT_CALL_WORDS], chain[RT_CHAIN_WORDS];

	rt_copy(calls, t->calls, sizeof(calls));
	rt_copy(chain, t->chain, sizeof(chain));
	rt_zero(t->calls, sizeof(calls));
	rt_zero(t->chain, sizeof(chain));
	((void (*)(int, siginfo_t *, void *))address)(sig, info, context);
	rt_copy(t->calls, calls, sizeof(calls));
	rt_copy(t->chain, chain, sizeof(chain));
}

static void on_behalf(int sig, siginfo_t *info, void *context)
{
	uintptr_t address =
	        __atomic_load_n(&given[sig].handler.handler, __ATOMIC_ACQUIRE);
	struct sys_sigaction ours;
	struct unwind u;

	if (given[sig].handler.flags & SA_RESETHAND && fatal_is_fatal(sig)) {
		fatal_action(&ours);
		sys_sigaction(sig, &ours, NULL);
	}
	if (process.is_recording)
		process.trace->handle(address, sig, info, context);
	else
		handle(address, sig, info, context);
	if (sig != SIGABRT)
		return;
	rt_zero(&u, sizeof(u));
	unwind_from_signal(&u, context);
	if (fatal_is_from(&u, libc.abort) && !vfork_ends(&u)) {
		fatal_note_canary(&u);
		finish_process(CAIRN_HOW_SIGNAL, SIGABRT, &u);
	}
}

/* What the kernel has is *k; what does the program know? */
static void show(int sig, struct sys_sigaction *k)
{
	if (fatal_is_ours(k))
		*k = given[sig].dfl;
	else if (k->handler == (uintptr_t)on_behalf)
		*k = given[sig].handler;
}

static bool is_behind_all(void)
{
	return *cairn_module.is_recording || process.has_registers ||
	       cairn_module.regs != cairn_module.regs_end;
}

/* The program wants *act; what shall the kernel have? */
static void translate(int sig, const struct sys_sigaction *act,
                      struct sys_sigaction *k)
{
	*k = *act;
	if (act->handler > (uintptr_t)SIG_IGN) {
		process.has_handlers = true;
		if (is_behind_all()) {
			given[sig].handler = *act;
			k->handler = (uintptr_t)on_behalf;
			k->flags |= SA_SIGINFO;
		}
	}
	if (!fatal_is_fatal(sig))
		return;
	if (act->handler == (uintptr_t)SIG_DFL) {
		given[sig].dfl = *act;
		fatal_action(k);
	} else if (act->handler != (uintptr_t)SIG_IGN &&
	           (act->flags & SA_RESETHAND || sig == SIGABRT)) {
		given[sig].handler = *act;
		k->handler = (uintptr_t)on_behalf;
		k->flags = (act->flags & ~(uint64_t)SA_RESETHAND) | SA_SIGINFO;
	}
}

static int change(int sig, const struct sys_sigaction *act,
                  struct sys_sigaction *old)
{
	struct sys_sigaction k;
	long r;

	if (sig <= 0 || sig >= NSIG_ || sig == 32 || sig == 33)
		return (int)cairn_set_errno(EINVAL);
	if (act)
		translate(sig, act, &k);
	r = sys_sigaction(sig, act ? &k : NULL, old);
	if (r < 0)
		return (int)cairn_set_errno((int)-r);
	if (old)
		show(sig, old);
	return 0;
}

int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sys_sigaction a, o;

	if (act) {
		a = (struct sys_sigaction){
		        .handler = (uintptr_t)act->sa_handler,
		        .flags = (unsigned)act->sa_flags,
		        .mask = act->sa_mask.__val[0],
		};
	}
	if (change(sig, act ? &a : NULL, old ? &o : NULL) < 0)
		return -1;
	if (old) {
		old->sa_handler = (void (*)(int))o.handler;
		rt_zero(&old->sa_mask, sizeof(old->sa_mask));
		old->sa_mask.__val[0] = o.mask;
		old->sa_flags = (int)(o.flags & ~(uint64_t)SYS_SA_RESTORER);
		old->sa_restorer = (void (*)(void))o.restorer;
	}
	return 0;
}

static sighandler_t change_handler(int sig, sighandler_t handler,
                                   uint64_t flags, uint64_t mask)
{
	const struct sys_sigaction a = {
	        .handler = (uintptr_t)handler,
	        .flags = flags,
	        .mask = mask,
	};
	struct sys_sigaction o;

	if (handler == SIG_ERR) {
		cairn_set_errno(EINVAL);
		return SIG_ERR;
	}
	return change(sig, &a, &o) < 0 ? SIG_ERR : (sighandler_t)o.handler;
}

static uint64_t bit_of(int sig)
{
	return sig > 0 && sig < NSIG_ ? (uint64_t)1 << (sig - 1) : 0;
}

static sighandler_t bsd_style(int sig, sighandler_t handler)
{
	uint64_t flags = interrupts & bit_of(sig) ? 0 : SA_RESTART;

	return change_handler(sig, handler, flags, bit_of(sig));
}

SHOWN sighandler_t signal(int sig, sighandler_t handler)
{
	return bsd_style(sig, handler);
}

SHOWN sighandler_t bsd_signal(int sig, sighandler_t handler);
SHOWN sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	return bsd_style(sig, handler);
}

SHOWN sighandler_t ssignal(int sig, sighandler_t handler)
{
	return bsd_style(sig, handler);
}

SHOWN sighandler_t __sysv_signal(int sig, sighandler_t handler);
SHOWN sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return change_handler(sig, handler, SA_RESETHAND | SA_NODEFER, 0);
}

SHOWN sighandler_t sysv_signal(int sig, sighandler_t handler);
SHOWN sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	return change_handler(sig, handler, SA_RESETHAND | SA_NODEFER, 0);
}

SHOWN int siginterrupt(int sig, int interrupt)
{
	struct sys_sigaction a;

	if (change(sig, NULL, &a) < 0)
		return -1;
	if (interrupt) {
		__atomic_fetch_or(&interrupts, bit_of(sig), __ATOMIC_RELAXED);
		a.flags &= ~(uint64_t)SA_RESTART;
	} else {
		__atomic_fetch_and(&interrupts, ~bit_of(sig), __ATOMIC_RELAXED);
		a.flags |= SA_RESTART;
	}
	return change(sig, &a, NULL);
}

/* System V's: SIG_HOLD blocks, everything else unblocks. */
SHOWN sighandler_t sigset(int sig, sighandler_t handler);
SHOWN sighandler_t sigset(int sig, sighandler_t handler)
{
	uint64_t set = bit_of(sig), was = 0;
	bool hold = handler == (sighandler_t)2;
	sighandler_t old;

	if (!set || handler == SIG_ERR) {
		cairn_set_errno(EINVAL);
		return SIG_ERR;
	}
	if (hold) {
		struct sys_sigaction a;

		sys4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&was, 8);
		old = change(sig, NULL, &a) < 0 ? SIG_ERR
		                                : (sighandler_t)a.handler;
	} else {
		old = change_handler(sig, handler, 0, 0);
		if (old != SIG_ERR)
			sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set,
			     (long)&was, 8);
	}
	return old != SIG_ERR && was & set ? (sighandler_t)2 : old;
}
