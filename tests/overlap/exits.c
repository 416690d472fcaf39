/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that end in a callee, some in the first path of it, below a function
 * whose last call is in tail position though its frame stays. */
#include "books.h"

#include <pthread.h>

static volatile unsigned sink;
static __thread uint64_t state;

__attribute__((noinline)) static void leave(unsigned n)
{
	if (n > 1 && BIT(state) & BIT(state))
		pthread_exit(NULL);
	sink++;
	if (n)
		leave(n - 1);
	sink++;
}

__attribute__((noinline)) static void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		leave(i & 3);
		if (BIT(state))
			sink++;
	}
}

static void *body(void *seed)
{
	state = (uint64_t)(uintptr_t)seed;
	work(9);
	return NULL;
}

int main(void)
{
	for (uintptr_t i = 0; i < 30; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, body, (void *)i);
		pthread_join(thread, NULL);
	}
	return sink == 0;
}
