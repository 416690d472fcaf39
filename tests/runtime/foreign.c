/* SPDX-License-Identifier: Apache-2.0 */
/* A program without marks that loads a library with marks. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void leave(void)
{
	exit(7);
}

static void *load(void)
{
	void *h = dlopen("./lib0.so", RTLD_NOW);

	if (!h)
		exit(1);
	return h;
}

int main(int argc, char **argv)
{
	void *h = load();
	void (*work)(void);
	void (*call)(void (*)(void));

	*(void **)&work = dlsym(h, "lib_work");
	*(void **)&call = dlsym(h, "lib_exit");
	work();
	work();
	if (argc > 1 && !strcmp(argv[1], "exit"))
		call(leave);
	dlclose(h);
	h = load();
	*(void **)&work = dlsym(h, "lib_work");
	work();
	return 0;
}
