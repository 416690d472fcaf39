/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only, unless linked statically.)  The C library behind our
 * hooks: the next definition after the executable's, looked up once at the
 * start, since a hook may run in a signal handler.
 */
#include "runtime/exe.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

#include "runtime/rt.h"

/* The driver asks for this member by this name; it brings in the rest. */
__attribute__((visibility("hidden"))) const char *const __cairn_dynamic =
        &__cairn_executable;

static struct {
	void (*longjmp)(void *, int) __attribute__((noreturn));
	void (*longjmp_chk)(void *, int) __attribute__((noreturn));
	int (*execvpe)(const char *, char *const[], char *const[]);
	int (*fork)(void);
} next;

static void look_up(void *to, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	__builtin_memcpy(to, &p, sizeof(p));
}

void libc_init(void)
{
	look_up(&next.longjmp, "siglongjmp");
	look_up(&next.longjmp_chk, "__longjmp_chk");
	look_up(&next.execvpe, "execvpe");
	look_up(&next.fork, "_Fork");
}

void libc_longjmp(void *env, int value)
{
	next.longjmp(env, value);
}

void libc_longjmp_chk(void *env, int value)
{
	next.longjmp_chk(env, value);
}

int libc_execvpe(const char *file, char *const argv[], char *const env[])
{
	return next.execvpe(file, argv, env);
}

/* fork without the handlers of pthread_atfork: ours must run all the same. */
__attribute__((visibility("default"))) int _Fork(void);

int _Fork(void)
{
	int pid;

	if (!next.fork)
		return (int)cairn_set_errno(ENOSYS);
	rt_fork_prepare();
	pid = next.fork();
	if (pid == 0)
		rt_fork_child();
	else
		rt_fork_parent();
	return pid;
}
