/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a recording: COUNT of them one after the other, WIDE at a time;
 * some end by pthread_exit, some are cancelled, some are still at work when the
 * process ends, which `how` says how it does.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int counter;
static volatile long spun[8];
static pthread_key_t key;

static void at_end(void *value)
{
	if (value)
		pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
	int n = *(int *)arg;

	pthread_setspecific(key, arg);
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	if (n % 3 == 1)
		pthread_exit(arg);
	return NULL;
}

static void *spin(void *arg)
{
	volatile long *mine = arg;

	for (;;)
		++*mine;
	return NULL;
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void run_some(int count, int wide)
{
	static int number[1000];
	pthread_t t[64];

	for (int i = 0; i < count; i += wide) {
		for (int k = 0; k < wide; k++) {
			number[(i + k) % 1000] = i + k;
			pthread_create(&t[k], NULL, work,
			               &number[(i + k) % 1000]);
		}
		for (int k = 0; k < wide; k++)
			pthread_join(t[k], NULL);
	}
}

int main(int argc, char **argv)
{
	int count = atoi(argv[1]), wide = atoi(argv[2]);
	const char *how = argv[3];
	pthread_t t;

	(void)argc;
	pthread_key_create(&key, at_end);
	run_some(count, wide);
	printf("%d\n", counter);
	fflush(stdout);
	pthread_create(&t, NULL, wait_for_ever, NULL);
	pthread_cancel(t);
	pthread_join(t, NULL);
	if (strcmp(how, "return") == 0)
		return 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, spin, (void *)&spun[i]);
	for (int i = 0; i < 4; i++)
		while (!spun[i])
			usleep(1000);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "term") == 0)
		kill(getpid(), SIGTERM);
	_exit(4);
}
