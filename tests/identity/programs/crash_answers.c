/* SPDX-License-Identifier: Apache-2.0 */
// A crash in the fourth turn of a loop: everybody has the same answer.
// exit: -11
// levels: -O0 -O1
// defect: 9
// check: edges C4
// check: paths C4
// check: paths,overlap C4
// check: trace C4 F1
// ask: record | 0 | print "i, p" {file} --at crash_answers.c:26 | i = 3
// ask: record | 0 | trace --open {file} | ^      in crash_answers.c:26$
// ask: trace | 0 | trace --open {file} | or further on, nobody knows how far
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *next;
	int value;
};

__attribute__((noinline)) static int total(const struct node *p, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += p->value;
		p = p->next;
	}
	return sum;
}

int main(void)
{
	struct node c = {NULL, 3}, b = {&c, 2}, a = {&b, 1};

	printf("%d\n", total(&a, 3));
	fflush(stdout);
	return total(&a, 5);
}
