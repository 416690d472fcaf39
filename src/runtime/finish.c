/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process.
 *
 * Whoever ends it first walks its own stack; then it stops the other threads
 * with a signal whose handler walks the stack it interrupted, says so and
 * waits for the end; then nothing counts any more and the file can be sealed.
 * The signal is one of glibc's own two, SIGSETXID: a program can block all
 * others, and often does in threads.  Its handler is in place only while
 * threads are being stopped, and hands on what glibc itself sends.
 *
 * A thread that does not answer within a second (it is in the kernel, without
 * end) is counted in the header, its shards stay unsealed.
 *
 * Invariant: while `finishing` names a thread, only that thread makes shards.
 * Cost: one signal per live thread.
 */
#include "runtime/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "runtime/bindings.h"
#include "runtime/order.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/walk.h"

#define SIGNAL_PARK 33
#define PATIENCE_NS 1000000000u
#define LOOK_NS 20000000u
#define EXIT_DEPTH 16 /* frames between a destructor and exit */

static struct sys_sigaction park_before;
static uint32_t nanswers, nresumes;
static bool is_parking;

/* --- who finishes --------------------------------------------------------- */

bool finish_by_others(void)
{
	uint32_t tid = __atomic_load_n(&process.finishing, __ATOMIC_ACQUIRE);

	return tid && tid != (uint32_t)sys_gettid();
}

void finish_wait_others(void)
{
	uint32_t tid;

	while (finish_by_others()) {
		tid = __atomic_load_n(&process.finishing, __ATOMIC_ACQUIRE);
		if (tid)
			sys_futex_wait(&process.finishing, tid, 0);
	}
}

/* Makes the calling thread the one that ends the process. */
static void claim(void)
{
	uint32_t me = (uint32_t)sys_gettid(), nobody;

	for (;;) {
		nobody = 0;
		if (__atomic_compare_exchange_n(&process.finishing, &nobody, me,
		                                false, __ATOMIC_ACQ_REL,
		                                __ATOMIC_ACQUIRE) ||
		    nobody == me)
			return;
		sys_futex_wait(&process.finishing, nobody, 0);
	}
}

/* --- the other threads ---------------------------------------------------- */

static void wait_for_resume(void)
{
	uint32_t n = __atomic_load_n(&nresumes, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&is_parking, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&nresumes, __ATOMIC_ACQUIRE) == n)
		sys_futex_wait(&nresumes, n, 0);
}

static void answer(struct thread *t, uint32_t state)
{
	__atomic_store_n(&t->park, state, __ATOMIC_RELEASE);
	__atomic_fetch_add(&nanswers, 1, __ATOMIC_RELEASE);
	sys_futex_wake(&nanswers);
}

static void park_here(const void *context)
{
	struct thread *t = rt_self();
	uint32_t asked = RT_PARK_ASKED;
	struct unwind u;
	uintptr_t before;

	if (!t)
		return;
	if (!__atomic_compare_exchange_n(&t->park, &asked, RT_PARK_WALKING,
	                                 false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE)) {
		wait_for_resume();
		return;
	}
	rt_zero(&u, sizeof(u));
	unwind_from_signal(&u, context);
	before = t->walked_to;
	if (!process.is_recording)
		walk_out(t, &u);
	if (process.trace)
		process.trace->stop(t);
	answer(t, RT_PARK_DONE);
	wait_for_resume();
	if (!process.is_recording)
		walk_back(t, &u, before);
	__atomic_store_n(&t->park, RT_PARK_NONE, __ATOMIC_RELEASE);
}

static void on_park(int sig, siginfo_t *info, void *context)
{
	void (*old)(int, siginfo_t *, void *) =
	        (void (*)(int, siginfo_t *, void *))park_before.handler;

	if (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &process)
		park_here(context);
	else if (park_before.handler > (uintptr_t)SIG_IGN)
		old(sig, info, context);
}

static void set_park_handler(void)
{
	const struct sys_sigaction act = {
	        .handler = (uintptr_t)on_park,
	        .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
	        .mask = ~(uint64_t)0,
	};

	if (is_parking)
		return;
	sys_sigaction(SIGNAL_PARK, &act, &park_before);
	__atomic_store_n(&is_parking, true, __ATOMIC_RELEASE);
}

static bool ask(struct thread *t)
{
	siginfo_t info;

	rt_zero(&info, sizeof(info));
	info.si_signo = SIGNAL_PARK;
	info.si_code = SI_QUEUE;
	info.si_pid = process.pid;
	info.si_value.sival_ptr = &process;
	__atomic_store_n(&t->park, RT_PARK_ASKED, __ATOMIC_RELEASE);
	if (sys4(SYS_rt_tgsigqueueinfo, process.pid, t->tid, SIGNAL_PARK,
	         (long)&info) == 0)
		return true;
	__atomic_store_n(&t->park, RT_PARK_NONE, __ATOMIC_RELEASE);
	return false;
}

bool finish_is_zombie(int tid)
{
	char name[48] = "/proc/self/task/", text[256], digits[16];
	size_t at = rt_strlen(name), n = 0;
	long r;
	int fd;

	do
		digits[n++] = (char)('0' + tid % 10);
	while (tid /= 10);
	while (n)
		name[at++] = digits[--n];
	rt_copy(name + at, "/stat", 6);
	fd = (int)sys3(SYS_open, (long)name, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd == -ENOENT;
	r = sys3(SYS_read, fd, (long)text, sizeof(text));
	sys1(SYS_close, fd);
	/* the state follows the name, which is in parentheses */
	for (long i = r - 3; i > 0; i--)
		if (text[i] == ')')
			return text[i + 2] == 'Z' || text[i + 2] == 'X';
	return false;
}

static bool needs_answer(const struct thread *t)
{
	uint32_t park = __atomic_load_n(&t->park, __ATOMIC_ACQUIRE);

	return park == RT_PARK_ASKED || park == RT_PARK_WALKING;
}

static uint32_t count_waiting(bool look)
{
	uint32_t n = 0;

	for (struct thread *t = process.threads; t; t = t->next) {
		if (!needs_answer(t))
			continue;
		if (look && finish_is_zombie(t->tid))
			__atomic_store_n(&t->park, RT_PARK_NONE,
			                 __ATOMIC_RELEASE);
		else
			n++;
	}
	return n;
}

/* It runs on: what it counts from now on is not covered by a checksum. */
static void give_up_on(struct thread *t)
{
	uint32_t asked = RT_PARK_ASKED;

	if (!__atomic_compare_exchange_n(&t->park, &asked, RT_PARK_LATE, false,
	                                 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	out_flag(CAIRN_FILE_FRAMES_LOST, 1);
	for (struct chunk *c = process.chunks; c; c = c->next)
		if (rt_get32(c->mem + CAIRN_CHK_ID) == t->serial ||
		    order_is_part(c))
			c->is_loose = true;
}

static void wait_for_answers(void)
{
	uint64_t start = sys_now_ns(), now = start;

	while (now - start < PATIENCE_NS) {
		uint32_t n = __atomic_load_n(&nanswers, __ATOMIC_ACQUIRE);

		if (!count_waiting(now - start >= LOOK_NS))
			return;
		sys_futex_wait(&nanswers, n, LOOK_NS);
		now = sys_now_ns();
	}
	for (struct thread *t = process.threads; t; t = t->next)
		if (needs_answer(t))
			give_up_on(t);
}

static void park_others(void)
{
	struct thread *self = rt_self();
	bool any = false;

	for (struct thread *t = process.threads; t; t = t->next) {
		if (t == self || !t->tid || t->is_walked ||
		    t->park != RT_PARK_NONE)
			continue;
		set_park_handler();
		any = ask(t) || any;
	}
	if (any)
		wait_for_answers();
}

static void unpark_others(void)
{
	if (!is_parking)
		return;
	__atomic_store_n(&is_parking, false, __ATOMIC_RELEASE);
	__atomic_fetch_add(&nresumes, 1, __ATOMIC_RELEASE);
	sys_futex_wake(&nresumes);
	for (struct thread *t = process.threads; t; t = t->next)
		while (__atomic_load_n(&t->park, __ATOMIC_ACQUIRE) ==
		       RT_PARK_DONE)
			sys1(SYS_sched_yield, 0);
	sys_sigaction(SIGNAL_PARK, &park_before, NULL);
}

/* --- the end -------------------------------------------------------------- */

void finish_process(uint32_t how, uint32_t signal, const struct unwind *u)
{
	struct thread *t = rt_self();
	uint64_t mask;

	if (!process.is_started || process.is_off || rt_is_inside())
		return;
	if (t && process.is_recording)
		process.trace->stop(t);
	else if (t && u)
		walk_out(t, u);
	if (t)
		t->is_walked = t->is_walked || u;
	claim();
	/* threads that were in the slow call then are known from here on, and
	 * later ones wait */
	rt_enter(&mask);
	rt_leave(&mask);
	park_others();
	rt_enter(&mask);
	rt_harvest();
	bindings_write_all();
	out_seal(how, signal);
	out_add(how);
	if (t)
		rt_reset_deltas(t);
	rt_leave(&mask);
}

/* Is this frame called by exit, however indirectly? */
static bool is_in_exit(const struct unwind *from, struct thread *t)
{
	struct unwind u;

	unwind_copy(&u, from);
	for (int i = 0; i < EXIT_DEPTH; i++) {
		if (unwind_function(u.pc - 1) == (uintptr_t)exit)
			return true;
		if (unwind_step(&u, t) != UNWIND_OK)
			return false;
	}
	return false;
}

void finish_core(uintptr_t to)
{
	struct thread *t = rt_self();
	struct unwind u;
	uint64_t mask;

	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	/* beyond the destructor, which returns */
	if (walk_start(&u, t, to) && unwind_step(&u, t) == UNWIND_OK &&
	    is_in_exit(&u, t)) {
		finish_process(CAIRN_HOW_EXIT, 0, &u);
		return;
	}
	rt_enter(&mask);
	rt_harvest();
	bindings_write_all();
	out_seal(CAIRN_HOW_UNLOAD, 0);
	rt_leave(&mask);
}

void finish_take_back(const struct unwind *u, uintptr_t walked_to)
{
	struct thread *t = rt_self();
	uint64_t mask;

	if (!process.is_started || process.is_off)
		return;
	rt_enter(&mask);
	if (process.is_sealed)
		out_unseal();
	if (process.trace && process.trace->taken_back)
		process.trace->taken_back();
	if (t)
		rt_restore_deltas(t);
	rt_leave(&mask);
	if (t && u && !process.is_recording)
		walk_back(t, u, walked_to);
	if (t && u)
		t->is_walked = false;
	unpark_others();
	__atomic_store_n(&process.finishing, 0, __ATOMIC_RELEASE);
	sys_futex_wake(&process.finishing);
}

bool finish_was_interrupted(struct thread *t, uintptr_t to)
{
	enum unwind_result r = UNWIND_OK;
	struct unwind u;

	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	if (!walk_start(&u, t, to))
		return true;
	while (r == UNWIND_OK && !u.is_async)
		r = unwind_step(&u, t);
	return r != UNWIND_END;
}

void finish_inherited(struct thread *t, uintptr_t to)
{
	struct unwind u;

	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	if (walk_start(&u, t, to))
		walk_in(t, &u);
	else
		out_flag(CAIRN_FILE_FRAMES_LOST, 1);
}
