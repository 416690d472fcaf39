/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that come to an end in the middle of something: by exec, which may
 * also fail, by exits without handlers, by signals.  The first argument says
 * how; if there is a second one, after a handler of a signal has run.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDE __attribute__((noinline))

extern char **environ;
static char *args[] = {"true", NULL};
static volatile int n, last;

static void count(int sig)
{
	n += sig;
	if (n % 2)
		last = 3;
	else
		last = 4;
}

/* A frame with a branch behind it. */
HIDE static void run(void)
{
	if (n % 3)
		n += 5;
	else
		n += 6;
	last = 7;
	execv("/bin/true", args);
	last = 8;
}

static void run_in_handler(int sig)
{
	if (sig == SIGUSR2)
		n++;
	else
		n--;
	run();
}

static void *run_in_thread(void *unused)
{
	if (n > 1000)
		n = 0;
	run();
	return unused;
}

static void *work(void *unused)
{
	for (;;)
		n = n % 100 + 1;
	return unused;
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		n += WEXITSTATUS(status);
}

static void fail(void)
{
	for (int i = 0; i < 3000; i++) {
		execv("/no/such/program", args);
		if (i % 500 == 0) {
			raise(SIGUSR1);
			n += i;
		}
	}
	_exit(n & 0x3f);
}

/* Each call has a result that nobody knows. */
static void *draw(void *seed)
{
	unsigned state = *(unsigned *)seed, sum = 0;

	for (int i = 0; i < 60000; i++)
		if (rand_r(&state) % 5 == 0)
			sum += state;
	*(unsigned *)seed = sum;
	return NULL;
}

/* Threads are stopped anywhere, and go on. */
static void fail_beside_threads(void)
{
	static unsigned seeds[] = {1, 2, 3};
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, draw, &seeds[i]);
	for (int i = 0; i < 100; i++)
		execv("/no/such/program", args);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		n += (int)(seeds[i] % 100);
	}
}

static void try_in_handler(int sig)
{
	(void)sig;
	execl("/no/such/program", "true", (char *)NULL);
	n++;
}

static void fail_in_handler(void)
{
	signal(SIGUSR2, try_in_handler);
	for (int i = 0; i < 20; i++) {
		if (i % 3)
			raise(SIGUSR2);
		n += i;
	}
	run();
}

static void spawn(void)
{
	pid_t pid = 0;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, args, environ) == 0)
		wait_for(pid);
	last = 2;
}

static void exec_file(void)
{
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

	if (n > 1)
		n = 1;
	fexecve(fd, args, environ);
}

static void exec_at(void)
{
	int fd = open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (n > 1)
		n = 1;
	execveat(fd, "true", args, environ, 0);
}

static void in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, run_in_thread, NULL);
	pthread_join(t, NULL);
}

static void beside_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, NULL);
	while (!n)
		;
	run();
}

static void in_handler(void)
{
	signal(SIGUSR2, run_in_handler);
	raise(SIGUSR2);
}

static void search(void)
{
	if (n)
		last = 1;
	execlp("true", "true", (char *)NULL);
}

static void leave(void)
{
	if (n)
		last = 1;
	_exit(3);
}

static void leave_quickly(void)
{
	if (n)
		last = 1;
	quick_exit(4);
}

static void leave_by_exit(void)
{
	if (n)
		last = 1;
	exit(5);
}

static void die(void)
{
	if (n)
		last = 1;
	abort();
}

static void terminate(void)
{
	if (n)
		last = 1;
	raise(SIGTERM);
}

static const struct {
	const char *name;
	void (*f)(void);
} ways[] = {
        {"exec", run},
        {"search", search},
        {"file", exec_file},
        {"at", exec_at},
        {"thread", in_thread},
        {"beside", beside_thread},
        {"handler", in_handler},
        {"fail", fail},
        {"fail-handler", fail_in_handler},
        {"fail-threads", fail_beside_threads},
        {"spawn", spawn},
        {"_exit", leave},
        {"quick", leave_quickly},
        {"exit", leave_by_exit},
        {"abort", die},
        {"term", terminate},
};

int main(int argc, char **argv)
{
	signal(SIGUSR1, count);
	if (argc > 2)
		for (int i = 0; i < 3; i++)
			raise(SIGUSR1);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].f();
	return n & 0x3f;
}
