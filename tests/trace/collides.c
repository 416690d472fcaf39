/* SPDX-License-Identifier: Apache-2.0 */
/* A library of which one function takes a megabyte. */
int in_library(int x)
{
	__asm__ volatile("jmp 1f\n\t.skip 0x100000, 0x90\n1:");
	return x + 1;
}
