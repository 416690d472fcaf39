/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic updates of which only a flag of the processor is used: lock dec and
 * je, lock bts and jc.  Branches are calls, so that no select takes their
 * place.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct counted {
	_Atomic unsigned references, bits;
	_Atomic long sum;
};

static void give_back(struct counted *c, int *left)
{
	if (atomic_fetch_sub(&c->references, 1) == 1) {
		puts("last");
		free(c);
		*left = 0;
	}
}

static void update(struct counted *c, int n)
{
	if (atomic_fetch_or(&c->bits, 8) & 8)
		puts("8");
	if (atomic_fetch_or(&c->bits, 1u << (n & 31)) & (1u << (n & 31)))
		puts("set");
	if (!(atomic_fetch_and(&c->bits, ~16u) & 16))
		puts("not 16");
	if (atomic_fetch_xor(&c->bits, 1u << (n & 31)) & (1u << (n & 31)))
		puts("changed");
	if (atomic_fetch_add(&c->sum, n - 5) + n - 5 < 0)
		puts("negative");
	if (atomic_fetch_sub(&c->sum, 3) == 3)
		puts("zero");
	if (!(atomic_fetch_and(&c->bits, 0xff) & 0xff))
		puts("none");
}

int main(void)
{
	struct counted *c = calloc(1, sizeof(*c));
	int left = 4;

	if (!c)
		return 1;
	c->references = 4;
	for (int i = 0; i < 40; i++)
		update(c, i);
	printf("%x %ld\n", c->bits, (long)c->sum);
	while (left)
		give_back(c, &left);
	return 0;
}
