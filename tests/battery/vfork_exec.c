/* SPDX-License-Identifier: Apache-2.0 */
/* vfork and exec in a loop; every second exec fails. */
#include "battery.h"

#include <sys/wait.h>
#include <unistd.h>

static NOINLINE int spawn(const char *program)
{
	int status = 0;
	pid_t pid;

	HIT();
	pid = vfork();
	if (pid == 0) {
		HIT();
		execl(program, program, (char *)0);
		HIT();
		_exit(44);
	}
	HIT();
	waitpid(pid, &status, 0);
	HIT();
	return WEXITSTATUS(status);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < battery_int(10); i++) {
		HIT();
		sum += spawn(i % 2 ? "/bin/true" : "/no/such/program");
		HIT();
	}
	HIT();
	return sum != 5 * 44;
}
