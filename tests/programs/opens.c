/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tight loops without a bound, which count by a variable of theirs
 * (src/plugin/trip.c): pointers and integers, up and down, by one and by
 * three, with one way out and with two, of all lengths around the chunk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define CHUNK 65536
#define MANY (6 * CHUNK)

static NOINLINE long length(const char *p)
{
	const char *q = p;

	while (*q)
		q++;
	return q - p;
}

static NOINLINE long sum_back(const char *p)
{
	long n = 0;

	while (*--p)
		n += *p;
	return n;
}

static NOINLINE long find_by_three(const int *p, int x)
{
	long i = 0;

	while (p[i] != x)
		i += 3;
	return i;
}

static NOINLINE unsigned hash_until(const unsigned char *p, unsigned stop)
{
	unsigned h = 1;

	for (unsigned i = 0;; i++) {
		if (p[i] == stop)
			break;
		if (h == 12345u)
			return 7;
		h = h * 31 + p[i];
	}
	return h;
}

static NOINLINE long move_to_front(unsigned char *list, unsigned char x)
{
	unsigned char *p = list, moved = *p++;
	long turns = 0;

	while (moved != x) {
		unsigned char next = *p;

		*p++ = moved;
		moved = next;
		turns++;
	}
	*list = moved;
	return turns;
}

static NOINLINE long inner(const char *p, int n)
{
	long s = 0;

	for (int k = 0; k < n; k++) {
		const char *q = p + k;

		while (*q != 'z')
			q++;
		s += q - p;
	}
	return s;
}

static long strings(char *b, int n)
{
	memset(b, 'a', (size_t)n);
	b[n] = '\0';
	return 3 * length(b) + sum_back(b + n);
}

int main(void)
{
	char *text = calloc(MANY + 16, 1), *b = text + 1;
	int *table = calloc(4 * MANY, sizeof(*table));
	unsigned char list[256];
	long r = 0;

	for (int n = 0; n < MANY; n = 3 * n + 1)
		r += strings(b, n);
	for (int k = 1; k <= 3; k++)
		for (int n = k * CHUNK - 3; n < k * CHUNK + 3; n++)
			r = 5 * r + strings(b, n);
	for (int n = CHUNK - 3; n < CHUNK + 3; n++) {
		table[3 * n] = 9;
		r += find_by_three(table, 9);
		table[3 * n] = 0;
	}
	memset(b, 'a', MANY);
	b[MANY - 1] = 'z';
	b[70000] = 'q';
	r += hash_until((unsigned char *)b, 'z');
	r += hash_until((unsigned char *)b, 'q');
	r += hash_until((unsigned char *)b, 'a');
	r += inner(b, 3);
	for (int i = 0; i < 256; i++)
		list[i] = (unsigned char)i;
	for (int i = 0; i < 20000; i++)
		r += move_to_front(list, (unsigned char)(i * 7919));
	printf("%ld\n", r);
	free(text);
	free(table);
	return 0;
}
