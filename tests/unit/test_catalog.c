/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of two builds: which are the same, which changed, which are new. */
#include "analysis/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "chains.h"
#include "format/map.h"

static const uint64_t one[4] = {1, 2, 3, 4};

/* One side of a test. */
struct built {
	struct profile *p;
	struct catalog c;
};

static struct built build(const struct chain *chains, size_t n)
{
	struct built b = {.p = chain_profile(0xab, chains, n)};

	catalog_init(&b.c, b.p);
	return b;
}

static void drop(struct built *b)
{
	catalog_release(&b->c);
	profile_free(b->p);
}

static size_t index_of(const struct catalog *c, const char *name,
                       const char *file)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->functions[i].name, name) &&
		    !strcmp(c->functions[i].file, file))
			return i;
	fail_msg("there is no %s in %s", name, file);
	return 0;
}

static void test_numbers(void **state)
{
	const struct chain f = {"f", "/a.c", 0, 1, 2, one, 0, 0};
	struct built b = build(&f, 1);
	const struct path_counts *pc = &b.c.functions[0].pc;
	struct path path = {0};

	(void)state;
	assert_int_equal(b.c.n, 1);
	assert_int_equal(b.c.executions, 10);
	assert_int_equal(b.c.npaths, 4);
	for (int x = 0; x < 2; x++)
		for (int y = 0; y < 2; y++) {
			uint64_t number = chain_path(2, (const int[]){x, y});

			assert_int_equal(
			        paths_decode(&pc->paths, number, &path, NULL),
			        0);
			assert_int_equal(path.nedges, 6);
			assert_int_equal(path_block(&path, pc->g, 2), 2 + x);
			assert_int_equal(path_block(&path, pc->g, 4), 5 + y);
			assert_int_equal(
			        catalog_count(&b.c.functions[0], number),
			        one[number]);
		}
	assert_int_equal(catalog_count(&b.c.functions[0], 4), 0);
	path_release(&path);
	drop(&b);
}

static void test_match(void **state)
{
	const struct chain old[] = {
	        {"same", "/x/a.c", 0, 1, 2, one, 0, 0},
	        {"changed", "/x/a.c", 0, 2, 2, one, 0, 0},
	        {"gone", "/x/a.c", 0, 3, 1, one, 0, 0},
	        {"local", "/x/a.c", CAIRN_FN_LOCAL, 4, 1, one, 0, 0},
	        {"local", "/x/b.c", CAIRN_FN_LOCAL, 4, 1, one, 0, 0},
	        {"twice", "/x/1/t.c", CAIRN_FN_LOCAL, 5, 1, one, 0, 0},
	        {"twice", "/x/2/t.c", CAIRN_FN_LOCAL, 5, 1, one, 0, 0},
	};
	const struct chain now[] = {
	        {"same", "/y/a.c", 0, 1, 2, one, 0, 0},
	        {"changed", "/y/a.c", 0, 2, 1, one, 0, 0},
	        {"new", "/y/a.c", 0, 3, 1, one, 0, 0},
	        {"local", "/y/b.c", CAIRN_FN_LOCAL, 4, 1, one, 0, 0},
	        {"local", "/y/a.c", CAIRN_FN_LOCAL, 4, 1, one, 0, 0},
	        {"twice", "/y/1/t.c", CAIRN_FN_LOCAL, 5, 1, one, 0, 0},
	};
	struct built a = build(old, 7), b = build(now, 6);
	struct catalog_match of_a[7], of_b[6];
	size_t i;

	(void)state;
	assert_int_equal(a.c.n, 7);
	catalog_match(&a.c, &b.c, of_a, of_b);
	i = index_of(&a.c, "same", "/x/a.c");
	assert_int_equal(of_a[i].fate, CATALOG_SAME);
	assert_int_equal(of_a[i].other, index_of(&b.c, "same", "/y/a.c"));
	/* the hash says that it is the same, the edges do not */
	i = index_of(&a.c, "changed", "/x/a.c");
	assert_int_equal(of_a[i].fate, CATALOG_CHANGED);
	assert_int_equal(of_a[i].other, index_of(&b.c, "changed", "/y/a.c"));
	assert_int_equal(of_a[index_of(&a.c, "gone", "/x/a.c")].fate,
	                 CATALOG_ABSENT);
	assert_int_equal(of_b[index_of(&b.c, "new", "/y/a.c")].fate,
	                 CATALOG_ABSENT);
	/* built elsewhere: the last part of the file decides */
	i = index_of(&a.c, "local", "/x/a.c");
	assert_int_equal(of_a[i].fate, CATALOG_SAME);
	assert_int_equal(of_a[i].other, index_of(&b.c, "local", "/y/a.c"));
	i = index_of(&a.c, "local", "/x/b.c");
	assert_int_equal(of_a[i].other, index_of(&b.c, "local", "/y/b.c"));
	/* one of two, nobody knows which: not the same */
	i = index_of(&b.c, "twice", "/y/1/t.c");
	assert_int_not_equal(of_b[i].fate, CATALOG_SAME);
	i = index_of(&a.c, "twice", "/x/1/t.c");
	assert_int_not_equal(of_a[i].fate, CATALOG_SAME);
	drop(&a);
	drop(&b);
}

static void test_copies(void **state)
{
	const uint64_t more[4] = {0, 10, 0, 0};
	const struct chain f[] = {
	        {"f", "/a.c", CAIRN_FN_SHARED, 1, 2, one, 3, 1},
	        {"f", "/a.c", CAIRN_FN_SHARED, 1, 2, more, 2, 1},
	        {"g", "/a.c", 0, 1, 2, NULL, 0, 0},
	};
	struct built b = build(f, 3);
	const struct catalog_function *c = &b.c.functions[0];

	(void)state;
	assert_int_equal(b.c.n, 2);
	assert_int_equal(c->executions, 20);
	assert_int_equal(catalog_count(c, 1), 12);
	assert_int_equal(c->pc.nprefixes, 1);
	assert_int_equal(catalog_died(c, &c->pc.prefixes[0]), 5);
	assert_int_equal(b.c.functions[1].executions, 0);
	drop(&b);
}

static void add_line(void *context, const struct map_line *line)
{
	uint32_t *sum = context;

	*sum = *sum * 100 + line->line / 10;
}

static void test_lines(void **state)
{
	const struct chain f = {"f", "/a.c", 0, 1, 1, one, 1, 0};
	struct built b = build(&f, 1);
	const struct catalog_function *c = &b.c.functions[0];
	struct path path = {0};
	uint32_t sum = 0;

	(void)state;
	assert_int_equal(paths_decode(&c->pc.paths, 1, &path, NULL), 0);
	catalog_lines(c, &path, 0, add_line, &sum);
	/* block 4 has two segments: lines 40 and 41 */
	assert_int_equal(sum, 1030404);
	sum = 0;
	assert_int_equal(c->pc.nprefixes, 1);
	assert_int_equal(paths_decode_prefix(&c->pc.paths,
	                                     c->pc.prefixes[0].sum, 4, &path,
	                                     NULL),
	                 0);
	catalog_lines(c, &path, 1, add_line, &sum);
	assert_int_equal(sum, 10204);
	path_release(&path);
	drop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_numbers),
	        cmocka_unit_test(test_match),
	        cmocka_unit_test(test_copies),
	        cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
