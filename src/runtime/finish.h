/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_FINISH_H
#define CAIRN_RUNTIME_FINISH_H

#include <stdbool.h>
#include <stdint.h>

struct thread;
struct unwind;

/*
 * The process ends, as far as anyone can tell: records all frames of the
 * calling thread from *u on, stops the other threads and records theirs, and
 * seals the file.  u may be NULL: nothing of this thread is to be recorded.
 * The calling thread may run on; it then makes slow calls, which open the file
 * again, and may end again.
 */
void finish_process(uint32_t how, uint32_t signal, const struct unwind *u);

/*
 * The shared object that holds the core runs its destructors, in a program
 * that is not instrumented: the program exits, or unloads it.  `to` is where
 * the destructor's part of the core returns to.
 */
void finish_core(uintptr_t to);

/* It did not end: an exec failed. */
void finish_take_back(const struct unwind *u, uintptr_t walked_to);

/* Did a signal interrupt the code that called fork, or some function that led
 * to it?  Also true if nobody can tell.  `to` as below. */
bool finish_was_interrupted(struct thread *t, uintptr_t to);

/* The frames that a fork child inherits begin in the middle.  `to` is where
 * the fork handler returns to.  Requires: lock held. */
void finish_inherited(struct thread *t, uintptr_t to);

/* Has a thread ended that still has a number?  The first thread of a process
 * has, if it ended before the others. */
bool finish_is_zombie(int tid);

/* Is somebody else ending the process?  Then nothing new may start. */
bool finish_by_others(void);
/* Waits while that is so.  Requires: lock not held. */
void finish_wait_others(void);

#endif /* CAIRN_RUNTIME_FINISH_H */
