/* SPDX-License-Identifier: Apache-2.0 */
/* The other half of linkage_a.c. */
#include "linkage.h"

_Thread_local int counter = 5;
int constructed;

__attribute__((constructor)) static void first(void)
{
	constructed += 1;
}

__attribute__((constructor)) static void second(void)
{
	for (int i = 0; i < 10; i++)
		constructed += clamp(i) & 1 ? 10 : 0;
}

__attribute__((destructor)) static void last(void)
{
	constructed = 0;
}

int weak_replaced(int x)
{
	return x & 1 ? clamp(x) : 7;
}

int original(int x);

int original(int x)
{
	while (x > 10)
		x -= 3;
	return x;
}

__attribute__((alias("original"))) int with_alias(int x);

int hidden(int x)
{
	return clamp(x * 300);
}

int never_called(int x);

int never_called(int x)
{
	return x ? original(x - 1) : 0;
}

static int fast(int x)
{
	return 2 * x;
}

static int slow(int x)
{
	return x < 5 ? 1 : 2;
}

/* Runs while the program is being relocated: no instrumentation can work
 * there yet, as the compiler knows for its own. */
__attribute__((no_profile_instrument_function)) static int (*resolve(void))(int)
{
	return sizeof(long) == 8 ? slow : fast;
}

__attribute__((ifunc("resolve"))) int by_resolver(int x);
