/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that can count themselves by their induction variable: every way to
 * compare, to step and to leave, with as many turns as lie around the limit
 * from which each turn is counted (65536), and variables that wrap around.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define MANY 140000

static unsigned char *data;
static long checksum;
static volatile long zero;

/* No optimizer can see what it was, or remove what made it. */
static NOINLINE void book(long value)
{
	checksum = (long)((unsigned long)checksum * 1000003 +
	                  (unsigned long)value);
}

/* What a loop does with an element: nothing that a vector unit can do. */
#define STEP(s, x) ((s) = (x)&4 ? (s)*31 + (x) : (s) ^ (x))

/* --- orderings ------------------------------------------------------------
 */
#define LOOP(name, type, from, test, next)                 \
	static NOINLINE long name(type a, type b)          \
	{                                                  \
		unsigned long s = 1;                       \
                                                           \
		for (type i = from; test; next)            \
			STEP(s, data[(uint64_t)i % MANY]); \
		return (long)s;                            \
	}

LOOP(i32_lt, int, a, i < b, i++)
LOOP(i32_le, int, a, i <= b, i++)
LOOP(i32_ne, int, a, i != b, i++)
LOOP(i32_gt, int, b, i > a, i--)
LOOP(i32_ge, int, b, i >= a, i--)
LOOP(i32_down_ne, int, b, i != a, i--)
LOOP(i32_by_3, int, a, i < b, i += 3)
LOOP(i32_down_by_7, int, b, i > a, i -= 7)
LOOP(i32_swapped, int, a, b > i, i++)
LOOP(i32_by_4096, int, a, i < b, i += 4096)
LOOP(i32_by_4097, int, a, i < b, i += 4097)
LOOP(u32_lt, unsigned, a, i < b, i++)
LOOP(u32_le, unsigned, a, i <= b, i++)
LOOP(u32_ne, unsigned, a, i != b, i++)
LOOP(u32_ne_by_4, unsigned, a, i != b, i += 4)
LOOP(u32_gt, unsigned, b, i > a, i--)
LOOP(u32_by_2, unsigned, a, i < b, i += 2)
LOOP(u32_down_by_5, unsigned, b, i > a, i -= 5)
LOOP(i64_lt, int64_t, a, i < b, i++)
LOOP(i64_ge, int64_t, b, i >= a, i--)
LOOP(i64_ne, int64_t, a, i != b, i++)
LOOP(i64_down_ne_by_8, int64_t, b, i != a, i -= 8)
LOOP(i64_by_6, int64_t, a, i < b, i += 6)
LOOP(u64_lt, uint64_t, a, i < b, i++)
LOOP(u64_down_ne, uint64_t, b, i != a, i--)
LOOP(u64_by_9, uint64_t, a, i < b, i += 9)
/* narrower than the machine counts with */
LOOP(i16_lt, short, a, i < b, i++)
LOOP(u8_ne, unsigned char, a, i != b, i++)

/* --- the test at the bottom: at least one turn --------------------------- */
#define DO_LOOP(name, type, next, test)                    \
	static NOINLINE long name(type a, type b)          \
	{                                                  \
		unsigned long s = 1;                       \
		type i = a;                                \
                                                           \
		do                                         \
			STEP(s, data[(uint64_t)i % MANY]); \
		while (next, test);                        \
		return (long)s;                            \
	}

DO_LOOP(do_i32_lt, int, i++, i < b)
DO_LOOP(do_i32_by_3, int, i += 3, i < b)
DO_LOOP(do_u32_by_3, unsigned, i += 3, i < b)
DO_LOOP(do_i64_le, int64_t, i++, i <= b)
DO_LOOP(do_u64_ne, uint64_t, i++, i != b)

/* The comparison sees the variable before its step. */
static NOINLINE long post_increment(unsigned n)
{
	unsigned long s = 1;
	unsigned i = 0;

	do
		STEP(s, data[i % MANY]);
	while (i++ < n);
	return (long)s;
}

static NOINLINE long while_countdown(unsigned n)
{
	unsigned long s = 1;

	while (n--)
		STEP(s, data[n % MANY]);
	return (long)s;
}

/* --- ways out in the middle ---------------------------------------------- */

static NOINLINE long find(const unsigned char *p, long n, int wanted)
{
	for (long i = 0; i < n; i++)
		if (p[i] == wanted)
			return i;
	return -1;
}

static NOINLINE long two_breaks(const unsigned char *p, int n)
{
	unsigned long s = 1;
	int i;

	for (i = 0; i < n; i++) {
		if (p[i] == 251)
			break;
		STEP(s, p[i]);
		if (s % 100003 == 17)
			break;
	}
	return (long)s + i;
}

/* Several cases of a switch leave to the same place. */
static NOINLINE long cases_leave(const unsigned char *p, int n)
{
	unsigned long s = 1;

	for (int i = 0; i < n; i++)
		switch (p[i]) {
		case 250:
		case 252:
		case 254:
			goto out;
		case 1:
		case 2:
			s += 3;
			break;
		default:
			STEP(s, p[i]);
		}
	s ^= 77;
out:
	return (long)s;
}

/* A computed goto in the body, one of whose targets is outside. */
static NOINLINE long indirect_leave(const unsigned char *p, int n)
{
	static const void *const target[] = {&&add, &&turn, &&add, &&mix};
	unsigned long s = 1;

	for (int i = 0; i < n; i++) {
		goto *(p[i] == 250 ? &&out : target[p[i] & 3]);
	add:
		s += p[i];
		continue;
	turn:
		s = s << 7 | s >> 57;
		continue;
	mix:
		s ^= (unsigned long)i;
	}
	s ^= 77;
out:
	return (long)s;
}

static NOINLINE long continues(const unsigned char *p, unsigned n)
{
	unsigned long s = 1;

	for (unsigned i = 0; i < n; i++) {
		if (p[i] & 8)
			continue;
		if (p[i] & 16 && s & 1)
			continue;
		STEP(s, p[i]);
	}
	return (long)s;
}

/* --- pointers, nests, values that live on --------------------------------- */

static NOINLINE long pointer_ne(const unsigned char *p,
                                const unsigned char *end)
{
	unsigned long s = 1;

	for (; p != end; p++)
		STEP(s, *p);
	return (long)s;
}

static NOINLINE long pointer_down(const int *p, const int *end)
{
	unsigned long s = 1;

	while (end-- > p)
		STEP(s, (unsigned)*end);
	return (long)s;
}

static NOINLINE long length(const char *s)
{
	long n = 0;

	while (s[n])
		n++;
	return n;
}

static NOINLINE long nest(int n, int m)
{
	unsigned long s = 1;

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < m; j++) {
			for (int k = j; k < i; k++)
				STEP(s, data[(i + j + k) % MANY]);
			if (s % 1009 == 5)
				break;
		}
		s += (unsigned long)i;
	}
	return (long)s;
}

/* Two loops, one after the other; where the first ended the second begins. */
static NOINLINE long relay(const unsigned char *p, int n)
{
	unsigned long s = 1;
	int i = 0;

	for (; i < n && p[i] != 249; i++)
		STEP(s, p[i]);
	for (; i < n; i++)
		s = s * 3 + p[i];
	return (long)s + i;
}

/* What the first loop finds is the bound of the second. */
static NOINLINE long chain(const unsigned char *p, unsigned n)
{
	unsigned long s = 1;
	unsigned m = 0;

	do
		m += p[m] & 1 ? 1 : 2;
	while (m < n);
	for (unsigned i = 0; i != m; i++)
		STEP(s, p[i % MANY]);
	return (long)s;
}

/* Nothing stands between the two. */
static NOINLINE long adjacent(unsigned char *p, unsigned n)
{
	unsigned i = 0;

	do
		p[i + 1] ^= p[i];
	while (++i != n);
	do
		p[i - 1] += p[i];
	while (--i != 0);
	return p[0];
}

static NOINLINE long stores(unsigned char *p, int n)
{
	unsigned carry = 7;

	for (int i = 0; i < n; i++) {
		carry = carry * 5 + p[i];
		p[i] = (unsigned char)(carry >> 3);
	}
	return (long)carry;
}

/* --- variables that wrap around ------------------------------------------- */

/*
 * The step skips the bound: the variable goes round, many times over, until
 * the budget is used up.
 */
static NOINLINE long u32_wraps(unsigned a, unsigned b, long budget)
{
	unsigned long s = 1;

	for (unsigned i = a; i < b; i += 4096) {
		STEP(s, data[i % MANY]);
		if (--budget == 0)
			break;
		STEP(s, data[s % MANY]);
	}
	return (long)s;
}

static NOINLINE long u32_wraps_down(unsigned a, unsigned b, long budget)
{
	unsigned long s = 1;

	for (unsigned i = a; i > b; i -= 4096) {
		STEP(s, data[i % MANY]);
		if (--budget == 0)
			break;
		STEP(s, data[s % MANY]);
	}
	return (long)s;
}

/* Steps over its bound in every round. */
static NOINLINE long u32_misses(unsigned a, unsigned b, long budget)
{
	unsigned long s = 1;

	for (unsigned i = a; i != b; i += 4) {
		STEP(s, data[i % MANY]);
		if (--budget == 0)
			break;
	}
	return (long)s;
}

#ifdef WRAPV /* with -fwrapv: signed ones, too */
static NOINLINE long i32_wraps(int a, int b, long budget)
{
	unsigned long s = 1;

	for (int i = a; i < b; i += 4096) {
		STEP(s, data[(unsigned)i % MANY]);
		if (--budget == 0)
			break;
		STEP(s, data[s % MANY]);
	}
	return (long)s;
}
#endif

static void wrap_around(void)
{
	book(u32_ne(UINT32_MAX - 5, 7));
	book(u32_lt(UINT32_MAX - 5, UINT32_MAX));
	book(u32_by_2(UINT32_MAX - 8, UINT32_MAX - 1));
	book(u32_down_by_5(UINT32_MAX - 20, UINT32_MAX));
	book(u64_lt(UINT64_MAX - 70000, UINT64_MAX));
	book(u64_by_9(UINT64_MAX - 90, UINT64_MAX - 9));
	book(u64_down_ne(UINT64_MAX - 3, 4));
	book(u8_ne(250, 3));
	book(do_u64_ne(UINT64_MAX - 3, 4));
	book(i32_lt(INT32_MIN, INT32_MIN + 66000));
	book(i32_gt(INT32_MAX - 66000, INT32_MAX));
	book(i32_lt(-5, 5));
	book(i64_ne(-70000, 3));
	for (long budget = 1; budget < 3000000; budget = budget * 11 + 1) {
		unsigned u = (unsigned)zero; /* what nobody can foresee */

		book(u32_wraps(u - 20000, u - 1, budget));
		book(u32_wraps_down(u + 20000, u, budget));
		book(u32_misses(u, u + 20001, budget));
		book(u32_misses(u, u - 20001, budget));
#ifdef WRAPV
		book(i32_wraps(INT32_MAX - 20000 - (int)u, INT32_MAX - (int)u,
		               budget));
#endif
	}
}

/* --- all of them ------------------------------------------------------------
 */
static void orderings(int n)
{
	unsigned u = (unsigned)n;

	book(i32_lt(0, n));
	book(i32_le(1, n));
	book(i32_ne(0, n));
	book(i32_gt(0, n));
	book(i32_ge(1, n));
	book(i32_down_ne(0, n));
	book(i32_by_3(0, 3 * n));
	book(i32_down_by_7(0, 7 * n - 6));
	book(i32_swapped(-n, 0));
	book(i32_by_4096(0, n / 16 * 4096 + n % 16));
	book(i32_by_4097(0, n / 16 * 4097));
	book(u32_lt(0, u));
	book(u32_le(1, u));
	book(u32_ne(5, u + 5));
	book(u32_ne_by_4(3, 4 * u + 3));
	book(u32_gt(0, u));
	book(u32_by_2(0, 2 * u + 1));
	book(u32_down_by_5(0, 5 * u));
	book(i64_lt(-3, n - 3));
	book(i64_ge(1, n));
	book(i64_ne(0, n));
	book(i64_down_ne_by_8(-5, 8 * (int64_t)n - 5));
	book(i64_by_6(0, 6 * (int64_t)n - 5));
	book(u64_lt(0, u));
	book(u64_down_ne(0, u));
	book(u64_by_9(0, 9 * (uint64_t)u));
	book(i16_lt(0, (short)(n % 30000)));
	book(u8_ne(0, (unsigned char)n));
}

static void others(int n)
{
	unsigned u = (unsigned)n;

	book(do_i32_lt(0, n));
	book(do_i32_by_3(0, 3 * n));
	book(do_u32_by_3(7, 3 * u));
	book(do_i64_le(1, n));
	book(do_u64_ne(0, u + 1));
	book(post_increment(u));
	book(while_countdown(u));
	book(find(data, n, 300));
	book(find(data, n, data[n / 2]));
	book(two_breaks(data, n));
	book(cases_leave(data, n));
	book(indirect_leave(data, n));
	book(continues(data, u));
	book(pointer_ne(data, data + n));
	book(pointer_down((const int *)(const void *)data,
	                  (const int *)(const void *)data + n / 4));
	book(relay(data, n));
	book(chain(data, u));
	book(adjacent(data, u + 1));
	book(stores(data, n));
}

/* Different places for the values that end loops. */
static void prepare(int round)
{
	unsigned x = 12345u + (unsigned)round;

	for (int i = 0; i < MANY; i++) {
		x = x * 1664525u + 1013904223u;
		data[i] = (unsigned char)((x >> 24) % 240 + 1);
	}
	data[MANY - 1] = 0;
	if (round % 3 == 1)
		for (int v = 249; v < 255; v++)
			data[60000 + (x + (unsigned)v * 7919u) % 70000] =
			        (unsigned char)v;
}

int main(void)
{
	static const int turns[] = {0,     1,      2,      3,      100,
	                            65535, 65536,  65537,  65538,  65539,
	                            70000, 131071, 131072, 131073, 139999};

	data = calloc(MANY + 8, 1);
	if (!data)
		return 1;
	for (int i = 0; i < (int)(sizeof(turns) / sizeof(*turns)); i++) {
		prepare(i);
		orderings(turns[i]);
		others(turns[i]);
	}
	book(do_i32_lt(5, 5));
	book(do_i32_lt(7, 3));
	book(do_u32_by_3(7, 3));
	book(nest(90, 70));
	prepare(1);
	book(length((const char *)data));
	wrap_around();
	printf("%ld\n", checksum);
	free(data);
	return 0;
}
