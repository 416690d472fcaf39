/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_FRAMES_H
#define CAIRN_RUNTIME_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* Gives the thread a frames table if it has none.  Requires: lock held. */
bool frames_ensure(struct thread *t);

/* Where and how a frame died, or began in the middle. */
struct frames_place {
	unsigned kind; /* enum cairn_frame_kind */
	uint32_t module;
	uintptr_t pc;
	uint64_t reg; /* 1 + its path register, 0: none */
};

/*
 * The word that counts frames of this place; a slot is made if need be.  NULL
 * if there is no memory: the header then says so.
 * Threads: only t itself; in a signal handler too.
 */
uint64_t *frames_slot(struct thread *t, const struct frames_place *place);

/* The same, for the module that pc lies in (or the instruction before it, if
 * the kind is not async), without a path register; NULL also if that is no
 * module of ours.  Remembers what it found. */
uint64_t *frames_slot_of(struct thread *t, unsigned kind, uintptr_t pc);

/* Adds n (which may be -1) to that word. */
void frames_add(struct thread *t, const struct frames_place *place, int64_t n);

#endif /* CAIRN_RUNTIME_FRAMES_H */
