/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with marks made by hand, one way to end per name given to it.
 * run.sh compares what the runtime recorded with what must have happened.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "marks.h"

#define NOINLINE __attribute__((noinline))

COUNTER(main);
COUNTER(outer);
COUNTER(inner);
COUNTER(after);
COUNTER(worker);
COUNTER(handler);
COUNTER(child);
COUNTER(parent);
COUNTER(late);

static jmp_buf jump_env;
static sigjmp_buf sig_env;
static char **arguments;
static volatile int zero;

typedef void action(void);

NOINLINE void inner(action *a)
{
	ENTER();
	COUNT(inner);
	a();
	COUNT(after);
}

NOINLINE void outer(action *a)
{
	ENTER();
	for (int i = 0; i < 3; i++) {
		COUNT(outer);
		inner(a);
	}
}

static void nothing(void)
{
}

static int calls;

static void do_exit(void)
{
	if (++calls == 2)
		exit(3);
}

static void do__exit(void)
{
	if (++calls == 2)
		_exit(4);
}

static void do_quick_exit(void)
{
	if (++calls == 2)
		quick_exit(5);
}

static void do_abort(void)
{
	if (++calls == 2)
		abort();
}

static void do_segv(void)
{
	if (++calls == 2)
		*(volatile int *)8 = 1;
}

static void do_kill(void)
{
	if (++calls == 2)
		raise(SIGKILL);
}

static void do_term(void)
{
	if (++calls == 2)
		raise(SIGTERM);
}

static void do_longjmp(void)
{
	if (++calls == 2)
		longjmp(jump_env, 1);
}

static void do_exec(void)
{
	if (++calls == 1)
		execl("/nonexistent/program", "x", (char *)NULL);
	if (calls == 2)
		execl("/bin/true", "true", (char *)NULL);
}

/* code that runs goes on without asking for its delta again */
NOINLINE static void local(void)
{
	ENTER_LOCAL();
	COUNT(late);
}

NOINLINE void exec_local(void)
{
	ENTER();
	local();
	execl("/nonexistent/program", "x", (char *)NULL);
	local();
	COUNT(worker);
}

static void do_exec_fails(void)
{
	if (execl("/nonexistent/program", "x", (char *)NULL) != -1 ||
	    errno != ENOENT)
		abort();
}

static void do_vfork(void)
{
	int status;
	pid_t pid;

	if (++calls != 2)
		return;
	pid = vfork();
	if (pid == 0) {
		execl("/nonexistent/program", "x", (char *)NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) != 9)
		abort();
}

/* the child of vfork returns from functions that it called */
NOINLINE static void vfork_exec(void)
{
	ENTER();
	COUNT(child);
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

NOINLINE void vforker(void)
{
	ENTER();
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		vfork_exec();
		COUNT(late);
	}
	COUNT(parent);
	waitpid(pid, &status, 0);
}

NOINLINE void forker(void)
{
	ENTER();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		COUNT(child);
		return;
	}
	COUNT(parent);
	waitpid(pid, &status, 0);
}

static void do_fork(void)
{
	if (++calls == 2)
		forker();
}

NOINLINE static void on_signal(int sig)
{
	ENTER();
	COUNT(handler);
	(void)sig;
	siglongjmp(sig_env, 1);
}

static void do_siglongjmp(void)
{
	if (++calls == 2)
		raise(SIGUSR1);
}

NOINLINE void overflow(volatile char *p)
{
	ENTER();
	volatile char big[5000];

	COUNT(worker);
	big[0] = *p;
	overflow(big);
	COUNT(late);
}

static void do_overflow(void)
{
	char c = 0;

	if (++calls == 2)
		overflow(&c);
}

static void *thread_counts(void *n)
{
	for (long i = 0; i < (long)n; i++)
		outer(nothing);
	return NULL;
}

NOINLINE static void *thread_waits(void *arg)
{
	ENTER();
	sigset_t all;

	COUNT(worker);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	COUNT(late);
}

NOINLINE static void *thread_spins(void *arg)
{
	ENTER();
	COUNT(worker);
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_SEQ_CST);
	while (!zero)
		;
	COUNT(late);
	return NULL;
}

static void start(pthread_t *t, void *(*f)(void *), void *arg)
{
	if (pthread_create(t, NULL, f, arg))
		abort();
}

static void threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		start(&t[i], thread_counts, (void *)100000L);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void many_threads(void)
{
	pthread_t t;

	for (int i = 0; i < 10000; i++) {
		start(&t, thread_counts, (void *)1L);
		pthread_join(t, NULL);
	}
}

static void live_threads(void)
{
	pthread_t t;
	int n = 0;

	for (int i = 0; i < 3; i++)
		start(&t, thread_waits, &n);
	start(&t, thread_spins, &n);
	while (__atomic_load_n(&n, __ATOMIC_SEQ_CST) < 4)
		usleep(1000);
	do_exit();
	do_exit();
}

static void libraries(void)
{
	char name[64];
	void (*f)(void);
	void *h[300];
	int n = atoi(arguments[2]);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "./lib%d.so", i);
			h[i] = dlopen(name, RTLD_NOW);
			if (!h[i]) {
				fprintf(stderr, "%s\n", dlerror());
				exit(1);
			}
			*(void **)&f = dlsym(h[i], "lib_work");
			f();
			f();
		}
		for (int i = 0; i < n; i++)
			dlclose(h[i]);
	}
}

/* a library's frame is on the stack when the process ends */
static void library_exit(void)
{
	void (*f)(action *);
	void *h = dlopen("./lib0.so", RTLD_NOW);

	if (!h)
		exit(1);
	*(void **)&f = dlsym(h, "lib_exit");
	calls = 1;
	f(do_exit);
}

static int ends_late;

static void end_late(void)
{
	ends_late = 1;
	exit(1);
}

static void at_exit_late(void)
{
	ENTER();
	COUNT(late);
}

__attribute__((destructor)) static void destroyed(void)
{
	ENTER();
	COUNT(late);
	if (ends_late)
		_exit(6);
}

static void chdir_then_count(void)
{
	if (chdir("/"))
		abort();
	outer(nothing);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void jump_out(void)
{
	longjmp(jump_env, 1);
}

static void speed(void)
{
	volatile int n = 0;
	double start_time = seconds();

	if (setjmp(jump_env))
		n++;
	if (n < 1000000)
		outer(jump_out);
	fprintf(stderr, "longjmp %.0f ns\n",
	        (seconds() - start_time) * 1e9 / 1000000);
}

static void jump_sometimes(void)
{
	longjmp(jump_env, 1);
}

NOINLINE static void on_alarm(int sig)
{
	(void)sig;
	siglongjmp(sig_env, 1);
}

/* jumps that jumps interrupt: each frame dies once */
static void storm(void)
{
	struct itimerval every = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
	volatile int n = 0, hits = 0;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	if (sigsetjmp(sig_env, 1))
		hits++;
	if (setjmp(jump_env))
		n++;
	if (n < 3000000 && hits < 20000)
		outer(jump_sometimes);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void dispositions(void)
{
	struct sigaction a;

	if (sigaction(SIGTERM, NULL, &a) || a.sa_handler != SIG_DFL ||
	    a.sa_flags)
		exit(1);
	if (signal(SIGTERM, SIG_IGN) != SIG_DFL ||
	    signal(SIGTERM, SIG_DFL) != SIG_IGN ||
	    signal(SIGTERM, SIG_DFL) != SIG_DFL)
		exit(2);
	a.sa_handler = on_signal;
	a.sa_flags = (int)SA_RESETHAND;
	if (sigaction(SIGTERM, &a, NULL) || sigaction(SIGTERM, NULL, &a) ||
	    a.sa_handler != on_signal || !(a.sa_flags & (int)SA_RESETHAND))
		exit(3);
	if (!sigsetjmp(sig_env, 1))
		raise(SIGTERM);
	if (sigaction(SIGTERM, NULL, &a) || a.sa_handler != SIG_DFL)
		exit(4);
	errno = 0;
	if (sigaction(99, NULL, &a) != -1 || errno != EINVAL)
		exit(5);
}

NOINLINE static void on_abort(int sig)
{
	ENTER();
	COUNT(handler);
	(void)sig;
}

/* the handler returns, abort does not */
static void abort_handled(void)
{
	signal(SIGABRT, on_abort);
	outer(do_abort);
}

/* the first thread ends before the last one does */
NOINLINE static void *thread_is_last(void *arg)
{
	ENTER();
	(void)arg;
	COUNT(worker);
	usleep(50000);
	return NULL;
}

static void thread_exit(void)
{
	pthread_t t;

	start(&t, thread_is_last, NULL);
	pthread_exit(NULL);
}

/* an exec that fails lets the other threads run on */
static volatile int go;

NOINLINE static void *thread_goes_on(void *arg)
{
	ENTER();
	(void)arg;
	go = 1;
	while (go != 2)
		;
	COUNT(worker);
	return NULL;
}

static void exec_threads(void)
{
	pthread_t t;

	start(&t, thread_goes_on, NULL);
	while (!go)
		;
	outer(do_exec_fails);
	go = 2;
	pthread_join(t, NULL);
}

/* setuid in one thread makes glibc send all others the signal that we use */
static void *thread_sets_id(void *arg)
{
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_SEQ_CST);
	for (;;)
		if (setuid(getuid()))
			abort();
	return NULL;
}

static void setuid_threads(void)
{
	pthread_t t;
	int n = 0;

	start(&t, thread_spins, &n);
	start(&t, thread_sets_id, &n);
	start(&t, thread_sets_id, &n);
	while (__atomic_load_n(&n, __ATOMIC_SEQ_CST) < 3)
		usleep(1000);
	for (int i = 0; i < 20; i++)
		do_exec_fails();
	exit(3);
}

static void raw_fork(void)
{
	int status;
	pid_t pid = _Fork();

	if (pid == 0) {
		outer(nothing);
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

static void jumps(void)
{
	if (!setjmp(jump_env))
		outer(do_longjmp);
}

static void signals(void)
{
	static char stack[65536];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &a, NULL);
	if (!sigsetjmp(sig_env, 1))
		outer(do_siglongjmp);
}

static const struct {
	const char *name;
	action *whole, *deep;
} modes[] = {
        {"return", NULL, nothing},
        {"exit", NULL, do_exit},
        {"_exit", NULL, do__exit},
        {"quick_exit", NULL, do_quick_exit},
        {"abort", NULL, do_abort},
        {"segv", NULL, do_segv},
        {"kill", NULL, do_kill},
        {"term", NULL, do_term},
        {"overflow", NULL, do_overflow},
        {"exec", NULL, do_exec},
        {"vfork", NULL, do_vfork},
        {"fork", NULL, do_fork},
        {"exec_local", exec_local, NULL},
        {"end_late", end_late, NULL},
        {"vfork_exec", vforker, NULL},
        {"longjmp", jumps, NULL},
        {"siglongjmp", signals, NULL},
        {"threads", threads, NULL},
        {"many_threads", many_threads, NULL},
        {"live_threads", live_threads, NULL},
        {"libraries", libraries, NULL},
        {"chdir", chdir_then_count, NULL},
        {"speed", speed, NULL},
        {"dispositions", dispositions, NULL},
        {"library_exit", library_exit, NULL},
        {"storm", storm, NULL},
        {"abort_handled", abort_handled, NULL},
        {"thread_exit", thread_exit, NULL},
        {"exec_threads", exec_threads, NULL},
        {"_Fork", raw_fork, NULL},
        {"setuid_threads", setuid_threads, NULL},
};

int main(int argc, char **argv)
{
	ENTER();
	struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	COUNT(main);
	arguments = argv;
	atexit(at_exit_late);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc < 2 || strcmp(argv[1], modes[i].name))
			continue;
		if (modes[i].whole)
			modes[i].whole();
		else
			outer(modes[i].deep);
		return 0;
	}
	return 99;
}
