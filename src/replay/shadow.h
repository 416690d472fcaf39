/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_SHADOW_H
#define CAIRN_REPLAY_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/record.h"

struct cairn_err;

/*
 * The memory of the context that is replayed: what the recorded program had at
 * address p is at p - SHADOW_DISTANCE, which is %gs:p.  The distance leaves the
 * low six bits of addresses alone.  Pages appear, zeroed, when they are
 * touched.
 */
#define SHADOW_DISTANCE CAIRN_REPLAY_DISTANCE

static inline unsigned char *shadow_at(uint64_t p)
{
	return (unsigned char *)(uintptr_t)(p - SHADOW_DISTANCE);
}

/*
 * Sets %gs of this thread and handles its faults, of code at pc, from now on.
 * `fault` is called, on a stack of its own, when there can be no memory at p
 * (signal is then SIGSEGV), or for another signal; it must not return, unless
 * it has called shadow_humour.
 */
int shadow_open(void (*fault)(int signal, uint64_t p, uint64_t pc),
                struct cairn_err *err);
/* An access to this address is a fault from here on, or one that writes, until
 * it is permitted again; others to its page are as they were. */
void shadow_forbid(uint64_t p, bool only_writes);
void shadow_permit(void);

/* Lets the access that faults at p succeed, somewhere; what it and all others
 * do until shadow_clear is lost. */
bool shadow_humour(uint64_t p);
/* Is all of this, n bytes from p on, memory of the context, and nothing of the
 * replayer's own?  From now on it is there, if it can be. */
bool shadow_has(uint64_t p, uint64_t n);
/* Was there no more memory to be had, some time? */
bool shadow_is_full(void);
/* n bytes from p on are zeros. */
void shadow_zero(uint64_t p, uint64_t n);

/*
 * Which bytes were ever read or written by the context, if replay code notes it
 * (rewrite.h): the byte for address p is not 0, at p - SHADOW_SEEN from where
 * its contents are.
 */
#define SHADOW_SEEN CAIRN_REPLAY_SEEN

void shadow_note(uint64_t p, size_t n);

/* Copies what the program had at p; false if a byte was not seen. */
bool shadow_read(uint64_t p, void *to, size_t n);
/*
 * All pages that are not zeros, ascending, by where they are, and those of
 * SHADOW_SEEN.  Stops if `told` returns less than 0, and returns that.
 */
#define SHADOW_PAGE 4096u
int shadow_each_page(int (*told)(void *context, uint64_t at,
                                 const unsigned char *page),
                     void *context);
/* Is such a page one of contents, where all that is seen is noted?  That of
 * what was seen in it is not zeros then. */
bool shadow_has_contents(uint64_t at);
/* The page of this place, to be written; NULL: no memory of a context can be
 * there. */
unsigned char *shadow_page(uint64_t at);
/* Forgets all contents. */
void shadow_clear(void);
void shadow_close(void);

#endif /* CAIRN_REPLAY_SHADOW_H */
