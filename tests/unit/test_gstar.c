/* SPDX-License-Identifier: Apache-2.0 */
/* The class G*: examples of section 3.3, and all simple cycles one by one. */
#include "graph/gstar.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graph/cfg.h"
#include "graphs.h"

static enum gstar_answer answer_for(uint32_t nblocks,
                                    const struct graph_arc *arcs, size_t narcs)
{
	enum gstar_answer answer;
	struct cfg g;

	graph_make(&g, nblocks, arcs, narcs);
	answer = gstar_test(&g, GSTAR_BUDGET);
	cfg_release(&g);
	return answer;
}

#define ANSWER_FOR(nblocks, arcs) \
	answer_for((nblocks), (arcs), sizeof(arcs) / sizeof(*(arcs)))

static void test_figure_1(void **state)
{
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_YES);
	cfg_release(&g);
}

/* while (..) { if (..) .. else ..; while (..) ..; } if (..) ..; */
static void test_structured(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 5}, {5, 6},
	        {6, 5}, {5, 1}, {1, 7}, {7, 8}, {7, 9}, {8, 9}, {9, 0},
	};

	(void)state;
	assert_int_equal(ANSWER_FOR(10, arcs), GSTAR_YES);
}

static void test_repeat(void **state)
{
	/* repeat ... until, on its own */
	static const struct graph_arc plain[] = {
	        {0, 1}, {1, 2}, {2, 1}, {2, 0}};
	/* the same inside an if: 1 -> 2 <- 3 -> 4 <- 1 */
	static const struct graph_arc guarded[] = {
	        {0, 1}, {1, 2}, {1, 4}, {2, 3}, {3, 2}, {3, 4}, {4, 0}};

	(void)state;
	assert_int_equal(ANSWER_FOR(4, plain), GSTAR_YES);
	assert_int_equal(ANSWER_FOR(5, guarded), GSTAR_NO);
}

static void test_break(void **state)
{
	/* while with a break: 1 head, 3 breaks to 5 */
	static const struct graph_arc plain[] = {
	        {0, 1}, {1, 2}, {1, 5}, {2, 3}, {2, 4}, {3, 5}, {4, 1}, {5, 0}};
	/* inside an if, and the break goes past code after the loop */
	static const struct graph_arc crossing[] = {
	        {0, 1}, {1, 2}, {1, 3}, {2, 3}, {2, 4},
	        {3, 5}, {3, 2}, {4, 5}, {5, 0}, {1, 5}};

	(void)state;
	assert_int_equal(ANSWER_FOR(6, plain), GSTAR_YES);
	assert_int_equal(ANSWER_FOR(6, crossing), GSTAR_NO);
}

static void test_parallel_and_self(void **state)
{
	static const struct graph_arc parallel[] = {
	        {0, 1}, {1, 2}, {1, 2}, {2, 0}};
	static const struct graph_arc split[] = {
	        {0, 1}, {1, 2}, {1, 3}, {3, 2}, {2, 0}};
	static const struct graph_arc self[] = {{0, 1}, {1, 1}, {1, 0}};

	(void)state;
	assert_int_equal(ANSWER_FOR(3, parallel), GSTAR_NO);
	assert_int_equal(ANSWER_FOR(4, split), GSTAR_YES);
	assert_int_equal(ANSWER_FOR(2, self), GSTAR_YES);
}

/* An unreachable block closes a bad cycle that never runs. */
static void test_unreachable(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 3}, {2, 0},
	                                        {3, 0}, {4, 2}, {4, 3}};

	(void)state;
	assert_int_equal(ANSWER_FOR(5, arcs), GSTAR_YES);
}

/* n times if (a && b) .. else .., then m times if (a) .. else ... */
static void make_conditions(struct cfg *g, uint32_t n, uint32_t m)
{
	block_id a = 1;

	cfg_init(g, 4 * n + 3 * m + 2);
	cfg_add_edge(g, CFG_OUTSIDE, 1);
	for (uint32_t i = 0; i < n; i++, a += 4) {
		cfg_add_edge(g, a, a + 1);
		cfg_add_edge(g, a, a + 2);
		cfg_add_edge(g, a + 1, a + 3);
		cfg_add_edge(g, a + 1, a + 2);
		cfg_add_edge(g, a + 2, a + 4);
		cfg_add_edge(g, a + 3, a + 4);
	}
	for (uint32_t i = 0; i < m; i++, a += 3) {
		cfg_add_edge(g, a, a + 1);
		cfg_add_edge(g, a, a + 2);
		cfg_add_edge(g, a + 1, a + 3);
		cfg_add_edge(g, a + 2, a + 3);
	}
	cfg_add_edge(g, a, CFG_OUTSIDE);
	cfg_link(g);
}

/*
 * 2^200 cycles are no problem.  One condition with && is in the class, two
 * are not: the way through the else part of each, against the edge by which
 * the second operand reaches it, is a cycle with two sinks.
 */
static void test_many_conditions(void **state)
{
	struct cfg g;

	(void)state;
	make_conditions(&g, 0, 200);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_YES);
	cfg_release(&g);
	make_conditions(&g, 1, 200);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_YES);
	cfg_release(&g);
	make_conditions(&g, 2, 0);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_NO);
	cfg_release(&g);
	make_conditions(&g, 100, 100);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_NO);
	cfg_release(&g);
}

/* A loop with n breaks: a wheel, which does not come apart. */
static void test_many_breaks(void **state)
{
	enum { N = 50 };
	struct cfg g;

	(void)state;
	cfg_init(&g, N + 2);
	cfg_add_edge(&g, CFG_OUTSIDE, 1);
	for (block_id b = 1; b <= N; b++) {
		cfg_add_edge(&g, b, b < N ? b + 1 : 1);
		cfg_add_edge(&g, b, N + 1);
	}
	cfg_add_edge(&g, N + 1, CFG_OUTSIDE);
	cfg_link(&g);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_YES);
	/* the budget is respected: no answer is better than a wrong one */
	assert_int_equal(gstar_test(&g, 100), GSTAR_UNKNOWN);
	cfg_release(&g);
}

static void test_large(void **state)
{
	struct cfg g;

	(void)state;
	graph_chain(&g, 100000, true);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_YES);
	cfg_release(&g);
	graph_nest(&g, 50000);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET), GSTAR_YES);
	cfg_release(&g);
}

/* Brute force: walks every simple cycle from its smallest block. */
struct cycles {
	const struct cfg *g;
	const bool *reached;
	bool on_path[16], used[64], bad;
	bool with[16]; /* direction of the steps so far */
	block_id start;
};

static void cycles_close(struct cycles *c, uint32_t length)
{
	uint32_t nturns = 0;

	for (uint32_t i = 0; i < length; i++)
		nturns += c->with[i] != c->with[(i + 1) % length];
	/* two parallel edges turn twice, but no block tells them apart */
	c->bad |= nturns > 2 || (length == 2 && nturns == 2);
}

static void cycles_from(struct cycles *c, block_id b, uint32_t length)
{
	for (edge_id e = 0; e < c->g->nedges && !c->bad; e++) {
		block_id src = c->g->edges[e].src, dst = c->g->edges[e].dst;
		block_id to = src == b ? dst : src;

		if ((src != b && dst != b) || src == dst || c->used[e] ||
		    !c->reached[src] || to < c->start)
			continue;
		c->with[length] = src == b;
		if (to == c->start) {
			cycles_close(c, length + 1);
		} else if (!c->on_path[to]) {
			c->on_path[to] = c->used[e] = true;
			cycles_from(c, to, length + 1);
			c->on_path[to] = c->used[e] = false;
		}
	}
}

static bool has_bad_cycle(const struct cfg *g)
{
	bool *reached = graph_reach(g, CFG_NONE);
	struct cycles c = {.g = g, .reached = reached};

	for (c.start = 0; c.start < g->nblocks; c.start++)
		cycles_from(&c, c.start, 0);
	free(reached);
	return c.bad;
}

/* Drops parallel edges and keeps few others, so that both answers are met. */
static void make_sparse(struct cfg *g, struct rng *r)
{
	uint32_t n = 3 + rng_below(r, 9), nextra = rng_below(r, 7);

	cfg_init(g, n);
	for (block_id b = 0; b < n; b++)
		cfg_add_edge(g, b, (b + 1) % n);
	for (uint32_t i = 0; i < nextra; i++) {
		block_id src = rng_below(r, n), dst = rng_below(r, n);
		bool parallel = false;

		for (edge_id e = 0; e < g->nedges; e++)
			parallel |= g->edges[e].src == src &&
			            g->edges[e].dst == dst;
		if (!parallel)
			cfg_add_edge(g, src, dst);
	}
	cfg_link(g);
}

/* Appends a part of two or three blocks between two blocks at random. */
static uint32_t add_part(struct graph_arc *arcs, uint32_t n, block_id u,
                         block_id v, block_id first, struct rng *r)
{
	uint32_t nnew = 2 + rng_below(r, 2), narcs = 2 * nnew + rng_below(r, 2);
	block_id names[5] = {u, v, first, first + 1, first + 2};

	for (uint32_t i = 0; i < narcs; i++) {
		/* every new block is met twice, as source and as target */
		uint32_t a = 2 + i % nnew, b = rng_below(r, 2 + nnew);

		if (a == b)
			b = rng_below(r, 2);
		arcs[n++] = i / nnew % 2
		                    ? (struct graph_arc){names[a], names[b]}
		                    : (struct graph_arc){names[b], names[a]};
	}
	return n;
}

/* A short cycle with parts between its blocks, or between blocks of parts. */
static void make_parts(struct cfg *g, struct rng *r)
{
	struct graph_arc arcs[64];
	uint32_t nblocks = 2 + rng_below(r, 3), n = 0, nparts = 1;

	for (; n < nblocks; n++)
		arcs[n] = (struct graph_arc){n, (n + 1) % nblocks};
	nparts += rng_below(r, 2);
	for (uint32_t i = 0; i < nparts; i++) {
		block_id u = rng_below(r, nblocks), v = rng_below(r, nblocks);

		n = add_part(arcs, n, u, v, nblocks, r);
		nblocks += 3;
	}
	graph_make(g, nblocks, arcs, n);
}

static void test_random_parts(void **state)
{
	struct rng r = rng_from_environment(10);
	uint32_t nyes = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		struct cfg g;
		bool bad;

		make_parts(&g, &r);
		bad = has_bad_cycle(&g);
		assert_int_equal(gstar_test(&g, GSTAR_BUDGET),
		                 bad ? GSTAR_NO : GSTAR_YES);
		nyes += !bad;
		cfg_release(&g);
	}
	assert_true(nyes > 3000 && nyes < 27000);
}

/*
 * Two parts that come apart at blocks u and v, the edges of both in every
 * direction, with nothing else between u and v, an edge, or a path of two
 * edges that meet or part in the middle; and every block as the outside.
 */
enum { PARTS_U, PARTS_V, PARTS_MIDDLE = 6, PARTS_NBLOCKS };
enum { BETWEEN_NOTHING, BETWEEN_EDGE, BETWEEN_SINK, BETWEEN_SOURCE, NBETWEEN };

static uint32_t parts_arcs(uint32_t directions, uint32_t between,
                           struct graph_arc *arcs)
{
	static const struct graph_arc all[] = {
	        {PARTS_U, 2}, {PARTS_U, 3}, {PARTS_V, 2}, {PARTS_V, 3}, {2, 3},
	        {PARTS_U, 4}, {PARTS_U, 5}, {PARTS_V, 4}, {PARTS_V, 5}, {4, 5},
	};
	uint32_t n = 0;

	for (; n < sizeof(all) / sizeof(*all); n++) {
		arcs[n] = all[n];
		if (directions >> n & 1)
			arcs[n] = (struct graph_arc){all[n].dst, all[n].src};
	}
	if (between == BETWEEN_EDGE)
		arcs[n++] = (struct graph_arc){PARTS_U, PARTS_V};
	if (between == BETWEEN_SINK) {
		arcs[n++] = (struct graph_arc){PARTS_U, PARTS_MIDDLE};
		arcs[n++] = (struct graph_arc){PARTS_V, PARTS_MIDDLE};
	}
	if (between == BETWEEN_SOURCE) {
		arcs[n++] = (struct graph_arc){PARTS_MIDDLE, PARTS_U};
		arcs[n++] = (struct graph_arc){PARTS_MIDDLE, PARTS_V};
	}
	return n;
}

static block_id parts_rename(block_id b, block_id outside)
{
	if (b == outside)
		return CFG_OUTSIDE;
	return b == CFG_OUTSIDE ? outside : b;
}

static void check_parts(uint32_t directions, uint32_t between, block_id outside)
{
	struct graph_arc arcs[12];
	uint32_t n = parts_arcs(directions, between, arcs);
	struct cfg g;

	for (uint32_t i = 0; i < n; i++) {
		arcs[i].src = parts_rename(arcs[i].src, outside);
		arcs[i].dst = parts_rename(arcs[i].dst, outside);
	}
	graph_make(&g, PARTS_NBLOCKS, arcs, n);
	assert_int_equal(gstar_test(&g, GSTAR_BUDGET),
	                 has_bad_cycle(&g) ? GSTAR_NO : GSTAR_YES);
	cfg_release(&g);
}

static void test_all_of_two_parts(void **state)
{
	(void)state;
	for (uint32_t between = 0; between < NBETWEEN; between++)
		for (uint32_t directions = 0; directions < 1024; directions++)
			for (block_id b = 0; b < PARTS_NBLOCKS; b++)
				check_parts(directions, between, b);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(9);
	uint32_t nyes = 0, n = 0;

	(void)state;
	while (n < 20000) {
		bool sparse = rng_percent(&r, 80), bad;
		struct cfg g;

		if (sparse) {
			make_sparse(&g, &r);
		} else {
			struct graph_taste t =
			        graph_random_taste(&r, 2 + rng_below(&r, 8));

			graph_random(&g, &t, &r);
		}
		if (g.nedges <= 20) {
			bad = has_bad_cycle(&g);
			assert_int_equal(gstar_test(&g, GSTAR_BUDGET),
			                 bad ? GSTAR_NO : GSTAR_YES);
			nyes += !bad;
			n++;
		}
		cfg_release(&g);
	}
	assert_true(nyes > n / 10 && nyes < n - n / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 1", test_figure_1, NULL, NULL, NULL},
	        cmocka_unit_test(test_structured),
	        cmocka_unit_test(test_repeat),
	        cmocka_unit_test(test_break),
	        cmocka_unit_test(test_parallel_and_self),
	        cmocka_unit_test(test_unreachable),
	        cmocka_unit_test(test_many_conditions),
	        cmocka_unit_test(test_many_breaks),
	        cmocka_unit_test(test_large),
	        cmocka_unit_test(test_all_of_two_parts),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_random_parts),
	};

	return cmocka_run_group_tests_name("gstar", tests, NULL, NULL);
}
