/* SPDX-License-Identifier: Apache-2.0 */
/* Weak functions, aliases, ifuncs, hidden symbols, constructors, thread-local
 * variables, unused functions. */
#include "linkage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) int weak_default(int x)
{
	return x > 3 ? x : 3;
}

__attribute__((weak)) int weak_replaced(int x)
{
	return -x;
}

__attribute__((weak)) int not_there(int x);

static void at_end(void)
{
	printf("at end %d\n", clamp(constructed));
}

static void *thread(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		counter += clamp(i);
	*(int *)arg = counter;
	return NULL;
}

int main(void)
{
	int s = 0, n = 50;
	pthread_t t;

	atexit(at_end);
	for (int i = -5; i < 20; i++)
		s += weak_default(i) + weak_replaced(i) + with_alias(i) +
		     by_resolver(i) + hidden(i) + clamp(i * 100);
	if (not_there)
		s += not_there(s);
	pthread_create(&t, NULL, thread, &n);
	pthread_join(t, NULL);
	printf("%d %d %d %d\n", s, n, counter, constructed);
	return 0;
}
