/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that share little, for bench/record.
 *
 *     crowd THREADS JOBS
 *
 * Every thread takes the number of a job under a lock, fills an array of its
 * own from it, sorts it (heapsort), and adds what it found to a table that all
 * share, under the same lock.  Printed: a hash of the table, which does not
 * depend on THREADS.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64, LENGTH = 20000, TABLE = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t next_job, njobs, table[TABLE];

static void fill(uint32_t *values, uint64_t job)
{
	uint64_t state = job * 0x9e3779b97f4a7c15 + 1;

	for (int i = 0; i < LENGTH; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		values[i] = (uint32_t)state;
	}
}

static void sink(uint32_t *values, int at, int n)
{
	uint32_t value = values[at];

	for (int child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && values[child + 1] > values[child])
			child++;
		if (values[child] <= value)
			break;
		values[at] = values[child];
	}
	values[at] = value;
}

static void sort(uint32_t *values)
{
	for (int i = LENGTH / 2; i-- > 0;)
		sink(values, i, LENGTH);
	for (int n = LENGTH; n-- > 1;) {
		uint32_t last = values[n];

		values[n] = values[0];
		values[0] = last;
		sink(values, 0, n);
	}
}

static void add(const uint32_t *values)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < TABLE; i++)
		table[i] += values[i * (LENGTH / TABLE)];
	pthread_mutex_unlock(&lock);
}

static uint64_t take(void)
{
	uint64_t job;

	pthread_mutex_lock(&lock);
	job = next_job < njobs ? next_job++ : njobs;
	pthread_mutex_unlock(&lock);
	return job;
}

static void *work(void *unused)
{
	uint32_t *values = malloc(LENGTH * sizeof(*values));

	(void)unused;
	for (uint64_t job; values && (job = take()) < njobs;) {
		fill(values, job);
		sort(values);
		add(values);
	}
	free(values);
	return NULL;
}

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[MAX_THREADS];
	uint64_t hash = 0;

	if (nthreads < 1 || nthreads > MAX_THREADS)
		return 2;
	njobs = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	for (int i = 0; i < nthreads; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TABLE; i++)
		hash = hash * 31 + table[i];
	printf("%016llx\n", (unsigned long long)hash);
	return 0;
}
