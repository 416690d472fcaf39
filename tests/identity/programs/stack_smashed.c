/* SPDX-License-Identifier: Apache-2.0 */
// The canary of a frame was overwritten: the function does not return.
// cc: -fstack-protector-all
// exit: -6
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static void smash(volatile char *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = 'x';
}

__attribute__((noinline)) static int frame(int n)
{
	volatile char room[16];

	room[3] = 0;
	smash(room, n);
	return room[3];
}

int main(void)
{
	printf("%d\n", frame(10));
	fflush(stdout);
	return frame(16 + 16);
}
