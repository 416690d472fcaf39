/* SPDX-License-Identifier: Apache-2.0 */
// Structures by value, of all sizes, in and out, through variable arguments.
#include <stdarg.h>
#include <stdio.h>

struct s1 {
	char c;
};
struct s12 {
	int a, b, c;
};
struct mixed {
	double d;
	long l;
};
struct big {
	long v[9];
};

static struct big grow(struct s1 a, struct s12 b, struct mixed c, struct big d,
                       long double e)
{
	d.v[a.c % 9] += b.a + b.b * 2 + b.c * 3;
	d.v[8] += (long)(c.d + (double)e) + c.l;
	return d;
}

static long sum(int n, ...)
{
	va_list args, again;
	long s = 0;

	va_start(args, n);
	va_copy(again, args);
	for (int i = 0; i < n; i++)
		switch (i % 4) {
		case 0:
			s += va_arg(args, struct s12).b;
			break;
		case 1:
			s += (long)va_arg(args, struct mixed).d;
			break;
		case 2:
			s += va_arg(args, struct big).v[8];
			break;
		default:
			s += (long)va_arg(args, long double);
		}
	s += va_arg(again, struct s12).a;
	va_end(again);
	va_end(args);
	return s;
}

int main(void)
{
	struct big d = {{0}};
	long all = 0;

	for (int i = 0; i < 12; i++) {
		struct s1 a = {(char)i};
		struct s12 b = {i, i + 1, i + 2};
		struct mixed c = {i / 2.0, i};

		d = grow(a, b, c, d, i * 1.5L);
		all += sum(i % 9, b, c, d, 2.5L, b, c, d, 3.5L);
	}
	printf("%ld %ld\n", all, d.v[8]);
	return 0;
}
