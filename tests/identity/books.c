/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of tests/battery call; compiled without marks. */
#include "books.h"

#include <stdio.h>

void battery_ready(void)
{
	puts("ready");
}

int battery_int(int value)
{
	return value;
}

void battery_nop(void)
{
}
