/* SPDX-License-Identifier: Apache-2.0 */
/* posix_spawn and system(): the child shares memory until exec. */
#include "battery.h"

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static NOINLINE int spawn(int i)
{
	static char name[] = "/bin/true";
	char *argv[] = {name, NULL};
	int status = 1;
	pid_t pid;

	HIT();
	if (i % 2) {
		HIT();
		return system("exit 0");
	}
	if (posix_spawn(&pid, name, NULL, NULL, argv, environ))
		return 1;
	HIT();
	waitpid(pid, &status, 0);
	HIT();
	return status;
}

int main(void)
{
	int bad = 0;

	for (int i = 0; i < battery_int(8); i++) {
		HIT();
		bad |= spawn(i);
		HIT();
	}
	return bad;
}
