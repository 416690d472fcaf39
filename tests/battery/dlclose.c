/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are unloaded and loaded again, also by a second thread, and
 * a thread that outlives the library it has called. */
#define BATTERY_UNIT 1
#include "battery.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char *prefix;

static NOINLINE int use(int which, int n)
{
	char path[4096];
	int (*call)(int);
	void *library;
	int result;

	snprintf(path, sizeof(path), "%s.d/lib%d.so", prefix, which);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	HIT();
	*(void **)&call = dlsym(library, "call");
	result = call(n);
	HIT();
	dlclose(library);
	return result;
}

static void *run(void *arg)
{
	for (int i = 0; i < battery_int(50); i++) {
		HIT();
		if (use(3 + i % 2, i) != 3 + i % 2 + i)
			*(int *)arg = 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int bad = 0;

	prefix = argv[0];
	pthread_create(&thread, NULL, run, &bad);
	for (int i = 0; i < battery_int(60); i++) {
		HIT();
		if (use(1 + i % 2, i) != 1 + i % 2 + i)
			bad = 1;
	}
	pthread_join(thread, NULL);
	HIT();
	return bad || argc != 1;
}
