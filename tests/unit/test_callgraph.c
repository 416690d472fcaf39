/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls, and what they cost with all that is called: random programs without
 * recursion, in which every call of a function does the same, against what one
 * call of it costs; and by hand what names mean, and recursion.
 */
#include "synth.h"

#include "analysis/bodies.h"
#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "analysis/inclusive.h"
#include "analysis/lines.h"
#include "analysis/totals.h"
#include "base/err.h"
#include "format/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define NFUNCTIONS 12
#define NCALLS 5
#define NPROGRAMS 300
#define INSTRUCTIONS 3 /* of a block of synth.h */

static char path[] = "/tmp/cairn-calls-XXXXXX";
static char names[NFUNCTIONS][8];

/* What a function of the program does, and how often. */
struct made {
	struct synth_outcall calls[NCALLS];
	uint32_t ncalls;
	const char *name, *file;
	uint32_t line;
	uint64_t count;
};

static const struct synth_block block = {0, 1, 7, 0};
static const struct synth_edge edges[] = {{0, 1, CAIRN_EDGE_ENTRY, 0},
                                          {1, 0, CAIRN_EDGE_RETURN, 1}};

static struct profile *open_program(const struct made *made, uint32_t n)
{
	struct bytes map = {0}, out = {0};
	const char *const paths[] = {path};
	struct profile *p = NULL;
	struct cairn_err err;
	uint64_t counts[NFUNCTIONS];

	for (uint32_t i = 0; i < n; i++) {
		synth_record(&map, &(struct synth_function){
		                           .name = made[i].name,
		                           .file = made[i].file,
		                           .line = made[i].line,
		                           .flags = CAIRN_FN_LOCAL,
		                           .address = 0x1000 + 16 * i,
		                           .counters = 0x100 + 8 * i,
		                           .ncounters = 1,
		                           .blocks = &block,
		                           .nblocks = 2,
		                           .edges = edges,
		                           .nedges = 2,
		                           .outcalls = made[i].calls,
		                           .noutcalls = made[i].ncalls,
		                   });
		counts[i] = made[i].count;
	}
	writer_begin(&out);
	synth_program(&out, "/bin/t");
	synth_module(&out, 1, "/bin/t", 1, 0x100, n);
	synth_counts(&out, 1, 1, counts, n);
	synth_map_chunk(&out, 1, &map);
	writer_end(&out, &synth_header);
	synth_save(path, &out);
	bytes_release(&map);
	bytes_release(&out);
	assert_int_equal(profile_open(&p, paths, 1, NULL, &err), 0);
	return p;
}

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Functions call later ones only.  Each call of one makes all its calls. */
static void make_random(struct made *made)
{
	memset(made, 0, NFUNCTIONS * sizeof(*made));
	for (uint32_t i = 0; i < NFUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		made[i].name = names[i];
		made[i].file = "/src/t.c";
		made[i].line = 10 * i + 1;
		made[i].count += i == 0;
		made[i].ncalls = i + 1 < NFUNCTIONS ? draw(NCALLS) : 0;
		for (uint32_t k = 0; k < made[i].ncalls; k++) {
			uint32_t to = i + 1 + draw(NFUNCTIONS - i - 1);

			made[to].count += made[i].count;
			made[i].calls[k] = (struct synth_outcall){
			        1, 0, names[to], 10 * to + 1, 10 * i + 2};
		}
	}
}

static uint32_t callee_of(const struct made *made, uint32_t i, uint32_t k)
{
	uint32_t to = 0;

	while (made[to].name != made[i].calls[k].callee)
		to++;
	return to;
}

/* What one call of a function costs, with all that it calls. */
static void cost_calls(const struct made *made, uint64_t *cost)
{
	for (uint32_t i = NFUNCTIONS; i-- > 0;) {
		cost[i] = INSTRUCTIONS;
		for (uint32_t k = 0; k < made[i].ncalls; k++)
			cost[i] += cost[callee_of(made, i, k)];
	}
}

/* The only function that calls it, if it was called at all. */
static uint32_t parent_of(const struct made *made, uint32_t f)
{
	uint32_t parent = CALLGRAPH_NONE;

	for (uint32_t i = 0; i < NFUNCTIONS; i++)
		for (uint32_t k = 0; k < made[i].ncalls; k++) {
			if (!made[i].count || callee_of(made, i, k) != f)
				continue;
			if (parent != CALLGRAPH_NONE && parent != i)
				return CALLGRAPH_NONE;
			parent = i;
		}
	return parent;
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t first = 1; first <= NPROGRAMS; first++) {
		struct made made[NFUNCTIONS];
		uint64_t cost[NFUNCTIONS];
		struct profile *p;
		struct counts *c;
		struct callgraph *calls;
		struct inclusive *x;

		seed = first;
		make_random(made);
		cost_calls(made, cost);
		p = open_program(made, NFUNCTIONS);
		c = counts_new(p);
		calls = callgraph_new(c);
		x = inclusive_new(c, calls);
		for (uint32_t i = 0; i < NFUNCTIONS; i++) {
			assert_int_equal(x->total[i], made[i].count * cost[i]);
			assert_int_equal(x->parent[i], parent_of(made, i));
		}
		inclusive_free(x);
		callgraph_free(calls);
		counts_free(c);
		profile_free(p);
	}
}

/* Two static functions of one name, one that nobody has, a pointer. */
static void test_names(void **state)
{
	const struct made made[] = {
	        {.name = "main",
	         .file = "/src/b.c",
	         .line = 50,
	         .count = 4,
	         .ncalls = 3,
	         .calls = {{1, 0, "h", 9, 51},
	                   {1, 0, "puts", 0, 52},
	                   {1, 0, NULL, 0, 0}}},
	        {.name = "h", .file = "/src/a.c", .line = 9, .count = 5},
	        {.name = "h", .file = "/src/b.c", .line = 9, .count = 4},
	};
	struct profile *p = open_program(made, 3);
	struct counts *c = counts_new(p);
	struct callgraph *calls = callgraph_new(c);
	size_t n, at;

	(void)state;
	at = callgraph_from(calls, (struct call_end){0, 0}, &n);
	assert_int_equal(n, 3);
	assert_int_equal(calls->items[at].to.function, 2);
	assert_int_equal(calls->items[at].count, 4);
	assert_string_equal(calls->items[at + 1].name, "puts");
	assert_int_equal(calls->items[at + 1].to.module, CALLGRAPH_NONE);
	assert_null(calls->items[at + 2].name);
	callgraph_to(calls, (struct call_end){0, 1}, &n);
	assert_int_equal(n, 0);
	at = callgraph_to(calls, (struct call_end){0, 2}, &n);
	assert_int_equal(n, 1);
	assert_int_equal(calls->items[calls->by_callee[at]].from.function, 0);
	callgraph_free(calls);
	counts_free(c);
	profile_free(p);
}

/* main calls a, which calls itself and b; b calls a. */
static void test_recursion(void **state)
{
	const struct made made[] = {
	        {.name = "main",
	         .file = "/src/t.c",
	         .line = 1,
	         .count = 1,
	         .ncalls = 1,
	         .calls = {{1, 0, "a", 10, 2}}},
	        {.name = "a",
	         .file = "/src/t.c",
	         .line = 10,
	         .count = 10,
	         .ncalls = 2,
	         .calls = {{1, 0, "a", 10, 11}, {1, 0, "b", 20, 12}}},
	        {.name = "b",
	         .file = "/src/t.c",
	         .line = 20,
	         .count = 7,
	         .ncalls = 1,
	         .calls = {{1, 0, "a", 10, 21}}},
	};
	struct profile *p = open_program(made, 3);
	struct counts *c = counts_new(p);
	struct callgraph *calls = callgraph_new(c);
	struct inclusive *x = inclusive_new(c, calls);

	(void)state;
	assert_int_equal(x->cycle[1], x->cycle[2]);
	assert_int_not_equal(x->cycle[0], x->cycle[1]);
	assert_int_equal(x->total[1], INSTRUCTIONS * 17);
	assert_int_equal(x->total[2], INSTRUCTIONS * 17);
	/* one of ten calls of a is main's */
	assert_int_equal(x->total[0], INSTRUCTIONS + INSTRUCTIONS * 17 / 10);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(x->parent[i], CALLGRAPH_NONE);
	inclusive_free(x);
	callgraph_free(calls);
	counts_free(c);
	profile_free(p);
}

/* Files of two directories, one of which lies between the other's names. */
static void test_totals(void **state)
{
	const struct made made[] = {
	        {.name = "p", .file = "/s/a.c", .line = 1, .count = 2},
	        {.name = "q", .file = "/s/a/x.c", .line = 1, .count = 0},
	        {.name = "r", .file = "/s/b.c", .line = 1, .count = 0},
	};
	struct profile *p = open_program(made, 3);
	struct counts *c = counts_new(p);
	struct lines *l = lines_new(c);
	struct totals *t = totals_new(c, l);
	struct bodies *b = bodies_new(c);

	(void)state;
	assert_int_equal(t->nfiles, 3);
	assert_int_equal(t->ndirectories, 2);
	assert_string_equal(t->directories[0].path, "/s");
	assert_string_equal(t->directories[1].path, "/s/a");
	assert_int_equal(t->directories[0].lines, 2);
	assert_int_equal(t->directories[0].lines_executed, 1);
	assert_int_equal(t->directories[0].functions_executed, 1);
	assert_int_equal(t->directories[0].instructions, 2 * INSTRUCTIONS);
	assert_int_equal(t->directories[1].lines_executed, 0);
	assert_int_equal(b->n, 3);
	assert_string_equal(b->items[0].name, "p");
	assert_int_equal(b->items[0].last, 7);
	assert_int_equal(b->items[0].instructions, 2 * INSTRUCTIONS);
	bodies_free(b);
	totals_free(t);
	lines_free(l);
	counts_free(c);
	profile_free(p);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_names),
	        cmocka_unit_test(test_recursion),
	        cmocka_unit_test(test_totals),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
