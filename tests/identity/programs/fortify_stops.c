/* SPDX-License-Identifier: Apache-2.0 */
// A function of libc that finds no room ends the program.
// cc: -D_FORTIFY_SOURCE=2 -fstack-protector-strong
// levels: -O1 -O2
// exit: -6
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int fill(const char *text, int n)
{
	char room[8];

	if (n < 3)
		return n;
	strcpy(room, text);
	return room[2];
}

int main(int argc, char **argv)
{
	volatile int n = 0;

	for (int i = 0; i < 6; i++) {
		n += fill(i < 4 ? "short" : "much too long", i);
		printf("%d\n", n);
		fflush(stdout);
	}
	return 0;
}
