/* SPDX-License-Identifier: Apache-2.0 */
// A library with marks in a second namespace of the loader.
// refuses: record "a library in it has a runtime of its own"
// library: space.so
// ld: -ldl
#define _GNU_SOURCE
#include <stdio.h>
#ifdef LIBRARY
int count(int x)
{
	int s = 0;

	for (int i = 0; i < x; i++)
		s += i & 1 ? i : 1;
	return s;
}
#else
#include <dlfcn.h>

int main(void)
{
	void *lib = dlmopen(LM_ID_NEWLM, "./space.so", RTLD_NOW);
	int (*count)(int);

	if (!lib) {
		puts(dlerror());
		return 1;
	}
	*(void **)&count = dlsym(lib, "count");
	printf("%d\n", count(10));
	return 0;
}
#endif
