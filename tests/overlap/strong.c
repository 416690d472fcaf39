/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of the one of weak.c: a third of its calls each. */
int chosen(int x);

__attribute__((noinline)) int chosen(int x)
{
	if (x % 3 == 0)
		return x * 3;
	if (x % 3 == 1)
		return x * 4;
	return x * 5;
}
