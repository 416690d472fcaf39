/* SPDX-License-Identifier: Apache-2.0 */
/* Overlapping paths: tables 2, 3, 6 and 7 of 2004, loops that are left. */
#include "graph/overlap.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "overlap_graphs.h"

/* A set of small things, to count how many different ones there are. */
struct set {
	struct {
		struct overlap_part before, behind;
		bool is_whole;
	} items[256];
	uint32_t n;
};

static bool is_same(const struct overlap_part *x, const struct overlap_part *y)
{
	return x->first == y->first && x->last == y->last && x->sum == y->sum &&
	       x->is_torn == y->is_torn;
}

static void set_add(struct set *s, struct overlap_part before,
                    const struct overlap_behind *behind)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (is_same(&s->items[i].before, &before) &&
		    is_same(&s->items[i].behind, &behind->part) &&
		    s->items[i].is_whole == behind->is_whole)
			return;
	assert_true(s->n < 256);
	s->items[s->n].before = before;
	s->items[s->n].behind = behind->part;
	s->items[s->n++].is_whole = behind->is_whole;
}

static struct overlap_behind behind(const struct overlap_subject *s,
                                    enum overlap_kind kind, block_id from,
                                    uint64_t number, uint32_t k)
{
	struct overlap_behind b;

	assert_true(overlap_behind(&s->o, kind, from, number, CFG_NONE, k, &b));
	return b;
}

/* OL-k paths of table 2, by whole paths or by what they have of the loop. */
static uint32_t count_loop(const struct overlap_subject *s, uint32_t k,
                           bool whole, bool only_k)
{
	struct set set = {0};

	for (uint64_t i = 0; i < s->p.n; i++) {
		struct overlap_part part = {.sum = i};

		if (overlap_goes_to(&s->o, i) == CFG_NONE)
			continue;
		if (!whole)
			assert_true(overlap_before(&s->o, i, &part));
		for (uint64_t j = 0; j < s->p.n; j++) {
			struct overlap_behind b;

			if (overlap_begins(&s->o, j) !=
			    overlap_goes_to(&s->o, i))
				continue;
			b = behind(s, OVERLAP_LOOP, 0, j, k);
			if (!only_k || b.degree == k)
				set_add(&set, part, &b);
		}
	}
	return set.n;
}

static void test_table_2(void **state)
{
	struct overlap_part seven, four;
	struct overlap_behind eight, eleven;
	struct overlap_subject s;

	(void)state;
	overlap_subject_init(&s, graph_table_2);
	assert_int_equal(s.p.n, 12);
	assert_true(overlap_before(
	        &s.o,
	        overlap_number(&s, PATH_MAKE(&s.g, T2_P1, T2_B1, T2_P3, T2_P1)),
	        &seven));
	assert_true(overlap_before(
	        &s.o,
	        overlap_number(&s, PATH_MAKE(&s.g, 0, T2_EN, T2_P1, T2_B1,
	                                     T2_P3, T2_P1)),
	        &four));
	assert_true(is_same(&seven, &four));
	eight = behind(&s, OVERLAP_LOOP, 0,
	               overlap_number(&s, PATH_MAKE(&s.g, T2_P1, T2_P2, T2_B2,
	                                            T2_P3, T2_P1)),
	               OVERLAP_MAX);
	eleven = behind(&s, OVERLAP_LOOP, 0,
	                overlap_number(&s, PATH_MAKE(&s.g, T2_P1, T2_P2, T2_B2,
	                                             T2_P3, T2_EX, 0)),
	                OVERLAP_MAX);
	assert_true(is_same(&eight.part, &eleven.part));
	assert_true(eight.is_whole && eleven.is_whole);
	assert_int_equal(eight.degree, 2);
	/* 36 pairs of paths, 9 interesting ones */
	assert_int_equal(count_loop(&s, OVERLAP_MAX, false, false), 9);
	overlap_subject_release(&s);
}

static void test_table_3(void **state)
{
	struct overlap_subject s;

	(void)state;
	overlap_subject_init(&s, graph_table_2);
	assert_int_equal(overlap_degree(&s.o, OVERLAP_LOOP, T2_P1), 2);
	assert_int_equal(count_loop(&s, 0, true, true), 6);
	assert_int_equal(count_loop(&s, 1, true, true), 12);
	assert_int_equal(count_loop(&s, 2, true, true), 12);
	/* with the shorter ones */
	assert_int_equal(count_loop(&s, 2, true, false), 18);
	assert_int_equal(count_loop(&s, 3, true, false), 18);
	overlap_subject_release(&s);
}

/* OL-k paths from each of n first halves. */
static uint32_t count_calls(const struct overlap_subject *s,
                            enum overlap_kind kind, block_id from, uint32_t k,
                            uint32_t n, bool only_k)
{
	uint64_t npaths = kind == OVERLAP_CALL ? s->p.n : s->p.npaths[from];
	struct set set = {0};

	for (uint32_t i = 0; i < n; i++)
		for (uint64_t j = 0; j < npaths; j++) {
			struct overlap_behind b = behind(s, kind, from, j, k);

			if (!only_k || b.degree == k)
				set_add(&set, (struct overlap_part){.sum = i},
				        &b);
		}
	return set.n;
}

static void test_tables_6_7(void **state)
{
	static const uint32_t type_1[] = {3, 6, 6, 12}, type_2[] = {5, 10};
	struct overlap_subject f, g;
	uint64_t sum[8];
	uint32_t nways = 0;

	(void)state;
	overlap_subject_init(&f, graph_figure_2_f);
	overlap_subject_init(&g, graph_figure_2_g);
	assert_int_equal(g.p.n, 5);
	for (uint64_t i = 0; i < f.p.n; i++) {
		struct overlap_step steps[F2_NBLOCKS + 2];
		uint32_t n = overlap_steps(&f.o, DAG_START, i, CFG_NONE, steps);
		uint32_t at = 0, k = 0;

		while (at < n && steps[at].vertex != F2_C1)
			at++;
		assert_true(at < n);
		while (k < nways && sum[k] != steps[at].sum)
			k++;
		sum[k] = steps[at].sum;
		nways += k == nways;
	}
	assert_int_equal(nways, 3);
	assert_int_equal(overlap_degree(&g.o, OVERLAP_CALL, CFG_OUTSIDE), 3);
	for (uint32_t k = 0; k < 4; k++)
		assert_int_equal(
		        count_calls(&g, OVERLAP_CALL, 0, k, nways, true),
		        type_1[k]);
	assert_int_equal(count_calls(&g, OVERLAP_CALL, 0, 3, nways, false), 15);
	assert_int_equal(overlap_degree(&f.o, OVERLAP_RETURN, F2_C1), 1);
	for (uint32_t k = 0; k < 2; k++)
		assert_int_equal(
		        count_calls(&f, OVERLAP_RETURN, F2_C1, k, 5, true),
		        type_2[k]);
	overlap_subject_release(&f);
	overlap_subject_release(&g);
}

/* 1 > 2 > 3 > 2, left from 2: that it is left there is a decision. */
static void graph_while(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 2}, {4, 0},
	};

	GRAPH_MAKE(g, 5, arcs);
}

static void test_exit_at_head(void **state)
{
	struct overlap_subject s;
	struct overlap_behind b;
	uint64_t turn, leaves, sum;

	(void)state;
	overlap_subject_init(&s, graph_while);
	turn = overlap_number(&s, PATH_MAKE(&s.g, 2, 3, 2));
	leaves = overlap_number(&s, PATH_MAKE(&s.g, 2, 4, 0));
	assert_int_equal(overlap_degree(&s.o, OVERLAP_LOOP, 2), 1);
	b = behind(&s, OVERLAP_LOOP, 0, leaves, 0);
	assert_false(b.is_whole);
	assert_int_equal(b.part.last, 2);
	b = behind(&s, OVERLAP_LOOP, 0, leaves, 1);
	assert_true(b.is_whole);
	assert_int_equal(b.degree, 1);
	b = behind(&s, OVERLAP_LOOP, 0, turn, 1);
	assert_true(b.is_whole);
	assert_int_equal(b.part.last, 3);
	/* a frame that died in 2 has decided nothing, in 4 all there is */
	sum = leaves;
	assert_false(overlap_behind(&s.o, OVERLAP_LOOP, 0, turn, 2, 1, &b));
	assert_true(overlap_behind(&s.o, OVERLAP_LOOP, 0, turn, 2, 0, &b));
	assert_true(overlap_behind(&s.o, OVERLAP_LOOP, 0, sum, 4, 1, &b));
	assert_true(b.is_whole);
	overlap_subject_release(&s);
}

/* An outer loop: its first half begins where the inner one was left. */
static void graph_nested(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 1}, {3, 0},
	};

	GRAPH_MAKE(g, 4, arcs);
}

static void test_nested(void **state)
{
	struct overlap_subject s;
	struct overlap_part part;
	struct overlap_behind b;

	(void)state;
	overlap_subject_init(&s, graph_nested);
	assert_true(overlap_before(
	        &s.o, overlap_number(&s, PATH_MAKE(&s.g, 2, 3, 1)), &part));
	assert_int_equal(part.first, 2);
	assert_int_equal(part.last, 3);
	assert_true(overlap_before(
	        &s.o, overlap_number(&s, PATH_MAKE(&s.g, 0, 1, 2, 3, 1)),
	        &part));
	assert_int_equal(part.first, 1);
	/* the inner loop's part of the same way is its block alone */
	assert_true(overlap_before(
	        &s.o, overlap_number(&s, PATH_MAKE(&s.g, 0, 1, 2, 2)), &part));
	assert_int_equal(part.first, 2);
	b = behind(&s, OVERLAP_LOOP, 0,
	           overlap_number(&s, PATH_MAKE(&s.g, 2, 3, 1)), OVERLAP_MAX);
	assert_int_equal(b.part.last, 2);
	assert_int_equal(b.degree, 0);
	assert_int_equal(overlap_degree(&s.o, OVERLAP_LOOP, 2), 0);
	assert_int_equal(overlap_degree(&s.o, OVERLAP_LOOP, 1), 1);
	overlap_subject_release(&s);
}

/* A turn with two ways, one of which is cut: 2 to 4. */
static void graph_cut(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 1}, {4, 0},
	};

	GRAPH_MAKE(g, 5, arcs);
}

static void test_cut(void **state)
{
	const edge_id cut = 3;
	const struct paths_options options = {.cuts = &cut, .ncuts = 1};
	struct overlap_subject s;
	struct overlap_part part;
	uint64_t to_cut, behind_cut, whole;

	(void)state;
	graph_cut(&s.g);
	assert_int_equal(paths_init(&s.p, &s.g, &options, NULL), 0);
	overlap_graph_init(&s.o, &s.p);
	to_cut = overlap_number(&s, PATH_MAKE(&s.g, 1, 2, 4));
	behind_cut = overlap_number(&s, PATH_MAKE(&s.g, 4, 1));
	whole = overlap_number(&s, PATH_MAKE(&s.g, 1, 3, 4, 1));
	/* the cut is no turn */
	assert_int_equal(overlap_goes_to(&s.o, to_cut), 4);
	assert_false(overlap_turns(&s.o, to_cut));
	assert_false(overlap_before(&s.o, to_cut, &part));
	/* before and behind it is half of one */
	assert_true(
	        behind(&s, OVERLAP_LOOP, 0, to_cut, OVERLAP_MAX).part.is_torn);
	assert_true(overlap_turns(&s.o, behind_cut));
	assert_true(overlap_before(&s.o, behind_cut, &part) && part.is_torn);
	assert_true(overlap_begins_torn(&s.o, behind_cut));
	/* the other way has all of it */
	assert_true(overlap_before(&s.o, whole, &part) && !part.is_torn);
	assert_false(overlap_begins_torn(&s.o, whole));
	assert_false(
	        behind(&s, OVERLAP_LOOP, 0, whole, OVERLAP_MAX).part.is_torn);
	overlap_subject_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_table_2),
	        cmocka_unit_test(test_table_3),
	        cmocka_unit_test(test_tables_6_7),
	        cmocka_unit_test(test_exit_at_head),
	        cmocka_unit_test(test_nested),
	        cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
