/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables only.)  The start and the end of an instrumented program.
 *
 * A function in .preinit_array runs before all constructors, those of shared
 * objects included.  There the file is made, the handlers of fatal signals are
 * set, and the end is prepared: exit handlers run in reverse order, so one that
 * is registered before anybody else's runs after all of them, and after the
 * destructors of all objects, which the dynamic linker registers later.  A
 * static program registers its destructors before it runs .preinit_array, so
 * there the last entry of .fini_array takes the place.
 *
 * Cost: about 150 system calls at the start, 106 of them about signals.
 */
#include "runtime/exe.h"

#include <errno.h>

#include "runtime/fatal.h"
#include "runtime/finish.h"
#include "runtime/object.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/secure.h"
#include "runtime/sys.h"
#include "runtime/walk.h"

#define EXIT_DEPTH 16 /* frames between an exit handler and exit */
#define HIDDEN __attribute__((visibility("hidden")))

int __cxa_atexit(void (*hook)(void *), void *arg, void *dso);
int __cxa_at_quick_exit(void (*hook)(void *), void *dso);

/* module.c has another one, weak, that is 0. */
HIDDEN extern const char __cairn_executable;
HIDDEN const char __cairn_executable = 1;

struct libc libc;

/* There is another one in programs that are recorded. */
__attribute__((weak)) void cairn_output_start(void)
{
}

void (*exe_output_end)(bool is_flushed);

__attribute__((used)) static const void *const members[] = {
        &hook_jump_member,   &hook_exit_member,          &hook_signal_member,
        (const void *)vfork, (const void *)__wrap__Fork,
};

long cairn_set_errno(int error)
{
	errno = error;
	return -1;
}

/*
 * Goes on to the frame of exit itself.  Frames in between are the C library's
 * and return; in a static program they would count as the program's own.
 */
static bool find_exit(struct unwind *u, struct thread *t)
{
	for (int i = 0; i < EXIT_DEPTH; i++) {
		uintptr_t function = unwind_function(u->pc - 1);

		if (function && (function == (uintptr_t)libc.exit ||
		                 function == (uintptr_t)libc.quick_exit))
			return true;
		if (unwind_step(u, t) != UNWIND_OK)
			return false;
	}
	return false;
}

/* Requires: called by the C library's exit, which came from the program. */
static void end_here(uintptr_t to)
{
	struct thread *t = rt_self();
	struct unwind u;

	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	if (process.is_recording) { /* frames do not matter */
		finish_process(CAIRN_HOW_EXIT, 0, NULL);
		return;
	}
	if (t && walk_start(&u, t, to) && find_exit(&u, t)) {
		finish_process(CAIRN_HOW_EXIT, 0, &u);
		return;
	}
	if (t)
		out_flag(CAIRN_FILE_FRAMES_LOST, 1);
	finish_process(CAIRN_HOW_EXIT, 0, NULL);
}

static void at_exit(void *unused)
{
	(void)unused;
	exe_end_output(true);
	end_here((uintptr_t)__builtin_return_address(0));
}

static void at_quick_exit(void *unused)
{
	(void)unused;
	exe_end_output(false);
	end_here((uintptr_t)__builtin_return_address(0));
}

static void at_fini(void)
{
	if (!process.is_static)
		return;
	exe_end_output(true);
	end_here((uintptr_t)__builtin_return_address(0));
}

static void at_start(int argc, char **argv, char **env)
{
	struct object o;
	struct sys_aux aux;
	uint64_t mask;

	(void)argc;
	(void)argv;
	object_read(&o, rt_ehdr(&cairn_module));
	sys_read_aux(&aux);
	if (__cairn_static)
		__cairn_static();
	else if (__cairn_dynamic)
		__cairn_dynamic();
	cairn_output_start();
	rt_enter(&mask);
	process.is_executable = true;
	process.is_static = !o.has_interpreter;
	process.vdso = (const unsigned char *)aux.vdso;
	if (aux.secure)
		secure_clean(env);
	rt_start(env);
	rt_leave(&mask);
	if (process.is_off)
		return;
	if (!process.is_static)
		__cxa_atexit(at_exit, NULL, NULL);
	__cxa_at_quick_exit(at_quick_exit, NULL);
	fatal_install();
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **,
                                                   char **) = at_start;

__attribute__((section(".fini_array.00000"),
               used)) static void (*const fini)(void) = at_fini;
