/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_EXE_H
#define CAIRN_RUNTIME_EXE_H

#include <stdbool.h>
#include <stdint.h>

/* Sets errno and returns -1. */
long cairn_set_errno(int error);

/*
 * The C library's own versions of what we put ourselves in front of.  Filled
 * in by libc_dynamic.c or libc_static.c; the driver asks for one of these
 * members by the name of its function.
 */
struct libc {
	void (*longjmp)(void *env, int value);
	void (*longjmp_chk)(void *env, int value);
	int (*execvpe)(const char *file, char *const argv[], char *const env[]);
	void (*abort)(void);
	void (*stack_chk_fail)(void); /* NULL: there is none */
	void (*exit)(int status);
	void (*quick_exit)(int status);
};

extern struct libc libc;

void __cairn_dynamic(void) __attribute__((weak));
void __cairn_static(void) __attribute__((weak));

/* Of what goes out (hook_output.c), in programs that are recorded: at the
 * start, and when the process ends, with or without libc's streams being
 * flushed.  That one is a pointer: a call by name would bring hook_output.c,
 * and with it record.c, into programs that are no recordings. */
void cairn_output_start(void);
extern void (*exe_output_end)(bool is_flushed);

static inline void exe_end_output(bool is_flushed)
{
	if (exe_output_end)
		exe_output_end(is_flushed);
}

/* Archive members that nothing else would bring in. */
extern const char hook_jump_member, hook_exit_member, hook_signal_member;
int vfork(void);
int __wrap__Fork(void);

#endif /* CAIRN_RUNTIME_EXE_H */
