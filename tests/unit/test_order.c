/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which paths were first taken: reading, refusing, writing,
 * checking it, and the numbers that untested paths get from it.
 */
#include "orders.h"

#include "analysis/check.h"
#include "analysis/counts.h"
#include "analysis/first.h"
#include "analysis/residual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const uint64_t counts[] = {0, 4, 1, 2};

static int open_bytes(struct profile **p, struct bytes *b,
                      struct cairn_err *err)
{
	struct synth_dir dir;
	const char *path;
	int rc;

	synth_dir_make(&dir);
	path = synth_path(&dir, "o.cairn");
	synth_save(path, b);
	rc = profile_open(p, &path, 1, NULL, err);
	unlink(path);
	rmdir(dir.path);
	b->n = 0;
	return rc;
}

/* One module, these parts. */
static int open_parts(struct profile **p, const struct order_part *parts,
                      size_t n, struct cairn_err *err)
{
	struct bytes b = {0};
	int rc;

	order_file(&b, &(struct order_profile){.name = "f",
	                                       .counts = {counts},
	                                       .parts = parts,
	                                       .nparts = n});
	rc = open_bytes(p, &b, err);
	bytes_release(&b);
	return rc;
}

static void assert_sample(const struct profile *p)
{
	static const struct order_record expected[] = {
	        {1, 4}, {2, 3}, {1, 2}, {1, 3}};

	assert_true(p->order.is_there);
	assert_int_equal(p->order.n, 4);
	assert_int_equal(p->order.nleft_out, 3);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(p->order.items[i].module,
		                 expected[i].module - 1);
		assert_int_equal(p->order.items[i].key, expected[i].path);
		assert_int_equal(p->order.items[i].owner, CHAIN_BASE);
	}
}

static void test_read(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	order_sample(&b);
	assert_int_equal(open_bytes(&p, &b, &err), 0);
	assert_sample(p);
	profile_free(p);
	bytes_release(&b);
}

static void test_write(void **state)
{
	struct synth_dir dir;
	struct bytes b = {0};
	struct cairn_err err;
	struct profile *p;
	const char *paths[2];
	char *from, *to;

	(void)state;
	synth_dir_make(&dir);
	from = strdup(synth_path(&dir, "a.cairn"));
	to = strdup(synth_path(&dir, "b.cairn"));
	order_sample(&b);
	synth_save(from, &b);
	paths[0] = from;
	paths[1] = to;
	assert_int_equal(profile_open(&p, paths, 1, NULL, &err), 0);
	assert_int_equal(profile_write(p, to, &err), 0);
	profile_free(p);
	assert_int_equal(profile_open(&p, paths + 1, 1, NULL, &err), 0);
	assert_sample(p);
	profile_free(p);
	/* two runs have no order */
	assert_int_equal(profile_open(&p, paths, 2, NULL, &err), 0);
	assert_false(p->order.is_there);
	assert_int_equal(p->order.n, 0);
	profile_free(p);
	unlink(from);
	unlink(to);
	rmdir(dir.path);
	free(from);
	free(to);
	bytes_release(&b);
}

static void test_refuse(void **state)
{
	static const struct order_record good[] = {{1, 2}, {1, 3}, {1, 4}},
	                                 stranger[] = {{2, 2}},
	                                 kind[] = {{0x1001, 2}};
	static const struct {
		struct order_part parts[2];
		size_t n;
		const char *what;
	} cases[] = {
	        {{{0, 3, good, 3}, {2, 0, good, 3}}, 2, "same number"},
	        {{{0, 3, good, 3}, {0, 3, good, 0}}, 2, "impossible numbers"},
	        {{{UINT64_MAX, 3, good, 3}}, 1, "impossible numbers"},
	        {{{0, 1, stranger, 1}}, 1, "no counters of a module"},
	        {{{0, 1, kind, 1}}, 1, "no counters of a module"},
	};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		        open_parts(&p, cases[i].parts, cases[i].n, &err),
		        CAIRN_E_CORRUPT);
		assert_non_null(strstr(err.text, cases[i].what));
	}
}

/* A second part whose first was cut off says nothing. */
static void test_no_begin(void **state)
{
	static const struct order_record records[] = {{1, 2}};
	static const struct order_part part = {251, 0, records, 1};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	assert_int_equal(open_parts(&p, &part, 1, &err), 0);
	assert_false(p->order.is_there);
	assert_int_equal(p->order.n, 0);
	profile_free(p);
	/* and a file without any has none */
	assert_int_equal(open_parts(&p, NULL, 0, &err), 0);
	assert_false(p->order.is_there);
	profile_free(p);
}

/* A payload that is too short for its records. */
static void test_short(void **state)
{
	struct bytes b = {0};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	for (uint64_t n = 0; n < 4; n++) {
		struct bytes whole = {0};

		order_file(&whole, &(struct order_profile){.name = "f",
		                                           .counts = {counts}});
		bytes_put(&b, whole.data, whole.n);
		writer_chunk(&b,
		             &(struct writer_chunk){.type = CAIRN_CHUNK_ORDER,
		                                    .n = n},
		             (const unsigned char[48]){0}, 8 + 8 * n);
		writer_end(&b, &synth_header);
		/* 8 + 8 n bytes have room for no record but at n = 0, where
		 * the head is too short */
		assert_int_equal(open_bytes(&p, &b, &err), CAIRN_E_CORRUPT);
		assert_non_null(strstr(err.text, "too short"));
		bytes_release(&whole);
	}
	bytes_release(&b);
}

static size_t count_findings(struct profile *p, const char *rule)
{
	struct counts *c = counts_new(p);
	struct findings f;
	size_t n = 0;

	check_profile(&f, c);
	for (size_t i = 0; i < f.n; i++)
		n += !strcmp(f.items[i].rule, rule);
	findings_release(&f);
	counts_free(c);
	profile_free(p);
	return n;
}

static void test_check(void **state)
{
	static const struct order_record good[] = {{1, 2}, {1, 3}, {1, 4}},
	                                 bad[] = {{1, 2},
	                                          {1, 3},
	                                          {1, 4},
	                                          {1, 5}};
	const struct order_part whole = {0, 3, good, 3};
	const struct order_part lacking = {0, 2, good, 2};
	const struct order_part full = {0, 3, good, 2};
	const struct order_part empty = {0, 0, good, 0};
	const struct order_part more = {0, 4, bad, 4};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	assert_int_equal(open_parts(&p, &whole, 1, &err), 0);
	assert_int_equal(count_findings(p, "C8"), 0);
	assert_int_equal(open_parts(&p, &lacking, 1, &err), 0);
	assert_int_equal(count_findings(p, "C8"), 1);
	assert_int_equal(open_parts(&p, &empty, 1, &err), 0);
	assert_int_equal(count_findings(p, "C8"), 1);
	assert_int_equal(open_parts(&p, &full, 1, &err), 0);
	assert_int_equal(count_findings(p, "C8"), 0);
	assert_int_equal(open_parts(&p, &more, 1, &err), 0);
	assert_int_equal(count_findings(p, "C8"), 1);
}

static const struct residual_path *find(const struct residual *r,
                                        uint64_t number)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->paths[i].number == number)
			return &r->paths[i];
	fail_msg("path %d is not there", (int)number);
	return NULL;
}

/* Two copies of f: paths 3, 2 (of the other module), 1, in this order.  What
 * was tested since does not count. */
static void test_numbers(void **state)
{
	const uint64_t none[4] = {1, 0, 0, 0}, some[4] = {1, 0, 1, 0};
	const uint64_t *tested[] = {none, some};
	struct bytes b = {0};
	struct cairn_err err;
	struct profile *field;
	struct catalog f;

	(void)state;
	order_sample(&b);
	assert_int_equal(open_bytes(&field, &b, &err), 0);
	catalog_init(&f, field);
	assert_int_equal(f.n, 1);
	assert_true(first_is_known(field));
	for (size_t i = 0; i < 2; i++) {
		struct chain chain = {"f", "/a.c", 0, 1, 2, tested[i], 0, 0};
		struct profile *p = chain_profile(0xcd, &chain, 1);
		struct residual_row row;
		struct residual r;
		struct catalog t;

		catalog_init(&t, p);
		residual_init(&r, &t, &f);
		residual_add_file(&r, &t, &row); /* no order */
		assert_false(row.has_order);
		residual_add_file(&r, &f, &row);
		residual_rank(&r);
		assert_true(row.has_order);
		assert_int_equal(row.nleft_out, 3);
		assert_int_equal(row.nordered, 3 - i);
		assert_int_equal(r.n, 3 - i);
		assert_int_equal(residual_first(find(&r, 3))->number, 1);
		assert_int_equal(residual_first(find(&r, 3))->file, 1);
		assert_int_equal(find(&r, 3)->nfirst, 1);
		if (!i)
			assert_int_equal(residual_first(find(&r, 2))->number,
			                 2);
		assert_int_equal(residual_first(find(&r, 1))->number, 3 - i);
		residual_release(&r);
		catalog_release(&t);
		profile_free(p);
	}
	catalog_release(&f);
	profile_free(field);
	bytes_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_read),    cmocka_unit_test(test_write),
	        cmocka_unit_test(test_refuse),  cmocka_unit_test(test_no_begin),
	        cmocka_unit_test(test_short),   cmocka_unit_test(test_check),
	        cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
