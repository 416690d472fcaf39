/* SPDX-License-Identifier: Apache-2.0 */
// A child of vfork that only ends or becomes another program.
// differs: record spawn main
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int spawn(const char *what)
{
	int status;
	pid_t child = vfork();

	if (!child) {
		if (what)
			execl(what, what, (char *)NULL);
		_exit(what ? 9 : 4);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 3; i++)
		s = s * 10 + spawn(i == 0   ? "/bin/true"
		                   : i == 1 ? "/no/such"
		                            : NULL);
	printf("%d\n", s);
	return 0;
}
