/* SPDX-License-Identifier: Apache-2.0 */
/* The other file of by_value.c. */
#include "by_value.h"

__attribute__((noinline)) long second(int n, struct big b)
{
	return n % 5 ? first(n / 2, b) : b.part[n % 3] - first(n / 3, b);
}
