/* SPDX-License-Identifier: Apache-2.0 */
/* 300 instrumented libraries in one process, all built from dlopen_lib.c. */
#define BATTERY_UNIT 1
#include "battery.h"

#include <dlfcn.h>
#include <stdio.h>

static NOINLINE int load(const char *dir, int n)
{
	char path[4096];
	int (*call)(int);
	void *library;

	HIT();
	snprintf(path, sizeof(path), "%s.d/lib%d.so", dir, n);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		HIT();
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	HIT();
	*(void **)&call = dlsym(library, "call");
	return call(n);
}

int main(int argc, char **argv)
{
	int n = battery_int(300);

	for (int i = 1; i <= n; i++) {
		HIT();
		if (load(argv[0], i) != 2 * i) {
			HIT();
			return 1;
		}
	}
	HIT();
	return argc != 1;
}
