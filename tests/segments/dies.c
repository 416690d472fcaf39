/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that die in a callee: how is the first argument, see main. */
#include <search.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RETURNS, EXITS, JUMPS, FAULTS, FAULTS_FIRST, LAST_CALL, FORKS };

static jmp_buf back;
static int how;
static volatile int sum;

__attribute__((noinline)) static void leave(int i)
{
	if (i == 7 && how == EXITS)
		exit(3);
	if (i == 7 && how == JUMPS)
		longjmp(back, 1);
	if (i == 7 && how == FORKS) {
		how = RETURNS;
		if (fork() == 0)
			exit(0);
		wait(NULL);
	}
	sum += i;
}

/* Has calls, a loop, a fault between them, and a call at its end. */
__attribute__((noinline)) static void callee(int n)
{
	if (n == 5 && how == FAULTS_FIRST)
		*(volatile int *)0 = 1;
	for (int i = 0; i < n; i++) {
		if (i & 1)
			sum += i;
		leave(i);
		if (i == 9 && how == FAULTS)
			*(volatile int *)0 = 1;
	}
	if (n == 11 && how == LAST_CALL)
		how = EXITS;
	leave(n == 11 ? 7 : 0);
}

/* Is called by foreign code, so that no segment goes into it. */
static int root(const void *a, const void *b)
{
	int n = *(const int *)a;

	(void)b;
	if (n & 1)
		callee(n);
	else
		callee(n / 2);
	return sum & 3;
}

int main(int argc, char **argv)
{
	int result = 0, element = 0;
	size_t n = 1;

	how = argc > 1 ? atoi(argv[1]) : RETURNS;
	if (!setjmp(back))
		for (int i = 0; i < 20; i++)
			result += lfind(&i, &element, &n, sizeof(i), root) !=
			          NULL;
	printf("%d %d\n", result, sum);
	return 0;
}
