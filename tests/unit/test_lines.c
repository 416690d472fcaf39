/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines and branches: the greatest count within a copy, the sum over copies;
 * and the public interface over the same profile.
 */
#include "synth.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/err.h"
#include "cairn/profile.h"
#include "format/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char path[] = "/tmp/cairn-lines-XXXXXX";

/*
 * f: 0 -> 1 -> {2, 3}, 2 -> 0, 3 -> 0; line 20 is in blocks 1 and 2, and line
 * 40 in an inlined copy (3).  g is the same once more, as another instance of
 * a template would be.
 */
static const struct synth_block blocks[] = {
        {0, 1, 20, 0}, {0, 1, 20, 0}, {0, 1, 40, 1}};
static const struct synth_edge edges[] = {
        {0, 1, CAIRN_EDGE_ENTRY, 0},  {1, 2, CAIRN_EDGE_TRUE, 0},
        {1, 3, CAIRN_EDGE_FALSE, 0},  {2, 0, CAIRN_EDGE_RETURN, 1},
        {3, 0, CAIRN_EDGE_RETURN, 2},
};
static const char *const instances[] = {"helper"};

static void make(struct bytes *out)
{
	const uint64_t counts[4] = {7, 3, 100, 0};
	struct synth_function f = {
	        .name = "f",
	        .file = "/src/t.h",
	        .line = 19,
	        .address = 0x1000,
	        .counters = 0x100,
	        .ncounters = 2,
	        .instances = instances,
	        .ninstances = 1,
	        .blocks = blocks,
	        .nblocks = 4,
	        .edges = edges,
	        .nedges = 5,
	};
	struct bytes map = {0};

	synth_record(&map, &f);
	f.name = "g";
	f.address = 0x2000;
	f.counters = 0x110;
	synth_record(&map, &f);
	writer_begin(out);
	synth_program(out, "/bin/t");
	synth_module(out, 1, "/bin/t", 1, 0x100, 4);
	synth_counts(out, 1, 1, counts, 4);
	synth_map_chunk(out, 1, &map);
	writer_end(out, &synth_header);
	bytes_release(&map);
}

static int setup(void **state)
{
	struct bytes b = {0};
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	make(&b);
	synth_save(path, &b);
	bytes_release(&b);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static void test_lines(void **state)
{
	const char *paths[] = {path};
	struct cairn_err err;
	struct profile *p;
	struct counts *c;
	struct lines *l;

	(void)state;
	assert_int_equal(profile_open(&p, paths, 1, NULL, &err), 0);
	c = counts_new(p);
	l = lines_new(c);
	assert_int_equal(l->n, 2);
	/* block 1 of f ran 10 times, of g 100 times */
	assert_int_equal(lines_find(l, "/src/t.h", 20)->count, 110);
	assert_int_equal(lines_find(l, "/src/t.h", 40)->count, 3);
	assert_null(lines_find(l, "/src/t.h", 21));
	assert_null(lines_find(l, "/src/u.h", 20));
	lines_free(l);
	counts_free(c);
	profile_free(p);
}

static void test_branches(void **state)
{
	const char *paths[] = {path};
	struct cairn_err err;
	struct profile *p;
	struct counts *c;
	struct lines *l;

	(void)state;
	assert_int_equal(profile_open(&p, paths, 1, NULL, &err), 0);
	c = counts_new(p);
	l = lines_new(c);
	assert_int_equal(l->nbranches, 2);
	assert_int_equal(l->branches[0].line, 20);
	assert_int_equal(l->branches[0].taken, 107);
	assert_int_equal(l->branches[1].taken, 3);
	assert_true(l->branches[1].reached);
	lines_free(l);
	counts_free(c);
	profile_free(p);
}

static void test_public(void **state)
{
	const char *paths[] = {path}, *none[] = {"/nowhere.cairn"};
	struct cairn_function f = {.size = sizeof(f)};
	struct cairn_block b = {.size = sizeof(b)};
	struct cairn_edge e = {.size = sizeof(e)};
	struct cairn_line l = {.size = sizeof(l)};
	struct cairn_profile *p;
	char message[200];

	(void)state;
	assert_null(cairn_profile_open(none, 1, message, sizeof(message)));
	assert_non_null(strstr(message, "/nowhere.cairn"));
	p = cairn_profile_open(paths, 1, message, sizeof(message));
	assert_non_null(p);
	assert_null(cairn_profile_note(p));
	assert_int_equal(cairn_profile_nfunctions(p), 2);
	assert_true(cairn_profile_function(p, 1, &f));
	assert_string_equal(f.name, "g");
	assert_int_equal(f.entries, 100);
	assert_int_equal(f.nblocks, 4);
	assert_false(cairn_profile_function(p, 2, &f));
	assert_true(cairn_profile_block(p, 0, 1, &b));
	assert_int_equal(b.count, 10);
	assert_int_equal(b.line, 20);
	assert_false(cairn_profile_block(p, 0, 4, &b));
	assert_true(cairn_profile_edge(p, 0, 1, &e));
	assert_int_equal(e.count, 7);
	assert_int_equal(e.target, 2);
	assert_int_equal(cairn_profile_nlines(p), 2);
	assert_true(cairn_profile_line(p, 0, &l));
	assert_int_equal(l.count, 110);
	assert_false(cairn_profile_line(p, 2, &l));
	cairn_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_lines),
	        cmocka_unit_test(test_branches),
	        cmocka_unit_test(test_public),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
