/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_FATAL_H
#define CAIRN_REPLAY_FATAL_H

#include <stdbool.h>
#include <stddef.h>

/* From now on a fatal error of LLVM, a lack of memory there, and a crash of
 * this process end it with one sentence and status 2. */
void fatal_open(void);

/* What it is working on, for the sentence: a recording; then a unit, by the
 * path of its module and the name of its source, while that is compiled.  NULL:
 * no longer.  They have to stay until then. */
void fatal_file(const char *file);
void fatal_compile(const char *module, const char *source);
bool fatal_is_compiling(void);
/* While LLVM reads IR, it is the IR that is wrong. */
void fatal_read(bool is_reading);

/* The sentence goes there, for a parent to tell, and not to stderr. */
void fatal_say_in(char *text, size_t size);

/* In a handler of a signal that nothing can be done about. */
_Noreturn void fatal_signal(int signal);

#endif /* CAIRN_REPLAY_FATAL_H */
