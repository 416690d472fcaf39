/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of memory of which a part is known: somebody else writes bytes here
 * and there, and all is moved by all small distances, up and down, so that it
 * overlaps itself or does not.  What arrives decides what the program does.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIZE 600u
#define MAX 130u

static unsigned char memory[SIZE], wanted[SIZE], before[SIZE];
static unsigned seed = 12345;

static unsigned draw(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 8) % n;
}

/* The kernel writes n bytes at an offset. */
static int fill(const int fds[2], unsigned at, unsigned n)
{
	unsigned char bytes[SIZE];

	for (unsigned i = 0; i < n; i++)
		bytes[i] = (unsigned char)draw(256);
	return write(fds[1], bytes, n) == (ssize_t)n &&
	       read(fds[0], memory + at, n) == (ssize_t)n;
}

static __attribute__((noinline)) void move(unsigned to, unsigned from,
                                           unsigned n)
{
	memmove(memory + to, memory + from, n);
}

/* Every call is a tick: the replay has to make the same ones. */
static __attribute__((noinline)) unsigned mix(unsigned hash, unsigned byte)
{
	return hash * 31 + byte;
}

static __attribute__((noinline)) unsigned look(void)
{
	unsigned hash = 1;

	for (unsigned i = 0; i < SIZE; i++)
		for (unsigned bits = memory[i]; bits; bits >>= 1)
			if (bits & 1)
				hash = mix(hash, i + bits);
	return hash;
}

/* The same by bytes, of what was there before. */
static int is_right(unsigned to, unsigned from, unsigned n)
{
	memcpy(wanted, before, SIZE);
	for (unsigned i = 0; i < n; i++)
		wanted[to + i] = before[from + i];
	return !memcmp(memory, wanted, SIZE);
}

int main(void)
{
	unsigned hash = 0, wrong = 0;
	int fds[2];

	if (pipe(fds))
		return 1;
	for (unsigned turn = 0; turn < 4000; turn++) {
		unsigned n = draw(MAX), from = 200 + draw(100);
		unsigned to = from + draw(2 * MAX) - MAX;
		unsigned at = draw(SIZE - 40);

		if (!fill(fds, at, draw(40)))
			return 1;
		/* a look at it would make all of it known */
		if (turn % 3 == 0) {
			memcpy(before, memory, SIZE);
			move(to, from, n);
			wrong += !is_right(to, from, n);
		} else {
			move(to, from, n);
		}
		if (turn % 5 == 0)
			hash = hash * 17 + look();
	}
	printf("%u %u\n", hash, wrong);
	return wrong != 0;
}
