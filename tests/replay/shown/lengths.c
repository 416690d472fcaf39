/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays whose length the program computes. */
#include "saw.h"

__attribute__((noinline)) static int work(int n, int m)
{
	int a[n], b[2][m], c[n][m];
	char s[n + 1];

	for (int i = 0; i < n; i++) {
		a[i] = i * i;
		s[i] = (char)('a' + i);
		for (int j = 0; j < m; j++) {
			b[i & 1][j] = i;
			c[i][j] = 10 * i + j;
		}
	}
	s[n] = 0;
	SAW("a, a[2], s", "{%d, %d, %d}|%d|\"%s\"", a[0], a[1], a[2], a[2], s);
	SAW("b, c", "{{%d, %d}, {%d, %d}}|{{%d, %d}, {%d, %d}, {%d, %d}}",
	    b[0][0], b[0][1], b[1][0], b[1][1], c[0][0], c[0][1], c[1][0],
	    c[1][1], c[2][0], c[2][1]);
	return a[1];
}

int main(void)
{
	volatile int n = 3, m = 2;

	return work(n, m) != 1;
}
