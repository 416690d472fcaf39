/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Static executables only.)  The C library behind our hooks: names that
 * glibc's archive has for the same functions, and for __longjmp_chk, which has
 * no second name, the three steps it consists of.
 */
#include "runtime/exe.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

_Noreturn void __libc_siglongjmp(sigjmp_buf env, int value);
_Noreturn void ____longjmp_chk(__jmp_buf env, int value);
void _longjmp_unwind(jmp_buf env, int value);
void __stack_chk_fail(void) __attribute__((weak));
int __execvpe(const char *file, char *const argv[], char *const env[]);

static void longjmp_chk(void *env, int value)
{
	struct __jmp_buf_tag *e = env;

	_longjmp_unwind(e, value);
	if (e->__mask_was_saved)
		sigprocmask(SIG_SETMASK, (const sigset_t *)&e->__saved_mask,
		            NULL);
	____longjmp_chk(e->__jmpbuf, value ? value : 1);
}

static void longjmp_plain(void *env, int value)
{
	__libc_siglongjmp(env, value);
}

/* The driver asks for this member by this name; it brings in the rest. */
void __cairn_static(void)
{
	libc.longjmp = longjmp_plain;
	libc.longjmp_chk = longjmp_chk;
	libc.execvpe = __execvpe;
	libc.abort = abort;
	libc.stack_chk_fail = __stack_chk_fail;
	libc.exit = exit;
	libc.quick_exit = quick_exit;
}
