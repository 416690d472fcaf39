/* SPDX-License-Identifier: Apache-2.0 */
// Large variables of which only a few constant places are used.
#include <stdio.h>

struct person {
	char name[30000];
	int age;
};

__attribute__((noinline)) static int touch(int n)
{
	volatile char room[400 << 10];

	room[0] = (char)n;
	room[sizeof(room) - 1] = (char)(n + 1);
	return room[0] + room[sizeof(room) - 1];
}

__attribute__((noinline)) static int meet(int n)
{
	volatile struct person p;

	p.name[29999] = (char)n;
	p.age = n;
	return p.age + p.name[29999];
}

__attribute__((noinline)) static int small(int n)
{
	volatile int v[4];

	v[1] = n;
	v[3] = 2 * n;
	return v[1] + v[3];
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += touch(i & 63) + meet(i & 63) + small(i);
	printf("%d\n", sum);
	return 0;
}
