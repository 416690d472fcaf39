/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children of fork, for walk.py: what a child counts is what it did itself.
 * Forks in nested calls, in the child of a child, out of one by longjmp, below
 * a call that does not come back, in a thread and in a handler.  The children
 * go on up the stack.  Each process says which one it is.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static const char *role = "first";
static jmp_buf out;

static NOINLINE int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i & n ? i * sum : 1;
	return sum;
}

static int is(const char *name)
{
	return role == name;
}

/* True in the child.  The parent waits. */
static NOINLINE int split(const char *child)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		role = child;
		return work(17) | 1;
	}
	work(5);
	waitpid(pid, &status, 0);
	if (status)
		abort();
	return 0;
}

static NOINLINE int nest(int n, const char *child)
{
	if (n == 0) {
		split(child);
		return work(9);
	}
	return nest(n - 1, child) + work(n);
}

static NOINLINE void jump(int n)
{
	if (n)
		jump(n - 1);
	else
		split("jumper");
	work(n);
	if (n == 2)
		longjmp(out, 1);
}

static void end(int n)
{
	dprintf(1, "%s %d\n", role, getpid());
	exit(work(n) < 0);
}

static NOINLINE _Noreturn void last(int n)
{
	work(n);
	if (split("last"))
		work(8);
	end(n);
	abort();
}

static void *thread(void *arg)
{
	nest(4, "thread");
	work(33);
	if (is("thread"))
		end(1);
	return arg;
}

static void handler(int sig)
{
	split("handler");
	work(sig);
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	setvbuf(stdout, NULL, _IONBF, 0);
	nest(3, "child");
	if (is("child")) {
		nest(2, "grandchild");
		end(3);
	}
	if (!setjmp(out))
		jump(6);
	if (is("jumper"))
		end(6);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	if (argc > 1) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
		work(12);
		end(4);
	}
	last(2);
}
