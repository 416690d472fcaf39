/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of what was just loaded or stored have no check.  They see what the
 * program itself stores, by whatever pointer, and another thread now or later;
 * who waits for that in a loop goes on.
 */
#include <pthread.h>
#include <stdio.h>

struct pair {
	int a, b;
	long c;
};

static struct pair shared, own;
static int done, turns;

/* The second load of *p need not be checked. */
__attribute__((noinline)) int again(int *p, int *q)
{
	int x = *p;

	*q = x + 1;
	return x * 1000 + *p;
}

static __attribute__((noinline)) long quiet(const struct pair *p, long *to)
{
	*to += p->a;
	return p->b - p->c;
}

/* On one way only it was seen. */
__attribute__((noinline)) long ways(struct pair *p, long *to, int i)
{
	long x = 0;

	if (i % 3)
		x = p->c;
	*to = x + i;
	x += quiet(p, to) + p->c;
	*to ^= p->a;
	return x + p->c;
}

/* A part of it, and more than it. */
__attribute__((noinline)) long parts(struct pair *p, char *to)
{
	long x = p->c;

	*to = 7;
	x += *(int *)&p->c;
	to[1] = 9;
	return x + p->a + p->c;
}

__attribute__((noinline)) int wait_for(const int *flag, int *n)
{
	while (!*flag)
		*n += 1;
	return *flag;
}

static void *other(void *unused)
{
	(void)unused;
	for (int i = 0; i < 300000; i++) {
		shared.a = i;
		shared.c += shared.b;
		shared.b = i ^ 5;
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	long sum = 0, to = 0, ignored = 0;

	for (int i = 0; i < 100; i++) {
		own.a = i;
		sum += again(&own.a, &own.b) + again(&own.a, &own.a);
		sum += ways(&own, &to, i) + ways(&own, &own.c, i);
		sum += parts(&own, (char *)&to) + parts(&own, (char *)&own.c);
	}
	printf("%ld %ld\n", sum, to);
	pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < 100000; i++) {
		ignored += again(&shared.a, &shared.b);
		ignored ^= ways(&shared, &to, i);
		ignored += parts(&shared, (char *)&shared.c);
	}
	wait_for(&done, &turns);
	pthread_join(thread, NULL);
	return ignored == 1;
}
