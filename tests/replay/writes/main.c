/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

static int twice = 1;
__thread int each;
int other(int n);

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", twice);
	twice = 10 * argc;
	each = twice;
	printf("%p %d\n", (void *)&each, other(argc));
	printf("%d\n", twice);
	return 0;
}
