/* SPDX-License-Identifier: Apache-2.0 */
// The same library in a second namespace of the loader, with a libc of its own.
// plain: space.so
// ld: -ldl
#define _GNU_SOURCE
#include <stdio.h>
#ifdef PLAIN
static int n;
int count(int (*f)(int))
{
	return f(++n);
}
#else
#include <dlfcn.h>

static int back(int x)
{
	return x > 2 ? x * 3 : x;
}

int main(void)
{
	void *lib[2];
	int sum = 0;

	lib[0] = dlopen("./space.so", RTLD_NOW);
	lib[1] = dlmopen(LM_ID_NEWLM, "./space.so", RTLD_NOW);
	for (int i = 0; i < 8; i++) {
		int (*count)(int (*)(int));

		if (!lib[i % 2])
			return 1;
		*(void **)&count = dlsym(lib[i % 2], "count");
		sum = sum * 2 + count(back);
	}
	printf("%d\n", sum);
	return 0;
}
#endif
