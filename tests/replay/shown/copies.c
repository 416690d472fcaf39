/* SPDX-License-Identifier: Apache-2.0 */
/* Structures that are passed by value in memory: the copy is there when the
 * first line of the function is reached, and is this call's. */
#include "saw.h"

struct three {
	long a, b, c;
};

struct odd {
	char name[3];
	int n;
	double part;
} __attribute__((packed));

struct row {
	int v[6];
};

struct big {
	long first, more[12], last;
};

__attribute__((noinline)) static long whole(struct three p)
{
	SAW("p", "{a = %ld, b = %ld, c = %ld}", p.a, p.b, p.c);
	return p.a + p.b;
}

/* clang-format off */
#define ONE __attribute__((noinline)) static int
ONE in_one_line(struct row p) { return SAW("p.v[0]", "%d", p.v[0]); }
/* clang-format on */

__attribute__((noinline)) static long two(int n, struct big p, struct odd q)
{
	SAW("n, p.first, p.more[11], p.last", "%d|%ld|%ld|%ld", n, p.first,
	    p.more[11], p.last);
	SAW("q.n, q.name[2], q.part", "%d|%d '%c'|%.1f", q.n, q.name[2],
	    q.name[2], q.part);
	return p.last;
}

__attribute__((noinline)) static void change(struct three *p)
{
	p->b += p->c;
}

__attribute__((noinline)) static long pointed(struct three p)
{
	SAW("p.a, p.b", "%ld|%ld", p.a, p.b);
	change(&p);
	SAW("p.a, p.b", "%ld|%ld", p.a, p.b);
	return p.b;
}

__attribute__((noinline)) static long on(struct three p, int n)
{
	SAW("p.a, n", "%ld|%d", p.a, n);
	if (!n)
		return p.a;
	p.a *= 10;
	return on(p, n - 1) + p.c;
}

static long inlined(struct three p)
{
	SAW("p.c", "%ld", p.c);
	return p.b;
}

/* Stores that nobody reads: the optimizer takes them out. */
__attribute__((noinline)) static long dead(struct three p, int n)
{
	p.a *= 10;
	SAW("p.a, p.b, p.c", "%ld|%ld|%ld", p.a, p.b, p.c);
	p.b += p.a;
	p.a = n;
	SAW("n, p.b, p.c, p.a", "%d|%ld|%ld|%ld", n, p.b, p.c, p.a);
	n = (int)p.b;
	p.b = 0;
	return n;
}

static long dead_inlined(struct three p)
{
	p.a += 7;
	SAW("p.a, p.b", "%ld|%ld", p.a, p.b);
	p.b = p.a * 2;
	SAW("p.b, p.c", "%ld|%ld", p.b, p.c);
	return p.b;
}

int main(void)
{
	volatile int turns = 3;
	long sum = 0;

	for (int i = 0; i < turns; i++) {
		struct three p = {i, 10 * i, 5};
		struct row r = {{i + 1, 2, 3, 4, 5, 6 * i}};
		struct big b = {.first = i, .more[11] = -i, .last = 3 * i};
		struct odd o = {{'x', 'y', (char)('a' + i)}, 40 + i, i + 0.5};

		sum += whole(p) + in_one_line(r) + two(i, b, o) + on(p, 2);
		p.c = i;
		sum += inlined(p) + pointed(p) + dead(p, i) + dead_inlined(p);
	}
	return sum < 0;
}
