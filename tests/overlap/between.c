/* SPDX-License-Identifier: Apache-2.0 */
/* Without marks, in the place of what a library gives, which it calls. */
#include <dlfcn.h>

int given(int x);
int helps(int x);
int aids(int x);

static int call_next(const char *name, int x)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);

	return next(x) + 1;
}

int given(int x)
{
	return call_next("given", x);
}

#ifdef ALL
int helps(int x)
{
	return call_next("helps", x);
}

int aids(int x)
{
	return call_next("aids", x);
}
#endif
