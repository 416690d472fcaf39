/* SPDX-License-Identifier: Apache-2.0 */
// The canary of the frames was changed: no function with one returns.
// cc: -fstack-protector-all
// Where a canary is checked no mark can be: the frame counts as one that
// returned (not in all modes), and its death as one that was not recorded.  A
// recording ends at the last event before.
// check: * C4 F1 F2
// exit: -6
#include <stdio.h>

__attribute__((noinline, no_stack_protector)) static int change(int n)
{
	if (n > 3)
		__asm__ volatile("incq %%fs:0x28" ::: "memory");
	return n;
}

__attribute__((noinline)) static int frame(int n)
{
	volatile char room[16];

	room[n] = (char)change(n);
	return room[n];
}

int main(void)
{
	for (int i = 0; i < 6; i++) {
		printf("%d\n", frame(i));
		fflush(stdout);
	}
	return 0;
}
