/* SPDX-License-Identifier: Apache-2.0 */
// A frame that branches and is then replaced by exec, below two others.
// defect: 8
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int replace(const char *self, const char *how)
{
	if (strlen(how) > 2)
		execl("/bin/echo", "echo", how, (char *)NULL);
	else
		execl("/proc/self/exe", self, "again", (char *)NULL);
	return 1;
}

static int choose(int argc, char **argv)
{
	const char *how = "x";

	if (argc > 1)
		how = "replaced";
	return replace(argv[0], how);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "again"))
		return 2;
	return choose(argc, argv) + 3;
}
