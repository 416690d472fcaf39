/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without code: behind one there is another, or nothing. */
#include <stdio.h>

void nothing(void)
{
	__builtin_unreachable();
}

__attribute__((noinline)) int something(int x)
{
	printf("%d\n", x);
	return x + 1;
}

void neither(void)
{
	__builtin_unreachable();
}

void nor(void)
{
	__builtin_unreachable();
}

static __attribute__((noinline)) int other(int x)
{
	return x * 3;
}

int (*volatile called)(int) = other;
void (*volatile taken)(void) = nothing;
static volatile int never;

int main(void)
{
	int sum = 0;

	if (never)
		nothing();
	if (never)
		neither();
	for (int i = 0; i < 5; i++)
		sum += something(i) + called(i);
	return sum != 45;
}

void last(void)
{
	__builtin_unreachable();
}
