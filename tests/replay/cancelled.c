/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are cancelled in the middle of something. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long turns;

static void *spin(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		turns++;
	return unused;
}

int main(void)
{
	for (int i = 0; i < 5; i++) {
		void *result;
		pthread_t t;

		turns = 0;
		pthread_create(&t, NULL, spin, NULL);
		while (turns < 100 * i)
			usleep(50);
		pthread_cancel(t);
		pthread_join(t, &result);
		printf("%d\n", result == PTHREAD_CANCELED);
	}
	return 0;
}
