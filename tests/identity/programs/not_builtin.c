/* SPDX-License-Identifier: Apache-2.0 */
// The compiler is told not to know setjmp, sigsetjmp and vfork: they come back
// twice all the same, and what stands after them in a block runs twice.
// cc: -fno-builtin
// differs: record spawn main
// check: trace C4
// check: paths,overlap C4
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
static jmp_buf out;
static sigjmp_buf out_of_handler;
static volatile int sink;

NOINLINE static void odd(int x)
{
	sink++;
	if (x & 1)
		longjmp(out, 1);
}

NOINLINE static int plain(int x)
{
	int r = setjmp(out);

	sink += 3;
	if (r)
		return 7;
	odd(x);
	return 8;
}

NOINLINE static int in_loop(void)
{
	int s = 0;

	for (volatile int i = 0; i < 10; i++) {
		if (!setjmp(out))
			odd(i);
		else
			sink += 100;
		s++;
	}
	return s;
}

static void on_fault(int sig)
{
	sink++;
	siglongjmp(out_of_handler, sig);
}

NOINLINE static int with_fault(volatile int *p)
{
	int r = sigsetjmp(out_of_handler, 1);

	if (r)
		return -1;
	sink += *p;
	return 3;
}

static void on_signal(int sig)
{
	siglongjmp(out_of_handler, sig);
}

NOINLINE static int with_mask(int x)
{
	int r = sigsetjmp(out_of_handler, 1);

	sink += 5;
	if (r)
		return -1;
	if (x % 3 == 0)
		raise(SIGUSR1);
	return 3;
}

NOINLINE static int spawn(int status)
{
	int got = 0;
	pid_t child = vfork();

	if (child == 0)
		_exit(status);
	waitpid(child, &got, 0);
	return WEXITSTATUS(got);
}

int main(void)
{
	int s = 0;

	signal(SIGSEGV, on_fault);
	signal(SIGUSR1, on_signal);
	for (volatile int i = 0; i < 10; i++)
		s += plain(i) + with_mask(i);
	for (volatile int i = 0; i < 10; i++)
		s += with_fault(i % 3 ? &sink : (int *)16);
	s += in_loop();
	for (volatile int i = 0; i < 3; i++)
		s += spawn(i);
	printf("%d %d\n", s, sink);
	return 0;
}
