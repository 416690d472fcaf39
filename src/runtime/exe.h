/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_EXE_H
#define CAIRN_RUNTIME_EXE_H

#include <stdint.h>

/* Sets errno and returns -1. */
long cairn_set_errno(int error);

/*
 * The C library's own versions of what we put ourselves in front of.  Two
 * members of the archive define them, libc_dynamic.c and libc_static.c; the
 * driver asks for one of them by its marker, __cairn_dynamic or
 * __cairn_static.
 */
void libc_init(void);
_Noreturn void libc_longjmp(void *env, int value);
_Noreturn void libc_longjmp_chk(void *env, int value);
int libc_execvpe(const char *file, char *const argv[], char *const env[]);

/* Archive members that nothing else would bring in. */
extern const char __cairn_executable;
extern const char hook_jump_member, hook_exit_member, hook_signal_member;
int vfork(void);

#endif /* CAIRN_RUNTIME_EXE_H */
