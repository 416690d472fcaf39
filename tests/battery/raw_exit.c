/* SPDX-License-Identifier: Apache-2.0 */
/* exit_group by the system call itself, which no library function sees. */
#include "battery.h"

#include <sys/syscall.h>
#include <unistd.h>

static NOINLINE void step(int i)
{
	HIT();
	if (i == 77)
		syscall(SYS_exit_group, 6);
	HIT();
}

int main(void)
{
	for (int i = 0; i < battery_int(1000); i++) {
		HIT();
		step(i);
		HIT();
	}
	HIT();
	return 0;
}
