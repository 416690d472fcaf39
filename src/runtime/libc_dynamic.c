/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only, unless linked statically.)  The C library behind our
 * hooks: the next definition after the executable's, looked up once at the
 * start, since a hook may run in a signal handler.
 */
#include "runtime/exe.h"

#include <dlfcn.h>

static void look_up(void *to, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	__builtin_memcpy(to, &p, sizeof(p));
}

/* The driver asks for this member by this name; it brings in the rest. */
void __cairn_dynamic(void)
{
	look_up(&libc.longjmp, "siglongjmp");
	look_up(&libc.longjmp_chk, "__longjmp_chk");
	look_up(&libc.execvpe, "execvpe");
	look_up(&libc.abort, "abort");
	look_up(&libc.stack_chk_fail, "__stack_chk_fail");
	look_up(&libc.exit, "exit");
	look_up(&libc.quick_exit, "quick_exit");
}
