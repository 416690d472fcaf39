/* SPDX-License-Identifier: Apache-2.0 */
/* vfork, which is fork in a recording: by name, through a pointer, in a
 * thread, in code without marks; its child ends, runs a program or fails to. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int outside(int (*in_child)(int), int code); /* foreign/vfork.c */

static int ended(pid_t pid)
{
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int ends(int code)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(code);
	return ended(pid);
}

static int runs(const char *program)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl(program, "true", (char *)0);
		_exit(errno == ENOENT ? 127 : 126);
	}
	return ended(pid);
}

static pid_t (*volatile pointer)(void) = vfork;

static int by_pointer(int code)
{
	pid_t pid = pointer();

	if (pid == 0)
		_exit(code);
	return ended(pid);
}

static int in_child(int code)
{
	return code + 2;
}

static void *thread(void *unused)
{
	int *result = malloc(sizeof(*result));

	(void)unused;
	*result = ends(3) + runs("/bin/true");
	return result;
}

int main(void)
{
	pthread_t t;
	void *result;
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum = 10 * sum + ends(i + 1);
	printf("%d\n", sum);
	printf("%d %d\n", runs("/bin/true"), runs("/nowhere/true"));
	printf("%d\n", by_pointer(5));
	printf("%d %d\n", outside(in_child, 1), outside(in_child, 7));
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, &result);
	printf("%d\n", *(int *)result);
	free(result);
	return 0;
}
