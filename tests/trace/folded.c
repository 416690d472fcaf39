/* SPDX-License-Identifier: Apache-2.0 */
/* Two functions of the same code, which a linker may make one. */
__attribute__((noinline)) int one(int x)
{
	return x * 5 + 1;
}

__attribute__((noinline)) int same(int x)
{
	return x * 5 + 1;
}

int (*volatile first)(int) = one;
int (*volatile second)(int) = same;

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += first(i) + second(i) + second(i);
	return sum != 102;
}
