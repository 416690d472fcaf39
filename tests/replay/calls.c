/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of and from code without marks, input, memory by the row. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct large {
	int a[20];
	double d;
};

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int sum(int n, ...)
{
	va_list args;
	double d = 0;
	int s = 0;

	va_start(args, n);
	for (int i = 0; i < n; i++) {
		if (i % 2)
			d += va_arg(args, double);
		else
			s += va_arg(args, int);
	}
	va_end(args);
	return s + (int)d;
}

static __attribute__((noinline)) double by_value(struct large l)
{
	double s = l.d;

	for (int i = 0; i < 20; i++) {
		s += l.a[i];
		l.a[i] = 0;
	}
	return s;
}

static __attribute__((noinline)) struct large make(int k)
{
	struct large l;

	memset(&l, k, sizeof(l));
	l.d = k;
	return l;
}

static void at_exit(void)
{
	printf("at exit\n");
}

int main(int argc, char **argv)
{
	int v[100], key = 0, *found;
	char line[256], copy[300];
	unsigned s = (unsigned)argc;
	FILE *f = fopen(argv[1], "r");

	atexit(at_exit);
	while (f && fgets(line, sizeof(line), f))
		for (char *p = line; *p; p++)
			s = s * 31 + (unsigned char)*p;
	for (int i = 0; i < 100; i++) {
		s = s * 1103515245 + 12345;
		v[i] = (int)(s >> 16);
	}
	qsort(v, 100, sizeof(*v), compare);
	key = v[50];
	found = bsearch(&key, v, 100, sizeof(*v), compare);
	printf("%d %d %d\n", v[0], v[99], found && *found == key);
	memset(copy, argc, sizeof(copy));
	memmove(copy + 1, copy, 200);
	printf("%d %d\n", copy[150], sum(6, 1, 2.5, 3, 4.5, 5, 6.5));
	printf("%f %f\n", by_value(make(argc)), by_value(make(2)));
	exit(3);
}
