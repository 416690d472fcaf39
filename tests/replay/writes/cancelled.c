/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are cancelled wherever they are, mostly in an atomic; others go on
 * with that. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { TIMES = 15, STEPS = 3000 };

atomic_int shared;

static void *forever(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		shared++;
	return unused;
}

static void *some(void *unused)
{
	for (int i = 0; i < STEPS; i++)
		shared++;
	return unused;
}

int main(void)
{
	pthread_t first, second;

	for (int i = 0; i < TIMES; i++) {
		pthread_create(&first, NULL, forever, NULL);
		usleep(300 + 37 * (unsigned)i);
		pthread_create(&second, NULL, some, NULL);
		pthread_cancel(first);
		pthread_join(first, NULL);
		pthread_join(second, NULL);
	}
	return 0;
}
