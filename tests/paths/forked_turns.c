/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame that goes on in the child of a fork, on its first path, where others
 * have taken that path from their beginning already.  Nobody knows there what
 * the frame did before.  run.py knows what is to be counted.
 */
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int forks;

static void hook(void);

static NOINLINE unsigned turns(unsigned n)
{
	unsigned sum = 0;

	hook();
	for (unsigned i = 0; i < n; i++) {
		__asm__ volatile("" : "+r"(sum));
		sum += i;
	}
	return sum;
}

static NOINLINE void hook(void)
{
	pid_t child;

	if (!forks)
		return;
	forks = 0;
	child = fork();
	if (child > 0) {
		waitpid(child, NULL, 0);
	} else {
		turns(9);
		turns(0);
	}
}

int main(void)
{
	turns(9);
	forks = 1;
	turns(0);
	return 0;
}
