/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system writes what threads have stored, too, or what two of them find;
 * and threads race.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMES = 300, RACES = 20000 };

int counted, once;
volatile int raced;
static int ends[2];

static void get(int *variable)
{
	if (read(ends[0], variable, sizeof(*variable)) != sizeof(*variable))
		exit(1);
}

static void *count(void *unused)
{
	for (int i = 0; i < TIMES; i++)
		counted++;
	get(&once);
	printf("%d\n", once);
	return unused;
}

static void *race(void *unused)
{
	for (int i = 0; i < RACES; i++)
		raced = i;
	return unused;
}

int main(void)
{
	const int values[] = {4, 10, 6};
	pthread_t thread;
	int seen = 0;

	if (pipe(ends) || write(ends[1], values, sizeof(values)) < 0)
		return 1;
	pthread_create(&thread, NULL, count, NULL);
	pthread_join(thread, NULL);
	counted = 0;
	get(&counted); /* 10, as the thread had it */
	counted++;
	printf("%d %d\n", counted, once); /* 4, as the thread found it */
	get(&once);
	printf("%d\n", once);

	pthread_create(&thread, NULL, race, NULL);
	for (int i = 0; i < RACES; i++) {
		seen += raced & 1;
		raced = RACES + i;
	}
	pthread_join(thread, NULL);
	return seen < 0;
}
