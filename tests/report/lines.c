/* SPDX-License-Identifier: Apache-2.0 */
/* What lines count, at every level and in every mode: lines.py. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define CHECK(a, b)               \
	do {                      \
		if ((a) < 0)      \
			sink = 1; \
		if ((b) < 0)      \
			sink = 2; \
	} while (0)

static volatile int sink, hundred = 100;
static int table[256];

NOINLINE static int declared(const char *s, int n)
{
	int r = 0;
	for (int i = 0; i < n; i++) {                     /* counts 101 */
		char buf[64];                             /* no code */
		snprintf(buf, sizeof(buf), "%s%d", s, i); /* counts 100 */
		r += (int)strlen(buf);                    /* counts 100 */
	}
	return r; /* counts 1 */
}

NOINLINE static void fill(char *p, int i)
{
	memset(p, i, 8);
	sink += p[0]; /* counts 300 */
}

NOINLINE static void scopes(int n)
{
	for (int i = 0; i < n; i++) { /* counts 101 */
		{
			char a[8];  /* no code */
			fill(a, i); /* counts 100 */
		}                   /* no code */
		{
			char b[8];  /* no code */
			fill(b, i); /* counts 100 */
			fill(b, i); /* counts 100 */
		}                   /* no code */
	}
}

/* A loop that is rotated has its test twice. */
NOINLINE static int rotated(const int *p, int n)
{
	int i = 0;
	while (i < n && p[i] != 77) /* counts 41 */
		i++;
	return i; /* counts 1 */
}

/* Both tests of the macro are on one line and in one column. */
NOINLINE static void macro(int a, int b)
{
	CHECK(a, b); /* counts 100 */
}

/* A jump that is threaded has its tests in several blocks. */
NOINLINE static int threaded(int n)
{
	int state = 0, r = 0;
	for (int i = 0; i < n; i++) {
		if (i % 7 == 3) /* counts 100 */
			state = 1;
		if (state) {                 /* counts 100 */
			r += table[i & 255]; /* counts 72 */
			sink += r;           /* counts 72 */
		}
		if (i % 11 == 5) { /* counts 100 */
			sink++;    /* counts 9 */
			state = 0;
		}
	}
	return r;
}

NOINLINE static int last(int i)
{
	return sink + i; /* counts 50 */
}

NOINLINE static int tail(int i)
{
	if (i & 1)              /* counts 100 */
		return last(i); /* counts 50 */
	return 0;
}

static jmp_buf env;

NOINLINE static void jumps(int i)
{
	if (i % 2)               /* counts 100 */
		longjmp(env, i); /* counts 50 */
}

NOINLINE static int caught(int i)
{
	if (setjmp(env)) /* counts 150 */
		return 1;
	jumps(i); /* counts 100 */
	return 0;
}

NOINLINE static int interpreter(const char *p)
{
	static void *const labels[] = {&&inc, &&dec, &&twice, &&end};
	int acc = 0;
	goto *labels[(int)*p++];
inc:
	acc++;
	sink = acc;
	goto *labels[(int)*p++];
dec:
	acc--;
	sink = acc;
	goto *labels[(int)*p++];
twice:
	acc *= 2;
	sink = acc;
	goto *labels[(int)*p++];
end:
	return acc;
}

int main(void)
{
	static const char code[] = {0, 0, 2, 1, 0, 3};
	int n = hundred, r = 0;
	for (int i = 0; i < 256; i++)
		table[i] = i;
	table[40] = 77;
	r += declared("abc", n);  /* counts 1 */
	scopes(n);                /* counts 1 */
	r += rotated(table, 256); /* counts 1 */
	for (int i = 0; i < n; i++) {
		macro(i, n - i);        /* counts 100 */
		r += caught(i);         /* counts 100 */
		r += tail(i);           /* counts 100 */
		r += interpreter(code); /* counts 100 */
	}
	r += threaded(n);           /* counts 1 */
	printf("%d %d\n", r, sink); /* counts 1 */
	return 0;
}
