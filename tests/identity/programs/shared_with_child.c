/* SPDX-License-Identifier: Apache-2.0 */
// Memory that a child changes while its parent waits for it.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int *box = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int odd = 0, status;

	for (int i = 0; i < 5; i++) {
		pid_t child;

		box[0] = i;
		box[1] = -1;
		child = fork();
		if (!child) {
			box[1] = box[0] * 3 + 1;
			_exit(i);
		}
		waitpid(child, &status, 0);
		if (box[1] & 1)
			odd++;
		box[2] += box[1] + WEXITSTATUS(status);
	}
	printf("%d %d\n", box[2], odd);
	return 0;
}
