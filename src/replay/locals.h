/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_LOCALS_H
#define CAIRN_REPLAY_LOCALS_H

#include "replay/rewrite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct global;
struct session;

/* A thread, by the number of its context, and where its variable is. */
struct local_place {
	uint32_t thread;
	uint64_t address;
};

/* A variable of which every thread has one. */
struct locals {
	const struct global *g; /* NULL: nobody asks for one */
	struct local_place *places;
	size_t n, cap;
	/* private from here on */
	uint64_t words[2]; /* what code hands over */
	uint32_t thread;
	bool is_at_two; /* places in one thread */
};

/* Has code tell where it is.  Requires: *l outlives the session, which is not
 * yet open; l->g is set before anything is replayed. */
void locals_prepare(struct locals *l, struct rewrite_options *code);

/*
 * Replays all contexts, and finds the threads in which code with marks named
 * the variable.  Returns an exit status.
 */
int locals_find(struct locals *l, struct session *s);
void locals_release(struct locals *l);

#endif /* CAIRN_REPLAY_LOCALS_H */
