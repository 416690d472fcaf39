/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, calls, recursion, a pointer to functions, a jump out of frames and a
 * computed goto: little to run, and something of each for a map. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	struct item *next;
	int key;
};

static jmp_buf out;
static int total;
static struct item *list;

__attribute__((noinline)) static int leaf(int n)
{
	if (n % 3 == 0)
		return n / 3;
	return n % 5 ? n + 1 : n - 1;
}

__attribute__((noinline)) static int depth(int n)
{
	if (n > 6)
		longjmp(out, n);
	return n ? depth(n - 1) + 1 : 0;
}

__attribute__((noinline)) static int choose(int n)
{
	static const void *const to[] = {&&a, &&b, &&c};

	goto *to[n % 3];
a:
	return 1;
b:
	return leaf(n);
c:
	return 3;
}

__attribute__((noinline)) static int work(int (*f)(int), int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			sum += (i ^ j) & 1 ? f(i + j) : leaf(j);
	return sum;
}

__attribute__((noinline)) static void add(int key)
{
	struct item *new = malloc(sizeof(*new));

	new->next = list;
	new->key = key;
	list = new;
	total += key;
}

int main(int argc, char **argv)
{
	char text[64] = "";
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;

	for (int i = 0; i < 4; i++)
		add(work(i & 1 ? choose : leaf, i + 2));
	if (!setjmp(out))
		depth(4 + argc * 3);
	for (const struct item *p = list; p; p = p->next)
		printf("%d\n", p->key);
	while (f && fgets(text, sizeof(text), f))
		fprintf(strlen(text) % 2 ? stdout : stderr, "%s", text);
	if (f)
		fclose(f);
	printf("total %d\n", total);
	return 0;
}
