/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: finding maps, summing threads and runs, refusing other builds,
 * writing merged files.
 */
#include "synth.h"

#include "analysis/check.h"
#include "analysis/counts.h"
#include "analysis/feedback.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

static struct synth_dir dir;

/* Writes a sample and returns its path (allocated). */
static char *sample(const char *name, uint64_t back, uint64_t ret,
                    uint64_t died)
{
	char *path = strdup(synth_path(&dir, name));
	struct bytes b = {0};

	synth_sample(&b, back, ret, died);
	synth_save(path, &b);
	bytes_release(&b);
	return path;
}

/* A profile without the map inside; its executable is `exe`. */
static char *bare(const char *name, const char *exe, unsigned char id)
{
	const uint64_t counts[SAMPLE_NCOUNTERS] = {5, 1};
	char *path = strdup(synth_path(&dir, name));
	struct bytes b = {0};

	writer_begin(&b);
	synth_program(&b, exe);
	synth_module(&b, 1, exe, id, SAMPLE_BASE, SAMPLE_NCOUNTERS);
	synth_counts(&b, 1, 1, counts, SAMPLE_NCOUNTERS);
	writer_end(&b, &synth_header);
	synth_save(path, &b);
	bytes_release(&b);
	return path;
}

static void make_exe(const char *path, unsigned char id, bool with_map)
{
	struct bytes map = {0}, elf = {0};

	synth_sample_map(&map);
	synth_elf(&elf, with_map ? &map : NULL, id);
	synth_save(path, &elf);
	bytes_release(&map);
	bytes_release(&elf);
}

static int open1(struct profile **p, const char *path,
                 const struct profile_options *o, struct cairn_err *err)
{
	return profile_open(p, &path, 1, o, err);
}

static void test_open(void **state)
{
	char *path = sample("a.cairn", 30, 10, 2);
	struct cairn_err err;
	struct profile *p;

	(void)state;
	assert_int_equal(open1(&p, path, NULL, &err), 0);
	assert_string_equal(p->program, "/bin/sample");
	assert_int_equal(p->nmodules, 1);
	assert_int_equal(profile_count(&p->modules[0], 0), 30);
	assert_int_equal(p->nframes, 1);
	assert_int_equal(p->frames[0].count, 2);
	assert_int_equal(p->frames[0].pc, SAMPLE_SITE_PC);
	assert_false(profile_is_open(p));
	profile_free(p);
	free(path);
}

static void test_maps(void **state)
{
	char *exe = strdup(synth_path(&dir, "exe"));
	char *path = bare("bare.cairn", exe, 7);
	const char *dirs[] = {dir.path};
	struct profile_options in_dir = {.exes = dirs, .nexes = 1};
	struct profile_options skip = {.skip_missing = true};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	assert_int_equal(open1(&p, path, NULL, &err), CAIRN_E_ABSENT);
	assert_non_null(strstr(err.text, "not there any more"));
	assert_non_null(strstr(err.text, "--exe"));
	make_exe(exe, 8, true);
	assert_int_equal(open1(&p, path, NULL, &err), CAIRN_E_ABSENT);
	assert_non_null(strstr(err.text, "another build"));
	make_exe(exe, 7, false);
	assert_int_equal(open1(&p, path, NULL, &err), CAIRN_E_ABSENT);
	assert_non_null(strstr(err.text, "stripped"));
	assert_int_equal(open1(&p, path, &skip, &err), 0);
	assert_non_null(p->modules[0].missing);
	profile_free(p);
	make_exe(exe, 7, true);
	assert_int_equal(open1(&p, path, NULL, &err), 0);
	profile_free(p);
	free(path);
	path = bare("moved.cairn", "/nowhere/exe", 7);
	assert_int_equal(open1(&p, path, NULL, &err), CAIRN_E_ABSENT);
	assert_int_equal(open1(&p, path, &in_dir, &err), 0);
	assert_int_equal(p->modules[0].map->nfunctions, 2);
	profile_free(p);
	free(path);
	free(exe);
}

static void test_merge(void **state)
{
	char *paths[2] = {sample("a.cairn", 30, 10, 2),
	                  sample("b.cairn", 5, 1, UINT64_MAX)};
	char *out = strdup(synth_path(&dir, "sum.cairn"));
	struct cairn_err err;
	struct profile *p;

	(void)state;
	assert_int_equal(
	        profile_open(&p, (const char *const *)paths, 2, NULL, &err), 0);
	assert_int_equal(profile_count(&p->modules[0], 0), 35);
	assert_int_equal(p->frames[0].count, 1);
	assert_int_equal(profile_write(p, out, &err), 0);
	profile_free(p);
	assert_int_equal(open1(&p, out, NULL, &err), 0);
	assert_int_equal(profile_count(&p->modules[0], 0), 35);
	assert_int_equal(profile_count(&p->modules[0], 1), 11);
	assert_int_equal(p->nframes, 1);
	assert_int_equal(p->frames[0].count, 1);
	assert_int_equal(profile_nruns(p), 2);
	assert_int_equal(p->files[0].how, CAIRN_HOW_MERGED);
	assert_non_null(p->modules[0].map);
	assert_false(profile_is_open(p));
	profile_free(p);
	free(paths[0]);
	free(paths[1]);
	free(out);
}

static void test_merge_is_repeatable(void **state)
{
	char *path = sample("a.cairn", 30, 10, 2);
	const char *outs[2] = {"one.cairn", "two.cairn"};
	unsigned char data[2][8192];
	size_t n[2];
	struct cairn_err err;
	struct profile *p;

	(void)state;
	for (int i = 0; i < 2; i++) {
		FILE *f;

		assert_int_equal(open1(&p, path, NULL, &err), 0);
		assert_int_equal(
		        profile_write(p, synth_path(&dir, outs[i]), &err), 0);
		profile_free(p);
		f = fopen(synth_path(&dir, outs[i]), "rb");
		assert_non_null(f);
		n[i] = fread(data[i], 1, sizeof(data[i]), f);
		fclose(f);
	}
	assert_int_equal(n[0], n[1]);
	assert_memory_equal(data[0], data[1], n[0]);
	free(path);
}

static void test_killed_stays_killed(void **state)
{
	char *path = strdup(synth_path(&dir, "killed.cairn"));
	char *out = strdup(synth_path(&dir, "packed.cairn"));
	struct bytes b = {0};
	struct cairn_err err;
	struct profile *p;
	struct counts *c;

	(void)state;
	synth_sample(&b, 30, 10, 0);
	synth_kill(&b);
	synth_save(path, &b);
	bytes_release(&b);
	assert_int_equal(open1(&p, path, NULL, &err), 0);
	assert_true(profile_is_open(p));
	assert_int_equal(profile_write(p, out, &err), 0);
	profile_free(p);
	assert_int_equal(open1(&p, out, NULL, &err), 0);
	assert_true(profile_is_open(p));
	c = counts_new(p);
	assert_int_equal(c->doubt, COUNTS_OPEN);
	assert_int_equal(c->modules[0].functions[0].doubt, COUNTS_OPEN);
	counts_free(c);
	profile_free(p);
	free(path);
	free(out);
}

static void test_other_build(void **state)
{
	char *exe = strdup(synth_path(&dir, "exe"));
	char *paths[2];
	struct cairn_err err;
	struct profile *p;

	(void)state;
	make_exe(exe, 7, true);
	paths[0] = bare("one.cairn", exe, 7);
	paths[1] = bare("two.cairn", exe, 9);
	assert_int_equal(
	        profile_open(&p, (const char *const *)paths, 2, NULL, &err),
	        CAIRN_E_MISMATCH);
	assert_non_null(strstr(err.text, "one.cairn"));
	assert_non_null(strstr(err.text, "two.cairn"));
	assert_non_null(strstr(err.text, exe));
	assert_non_null(strstr(err.text, "0707"));
	assert_non_null(strstr(err.text, "0909"));
	free(paths[1]);
	paths[1] = sample("other.cairn", 1, 1, 0);
	assert_int_equal(
	        profile_open(&p, (const char *const *)paths, 2, NULL, &err),
	        CAIRN_E_MISMATCH);
	assert_non_null(strstr(err.text, "/bin/sample"));
	free(paths[0]);
	free(paths[1]);
	free(exe);
}

static void test_unwritable(void **state)
{
	char *path = sample("a.cairn", 30, 10, 2);
	struct cairn_err err;
	struct profile *p;

	(void)state;
	assert_int_equal(open1(&p, path, NULL, &err), 0);
	assert_int_equal(
	        profile_write(p, synth_path(&dir, "no/such/dir"), &err),
	        CAIRN_E_SYSTEM);
	assert_non_null(strstr(err.text, "no/such/dir: cannot write"));
	profile_free(p);
	free(path);
}

static bool is_link(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return S_ISLNK(st.st_mode);
}

/* A link stays a link; the file behind it gets the bytes, keeps its mode. */
static void test_write_through_links(void **state)
{
	char *file = strdup(synth_path(&dir, "behind"));
	char *link1 = strdup(synth_path(&dir, "link1"));
	char *link2 = strdup(synth_path(&dir, "link2"));
	struct cairn_err err;
	struct stat st;

	(void)state;
	assert_int_equal(symlink("behind", link1), 0);
	assert_int_equal(symlink(link1, link2), 0);
	assert_int_equal(writer_replace(link2, "ab", 2, &err), 0);
	assert_int_equal(chmod(file, 0640), 0);
	assert_int_equal(writer_replace(link1, "abc", 3, &err), 0);
	assert_true(is_link(link1) && is_link(link2) && !is_link(file));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(unlink(link1), 0);
	assert_int_equal(symlink("link1", link1), 0);
	assert_int_equal(writer_replace(link2, "ab", 2, &err), CAIRN_E_SYSTEM);
	assert_true(is_link(link1) && is_link(link2));
	free(file);
	free(link1);
	free(link2);
}

/* Serials are those of threads that were there at the same time. */
static void test_threads(void **state)
{
	const uint64_t counts[SAMPLE_NCOUNTERS] = {5, 1};
	static const struct {
		uint32_t serials[3], flags, want;
	} cases[] = {
	        {{1, 2, 3}, 0, 3},
	        {{7, 0, 0}, 0, 1},
	        {{1, 2, 3}, CAIRN_FILE_TRUNCATED, 0},
	        {{0, 0, 0}, 0, 0},
	};
	char *exe = strdup(synth_path(&dir, "exe"));
	char *path = strdup(synth_path(&dir, "threads.cairn"));
	struct cairn_err err;
	struct profile *p;

	(void)state;
	make_exe(exe, 7, true);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct writer_header h = synth_header;
		struct bytes b = {0};

		h.flags = cases[i].flags;
		writer_begin(&b);
		synth_program(&b, exe);
		synth_module(&b, 1, exe, 7, SAMPLE_BASE, SAMPLE_NCOUNTERS);
		for (int k = 0; k < 3; k++)
			if (!k || cases[i].serials[k])
				synth_counts(&b, cases[i].serials[k], 1, counts,
				             SAMPLE_NCOUNTERS);
		writer_end(&b, &h);
		synth_save(path, &b);
		bytes_release(&b);
		assert_int_equal(open1(&p, path, NULL, &err), 0);
		assert_int_equal(p->files[0].threads_at_once, cases[i].want);
		assert_int_equal(profile_write(p, path, &err), 0);
		profile_free(p);
		assert_int_equal(open1(&p, path, NULL, &err), 0);
		assert_int_equal(p->files[0].threads_at_once, 0);
		profile_free(p);
	}
	free(path);
	free(exe);
}

/* Cut anywhere: what is whole has counts, or the file is refused. */
static void test_partial(void **state)
{
	const struct profile_options o = {.partial = true,
	                                  .skip_missing = true};
	char *path = strdup(synth_path(&dir, "cut.cairn"));
	size_t nread = 0, nrefused = 0;
	struct bytes b = {0};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	synth_sample(&b, 30, 10, 2);
	for (size_t n = 0; n < b.n; n += 8) {
		struct bytes cut = {b.data, n, n};
		int rc;

		synth_save(path, &cut);
		rc = open1(&p, path, &o, &err);
		if (rc) {
			assert_int_equal(rc, CAIRN_E_CORRUPT);
			assert_non_null(strstr(err.text, "truncated"));
			assert_null(strstr(err.text, "--partial"));
			nrefused++;
			continue;
		}
		assert_int_equal(profile_count(&p->modules[0], 0), 30);
		assert_int_equal(p->files[0].threads_at_once, 0);
		assert_true(profile_is_incomplete(p));
		profile_free(p);
		nread++;
	}
	assert_true(nread > 0 && nrefused > 0);
	bytes_release(&b);
	free(path);
}

static void test_counters_outside(void **state)
{
	char *exe = strdup(synth_path(&dir, "exe"));
	char *path = strdup(synth_path(&dir, "short.cairn"));
	struct bytes b = {0};
	struct cairn_err err;
	struct profile *p;

	(void)state;
	make_exe(exe, 7, true);
	writer_begin(&b);
	synth_program(&b, exe);
	synth_module(&b, 1, exe, 7, SAMPLE_BASE, 1);
	writer_end(&b, &synth_header);
	synth_save(path, &b);
	bytes_release(&b);
	assert_int_equal(open1(&p, path, NULL, &err), CAIRN_E_CORRUPT);
	assert_non_null(strstr(err.text, "main"));
	free(path);
	free(exe);
}

static void test_feedback(void **state)
{
	char *path = sample("a.cairn", 30, 10, 2);
	static const uint64_t want[] = {12, 12, 32, 30, 10, 10};
	const uint64_t *edges;
	struct feedback *f;
	struct cairn_err err;
	uint32_t n;

	(void)state;
	assert_int_equal(feedback_open(path, &f, &err), 0);
	edges = feedback_edges(f, "main", "/src/sample.c", 0x1234, &n);
	assert_non_null(edges);
	assert_int_equal(n, 6);
	assert_memory_equal(edges, want, sizeof(want));
	assert_null(feedback_edges(f, "main", NULL, 0x1235, &n));
	assert_null(feedback_edges(f, "niam", NULL, 0x1234, &n));
	assert_null(feedback_edges(f, "bare", NULL, 0, &n));
	assert_true(feedback_knows(f, "main", NULL));
	assert_true(feedback_knows(f, "main", "/src/sample.c"));
	assert_false(feedback_knows(f, "niam", NULL));
	assert_false(feedback_knows(f, "mai", "/src/sample.c"));
	assert_false(feedback_doubts(f, "main", NULL, 0x1234));
	assert_false(feedback_doubts(f, "main", NULL, 0x1235));
	feedback_free(f);
	free(path);
	/* more frames came back than went: its counts are worth nothing */
	path = sample("a.cairn", 30, 10, (uint64_t)-50);
	assert_int_equal(feedback_open(path, &f, &err), 0);
	assert_null(feedback_edges(f, "main", NULL, 0x1234, &n));
	assert_true(feedback_knows(f, "main", NULL));
	assert_true(feedback_doubts(f, "main", NULL, 0x1234));
	assert_false(feedback_doubts(f, "main", NULL, 0x1235));
	feedback_free(f);
	/* it was marked after optimization */
	assert_int_equal(feedback_open_source(path, &f, &err), 0);
	assert_false(feedback_knows(f, "main", NULL));
	feedback_free(f);
	free(path);
}

struct blocks {
	uint64_t counts[8];
	bool entry[8];
	unsigned n;
};

static void note_block(void *context, uint64_t count, bool is_entry)
{
	struct blocks *b = context;

	assert_true(b->n < 8);
	b->entry[b->n] = is_entry;
	b->counts[b->n++] = count;
}

/* Blocks have what flows into them. */
static void test_feedback_blocks(void **state)
{
	char *path = sample("a.cairn", 30, 10, 2);
	struct blocks b = {.n = 0};
	struct feedback *f;
	struct cairn_err err;

	(void)state;
	assert_int_equal(feedback_open(path, &f, &err), 0);
	feedback_each_block(f, note_block, &b);
	assert_int_equal(b.counts[0], 12);
	assert_true(b.entry[0]);
	for (unsigned i = 1; i < b.n; i++)
		assert_false(b.entry[i]);
	feedback_free(f);
	free(path);
}

static size_t count_findings(const char *path, const char *rule)
{
	struct findings found;
	struct cairn_err err;
	struct profile *p;
	struct counts *c;
	size_t n = 0;

	assert_int_equal(open1(&p, path, NULL, &err), 0);
	c = counts_new(p);
	check_profile(&found, c);
	for (size_t i = 0; i < found.n; i++)
		n += !rule || !strcmp(found.items[i].rule, rule);
	findings_release(&found);
	counts_free(c);
	profile_free(p);
	return n;
}

static void test_check(void **state)
{
	char *path = sample("a.cairn", 30, 10, 2);

	(void)state;
	assert_int_equal(count_findings(path, NULL), 0);
	free(path);
	/* more frames came back than went */
	path = sample("a.cairn", 30, 10, (uint64_t)-50);
	assert_int_equal(count_findings(path, "C2"), 1);
	free(path);
}

/* A profile of the paths sample whose PATHS chunk has these words. */
static char *paths_file(const uint64_t *words, size_t n, uint64_t bytes,
                        const uint64_t (*frames)[3], uint64_t nframes,
                        bool killed)
{
	const uint64_t counts[PATHS_NCOUNTERS] = {0};
	char *path = strdup(synth_path(&dir, "tables.cairn"));
	struct bytes b = {0}, map = {0}, tables = {0};

	for (size_t i = 0; i < n; i++)
		bytes_put_u64(&tables, words[i]);
	tables.n = bytes;
	synth_paths_map(&map);
	writer_begin(&b);
	synth_program(&b, "/bin/paths");
	synth_module_at(&b, 1, "/bin/paths", 0xcc, PATHS_BASE, PATHS_NCOUNTERS,
	                0x1000);
	synth_counts(&b, 1, 1, counts, PATHS_NCOUNTERS);
	synth_paths_chunk(&b, 1, 1, &tables);
	synth_slots(&b, 1, frames, nframes);
	synth_map_chunk(&b, 1, &map);
	writer_end(&b, &synth_header);
	if (killed)
		synth_kill(&b);
	synth_save(path, &b);
	bytes_release(&b);
	bytes_release(&map);
	bytes_release(&tables);
	return path;
}

static struct profile *open_paths(const uint64_t *words, size_t n,
                                  uint64_t bytes, struct cairn_err *err)
{
	char *path = paths_file(words, n, bytes, NULL, 0, false);
	struct profile *p;

	profile_open(&p, (const char *const *)&path, 1, NULL, err);
	free(path);
	return p;
}

/* What tables may look like, and what they may not. */
static void test_tables(void **state)
{
	/* three slots, a key without a count; then a table not yet there */
	const uint64_t fine[] = {PATHS_SCAN, 3, 9, 9, 5,  2, 3,
	                         0,          1, 4, 0, 77, 1, 1};
	uint64_t bad[10];
	static const struct {
		size_t at;
		uint64_t value;
		const char *word;
	} damage[] = {
	        {1, 4, "longer than its chunk"},
	        {1, UINT64_MAX, "longer than its chunk"},
	        {1, (uint64_t)1 << 60, "longer than its chunk"},
	        {1, 2, "longer than its chunk"}, /* then the rest is a head */
	        {0, PATHS_BASE - 8, "no counters of its module"},
	        {0, PATHS_SCAN + 4, "no counters of its module"},
	        {0, PATHS_PICK + 16, "no counters of its module"},
	        {0, PATHS_BASE + 56, "no counters of its module"},
	        {0, UINT64_MAX - 7, "no counters of its module"},
	        {0, PATHS_BASE, "no function of its map has a table"},
	};
	struct cairn_err err;
	struct profile *p = open_paths(fine, 14, 112, &err);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->modules[0].npaths, 2);
	assert_int_equal(p->modules[0].paths[0].owner, PATHS_SCAN);
	assert_int_equal(p->modules[0].paths[0].key, 1);
	assert_int_equal(p->modules[0].paths[0].count, 4);
	assert_int_equal(p->modules[0].paths[1].key, 5);
	profile_free(p);
	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		memcpy(bad, fine, sizeof(bad));
		bad[damage[i].at] = damage[i].value;
		assert_null(open_paths(bad, 10, 80, &err));
		assert_non_null(strstr(err.text, damage[i].word));
	}
	/* cut anywhere but at its end, or before */
	for (uint64_t n = 1; n < 80; n++)
		assert_null(open_paths(fine, 14, n, &err));
	for (uint64_t n = 80; n <= 112; n += 8) {
		p = open_paths(fine, 14, n, &err);
		assert_non_null(p);
		profile_free(p);
	}
}

/* Registers only where the map wants them, and without the bias. */
static void test_registers(void **state)
{
	const uint64_t frames[][3] = {
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_PICK_PC),
	         1 + PATHS_PICK + 0x1000, 1},
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_SCAN_PC), 1 + 5, 2},
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_SCAN_PC), 1 + 2, 1},
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_SCAN_PC), 1 + 5, 1},
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_SCAN_PC), 1 + 9, 0},
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_LAST_PC), 1 + 5, 1},
	        {synth_key(CAIRN_FRAME_OUT_ASYNC, 1, PATHS_SCAN_PC), 7, 1},
	};
	static const struct profile_frame expected[] = {
	        {0, CAIRN_FRAME_OUT, PATHS_SCAN_PC, true, 2, 1},
	        {0, CAIRN_FRAME_OUT, PATHS_SCAN_PC, true, 5, 3},
	        {0, CAIRN_FRAME_OUT_ASYNC, PATHS_SCAN_PC, false, 0, 1},
	        {0, CAIRN_FRAME_OUT, PATHS_LAST_PC, false, 0, 1},
	        {0, CAIRN_FRAME_OUT, PATHS_PICK_PC, true, PATHS_PICK, 1},
	};
	char *path = paths_file(NULL, 0, 0, frames, 7, false);
	struct cairn_err err;
	struct profile *p;

	(void)state;
	assert_int_equal(
	        profile_open(&p, (const char *const *)&path, 1, NULL, &err), 0);
	assert_int_equal(p->nframes, 5);
	for (size_t i = 0; i < p->nframes; i++) {
		assert_int_equal(p->frames[i].kind, expected[i].kind);
		assert_int_equal(p->frames[i].pc, expected[i].pc);
		assert_int_equal(p->frames[i].has_reg, expected[i].has_reg);
		assert_int_equal(p->frames[i].reg, expected[i].reg);
		assert_int_equal(p->frames[i].count, expected[i].count);
	}
	profile_free(p);
	free(path);
}

static void check_paths(const uint64_t *words, size_t n,
                        const uint64_t (*frames)[3], uint64_t nframes,
                        bool killed, const char *rule)
{
	char *path = paths_file(words, n, 8 * n, frames, nframes, killed);

	assert_int_equal(count_findings(path, rule), rule ? 1 : 0);
	free(path);
}

/* Numbers that no path has, registers that fit no path, counts of nothing. */
static void test_paths_check(void **state)
{
	const uint64_t fine[] = {PATHS_SCAN, 2, 0, 0, 3, 1, 7, 1};
	const uint64_t beyond[] = {PATHS_SCAN, 1, 0, 0, 8, 1};
	const uint64_t lost[] = {PATHS_SCAN, 1, 0, 0, 0, 1};
	const uint64_t half[] = {PATHS_SCAN, 1, 0, 0, 1, 1};
	uint64_t frame[][3] = {
	        {synth_key(CAIRN_FRAME_OUT, 1, PATHS_SCAN_PC), 1 + 1 + 4, 1}};

	(void)state;
	check_paths(fine, 8, NULL, 0, false, NULL);
	check_paths(beyond, 6, NULL, 0, false, "C7");
	check_paths(lost, 6, NULL, 0, false, "C6");
	/* a turn was finished, and the frame is nowhere: somebody missed it */
	check_paths(half, 6, NULL, 0, false, "C1");
	check_paths(half, 6, NULL, 0, true, "F1");
	check_paths(half, 6, (const uint64_t(*)[3])frame, 1, false, NULL);
	frame[0][1] = 1 + 1 + 3; /* no path to block 3 has this sum */
	check_paths(half, 6, (const uint64_t(*)[3])frame, 1, false, "C7");
	frame[0][1] = 0;
	check_paths(half, 6, (const uint64_t(*)[3])frame, 1, false, "C4");
	/* a register that points between two counters */
	frame[0][0] = synth_key(CAIRN_FRAME_OUT, 1, PATHS_PICK_PC);
	frame[0][1] = 1 + PATHS_PICK + 4 + 0x1000;
	check_paths(fine, 8, (const uint64_t(*)[3])frame, 1, false, "C7");
	frame[0][1] = 1 + PATHS_PICK + 8 + 0x1000;
	check_paths(fine, 8, (const uint64_t(*)[3])frame, 1, false, NULL);
}

/* Counts of a thread that are still live have no checksum in a closed file;
 * those of no thread need none. */
static void test_unsealed(void **state)
{
	const uint64_t counts[SAMPLE_NCOUNTERS] = {30, 10};
	char *path = strdup(synth_path(&dir, "live.cairn"));

	(void)state;
	for (uint32_t thread = 0; thread < 2; thread++) {
		struct bytes b = {0}, map = {0};
		size_t at;

		synth_sample_map(&map);
		writer_begin(&b);
		synth_program(&b, "/bin/sample");
		synth_module(&b, 1, "/bin/sample", 0xaa, SAMPLE_BASE,
		             SAMPLE_NCOUNTERS);
		at = b.n;
		synth_counts(&b, thread, 1, counts, SAMPLE_NCOUNTERS);
		synth_map_chunk(&b, 1, &map);
		writer_end(&b, &synth_header);
		put_le32(b.data + at + CAIRN_CHK_FLAGS, CAIRN_CHUNK_LIVE);
		synth_save(path, &b);
		assert_int_equal(count_findings(path, "F6"), thread);
		bytes_release(&map);
		bytes_release(&b);
	}
	free(path);
}

static int setup(void **state)
{
	(void)state;
	synth_dir_make(&dir);
	return 0;
}

static int teardown(void **state)
{
	char *command;
	int rc;

	(void)state;
	if (asprintf(&command, "rm -r %s", dir.path) < 0)
		return -1;
	rc = system(command);
	free(command);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_open),
	        cmocka_unit_test(test_maps),
	        cmocka_unit_test(test_merge),
	        cmocka_unit_test(test_merge_is_repeatable),
	        cmocka_unit_test(test_killed_stays_killed),
	        cmocka_unit_test(test_other_build),
	        cmocka_unit_test(test_unwritable),
	        cmocka_unit_test(test_write_through_links),
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_partial),
	        cmocka_unit_test(test_counters_outside),
	        cmocka_unit_test(test_feedback),
	        cmocka_unit_test(test_feedback_blocks),
	        cmocka_unit_test(test_check),
	        cmocka_unit_test(test_tables),
	        cmocka_unit_test(test_registers),
	        cmocka_unit_test(test_paths_check),
	        cmocka_unit_test(test_unsealed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
