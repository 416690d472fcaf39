/* SPDX-License-Identifier: Apache-2.0 */
// Memory from the program break, up and down, and its zeros.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 4; i++) {
		char *p = sbrk(20000 + i * 4096);

		if (p == (void *)-1)
			return 1;
		memset(p, i + 1, 20000);
		for (int j = 0; j < 20000; j += 1000)
			sum += p[j];
		sbrk(-(20000 + i * 4096));
	}
	printf("%d\n", sum);
	return 0;
}
