/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for disk.py.  It says "ready", waits for a line, and then:
 *
 *   threads N      has N threads at a time, which makes its file grow
 *   modules N      loads N libraries while the file may not grow, calls them
 *                  when it may, and kills itself
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define MOST 64

static pthread_barrier_t barrier;

static int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 3 ? i : -i;
	return sum;
}

static void *one(void *unused)
{
	work(10);
	pthread_barrier_wait(&barrier);
	return unused;
}

static void run_threads(int n)
{
	pthread_t threads[MOST];

	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, one, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void load_modules(int n)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	void (*call[MOST])(void);
	struct stat st;

	if (stat(getenv("CAIRN_OUT"), &st))
		exit(9);
	limit.rlim_cur = (rlim_t)st.st_size;
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < n; i++) {
		char name[32];
		void *library;

		snprintf(name, sizeof(name), "./library%d.so", i);
		library = dlopen(name, RTLD_NOW);
		if (!library)
			exit(8);
		call[i] = (void (*)(void))dlsym(library, "library");
	}
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < n; i++)
		call[i]();
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	puts("ready");
	fflush(stdout);
	getchar();
	if (n > MOST)
		return 7;
	if (n && !strcmp(argv[1], "threads"))
		run_threads(n);
	if (n && !strcmp(argv[1], "modules"))
		load_modules(n);
	return work(3) > 100;
}
