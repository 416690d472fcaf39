/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_FATAL_H
#define CAIRN_RUNTIME_FATAL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/sys.h"

struct unwind;

/* Installs our handler for every signal that would end the process. */
void fatal_install(void);

/* Does this signal end a process by default, and may we look at it? */
bool fatal_is_fatal(int sig);

/* Was the signal that came at *at sent by this function?  NULL: no. */
bool fatal_is_from(const struct unwind *at, void (*function)(void));

/*
 * Before the end by the SIGABRT that came at *at.  A function whose canary was
 * changed calls __stack_chk_fail after its last mark, which says that it
 * returned: if that sent the signal, sets FRAMES_LOST.
 */
void fatal_note_canary(const struct unwind *at);

/* Our handler, as an action that stands for SIG_DFL. */
void fatal_action(struct sys_sigaction *act);
bool fatal_is_ours(const struct sys_sigaction *act);

#endif /* CAIRN_RUNTIME_FATAL_H */
