/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container: what was written is read back; a file cut at any byte or with
 * any bit flipped is refused with a sentence, or reads as it was.
 */
#include "synth.h"

#include "base/err.h"
#include "format/container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int parse(struct container *c, const struct bytes *b,
                 enum container_mode mode, struct cairn_err *err)
{
	/* a copy of the exact size: the sanitizer sees any read beyond it */
	unsigned char *copy = malloc(b->n ? b->n : 1);
	int rc;

	if (b->n)
		memcpy(copy, b->data, b->n);
	*err = (struct cairn_err){0};
	rc = container_parse(c, "sample.cairn", copy, b->n, mode, err);
	if (rc)
		free(copy);
	else
		c->live = copy; /* freed with it */
	return rc;
}

static void test_round_trip(void **state)
{
	struct bytes file = {0};
	struct container c;
	struct cairn_err err;

	(void)state;
	synth_sample(&file, 30, 10, 1);
	assert_int_equal(parse(&c, &file, CONTAINER_WHOLE, &err), 0);
	assert_int_equal(c.nchunks, 5);
	assert_int_equal(c.pid, 4711);
	assert_int_equal(c.nruns, 1);
	assert_int_equal(c.start, 1000);
	assert_int_equal(c.end, 2000);
	assert_int_equal(c.how, CAIRN_HOW_EXIT);
	assert_int_equal(c.state, CAIRN_STATE_CLOSED);
	assert_int_equal(c.chunks[2].type, CAIRN_CHUNK_COUNTS);
	assert_int_equal(c.chunks[2].n, 2);
	assert_int_equal(get_le64(c.chunks[2].payload), 30);
	assert_false(c.truncated);
	container_release(&c);
	bytes_release(&file);
}

static void test_cut_anywhere(void **state)
{
	struct bytes file = {0};
	struct container c;
	struct cairn_err err;

	(void)state;
	synth_sample(&file, 30, 10, 1);
	for (size_t n = 0; n < file.n; n++) {
		struct bytes cut = {file.data, n, n};

		assert_int_equal(parse(&c, &cut, CONTAINER_WHOLE, &err),
		                 CAIRN_E_CORRUPT);
		assert_non_null(strstr(err.text, "sample.cairn: "));
		assert_non_null(strstr(err.text, "truncated"));
		assert_non_null(strstr(err.text, "; "));
	}
	bytes_release(&file);
}

/* What a cut file gives in partial mode is a prefix of the chunks. */
static void test_cut_partial(void **state)
{
	struct bytes file = {0};
	struct container whole, c;
	struct cairn_err err;

	(void)state;
	synth_sample(&file, 30, 10, 1);
	assert_int_equal(parse(&whole, &file, CONTAINER_WHOLE, &err), 0);
	for (size_t n = CAIRN_FILE_HEADER_SIZE; n < file.n; n++) {
		struct bytes cut = {file.data, n, n};
		size_t want = 0;

		while (whole.chunks[want].offset + CAIRN_CHUNK_HEADER_SIZE +
		               whole.chunks[want].size <=
		       n)
			want++;
		if (parse(&c, &cut, CONTAINER_PARTIAL, &err)) {
			fail_msg("%zu: %s", n, err.text);
			continue;
		}
		assert_true(c.truncated);
		assert_int_equal(c.nchunks, want);
		assert_int_equal(c.cut, whole.chunks[want].offset);
		container_release(&c);
	}
	container_release(&whole);
	bytes_release(&file);
}

static bool same_chunks(const struct container *a, const struct container *b)
{
	if (a->nchunks != b->nchunks)
		return false;
	for (size_t i = 0; i < a->nchunks; i++) {
		const struct chunk *x = &a->chunks[i], *y = &b->chunks[i];

		if (x->type != y->type || x->id != y->id ||
		    x->module != y->module || x->n != y->n ||
		    x->aux0 != y->aux0 || x->size != y->size ||
		    memcmp(x->payload, y->payload, (size_t)x->size))
			return false;
	}
	return true;
}

/* Flips every bit, with counts as the runtime leaves them: live and sealed. */
static void test_flip_anywhere(void **state)
{
	struct bytes file = {0};
	struct container whole, c;
	struct cairn_err err;
	size_t found = 0, harmless = 0;

	(void)state;
	synth_sample(&file, 30, 10, 1);
	assert_int_equal(parse(&whole, &file, CONTAINER_WHOLE, &err), 0);
	put_le32(file.data + whole.chunks[2].offset + CAIRN_CHK_FLAGS,
	         CAIRN_CHUNK_LIVE | CAIRN_CHUNK_SEALED);
	for (size_t bit = 0; bit < 8 * file.n; bit++) {
		unsigned char mask = (unsigned char)(1u << (bit & 7));

		file.data[bit / 8] ^= mask;
		if (parse(&c, &file, CONTAINER_WHOLE, &err)) {
			assert_non_null(strstr(err.text, "sample.cairn: "));
			found++;
		} else {
			if (!same_chunks(&whole, &c))
				fail_msg("bit %zu changed data", bit);
			container_release(&c);
			harmless++;
		}
		file.data[bit / 8] ^= mask;
	}
	/* all but the unused rest of the header page is protected */
	assert_true(harmless <=
	            8 * (CAIRN_FILE_HEADER_SIZE - 192) + 5 * 34 + 1);
	assert_true(found > 8 * (file.n - CAIRN_FILE_HEADER_SIZE) - 5 * 34);
	container_release(&whole);
	bytes_release(&file);
}

static void expect(const struct bytes *file, int code, const char *word)
{
	struct container c;
	struct cairn_err err;
	int rc = parse(&c, file, CONTAINER_WHOLE, &err);

	assert_int_equal(rc, code);
	if (rc)
		assert_non_null(strstr(err.text, word));
	else
		container_release(&c);
}

static void test_foreign(void **state)
{
	struct bytes b = {0};
	static const char text[] = "#!/bin/sh\necho no profile at all\n";

	(void)state;
	expect(&b, CAIRN_E_CORRUPT, "empty");
	bytes_put(&b, text, sizeof(text));
	expect(&b, CAIRN_E_FOREIGN, "not a .cairn file");
	bytes_release(&b);
}

static void test_future(void **state)
{
	struct bytes b = {0};

	(void)state;
	synth_sample(&b, 1, 1, 0);
	put_le32(b.data + CAIRN_HDR_VERSION, CAIRN_FILE_VERSION + 1);
	expect(&b, CAIRN_E_VERSION, "format version 3");
	put_le32(b.data + CAIRN_HDR_VERSION, CAIRN_FILE_VERSION);
	put_le32(b.data + CAIRN_HDR_KIND, 77);
	put_le32(b.data + CAIRN_HDR_CRC, crc32c(0, b.data, CAIRN_HDR_CRC));
	expect(&b, CAIRN_E_VERSION, "kind 77");
	bytes_release(&b);
}

static void begin(struct bytes *b)
{
	writer_begin(b);
	synth_program(b, "/bin/x");
	synth_module(b, 1, "/bin/x", 1, 0x100, 2);
}

static void test_unknown_chunks(void **state)
{
	struct writer_chunk k = {.type = 99};
	struct bytes b = {0};

	(void)state;
	begin(&b);
	writer_chunk(&b, &k, "later", 5);
	writer_end(&b, &synth_header);
	expect(&b, CAIRN_E_VERSION, "type 99");
	begin(&b);
	k.type |= CAIRN_CHUNK_OPTIONAL;
	writer_chunk(&b, &k, "later", 5);
	writer_end(&b, &synth_header);
	expect(&b, 0, "");
	bytes_release(&b);
}

static void test_relations(void **state)
{
	const uint64_t counts[3] = {1, 2, 3};
	struct bytes b = {0};

	(void)state;
	begin(&b);
	synth_module(&b, 1, "/bin/y", 2, 0x100, 2);
	writer_end(&b, &synth_header);
	expect(&b, CAIRN_E_CORRUPT, "once more");
	begin(&b);
	synth_counts(&b, 1, 1, counts, 2);
	synth_counts(&b, 2, 1, counts, 2);
	writer_end(&b, &synth_header);
	expect(&b, 0, "");
	synth_counts(&b, 1, 1, counts, 2);
	writer_end(&b, &synth_header);
	expect(&b, CAIRN_E_CORRUPT, "once more");
	begin(&b);
	synth_counts(&b, 1, 2, counts, 2);
	writer_end(&b, &synth_header);
	expect(&b, CAIRN_E_CORRUPT, "module 2");
	begin(&b);
	synth_counts(&b, 1, 1, counts, 3);
	writer_end(&b, &synth_header);
	expect(&b, CAIRN_E_CORRUPT, "another number of counters");
	begin(&b);
	writer_chunk(&b,
	             &(struct writer_chunk){
	                     .type = CAIRN_CHUNK_COUNTS, .module = 1, .n = 2},
	             counts, 8);
	writer_end(&b, &synth_header);
	expect(&b, CAIRN_E_CORRUPT, "too short");
	bytes_release(&b);
}

/* The checksum by table is that of the standard, and the other the same. */
static void test_checksum(void **state)
{
	unsigned char bytes[300];

	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283u);
	assert_int_equal(
	        ~crc32c_by_table(~0u, (const unsigned char *)"123456789", 9),
	        0xe3069283u);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * i + 7 * i);
	for (size_t i = 0; i < 16; i++)
		for (size_t n = 0; n < sizeof(bytes) - 16; n++)
			assert_int_equal(
			        crc32c((uint32_t)n, bytes + i, n),
			        ~crc32c_by_table(~(uint32_t)n, bytes + i, n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_round_trip),
	        cmocka_unit_test(test_cut_anywhere),
	        cmocka_unit_test(test_cut_partial),
	        cmocka_unit_test(test_flip_anywhere),
	        cmocka_unit_test(test_foreign),
	        cmocka_unit_test(test_future),
	        cmocka_unit_test(test_unknown_chunks),
	        cmocka_unit_test(test_relations),
	        cmocka_unit_test(test_checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
