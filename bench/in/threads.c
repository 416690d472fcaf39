/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that count for themselves what a profile must say about them.
 *
 *     threads THREADS NUMBERS
 *
 * The numbers 1 .. NUMBERS are dealt to the threads, which follow each down to
 * 1 (halve if even, else 3n + 1).  All threads run the same three functions
 * at the same time, so that shared counters would lose updates.  Printed:
 * calls of follow, halve and triple; they do not depend on THREADS.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64 };

struct share {
	_Alignas(128) pthread_t thread; /* no cache line of two threads */
	uint64_t first, last, stride;
	uint64_t nfollow, nhalve, ntriple;
};

__attribute__((noinline)) static uint64_t halve(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n / 2;
}

__attribute__((noinline)) static uint64_t triple(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return 3 * n + 1;
}

__attribute__((noinline)) static void follow(struct share *s, uint64_t n)
{
	s->nfollow++;
	while (n != 1) {
		if (n % 2 == 0) {
			n = halve(n);
			s->nhalve++;
		} else {
			n = triple(n);
			s->ntriple++;
		}
	}
}

static void *work(void *argument)
{
	struct share *s = argument;

	for (uint64_t n = s->first; n <= s->last; n += s->stride)
		follow(s, n);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct share shares[MAX_THREADS];
	uint64_t nfollow = 0, nhalve = 0, ntriple = 0;

	if (argc != 3)
		return 2;
	uint64_t nthreads = strtoull(argv[1], NULL, 10);
	if (nthreads < 1 || nthreads > MAX_THREADS)
		return 2;
	for (uint64_t i = 0; i < nthreads; i++) {
		shares[i].first = i + 1;
		shares[i].last = strtoull(argv[2], NULL, 10);
		shares[i].stride = nthreads;
		if (pthread_create(&shares[i].thread, NULL, work, &shares[i]))
			return 1;
	}
	for (uint64_t i = 0; i < nthreads; i++) {
		if (pthread_join(shares[i].thread, NULL))
			return 1;
		nfollow += shares[i].nfollow;
		nhalve += shares[i].nhalve;
		ntriple += shares[i].ntriple;
	}
	printf("follow %llu\nhalve %llu\ntriple %llu\n",
	       (unsigned long long)nfollow, (unsigned long long)nhalve,
	       (unsigned long long)ntriple);
	return 0;
}
