/* SPDX-License-Identifier: Apache-2.0 */
/* fork in a thread other than main, while another thread is busy; the child
 * has only the forking thread. */
#include "battery.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static NOINLINE void work(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		battery_nop();
	}
	HIT();
}

static void *busy(void *arg)
{
	work(battery_int(500));
	while (!stop)
		usleep(1000);
	HIT();
	return arg;
}

static void *forker(void *arg)
{
	int status = 0;
	pid_t pid;

	work(300);
	pid = fork();
	HIT();
	if (pid == 0) {
		work(70);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	HIT();
	*(int *)arg = WEXITSTATUS(status);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int status = 0;

	pthread_create(&a, NULL, busy, NULL);
	pthread_create(&b, NULL, forker, &status);
	pthread_join(b, NULL);
	HIT();
	stop = 1;
	pthread_join(a, NULL);
	HIT();
	return status != 9;
}
