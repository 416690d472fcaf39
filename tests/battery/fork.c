/* SPDX-License-Identifier: Apache-2.0 */
/* fork without exec: parent and child count on, each for itself.  The child
 * returns through frames that the parent entered. */
#include "battery.h"

#include <sys/wait.h>
#include <unistd.h>

static NOINLINE void work(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		battery_nop();
	}
}

static NOINLINE pid_t split(int i)
{
	HIT();
	work(10 * i);
	pid_t pid = fork();
	HIT();
	if (pid == 0) {
		HIT();
		work(100 + i);
	} else {
		HIT();
		work(200 + i);
	}
	HIT();
	return pid;
}

int main(void)
{
	int status, bad = 0;

	for (int i = 0; i < battery_int(3); i++) {
		HIT();
		pid_t pid = split(i);
		HIT();
		if (pid == 0) {
			HIT();
			work(1000);
			continue;
		}
		waitpid(pid, &status, 0);
		bad |= status;
		HIT();
	}
	HIT();
	return bad != 0;
}
