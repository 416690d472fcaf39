/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

static int twice = 1;
__thread int each;
int other(int n);

static int first(int n)
{
	static int count;

	count += n;
	return count;
}

static int second(int n)
{
	static int count = 10;

	count += 2 * n;
	return count;
}

/* Two in one line. */
#define COUNT_HERE(n)                        \
	do {                                 \
		static int here = 1;         \
		{                            \
			static int here = 2; \
			here += n;           \
		}                            \
		here += n;                   \
	} while (0)

static int third(int n)
{
	if (n > 1) {
		static int turns = 20;

		turns += n;
		return turns;
	}
	static int turns = 30;

	COUNT_HERE(n);
	turns += n;
	return turns;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", twice);
	twice = 10 * argc;
	each = twice;
	printf("%p %d\n", (void *)&each, other(argc));
	printf("%d %d %d\n", twice, first(argc), second(argc));
	printf("%d %d\n", third(argc), third(argc + 1));
	return 0;
}
