/* SPDX-License-Identifier: Apache-2.0 */
/* A log that grows as long as the program runs: it reads numbers, and what it
 * has of them is in memory of all kinds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCOUNTS 97

struct node {
	struct node *next;
	long value;
};

static long counts[NCOUNTS];
static struct node *list;
long sum;

static int is_greater(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

static void push(long value)
{
	struct node *n = malloc(sizeof(*n));

	n->next = list;
	n->value = value;
	list = n;
}

/* Recursion: frames that a checkpoint has to have. */
static long depth(const struct node *n, int left)
{
	long rest;

	if (!n || !left)
		return 0;
	rest = depth(n->next, left - 1);
	return rest + (n->value > rest);
}

static void take(const char *line, long number)
{
	long value = strtol(line, NULL, 10);

	sum += value;
	counts[value % NCOUNTS]++;
	if (value % 7 == 0)
		push(value);
	if (number % 1000 == 0) {
		long sorted[NCOUNTS];

		memcpy(sorted, counts, sizeof(sorted));
		qsort(sorted, NCOUNTS, sizeof(*sorted), is_greater);
		printf("%ld: sum %ld, median %ld, depth %ld\n", number, sum,
		       sorted[NCOUNTS / 2], depth(list, 50));
	}
}

int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
	char line[64];
	long number = 0;

	while (in && fgets(line, sizeof(line), in))
		take(line, ++number);
	printf("%ld lines, %ld\n", number, sum);
	return 0;
}
