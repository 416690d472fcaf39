/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only.)  Ends of a process that run no exit handlers: _exit,
 * _Exit, and the exec family, which may also fail and come back.
 *
 * Each looks at the stacks and seals the file, then asks the kernel.  In the
 * child of a vfork only that child's frames end.
 *
 * Cost: that of the end of a process.
 */
#include "runtime/exe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "runtime/finish.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/vfork.h"
#include "runtime/walk.h"

/* weak: a program may have its own */
#define SHOWN __attribute__((visibility("default"), weak))

const char hook_exit_member = 1;
#define HERE ((uintptr_t)__builtin_return_address(0))

/* An end that may have to be taken back. */
struct end {
	struct unwind u;
	bool has_frames, is_vfork;
	uintptr_t walked_to;
};

static void end_begin(struct end *e, uint32_t how, uintptr_t to)
{
	struct thread *t = process.is_off ? NULL : rt_self();

	rt_zero(e, sizeof(*e));
	if (t) {
		unwind_capture(&e->u);
		e->has_frames = walk_start(&e->u, t, to);
		e->walked_to = t->walked_to;
	}
	e->is_vfork = vfork_ends(e->has_frames ? &e->u : NULL);
	if (e->is_vfork)
		return;
	exe_end_output(false);
	finish_process(how, 0, e->has_frames ? &e->u : NULL);
}

static void end_take_back(struct end *e)
{
	const struct unwind *u = e->has_frames ? &e->u : NULL;

	if (e->is_vfork)
		vfork_take_back(u);
	else
		finish_take_back(u, e->walked_to);
}

/* --- _exit --------------------------------------------------------- */

static _Noreturn void exit_group(int status)
{
	for (;;) {
		sys1(SYS_exit_group, status);
		__asm__ volatile("hlt");
	}
}

SHOWN _Noreturn void _exit(int status)
{
	struct end e;

	end_begin(&e, CAIRN_HOW_EXIT, HERE);
	exit_group(status);
}

SHOWN _Noreturn void _Exit(int status);

void _Exit(int status)
{
	struct end e;

	end_begin(&e, CAIRN_HOW_EXIT, HERE);
	exit_group(status);
}

/* --- exec ----------------------------------------------------------------- */

static int exec_failed(struct end *e, long error)
{
	end_take_back(e);
	return (int)cairn_set_errno((int)-error);
}

static int exec_path(const char *path, char *const argv[], char *const env[],
                     uintptr_t to)
{
	struct end e;

	end_begin(&e, CAIRN_HOW_EXEC, to);
	return exec_failed(&e,
	                   sys3(SYS_execve, (long)path, (long)argv, (long)env));
}

static int exec_search(const char *file, char *const argv[], char *const env[],
                       uintptr_t to)
{
	struct end e;
	int error;

	end_begin(&e, CAIRN_HOW_EXEC, to);
	libc.execvpe(file, argv, env);
	error = errno;
	return exec_failed(&e, -error);
}

SHOWN int execve(const char *path, char *const argv[], char *const env[])
{
	return exec_path(path, argv, env, HERE);
}

SHOWN int execv(const char *path, char *const argv[])
{
	return exec_path(path, argv, environ, HERE);
}

SHOWN int execvp(const char *file, char *const argv[])
{
	return exec_search(file, argv, environ, HERE);
}

SHOWN int execvpe(const char *file, char *const argv[], char *const env[])
{
	return exec_search(file, argv, env, HERE);
}

static int exec_at(int fd, const char *path, char *const argv[],
                   char *const env[], int flags, uintptr_t to)
{
	struct end e;

	end_begin(&e, CAIRN_HOW_EXEC, to);
	return exec_failed(&e, sys6(SYS_execveat, fd, (long)path, (long)argv,
	                            (long)env, flags, 0));
}

SHOWN int execveat(int fd, const char *path, char *const argv[],
                   char *const env[], int flags)
{
	return exec_at(fd, path, argv, env, flags, HERE);
}

SHOWN int fexecve(int fd, char *const argv[], char *const env[])
{
	if (fd < 0)
		return (int)cairn_set_errno(EINVAL);
	return exec_at(fd, "", argv, env, AT_EMPTY_PATH, HERE);
}

/* --- exec with the arguments in a list ------------------------------------ */

/* Room for the pointers: most lists are short. */
struct list {
	char *few[64];
	char **argv;
	size_t n, size;
};

static int list_init(struct list *l, const char *first, va_list rest)
{
	va_list count;
	const char *s = first;

	va_copy(count, rest);
	for (l->n = 0; s; l->n++)
		s = va_arg(count, const char *);
	va_end(count);
	l->size = (l->n + 1) * sizeof(char *);
	l->argv = l->n < 64 ? l->few : sys_map_zeros(l->size);
	if (!l->argv)
		return -1;
	s = first;
	for (size_t i = 0; i < l->n; i++) {
		l->argv[i] = (char *)(uintptr_t)s;
		s = va_arg(rest, const char *);
	}
	l->argv[l->n] = NULL;
	return 0;
}

static void list_release(struct list *l)
{
	if (l->argv && l->argv != l->few)
		sys3(SYS_munmap, (long)l->argv, (long)l->size, 0);
}

SHOWN int execl(const char *path, const char *arg, ...)
{
	struct list l;
	va_list rest;
	int r;

	va_start(rest, arg);
	r = list_init(&l, arg, rest);
	va_end(rest);
	if (r < 0)
		return (int)cairn_set_errno(ENOMEM);
	r = exec_path(path, l.argv, environ, HERE);
	list_release(&l);
	return r;
}

SHOWN int execlp(const char *file, const char *arg, ...)
{
	struct list l;
	va_list rest;
	int r;

	va_start(rest, arg);
	r = list_init(&l, arg, rest);
	va_end(rest);
	if (r < 0)
		return (int)cairn_set_errno(ENOMEM);
	r = exec_search(file, l.argv, environ, HERE);
	list_release(&l);
	return r;
}

SHOWN int execle(const char *path, const char *arg, ...)
{
	struct list l;
	va_list rest;
	char *const *env;
	int r;

	va_start(rest, arg);
	r = list_init(&l, arg, rest);
	env = va_arg(rest, char *const *);
	va_end(rest);
	if (r < 0)
		return (int)cairn_set_errno(ENOMEM);
	r = exec_path(path, l.argv, env, HERE);
	list_release(&l);
	return r;
}
