/* SPDX-License-Identifier: Apache-2.0 */
/* exec of another instrumented program, in a callee inside a loop: two images
 * of one process, two files.  An exec that fails goes before it. */
#define BATTERY_UNIT 1
#include "battery.h"

#include <stdio.h>
#include <unistd.h>

static NOINLINE void step(int i, char *path)
{
	HIT();
	if (i == 40) {
		execl("/no/such/program", "none", (char *)0);
		HIT();
	}
	if (i == 90) {
		HIT();
		execl(path, path, "7", (char *)0);
		HIT();
	}
	HIT();
}

int main(int argc, char **argv)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.d/exec_target", argv[0]);
	HIT();
	for (int i = 0; i < battery_int(1000); i++) {
		HIT();
		step(i, path);
		HIT();
	}
	HIT();
	return argc;
}
