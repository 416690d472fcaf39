/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map parser: what a compiler writes is read; duplicates and leftovers of
 * linkers are handled; whatever is damaged is refused.
 */
#include "synth.h"

#include "base/err.h"
#include "format/elf.h"
#include "format/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int parse(const struct bytes *b, struct map **m, struct cairn_err *err)
{
	unsigned char *copy = malloc(b->n ? b->n : 1);
	int rc;

	if (b->n)
		memcpy(copy, b->data, b->n);
	rc = map_parse(copy, b->n, "sample", m, err);
	free(copy);
	return rc;
}

static void test_sample(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct map *m;
	const struct map_function *f;

	(void)state;
	synth_sample_map(&b);
	assert_int_equal(parse(&b, &m, &err), 0);
	assert_int_equal(m->nfunctions, 2);
	f = &m->functions[0];
	assert_string_equal(map_string(m, f->name), "main");
	assert_string_equal(map_string(m, f->file), "/src/sample.c");
	assert_int_equal(f->line, 10);
	assert_int_equal(f->hash, 0x1234);
	assert_int_equal(f->nblocks, 5);
	assert_int_equal(f->nedges, 6);
	assert_int_equal(f->nprobes, 4);
	assert_int_equal(m->edges[3].counter, 0);
	assert_int_equal(m->edges[0].counter, MAP_NONE);
	assert_int_equal(m->blocks[3].nsegments, 2);
	assert_int_equal(m->lines[m->segments[3].first_line].line, 13);
	assert_int_equal(m->sites[0].offset, 0x20);
	assert_int_equal(m->sites[0].block, 3);
	f = &m->functions[1];
	assert_string_equal(map_string(m, f->reason), "naked function");
	assert_int_equal(f->nblocks, 0);
	assert_int_equal(f->file, MAP_NONE);
	map_free(m);
	bytes_release(&b);
}

/* One return address, two functions; what the linker dropped is left out. */
static void test_far_sites(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct map *m;

	(void)state;
	synth_source_map(&b);
	assert_int_equal(parse(&b, &m, &err), 0);
	assert_int_equal(m->nfunctions, 2);
	assert_int_equal(m->nsites, 0);
	assert_int_equal(m->ncodes, 1);
	assert_int_equal(m->codes[0].address, 0x1000);
	assert_int_equal(m->codes[0].size, 0x40);
	assert_int_equal(m->nfar_sites, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(m->far_sites[i].pc, 0x1010);
		assert_int_equal(m->far_sites[i].function, i);
		assert_int_equal(m->far_sites[i].block, 1);
		assert_int_equal(m->far_sites[i].segment, 0);
	}
	map_free(m);
	bytes_release(&b);
}

/* Refused: entries that name no function, or no site of theirs; more entries
 * than the record has bytes for; a record cut anywhere. */
static void test_far_sites_damaged(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} damage[] = {
	        {CAIRN_SITES_HEAD_SIZE + 4, 1}, /* site */
	        {CAIRN_SITES_HEAD_SIZE + 8, SAMPLE_BASE + 16},
	        {CAIRN_SITES_N, 3},
	        {CAIRN_SITES_N, UINT32_MAX},
	        {CAIRN_SITES_SIZE, CAIRN_SITES_HEAD_SIZE - 1},
	};
	struct bytes b = {0}, functions = {0};
	struct cairn_err err;
	struct map *m;
	size_t at = 0;

	(void)state;
	synth_source_map(&b);
	for (int i = 0; i < 2; i++)
		at += get_le32(b.data + at + CAIRN_REC_SIZE);
	for (size_t i = 0; i < sizeof(damage) / sizeof(*damage); i++) {
		unsigned char *p = (unsigned char *)b.data + at + damage[i].at;
		uint32_t saved = get_le32(p);

		put_le32(p, damage[i].value);
		assert_int_equal(parse(&b, &m, &err), CAIRN_E_CORRUPT);
		put_le32(p, saved);
	}
	functions = (struct bytes){b.data, at, at};
	assert_int_equal(parse(&functions, &m, &err), 0);
	map_free(m);
	for (functions.n = at + 1;
	     functions.n <
	     at + CAIRN_SITES_HEAD_SIZE + 2 * CAIRN_SITES_ENTRY_SIZE;
	     functions.n++)
		assert_int_equal(parse(&functions, &m, &err), CAIRN_E_CORRUPT);
	bytes_release(&b);
}

static void test_paths(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	const struct map_function *f;
	struct map *m;

	(void)state;
	synth_paths_map(&b);
	assert_int_equal(parse(&b, &m, &err), 0);
	f = &m->functions[0];
	assert_int_equal(f->paths, CAIRN_PATHS_HASHED);
	assert_int_equal(f->npaths, 7);
	assert_int_equal(f->ncuts, 0);
	assert_int_equal(f->nturns, 1);
	assert_int_equal(m->turns[f->first_turn], 2);
	assert_int_equal(m->sites[f->first_site].pending,
	                 CAIRN_PENDING_REGISTER);
	assert_int_equal((int64_t)m->sites[f->first_site].value, -1);
	assert_int_equal(m->calls[f->first_call + 1].pending,
	                 CAIRN_PENDING_KNOWN);
	assert_int_equal(m->calls[f->first_call + 1].value, 6);
	f = &m->functions[1];
	assert_int_equal(f->paths, CAIRN_PATHS_DIRECT);
	assert_int_equal(f->npaths, 2);
	map_free(m);
	bytes_release(&b);
}

/* One function with two ways and a call, whose paths a test can spoil. */
struct spoiled {
	struct synth_function f;
	struct synth_pending pending;
	struct synth_edge edges[6];
	uint32_t cut, turn;
};

static void spoil_init(struct spoiled *s)
{
	static const struct synth_block blocks[] = {
	        {0, 1, 1, 0}, {0, 1, 2, 0}, {0, 1, 3, 0}, {0, 1, 4, 0}};
	static const struct synth_site sites[] = {{0x10, 4, 0}};

	*s = (struct spoiled){
	        .edges = {{0, 1, CAIRN_EDGE_ENTRY, 0},
	                  {1, 2, CAIRN_EDGE_TRUE, 0},
	                  {1, 3, CAIRN_EDGE_FALSE, 0},
	                  {2, 4, CAIRN_EDGE_JUMP, 0},
	                  {3, 4, CAIRN_EDGE_JUMP, 0},
	                  {4, 0, CAIRN_EDGE_RETURN, 0}},
	        .pending = {CAIRN_PENDING_KNOWN, 1},
	        .cut = 3,
	        .turn = 1,
	};
	s->f = (struct synth_function){
	        .name = "f",
	        .file = "/src/f.c",
	        .address = 0x1000,
	        .counters = SAMPLE_BASE,
	        .ncounters = 2,
	        .code_size = 0x40,
	        .blocks = blocks,
	        .nblocks = 5,
	        .edges = s->edges,
	        .nedges = 6,
	        .sites = sites,
	        .nsites = 1,
	        .paths = CAIRN_PATHS_DIRECT,
	        .npaths = 2,
	        .cuts = &s->cut,
	        .turns = &s->turn,
	        .pendings = &s->pending,
	};
}

static void expect_spoiled(struct spoiled *s, const char *word)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct map *m;
	int rc;

	synth_record(&b, &s->f);
	rc = parse(&b, &m, &err);
	assert_int_equal(rc, word ? CAIRN_E_CORRUPT : 0);
	if (word)
		assert_non_null(strstr(err.text, word));
	else
		map_free(m);
	bytes_release(&b);
	spoil_init(s);
}

static void test_paths_senseless(void **state)
{
	struct spoiled s;

	(void)state;
	spoil_init(&s);
	expect_spoiled(&s, NULL);
	s.f.paths = CAIRN_NPATHS_KINDS;
	expect_spoiled(&s, "paths make no sense");
	s.f.npaths = 0;
	expect_spoiled(&s, "paths make no sense");
	s.f.npaths = (uint64_t)1 << 60;
	expect_spoiled(&s, "paths make no sense");
	s.f.npaths = 3;
	expect_spoiled(&s, "not those of its paths");
	s.pending.value = 2;
	expect_spoiled(&s, "paths make no sense");
	s.pending.kind = CAIRN_NPENDING_KINDS;
	expect_spoiled(&s, "paths make no sense");
	s.f.ncuts = 1;
	expect_spoiled(&s, NULL);
	s.f.ncuts = 1;
	s.cut = 6;
	expect_spoiled(&s, "paths make no sense");
	s.f.nturns = 1;
	expect_spoiled(&s, "not those of its paths");
	s.edges[2].counter = 1;
	expect_spoiled(&s, "not those of its paths");
	s.f.paths = CAIRN_PATHS_HASHED;
	expect_spoiled(&s, "not those of its paths");
	s.f.paths = CAIRN_PATHS_HASHED;
	s.f.ncounters = CAIRN_TABLE_WORDS;
	s.f.npaths = ((uint64_t)1 << 60) - 1;
	expect_spoiled(&s, NULL);
	s.f.paths = CAIRN_PATHS_HASHED;
	s.f.ncounters = CAIRN_TABLE_WORDS + 1;
	expect_spoiled(&s, "not those of its paths");
	s.f.paths = CAIRN_PATHS_HASHED;
	s.f.ncounters = CAIRN_TABLE_WORDS + 1;
	s.f.nturns = 1;
	expect_spoiled(&s, NULL);
	s.f.paths = CAIRN_PATHS_HASHED;
	s.f.ncounters = CAIRN_TABLE_WORDS + 1;
	s.f.nturns = 1;
	s.turn = 0;
	expect_spoiled(&s, "paths make no sense");
	s.turn = 5;
	s.f.nturns = 1;
	expect_spoiled(&s, "paths make no sense");
}

static void test_empty(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct map *m;

	(void)state;
	assert_int_equal(parse(&b, &m, &err), 0);
	assert_int_equal(m->nfunctions, 0);
	map_free(m);
}

static void test_cut_anywhere(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct map *m;
	size_t first;

	(void)state;
	synth_sample_map(&b);
	first = get_le32(b.data + CAIRN_REC_SIZE);
	for (size_t n = 1; n < b.n; n++) {
		struct bytes cut = {b.data, n, n};
		/* between the records there are three zero bytes */
		bool whole = n >= first && n <= first + 3;

		if (whole) {
			assert_int_equal(parse(&cut, &m, &err), 0);
			map_free(m);
		} else {
			assert_int_equal(parse(&cut, &m, &err),
			                 CAIRN_E_CORRUPT);
			assert_non_null(strstr(err.text, "sample: damaged"));
		}
	}
	bytes_release(&b);
}

/* The blob has a checksum; heads and addresses are only checked for sense, so
 * a flip there must not crash. */
static void test_flip_anywhere(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct map *m;
	size_t nblob;

	(void)state;
	synth_sample_map(&b);
	nblob = get_le32(b.data + CAIRN_REC_NBLOB);
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		size_t at = bit / 8;
		int rc;

		b.data[at] ^= (unsigned char)(1u << (bit & 7));
		rc = parse(&b, &m, &err);
		if (at >= CAIRN_MAP_HEAD_SIZE &&
		    at < CAIRN_MAP_HEAD_SIZE + nblob)
			assert_int_equal(rc, CAIRN_E_CORRUPT);
		map_free(m);
		b.data[at] ^= (unsigned char)(1u << (bit & 7));
	}
	bytes_release(&b);
}

static const struct synth_block one_block[] = {{0, 1, 5, 0}};
static const struct synth_edge two_edges[] = {{0, 1, CAIRN_EDGE_ENTRY, 0},
                                              {1, 0, CAIRN_EDGE_RETURN, 1}};

static struct synth_function leaf(const char *name, uint64_t address,
                                  uint64_t counters)
{
	return (struct synth_function){
	        .name = name,
	        .file = "/src/leaf.c",
	        .line = 5,
	        .address = address,
	        .counters = counters,
	        .ncounters = 1,
	        .code_size = 16,
	        .blocks = one_block,
	        .nblocks = 2,
	        .edges = two_edges,
	        .nedges = 2,
	};
}

static void test_duplicates(void **state)
{
	struct synth_function a = leaf("a", 0x1000, 0x100);
	struct synth_function b = leaf("b", 0x2000, 0x108);
	struct synth_function dropped = leaf("a", 0, 0);
	struct bytes bytes = {0};
	struct cairn_err err;
	struct map *m;

	(void)state;
	synth_record(&bytes, &b);
	synth_record(&bytes, &a);
	synth_record(&bytes, &a);
	synth_record(&bytes, &dropped);
	assert_int_equal(parse(&bytes, &m, &err), 0);
	assert_int_equal(m->nfunctions, 2);
	assert_string_equal(map_string(m, m->functions[0].name), "b");
	assert_string_equal(map_string(m, m->functions[1].name), "a");
	map_free(m);
	b.counters = 0x100;
	synth_record(&bytes, &b);
	assert_int_equal(parse(&bytes, &m, &err), CAIRN_E_CORRUPT);
	assert_non_null(strstr(err.text, "same counters"));
	bytes_release(&bytes);
}

static void refuse(const struct synth_function *f, const char *word)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct map *m;

	synth_record(&b, f);
	assert_int_equal(parse(&b, &m, &err), CAIRN_E_CORRUPT);
	assert_null(m);
	assert_non_null(strstr(err.text, word));
	bytes_release(&b);
}

static void test_senseless(void **state)
{
	static const struct synth_edge wild[] = {{0, 1, CAIRN_EDGE_ENTRY, 0},
	                                         {1, 2, CAIRN_EDGE_JUMP, 1}};
	static const struct synth_edge no_entry[] = {
	        {1, 0, CAIRN_EDGE_RETURN, 1}, {0, 1, CAIRN_EDGE_ENTRY, 0}};
	static const struct synth_edge counter[] = {
	        {0, 1, CAIRN_EDGE_ENTRY, 0}, {1, 0, CAIRN_EDGE_RETURN, 2}};
	static const struct synth_edge kind[] = {{0, 1, CAIRN_EDGE_ENTRY, 0},
	                                         {1, 0, CAIRN_NEDGE_KINDS, 1}};
	static const struct synth_block no_segment[] = {{0, 0, 5, 0}};
	static const struct synth_block instance[] = {{0, 1, 5, 1}};
	static const struct synth_site site[] = {{4, 1, 1}};
	struct synth_function f = leaf("f", 0x1000, 0x100);

	(void)state;
	f.edges = wild;
	refuse(&f, "edges");
	f.edges = no_entry;
	refuse(&f, "edges");
	f.edges = counter;
	refuse(&f, "edges");
	f.edges = kind;
	refuse(&f, "edges");
	f.edges = two_edges;
	f.blocks = no_segment;
	refuse(&f, "blocks");
	f.blocks = instance;
	refuse(&f, "blocks");
	f.blocks = one_block;
	f.sites = site;
	f.nsites = 1;
	refuse(&f, "sites");
	f.nsites = 0;
	f.flags = CAIRN_FN_NOT_COVERED;
	refuse(&f, "not covered");
}

static void test_elf(void **state)
{
	struct bytes map = {0}, elf = {0};
	struct cairn_err err;
	struct elf_view v;

	(void)state;
	synth_sample_map(&map);
	synth_elf(&elf, &map, 0xab);
	assert_int_equal(elf_parse(elf.data, elf.n, "x", &v, &err), 0);
	assert_int_equal(v.map_size, map.n);
	assert_memory_equal(v.map, map.data, map.n);
	assert_int_equal(v.build_id_size, 8);
	assert_int_equal(v.build_id[7], 0xab);
	elf.n = 0;
	synth_elf(&elf, NULL, 1);
	assert_int_equal(elf_parse(elf.data, elf.n, "x", &v, &err), 0);
	assert_null(v.map);
	elf.data[EI_CLASS] = ELFCLASS32;
	assert_int_equal(elf_parse(elf.data, elf.n, "x", &v, &err),
	                 CAIRN_E_FOREIGN);
	bytes_release(&map);
	bytes_release(&elf);
}

static void test_elf_damaged(void **state)
{
	struct bytes map = {0}, elf = {0};
	struct cairn_err err;
	struct elf_view v;

	(void)state;
	synth_sample_map(&map);
	synth_elf(&elf, &map, 0xab);
	for (size_t n = 0; n < elf.n; n++) {
		unsigned char *cut = malloc(n ? n : 1);

		memcpy(cut, elf.data, n);
		assert_true(elf_parse(cut, n, "x", &v, &err) < 0);
		free(cut);
	}
	for (size_t bit = 0; bit < 8 * elf.n; bit++) {
		unsigned char *copy = malloc(elf.n);

		memcpy(copy, elf.data, elf.n);
		copy[bit / 8] ^= (unsigned char)(1u << (bit & 7));
		if (!elf_parse(copy, elf.n, "x", &v, &err) && v.map)
			assert_true(v.map >= copy &&
			            v.map + v.map_size <= copy + elf.n);
		free(copy);
	}
	bytes_release(&map);
	bytes_release(&elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sample),
	        cmocka_unit_test(test_far_sites),
	        cmocka_unit_test(test_far_sites_damaged),
	        cmocka_unit_test(test_paths),
	        cmocka_unit_test(test_paths_senseless),
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_cut_anywhere),
	        cmocka_unit_test(test_flip_anywhere),
	        cmocka_unit_test(test_duplicates),
	        cmocka_unit_test(test_senseless),
	        cmocka_unit_test(test_elf),
	        cmocka_unit_test(test_elf_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
