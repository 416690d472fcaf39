/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that run after main: atexit handlers, one of which registers
 * another, a destructor, and _exit in the last one. */
#include "battery.h"

#include <stdlib.h>
#include <unistd.h>

static NOINLINE void work(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		battery_nop();
	}
	HIT();
}

static void late(void)
{
	work(3);
	HIT();
}

static void first(void)
{
	atexit(late);
	work(5);
	HIT();
}

__attribute__((destructor)) static void at_end(void)
{
	work(7);
	HIT();
	_exit(14);
}

int main(void)
{
	atexit(first);
	atexit(first);
	work(11);
	HIT();
	exit(1);
}
