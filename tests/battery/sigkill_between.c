/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL between calls, in a loop that makes none. */
#include "battery.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system call itself: it does not come back. */
static inline void end(long pid)
{
	long result = SYS_kill;

	__asm__ volatile("syscall"
	                 : "+a"(result)
	                 : "D"(pid), "S"((long)SIGKILL)
	                 : "rcx", "r11", "memory");
}

static NOINLINE void loop(int n, long pid)
{
	HIT();
	for (int i = 0; i < n; i++) {
		HIT();
		if (i % 3 == 0) {
			HIT();
		} else if (i == 613) {
			HIT();
			end(pid);
		}
		HIT();
	}
	HIT();
}

int main(void)
{
	long pid = getpid();

	HIT();
	loop(battery_int(600), pid);
	HIT();
	loop(battery_int(1000), pid);
	HIT();
	return 0;
}
