/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Static executables only.)  The C library behind our hooks: names that
 * glibc's archive has for the same functions, and for __longjmp_chk, which has
 * no second name, the three steps it consists of.
 */
#include "runtime/exe.h"

#include <setjmp.h>
#include <signal.h>

#include "runtime/rt.h"

/* The driver asks for this member by this name; it brings in the rest. */
__attribute__((visibility("hidden"))) const char *const __cairn_static =
        &__cairn_executable;

_Noreturn void __libc_siglongjmp(sigjmp_buf env, int value);
_Noreturn void ____longjmp_chk(__jmp_buf env, int value);
void _longjmp_unwind(jmp_buf env, int value);
int __execvpe(const char *file, char *const argv[], char *const env[]);
int __real__Fork(void);

void libc_init(void)
{
}

void libc_longjmp(void *env, int value)
{
	__libc_siglongjmp(env, value);
}

void libc_longjmp_chk(void *env, int value)
{
	struct __jmp_buf_tag *e = env;

	_longjmp_unwind(e, value);
	if (e->__mask_was_saved)
		sigprocmask(SIG_SETMASK, (const sigset_t *)&e->__saved_mask,
		            NULL);
	____longjmp_chk(e->__jmpbuf, value ? value : 1);
}

int libc_execvpe(const char *file, char *const argv[], char *const env[])
{
	return __execvpe(file, argv, env);
}

/*
 * fork without the handlers of pthread_atfork: ours must run all the same.
 * The driver links with --wrap=_Fork, so fork itself comes here too: then our
 * handler holds the lock.
 */
int __wrap__Fork(void);

int __wrap__Fork(void)
{
	int pid;

	if (rt_is_inside())
		return __real__Fork();
	rt_fork_prepare();
	pid = __real__Fork();
	if (pid == 0)
		rt_fork_child();
	else
		rt_fork_parent();
	return pid;
}
