/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between ends_main.c and ends.c. */
#ifndef CAIRN_TESTS_ENDS_H
#define CAIRN_TESTS_ENDS_H

#include <setjmp.h>

int ends_jump(int n);
void ends_jump_out(jmp_buf to, int n, void (*visit)(jmp_buf to, int n));
int ends_signal(int n);
int ends_sigaction(int n);
int ends_vfork(int n, const char *program);
int ends_exec(int n, const char *program);
void ends_exit(int n);

#endif /* CAIRN_TESTS_ENDS_H */
