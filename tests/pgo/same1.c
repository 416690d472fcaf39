/* SPDX-License-Identifier: Apache-2.0 */
/* A local function of the same name as in same2.c, with the same shape. */
__attribute__((noinline, optnone)) static int pick(int i)
{
	if (i < 30)
		return 1;
	return 2;
}

int other(int i);

__attribute__((noinline, optnone)) int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += pick(i) + other(i);
	return sum != 310;
}
