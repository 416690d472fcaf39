/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Never ends: for who kills it at any moment.  Threads come and go, share data
 * with and without a lock, read, allocate, wait; a timer strikes.  It says
 * "begun" when all of that is under way.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile unsigned long racy, strikes;
static unsigned long turns;

static void on_alarm(int signal)
{
	(void)signal;
	strikes += racy & 3;
}

static int compare(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* Bytes from outside, sorted: callbacks, inputs, memory. */
static unsigned long read_some(const char *path)
{
	unsigned char *bytes = malloc(2000);
	FILE *file = fopen(path, "r");
	unsigned long sum = 0;
	size_t n = 0;

	if (file && bytes) {
		n = fread(bytes, 1, 2000, file);
		qsort(bytes, n, 1, compare);
	}
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + bytes[i];
	if (file)
		fclose(file);
	free(bytes);
	return sum;
}

static void *brief(void *argument)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	racy += (unsigned long)now.tv_nsec;
	return argument;
}

static void turn(unsigned long k)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	turns++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (unsigned long i = 0; i < k % 5000; i++)
		racy += i ^ strikes;
	racy += read_some(k % 2 ? "/proc/self/stat" : "/proc/uptime");
	if (k % 10 == 0 && !pthread_create(&thread, NULL, brief, NULL))
		pthread_join(thread, NULL);
}

static void *work(void *argument)
{
	for (unsigned long k = (uintptr_t)argument;; k += 7)
		turn(k);
	return NULL;
}

int main(void)
{
	struct itimerval often = {{0, 700}, {0, 700}};
	pthread_t thread;

	signal(SIGALRM, on_alarm);
	for (uintptr_t i = 1; i <= 3; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	setitimer(ITIMER_REAL, &often, NULL);
	pthread_mutex_lock(&lock);
	while (turns < 20)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	puts("begun");
	fflush(stdout);
	work((void *)7);
	return 0;
}
