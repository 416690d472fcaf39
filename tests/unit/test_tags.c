/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of paths: digits come back, no two ways have one, limits hold. */
#include "graph/tags.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graph/paths.h"
#include "path_graphs.h"

#define SITES_MAX 24
#define TRIES 20

/* The sites of a path, or of its part up to a block, in order: how many. */
static uint32_t sites_on(const struct paths *p, const struct tag_site *sites,
                         uint32_t nsites, uint64_t number, uint32_t *on)
{
	uint32_t *route = calloc(p->dag.nvertices, sizeof(*route));
	uint32_t n = paths_route(p, number, route), found = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < nsites; k++)
			if (sites[k].block == p->dag.edges[route[i]].dst)
				on[found++] = k;
	free(route);
	return found;
}

/* Random digits of a path come back, whatever is left of it. */
static void assert_digits(const struct tags *t, const struct tag_site *sites,
                          const uint32_t *on, uint32_t n, struct rng *r)
{
	uint64_t digit[SITES_MAX], tag = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t radix = sites[on[i]].radix;

		digit[i] = radix ? rng_below(r, (uint32_t)radix) : 0;
		if (!radix) {
			assert_int_equal(t->weight[on[i]], 0);
			continue;
		}
		assert_true(tag < t->weight[on[i]]);
		tag += digit[i] * t->weight[on[i]];
		assert_true(tag < t->n);
	}
	while (n--)
		assert_int_equal(tags_take(t, on[n], &tag), digit[n]);
	assert_int_equal(tag, 0);
}

static uint32_t make_sites(struct tag_site *sites, const struct cfg *g,
                           struct rng *r)
{
	uint32_t n = 0;

	for (block_id b = 1; b < g->nblocks; b++)
		while (n < SITES_MAX && rng_percent(r, 40))
			sites[n++] = (struct tag_site){
			        b,
			        rng_percent(r, 80) ? 2 + rng_below(r, 16) : 0};
	return n;
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(17);

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct graph_taste taste =
		        graph_random_taste(&r, 2 + rng_below(&r, 10));
		struct paths_options o = {0};
		struct tag_site sites[SITES_MAX];
		uint32_t on[SITES_MAX], n;
		struct paths p;
		struct tags t;
		struct cfg g;

		graph_random(&g, &taste, &r);
		assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
		n = make_sites(sites, &g, &r);
		if (tags_init(&t, &p.dag, sites, n, UINT64_MAX)) {
			assert_true(t.n <= TAGS_LIMIT);
			for (int k = 0; p.n && k < TRIES; k++) {
				uint64_t number = rng_next(&r) % p.n;
				uint32_t found =
				        sites_on(&p, sites, n, number, on);

				assert_digits(&t, sites, on, found, &r);
			}
			/* one less does not fit */
			if (t.n > 1) {
				struct tags other;

				assert_false(tags_init(&other, &p.dag, sites, n,
				                       t.n - 1));
			}
			tags_release(&t);
		}
		paths_release(&p);
		cfg_release(&g);
	}
}

/* Two ways with a call each, and one behind them: 5 * 2 tags, not 5 * 3 * 2. */
static void test_ways_share(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 3},
	                                        {2, 4}, {3, 4}, {4, 0}};
	static const struct tag_site sites[] = {{2, 5}, {3, 3}, {4, 2}};
	struct paths_options o = {0};
	struct paths p;
	struct tags t;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 5, arcs);
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_true(tags_init(&t, &p.dag, sites, 3, 10));
	assert_int_equal(t.n, 10);
	assert_int_equal(t.weight[0], 1);
	assert_int_equal(t.weight[1], 1);
	assert_int_equal(t.weight[2], 5);
	tags_release(&t);
	assert_false(tags_init(&t, &p.dag, sites, 3, 9));
	paths_release(&p);
	cfg_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_ways_share),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
