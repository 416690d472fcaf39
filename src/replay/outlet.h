/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_OUTLET_H
#define CAIRN_REPLAY_OUTLET_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct cairn_err;

/* What a worker writes: pipes, which the broker empties into what was there. */
enum { OUTLETS = 3 }; /* stdout, stderr, a terminal */

struct outlets {
	struct outlet {
		int from, into; /* ends of the pipe, -1: closed */
		int to;         /* where it leads */
		int places[2];  /* descriptors of the worker that lead there */
		size_t nplaces;
		bool is_escaped; /* on its way to a terminal */
		char held[64];   /* the beginning of a character, or sequence */
		size_t nheld;
		bool is_broken; /* what comes goes nowhere */
	} items[OUTLETS];
	size_t n;
	int error; /* errno of a write to stdout that failed, or 0 */
	const volatile sig_atomic_t *ends; /* the broker was told to end */
};

struct outlet_options {
	bool has_own_stdout; /* nobody else has it: it stays as it is */
	bool is_raw;         /* stdout is bytes, also on a terminal */
	int terminal;        /* one more that the worker writes to, or 0 */
};

int outlets_open(struct outlets *o, const struct outlet_options *options,
                 struct cairn_err *err);
/* For the worker: it has nothing but pipes from now on. */
void outlets_take(struct outlets *o);
/* For the broker: it has nothing but the other ends. */
void outlets_leave(struct outlets *o);
/* For the broker: a part of what was written, which it waits for.  When stdout
 * is broken nobody reads the pipe any more. */
void outlet_pass(struct outlets *o, struct outlet *one);

/* Is it a terminal, if need be at the other end of a pipe? */
bool outlet_is_terminal(int fd);

#endif /* CAIRN_REPLAY_OUTLET_H */
