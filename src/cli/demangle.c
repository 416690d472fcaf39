/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names.  The demangler of the C++ ABI is in libstdc++, which every system
 * with C++ programs has; it is opened when the first C++ name turns up, so
 * that a C user needs no C++ library and names stay as they are without one.
 */
#include "cli/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef char *demangle_fn(const char *, char *, size_t *, int *);

static demangle_fn *find_demangler(void)
{
	static const char *const libraries[] = {"libstdc++.so.6",
	                                        "libc++abi.so.1"};
	demangle_fn *f = NULL;

	for (size_t i = 0; i < 2 && !f; i++) {
		void *lib = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		void *symbol = lib ? dlsym(lib, "__cxa_demangle") : NULL;

		/* ISO C has no conversion from object to function pointers */
		memcpy(&f, &symbol, sizeof(f));
	}
	return f;
}

char *demangle(const char *name)
{
	static demangle_fn *demangler;
	static bool searched;
	int status;

	if (strncmp(name, "_Z", 2))
		return NULL;
	if (!searched)
		demangler = find_demangler();
	searched = true;
	return demangler ? demangler(name, NULL, NULL, &status) : NULL;
}
