/* SPDX-License-Identifier: Apache-2.0 */
// Calls before a return: arguments on the stack, structures, extensions of
// other kinds, arguments that come back; left by a jump every other time.
// defect: 1
#include <setjmp.h>
#include <stdio.h>
#define NOINLINE __attribute__((noinline))
static jmp_buf jb;
volatile int k;
int gl;
volatile int books[64];
struct big {
	long a[6];
};
struct two {
	long a, b;
};
NOINLINE static void g(int x)
{
	k++;
	if (x % 2)
		longjmp(jb, 1);
}
NOINLINE static int gi(int x)
{
	k++;
	if (x % 2)
		longjmp(jb, 1);
	return x + k;
}
NOINLINE static long gl8(int a, int b, int c, int d, int e, int f, int h, int x)
{
	k += a + b + c + d + e + f + h;
	if (x % 2)
		longjmp(jb, 1);
	return x + k;
}
NOINLINE static struct big gb(int x)
{
	struct big b = {{x}};
	k++;
	if (x % 2)
		longjmp(jb, 1);
	return b;
}
NOINLINE static struct two gt(int x)
{
	struct two t = {x, k};
	k++;
	if (x % 2)
		longjmp(jb, 1);
	return t;
}
NOINLINE static char gc(int x)
{
	k++;
	if (x % 2)
		longjmp(jb, 1);
	return x * k;
}
NOINLINE static unsigned char guc(int x)
{
	k++;
	if (x % 2)
		longjmp(jb, 1);
	return x * k;
}
NOINLINE static double gd(int x)
{
	k++;
	if (x % 2)
		longjmp(jb, 1);
	return x * k;
}
NOINLINE static long gL(int x)
{
	k++;
	if (x % 2)
		longjmp(jb, 1);
	return x * k;
}
NOINLINE static int bybig(struct big b)
{
	k++;
	if (b.a[0] % 2)
		longjmp(jb, 1);
	return k;
}
NOINLINE static int *gp(int *p, int x)
{
	k++;
	if (x % 2)
		longjmp(jb, 1);
	*p = k;
	return p;
}
/* tail in IR, stack arguments */
NOINLINE static long t8(int x)
{
	books[0]++;
	return gl8(1, 2, 3, 4, 5, 6, 7, x);
}
NOINLINE static struct big tb(int x)
{
	books[1]++;
	return gb(x);
}
NOINLINE static struct two tt(int x)
{
	books[2]++;
	return gt(x);
}
NOINLINE static int tc(int x)
{
	books[3]++;
	return gc(x);
}
NOINLINE static signed char tsc(int x)
{
	books[4]++;
	return guc(x);
}
NOINLINE static int ttr(int x)
{
	books[5]++;
	return (int)gL(x);
}
NOINLINE static long tbits(int x)
{
	books[6]++;
	double d = gd(x);
	long l;
	__builtin_memcpy(&l, &d, 8);
	return l;
}
NOINLINE static int tby(int x)
{
	struct big b = {{x, 1, 2, 3, 4, 5}};
	books[7]++;
	return bybig(b);
}
NOINLINE static int *tp(int x)
{
	books[8]++;
	gp(&gl, x);
	return &gl;
}
NOINLINE static int *tq(int *q, int x)
{
	books[9]++;
	gp(q, x);
	return q;
}
NOINLINE static struct two t2(int x)
{
	books[10]++;
	g(x);
	return (struct two){1, 2};
}
NOINLINE static struct two t3(int x)
{
	books[11]++;
	long l = gL(x);
	return (struct two){l, 2};
}
NOINLINE static struct big t4(int x)
{
	struct big b = {{9, 8, 7}};
	books[12]++;
	g(x);
	return b;
}
/* several ways into one return */
NOINLINE static int tw(int x, int c)
{
	books[13]++;
	switch (c) {
	case 0:
		return gi(x);
	case 1:
		books[14]++;
		g(x);
		return 5;
	case 2:
		books[15]++;
		return gi(x + 2);
	case 3:
		return 7;
	case 4:
		books[16]++;
		g(x);
		break;
	default:
		g(x);
		books[17]++;
		return gl;
	}
	return -1;
}
NOINLINE static void tv(int x, int c)
{
	if (c == 1) {
		books[18]++;
		g(x);
		return;
	}
	if (c == 2) {
		books[19]++;
		g(x + 2);
		books[20]++;
		return;
	}
	if (c == 3)
		return;
	if (c == 4) {
		books[21]++;
		gi(x);
	}
}
/* chain of tails */
NOINLINE static int ch3(int x)
{
	books[22]++;
	return gi(x);
}
NOINLINE static int ch2(int x)
{
	books[23]++;
	return ch3(x);
}
NOINLINE static int ch1(int x)
{
	books[24]++;
	int r = ch2(x);
	return r + 1;
}
int main(void)
{
	volatile int s = 0;
	volatile int i;
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += t8(i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += tb(i).a[0];
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += tt(i).a;
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += tc(i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += tsc(i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += ttr(i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += tbits(i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += tby(i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += *tp(i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += *tq((int *)&gl, i);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += t2(i).a;
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += t3(i).a;
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += t4(i).a[1];
	for (i = 0; i < 60; i++)
		if (!setjmp(jb))
			s += tw(i, i / 10);
	for (i = 0; i < 60; i++)
		if (!setjmp(jb))
			tv(i, i / 10);
	for (i = 0; i < 10; i++)
		if (!setjmp(jb))
			s += ch1(i);
	printf("%d %d\n", (int)s, gl);
	ch1(1000);
	return 0;
}
