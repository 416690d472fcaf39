/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_TWPPS_H
#define CAIRN_TESTS_TWPPS_H

/*
 * For the tests of timestamped whole program paths: sequences of events as
 * lists, random ones, and files made of them.
 */
#include "analysis/twpp.h"
#include "analysis/twpp_file.h"
#include "analysis/twpp_graph.h"
#include "analysis/twpp_replay.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum event_kind { EVENT_ENTER, EVENT_BLOCK, EVENT_LEAVE };

struct event {
	enum event_kind kind;
	uint32_t what; /* function, block, enum twpp_end */
};

struct events {
	struct event *items;
	size_t n, cap;
};

static inline void put_event(struct events *e, enum event_kind kind,
                             uint32_t what)
{
	VEC_RESERVE(e->items, e->n, e->cap);
	e->items[e->n++] = (struct event){kind, what};
}

/* --- feeding ------------------------------------------------------------ */

static inline void feed_one(struct twpp_thread *t, const struct event *e)
{
	struct cairn_err err;

	if (e->kind == EVENT_ENTER)
		assert_int_equal(twpp_enter(t, e->what, &err), 0);
	else if (e->kind == EVENT_BLOCK)
		assert_int_equal(twpp_blocks(t, &e->what, 1, &err), 0);
	else if (e->what != TWPP_OPEN)
		assert_int_equal(twpp_leave(t, e->what == TWPP_DIED, &err), 0);
}

static inline void finish(struct twpp_builder *b, struct bytes *out)
{
	struct cairn_err err;

	assert_int_equal(twpp_finish(b, NULL, 0, out, &err), 0);
	twpp_free(b);
}

/* The file of some threads; thread i has the id i + 1. */
static inline void make_file(const struct events *threads, size_t n,
                             struct bytes *out)
{
	struct twpp_builder *b = twpp_new();

	for (size_t i = 0; i < n; i++) {
		struct twpp_thread *t = twpp_thread(b, i + 1);

		for (size_t k = 0; k < threads[i].n; k++)
			feed_one(t, &threads[i].items[k]);
	}
	finish(b, out);
}

/* --- getting back ------------------------------------------------------- */

static inline int got_enter(void *arg, uint32_t function)
{
	put_event(arg, EVENT_ENTER, function);
	return 0;
}

static inline int got_blocks(void *arg, const uint32_t *blocks, size_t n)
{
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		put_event(arg, EVENT_BLOCK, blocks[i]);
	return 0;
}

static inline int got_leave(void *arg, enum twpp_end end)
{
	put_event(arg, EVENT_LEAVE, end);
	return 0;
}

static inline struct twpp_sink collector(struct events *e)
{
	return (struct twpp_sink){e, got_enter, got_blocks, got_leave};
}

static inline bool equal_events(const struct events *a, const struct events *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->items[i].kind != b->items[i].kind ||
		    a->items[i].what != b->items[i].what)
			return false;
	return true;
}

static inline void assert_replay(const struct bytes *file,
                                 const struct events *threads, size_t n)
{
	struct cairn_err err;
	struct twpp_graph g;
	struct twpp t;

	assert_int_equal(twpp_open_bytes(&t, file->data, file->n, "t", &err),
	                 0);
	assert_int_equal(twpp_graph_load(&g, &t, &err), 0);
	assert_int_equal(g.nthreads, n);
	for (size_t i = 0; i < n; i++) {
		struct events back = {0};
		struct twpp_sink sink = collector(&back);

		assert_int_equal(g.threads[i].id, i + 1);
		assert_int_equal(twpp_replay(&g, i, &sink, &err), 0);
		assert_true(equal_events(&back, &threads[i]));
		free(back.items);
	}
	twpp_graph_release(&g);
	twpp_close(&t);
}

/* --- random programs ---------------------------------------------------- */

struct random {
	uint64_t state;
};

static inline uint32_t draw(struct random *r, uint32_t below)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((r->state >> 33) % below);
}

enum { RANDOM_FUNCTIONS = 5, RANDOM_BLOCKS = 9 };

/*
 * A program: per function and block two successors (0 ends the activation) and
 * what the block calls: nothing, a function, or code that calls back as often
 * as it likes.
 */
struct program {
	uint32_t next[RANDOM_FUNCTIONS][RANDOM_BLOCKS][2];
	uint32_t bias[RANDOM_FUNCTIONS][RANDOM_BLOCKS]; /* of the first, in 8 */
	uint32_t calls[RANDOM_FUNCTIONS][RANDOM_BLOCKS];
};

enum { CALLS_NOTHING = RANDOM_FUNCTIONS, CALLS_BACK };

static inline void draw_program(struct random *r, struct program *p)
{
	for (unsigned f = 0; f < RANDOM_FUNCTIONS; f++)
		for (unsigned b = 0; b < RANDOM_BLOCKS; b++) {
			p->next[f][b][0] = draw(r, RANDOM_BLOCKS);
			p->next[f][b][1] = draw(r, RANDOM_BLOCKS);
			p->bias[f][b] = draw(r, 9);
			p->calls[f][b] = draw(r, 3) ? CALLS_NOTHING
			                            : draw(r, CALLS_BACK + 1);
		}
}

/* Runs it for about `fuel` events. */
struct run {
	const struct program *program;
	struct random *random;
	struct events *events;
	size_t fuel;
	bool is_dying; /* frames are left by a throw */
};

static inline void run_function(struct run *r, uint32_t f, unsigned depth);

static inline void run_calls(struct run *r, uint32_t f, uint32_t b,
                             unsigned depth)
{
	uint32_t callee = r->program->calls[f][b];
	uint32_t n = callee == CALLS_NOTHING ? 0
	             : callee == CALLS_BACK  ? draw(r->random, 4)
	                                     : 1;

	for (uint32_t i = 0; i < n && depth < 12 && !r->is_dying; i++)
		run_function(r,
		             callee == CALLS_BACK
		                     ? draw(r->random, RANDOM_FUNCTIONS)
		                     : callee,
		             depth + 1);
}

static inline void run_function(struct run *r, uint32_t f, unsigned depth)
{
	uint32_t b = 1 + draw(r->random, 2);

	put_event(r->events, EVENT_ENTER, f);
	if (!draw(r->random, 40)) /* a handler, before its first block */
		run_function(r, draw(r->random, RANDOM_FUNCTIONS), depth + 1);
	while (b && r->fuel && !r->is_dying) {
		r->fuel--;
		put_event(r->events, EVENT_BLOCK, b);
		run_calls(r, f, b, depth);
		if (!draw(r->random, 200))
			r->is_dying = true;
		b = r->program->next[f][b][draw(r->random, 8) >=
		                           r->program->bias[f][b]];
	}
	if (r->is_dying && !draw(r->random, 3)) {
		r->is_dying = false; /* it lands here */
		put_event(r->events, EVENT_BLOCK, RANDOM_BLOCKS);
	}
	put_event(r->events, EVENT_LEAVE, r->is_dying ? TWPP_DIED : TWPP_LEFT);
}

/* What one thread of the program does, with some frames left open. */
static inline void run_thread(struct random *random, const struct program *p,
                              size_t fuel, struct events *e)
{
	struct run r = {p, random, e, fuel, false};
	size_t open;

	while (r.fuel) {
		r.is_dying = false;
		run_function(&r, draw(random, RANDOM_FUNCTIONS), 0);
	}
	/* the last ends, taken back: their frames are open */
	open = draw(random, 4);
	for (size_t i = e->n; i-- > 0 && open; open--) {
		if (e->items[i].kind != EVENT_LEAVE)
			break;
		e->items[i].what = TWPP_OPEN;
	}
}

static inline void free_threads(struct events *threads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(threads[i].items);
}

#endif /* CAIRN_TESTS_TWPPS_H */
