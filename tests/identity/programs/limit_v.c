/* SPDX-License-Identifier: Apache-2.0 */
// Little room for addresses: what a recording maps has to fit as well.
// refuses: record "the address space is limited"
// limits: ulimit -v 1000000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	size_t got = 0;
	int n = 0;

	for (int i = 0; i < 40; i++) {
		char *p = malloc(1 << 20);

		if (!p)
			break;
		memset(p, i, 1 << 20);
		got += (unsigned char)p[i * 1000];
		n++;
	}
	printf("%d %zu %d\n", n, got, malloc((size_t)1 << 40) == NULL);
	return 0;
}
