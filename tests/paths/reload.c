/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared objects that take each other's place: one is loaded, run and unloaded,
 * another one comes to its addresses, and the first one is back elsewhere.
 * With -DLIBRARY it is one of them: RUN is its function.
 */
#ifdef LIBRARY
int RUN(int n);
int RUN(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		__asm__ volatile("" : "+r"(sum));
		sum += i & 1 ? i : 1;
	}
	return sum;
}
#else
#include <dlfcn.h>
#include <stdio.h>

static void *run(const char *path, const char *name, int n)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*function)(int) = (int (*)(int))dlsym(library, name);

	printf("%p\n", (void *)function);
	function(n);
	return library;
}

int main(int argc, char **argv)
{
	void *other;

	if (argc != 3)
		return 2;
	dlclose(run(argv[1], "one", 10));
	other = run(argv[2], "two", 100);
	dlclose(run(argv[1], "one", 1000));
	dlclose(other);
	return 0;
}
#endif
