/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of pairs: table 5 of 2004 as corrected, section 3.2.3. */
#include "analysis/overlap_bounds.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/err.h"
#include "overlap_graphs.h"

static void add_path(struct overlap_profile *p, uint32_t function,
                     uint64_t number, uint64_t count)
{
	VEC_RESERVE(p->paths, p->npaths, p->paths_cap);
	p->paths[p->npaths++] =
	        (struct overlap_path){function, CFG_NONE, number, count};
}

static void add_count(struct overlap_profile *p, struct overlap_count count)
{
	VEC_RESERVE(p->counts, p->ncounts, p->counts_cap);
	p->counts[p->ncounts++] = count;
}

/* --- table 5 ---------------------------------------------------------------
 */

/* Paths of table 2 that run: 1 .. 3 the ways of the loop, as the paper has
 * them; entering and turning, turning, or leaving. */
static uint64_t t2_path(const struct overlap_subject *s, int way, bool enters,
                        bool leaves)
{
	block_id blocks[9];
	uint32_t n = 0;

	if (enters) {
		blocks[n++] = CFG_OUTSIDE;
		blocks[n++] = T2_EN;
	}
	blocks[n++] = T2_P1;
	if (way == 1) {
		blocks[n++] = T2_B1;
	} else {
		blocks[n++] = T2_P2;
		blocks[n++] = way == 2 ? T2_B2 : T2_B3;
	}
	blocks[n++] = T2_P3;
	blocks[n++] = leaves ? T2_EX : T2_P1;
	if (leaves)
		blocks[n++] = CFG_OUTSIDE;
	return overlap_number(s, path_make(&s->g, blocks, n));
}

static void add_turn(struct overlap_profile *p, uint64_t from, uint64_t to)
{
	add_count(p, (struct overlap_count){
	                     .kind = OVERLAP_LOOP,
	                     .from = {0, CFG_NONE, from, CFG_NONE},
	                     .to = {0, CFG_NONE, to, CFG_NONE},
	                     .count = 250,
	             });
}

static void profile_table_5(struct overlap_profile *p,
                            const struct overlap_subject *s)
{
	*p = (struct overlap_profile){
	        .graphs = &s->o, .nfunctions = 1, .is_finished = true};
	for (int way = 1; way <= 2; way++) {
		uint64_t enters = t2_path(s, way, true, false);
		uint64_t turns = t2_path(s, way, false, false);

		add_path(p, 0, enters, 250);
		add_path(p, 0, turns, 250);
		add_turn(p, enters, turns);
		add_turn(p, turns, t2_path(s, 3, false, true));
	}
	add_path(p, 0, t2_path(s, 3, false, true), 500);
}

/* The way of the loop that a part is. */
static int t2_way(const struct overlap_subject *s, uint64_t sum)
{
	struct overlap_behind b;

	for (int way = 1; way <= 3; way++)
		if (overlap_behind(&s->o, OVERLAP_LOOP, 0,
		                   t2_path(s, way, false, false), CFG_NONE,
		                   OVERLAP_MAX, &b) &&
		    b.part.sum == sum)
			return way;
	fail();
	return 0;
}

/* All bounds are 0 unless a block says otherwise. */
static void assert_table_5(const struct overlap_subject *s,
                           const struct overlap_margins *m, int32_t degree,
                           const uint64_t expected[2][3][2])
{
	struct overlap_bounds b;
	uint64_t got[2][3][2] = {0}, definite = 0, potential = 0;

	overlap_bounds_init(&b, m, degree);
	for (size_t i = 0; i < b.nblocks; i++) {
		const struct overlap_block *x = &b.blocks[i];

		for (size_t k = 0; k < x->nrows * x->ncolumns; k++) {
			size_t r = x->first_row + k / x->ncolumns;
			size_t c = x->first_column + k % x->ncolumns;
			struct overlap_bound bound =
			        overlap_bounds_cell(&b, x, r, c);
			uint64_t *cell = got[t2_way(s, b.rows[r].sum) - 1]
			                    [t2_way(s, b.columns[c].sum) - 1];

			cell[0] = bound.lower;
			cell[1] = bound.upper;
		}
	}
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++) {
			assert_int_equal(got[i][j][0], expected[i][j][0]);
			assert_int_equal(got[i][j][1], expected[i][j][1]);
			definite += expected[i][j][0];
			potential += expected[i][j][1];
		}
	assert_int_equal(b.sum.real, 1000);
	assert_int_equal(b.sum.npairs, 6);
	assert_int_equal(b.sum.definite, definite);
	assert_int_equal(b.sum.potential, potential);
	overlap_bounds_release(&b);
}

static void test_table_5(void **state)
{
	static const uint64_t degree_0[2][3][2] = {
	        {{0, 250}, {0, 250}, {0, 500}},
	        {{0, 250}, {0, 250}, {0, 500}},
	};
	static const uint64_t degree_1[2][3][2] = {
	        {{250, 250}, {0, 250}, {0, 250}},
	        {{0, 0}, {0, 250}, {250, 500}},
	};
	static const uint64_t degree_2[2][3][2] = {
	        {{250, 250}, {0, 0}, {250, 250}},
	        {{0, 0}, {250, 250}, {250, 250}},
	};
	struct overlap_subject s;
	struct overlap_profile p;
	struct overlap_margins m;

	(void)state;
	overlap_subject_init(&s, graph_table_2);
	profile_table_5(&p, &s);
	overlap_margins_init(&m, &p);
	assert_int_equal(overlap_margins_degree(&m), 2);
	assert_table_5(&s, &m, OVERLAP_PLAIN, degree_0);
	assert_table_5(&s, &m, 0, degree_0);
	assert_table_5(&s, &m, 1, degree_1);
	assert_table_5(&s, &m, 2, degree_2);
	assert_table_5(&s, &m, OVERLAP_ALL, degree_2);
	overlap_margins_release(&m);
	overlap_profile_release(&p);
	overlap_subject_release(&s);
}

/* --- section 3.2.3 ---------------------------------------------------------
 */

static const block_id f2_ways[3][6] = {
        {F2_EN, F2_P1, F2_P2, F2_B1, F2_B3, F2_C1},
        {F2_EN, F2_P1, F2_P2, F2_B2, F2_B3, F2_C1},
        {F2_EN, F2_P1, F2_B2, F2_B3, F2_C1, 0},
};

/* The path of f that gets to its call so, and its prefix. */
static uint64_t f2_path(const struct overlap_subject *f, int way,
                        uint64_t *prefix)
{
	struct overlap_step steps[F2_NBLOCKS + 2];
	block_id blocks[12] = {CFG_OUTSIDE};
	uint32_t n = 1;
	uint64_t number;

	for (int i = 0; i < 6 && f2_ways[way][i]; i++)
		blocks[n++] = f2_ways[way][i];
	blocks[n++] = F2_P3;
	blocks[n++] = F2_B4;
	blocks[n++] = F2_B6;
	blocks[n++] = F2_EX;
	blocks[n++] = CFG_OUTSIDE;
	number = overlap_number(f, path_make(&f->g, blocks, n));
	n = overlap_steps(&f->o, DAG_START, number, CFG_NONE, steps);
	for (uint32_t i = 0; i < n; i++)
		if (steps[i].vertex == F2_C1)
			*prefix = steps[i].sum;
	return number;
}

static void test_section_323(void **state)
{
	struct overlap_subject s[2];
	struct overlap_graph graphs[2];
	struct overlap_profile p = {.nfunctions = 2, .is_finished = true};
	struct overlap_site site = {0, F2_C1};
	struct overlap_calls calls = {0, 1, 100, 0};
	struct overlap_margins m;
	struct overlap_bounds b;
	struct overlap_bound bound;
	uint64_t prefix;

	(void)state;
	overlap_subject_init(&s[0], graph_figure_2_f);
	overlap_subject_init(&s[1], graph_figure_2_g);
	graphs[0] = s[0].o;
	graphs[1] = s[1].o;
	p.graphs = graphs;
	for (int way = 2; way >= 0; way--)
		add_path(&p, 0, f2_path(&s[0], way, &prefix), 200);
	for (uint64_t i = 0; i < 5; i++)
		add_path(&p, 1, i, 200);
	p.sites = xcalloc(1, sizeof(site));
	p.sites[p.nsites++] = site;
	p.calls = xcalloc(1, sizeof(calls));
	p.calls[p.ncalls++] = calls;
	/* 1!1: prefix is now that of the paper's 1; g's first path is its 0 */
	add_count(&p, (struct overlap_count){
	                      .kind = OVERLAP_CALL,
	                      .from = {0, 0, prefix, F2_C1},
	                      .to = {1, CFG_NONE, 0, CFG_NONE},
	                      .count = 100,
	              });
	overlap_margins_init(&m, &p);
	assert_int_equal(m.njoints[OVERLAP_CALL], 1);
	overlap_bounds_init(&b, &m, OVERLAP_PLAIN);
	assert_int_equal(b.sum.npairs, 15);
	assert_int_equal(b.sum.potential, 1500);
	assert_int_equal(b.sum.definite, 0);
	assert_int_equal(b.sum.tight_definite, 0);
	assert_int_equal(b.sum.nexact, 0);
	assert_int_equal(b.sum.ntight, 0);
	bound = overlap_bounds_pair(&b, OVERLAP_CALL, m.joints[OVERLAP_CALL]);
	assert_int_equal(bound.lower, 0);
	assert_int_equal(bound.upper, 100);
	overlap_bounds_release(&b);
	overlap_bounds_init(&b, &m, 1);
	assert_int_equal(b.sum.potential, 100);
	assert_int_equal(b.sum.definite, 100);
	assert_int_equal(b.sum.nexact, 15);
	bound = overlap_bounds_pair(&b, OVERLAP_CALL, m.joints[OVERLAP_CALL]);
	assert_int_equal(bound.lower, 100);
	assert_int_equal(bound.tight_lower, 100);
	assert_int_equal(bound.upper, 100);
	overlap_bounds_release(&b);
	overlap_margins_release(&m);
	overlap_profile_release(&p);
	overlap_subject_release(&s[0]);
	overlap_subject_release(&s[1]);
}

/* --- numbers of a file -----------------------------------------------------
 */

static void test_check(void **state)
{
	struct overlap_subject s;
	struct overlap_profile p;
	struct overlap_count count;

	(void)state;
	overlap_subject_init(&s, graph_table_2);
	profile_table_5(&p, &s);
	assert_int_equal(overlap_profile_check(&p, NULL), 0);
	count = p.counts[1];
	p.counts[1].to.number = 12; /* there are so many */
	assert_int_equal(overlap_profile_check(&p, NULL), CAIRN_E_CORRUPT);
	p.counts[1] = count;
	p.counts[1].to.number = t2_path(&s, 1, true, false); /* enters */
	assert_int_equal(overlap_profile_check(&p, NULL), CAIRN_E_CORRUPT);
	p.counts[1] = count;
	p.counts[1].from.number = t2_path(&s, 1, false, true); /* leaves */
	assert_int_equal(overlap_profile_check(&p, NULL), CAIRN_E_CORRUPT);
	p.counts[1] = count;
	p.counts[1].kind = OVERLAP_RETURN; /* to no site */
	assert_int_equal(overlap_profile_check(&p, NULL), CAIRN_E_CORRUPT);
	p.counts[1] = count;
	p.counts[1].kind = (enum overlap_kind)OVERLAP_NKINDS;
	assert_int_equal(overlap_profile_check(&p, NULL), CAIRN_E_CORRUPT);
	p.counts[1] = count;
	p.paths[0].block = T2_EX; /* no sum of a prefix that ends there */
	p.paths[0].number = t2_path(&s, 1, true, false);
	assert_int_equal(overlap_profile_check(&p, NULL), CAIRN_E_CORRUPT);
	overlap_profile_release(&p);
	overlap_subject_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_table_5),
	        cmocka_unit_test(test_section_323),
	        cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
