/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts against brute force: random functions are walked, frames die in
 * calls, between calls and begin in the middle; the counters of a placement go
 * through a file; what comes back has to be what was walked.
 */
#include "synth.h"

#include "analysis/counts.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/blocks.h"
#include "graph/cfg.h"
#include "graph/place.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MAX_BLOCKS 24
#define MAX_EDGES (4 * MAX_BLOCKS)
#define MAX_SEGMENTS 3
#define ADDRESS 0x1000
#define BASE 0x50000
#define RUNS 60
#define ROUNDS 1500

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % n;
}

/* A random function, and what happened when it was walked. */
struct model {
	struct synth_block blocks[MAX_BLOCKS];
	struct synth_edge edges[MAX_EDGES];
	struct synth_site sites[MAX_BLOCKS * MAX_SEGMENTS];
	uint32_t probes[MAX_BLOCKS][2];
	uint32_t nblocks, nedges, nsites, ncounters;
	uint64_t edge[MAX_EDGES], block[MAX_BLOCKS];
	uint64_t segment[MAX_BLOCKS][MAX_SEGMENTS];
	uint64_t frames[2 * (2 * MAX_BLOCKS * MAX_SEGMENTS + MAX_BLOCKS)];
	uint64_t nframes;
};

static void add_edge(struct model *m, uint32_t src, uint32_t dst, uint32_t kind)
{
	m->edges[m->nedges++] = (struct synth_edge){src, dst, kind, 0};
}

/* Block b has a probe at its first byte and a call at the end of each
 * segment; code is in block order. */
static void make_function(struct model *m)
{
	*m = (struct model){.nblocks = 2 + below(MAX_BLOCKS - 2)};
	add_edge(m, 0, 1, CAIRN_EDGE_ENTRY);
	for (uint32_t b = 1; b < m->nblocks; b++) {
		uint32_t n = 1 + below(MAX_SEGMENTS), nout = below(4);

		m->blocks[b - 1] = (struct synth_block){0, n, 0, 0};
		m->probes[b - 1][0] = 0x100 * b;
		m->probes[b - 1][1] = b;
		for (uint32_t s = 0; s < n; s++)
			m->sites[m->nsites++] = (struct synth_site){
			        0x100 * b + 0x10 * (s + 1), b, s};
		for (; nout; nout--)
			add_edge(m, b, 1 + below(m->nblocks - 1),
			         CAIRN_EDGE_CASE);
		if (!below(3))
			add_edge(m, b, 0, CAIRN_EDGE_RETURN);
	}
}

static void note_frame(struct model *m, enum cairn_frame_kind kind,
                       uint32_t offset)
{
	uint64_t key = synth_key(kind, 1, ADDRESS + offset);

	for (uint64_t i = 0; i < m->nframes; i++)
		if (m->frames[2 * i] == key) {
			m->frames[2 * i + 1]++;
			return;
		}
	m->frames[2 * m->nframes] = key;
	m->frames[2 * m->nframes++ + 1] = 1;
}

/* An edge out of the block, or -1. */
static int pick_edge(const struct model *m, uint32_t block)
{
	int found = -1;
	uint32_t n = 0;

	for (uint32_t e = 0; e < m->nedges; e++)
		if (m->edges[e].src == block && !below(++n))
			found = (int)e;
	return found;
}

/* Walks from a block's segment until the frame returns or dies. */
static void walk(struct model *m, uint32_t block, uint32_t segment)
{
	for (uint32_t steps = 0; block; steps++) {
		uint32_t n = m->blocks[block - 1].nsegments;
		int e;

		for (; segment < n; segment++) {
			m->segment[block][segment]++;
			if (below(40))
				continue;
			if (below(2)) {
				note_frame(m, CAIRN_FRAME_OUT,
				           0x100 * block +
				                   0x10 * (segment + 1));
				return;
			}
			/* between two calls; never at a return address */
			note_frame(m, CAIRN_FRAME_OUT_ASYNC,
			           0x100 * block + 0x10 * segment + 8);
			return;
		}
		e = steps < 200 ? pick_edge(m, block) : -1;
		if (e < 0) {
			note_frame(m, CAIRN_FRAME_OUT,
			           0x100 * block + 0x10 * n);
			return;
		}
		m->edge[e]++;
		block = m->edges[e].dst;
		segment = 0;
		m->block[block]++;
	}
}

static void run(struct model *m)
{
	for (int i = 0; i < RUNS; i++) {
		if (below(5)) {
			m->edge[0]++;
			m->block[1]++;
			walk(m, 1, 0);
		} else {
			const struct synth_site *s =
			        &m->sites[below(m->nsites)];

			note_frame(m, CAIRN_FRAME_IN, s->offset);
			m->block[s->block]++;
			walk(m, s->block, s->segment + 1);
		}
	}
	m->block[0] = m->edge[0];
}

enum placement { ON_EDGES, ON_BLOCKS, ON_BOTH };

/* Counters on the chords of the graph, or of the one that has its blocks as
 * edges. */
static void place_on_chords(struct model *m, enum placement placement)
{
	uint64_t weight[MAX_EDGES + MAX_BLOCKS];
	bool chord[MAX_EDGES + MAX_BLOCKS];
	struct cfg plain, split;
	bool both = placement == ON_BOTH;

	cfg_init(&plain, m->nblocks);
	for (uint32_t e = 0; e < m->nedges; e++)
		cfg_add_edge(&plain, m->edges[e].src, m->edges[e].dst);
	cfg_link(&plain);
	blocks_split(&plain, &split);
	for (uint32_t e = 0; e < split.nedges; e++)
		weight[e] = below(100);
	place_edges(both ? &split : &plain, weight, NULL, chord);
	for (uint32_t e = 0; e < m->nedges; e++)
		if (chord[e])
			m->edges[e].counter = ++m->ncounters;
	for (uint32_t b = 1; both && b < m->nblocks; b++)
		if (chord[blocks_edge(&plain, b)])
			m->blocks[b - 1].counter = ++m->ncounters;
	cfg_release(&plain);
	cfg_release(&split);
}

static void place_on_blocks(struct model *m)
{
	for (uint32_t b = 1; b < m->nblocks; b++)
		m->blocks[b - 1].counter = ++m->ncounters;
}

/* How often edges entered the block. */
static uint64_t inflow(const struct model *m, uint32_t b)
{
	uint64_t n = 0;

	for (uint32_t e = 0; e < m->nedges; e++)
		n += m->edges[e].dst == b ? m->edge[e] : 0;
	return n;
}

static void make_file(const struct model *m, uint32_t flags, struct bytes *out)
{
	uint64_t shard[2][MAX_EDGES + MAX_BLOCKS] = {{0}};
	struct synth_function f = {
	        .name = "f",
	        .flags = flags,
	        .address = ADDRESS,
	        .counters = BASE,
	        .ncounters = m->ncounters,
	        .code_size = 0x100 * (m->nblocks + 1),
	        .blocks = m->blocks,
	        .nblocks = m->nblocks,
	        .edges = m->edges,
	        .nedges = m->nedges,
	        .sites = m->sites,
	        .nsites = m->nsites,
	        .probes = m->probes,
	        .nprobes = m->nblocks - 1,
	};
	struct bytes map = {0};

	for (uint32_t e = 0; e < m->nedges; e++)
		if (m->edges[e].counter)
			shard[0][m->edges[e].counter - 1] = m->edge[e];
	for (uint32_t b = 1; b < m->nblocks; b++)
		if (m->blocks[b - 1].counter)
			shard[0][m->blocks[b - 1].counter - 1] = inflow(m, b);
	for (uint32_t i = 0; i < m->ncounters; i++) {
		shard[1][i] = shard[0][i] / 3;
		shard[0][i] -= shard[1][i];
	}
	synth_record(&map, &f);
	writer_begin(out);
	synth_program(out, "/bin/f");
	synth_module(out, 1, "/bin/f", 3, BASE, m->ncounters);
	synth_counts(out, 1, 1, shard[0], m->ncounters);
	synth_counts(out, 2, 1, shard[1], m->ncounters);
	synth_frames(out, 1, m->frames, m->nframes / 2);
	synth_frames(out, 2, m->frames + 2 * (m->nframes / 2),
	             m->nframes - m->nframes / 2);
	synth_map_chunk(out, 1, &map);
	writer_end(out, &synth_header);
	bytes_release(&map);
}

static void compare(const struct model *m, const struct counts *c, bool all)
{
	const struct counts_module *cm = &c->modules[0];
	const struct map *map = c->profile->modules[0].map;

	assert_int_equal(cm->functions[0].doubt, COUNTS_EXACT);
	for (uint32_t e = 0; e < m->nedges; e++) {
		if (all)
			assert_true(cm->edge_known[e]);
		if (cm->edge_known[e])
			assert_int_equal(cm->edge[e], m->edge[e]);
	}
	for (uint32_t b = 0; b < m->nblocks; b++) {
		if (all || b)
			assert_true(cm->block_known[b]);
		if (cm->block_known[b])
			assert_int_equal(cm->block[b], m->block[b]);
	}
	for (uint32_t b = 1; b < m->nblocks; b++)
		for (uint32_t s = 0; s < m->blocks[b - 1].nsegments; s++) {
			uint32_t at = map->blocks[b].first_segment + s;

			assert_true(cm->segment_known[at]);
			assert_int_equal(cm->segment[at], m->segment[b][s]);
		}
}

static void check_round(uint64_t round, enum placement placement)
{
	char path[] = "/tmp/cairn-counts-XXXXXX";
	const char *paths[] = {path};
	static struct model m;
	struct bytes file = {0};
	struct cairn_err err;
	struct profile *p;
	struct counts *c;
	int fd;

	seed = round * 3 + 1 + placement;
	for (int i = 0; i < 8; i++)
		below(2);
	make_function(&m);
	run(&m);
	if (placement == ON_BLOCKS)
		place_on_blocks(&m);
	else
		place_on_chords(&m, placement);
	make_file(&m, placement == ON_BLOCKS ? CAIRN_FN_SLOW : 0, &file);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	synth_save(path, &file);
	if (profile_open(&p, paths, 1, NULL, &err))
		fail_msg("round %" PRIu64 ": %s", round, err.text);
	unlink(path);
	c = counts_new(p);
	compare(&m, c, placement != ON_BLOCKS);
	counts_free(c);
	profile_free(p);
	bytes_release(&file);
}

static void test_edges(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i++)
		check_round(i, ON_EDGES);
}

static void test_slow(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i++)
		check_round(i, ON_BLOCKS);
}

static void test_both(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i++)
		check_round(i, ON_BOTH);
}

static struct counts *count_file(const struct bytes *file, struct profile **p)
{
	char path[] = "/tmp/cairn-counts-XXXXXX";
	const char *paths[] = {path};
	struct cairn_err err;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	synth_save(path, file);
	if (profile_open(p, paths, 1, NULL, &err))
		fail_msg("%s", err.text);
	unlink(path);
	return counts_new(*p);
}

/* After figure 4 of the paper: loop, exit in the body at the third turn. */
static void test_figure_4(void **state)
{
	struct bytes file = {0};
	struct profile *p;
	struct counts *c;

	(void)state;
	synth_sample(&file, 2, 0, 1);
	c = count_file(&file, &p);
	assert_int_equal(c->modules[0].functions[0].doubt, COUNTS_EXACT);
	assert_int_equal(c->modules[0].functions[0].entries, 1);
	assert_int_equal(c->modules[0].block[3], 3);
	assert_int_equal(c->modules[0].segment[2], 3);
	assert_int_equal(c->modules[0].segment[3], 2);
	counts_free(c);
	profile_free(p);
	bytes_release(&file);
}

/* A count that comes out negative is never shown as a number. */
static void test_negative_is_unknown(void **state)
{
	struct bytes file = {0};
	struct profile *p;
	struct counts *c;

	(void)state;
	synth_sample(&file, 2, 0, (uint64_t)-7);
	c = count_file(&file, &p);
	assert_int_equal(c->modules[0].functions[0].doubt, COUNTS_NEGATIVE);
	assert_false(c->modules[0].edge_known[0]);
	assert_false(c->modules[0].functions[0].entries_known);
	assert_true(c->modules[0].edge_known[3]);
	assert_int_equal(c->totals.inconsistent, 1);
	counts_free(c);
	profile_free(p);
	bytes_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_edges),
	        cmocka_unit_test(test_slow),
	        cmocka_unit_test(test_both),
	        cmocka_unit_test(test_figure_4),
	        cmocka_unit_test(test_negative_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
