/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions of a library, in whose place another one may put its own; of
 * one that is named the library's is called, by its address, and it is
 * unloaded. With another argument it is killed then. */
#include <dlfcn.h>
#include <signal.h>

int given(int x);
#ifdef SHARED
int shared(int x);
#include "placed.h"
#endif

static int (*volatile named)(int x);

__attribute__((noinline)) static int uses(int x)
{
	int y = given(x);

	if (y & 1)
		__asm__ volatile("nop" ::: "memory");
	return y + 1;
}

__attribute__((noinline)) static int points(int x)
{
	int y = named(x);

	if (y & 2)
		__asm__ volatile("nop" ::: "memory");
	return y + 1;
}

int main(int argc, char **argv)
{
	void *library;
	int sum = 0;

	if (argc > 1) {
		library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
		if (!library)
			return 99;
		named = (int (*)(int))dlsym(library, "given");
	}
	for (int i = 0; i < 30; i++)
		sum += uses(i);
	for (int i = 0; named && i < 20; i++)
		sum += points(i);
	if (named)
		dlclose(library);
	if (argc > 2)
		raise(SIGKILL);
#ifdef SHARED
	sum += shared(1);
#endif
	return sum == 0;
}
