/* SPDX-License-Identifier: Apache-2.0 */
/* The double fork of a daemon: the parents leave by _exit and exit. */
#include "battery.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static NOINLINE void work(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		battery_nop();
	}
	HIT();
}

static NOINLINE void become_daemon(int out)
{
	HIT();
	if (fork() > 0) {
		HIT();
		close(out);
		return;
	}
	setsid();
	HIT();
	if (fork() > 0) {
		HIT();
		_exit(0);
	}
	HIT();
	work(55);
	exit(0);
}

int main(void)
{
	int ends[2];
	char c;

	if (pipe(ends))
		return 1;
	work(11);
	become_daemon(ends[1]);
	HIT();
	while (read(ends[0], &c, 1) > 0) {
		HIT();
		battery_nop();
	}
	wait(NULL);
	HIT();
	return 0;
}
