/* SPDX-License-Identifier: Apache-2.0 */
// setjmp in functions that are inlined, in loops, within each other.
#include <setjmp.h>
#include <stdio.h>

struct place {
	jmp_buf at;
	struct place *up;
};

static struct place *current;
static int caught;

static void fail(int x)
{
	struct place *p = current;

	current = p->up;
	longjmp(p->at, x);
}

static inline int attempt(int (*f)(int), int x)
{
	struct place here;
	volatile int seen = 0;
	int why;

	here.up = current;
	current = &here;
	why = setjmp(here.at);
	if (why) {
		seen++;
		caught += why;
		return -seen;
	}
	x = f(x);
	current = here.up;
	return x;
}

static int leaf(int x)
{
	if (x % 3 == 0)
		fail(x + 1);
	return x;
}

static int middle(int x)
{
	int got = attempt(leaf, x);

	if (got < 0 && x % 2)
		fail(2);
	return got + 1;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 14; i++)
		sum += attempt(middle, i) + attempt(leaf, i + 1);
	printf("%d %d\n", sum, caught);
	return 0;
}
