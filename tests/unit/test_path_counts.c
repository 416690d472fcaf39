/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path profiles against brute force: random functions with computed gotos,
 * calls that end paths, cuts, loops that count their turns and blocks without a
 * way out are walked by a
 * machine that keeps the path register; frames die in calls and between them,
 * and fork; two runs at different addresses go through files, and through a
 * merged one.  Paths, edges, blocks and segments have to be those walked.
 */
#include "synth.h"

#include "abi/rt.h"
#include "analysis/check.h"
#include "analysis/counts.h"
#include "analysis/frames.h"
#include "analysis/path_counts.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/increments.h"
#include "graph/local.h"
#include "graph/paths.h"
#include "path_machine.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MAX_BLOCKS 20
#define MAX_EDGES (6 * MAX_BLOCKS)
#define MAX_SEGMENTS 3
#define MAX_FRAMES 4000
#define MAX_PATHS 4000
#define ADDRESS 0x1000
#define BASE 0x50000
#define COUNTERS (BASE + 16)
#define RUNS 40
#define ROUNDS 1500
#define MAX_DIRECT 300
#define MAX_TURNS 64

static uint64_t seed, nturning; /* loops that counted their turns */

static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % n;
}

enum block_kind { PLAIN, CALL, INDIRECT, STOP };

/* A random function, and what happened when it was walked. */
struct model {
	struct synth_block blocks[MAX_BLOCKS];
	enum block_kind kind[MAX_BLOCKS];
	bool is_target[MAX_BLOCKS]; /* of computed gotos, and of nothing else */
	bool is_call[MAX_BLOCKS];   /* paths end before it */
	struct synth_edge edges[MAX_EDGES];
	struct synth_site sites[MAX_BLOCKS * MAX_SEGMENTS];
	struct synth_pending pendings[MAX_BLOCKS * MAX_SEGMENTS];
	uint32_t probes[MAX_BLOCKS][2];
	uint32_t nblocks, nedges, nsites, npending;
	uint32_t paths; /* enum cairn_paths */
	struct cfg g;
	struct paths p;
	struct increments inc;
	struct local turns[MAX_BLOCKS]; /* loops that count their turns */
	uint32_t heads[MAX_BLOCKS], nturns;
	bool with_signals, is_unsayable;
	uint64_t edge[MAX_EDGES], block[MAX_BLOCKS];
	uint64_t segment[MAX_BLOCKS][MAX_SEGMENTS];
	uint64_t frames[2][MAX_FRAMES][3]; /* of two runs */
	uint64_t nframes[2];
	uint64_t path[2][MAX_PATHS][2];
	uint64_t npaths[2];
	uint64_t walked[2][MAX_PATHS]; /* as path[][][1], whoever counts it */
	uint64_t bias[2];
	int run;
};

static void add_edge(struct model *m, uint32_t src, uint32_t dst, uint32_t kind)
{
	m->edges[m->nedges++] = (struct synth_edge){src, dst, kind, 0};
}

/* A block that edges of this kind may lead to. */
static uint32_t pick_target(const struct model *m, bool indirect)
{
	uint32_t b;

	do
		b = 1 + below(m->nblocks - 1);
	while (m->is_target[b] != indirect);
	return b;
}

static void make_edges(struct model *m, uint32_t b, bool has_targets)
{
	static const enum block_kind kinds[] = {PLAIN, PLAIN,    PLAIN,
	                                        PLAIN, INDIRECT, STOP};
	uint32_t n, to;

	m->kind[b] = m->is_call[b] ? CALL : kinds[below(6)];
	if (m->kind[b] == INDIRECT && !has_targets)
		m->kind[b] = PLAIN;
	if (m->kind[b] == CALL) {
		to = pick_target(m, false);
		add_edge(m, b, to,
		         m->is_call[to] ? CAIRN_EDGE_CALL : CAIRN_EDGE_FALL);
		add_edge(m, b, 0, CAIRN_EDGE_ABNORMAL);
	}
	if (m->kind[b] == STOP || m->kind[b] == CALL)
		return;
	n = 1 + below(3);
	for (uint32_t i = 0; i < n; i++) {
		to = pick_target(m, m->kind[b] == INDIRECT);
		add_edge(m, b, to,
		         m->kind[b] == INDIRECT ? CAIRN_EDGE_INDIRECT
		         : m->is_call[to]       ? CAIRN_EDGE_CALL
		                                : CAIRN_EDGE_CASE);
	}
	if (m->kind[b] == PLAIN && !below(3))
		add_edge(m, b, 0, CAIRN_EDGE_RETURN);
}

static void make_function(struct model *m)
{
	bool has_targets = false;

	memset(m, 0, sizeof(*m));
	m->nblocks = 2 + below(MAX_BLOCKS - 2);
	for (uint32_t b = 2; b < m->nblocks; b++)
		if (!below(6))
			m->is_target[b] = has_targets = true;
		else
			m->is_call[b] = !below(6);
	add_edge(m, 0, 1, CAIRN_EDGE_ENTRY);
	for (uint32_t b = 1; b < m->nblocks; b++) {
		uint32_t n = 1 + below(MAX_SEGMENTS);

		m->blocks[b - 1] = (struct synth_block){0, n, 0, 0};
		m->probes[b - 1][0] = 0x100 * b;
		m->probes[b - 1][1] = b;
		for (uint32_t s = 0; s < n; s++)
			m->sites[m->nsites++] = (struct synth_site){
			        0x100 * b + 0x10 * (s + 1), b, s};
		make_edges(m, b, has_targets);
	}
}

static void number_paths(struct model *m)
{
	enum dag_how asked[MAX_EDGES];
	uint64_t weight[MAX_EDGES];
	struct paths_options o = {.asked = asked, .weight = weight};

	cfg_init(&m->g, m->nblocks);
	for (uint32_t e = 0; e < m->nedges; e++) {
		uint32_t kind = m->edges[e].kind;

		cfg_add_edge(&m->g, m->edges[e].src, m->edges[e].dst);
		asked[e] = kind == CAIRN_EDGE_INDIRECT   ? DAG_INDIRECT
		           : kind == CAIRN_EDGE_CALL     ? DAG_CUT
		           : kind == CAIRN_EDGE_ABNORMAL ? DAG_IGNORED
		                                         : DAG_THROUGH;
		weight[e] = below(100);
	}
	cfg_link(&m->g);
	o.limit = below(2) ? 0 : 60 + below(200);
	if (paths_init(&m->p, &m->g, &o, NULL)) {
		o.limit = 0;
		assert_int_equal(paths_init(&m->p, &m->g, &o, NULL), 0);
	}
	increments_init(&m->inc, &m->p.dag, m->p.value, weight);
	m->paths = m->p.n <= MAX_DIRECT && below(2) ? CAIRN_PATHS_DIRECT
	                                            : CAIRN_PATHS_HASHED;
	for (block_id b = 1; b < m->nblocks; b++)
		if (m->paths == CAIRN_PATHS_HASHED &&
		    local_init(&m->turns[m->nturns], &m->p, b, MAX_TURNS))
			m->heads[m->nturns++] = b;
	nturning += m->nturns;
	for (uint32_t i = 0; i < m->nsites; i++) {
		uint32_t b = m->sites[i].block;
		bool is_last =
		        m->sites[i].segment + 1 == m->blocks[b - 1].nsegments;

		if (is_last && m->kind[b] == STOP)
			m->pendings[i].kind = CAIRN_PENDING_NOTHING;
		else if (m->inc.is_known[b])
			m->pendings[i].kind = CAIRN_PENDING_KNOWN;
		else
			m->pendings[i].kind = CAIRN_PENDING_REGISTER;
		m->pendings[i].value = (int64_t)m->inc.offset[b];
	}
}

/* --- walking ------------------------------------------------------------ */

static void note_path(struct model *m, uint64_t number)
{
	uint64_t(*path)[2] = m->path[m->run], i = 0;

	while (i < m->npaths[m->run] && path[i][0] != number + 1)
		i++;
	assert_true(i < MAX_PATHS);
	m->npaths[m->run] += i == m->npaths[m->run];
	path[i][0] = number + 1;
	path[i][1]++;
	m->walked[m->run][i]++;
}

static void note_frame(struct model *m, enum cairn_frame_kind kind,
                       uint32_t offset, uint64_t reg)
{
	uint64_t *slot = m->frames[m->run][m->nframes[m->run]++];

	assert_true(m->nframes[m->run] < MAX_FRAMES);
	slot[0] = synth_key(kind, 1, ADDRESS + offset);
	slot[1] = reg;
	slot[2] = 1;
}

/* A frame dies or begins in the call that ends a segment. */
static void note_call(struct model *m, enum cairn_frame_kind kind,
                      const struct machine *k, uint32_t block, uint32_t segment)
{
	uint64_t reg = m->paths == CAIRN_PATHS_DIRECT
	                       ? COUNTERS + 8 * k->r + m->bias[m->run]
	                       : 1 + k->r;
	uint32_t i = 0;

	while (m->sites[i].block != block || m->sites[i].segment != segment)
		i++;
	/* 1 + register cannot say this one */
	if (m->pendings[i].kind == CAIRN_PENDING_REGISTER && !(reg + 1))
		m->is_unsayable = true;
	note_frame(m, kind, m->sites[i].offset,
	           m->pendings[i].kind == CAIRN_PENDING_REGISTER ? reg + 1 : 0);
}

static void take(struct model *m, struct machine *k, edge_id e)
{
	machine_take(k, e);
	if (k->has_counted)
		note_path(m, k->counted);
}

static edge_id pick_edge(const struct model *m, uint32_t block)
{
	uint32_t n = m->g.out_at[block + 1] - m->g.out_at[block];
	edge_id e;

	if (!n)
		return CFG_NONE;
	/* a call block: ABNORMAL is behind FALL */
	e = m->g.out[m->g.out_at[block] +
	             (m->kind[block] == CALL ? 0 : below(n))];
	/* parallel computed gotos are counted by the first */
	if (m->edges[e].kind == CAIRN_EDGE_INDIRECT)
		e = dag_indirect(&m->p.dag, block, m->edges[e].dst);
	return e;
}

static void walk(struct model *m, struct machine k, uint32_t block,
                 uint32_t segment, uint32_t depth);

/* The call that ends a segment: false if the frame dies in it. */
static bool call(struct model *m, const struct machine *k, uint32_t block,
                 uint32_t segment, uint32_t depth)
{
	if (!below(30)) {
		note_call(m, CAIRN_FRAME_OUT, k, block, segment);
		return false;
	}
	if (depth < 3 && !below(20)) {
		note_call(m, CAIRN_FRAME_IN, k, block, segment);
		m->block[block]++;
		walk(m, *k, block, segment + 1, depth + 1);
	}
	return true;
}

/* The last call of a block without another way out. */
static void stop(struct model *m, struct machine *k, uint32_t block,
                 uint32_t segment)
{
	machine_stop(k, block);
	assert_true(k->has_counted);
	note_path(m, k->counted);
	note_call(m, CAIRN_FRAME_OUT, k, block, segment);
}

/* Walks a block from a segment on; false if the frame dies. */
static bool walk_block(struct model *m, struct machine *k, uint32_t block,
                       uint32_t segment, uint32_t depth)
{
	uint32_t n = m->blocks[block - 1].nsegments;

	for (; segment < n; segment++) {
		m->segment[block][segment]++;
		if (m->with_signals && !below(50)) {
			note_frame(m, CAIRN_FRAME_OUT_ASYNC,
			           0x100 * block + 0x10 * segment + 8, 0);
			return false;
		}
		if (segment + 1 == n && m->kind[block] == STOP) {
			stop(m, k, block, segment);
			return false;
		}
		if (segment + 1 == n && m->kind[block] == CALL && !below(10)) {
			/* nobody saw it */
			m->edge[m->g.out[m->g.out_at[block] + 1]]++;
			return false;
		}
		if (!call(m, k, block, segment, depth))
			return false;
	}
	return true;
}

/* Walks from a block's segment until the frame returns or dies. */
static void walk(struct model *m, struct machine k, uint32_t block,
                 uint32_t segment, uint32_t depth)
{
	for (uint32_t steps = 0; block; steps++) {
		edge_id e;

		if (!walk_block(m, &k, block, segment, depth))
			return;
		e = pick_edge(m, block);
		take(m, &k, e);
		m->edge[e]++;
		block = m->edges[e].dst;
		segment = 0;
		if (!block)
			return;
		m->block[block]++;
		if (steps > 60 && m->kind[block] != STOP) {
			m->segment[block][0]++;
			note_call(m, CAIRN_FRAME_OUT, &k, block, 0);
			return;
		}
	}
}

static void run(struct model *m)
{
	struct machine k;

	machine_init(&k, &m->p.dag, &m->inc);
	for (int i = 0; i < RUNS; i++) {
		struct machine mine = k;

		m->run = i % 2;
		take(m, &mine, 0);
		m->edge[0]++;
		m->block[0]++;
		m->block[1]++;
		walk(m, mine, 1, 0, 0);
	}
	machine_release(&k);
}

/* --- files -------------------------------------------------------------- */

static uint32_t ncounters(const struct model *m)
{
	uint64_t n = CAIRN_TABLE_WORDS;

	if (m->paths == CAIRN_PATHS_DIRECT)
		return (uint32_t)m->p.n;
	for (uint32_t i = 0; i < m->nturns; i++)
		n += m->turns[i].paths.n;
	return (uint32_t)n;
}

/* Moves some counts of turns from the table of run r into their counters. */
static void put_turns(struct model *m, int r, uint64_t *counter)
{
	for (uint32_t i = 0; i < m->nturns; i++)
		for (uint64_t t = 0; t < m->turns[i].paths.n; t++, counter++) {
			uint64_t number;

			if (!local_path(&m->turns[i], &m->p, t, &number))
				continue;
			for (uint64_t k = 0; k < m->npaths[r]; k++)
				if (m->path[r][k][0] == number + 1) {
					*counter = m->path[r][k][1] / 2;
					m->path[r][k][1] -= *counter;
				}
		}
}

static void put_counts(struct model *m, int r, struct bytes *out)
{
	uint64_t counts[2 + CAIRN_TABLE_WORDS + MAX_BLOCKS * MAX_TURNS] = {0};
	uint64_t half = m->npaths[r] / 2;
	struct bytes tables = {0};

	if (m->paths == CAIRN_PATHS_DIRECT) {
		for (uint64_t i = 0; i < m->npaths[r]; i++)
			counts[1 + m->path[r][i][0]] = m->path[r][i][1];
	} else {
		for (uint32_t i = 0; i < CAIRN_TABLE_WORDS; i++)
			counts[2 + i] = 0x123456789 * (uint64_t)(r + 7) + i;
		put_turns(m, r, counts + 2 + CAIRN_TABLE_WORDS);
		synth_table(&tables, COUNTERS, m->path[r], half);
		synth_table(&tables, COUNTERS, m->path[r] + half,
		            m->npaths[r] - half);
		bytes_put_u64(&tables, 0);
		bytes_put_u64(&tables, UINT64_MAX);
		synth_paths_chunk(out, 1, 1, &tables);
		synth_paths_chunk(out, 1, 1, &(struct bytes){0});
	}
	synth_counts(out, 1, 1, counts, 2 + ncounters(m));
	bytes_release(&tables);
}

static void make_file(struct model *m, int r, struct bytes *out)
{
	struct synth_function f = {
	        .name = "f",
	        .address = ADDRESS,
	        .counters = COUNTERS,
	        .ncounters = ncounters(m),
	        .code_size = 0x100 * (m->nblocks + 1),
	        .blocks = m->blocks,
	        .nblocks = m->nblocks,
	        .edges = m->edges,
	        .nedges = m->nedges,
	        .sites = m->sites,
	        .nsites = m->nsites,
	        .probes = m->probes,
	        .nprobes = m->nblocks - 1,
	        .paths = m->paths,
	        .npaths = m->p.n,
	        .cuts = m->p.cuts,
	        .ncuts = m->p.ncuts,
	        .turns = m->heads,
	        .nturns = m->nturns,
	        .pendings = m->pendings,
	};
	struct bytes map = {0};

	synth_record(&map, &f);
	writer_begin(out);
	synth_program(out, "/bin/f");
	synth_module_at(out, 1, "/bin/f", 3, BASE, 2 + ncounters(m),
	                m->bias[r]);
	put_counts(m, r, out);
	synth_slots(out, 1, (const uint64_t(*)[3])m->frames[r], m->nframes[r]);
	synth_map_chunk(out, 1, &map);
	writer_end(out, &synth_header);
	bytes_release(&map);
}

/* --- comparing ---------------------------------------------------------- */

static uint64_t walked(const struct model *m, uint64_t number)
{
	uint64_t n = 0;

	for (int r = 0; r < 2; r++)
		for (uint64_t i = 0; i < m->npaths[r]; i++)
			if (m->path[r][i][0] == number + 1)
				n += m->walked[r][i];
	return n;
}

static void compare_paths(const struct model *m, const struct profile *p)
{
	struct frame_places places;
	struct path_counts pc;
	uint64_t sum = 0, all = 0;

	frames_place(&places, p, 0);
	assert_true(path_counts_init(&pc, &p->modules[0], 0, &places));
	for (size_t i = 0; i < pc.n; i++) {
		sum += pc.items[i].count;
		if (!m->with_signals)
			assert_int_equal(pc.items[i].count,
			                 walked(m, pc.items[i].number));
	}
	for (int r = 0; r < 2; r++)
		for (uint64_t i = 0; i < m->npaths[r]; i++)
			all += m->walked[r][i];
	if (!m->with_signals)
		assert_int_equal(sum, all);
	path_counts_release(&pc);
	frames_release(&places);
}

static void compare(const struct model *m, const struct counts *c)
{
	const struct counts_module *cm = &c->modules[0];
	const struct map *map = c->profile->modules[0].map;

	for (uint32_t e = 0; e < m->nedges; e++) {
		assert_true(cm->edge_known[e]);
		assert_int_equal(cm->edge[e], m->edge[e]);
	}
	for (uint32_t b = 0; b < m->nblocks; b++) {
		assert_true(cm->block_known[b]);
		assert_int_equal(cm->block[b], m->block[b]);
	}
	for (uint32_t b = 1; b < m->nblocks; b++)
		for (uint32_t s = 0; s < m->blocks[b - 1].nsegments; s++) {
			uint32_t at = map->blocks[b].first_segment + s;

			assert_true(cm->segment_known[at]);
			assert_int_equal(cm->segment[at], m->segment[b][s]);
		}
}

/* Returns whether the counts are exact. */
static bool check_files(const struct model *m, const char *const *paths,
                        size_t npaths, const char *merged)
{
	struct cairn_err err;
	struct profile *p;
	struct counts *c;
	enum counts_doubt doubt;

	if (profile_open(&p, paths, npaths, NULL, &err))
		fail_msg("%s", err.text);
	c = counts_new(p);
	doubt = c->modules[0].functions[0].doubt;
	if (m->with_signals || m->is_unsayable)
		assert_true(doubt == COUNTS_EXACT ||
		            doubt == COUNTS_PATH_UNKNOWN);
	else
		assert_int_equal(doubt, COUNTS_EXACT);
	if (doubt == COUNTS_EXACT) {
		compare(m, c);
		compare_paths(m, p);
	}
	if (merged)
		assert_int_equal(profile_write(p, merged, &err), 0);
	counts_free(c);
	profile_free(p);
	return doubt == COUNTS_EXACT;
}

static bool check_round(uint64_t round, bool with_signals)
{
	static struct model m;
	struct synth_dir dir;
	char *path[3];
	bool exact;

	seed = round * 5 + 1 + with_signals;
	for (int i = 0; i < 8; i++)
		below(2);
	make_function(&m);
	m.with_signals = with_signals;
	m.bias[0] = 0x555500000000 + 0x1000 * (uint64_t)below(1000);
	m.bias[1] = 0x7f0000000000 + 0x1000 * (uint64_t)below(1000);
	number_paths(&m);
	run(&m);
	synth_dir_make(&dir);
	for (int r = 0; r < 3; r++) {
		struct bytes file = {0};

		path[r] = strdup(
		        synth_path(&dir, (const char *[]){"a", "b", "c"}[r]));
		if (r == 2)
			break;
		make_file(&m, r, &file);
		synth_save(path[r], &file);
		bytes_release(&file);
	}
	exact = check_files(&m, (const char *const *)path, 2, path[2]);
	assert_int_equal(
	        check_files(&m, (const char *const *)path + 2, 1, NULL), exact);
	for (int r = 0; r < 3; r++) {
		unlink(path[r]);
		free(path[r]);
	}
	rmdir(dir.path);
	for (uint32_t i = 0; i < m.nturns; i++)
		local_release(&m.turns[i]);
	increments_release(&m.inc);
	paths_release(&m.p);
	cfg_release(&m.g);
	return exact;
}

static void test_calls(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i++)
		check_round(i, false);
	assert_true(nturning > ROUNDS / 10);
}

static void test_signals(void **state)
{
	uint32_t nexact = 0;

	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i++)
		nexact += check_round(i, true);
	assert_true(nexact > ROUNDS / 20);
	assert_true(nexact < ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_calls),
	        cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
