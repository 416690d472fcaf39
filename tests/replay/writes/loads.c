/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library twice, at different places: PROGRAM LIBRARY. */
#include <dlfcn.h>
#include <sys/mman.h>

int total;

static void once(const char *path, int n)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*work)(int) = (int (*)(int))dlsym(library, "work");

	total += work(n);
	total += work(n + 1);
	dlclose(library);
}

int main(int argc, char **argv)
{
	once(argv[argc - 1], 10);
	for (int i = 0; i < 32; i++)
		mmap(0, 1 << 14, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	once(argv[argc - 1], 20);
	return 0;
}
