/* SPDX-License-Identifier: Apache-2.0 */
__attribute__((noinline, optnone)) static int pick(int i)
{
	if (i < 60)
		return 1;
	return 2;
}

__attribute__((noinline, optnone)) int other(int i)
{
	return pick(i);
}
