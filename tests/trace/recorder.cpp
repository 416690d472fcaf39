/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a flight recorder has to follow for long: recursion, call-backs from the
 * C library, throws, longjmps, threads, a signal handler.
 *
 *     recorder TURNS HOW [WORD...]
 *
 * HOW it ends: return, abort, segv (deep in nested calls, in the middle of a
 * path), kill (the same), forever.  WORDs: threads, ticks (signals).
 */
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <sys/time.h>
#include <unistd.h>

struct state {
	uint32_t seed;
	uint64_t sum;
	jmp_buf back;
};

static volatile sig_atomic_t nticks;

static uint32_t draw(state *s)
{
	s->seed = s->seed * 1103515245u + 12345u;
	return s->seed >> 16;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static void sort_some(state *s)
{
	uint32_t some[24];

	for (uint32_t &x : some)
		x = draw(s) % 100;
	qsort(some, 24, sizeof(some[0]), by_value);
	s->sum += some[7];
}

__attribute__((noinline)) static uint32_t recurse(state *s, uint32_t n)
{
	if (n < 2)
		return n;
	if (draw(s) & 1)
		return recurse(s, n - 1) + 1;
	return recurse(s, n - 2) + recurse(s, n - 1);
}

struct guard {
	state *s;
	~guard()
	{
		if (draw(s) & 1)
			s->sum++;
	}
};

__attribute__((noinline)) static uint32_t may_throw(state *s, uint32_t n)
{
	guard g = {s};

	if (n == 0)
		throw std::runtime_error("bottom");
	return (draw(s) % 5 ? may_throw(s, n - 1) : n) + 1;
}

__attribute__((noinline)) static void catch_it(state *s)
{
	try {
		s->sum += may_throw(s, draw(s) % 12);
	} catch (const std::runtime_error &) {
		s->sum ^= 5;
	}
}

__attribute__((noinline)) static void leap(state *s, uint32_t n)
{
	if (n == 0)
		longjmp(s->back, 1);
	leap(s, n - 1);
	s->sum++;
}

__attribute__((noinline)) static void leap_back(state *s)
{
	if (setjmp(s->back) == 0)
		leap(s, draw(s) % 8);
	else
		s->sum += 3;
}

/* A long way without calls. */
__attribute__((noinline)) static void wander(state *s, uint32_t n)
{
	uint32_t x = s->seed;

	for (uint32_t i = 0; i < n; i++) {
		x = x * 1103515245u + 12345u;
		switch (x >> 28) {
		case 0:
			s->sum += 1;
			break;
		case 3:
			s->sum ^= 7;
			break;
		case 5:
			s->sum += i;
			break;
		case 9:
			s->sum -= 2;
			break;
		default:
			if (x & 0x100000)
				s->sum *= 3;
		}
	}
	s->seed = x;
}

static void turn(state *s, uint64_t i)
{
	sort_some(s);
	s->sum += recurse(s, 4 + i % 5);
	catch_it(s);
	leap_back(s);
	wander(s, 20 + (uint32_t)(i % 64));
}

__attribute__((noinline)) static void fall(state *s, uint32_t n, bool kills)
{
	volatile int *nowhere = nullptr;

	if (n > 0) {
		fall(s, n - 1, kills);
		s->sum++;
		return;
	}
	for (uint32_t i = 0; i < 1000; i++) {
		if (draw(s) % 3 == 0)
			s->sum++;
		if (i > 500 && draw(s) % 8 == 0) {
			if (kills)
				kill(getpid(), SIGKILL);
			*nowhere = 1;
		}
	}
}

static void tick(int)
{
	for (int i = 0; i < 5; i++)
		if (nticks % 3 == i)
			nticks = nticks + 2;
	nticks = nticks + 1;
}

static void *work(void *turns)
{
	state s = {(uint32_t)(uintptr_t)turns, 0, {}};

	for (uint64_t i = 0; i < (uintptr_t)turns; i++)
		turn(&s, i);
	return (void *)(uintptr_t)s.sum;
}

static bool has_word(int argc, char **argv, const char *word)
{
	for (int i = 3; i < argc; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	state s = {1, 0, {}};
	uint64_t turns = strtoull(argv[1], nullptr, 10);
	const struct itimerval often = {{0, 300}, {0, 300}};
	const char *how = argv[2];
	pthread_t threads[3];
	bool forever = !strcmp(how, "forever");

	if (has_word(argc, argv, "ticks")) {
		signal(SIGALRM, tick);
		setitimer(ITIMER_REAL, &often, nullptr);
	}
	puts("ready");
	fflush(stdout);
	if (has_word(argc, argv, "threads"))
		for (uintptr_t i = 0; i < 3; i++)
			pthread_create(&threads[i], nullptr, work,
			               (void *)(turns + i));
	for (uint64_t i = 0; forever || i < turns; i++)
		turn(&s, i);
	if (!strcmp(how, "segv") || !strcmp(how, "kill"))
		fall(&s, 40, !strcmp(how, "kill"));
	if (!strcmp(how, "abort"))
		abort();
	if (has_word(argc, argv, "threads"))
		for (pthread_t t : threads)
			pthread_join(t, nullptr);
	return s.sum == 1;
}
