/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded where others were, and the same ones elsewhere; one
 * more often than there may be modules. */
#include "battery.h"

#include <dlfcn.h>
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
	*(void **)&call = dlsym(library, "call");
	result = call(n);
	dlclose(library);
	return result;
}

int main(int argc, char **argv)
{
	int bad = argc != 1;

	prefix = argv[0];
	for (int i = 0; i < 40; i++)
		if (use(1 + i % 4, i) != 1 + i % 4 + i)
			bad = 1;
	for (int i = 0; i < 1100; i++)
		if (use(1, 3) != 4)
			bad = 1;
	return bad;
}
