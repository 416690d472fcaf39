/* SPDX-License-Identifier: Apache-2.0 */
/* fork in nested calls, in a thread, in a handler, in the child of a fork, and
 * out of a fork by longjmp; the child goes on up the stack. */
#include "battery.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_child;
static jmp_buf out;

static NOINLINE int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i & n ? battery_int(i) : 1;
	return sum;
}

static NOINLINE void split(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		is_child++;
		work(17);
		return;
	}
	work(5);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		abort();
}

static NOINLINE int nest(int n)
{
	if (n == 0) {
		split();
		return work(9);
	}
	return nest(n - 1) + work(n);
}

static void handler(int sig)
{
	split();
	work(sig);
}

static NOINLINE void jump(int n)
{
	if (n)
		jump(n - 1);
	else
		split();
	work(n);
	if (n == 2)
		longjmp(out, 1);
}

static void *thread(void *arg)
{
	nest(4);
	work(33);
	if (is_child)
		exit(0);
	return arg;
}

int main(void)
{
	pthread_t t;

	nest(3);
	if (is_child == 1) {
		nest(2);
		return work(3) < 0;
	}
	signal(SIGUSR1, handler);
	work(7);
	raise(SIGUSR1);
	if (is_child)
		return work(4) < 0;
	if (!setjmp(out))
		jump(6);
	if (is_child)
		_exit(work(6) < 0);
	pthread_create(&t, NULL, thread, NULL);
	work(1000);
	pthread_join(t, NULL);
	return work(2) < 0;
}
