/* SPDX-License-Identifier: Apache-2.0 */
/* The same line in several threads; variables of threads. */
#include "saw.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int own = 5;
static int shared;

static void *work(void *argument)
{
	int me = *(int *)argument;

	for (int i = 0; i < 3; i++) {
		own += me;
		pthread_mutex_lock(&lock);
		shared++;
		SAW("me, i, own, own > 40, shared > 0", "%d|%d|%d|%d|1", me, i,
		    own, own > 40);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	int numbers[3] = {10, 20, 30};

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	SAW("shared, numbers[1]", "<not seen>|%d", numbers[1]);
	numbers[0] = shared;
	SAW("shared, numbers[0]", "%d|%d", shared, numbers[0]);
	return 0;
}
