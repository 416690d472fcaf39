/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that two files have, and the linker takes once. */
extern volatile int ntimes;
int other(int n);

inline __attribute__((noinline)) int loops(int n)
{
	for (int i = 0; i < ntimes; i++)
		n += i & 1 ? n : 1;
	return n;
}

inline __attribute__((noinline)) int calls(int n)
{
	return n & 1 ? loops(n) + 1 : loops(n + 1);
}
