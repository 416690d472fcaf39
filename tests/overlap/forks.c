/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that forks: the child ends a path that its parent has begun, behind
 * one that only the parent has counted. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int odd(int x)
{
	return x & 1 ? x * 3 : x - 1;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 1000; i++) {
		sum += odd(i);
		if (i == 500 && fork()) {
			wait(NULL);
			sum++;
		}
		if (sum & 4)
			sum += 3;
	}
	printf("%d\n", sum);
	return 0;
}
