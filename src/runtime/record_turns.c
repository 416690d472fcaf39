/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: the order of what is atomic.
 *
 * Threads that synchronise by atomic variables call nobody whom sync.c could
 * wrap.  So, while there are several threads, whoever finds in memory what it
 * did not know gets the next number of the process, as behind a SYNC: what the
 * others did before, they did with smaller ones.  That is all that is needed
 * of stores that hand something over, but not of two threads that change one
 * variable: so atomic stores, and whatever loads and stores at once, take
 * turns.  A lock, of the address, is held over the instruction alone.  Within,
 * it gets a number before, its own place in the order, and if it may have
 * loaded another behind, for what follows.
 *
 * A turn that found and left what the context knew is not noted: that of a
 * thread that tries again and again to get what another has.  Nor is one if
 * nobody else got a number since the last one of the context: no order depends
 * on it.
 *
 * The lock is not what makes the order right, but only what keeps turns of one
 * address apart.  So nobody has to hold it: a handler of a signal takes it away
 * from whom it interrupts, since it may wait for another thread itself; a
 * thread that was cancelled in its turn gives it up at its end; and who waits
 * for too long, since one was stopped in its turn, takes it over.
 *
 * Compiled for general registers only, as record_log.c is.
 *
 * Invariant: if a thread has seen what another did, all that it does from there
 * on has greater numbers than what the other did up to there.
 * Breaks when: a context finds the very value that it left there itself, though
 * others have written it once more: it cannot tell, nor could the program.
 * Code without marks does not take turns: its stores are found, not ordered.
 * Of an atomic nothing but its own bytes is looked at: what is beside it would
 * be seen when the turn is over, and others may have gone on.
 * Cost: of a turn four locked instructions, and about eight bytes of the log.
 * With one thread two or three tests of a word.
 */
#include "runtime/record.h"

#include <stddef.h>
#include <time.h>

#include "runtime/sys.h"

#define LINE_SHIFT 4 /* what is in 16 bytes has one lock */
#define NSPINS 200
#define NYIELDS 50
#define NSLEEPS 10000 /* of 0.1 ms: about a second */

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN struct record_turns *__cairn_record_turns;

/* What record.S calls. */
HIDDEN void cairn_record_turn(const void *p);
HIDDEN void cairn_record_turned(void);
HIDDEN void cairn_record_note(const void *cell, uint64_t is_new);

static uint64_t *lock_of(struct record_turns *t, const void *p)
{
	uint64_t line = (uint64_t)(uintptr_t)p >> LINE_SHIFT;

	return &t->locks[(line ^ line >> 6 ^ line >> 12) % RECORD_LOCKS].owner;
}

static bool try_lock(uint64_t *lock, uint64_t me)
{
	uint64_t nobody = 0;

	return !__atomic_load_n(lock, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(lock, &nobody, me, false,
	                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void wait_a_little(unsigned i)
{
	const struct timespec a_tenth = {0, 100000};

	if (i < NSPINS)
		__builtin_ia32_pause();
	else if (i < NSPINS + NYIELDS)
		sys1(SYS_sched_yield, 0);
	else
		sys3(SYS_nanosleep, (long)&a_tenth, 0, 0);
}

static void lock(uint64_t *word, uint64_t me)
{
	for (unsigned i = 0; !try_lock(word, me); i++) {
		if (i == NSPINS + NYIELDS + NSLEEPS) {
			__atomic_store_n(word, me, __ATOMIC_RELAXED);
			return;
		}
		wait_a_little(i);
	}
}

void record_drop_turn(const struct context *c)
{
	uint64_t me = (uint64_t)(uintptr_t)c;

	if (c->turn)
		__atomic_compare_exchange_n(c->turn, &me, 0, false,
		                            __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void cairn_record_turn(const void *p)
{
	struct record_turns *t = __cairn_record_turns;
	struct context *c = record_self();
	uint64_t *mine;

	if (!t || !c)
		return;
	mine = lock_of(t, p);
	*(uint64_t *volatile *)&c->turn = mine; /* first: a handler looks */
	lock(mine, (uint64_t)(uintptr_t)c);
	c->turn_from = record_next_turn(t);
	c->turn_to = 0; /* a jump may have left one */
}

/* A second thread may have come since TURN. */
void cairn_record_turned(void)
{
	struct record_turns *t = __cairn_record_turns;
	struct context *c = record_self();

	if (!t || !c)
		return;
	c->turn_to = record_next_turn(t);
	record_drop_turn(c);
}

void cairn_record_note(const void *cell, uint64_t is_new)
{
	struct context *c = record_self();

	if (c && !c->turn_to)
		cairn_record_turned();
	if (!c || !c->turn_to)
		return;
	if (is_new)
		record_turn(cell, c->turn_to,
		            c->turn_from ? c->turn_to - c->turn_from : 0);
	c->turn_from = c->turn_to = 0;
}
