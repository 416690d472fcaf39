/* SPDX-License-Identifier: Apache-2.0 */
/* Regeneration from witnesses, where proof_witness does not look: streams in
 * parts, cut, or wrong; and programs that do not end. */
#include "walk/walk.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "abi/trace.h"
#include "base/err.h"
#include "graph/cfg.h"
#include "graph/witness.h"
#include "graphs.h"

/*
 * Function 0 decides between a call of function 1 and one of anything, and
 * begins again or leaves:
 *     1 -> 2 -call 1-> 4,  1 -> 3 -call-> 4,  4 -> 1,  4 -> outside
 * Function 1 has nothing to decide.
 */
enum { ENTRY, LEFT, RIGHT, KNOWN, UNKNOWN, AGAIN, OUT, NEDGES };

struct program {
	struct cfg g[2];
	struct witness w[2];
	struct walk_function f[2];
	struct walk_program p;
};

static uint32_t function_at(void *context, uint32_t address)
{
	(void)context;
	return address - 1;
}

static uint32_t site_at(void *context, uint32_t address, block_id *block,
                        bool *is_inside)
{
	(void)context;
	(void)is_inside;
	*block = address >> 8;
	return *block < 5 ? (address & 255) - 1 : WALK_NOTHING;
}

static const bool is_call[NEDGES] = {[KNOWN] = true, [UNKNOWN] = true};
static const bool loud[5] = {[4] = true};
static const bool is_final[NEDGES];

static void program_init(struct program *x, const uint32_t *callee_0,
                         const uint32_t *callee_1)
{
	static const struct graph_arc arcs[NEDGES] = {
	        {0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 1}, {4, 0}};
	struct witness_options options = {
	        .slots = {.is_call = is_call, .loud = loud}};
	struct cairn_err err;

	GRAPH_MAKE(&x->g[0], 5, arcs);
	graph_chain(&x->g[1], 1, false);
	assert_int_equal(witness_init(&x->w[0], &x->g[0], &options, &err), 0);
	options = (struct witness_options){0};
	assert_int_equal(witness_init(&x->w[1], &x->g[1], &options, &err), 0);
	x->f[0] = (struct walk_function){
	        .witness = &x->w[0], .callee = callee_0, .is_final = is_final};
	x->f[1] = (struct walk_function){
	        .witness = &x->w[1], .callee = callee_1, .is_final = is_final};
	x->p = (struct walk_program){
	        .functions = x->f,
	        .nfunctions = 2,
	        .function_at = function_at,
	        .site_at = site_at,
	};
}

static const uint32_t callees[NEDGES] = {
        WALK_NOTHING,  WALK_NOTHING, WALK_NOTHING, 1,
        WALK_ANYTHING, WALK_NOTHING, WALK_NOTHING};
static const uint32_t no_callees[NEDGES] = {
        WALK_NOTHING, WALK_NOTHING, WALK_NOTHING, WALK_NOTHING,
        WALK_NOTHING, WALK_NOTHING, WALK_NOTHING};

static void program_release(struct program *x)
{
	walk_program_release(&x->p);
	for (int i = 0; i < 2; i++) {
		witness_release(&x->w[i]);
		cfg_release(&x->g[i]);
	}
}

enum { STREAM_MAX = 128 };

struct stream {
	uint8_t bytes[STREAM_MAX];
	size_t n;
	size_t ends[STREAM_MAX], nends; /* of items, from the beginning */
	size_t next;                    /* item to read */
};

static void put(struct stream *s, uint8_t byte)
{
	s->bytes[s->n++] = byte;
	s->ends[s->nends++] = s->n;
}

static void put_mark(struct stream *s, uint8_t mark, uint32_t value)
{
	s->bytes[s->n++] = mark;
	for (int i = 0; i < 4; i++)
		s->bytes[s->n++] = (uint8_t)(value >> 8 * i);
	s->ends[s->nends++] = s->n;
}

static void put_edge(struct stream *s, const struct program *x, edge_id e)
{
	put(s, (uint8_t)x->w[0].on_edge[e]);
}

/* Twice round: through function 1, and through something that calls back. */
static void write_stream(struct stream *s, const struct program *x)
{
	put_mark(s, CAIRN_TRACE_ENTER, 1);
	put_edge(s, x, LEFT);
	put_edge(s, x, RIGHT);
	put_mark(s, CAIRN_TRACE_ENTER, 2);
	put_edge(s, x, OUT);
}

struct seen {
	uint32_t n;
	struct walk_event events[256];
};

static int walk_all(struct walk *w, struct seen *seen, struct cairn_err *err)
{
	int result;

	seen->n = 0;
	while (seen->n < 256 &&
	       (result = walk_next(w, &seen->events[seen->n], err)) == 1)
		seen->n++;
	return seen->n == 256 ? 1 : result;
}

static int walk_bytes(struct program *x, const uint8_t *bytes, size_t n,
                      struct seen *seen)
{
	struct cairn_err err;
	struct walk w;
	int result;

	walk_init_bytes(&w, &x->p, bytes, n);
	result = walk_all(&w, seen, &err);
	if (result < 0)
		assert_int_equal(err.code, CAIRN_E_CORRUPT);
	walk_release(&w);
	return result;
}

static void test_events(void **state)
{
	static const struct {
		enum walk_kind kind;
		uint32_t function, depth, nblocks;
	} expected[] = {
	        {WALK_ENTER, 0, 0, 0}, {WALK_PATH, 0, 0, 1},
	        {WALK_PATH, 0, 0, 1},  {WALK_ENTER, 1, 1, 0},
	        {WALK_PATH, 1, 1, 1},  {WALK_LEAVE, 1, 1, 0},
	        {WALK_PATH, 0, 0, 2},  {WALK_PATH, 0, 0, 1},
	        {WALK_ENTER, 1, 1, 0}, {WALK_PATH, 1, 1, 1},
	        {WALK_LEAVE, 1, 1, 0}, {WALK_PATH, 0, 0, 1},
	        {WALK_LEAVE, 0, 0, 0},
	};
	struct stream s = {0};
	struct program x;
	struct seen seen;

	(void)state;
	program_init(&x, callees, no_callees);
	write_stream(&s, &x);
	assert_int_equal(walk_bytes(&x, s.bytes, s.n, &seen), 0);
	assert_int_equal(seen.n, sizeof(expected) / sizeof(*expected));
	for (uint32_t i = 0; i < seen.n; i++) {
		assert_int_equal(seen.events[i].kind, expected[i].kind);
		assert_int_equal(seen.events[i].function, expected[i].function);
		assert_int_equal(seen.events[i].depth, expected[i].depth);
		if (seen.events[i].kind == WALK_PATH)
			assert_int_equal(seen.events[i].way->nblocks,
			                 expected[i].nblocks);
	}
	program_release(&x);
}

static bool is_same(const struct walk_event *a, const struct walk_event *b)
{
	return a->kind == b->kind && a->function == b->function &&
	       a->depth == b->depth && a->way == b->way && a->block == b->block;
}

/* What is left of a stream that was cut says what it said before. */
static void test_cut(void **state)
{
	struct stream s = {0};
	struct program x;
	struct seen whole, part;
	uint32_t last = 0;

	(void)state;
	program_init(&x, callees, no_callees);
	write_stream(&s, &x);
	assert_int_equal(walk_bytes(&x, s.bytes, s.n, &whole), 0);
	for (size_t n = 0; n <= s.n; n++) {
		assert_int_equal(walk_bytes(&x, s.bytes, n, &part), 0);
		assert_in_range(part.n, last, whole.n);
		for (uint32_t i = 0; i < part.n; i++)
			assert_true(is_same(&part.events[i], &whole.events[i]));
		last = part.n;
	}
	assert_int_equal(last, whole.n);
	program_release(&x);
}

static int next_part(void *context, const uint8_t **bytes, size_t *n,
                     struct cairn_err *err)
{
	struct stream *s = context;

	(void)err;
	if (s->next == s->nends)
		return 0;
	*bytes = s->bytes + (s->next ? s->ends[s->next - 1] : 0);
	*n = (size_t)(s->bytes + s->ends[s->next] - *bytes);
	s->next++;
	return 1;
}

/* Item by item, with nothing between some of them. */
static void test_parts(void **state)
{
	struct stream s = {0}, padded = {0};
	struct seen whole, parts;
	struct walk w;
	struct cairn_err err;
	struct program x;

	(void)state;
	program_init(&x, callees, no_callees);
	write_stream(&s, &x);
	assert_int_equal(walk_bytes(&x, s.bytes, s.n, &whole), 0);
	for (size_t i = 0; i < s.nends; i++) {
		put(&padded, i % 2 ? CAIRN_TRACE_PAD : 0);
		for (size_t k = i ? s.ends[i - 1] : 0; k < s.ends[i]; k++)
			padded.bytes[padded.n++] = s.bytes[k];
		padded.ends[padded.nends++] = padded.n;
	}
	walk_init(&w, &x.p,
	          (struct walk_source){.context = &padded, .next = next_part});
	assert_int_equal(walk_all(&w, &parts, &err), 0);
	assert_int_equal(parts.n, whole.n);
	for (uint32_t i = 0; i < parts.n; i++)
		assert_true(is_same(&parts.events[i], &whole.events[i]));
	walk_release(&w);
	program_release(&x);
}

/* Random bytes, and streams with one byte changed: refused, or read to the
 * end; never more events than bytes can say. */
static void test_garbage(void **state)
{
	struct rng r = rng_from_environment(44);
	uint32_t nrefused = 0;
	struct stream s = {0};
	struct program x;
	struct seen seen;

	(void)state;
	program_init(&x, callees, no_callees);
	write_stream(&s, &x);
	for (int i = 0; i < 20000; i++) {
		struct stream bad = s;

		if (i % 2) {
			bad.bytes[rng_below(&r, (uint32_t)bad.n)] =
			        (uint8_t)rng_below(&r, 256);
		} else {
			for (size_t k = 5; k < bad.n; k++)
				bad.bytes[k] = (uint8_t)rng_below(&r, 256);
		}
		nrefused += walk_bytes(&x, bad.bytes, bad.n, &seen) < 0;
		assert_in_range(seen.n, 0, 8 * bad.n);
	}
	assert_true(nrefused > 1000);
	program_release(&x);
}

static void assert_refused(const struct stream *s)
{
	struct program x;
	struct seen seen;

	program_init(&x, callees, no_callees);
	assert_int_equal(walk_bytes(&x, s->bytes, s->n, &seen),
	                 CAIRN_E_CORRUPT);
	program_release(&x);
}

static void test_impossible(void **state)
{
	struct stream nobody = {0}, none = {0}, dead = {0}, land = {0};

	(void)state;
	put(&nobody, WITNESS_FIRST);
	assert_refused(&nobody);
	put_mark(&none, CAIRN_TRACE_ENTER, 3);
	assert_refused(&none);
	put_mark(&dead, CAIRN_TRACE_DEATH, 1 << 8 | 1);
	assert_refused(&dead);
	put_mark(&land, CAIRN_TRACE_ENTER, 1);
	put_mark(&land, CAIRN_TRACE_LAND, 1); /* before block 0 */
	assert_refused(&land);
}

/* Function 1 calls itself without a word: nobody knows how often, and the walk
 * does not try to. */
static void test_silent_recursion(void **state)
{
	static const bool calls[] = {false, true, false};
	static const uint32_t callee[] = {WALK_NOTHING, 1, WALK_NOTHING};
	struct stream s = {0};
	struct cairn_err err;
	struct program x;
	struct seen seen;

	(void)state;
	put_mark(&s, CAIRN_TRACE_ENTER, 2);
	program_init(&x, callees, no_callees);
	witness_release(&x.w[1]);
	cfg_release(&x.g[1]);
	graph_chain(&x.g[1], 2, false);
	assert_int_equal(
	        witness_init(&x.w[1], &x.g[1],
	                     &(struct witness_options){.slots.is_call = calls},
	                     &err),
	        0);
	x.f[1].callee = callee;
	assert_int_equal(walk_bytes(&x, s.bytes, s.n, &seen), 0);
	assert_true(seen.n > 0);
	program_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_events),
	        cmocka_unit_test(test_cut),
	        cmocka_unit_test(test_parts),
	        cmocka_unit_test(test_garbage),
	        cmocka_unit_test(test_impossible),
	        cmocka_unit_test(test_silent_recursion),
	};

	return cmocka_run_group_tests_name("witness_walk", tests, NULL, NULL);
}
