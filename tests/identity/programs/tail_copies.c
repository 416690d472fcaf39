/* SPDX-License-Identifier: Apache-2.0 */
// A line whose copies make one call in different ways: one of them is a tail
// call, or of another symbol of the same function.
__attribute__((noinline)) void bar(int i)
{
	__asm__ volatile("" ::"r"(i));
}

static inline __attribute__((always_inline)) void foo(int *r)
{
	int i;

	for (i = 0;; i++)
		if (r[i])
			break;

	bar(i); /* once in each copy */
}

__attribute__((noinline)) void do_test(int *r)
{
	for (int i = 0; i < 2; i++)
		foo(r);
}

int main(void)
{
	int r[3] = {0, 0, 1};

	do_test(r);
	return 0;
}
