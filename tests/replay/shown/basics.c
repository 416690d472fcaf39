/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of all kinds of types, in C. */
#include "saw.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct point {
	int x, y;
};

struct item {
	struct item *next;
	struct point at;
	char name[8];
	unsigned kind : 3;
	int delta : 5;
	unsigned long wide : 40;
	union {
		int whole;
		float part;
	};
};

typedef struct item item_t;
enum color { RED, GREEN = 5, BLUE, DARK = -2 };

int limit = 10; /* nobody writes it */
static int counter = 3;
static const char *const names[] = {"zero", "one", "two"};
static struct point origin = {-1, -2};
unsigned char bytes[3] = {1, 200, 255};
static int (*chosen)(int);
static bool flags[3] = {false, true};

/* Our own: what the library writes is seen when the program reads it. */
__attribute__((noinline)) static void copy(char *to, const char *from)
{
	while ((*to++ = *from++))
		;
}

__attribute__((noinline)) static const char *word(bool b)
{
	return word(b);
}

static int square(int v)
{
	int r = v * v;
	WAS("r", "%d", r);
	return r;
}

__attribute__((noinline)) static int fib(int n)
{
	SAW("n, n < 2, -n", "%d|%d|%d", n, n < 2, -n);
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static void numbers(int i)
{
	signed char sc = (signed char)(i * -50);
	unsigned char uc = (unsigned char)(i * 77);
	short s = (short)(i * -12345);
	unsigned u = (unsigned)i - 2u;
	long l = i * -123456789012l;
	unsigned long ul = ~0ul - (unsigned long)i;
	bool b = flags[i]; /* LLVM turns conditions round, silently */
	SAW("(int)sc, (int)uc, s, u, l, ul, b", "%d|%d|%d|%u|%ld|%lu|%s", sc,
	    uc, s, u, l, ul, b ? "true" : "false");
	SAW("u > -1, (int)u > -1, s / 7, s % 7, s >> 2, u >> 1, uc << 3",
	    "%d|%d|%d|%d|%d|%u|%d", u > (unsigned)-1, (int)u > -1, s / 7, s % 7,
	    s >> 2, u >> 1, uc << 3);
	SAW("ul * 3, l + u, ~l, !l, l && u, l ? s : u, (char)(uc + 1) == 78",
	    "%lu|%ld|%ld|%d|%d|%u|%d", ul * 3, l + u, ~l, !l, l && u, l ? s : u,
	    (char)(uc + 1) == 78);
	SAW("sizeof(ul), sizeof uc, (unsigned short)l, (int)l, (uint8_t)u",
	    "%zu|%zu|%d|%d|%d '%s'", sizeof(ul), sizeof uc, (unsigned short)l,
	    (int)l, (uint8_t)u,
	    u == 0u             ? "\\000"
	    : u == 1u           ? "\\001"
	    : u == (unsigned)-1 ? "\\377"
	                        : "\\376");
}

__attribute__((noinline)) static void reals(int i)
{
	float f = (float)i / 4;
	double d = i * 0.1;
	long double ld = i * 1.25L;
	SAW("f, f * 2, (int)f, d == 0.1 * i, (float)d > f, ld",
	    "%g|%g|%d|%d|%d|%Lg", f, f * 2, (int)f, d == 0.1 * i, (float)d > f,
	    ld);
	ld += f;
	WAS("ld", "%Lg", ld);
}

__attribute__((noinline)) static void records(int i)
{
	struct item first = {0}, second = {.next = &first};
	item_t *p = &second;
	enum color c = i == 0 ? RED : i == 1 ? DARK : BLUE;
	int table[3][2] = {{1, 2}, {3, i}, {5, 6}};
	int *q = &table[1][1];

	second.at.x = i * 3;
	second.at.y = -i;
	copy(second.name, names[i]);
	first.whole = 0;
	second.kind = (unsigned)i + 5u;
	second.delta = -i;
	second.wide = 1ul << 39;
	second.part = 1.0f;
	SAW("p->at.x, p->at, p->next == &first, p->kind, p->delta, p->wide",
	    "%d|{x = %d, y = %d}|%d|%u|%d|%lu", p->at.x, p->at.x, p->at.y,
	    p->next == &first, p->kind, p->delta, (unsigned long)p->wide);
	SAW("p->whole, p->part, p->name, p->name[1], (p->name + 1)[0] == 'n'",
	    "%d|%g|\"%s\"|%d '%c'|%d", p->whole, p->part, p->name, p->name[1],
	    p->name[1], (p->name + 1)[0] == 'n');
	SAW("c, c == GREEN, (enum color)5, BLUE, table, *q, q - &table[0][0], "
	    "q[1]",
	    "%s|%d|GREEN|BLUE|{{1, 2}, {3, %d}, {5, 6}}|%d|%d|%d",
	    c == RED    ? "RED"
	    : c == DARK ? "DARK"
	                : "BLUE",
	    c == GREEN, i, *q, (int)(q - &table[0][0]), q[1]);
	SAW("((struct item *)p)->at.y, ((item_t *)p)->at.y, (&p->at)->x, *&c "
	    "== c",
	    "%d|%d|%d|1", p->at.y, p->at.y, p->at.x);
	p->at.x = p->at.y;
	p = p->next;
	WAS("p", "%p", (void *)p);
	SAW("!p->next, first.whole", "%d|%d", !p->next, first.whole);
}

struct large {
	int a, b, c, d;
	long e;
};

__attribute__((noinline)) static void change(struct large *p)
{
	p->a++;
	__asm__ volatile("" ::: "memory");
}

/* Copied and cleared in pieces, and then changed by somebody else. */
__attribute__((noinline)) static void copies(struct large *from)
{
	struct large copy = *from, zero = {0};
	change(&copy);
	SAW("copy", "{a = %d, b = 2, c = 3, d = 4, e = 5}", copy.a);
	change(&zero);
	SAW("zero, copy.b", "{a = %d, b = 0, c = 0, d = 0, e = 0}|2", zero.a);
	*from = zero;
	SAW("*from, from->a", "{a = 1, b = 0, c = 0, d = 0, e = 0}|%d",
	    from->a);
}

__attribute__((noinline)) static void globals(int i)
{
	static int calls;

	calls += 2;
	WAS("calls", "%d", calls);
	counter -= i;
	WAS("counter", "%d", counter);
	SAW("limit, calls, counter, origin, origin.x, names[2][1], bytes",
	    "10|%d|%d|{x = -1, y = %d}|-1|119 'w'|\"\\001\\310\\377\"", calls,
	    counter, origin.y);
	origin.y -= i;
	chosen = i & 1 ? square : fib;
	SAW("chosen == fib, chosen == &square, &counter != 0", "%d|%d|1",
	    chosen == fib, chosen == &square);
}

__attribute__((noinline)) static int shadowing(int i)
{
	int v = i;

	for (int k = 0; k < 2; k++) {
		int v = k * 100;
		SAW("v, i", "%d|%d", v, i);
	}
	SAW("v, i", "%d|%d", v, i);
	v += square(i);
	WAS("v", "%d", v);
	return v;
}

int main(void)
{
	char *memory = malloc(16);
	struct large large = {1, 2, 3, 4, 5};
	int sum = 0;

	copies(&large);
	copy(memory, "a \"b\"\n");
	SAW("memory[0], *memory == 'a', memory[2] == '\"', memory[5] == '\\n'",
	    "97 'a'|1|1|1");
	free(memory);
	for (int i = 0; i < 3; i++) {
		numbers(i);
		reals(i);
		records(i);
		globals(i);
		sum += shadowing(i);
		WAS("sum", "%d", sum);
	}
	sum = fib(4);
	WAS("sum", "%d", sum);
	return 0;
}
