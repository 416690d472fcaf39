/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the profile of an edges build and computes what other placements of
 * its counters would have cost on that very run.
 *
 *     placement FILE.cairn...
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, table 2.  A profile knows the exact count of every edge, so the
 * increments that a placement executes are the sum of the counts of its
 * chords, and one run answers for all weightings:
 *
 *   slow       a counter in every block
 *   quick      chords, edges weighted by the heuristic of section 5.1
 *   compiler   chords, edges weighted as the compiler estimated them
 *   feedback   chords, edges weighted by the counts themselves: the optimum
 *   vertex     the best counters on blocks only, weighted by the counts
 *   built      the counters that the executable had
 *
 * Graphs are the functions' own, before any edge is split for a counter, and
 * every edge may carry one, as in the paper.  A frame that never returned
 * leaves its block without an edge; such ends cost no increment.
 *
 * Prints one JSON object.  Functions whose counts the profile does not
 * determine are left out and counted in "skipped".
 * Cost: O(E log E) a function and weighting.
 */
#include "abi/map.h"
#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/cfg.h"
#include "graph/gstar.h"
#include "graph/place.h"
#include "graph/vertex.h"
#include "graph/weight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { SLOW, QUICK, COMPILER, FEEDBACK, VERTEX, BUILT, NKINDS };

static const char *const kind_names[NKINDS] = {"slow",     "quick",  "compiler",
                                               "feedback", "vertex", "built"};

struct totals {
	uint64_t functions, skipped, uncovered, executed;
	uint64_t blocks, edges; /* without the outside, with the entry edges */
	uint64_t instructions;  /* of the IR, executed */
	uint64_t gstar[3];      /* functions by enum gstar_answer */
	uint64_t counters[NKINDS], increments[NKINDS];
};

/* One function: its graph and its measured counts. */
struct subject {
	const struct map_function *function;
	const struct map_block *blocks;
	const struct map_edge *edges;
	const uint64_t *edge_count, *block_count;
	struct cfg g;
};

static void add(struct totals *t, enum kind kind, uint64_t increments)
{
	t->counters[kind]++;
	t->increments[kind] += increments;
}

static void place(const struct subject *s, const uint64_t *weight,
                  enum kind kind, struct totals *t)
{
	bool *chord = xcalloc(s->g.nedges, sizeof(*chord));

	place_edges(&s->g, weight, NULL, chord);
	for (uint32_t e = 0; e < s->g.nedges; e++)
		if (chord[e])
			add(t, kind, s->edge_count[e]);
	free(chord);
}

static void place_on_edges(const struct subject *s, struct totals *t)
{
	uint64_t *weight = xcalloc(s->g.nedges, sizeof(*weight));

	weight_heuristic(&s->g, weight);
	place(s, weight, QUICK, t);
	for (uint32_t e = 0; e < s->g.nedges; e++)
		weight[e] = s->edges[e].weight;
	place(s, weight, COMPILER, t);
	weight_from_counts(&s->g, s->edge_count, weight);
	place(s, weight, FEEDBACK, t);
	free(weight);
}

/* Block 0, the outside, stands for a counter at the entry. */
static void place_on_blocks(const struct subject *s, struct totals *t)
{
	bool *counted = xcalloc(s->g.nblocks, sizeof(*counted));

	vertex_place(&s->g, s->block_count, counted);
	for (uint32_t b = 0; b < s->g.nblocks; b++)
		if (counted[b])
			add(t, VERTEX, s->block_count[b]);
	free(counted);
	for (uint32_t b = 1; b < s->g.nblocks; b++)
		add(t, SLOW, s->block_count[b]);
}

static void count_built(const struct subject *s, struct totals *t)
{
	for (uint32_t b = 1; b < s->g.nblocks; b++)
		if (s->blocks[b].counter != MAP_NONE)
			add(t, BUILT, s->block_count[b]);
	for (uint32_t e = 0; e < s->g.nedges; e++)
		if (s->edges[e].counter != MAP_NONE)
			add(t, BUILT, s->edge_count[e]);
}

static void measure(struct subject *s, struct totals *t)
{
	cfg_init(&s->g, s->function->nblocks);
	for (uint32_t e = 0; e < s->function->nedges; e++)
		cfg_add_edge(&s->g, s->edges[e].src, s->edges[e].dst);
	cfg_link(&s->g);
	t->functions++;
	t->executed += s->block_count[0] != 0;
	t->blocks += s->g.nblocks - 1;
	t->edges += s->g.nedges;
	for (uint32_t b = 1; b < s->g.nblocks; b++)
		t->instructions +=
		        s->block_count[b] * s->blocks[b].ninstructions;
	t->gstar[gstar_test(&s->g, GSTAR_BUDGET)]++;
	place_on_edges(s, t);
	place_on_blocks(s, t);
	count_built(s, t);
	cfg_release(&s->g);
}

static bool all_known(const bool *known, uint32_t n)
{
	return memchr(known, false, n) == NULL;
}

static void measure_module(const struct map *m, const struct counts_module *c,
                           struct totals *t)
{
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];
		struct subject s = {
		        .function = f,
		        .blocks = m->blocks + f->first_block,
		        .edges = m->edges + f->first_edge,
		        .edge_count = c->edge + f->first_edge,
		        .block_count = c->block + f->first_block,
		};

		if (!c->functions[i].covered)
			t->uncovered++;
		else if (!all_known(c->edge_known + f->first_edge, f->nedges))
			t->skipped++;
		else
			measure(&s, t);
	}
}

static void print_kinds(const char *title, const uint64_t *values)
{
	printf(", \"%s\": {", title);
	for (int i = 0; i < NKINDS; i++)
		printf("%s\"%s\": %" PRIu64, i ? ", " : "", kind_names[i],
		       values[i]);
	putchar('}');
}

static void print(const struct totals *t)
{
	printf("{\"functions\": %" PRIu64 ", \"executed\": %" PRIu64
	       ", \"skipped\": %" PRIu64 ", \"uncovered\": %" PRIu64,
	       t->functions, t->executed, t->skipped, t->uncovered);
	printf(", \"blocks\": %" PRIu64 ", \"edges\": %" PRIu64
	       ", \"instructions\": %" PRIu64,
	       t->blocks, t->edges, t->instructions);
	printf(", \"gstar\": {\"yes\": %" PRIu64 ", \"no\": %" PRIu64
	       ", \"unknown\": %" PRIu64 "}",
	       t->gstar[GSTAR_YES], t->gstar[GSTAR_NO],
	       t->gstar[GSTAR_UNKNOWN]);
	print_kinds("counters", t->counters);
	print_kinds("increments", t->increments);
	puts("}");
}

int main(int argc, char **argv)
{
	struct cairn_err err;
	struct profile *p;
	struct totals t = {0};

	if (argc < 2) {
		fputs("usage: placement FILE.cairn...\n", stderr);
		return 2;
	}
	if (profile_open(&p, (const char *const *)argv + 1, (size_t)argc - 1,
	                 NULL, &err)) {
		fprintf(stderr, "placement: %s\n", err.text);
		return 2;
	}
	struct counts *c = counts_new(p);
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].map)
			measure_module(p->modules[i].map, &c->modules[i], &t);
	print(&t);
	counts_free(c);
	profile_free(p);
	return fflush(stdout) == 0 ? 0 : 2;
}
