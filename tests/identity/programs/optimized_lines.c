/* SPDX-License-Identifier: Apache-2.0 */
// Lines whose code optimizers copy, move or remove, and recordings rewrite:
// arrays of fixed and variable size, scopes, one line with all of a switch,
// loops that are rotated, unrolled and vectorized, threaded jumps, macros,
// structures by value.
// defect: 12
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define TWICE(x)   \
	do {       \
		x; \
		x; \
	} while (0)
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static volatile int sink;
static int table[256];

NOINLINE static int array_in_loop(const char *s, int n)
{
	int r = 0;
	for (int i = 0; i < n; i++) {
		char buf[64];
		snprintf(buf, sizeof(buf), "%s%d", s, i);
		r += (int)strlen(buf);
	}
	return r;
}

NOINLINE static int variable_array(int n)
{
	int r = 0;
	for (int i = 1; i <= n; i++) {
		int row[i];
		for (int k = 0; k < i; k++)
			row[k] = k ^ sink;
		r += row[i / 2];
	}
	return r;
}

NOINLINE static void use(char *p, int i)
{
	p[0] = (char)i;
	p[i & 7] = (char)(i + 1);
	sink += p[0];
}

NOINLINE static void scopes(int n)
{
	for (int i = 0; i < n; i++) {
		{
			char a[8] = "one";
			use(a, i);
		}
		{
			char b[8];
			use(b, i);
			if (i % 3 == 0) {
				char c[8];
				use(c, i);
			}
		}
	}
}

NOINLINE static int one_line_switch(int x)
{
	switch (x & 3) {
	case 0:
		return 5;
	case 1:
		sink++;
		return 6;
	default:
		return 7;
	}
}

NOINLINE static int ternaries(int a, int b)
{
	int x = a > b ? a - b : b - a;
	return x % 2 ? MAX(x, b) : (a ? b : x);
}

static inline int helper(int x)
{
	if (x % 5 == 0)
		return sink;
	return x * 3;
}

NOINLINE static int inlined(int n)
{
	int r = 0;
	for (int i = 0; i < n; i++)
		r += helper(i) + helper(i + 1);
	return r;
}

NOINLINE static void macros(int n)
{
	for (int i = 0; i < n; i++)
		TWICE(sink += i);
}

NOINLINE static int unrolled(const int *p)
{
	int r = 0;
	for (int i = 0; i < 8; i++)
		r = r * 31 + p[i];
	return r;
}

NOINLINE static int rotated(const int *p, int n)
{
	int i = 0;
	while (i < n && p[i] != 77)
		i++;
	return i;
}

NOINLINE static int threaded(int n)
{
	int state = 0, r = 0;
	for (int i = 0; i < n; i++) {
		if (i % 7 == 3)
			state = 1;
		if (state)
			r += table[i & 255];
		if (i % 11 == 5)
			state = 0;
		if (!state)
			sink++;
	}
	return r;
}

NOINLINE static int conditions(int a, int b)
{
	if (a > 10 && b > 20 && (a ^ b) & 1)
		return sink;
	if (a < 3 || b < 3)
		return 1;
	return 0;
}

NOINLINE static int hoisted(const int *p, const int *q, int n)
{
	int r = 0;
	for (int i = 0; i < n; i++) {
		if (p[i] & 1)
			r += *q;
		else if (p[i] & 2)
			r -= *q;
	}
	return r;
}

NOINLINE static int last(int i)
{
	return sink + i;
}

NOINLINE static int tail(int i)
{
	if (i & 1)
		return last(i);
	return 0;
}

NOINLINE static int unreachable(int i)
{
	if (i > 1000000)
		__builtin_unreachable();
	if (i > 500000) {
		puts("never");
		abort();
	}
	return i;
}

struct big {
	int a[40];
};

NOINLINE static struct big by_value(struct big b, int i)
{
	struct big c = b;
	c.a[i % 40]++;
	return c;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100, r = 0;
	struct big big = {{0}};
	for (int i = 0; i < 256; i++)
		table[i] = i * i % 101;
	r += array_in_loop("abc", n);
	r += variable_array(n);
	scopes(n);
	for (int i = 0; i < n; i++) {
		r += one_line_switch(i);
		r += ternaries(i, n - i);
		r += conditions(i, n - i);
		r += tail(i);
		r += unreachable(i);
		big = by_value(big, i);
	}
	r += inlined(n);
	macros(n);
	r += unrolled(table);
	r += rotated(table, 256);
	r += threaded(n);
	r += hoisted(table, table + 3, 256);
	printf("%d %d\n", r + big.a[7], sink);
	return 0;
}
