/* SPDX-License-Identifier: Apache-2.0 */
// A library that is loaded twice, with constructors, thread-local variables and
// calls in both directions, and is there no longer when the program ends.
// library: plug.so
// ld: -rdynamic -ldl
#include <stdio.h>
#ifdef LIBRARY
int host(int x);
static __thread int mine = 5;
static int loads;

__attribute__((constructor)) static void begin(void)
{
	loads += host(1);
}

__attribute__((destructor)) static void end(void)
{
	host(loads + 100);
}

int plug(int x)
{
	if (x > 2)
		mine += x;
	return host(mine) + loads;
}
#else
#include <dlfcn.h>

static int calls;

int host(int x)
{
	calls += x > 4 ? 2 : 1;
	return x * 2;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		void *lib = dlopen("./plug.so", RTLD_NOW);
		int (*plug)(int);

		if (!lib)
			return 1;
		plug = (int (*)(int))dlsym(lib, "plug");
		for (int j = 0; j < 5; j++)
			sum += plug(j);
		if (i != 1)
			dlclose(lib);
	}
	printf("%d %d\n", sum, calls);
	return 0;
}
#endif
