/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to get into a function: two calls in one block, recursion that returns
 * and goes on, pointers, tail calls, calls that never return, callbacks of
 * qsort, signal handlers, jumps out of all of them, threads.
 */
#include "log.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static __thread jmp_buf top;
static __thread uint32_t x;

static uint32_t leaf(uint32_t n)
{
	ENTER;
	AT;
	if (n & 1) {
		AT;
		n++;
	}
	AT;
	RETURN(n);
}

static uint32_t even(uint32_t n);

static uint32_t odd(uint32_t n)
{
	ENTER;
	AT;
	if (n == 0) {
		AT;
		RETURN(0);
	}
	AT;
	WRITE(LOG_TAIL);
	__attribute__((musttail)) return even(n - 1);
}

static uint32_t even(uint32_t n)
{
	ENTER;
	AT;
	if (n == 0) {
		AT;
		n = leaf(1);
		RETURN(n);
	}
	AT;
	WRITE(LOG_TAIL);
	__attribute__((musttail)) return odd(n - 1);
}

static int compare(const void *a, const void *b)
{
	int order;
	ENTER_ANEW;
	AT;
	if (*(const uint32_t *)a < *(const uint32_t *)b) {
		AT;
		order = -(int)(leaf(*(const uint32_t *)b) != 0);
		RETURN(order);
	}
	AT;
	order = leaf(*(const uint32_t *)a) != 0;
	RETURN(order);
}

static uint32_t sort(uint32_t n)
{
	uint32_t list[8];
	ENTER;
	AT;
	for (uint32_t i = 0; i < 8; i++) {
		AT;
		list[i] = RANDOM(x) % n;
	}
	AT;
	qsort(list, 8, sizeof(*list), compare);
	AT;
	n = list[0] + leaf(list[7]);
	RETURN(n);
}

static void handle(int sig)
{
	ENTER_ANEW;
	AT;
	leaf((uint32_t)sig);
	AT;
	RETURN_VOID;
}

static uint32_t signalled(uint32_t n)
{
	ENTER;
	AT;
	raise(SIGUSR1);
	AT;
	n = leaf(n);
	RETURN(n);
}

static void give_up(uint32_t n) __attribute__((noreturn));
static void give_up(uint32_t n)
{
	ENTER;
	AT;
	if (leaf(n) == 2) {
		AT;
		longjmp(top, 2);
	}
	AT;
	longjmp(top, 1);
}

static uint32_t never(uint32_t n)
{
	ENTER;
	AT;
	if (n % 3 == 0) {
		AT;
		give_up(n);
	}
	AT;
	RETURN(n);
}

typedef uint32_t function(uint32_t n);
static function *const ways[] = {leaf, odd, even, sort, signalled, never};

static uint32_t twice(uint32_t n)
{
	ENTER;
	AT;
	n = ways[n % 6](n % 16 + 1) + ways[(n + 1) % 6](n % 8 + 1);
	AT;
	RETURN(n);
}

/* The calls come in the middle of paths that begin at the entry and in a loop,
 * and go on behind them. */
static uint32_t tree(uint32_t depth)
{
	uint32_t sum = 0;
	ENTER;
	AT;
	if (RANDOM(x) & 1) {
		AT;
		sum = leaf(depth);
	}
	AT;
	for (uint32_t i = 3 * (depth == 0); i < 3; i++) {
		AT;
		if (RANDOM(x) & 1) {
			AT;
			sum += tree(depth - 1);
		}
		AT;
		sum += twice(RANDOM(x) % 64);
	}
	AT;
	RETURN(sum);
}

static void start(uint32_t seed)
{
	x = seed;
	for (int i = 0; i < 60; i++)
		if (!setjmp(top))
			tree((uint32_t)i % 6);
}

static void *work(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;

	log_thread(id);
	start(id * 77);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	log_open();
	signal(SIGUSR1, handle);
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	start(5);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
