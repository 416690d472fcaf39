/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of any length, and alloca, in functions that longjmp comes back to. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf there;

static void deep(int n)
{
	char x[100];

	memset(x, n, sizeof(x));
	if (n == 0)
		longjmp(there, 42);
	deep(n - 1);
	printf("%d\n", x[3]);
}

static int lengths(void)
{
	int sum = 0;

	for (int n = 1; n < 6; n++) {
		int all[n][n + 1];
		char *text = alloca((unsigned)n * 10);

		for (int i = 0; i < n; i++)
			for (int j = 0; j <= n; j++)
				all[i][j] = i * j;
		snprintf(text, (unsigned)n * 10, "%d", all[n - 1][n]);
		sum += (int)strlen(text) + all[n - 1][n];
	}
	return sum;
}

int main(void)
{
	volatile int k = 0;
	char *old = NULL;
	int came;

	for (int n = 1; n < 4; n++) {
		char row[n * 16];

		snprintf(row, sizeof(row), "%d", n);
		old = alloca(32);
		snprintf(old, 32, "%s and %d", row, lengths());
		puts(old);
	}
	came = setjmp(there);
	if (came == 0 || k < 3) {
		char *more = alloca(64 * (unsigned)(k + 1));

		k++;
		snprintf(more, 64, "%d of %d", k, came);
		puts(more);
		deep(k);
	}
	printf("%d %d %d\n", came, k, lengths());
	return 0;
}
