/* SPDX-License-Identifier: Apache-2.0 */
// Loops that are entered in the middle, switches into them, returns out of
// three of them, and a goto back.
#include <stdio.h>

static int copy(char *to, const char *from, int n)
{
	int turns = (n + 7) / 8, done = 0;

	if (n == 0)
		return 0;
	switch (n % 8) {
	case 0:
		do {
			to[done] = from[done], done++;
		case 7:
			to[done] = from[done], done++;
		case 6:
			to[done] = from[done], done++;
		case 5:
			to[done] = from[done], done++;
		case 4:
			to[done] = from[done], done++;
		case 3:
			to[done] = from[done], done++;
		case 2:
			to[done] = from[done], done++;
		case 1:
			to[done] = from[done], done++;
		} while (--turns > 0);
	}
	return done;
}

static int search(int limit)
{
	int tries = 0;

again:
	for (int a = 1; a < limit; a++)
		for (int b = a; b < limit; b++)
			for (int c = b; c < limit; c++) {
				tries++;
				if (a * a + b * b == c * c && c > tries % 7)
					return a * 100 + b * 10 + c + tries;
				if (tries == 30)
					goto again;
			}
	return tries;
}

int main(void)
{
	char from[100], to[100];
	int sum = 0;

	for (int i = 0; i < 100; i++)
		from[i] = (char)i;
	for (int i = 0; i < 40; i++)
		sum += copy(to, from, i) + to[i / 2];
	for (int i = 1; i < 9; i++)
		sum += search(i);
	printf("%d\n", sum);
	return 0;
}
