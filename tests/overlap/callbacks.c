/* SPDX-License-Identifier: Apache-2.0 */
/* Code without marks that calls back, often just once: whom it calls is not
 * called by who called it, also if that was a tail call. */
#include "books.h"

#include <signal.h>
#include <stdlib.h>

static uint64_t state = 4711;
static volatile int sink;

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (x < y)
		return -1;
	return x > y;
}

static int nests(const void *a, const void *b)
{
	int v[2] = {3, 1};

	if (BIT(state))
		qsort(v, 2, sizeof(*v), compare);
	return compare(a, b);
}

static void handles(int signal)
{
	(void)signal;
	if (BIT(state))
		sink++;
}

__attribute__((noinline)) static int sorts(int n)
{
	int v[3] = {2, 3, 1};

	qsort(v, (size_t)n, sizeof(*v), BIT(state) ? compare : nests);
	if (v[0] > 1)
		sink++;
	return v[0];
}

__attribute__((noinline)) static void *finds(const int *key, const int *in)
{
	if (*key & 1)
		sink++;
	return bsearch(key, in, 1, sizeof(*in), compare);
}

__attribute__((noinline)) static int raises(int n)
{
	sink += n;
	if (BIT(state))
		raise(SIGUSR1);
	return n & 1 ? sink : n;
}

int main(void)
{
	int in[1] = {3};

	signal(SIGUSR1, handles);
	for (int i = 0; i < 200; i++) {
		int key = i & 7;

		sink += sorts(i & 3);
		if (finds(&key, in))
			sink++;
		raises(i);
	}
	return 0;
}
