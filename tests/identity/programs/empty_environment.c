/* SPDX-License-Identifier: Apache-2.0 */
// The environment goes, and exec follows.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	char *none[] = {NULL}, *next[] = {argv[0], "2", NULL};

	if (argc > 1) {
		int n = 0;
		for (char **e = environ; e && *e; e++)
			n++;
		printf("%d\n", n);
		return 0;
	}
	setenv("SOME", "thing", 1);
	puts(getenv("SOME"));
	clearenv();
	puts(getenv("PATH") ? "path" : "no path");
	fflush(stdout);
	execve("/proc/self/exe", next, none);
	return 1;
}
