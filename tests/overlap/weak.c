/* SPDX-License-Identifier: Apache-2.0 */
/* A weak function that another one takes the place of: both have the address of
 * the latter in the map, and calls are calls of the latter. */
int chosen(int x);

__attribute__((weak, noinline)) int chosen(int x)
{
	if (x & 1)
		return x * 3;
	if (x & 2)
		return x * 5;
	if (x & 4)
		return x * 7;
	return x + 5;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 99; i++)
		sum += chosen(i);
	return sum != 19470;
}
