/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow of C: loops, nests, switches with many cases to one target,
 * goto into loops, short circuits, VLAs, varargs, function pointers. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned seed = 1;

static unsigned next(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16 & 0x7fff;
}

static int classify(int c)
{
	switch (c) {
	case 'a':
	case 'e':
	case 'i':
	case 'o':
	case 'u':
		return 1;
	case '0' ... '9':
		return 2;
	case ' ':
	case '\t':
	case '\n':
		c += 3; /* fallthrough */
	case '.':
		return 3 + c;
	case 1000:
	case 2000:
	case 4000:
	case 70000:
		return 1;
	default:
		return c > 'm' ? 4 : c < 'c' ? 5 : 6;
	}
}

static long sum(int n, ...)
{
	va_list ap;
	long s = 0;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		s += i % 3 == 0 ? va_arg(ap, int) : (long)va_arg(ap, double);
	va_end(ap);
	return s;
}

static int vla(int n)
{
	int a[n + 1], b[2][n + 1], s = 0;

	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	for (int i = 0; i <= n; i++) {
		int inner[i + 1];

		for (int j = 0; j <= i; j++)
			inner[j] = j * i;
		a[i] = inner[i / 2];
		b[i & 1][i] = a[i];
		if (a[i] > 100)
			continue;
		s += b[0][i] - b[1][i];
	}
	return s;
}

/* A loop with two entries: irreducible. */
static int two_entries(int n)
{
	int s = 0;

	if (n & 1)
		goto middle;
top:
	s += n;
middle:
	s ^= 5;
	if (n-- > 0)
		goto top;
	if (s % 7 == 3 && s > 0)
		goto middle;
	return s;
}

static int deep(int a, int b, int c, int d)
{
	int s = 0, fuel = 5000;

	for (int i = 0; i < a; i++)
		for (int j = 0; j < b; j++) {
			int k = 0;

			while (k < c) {
				do {
					if ((i ^ j) & 1) {
						if (k & 2) {
							if (s & 4)
								s += 3;
							else
								s -= 1;
							continue;
						} else if (k == 5)
							goto out;
						s++;
					}
				} while (s % d && --fuel > 0);
				k++;
			}
		out:
			s ^= k || (i && j) || (j > 3 && !i);
		}
	return s;
}

static int compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;

	return a < b ? -1 : a > b;
}

static int by_pointer(int (*f)(int), int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += f(i);
	return s;
}

static unsigned long long collatz(unsigned long long n)
{
	unsigned long long steps = 0;

	while (n != 1) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

static double numeric(int n)
{
	static double m[24][24], v[24], r[24];
	double total = 0;

	for (int i = 0; i < 24; i++) {
		v[i] = i;
		for (int j = 0; j < 24; j++)
			m[i][j] = (i * j) % 11;
	}
	while (n--) {
		for (int i = 0; i < 24; i++) {
			r[i] = 0;
			for (int j = 0; j < 24; j++)
				r[i] += m[i][j] * v[j];
		}
		for (int i = 0; i < 24; i++)
			v[i] = r[i] / 120;
	}
	for (int i = 0; i < 24; i++)
		total += v[i];
	return total;
}

int main(int argc, char **argv)
{
	int numbers[500], s = 0;
	const char *text = "the quick brown fox. 42 jumps\tover 7 lazy dogs\n";

	(void)argv;
	for (const char *p = text; *p; p++)
		s = (s * 3 + classify((unsigned char)*p)) % 10007;
	s += classify(70000) + classify(2000);
	printf("classify %d\n", s);
	printf("sum %ld\n", sum(7, 1, 2.0, 3.0, 4, 5.0, 6.0, 7));
	printf("vla %d\n", vla(30) + vla(0) + vla(7));
	printf("entries %d %d\n", two_entries(10), two_entries(33));
	printf("deep %d\n", deep(5, 6, 7, 3));
	for (int i = 0; i < 500; i++)
		numbers[i] = (int)next();
	qsort(numbers, 500, sizeof(int), compare);
	printf("sort %d %d %d\n", numbers[0], numbers[250], numbers[499]);
	printf("pointer %d\n", by_pointer(argc > 5 ? abs : classify, 200));
	for (unsigned long long i = 1; i < 300; i++)
		s += (int)collatz(i);
	printf("collatz %d\n", s);
	printf("numeric %.6f\n", numeric(40));
	return s & 63;
}
