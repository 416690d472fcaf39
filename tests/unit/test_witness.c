/* SPDX-License-Identifier: Apache-2.0 */
/* Witnesses: figures 6 and 8, their rules, the optimum, and all ways of small
 * graphs against witness_check. */
#include "graph/witness.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/err.h"
#include "graph/cfg.h"
#include "graph/gstar.h"
#include "graph/weight.h"
#include "graph/witness_check.h"
#include "graphs.h"

enum { SLOTS_MAX = 64 };

#define HUNDREDTHS(n) ((uint64_t)(n)*WEIGHT_ONE / 100)

static void place(struct witness *w, const struct cfg *g,
                  const struct witness_options *options)
{
	struct cairn_err err = {0};

	if (witness_init(w, g, options, &err) < 0)
		fail_msg("%s", err.text);
	if (witness_check(w, options, &err) < 0)
		fail_msg("%s", err.text);
}

static bool is_accepted(const struct cfg *g, struct witness_options options,
                        const uint32_t *places, uint32_t n)
{
	struct cairn_err err;
	struct witness w;

	options.is_placed = true;
	options.places = places;
	options.nplaces = n;
	if (witness_init(&w, g, &options, &err) < 0) {
		assert_int_equal(err.code, CAIRN_E_CORRUPT);
		return false;
	}
	assert_int_equal(w.nslots, n);
	witness_release(&w);
	return true;
}

static void assert_slots(const struct witness *w, const uint32_t *slots,
                         uint32_t n)
{
	assert_int_equal(w->nslots, n);
	assert_memory_equal(w->slots, slots, n * sizeof(*slots));
}

#define ASSERT_SLOTS(w, ...)                               \
	assert_slots((w), (const uint32_t[]){__VA_ARGS__}, \
	             sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* --- figure 6 ------------------------------------------------------------ */

static const uint32_t tuv[] = {FIG6_P_A, FIG6_B_A, FIG6_B_C};

static void figure_6(struct cfg *g, struct witness *w)
{
	graph_figure_6(g);
	place(w, g,
	      &(struct witness_options){
	              .is_alone = true,
	              .is_placed = true,
	              .places = tuv,
	              .nplaces = 3,
	      });
}

static void assert_set(const struct witness *w, edge_id e,
                       const uint32_t *expected, uint32_t n)
{
	uint32_t set[SLOTS_MAX];

	assert_int_equal(witness_set(w, e, set), n);
	assert_memory_equal(set, expected, n * sizeof(*set));
}

#define ASSERT_SET(w, e, ...)                                 \
	assert_set((w), (e), (const uint32_t[]){__VA_ARGS__}, \
	           sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void test_figure_6_sets(void **state)
{
	struct witness w;
	struct cfg g;

	(void)state;
	figure_6(&g, &w);
	ASSERT_SET(&w, FIG6_P_A, FIG6_P_A);
	ASSERT_SET(&w, FIG6_P_B, FIG6_B_A, FIG6_B_C);
	ASSERT_SET(&w, FIG6_B_A, FIG6_B_A);
	ASSERT_SET(&w, FIG6_B_C, FIG6_B_C);
	ASSERT_SET(&w, FIG6_C_P, FIG6_P_A, FIG6_B_A, FIG6_B_C);
	ASSERT_SET(&w, FIG6_C_EXIT, WITNESS_EOF);
	witness_release(&w);
	cfg_release(&g);
}

/* The trace t, u, v, EOF. */
static void test_figure_6_regenerates(void **state)
{
	static const block_id expected[] = {
	        FIG6_P, FIG6_A, FIG6_C, FIG6_P, FIG6_B,      FIG6_A,
	        FIG6_C, FIG6_P, FIG6_B, FIG6_C, CFG_OUTSIDE,
	};
	struct path path = {0};
	struct cairn_err err;
	uint32_t n = 0, at = CFG_OUTSIDE;
	struct witness w;
	struct cfg g;

	(void)state;
	figure_6(&g, &w);
	for (int i = 0; i < 4; i++) {
		uint32_t code = i < 3 ? w.on_edge[tuv[i]] : WITNESS_EOF;

		assert_int_equal(witness_decode(&w, at, code, &path, &at, &err),
		                 0);
		assert_int_equal(path.end, i < 3 ? PATH_ENDED : PATH_LEAVES);
		assert_int_equal(path.enters, i == 0);
		for (uint32_t k = 0; k < path.nedges; k++, n++)
			assert_int_equal(g.edges[path.edges[k]].dst,
			                 expected[n]);
	}
	assert_int_equal(n, sizeof(expected) / sizeof(*expected));
	path_release(&path);
	witness_release(&w);
	cfg_release(&g);
}

static void test_figure_6_without_t(void **state)
{
	struct witness_options options = {.is_alone = true};
	struct cfg g;

	(void)state;
	graph_figure_6(&g);
	assert_true(is_accepted(&g, options, tuv, 3));
	assert_false(is_accepted(&g, options, tuv + 1, 2));
	/* somebody else writes behind the exit: nothing blocks it */
	options.is_alone = false;
	assert_false(is_accepted(&g, options, tuv, 3));
	cfg_release(&g);
}

static void test_figure_6_alone(void **state)
{
	struct witness_options options = {.is_alone = true};
	uint64_t weight[FIG6_NEDGES];
	struct witness w;
	struct cfg g;

	(void)state;
	graph_figure_6(&g);
	weight_heuristic(&g, weight);
	options.weight = weight;
	place(&w, &g, &options);
	ASSERT_SLOTS(&w, FIG6_P_A, FIG6_B_A, FIG6_B_C);
	assert_int_equal(witness_cost(&w, weight), HUNDREDTHS(1100));
	assert_int_equal(witness_cost(&w, NULL), 3);
	witness_release(&w);
	cfg_release(&g);
}

/* B contains a call: of a function that is known, or of anything. */
static void test_figure_6_with_call(void **state)
{
	enum { P = 1, A, B, C, BEHIND, NBLOCKS };
	enum { ENTRY, P_A, P_B, A_C, CALL, B_A, B_C, C_P, C_EXIT, NEDGES };
	static const struct graph_arc arcs[] = {
	        {0, P},      {P, A},      {P, B}, {A, C}, {B, BEHIND},
	        {BEHIND, A}, {BEHIND, C}, {C, P}, {C, 0},
	};
	static const bool is_call[NEDGES] = {[CALL] = true};
	static const bool loud[NBLOCKS] = {[BEHIND] = true};
	struct witness_options options = {.slots.is_call = is_call};
	uint64_t weight[NEDGES];
	struct witness w;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, NBLOCKS, arcs);
	weight_heuristic(&g, weight);
	assert_int_equal(weight[P_A], HUNDREDTHS(550));
	assert_int_equal(weight[B_A], HUNDREDTHS(275));
	options.weight = weight;
	for (int i = 0; i < 2; i++) {
		options.slots.loud = i ? loud : NULL;
		place(&w, &g, &options);
		assert_int_equal(witness_cost(&w, weight), HUNDREDTHS(1475));
		assert_int_equal(w.nslots, 4);
		assert_int_not_equal(w.on_edge[P_A], WITNESS_NONE);
		assert_int_not_equal(w.on_edge[P_B], WITNESS_NONE);
		assert_int_not_equal(w.on_edge[C_EXIT], WITNESS_NONE);
		assert_int_equal(w.on_edge[B_A] == WITNESS_NONE,
		                 w.on_edge[B_C] != WITNESS_NONE);
		witness_release(&w);
	}
	cfg_release(&g);
}

/* After figure 8: H and I call, and H is the only way to I but one. */
static void test_figure_8(void **state)
{
	enum { ENTRY, P_H, P_I, H_CALL, H_I, I_CALL, I_EXIT, NEDGES };
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 4}, {2, 3}, {3, 4}, {4, 5}, {5, 0},
	};
	static const bool is_call[NEDGES] = {[H_CALL] = true, [I_CALL] = true};
	struct witness_options options = {.slots.is_call = is_call};
	struct witness w;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 6, arcs);
	place(&w, &g, &options);
	ASSERT_SLOTS(&w, P_H, P_I);
	/* in front of each call: H_I is one too many */
	assert_true(
	        is_accepted(&g, options, (const uint32_t[]){P_H, P_I, H_I}, 3));
	assert_false(is_accepted(&g, options, (const uint32_t[]){P_H}, 1));
	assert_false(is_accepted(&g, options, (const uint32_t[]){P_H, H_I}, 2));
	witness_release(&w);
	cfg_release(&g);
}

/* --- rules --------------------------------------------------------------- */

static void test_straight(void **state)
{
	struct path path = {0};
	struct cairn_err err;
	struct witness w;
	struct cfg g;
	uint32_t next;

	(void)state;
	graph_chain(&g, 3, false);
	place(&w, &g, &(struct witness_options){0});
	assert_int_equal(w.nslots, 0);
	assert_true(witness_is_silent(&w, CFG_OUTSIDE));
	assert_int_equal(witness_decode(&w, CFG_OUTSIDE, WITNESS_NONE, &path,
	                                &next, &err),
	                 0);
	assert_int_equal(path.end, PATH_LEAVES);
	assert_int_equal(path.nedges, 4);
	assert_int_equal(path.first, 1);
	/* a witness that nobody writes */
	assert_int_equal(witness_decode(&w, CFG_OUTSIDE, WITNESS_FIRST, &path,
	                                &next, &err),
	                 CAIRN_E_CORRUPT);
	path_release(&path);
	witness_release(&w);
	cfg_release(&g);
}

/* Even a loop that is never left writes, so that its turns are known. */
static void test_endless_loop(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {2, 1}};
	static const bool is_call[] = {false, true, false};
	struct witness_options options = {0};
	struct witness w;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 3, arcs);
	for (int i = 0; i < 2; i++) {
		options.slots.is_call = i ? is_call : NULL;
		place(&w, &g, &options);
		assert_int_equal(w.nslots, 1);
		witness_release(&w);
		assert_false(is_accepted(&g, options, NULL, 0));
	}
	cfg_release(&g);
}

/* Behind each of two calls of anything, and before the end. */
static void test_loud_chain(void **state)
{
	enum { HEAD_2 = 4 + 2, HEAD_3 };
	static const bool is_call[] = {false, true, true, false};
	static const bool loud[] = {false, false, true, true};
	struct witness_options options = {
	        .slots = {.is_call = is_call, .loud = loud}};
	struct path path = {0};
	struct cairn_err err;
	struct witness w;
	struct cfg g;
	uint32_t at = CFG_OUTSIDE;

	(void)state;
	graph_chain(&g, 3, false);
	place(&w, &g, &options);
	ASSERT_SLOTS(&w, HEAD_2, HEAD_3);
	/* to the first call, in silence */
	assert_int_equal(witness_decode(&w, at, WITNESS_NONE, &path, &at, &err),
	                 0);
	assert_int_equal(path.nedges, 2);
	assert_int_equal(path.end, PATH_ENDED);
	assert_int_equal(at, witness_at(&w, 2));
	assert_false(witness_is_silent(&w, at));
	/* it came back */
	assert_int_equal(witness_decode(&w, at, w.at_head[2], &path, &at, &err),
	                 0);
	assert_int_equal(path.nedges, 0);
	assert_int_equal(path.end, PATH_ENDED);
	assert_true(witness_is_silent(&w, at));
	/* the edges behind the calls would do as well */
	assert_true(is_accepted(&g, options, (const uint32_t[]){2, 3}, 2));
	assert_false(is_accepted(&g, options, (const uint32_t[]){2}, 1));
	assert_false(is_accepted(&g, options, (const uint32_t[]){3}, 1));
	path_release(&path);
	witness_release(&w);
	cfg_release(&g);
}

/* A loop of calls of anything: its predicate is heard anyhow. */
static void test_loud_loop(void **state)
{
	enum { ENTRY, P_CALLS, CALL, BACK, LEAVE };
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {2, 3}, {3, 1}, {1, 0}};
	static const bool is_call[] = {false, false, true, false, false};
	static const bool loud[] = {false, false, false, true};
	struct witness w;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 4, arcs);
	place(&w, &g,
	      &(struct witness_options){
	              .slots = {.is_call = is_call, .loud = loud}});
	ASSERT_SLOTS(&w, P_CALLS, LEAVE);
	witness_release(&w);
	cfg_release(&g);
}

/* A block without edges out calls what does not come back. */
static void test_stop(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 3}, {3, 0}};
	struct path path = {0};
	struct cairn_err err;
	struct witness w;
	struct cfg g;
	uint32_t next = CFG_OUTSIDE;

	(void)state;
	GRAPH_MAKE(&g, 4, arcs);
	place(&w, &g, &(struct witness_options){0});
	ASSERT_SLOTS(&w, 1, 2);
	assert_int_equal(witness_decode(&w, CFG_OUTSIDE, w.on_edge[1], &path,
	                                &next, &err),
	                 0);
	assert_int_equal(
	        witness_decode(&w, next, WITNESS_NONE, &path, &next, &err), 0);
	assert_int_equal(path.end, PATH_STOPS);
	assert_int_equal(path.first, 2);
	assert_int_equal(path.nedges, 0);
	path_release(&path);
	witness_release(&w);
	cfg_release(&g);
}

/* The edges of an indirect branch have no room; the heads of its targets do.
 * Edges 1 and 2 are the same to it. */
static void test_indirect(void **state)
{
	enum { NEDGES = 7 };
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 0},
	};
	static const enum dag_how asked[NEDGES] = {DAG_THROUGH, DAG_INDIRECT,
	                                           DAG_INDIRECT, DAG_INDIRECT};
	static const enum dag_how wrong[NEDGES] = {[6] = DAG_INDIRECT};
	struct witness_options options = {.slots.asked = asked};
	struct path path = {0};
	struct cairn_err err;
	struct witness w;
	struct cfg g;
	uint32_t next;

	(void)state;
	GRAPH_MAKE(&g, 5, arcs);
	place(&w, &g, &options);
	ASSERT_SLOTS(&w, NEDGES + 2, NEDGES + 3);
	assert_int_equal(witness_decode(&w, CFG_OUTSIDE, w.at_head[2], &path,
	                                &next, &err),
	                 0);
	assert_int_equal(path.nedges, 2);
	assert_int_equal(path.edges[1], 1);
	assert_int_equal(next, 2);
	witness_release(&w);
	/* where none fits */
	assert_false(is_accepted(&g, options, (const uint32_t[]){1, 3}, 2));
	assert_true(is_accepted(&g, options, (const uint32_t[]){4, 5}, 2));
	options.slots.asked = wrong;
	assert_int_equal(witness_init(&w, &g, &options, &err), CAIRN_E_CORRUPT);
	path_release(&path);
	cfg_release(&g);
}

/* A call with a way out that nobody takes is no predicate. */
static void test_ignored(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 3}, {2, 0}, {3, 0}};
	static const enum dag_how asked[] = {DAG_THROUGH, DAG_THROUGH,
	                                     DAG_IGNORED, DAG_THROUGH,
	                                     DAG_THROUGH};
	struct witness_options options = {.slots.asked = asked};
	struct witness w;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 4, arcs);
	place(&w, &g, &options);
	assert_int_equal(w.nslots, 0);
	witness_release(&w);
	assert_false(is_accepted(&g, options, (const uint32_t[]){2}, 1));
	cfg_release(&g);
}

static void test_bad_places(void **state)
{
	struct witness_options options = {.is_alone = true};
	struct cfg g;

	(void)state;
	graph_figure_6(&g);
	assert_false(is_accepted(
	        &g, options, (const uint32_t[]){FIG6_B_A, FIG6_P_A, FIG6_B_C},
	        3));
	assert_false(is_accepted(
	        &g, options,
	        (const uint32_t[]){FIG6_P_A, FIG6_P_A, FIG6_B_A, FIG6_B_C}, 4));
	/* the head of a block that is not loud; no slot at all */
	assert_false(
	        is_accepted(&g, options,
	                    (const uint32_t[]){FIG6_P_A, FIG6_B_A, FIG6_B_C,
	                                       FIG6_NEDGES + FIG6_A},
	                    4));
	assert_false(is_accepted(
	        &g, options,
	        (const uint32_t[]){FIG6_P_A, FIG6_B_A, FIG6_B_C, UINT32_MAX},
	        4));
	cfg_release(&g);
}

/* No function, or one that is never entered. */
static void test_empty(void **state)
{
	struct path path = {0};
	struct cairn_err err;
	struct witness w;
	struct cfg g;
	uint32_t next;

	(void)state;
	cfg_init(&g, 2);
	cfg_link(&g);
	place(&w, &g, &(struct witness_options){0});
	assert_int_equal(w.nslots, 0);
	assert_int_equal(witness_decode(&w, CFG_OUTSIDE, WITNESS_NONE, &path,
	                                &next, &err),
	                 CAIRN_E_CORRUPT);
	path_release(&path);
	witness_release(&w);
	cfg_release(&g);
}

/* --- codes --------------------------------------------------------------- */

/* A switch with n ways, all of which come back to it. */
static void make_switch(struct cfg *g, uint32_t n)
{
	cfg_init(g, n + 2);
	cfg_add_edge(g, CFG_OUTSIDE, 1);
	for (uint32_t i = 0; i + 1 < n; i++)
		cfg_add_edge(g, 1, 2 + i);
	for (uint32_t i = 0; i + 1 < n; i++)
		cfg_add_edge(g, 2 + i, 1);
	cfg_add_edge(g, 1, CFG_OUTSIDE);
	cfg_link(g);
}

static void check_switch(uint32_t nways, unsigned width)
{
	struct path path = {0};
	struct cairn_err err;
	struct witness w;
	struct cfg g;

	make_switch(&g, nways);
	place(&w, &g, &(struct witness_options){0});
	assert_int_equal(w.width, width);
	for (uint32_t i = g.out_at[1]; i < g.out_at[2]; i++) {
		uint32_t code = w.on_edge[g.out[i]], next = CFG_NONE;

		if (code == WITNESS_NONE) /* its way back has one */
			code = w.on_edge
			               [g.out[g.out_at[g.edges[g.out[i]].dst]]];
		assert_int_not_equal(code, WITNESS_NONE);
		assert_in_range(code, WITNESS_FIRST,
		                width == 1 ? WITNESS_LAST : WITNESS_LAST_WIDE);
		assert_int_equal(witness_decode(&w, witness_at(&w, 1), code,
		                                &path, &next, &err),
		                 0);
		assert_int_equal(path.edges[0], g.out[i]);
	}
	path_release(&path);
	witness_release(&w);
	cfg_release(&g);
}

static void test_width(void **state)
{
	enum { ONE_BYTE = WITNESS_LAST - WITNESS_FIRST + 1 };

	(void)state;
	check_switch(2, 1);
	check_switch(ONE_BYTE, 1);
	check_switch(ONE_BYTE + 1, 4);
	check_switch(256 * ONE_BYTE + 1, 4);
}

/* A tree of decisions with more leaves than a byte has values, which only write
 * at the leaves if nothing is done about it. */
static void test_many_are_seen(void **state)
{
	enum { LEAVES = 1024, NEDGES = 3 * LEAVES };
	uint64_t *weight = calloc(NEDGES, sizeof(*weight));
	struct witness w;
	struct cfg g;

	(void)state;
	assert_non_null(weight);
	cfg_init(&g, 2 * LEAVES + 1);
	cfg_add_edge(&g, CFG_OUTSIDE, 1);
	for (block_id b = 2; b < 2 * LEAVES; b++)
		cfg_add_edge(&g, b / 2, b);
	for (block_id b = LEAVES; b < 2 * LEAVES; b++)
		cfg_add_edge(&g, b, 2 * LEAVES);
	cfg_add_edge(&g, 2 * LEAVES, CFG_OUTSIDE);
	cfg_link(&g);
	/* light ways out of the leaves */
	for (edge_id e = 0; e < g.nedges; e++)
		weight[e] = g.edges[e].dst == 2 * LEAVES ? 1 : 100;
	place(&w, &g,
	      &(struct witness_options){.weight = weight, .is_alone = true});
	assert_int_equal(w.width, 1);
	for (block_id b = 0; b < 2 * LEAVES; b++)
		assert_in_range(w.nways[b], 0, WITNESS_LAST + 1); /* EOF */
	assert_in_range(w.nslots, LEAVES - 1, LEAVES + 16);
	free(weight);
	witness_release(&w);
	cfg_release(&g);
}

/* Codes are given anew where nobody sees both: a chain of ifs, each of which
 * writes before the next, needs two. */
static void test_codes_are_reused(void **state)
{
	enum { N = 600 };
	bool *is_call = calloc(4 * N + 2, sizeof(*is_call));
	uint32_t most = 0;
	struct witness w;
	struct cfg g;

	(void)state;
	assert_non_null(is_call);
	cfg_init(&g, 2 * N + 2);
	cfg_add_edge(&g, CFG_OUTSIDE, 1);
	for (uint32_t i = 0; i < N; i++) {
		cfg_add_edge(&g, 1 + 2 * i, 2 + 2 * i);
		cfg_add_edge(&g, 1 + 2 * i, 2 + 2 * i);
		is_call[g.nedges] = true;
		cfg_add_edge(&g, 2 + 2 * i, 3 + 2 * i);
	}
	cfg_add_edge(&g, 2 * N + 1, CFG_OUTSIDE);
	cfg_link(&g);
	place(&w, &g, &(struct witness_options){.slots.is_call = is_call});
	assert_int_equal(w.nslots, 2 * N);
	assert_int_equal(w.width, 1);
	for (uint32_t i = 0; i < w.nslots; i++)
		most = w.on_edge[w.slots[i]] > most ? w.on_edge[w.slots[i]]
		                                    : most;
	assert_int_equal(most, WITNESS_FIRST + 1);
	free(is_call);
	witness_release(&w);
	cfg_release(&g);
}

/* However large a function is, a byte does. */
static void test_large(void **state)
{
	static const struct graph_taste taste = {.nblocks = 10000,
	                                         .fall = 80,
	                                         .back = 10,
	                                         .leave = 1,
	                                         .swtch = 3};
	struct rng r = rng_from_environment(5);
	struct witness_options options = {0};
	uint64_t *weight;
	struct witness w;
	struct cfg g;

	(void)state;
	graph_random(&g, &taste, &r);
	weight = calloc(g.nedges, sizeof(*weight));
	assert_non_null(weight);
	weight_heuristic(&g, weight);
	options.weight = weight;
	place(&w, &g, &options);
	assert_int_equal(w.width, 1);
	assert_true(is_accepted(&g, options, w.slots, w.nslots));
	free(weight);
	witness_release(&w);
	cfg_release(&g);
}

/* --- random graphs ------------------------------------------------------- */

struct instance {
	struct cfg g;
	struct witness_options options;
	enum dag_how asked[SLOTS_MAX];
	bool is_call[SLOTS_MAX], loud[SLOTS_MAX];
	uint64_t weight[SLOTS_MAX];
};

static void instance_init(struct instance *x, struct rng *r, uint32_t nblocks)
{
	struct graph_taste t = graph_random_taste(r, 2 + rng_below(r, nblocks));
	bool alone = rng_percent(r, 20);

	*x = (struct instance){0};
	do {
		cfg_release(&x->g);
		graph_random(&x->g, &t, r);
	} while (x->g.nedges + x->g.nblocks > SLOTS_MAX);
	for (edge_id e = 1; e < x->g.nedges; e++) {
		x->weight[e] = rng_below(r, 50);
		x->is_call[e] = rng_percent(r, 15);
		if (rng_percent(r, 10) && x->g.edges[e].dst != CFG_OUTSIDE)
			x->asked[e] =
			        rng_percent(r, 50) ? DAG_INDIRECT : DAG_IGNORED;
	}
	for (block_id b = 1; b < x->g.nblocks; b++)
		x->loud[b] = rng_percent(r, 15);
	x->options = (struct witness_options){
	        .slots = {.asked = x->asked,
	                  .is_call = x->is_call,
	                  .loud = x->loud},
	        .weight = x->weight,
	        .is_alone = alone,
	};
}

/* What is placed suffices, and no witness can be spared. */
static void test_none_can_be_spared(void **state)
{
	struct rng r = rng_from_environment(41);
	uint32_t places[SLOTS_MAX];

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct instance x;
		struct witness w;

		instance_init(&x, &r, 14);
		place(&w, &x.g, &x.options);
		assert_true(is_accepted(&x.g, x.options, w.slots, w.nslots));
		for (uint32_t less = 0; less < w.nslots; less++) {
			uint32_t n = 0;

			for (uint32_t k = 0; k < w.nslots; k++)
				if (k != less)
					places[n++] = w.slots[k];
			assert_false(is_accepted(&x.g, x.options, places, n));
		}
		witness_release(&w);
		cfg_release(&x.g);
	}
}

/*
 * All ways from an edge on, one by one, to the first slot of the set: the
 * slots they end at; false if somebody else writes first, or a way does not
 * end.
 */
static bool list_ways(const struct instance *x, const bool *set, edge_id e,
                      uint32_t length, bool *found)
{
	const struct cfg *g = &x->g;
	block_id dst = g->edges[e].dst;
	bool ends = true;

	if (set[e]) {
		found[e] = true;
		return true;
	}
	if (dst == CFG_OUTSIDE) /* the head of block 0 stands for the end */
		return found[g->nedges] = true, x->options.is_alone;
	if (x->is_call[e] && x->asked[e] != DAG_INDIRECT)
		return false;
	if (set[g->nedges + dst]) {
		found[g->nedges + dst] = true;
		return true;
	}
	if (length > g->nblocks)
		return false;
	for (uint32_t i = g->out_at[dst]; i < g->out_at[dst + 1]; i++) {
		if (x->asked[g->out[i]] == DAG_IGNORED)
			continue;
		ends = false;
		if (!list_ways(x, set, g->out[i], length + 1, found))
			return false;
	}
	return !ends;
}

/* Two edges that cannot be told apart, and need not be. */
static bool is_same(const struct instance *x, edge_id a, edge_id b)
{
	return x->asked[a] == DAG_INDIRECT && x->asked[b] == DAG_INDIRECT &&
	       x->g.edges[a].dst == x->g.edges[b].dst;
}

/* Does a block without a decision go round without writing? */
static bool goes_round(const struct instance *x, const bool *set, block_id b)
{
	const struct cfg *g = &x->g;
	block_id at = b;

	for (uint32_t n = 0; n < g->nblocks; n++) {
		edge_id only = CFG_NONE;

		for (uint32_t i = g->out_at[at]; i < g->out_at[at + 1]; i++) {
			edge_id e = g->out[i];

			if (x->asked[e] == DAG_IGNORED ||
			    (only != CFG_NONE && is_same(x, only, e)))
				continue;
			if (only != CFG_NONE)
				return false;
			only = e;
		}
		if (only == CFG_NONE || set[only])
			return false;
		at = g->edges[only].dst;
		if (at == CFG_OUTSIDE || set[g->nedges + at])
			return false;
	}
	return true;
}

/* Do the ways out of a block end at different slots, and in time? */
static bool tells_ways(const struct instance *x, const bool *set, block_id b)
{
	bool found[SLOTS_MAX][SLOTS_MAX] = {0};
	const struct cfg *g = &x->g;
	edge_id ways[SLOTS_MAX];
	uint32_t n = 0;
	bool is_in_time = true;

	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
		bool is_new = x->asked[g->out[i]] != DAG_IGNORED;

		for (uint32_t k = 0; k < n; k++)
			is_new &= !is_same(x, ways[k], g->out[i]);
		if (is_new)
			ways[n++] = g->out[i];
	}
	for (uint32_t i = 0; i < n; i++)
		is_in_time &= list_ways(x, set, ways[i], 0, found[i]);
	if (x->loud[b] && !set[g->nedges + b] && (!n || !is_in_time))
		return false;
	if (n < 2)
		return true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			for (uint32_t slot = 0; slot < SLOTS_MAX; slot++)
				if (found[i][slot] && found[k][slot])
					return false;
	return is_in_time;
}

static bool is_enough(const struct instance *x, const bool *set)
{
	for (block_id b = 1; b < x->g.nblocks; b++)
		if (!tells_ways(x, set, b) || goes_round(x, set, b))
			return false;
	return true;
}

/* Random sets of slots, many of them almost right. */
static void test_check_against_all_ways(void **state)
{
	struct rng r = rng_from_environment(42);
	uint32_t nright = 0, nwrong = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		bool set[SLOTS_MAX] = {0};
		uint32_t places[SLOTS_MAX], n = 0;
		struct instance x;
		struct witness w;
		bool right;

		instance_init(&x, &r, 6);
		place(&w, &x.g, &x.options);
		for (uint32_t k = 0; k < w.nslots; k++)
			set[w.slots[k]] = !rng_percent(&r, 5);
		for (uint32_t slot = 0; slot < slots_count(&w.graph); slot++) {
			if (w.graph.arc_of[slot] == CFG_NONE)
				continue;
			set[slot] ^= rng_percent(&r, 10);
			if (set[slot])
				places[n++] = slot;
		}
		right = is_enough(&x, set);
		assert_int_equal(is_accepted(&x.g, x.options, places, n),
		                 right);
		*(right ? &nright : &nwrong) += 1;
		witness_release(&w);
		cfg_release(&x.g);
	}
	/* both were tried */
	assert_true(nright > 500 && nwrong > 500);
}

/* --- the optimum --------------------------------------------------------- */

static uint64_t cheapest(const struct cfg *g, struct witness_options options,
                         uint64_t below)
{
	uint32_t places[SLOTS_MAX];

	for (uint32_t set = 0; set < 1u << g->nedges; set++) {
		uint64_t cost = 0;
		uint32_t n = 0;

		for (edge_id e = 0; e < g->nedges; e++) {
			if (!(set >> e & 1))
				continue;
			cost += options.weight[e];
			places[n++] = e;
		}
		if (cost < below && is_accepted(g, options, places, n))
			below = cost;
	}
	return below;
}

/* Does every block run, and come to an end? */
static bool is_whole(const struct cfg *g)
{
	bool *reached = graph_reach(g, CFG_NONE), all = true;
	bool ends[SLOTS_MAX] = {true};

	for (uint32_t round = 0; round < g->nblocks; round++)
		for (edge_id e = 0; e < g->nedges; e++)
			ends[g->edges[e].src] |= ends[g->edges[e].dst];
	for (block_id b = 0; b < g->nblocks; b++)
		all &= reached[b] && ends[b];
	free(reached);
	return all;
}

/* Section 4.1: in G* the tree is the cheapest placement, with weights that are
 * a flow. */
static void test_optimum_in_gstar(void **state)
{
	struct rng r = rng_from_environment(43);
	uint32_t nchecked = 0;

	(void)state;
	while (nchecked < 60) {
		struct graph_taste t =
		        graph_random_taste(&r, 3 + rng_below(&r, 5));
		struct witness_options options = {.is_alone = true};
		uint64_t weight[SLOTS_MAX];
		struct witness w;
		struct cfg g;

		graph_random(&g, &t, &r);
		if (g.nedges <= 10 && g.nedges > g.nblocks && is_whole(&g) &&
		    gstar_test(&g, GSTAR_BUDGET) == GSTAR_YES) {
			weight_heuristic(&g, weight);
			options.weight = weight;
			place(&w, &g, &options);
			assert_int_equal(
			        cheapest(&g, options, witness_cost(&w, weight)),
			        witness_cost(&w, weight));
			witness_release(&w);
			nchecked++;
		}
		cfg_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 6: witness sets", test_figure_6_sets, NULL, NULL,
	         NULL},
	        {"figure 6: regeneration", test_figure_6_regenerates, NULL,
	         NULL, NULL},
	        {"figure 6: without t", test_figure_6_without_t, NULL, NULL,
	         NULL},
	        {"figure 6: heuristic weights", test_figure_6_alone, NULL, NULL,
	         NULL},
	        {"figure 6: a call in B", test_figure_6_with_call, NULL, NULL,
	         NULL},
	        {"after figure 8", test_figure_8, NULL, NULL, NULL},
	        cmocka_unit_test(test_straight),
	        cmocka_unit_test(test_endless_loop),
	        cmocka_unit_test(test_loud_chain),
	        cmocka_unit_test(test_loud_loop),
	        cmocka_unit_test(test_stop),
	        cmocka_unit_test(test_indirect),
	        cmocka_unit_test(test_ignored),
	        cmocka_unit_test(test_bad_places),
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_width),
	        cmocka_unit_test(test_many_are_seen),
	        cmocka_unit_test(test_codes_are_reused),
	        cmocka_unit_test(test_large),
	        cmocka_unit_test(test_none_can_be_spared),
	        cmocka_unit_test(test_check_against_all_ways),
	        cmocka_unit_test(test_optimum_in_gstar),
	};

	return cmocka_run_group_tests_name("witness", tests, NULL, NULL);
}
