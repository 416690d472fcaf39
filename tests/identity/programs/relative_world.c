/* SPDX-License-Identifier: Apache-2.0 */
// It moves: another directory, another root of names, no write permission.
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
	char where[100];

	umask(0777);
	if (chdir("/usr/bin"))
		return 1;
	puts(getcwd(where, sizeof(where)));
	if (!fork()) {
		if (chdir("/"))
			_exit(1);
		_exit(access("usr", R_OK) ? 2 : 0);
	}
	return 0;
}
