/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work N HOW [MODULE]: runs that end, or go on, in all ways, and do the same
 * each time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			s += i;
		else if (i % 5 == 0)
			s -= i;
		else
			s ^= i;
	}
	return s;
}

static void *thread(void *n)
{
	return (void *)(long)work((int)(long)n);
}

static void threads(int n)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, (void *)(long)(n + i));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void forks(int n)
{
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			work(n);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

/* A child that becomes another program. */
static void execs(int n)
{
	if (!fork()) {
		work(n);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

/* Frames that never return. */
static int deep(int depth, int n)
{
	if (!depth && n % 4 == 0)
		exit(0);
	return depth ? deep(depth - 1, n) + 1 : work(n);
}

static int loads(const char *path, int n)
{
	void *module = dlopen(path, RTLD_NOW);
	int (*plug)(int) = module ? (int (*)(int))dlsym(module, "plug") : NULL;
	int r = plug ? plug(n) : -1;

	if (module && n % 2)
		dlclose(module);
	return r;
}

/* Its last call is after all exit handlers. */
static ssize_t late(void *unused, const char *text, size_t n)
{
	(void)unused;
	return work((int)n + text[0]) ? (ssize_t)n : (ssize_t)n;
}

static void writes_late(void)
{
	static const cookie_io_functions_t io = {.write = late};
	FILE *f = fopencookie(NULL, "w", io);

	fprintf(f, "late");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	const char *how = argc > 2 ? argv[2] : "plain";

	printf("%d\n", work(n));
	fflush(stdout);
	if (!strcmp(how, "threads"))
		threads(n);
	else if (!strcmp(how, "fork"))
		forks(n);
	else if (!strcmp(how, "exec"))
		execs(n);
	else if (!strcmp(how, "badexec"))
		execl("/no/such/file", "x", (char *)NULL);
	else if (!strcmp(how, "deep"))
		deep(5, n);
	else if (!strcmp(how, "dlopen"))
		loads(argv[3], n);
	else if (!strcmp(how, "late"))
		writes_late();
	else if (!strcmp(how, "kill"))
		raise(SIGKILL);
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "sleep"))
		usleep((useconds_t)n);
	work(n + 1);
	return 0;
}
