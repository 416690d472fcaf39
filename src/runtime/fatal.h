/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_FATAL_H
#define CAIRN_RUNTIME_FATAL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/sys.h"

/* Installs our handler for every signal that would end the process. */
void fatal_install(void);

/* Does this signal end a process by default, and may we look at it? */
bool fatal_is_fatal(int sig);

/* Our handler, as an action that stands for SIG_DFL. */
void fatal_action(struct sys_sigaction *act);
bool fatal_is_ours(const struct sys_sigaction *act);

#endif /* CAIRN_RUNTIME_FATAL_H */
