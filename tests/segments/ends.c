/* SPDX-License-Identifier: Apache-2.0 */
/* Roots that end in tail calls, and in calls that never return. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

static NOINLINE int last(int n)
{
	sink += n;
	return n & 1 ? sink : n;
}

static NOINLINE int tailer(int n)
{
	sink++;
	if (n % 3 == 0)
		return last(n + 1);
	return sink;
}

static NOINLINE int goes_in(int n)
{
	int got = tailer(n);

	sink += got & 3;
	return got + n;
}

static NOINLINE void end(int n)
{
	printf("%d\n", sink);
	if (n > 20)
		exit(n & 1);
	sink--;
}

static NOINLINE void finish(int n)
{
	sink++;
	if (n)
		exit(0);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 30;

	for (int i = 0; i < n; i++)
		sink += goes_in(i) + tailer(i);
	end(n % 20);
	finish(argc);
	return 1;
}
