/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamps as series, against sets of numbers; the timestamp-annotated
 * dynamic control-flow graph, against the list of blocks that it is of.
 */
#include "twpps.h"

#include "analysis/twpp_form.h"
#include "analysis/twpp_series.h"

/* "7,23,30:40:5" */
static void parse(struct twpp_vector *v, const char *text)
{
	struct twpp_writer w;
	struct twpp_run r;
	char *end;

	twpp_vector_clear(v);
	twpp_writer_begin(&w, v);
	while (*text) {
		r.l = r.h = strtoull(text, &end, 10);
		r.s = 1;
		if (*end == ':')
			r.h = strtoull(end + 1, &end, 10);
		if (*end == ':')
			r.s = strtoull(end + 1, &end, 10);
		twpp_writer_add(&w, &r);
		text = *end ? end + 1 : end;
	}
	twpp_writer_end(&w);
}

static void print(const struct twpp_vector *v, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < v->n && n < size; i++) {
		const struct twpp_run *r = &v->runs[i];

		n += (size_t)snprintf(out + n, size - n, i ? ",%llu" : "%llu",
		                      (unsigned long long)r->l);
		if (r->h != r->l)
			n += (size_t)snprintf(out + n, size - n, ":%llu",
			                      (unsigned long long)r->h);
		if (r->h != r->l && r->s != 1)
			n += (size_t)snprintf(out + n, size - n, ":%llu",
			                      (unsigned long long)r->s);
	}
}

static void assert_vector(const struct twpp_vector *v, const char *expected)
{
	char text[256];

	print(v, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_step(void **state)
{
	struct twpp_vector v = {0}, w = {0};

	(void)state;
	parse(&v, "2:20:2");
	assert_int_equal(v.count, 10);
	twpp_vector_step(&v, 1, 100, &w);
	assert_vector(&w, "3:21:2");
	twpp_vector_step(&v, -1, 100, &w);
	assert_vector(&w, "1:19:2");
	/* before the first and behind the last there is nothing */
	twpp_vector_step(&v, -2, 100, &w);
	assert_vector(&w, "2:18:2");
	twpp_vector_step(&v, 1, 19, &w);
	assert_vector(&w, "3:19:2");
	twpp_vector_step(&v, 5, 4, &w);
	assert_vector(&w, "");
	twpp_vector_release(&v);
	twpp_vector_release(&w);
}

/* Two with a gap are no series; what is one is found from left to right. */
static void test_runs(void **state)
{
	static const char *const same[] = {"7,23",      "5:6",    "1,3:5",
	                                   "1:5:2,8:9", "5:21:8", ""};
	struct twpp_vector v = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		parse(&v, same[i]);
		assert_vector(&v, same[i]);
	}
	parse(&v, "1,2,3,5,7,9,20");
	assert_vector(&v, "1:3,5:9:2,20");
	parse(&v, "1:9:2,11:19:2,20:30:5");
	assert_vector(&v, "1:19:2,20:30:5");
	twpp_vector_release(&v);
}

/* Two long series meet every 15 steps, in no time. */
static void test_long(void **state)
{
	struct twpp_vector a = {0}, b = {0}, c = {0};

	(void)state;
	parse(&a, "2:900000000000000002:3");
	parse(&b, "3:900000000000000003:5");
	twpp_vector_and(&a, &b, &c);
	assert_vector(&c, "8:899999999999999993:15");
	parse(&a, "1:1000000000000000003:1000000000000000002");
	parse(&b, "1:1000000000000000003:3");
	twpp_vector_and(&a, &b, &c);
	assert_int_equal(c.count, 2);
	twpp_vector_release(&a);
	twpp_vector_release(&b);
	twpp_vector_release(&c);
}

/* --- against sets ------------------------------------------------------- */

enum { UNIVERSE = 80 };

struct set {
	bool has[UNIVERSE + 1];
};

static void draw_set(struct random *r, struct set *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = draw(r, 4); i; i--) {
		unsigned step = 1 + draw(r, 7), t = 1 + draw(r, UNIVERSE);

		for (unsigned n = draw(r, 12); n && t <= UNIVERSE; n--) {
			s->has[t] = true;
			t += step;
		}
	}
}

static void to_vector(const struct set *s, struct twpp_vector *v)
{
	struct twpp_writer w;

	twpp_vector_clear(v);
	twpp_writer_begin(&w, v);
	for (uint64_t t = 1; t <= UNIVERSE; t++)
		if (s->has[t])
			twpp_writer_add(&w, &(struct twpp_run){t, t, 1});
	twpp_writer_end(&w);
}

/* The vector has what the set has, and the runs that the set makes. */
static void assert_set(const struct twpp_vector *v, const struct set *s)
{
	struct twpp_vector same = {0};
	uint64_t count = 0;

	for (uint64_t t = 1; t <= UNIVERSE; t++) {
		assert_int_equal(twpp_vector_has(v, t), s->has[t]);
		count += s->has[t];
	}
	assert_int_equal(v->count, count);
	to_vector(s, &same);
	assert_true(twpp_vector_equal(v, &same));
	twpp_vector_release(&same);
}

static void check_pair(const struct set *a, const struct set *b)
{
	struct twpp_vector v = {0}, w = {0}, out = {0};
	struct set both = {0}, either = {0}, less = {0}, on = {0}, back = {0};

	for (unsigned t = 1; t <= UNIVERSE; t++) {
		both.has[t] = a->has[t] && b->has[t];
		either.has[t] = a->has[t] || b->has[t];
		less.has[t] = a->has[t] && !b->has[t];
		on.has[t] = t > 1 && a->has[t - 1];
		back.has[t] = t < UNIVERSE && a->has[t + 1];
	}
	to_vector(a, &v);
	to_vector(b, &w);
	twpp_vector_and(&v, &w, &out);
	assert_set(&out, &both);
	twpp_vector_or(&v, &w, &out);
	assert_set(&out, &either);
	twpp_vector_less(&v, &w, &out);
	assert_set(&out, &less);
	twpp_vector_step(&v, 1, UNIVERSE, &out);
	assert_set(&out, &on);
	twpp_vector_step(&v, -1, UNIVERSE, &out);
	assert_set(&out, &back);
	twpp_vector_release(&v);
	twpp_vector_release(&w);
	twpp_vector_release(&out);
}

static void test_sets(void **state)
{
	struct random r = {7};

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct set a, b;

		draw_set(&r, &a);
		draw_set(&r, &b);
		check_pair(&a, &b);
	}
}

/* --- graphs ------------------------------------------------------------- */

static const uint32_t figure_10[] = {1,  2, 3, 4, 5,  6,  7,  9,  10, 11,
                                     12, 4, 5, 6, 8,  9,  10, 11, 12, 4,
                                     5,  6, 7, 9, 10, 11, 12, 4,  13, 14};

static void test_figure_10(void **state)
{
	static const char *const times[] = {
	        "1",       "2",       "3",  "4:28:8", "5:21:8",
	        "6:22:8",  "7,23",    "15", "8:24:8", "9:25:8",
	        "10:26:8", "11:27:8", "29", "30"};
	struct twpp_form g;
	struct cairn_err err;

	(void)state;
	assert_int_equal(twpp_form_make(&g, figure_10, 30, false, &err), 0);
	assert_int_equal(g.n, 30);
	assert_int_equal(g.nnodes, 14);
	for (size_t i = 0; i < g.nnodes; i++) {
		assert_int_equal(g.nodes[i].nblocks, 1);
		assert_vector(&g.nodes[i].times,
		              times[g.nodes[i].blocks[0] - 1]);
	}
	twpp_form_release(&g);
}

/* With dictionaries: 1.2.3, 9.10.11.12, 5.6 and 13.14 are one node each. */
static void test_figure_10_dictionary(void **state)
{
	static const uint32_t last[] = {9, 10, 11, 12};
	struct twpp_vector v = {0};
	struct twpp_form g;
	struct cairn_err err;
	size_t n;

	(void)state;
	assert_int_equal(twpp_form_make(&g, figure_10, 30, true, &err), 0);
	/* A4CFA4... : 1 4 5 7 9 4 5 8 9 4 5 7 9 4 13 */
	assert_int_equal(g.n, 15);
	assert_int_equal(g.nnodes, 7);
	assert_vector(&g.nodes[1].times, "2:14:4");
	assert_vector(&g.nodes[4].times, "5:13:4");
	assert_int_equal(g.nodes[4].nblocks, 4);
	assert_memory_equal(g.nodes[4].blocks, last, sizeof(last));
	/* back from 9 at all its times: to 7 and to 8 */
	twpp_form_in(&g, 4, &n);
	assert_int_equal(n, 2);
	twpp_form_move(&g, &g.nodes[4].times, -1, 3, &v);
	assert_vector(&v, "4,12");
	twpp_vector_release(&v);
	twpp_form_release(&g);
}

/* Walks through the graph, one timestamp at a time, both ways. */
static void check_walk(const struct twpp_form *g, const uint32_t *blocks,
                       size_t n)
{
	size_t node = twpp_form_at(g, 1), at = 0, next = node;

	for (uint64_t t = 1; t <= g->n; t++) {
		assert_int_equal(twpp_form_at(g, t), next);
		node = next;
		for (size_t i = 0; i < g->nodes[node].nblocks; i++)
			assert_int_equal(g->nodes[node].blocks[i],
			                 blocks[at++]);
		next = twpp_form_behind(g, node, t);
		if (t < g->n)
			assert_int_equal(twpp_form_before(g, next, t + 1),
			                 node);
	}
	assert_int_equal(at, n);
	assert_int_equal(next, TWPP_NOWHERE);
	assert_int_equal(twpp_form_before(g, twpp_form_at(g, 1), 1),
	                 TWPP_NOWHERE);
}

/* What an edge counts is what a move over it has. */
static void check_edges(const struct twpp_form *g)
{
	struct twpp_vector v = {0};
	uint64_t all = 0;

	for (size_t i = 0; i < g->nedges; i++) {
		const struct twpp_edge *e = &g->edges[i];

		twpp_form_move(g, &g->nodes[e->from].times, 1, e->to, &v);
		assert_int_equal(v.count, e->count);
		all += e->count;
	}
	assert_int_equal(all, g->n ? g->n - 1 : 0);
	twpp_vector_release(&v);
}

/* Is it always entered at its first block, left at its last, and no shorter
 * than it could be? */
static void check_blocks(const struct twpp_form *g, const uint32_t *blocks,
                         size_t n)
{
	for (size_t a = 0; a < 16; a++)
		for (size_t b = 0; b < 16; b++) {
			bool always = false, inside = false;

			for (size_t i = 0; i < n; i++) {
				bool is_a = blocks[i] == a;
				bool is_b = i + 1 < n && blocks[i + 1] == b;

				always |= is_a && is_b;
			}
			for (size_t i = 0; i < n && always; i++) {
				if (blocks[i] == a)
					always &=
					        i + 1 < n && blocks[i + 1] == b;
				if (blocks[i] == b)
					always &= i && blocks[i - 1] == a;
			}
			for (size_t k = 0; k < g->nnodes; k++)
				for (size_t i = 1; i < g->nodes[k].nblocks; i++)
					inside |=
					        g->nodes[k].blocks[i] == b &&
					        g->nodes[k].blocks[i - 1] == a;
			assert_int_equal(inside, always);
		}
}

static void test_graphs(void **state)
{
	struct random r = {3};

	(void)state;
	for (unsigned k = 0; k < 1500; k++) {
		uint32_t blocks[120], next[12][2];
		size_t n = 0, most = draw(&r, 120);
		struct twpp_form g;
		struct cairn_err err;

		for (unsigned i = 0; i < 12; i++) {
			next[i][0] = 1 + draw(&r, 11);
			next[i][1] =
			        draw(&r, 3) ? next[i][0] : 1 + draw(&r, 11);
		}
		for (uint32_t b = 1; n < most; b = next[b][draw(&r, 2)])
			blocks[n++] = b;
		assert_int_equal(twpp_form_make(&g, blocks, n, true, &err), 0);
		check_walk(&g, blocks, n);
		check_edges(&g);
		check_blocks(&g, blocks, n);
		twpp_form_release(&g);
		assert_int_equal(twpp_form_make(&g, blocks, n, false, &err), 0);
		assert_int_equal(g.n, n);
		check_walk(&g, blocks, n);
		check_edges(&g);
		twpp_form_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_step),
	        cmocka_unit_test(test_runs),
	        cmocka_unit_test(test_long),
	        cmocka_unit_test(test_sets),
	        cmocka_unit_test(test_figure_10),
	        cmocka_unit_test(test_figure_10_dictionary),
	        cmocka_unit_test(test_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
