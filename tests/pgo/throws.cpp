// SPDX-License-Identifier: Apache-2.0
// An invoke that throws every fifth time.
__attribute__((noinline, optnone)) static int some(int i)
{
	if (i % 5 == 0)
		throw i;
	return 1;
}

__attribute__((noinline, optnone)) int caught(int i)
{
	try {
		return some(i);
	} catch (int) {
		return 2;
	}
}

__attribute__((noinline, optnone)) int main()
{
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += caught(i);
	return sum != 1200;
}
