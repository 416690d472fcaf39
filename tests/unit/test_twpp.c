/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamped whole program paths: the worked examples of the paper, what is
 * fed comes back, one function is read alone, and no damage goes unnoticed.
 */
#include "twpps.h"

#include "analysis/twpp_form.h"

#include <unistd.h>

/* --- figures 1 to 4 ----------------------------------------------------- */

enum { MAIN, F };

static void put_loop(struct events *e, const uint32_t *blocks, size_t n,
                     unsigned times)
{
	for (; times; times--)
		for (size_t i = 0; i < n; i++)
			put_event(e, EVENT_BLOCK, blocks[i]);
}

static void put_f(struct events *e, bool is_b)
{
	static const uint32_t a[] = {2, 7, 8, 9, 6}, b[] = {2, 3, 4, 5, 6};

	put_event(e, EVENT_ENTER, F);
	put_event(e, EVENT_BLOCK, 1);
	put_loop(e, is_b ? b : a, 5, 3);
	put_event(e, EVENT_BLOCK, 10);
	put_event(e, EVENT_LEAVE, TWPP_LEFT);
}

static void put_figure_1(struct events *e)
{
	static const bool is_b[] = {false, false, true, false, true};

	put_event(e, EVENT_ENTER, MAIN);
	put_event(e, EVENT_BLOCK, 1);
	for (unsigned i = 0; i < 5; i++) {
		put_event(e, EVENT_BLOCK, 2);
		put_event(e, EVENT_BLOCK, 3);
		put_f(e, is_b[i]);
		put_event(e, EVENT_BLOCK, 4);
	}
	put_event(e, EVENT_BLOCK, 6);
	put_event(e, EVENT_LEAVE, TWPP_LEFT);
}

static void assert_node(const struct twpp_form *g, size_t i,
                        const uint32_t *blocks, size_t n, uint64_t l,
                        uint64_t h, uint64_t s)
{
	const struct twpp_form_node *node = &g->nodes[i];

	assert_int_equal(node->nblocks, n);
	assert_memory_equal(node->blocks, blocks, n * sizeof(*blocks));
	assert_int_equal(node->times.n, 1);
	assert_int_equal(node->times.runs[0].l, l);
	assert_int_equal(node->times.runs[0].h, h);
	assert_int_equal(node->times.runs[0].s, s);
}

static void assert_main(struct twpp_function *f)
{
	static const uint32_t one[] = {1}, loop[] = {2, 3, 4}, six[] = {6};
	struct twpp_form g;
	struct cairn_err err;

	assert_int_equal(f->ntraces, 1);
	assert_int_equal(twpp_form_read(&g, f, 0, &err), 0);
	assert_int_equal(g.n, 7);
	assert_int_equal(g.nnodes, 3);
	assert_node(&g, 0, one, 1, 1, 1, 1);
	assert_node(&g, 1, loop, 3, 2, 6, 1);
	assert_node(&g, 2, six, 1, 7, 7, 1);
	assert_int_equal(g.nedges, 3);
	assert_int_equal(g.edges[1].from, 1);
	assert_int_equal(g.edges[1].to, 1);
	assert_int_equal(g.edges[1].count, 4);
	twpp_form_release(&g);
}

static void assert_f(struct twpp_function *f)
{
	static const uint32_t one[] = {1}, ten[] = {10};
	static const uint32_t loop[2][5] = {{2, 7, 8, 9, 6}, {2, 3, 4, 5, 6}};
	struct twpp_form g;
	struct cairn_err err;

	assert_int_equal(f->ntraces, 2);
	assert_int_equal(f->nbodies, 1);
	assert_int_equal(f->ndictionaries, 2);
	assert_int_equal(f->traces[0].ncalls, 3);
	assert_int_equal(f->traces[1].ncalls, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(twpp_form_read(&g, f, i, &err), 0);
		assert_int_equal(g.n, 5);
		assert_int_equal(g.nnodes, 3);
		assert_node(&g, 0, one, 1, 1, 1, 1);
		assert_node(&g, 1, loop[i], 5, 2, 4, 1);
		assert_node(&g, 2, ten, 1, 5, 5, 1);
		twpp_form_release(&g);
	}
}

static void assert_sizes(const struct twpp *t)
{
	const struct twpp_sizes *z = &t->sizes;

	assert_int_equal(z->ncalls, 6);
	assert_int_equal(z->nblocks, 102);
	assert_int_equal(twpp_raw(z), 4 * 102 + 8 * 6);
	assert_int_equal(z->ntraces, 3);
	assert_int_equal(z->unique_words, 51);
	/* main 1.2.2.2.2.2.6, f 1.2.2.2.10 */
	assert_int_equal(z->dbb_words, 12);
	/* main 1 -1, 2 2 -6, 6 -7; f 1 -1, 2 2 -4, 10 -5 */
	assert_int_equal(z->stamp_words, 14);
	/* 2.3.4, 2.7.8.9.6, 2.3.4.5.6, each with an end */
	assert_int_equal(z->dict_words, 4 + 6 + 6);
	assert_int_equal(z->dcg_nodes, 3);
	assert_int_equal(z->nodes, 9);
	assert_int_equal(z->edges, 9);
	assert_int_equal(z->stamps, 7 + 5 + 5);
	assert_int_equal(z->runs, 9);
}

static void test_figures_1_to_4(void **state)
{
	struct events e = {0};
	struct bytes file = {0};
	struct twpp_function f;
	struct cairn_err err;
	struct twpp t;

	(void)state;
	put_figure_1(&e);
	make_file(&e, 1, &file);
	assert_replay(&file, &e, 1);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "t", &err), 0);
	assert_sizes(&t);
	/* f is called more often: its block comes first */
	assert_int_equal(t.nentries, 2);
	assert_int_equal(t.entries[0].function, F);
	assert_int_equal(t.entries[0].ncalls, 5);
	assert_true(t.entries[0].offset < t.entries[1].offset);
	assert_int_equal(t.stored.total, file.n);
	assert_int_equal(t.stored.header + t.stored.graph +
	                         t.stored.dictionaries + t.stored.traces,
	                 file.n);
	assert_int_equal(twpp_function_load(&t, &t.entries[1], &f, &err), 0);
	assert_main(&f);
	twpp_function_release(&f);
	assert_int_equal(twpp_function_load(&t, &t.entries[0], &f, &err), 0);
	assert_f(&f);
	twpp_function_release(&f);
	twpp_close(&t);
	bytes_release(&file);
	free(e.items);
}

/* --- round trips -------------------------------------------------------- */

static void test_random(void **state)
{
	const char *seed = getenv("SEED");
	uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;

	(void)state;
	for (uint64_t s = first; s < first + 400; s++) {
		struct random r = {s};
		struct events threads[3] = {{0}};
		struct bytes file = {0}, again = {0};
		size_t n = 1 + draw(&r, 3);
		struct program p;

		draw_program(&r, &p);
		for (size_t i = 0; i < n; i++)
			run_thread(&r, &p, draw(&r, 3) * draw(&r, 1500),
			           &threads[i]);
		make_file(threads, n, &file);
		make_file(threads, n, &again);
		assert_int_equal(file.n, again.n);
		assert_memory_equal(file.data, again.data, file.n);
		assert_replay(&file, threads, n);
		free_threads(threads, n);
		bytes_release(&file);
		bytes_release(&again);
	}
}

/* The block of a function, in the file of all and in one of it alone. */
static void assert_only(const struct twpp *all, const struct events *threads,
                        size_t n, uint32_t function)
{
	const struct twpp_entry *e = twpp_entry(all, function), *mine;
	struct twpp_builder *b = twpp_new();
	struct bytes file = {0};
	struct cairn_err err;
	struct twpp t;

	twpp_only(b, &function, 1);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < threads[i].n; k++)
			feed_one(twpp_thread(b, i + 1), &threads[i].items[k]);
	finish(b, &file);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "t", &err), 0);
	mine = twpp_entry(&t, function);
	assert_int_equal(t.nentries, !!e);
	assert_int_equal(!mine, !e);
	if (e) {
		assert_int_equal(mine->ncalls, e->ncalls);
		assert_int_equal(t.sizes.ncalls, e->ncalls);
		assert_int_equal(mine->size, e->size);
		assert_memory_equal(t.data + mine->offset,
		                    all->data + e->offset, e->size);
	}
	twpp_close(&t);
	bytes_release(&file);
}

static void test_only(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= 60; s++) {
		struct random r = {s};
		struct events threads[2] = {{0}};
		struct bytes file = {0};
		struct cairn_err err;
		struct program p;
		struct twpp all;

		draw_program(&r, &p);
		for (size_t i = 0; i < 2; i++)
			run_thread(&r, &p, draw(&r, 2000), &threads[i]);
		make_file(threads, 2, &file);
		assert_int_equal(
		        twpp_open_bytes(&all, file.data, file.n, "t", &err), 0);
		for (uint32_t f = 0; f < RANDOM_FUNCTIONS; f++)
			assert_only(&all, threads, 2, f);
		twpp_close(&all);
		free_threads(threads, 2);
		bytes_release(&file);
	}
}

/* Threads that are fed in turns are what they are one after the other. */
static void test_turns(void **state)
{
	struct random r = {11};
	struct events threads[3] = {{0}};
	struct bytes one = {0}, turns = {0};
	size_t at[3] = {0}, left = 3;
	struct twpp_builder *b = twpp_new();
	struct program p;

	(void)state;
	draw_program(&r, &p);
	for (size_t i = 0; i < 3; i++) {
		run_thread(&r, &p, 300, &threads[i]);
		twpp_thread(b, i + 1);
	}
	while (left) {
		size_t i = draw(&r, 3);

		if (at[i] == threads[i].n)
			continue;
		feed_one(twpp_thread(b, i + 1), &threads[i].items[at[i]++]);
		left -= at[i] == threads[i].n;
	}
	finish(b, &turns);
	assert_replay(&turns, threads, 3);
	make_file(threads, 3, &one);
	assert_replay(&one, threads, 3);
	free_threads(threads, 3);
	bytes_release(&one);
	bytes_release(&turns);
}

static void test_refused(void **state)
{
	struct twpp_builder *b = twpp_new();
	struct twpp_thread *t = twpp_thread(b, 5);
	const uint32_t outside = 0, high = UINT32_MAX, one = 1;
	struct cairn_err err;

	(void)state;
	assert_int_equal(twpp_leave(t, false, &err), CAIRN_E_MISMATCH);
	assert_int_equal(twpp_blocks(t, &one, 1, &err), CAIRN_E_MISMATCH);
	assert_int_equal(twpp_enter(t, UINT32_MAX, &err), CAIRN_E_LIMIT);
	assert_int_equal(twpp_enter(t, 3, &err), 0);
	assert_int_equal(twpp_blocks(t, &outside, 1, &err), CAIRN_E_LIMIT);
	assert_int_equal(twpp_blocks(t, &high, 1, &err), CAIRN_E_LIMIT);
	assert_int_equal(twpp_blocks(t, &one, 1, &err), 0);
	assert_int_equal(twpp_leave(t, true, &err), 0);
	assert_int_equal(twpp_leave(t, false, &err), CAIRN_E_MISMATCH);
	twpp_free(b);
}

static void test_nothing(void **state)
{
	struct events none = {0};
	struct bytes file = {0};

	(void)state;
	make_file(NULL, 0, &file);
	assert_replay(&file, NULL, 0);
	file.n = 0;
	make_file(&none, 1, &file);
	assert_replay(&file, &none, 1);
	bytes_release(&file);
}

/* --- one activation, very long ------------------------------------------ */

enum { LONG = 3000000 };

/* The blocks of a loop that turns regularly at first, and then as it likes;
 * with calls here and there. */
struct maker {
	struct random random;
	size_t n;
};

static uint32_t next_block(struct maker *m)
{
	size_t i = m->n++;

	if (i < LONG / 2)
		return 2 + (uint32_t)(i % 3);
	return 5 + draw(&m->random, 300);
}

static bool calls(uint32_t block)
{
	return block == 3 || block == 77;
}

struct long_check {
	struct maker maker;
	uint32_t last; /* block of the outer one */
	unsigned depth;
	size_t nblocks, ncalls;
};

static int long_enter(void *arg, uint32_t function)
{
	struct long_check *c = arg;

	assert_int_equal(function, c->depth ? F : MAIN);
	if (c->depth)
		assert_true(calls(c->last));
	c->ncalls++;
	c->depth++;
	return 0;
}

static int long_blocks(void *arg, const uint32_t *blocks, size_t n)
{
	struct long_check *c = arg;

	for (size_t i = 0; i < n; i++) {
		if (c->depth == 2) {
			assert_int_equal(blocks[i], 1);
			continue;
		}
		/* one that calls is the last before the call */
		assert_true(!i || !calls(c->last));
		c->last = next_block(&c->maker);
		assert_int_equal(blocks[i], c->last);
		c->nblocks++;
	}
	return 0;
}

static int long_leave(void *arg, enum twpp_end end)
{
	struct long_check *c = arg;

	c->depth--;
	assert_int_equal(end, TWPP_LEFT);
	return 0;
}

static void make_long(struct bytes *file, size_t *ncalls)
{
	struct twpp_builder *b = twpp_new();
	struct twpp_thread *t = twpp_thread(b, 1);
	struct maker m = {{5}, 0};
	const uint32_t one = 1;
	struct cairn_err err;

	*ncalls = 1;
	twpp_enter(t, MAIN, &err);
	for (size_t i = 0; i < LONG; i++) {
		uint32_t block = next_block(&m);

		assert_int_equal(twpp_blocks(t, &block, 1, &err), 0);
		if (!calls(block))
			continue;
		twpp_enter(t, F, &err);
		twpp_blocks(t, &one, 1, &err);
		twpp_leave(t, false, &err);
		++*ncalls;
	}
	twpp_leave(t, false, &err);
	finish(b, file);
}

static void test_long(void **state)
{
	struct long_check c = {.maker = {{5}, 0}};
	struct twpp_sink sink = {&c, long_enter, long_blocks, long_leave};
	struct bytes file = {0};
	struct cairn_err err;
	struct twpp_graph g;
	struct twpp t;
	size_t ncalls;

	(void)state;
	make_long(&file, &ncalls);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "t", &err), 0);
	assert_int_equal(twpp_graph_load(&g, &t, &err), 0);
	assert_int_equal(twpp_replay(&g, 0, &sink, &err), 0);
	assert_int_equal(c.nblocks, LONG);
	assert_int_equal(c.ncalls, ncalls);
	assert_int_equal(c.depth, 0);
	/* half of it has a byte and a bit of entropy per block */
	assert_true(file.n < LONG);
	assert_int_equal(t.sizes.dcg_nodes, 2);
	twpp_graph_release(&g);
	twpp_close(&t);
	bytes_release(&file);
}

/* --- one function alone ------------------------------------------------- */

static void make_sample(struct events *e, struct bytes *file)
{
	struct random r = {23};
	struct program p;

	draw_program(&r, &p);
	run_thread(&r, &p, 600, e);
	make_file(e, 1, file);
}

/* All that the file has of one function can be read if all else is damaged. */
static void test_alone(void **state)
{
	struct events e = {0};
	struct bytes file = {0};
	struct cairn_err err;
	struct twpp t;

	(void)state;
	make_sample(&e, &file);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "t", &err), 0);
	assert_true(t.nentries > 2);
	for (uint32_t i = 0; i < t.nentries; i++) {
		const struct twpp_entry *entry = &t.entries[i];
		unsigned char *copy = xmalloc(file.n);
		struct twpp_function f;
		struct twpp_form g;
		struct twpp other;

		memcpy(copy, file.data, file.n);
		assert_int_equal(
		        twpp_open_bytes(&other, copy, file.n, "t", &err), 0);
		for (size_t k = t.stored.header; k < file.n; k++)
			if (k < entry->offset ||
			    k >= entry->offset + entry->size)
				copy[k] ^= 0x5a;
		assert_int_equal(
		        twpp_function_load(&other, &other.entries[i], &f, &err),
		        0);
		assert_int_equal(f.ntraces, entry->ntraces);
		for (size_t k = 0; k < f.ntraces; k++) {
			assert_int_equal(twpp_form_read(&g, &f, k, &err), 0);
			twpp_form_release(&g);
		}
		twpp_function_release(&f);
		twpp_close(&other);
		free(copy);
	}
	twpp_close(&t);
	bytes_release(&file);
	free(e.items);
}

static void test_file(void **state)
{
	char path[] = "/tmp/twppXXXXXX";
	struct events e = {0};
	struct bytes file = {0};
	struct cairn_err err;
	struct twpp t;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_false(twpp_is_file(path));
	assert_int_equal(twpp_open(&t, path, &err), CAIRN_E_FOREIGN);
	make_sample(&e, &file);
	assert_int_equal(write(fd, file.data, file.n), (ssize_t)file.n);
	close(fd);
	assert_true(twpp_is_file(path));
	assert_int_equal(twpp_open(&t, path, &err), 0);
	assert_int_equal(t.size, file.n);
	assert_ptr_equal(twpp_entry(&t, t.entries[1].function), &t.entries[1]);
	assert_null(twpp_entry(&t, 1000));
	twpp_close(&t);
	unlink(path);
	assert_int_equal(twpp_open(&t, path, &err), CAIRN_E_SYSTEM);
	assert_int_equal(twpp_open(&t, "/tmp", &err), CAIRN_E_FOREIGN);
	bytes_release(&file);
	free(e.items);
}

/* --- damage ------------------------------------------------------------- */

struct counter {
	size_t left;
};

static int count_enter(void *arg, uint32_t function)
{
	(void)function;
	return ((struct counter *)arg)->left-- ? 0 : 1;
}

static int count_blocks(void *arg, const uint32_t *blocks, size_t n)
{
	(void)blocks, (void)n;
	return ((struct counter *)arg)->left-- ? 0 : 1;
}

static int count_leave(void *arg, enum twpp_end end)
{
	(void)end;
	return ((struct counter *)arg)->left-- ? 0 : 1;
}

static int skim_function(struct twpp *t, uint32_t i)
{
	struct twpp_function f;
	struct cairn_err err;
	struct twpp_form g;
	int rc = 0;

	if (!t->entries[i].ncalls)
		return 0;
	if (twpp_function_load(t, &t->entries[i], &f, &err))
		return -1;
	for (size_t k = 0; k < f.ntraces && !rc; k++) {
		if (f.bodies[f.traces[k].body].n > 100000)
			continue;
		rc = twpp_form_read(&g, &f, k, &err);
		if (!rc)
			twpp_form_release(&g);
	}
	twpp_function_release(&f);
	return rc;
}

/* Reads all that is there, as far as it goes; 0 if nothing is wrong. */
static int skim(const unsigned char *data, size_t size)
{
	struct counter counter = {20000};
	struct twpp_sink sink = {&counter, count_enter, count_blocks,
	                         count_leave};
	struct twpp_graph g;
	struct cairn_err err;
	struct twpp t;
	int rc = 0;

	if (twpp_open_bytes(&t, data, size, "t", &err))
		return -1;
	for (uint32_t i = 0; i < t.nentries; i++)
		rc |= skim_function(&t, i);
	if (twpp_graph_load(&g, &t, &err)) {
		twpp_close(&t);
		return -1;
	}
	for (size_t i = 0; i < g.nthreads; i++)
		rc |= twpp_replay(&g, i, &sink, &err) < 0 ? -1 : 0;
	twpp_graph_release(&g);
	twpp_close(&t);
	return rc;
}

static void test_damage(void **state)
{
	struct events e = {0};
	struct bytes file = {0};

	(void)state;
	make_sample(&e, &file);
	assert_int_equal(skim(file.data, file.n), 0);
	for (size_t n = 0; n < file.n; n++) {
		/* of its own size, so that a read behind its end shows */
		unsigned char *cut = xmalloc(n + !n);

		memcpy(cut, file.data, n);
		assert_int_equal(skim(cut, n), -1);
		free(cut);
	}
	for (size_t i = 0; i < file.n; i++) {
		file.data[i] ^= (unsigned char)(1 << i % 8);
		assert_int_equal(skim(file.data, file.n), -1);
		file.data[i] ^= (unsigned char)(1 << i % 8);
	}
	bytes_release(&file);
	free(e.items);
}

/* The three kinds of content, not packed. */
struct content {
	struct bytes index, graph, blocks;
};

static void unpack_part(struct cursor *c, struct twpp_zip *z, struct bytes *out)
{
	struct bytes own;
	struct cursor part;
	struct cairn_err err;

	assert_int_equal(twpp_part_take(c, z, "t", &own, &part, &err), 0);
	bytes_put(out, part.p, (size_t)(part.end - part.p));
	bytes_release(&own);
}

/* Unpacks the blocks of all functions; their sizes change with that. */
static void unpack_blocks(struct twpp *t, struct content *to, uint64_t *sizes)
{
	for (uint32_t i = 0; i < t->nentries; i++) {
		const unsigned char *p = t->data + t->entries[i].offset;
		struct cursor c = {p, p + t->entries[i].size, false};
		size_t begin = to->blocks.n;

		for (unsigned k = 0; k < 3; k++) {
			struct bytes raw = {0};

			unpack_part(&c, &t->zip, &raw);
			twpp_part_put_plain(&to->blocks, &raw);
			bytes_release(&raw);
		}
		sizes[i] = to->blocks.n - begin;
	}
}

/* An index for these blocks, with sums that are right. */
static void put_index(const struct twpp *t, const struct bytes *old,
                      const struct content *from, const uint64_t *sizes,
                      struct bytes *out)
{
	struct cursor c = {old->data, old->data + old->n, false};
	size_t at = 0;

	for (unsigned i = 0; i < 14; i++)
		bytes_put_uv(out, cursor_uv(&c));
	for (uint32_t i = 0; i < t->nentries; i++) {
		const struct twpp_entry *e = &t->entries[i];

		bytes_put_uv(out, e->function);
		bytes_put_uv(out, 0);
		bytes_put_uv(out, e->nblocks);
		bytes_put_uv(out, e->nedges);
		bytes_put_uv(out, e->ncalls);
		bytes_put_uv(out, e->ntraces);
		bytes_put_uv(out, sizes[i]);
		bytes_put_uv(out, 1);
		bytes_put_u32(out, twpp_sum(from->blocks.data + at, sizes[i]));
		at += sizes[i];
	}
}

static void put_whole(const struct content *c, struct bytes *out)
{
	struct bytes index = {0}, graph = {0};

	twpp_part_put_plain(&index, &c->index);
	twpp_part_put_plain(&graph, &c->graph);
	bytes_put(out, "\x89TWPP\r\n\x1a", 8);
	bytes_put_u32(out, 1);
	bytes_put_u32(out, twpp_sum(index.data, index.n));
	bytes_put_u32(out, twpp_sum(graph.data, graph.n));
	bytes_put_u64(out, index.n);
	bytes_put_u64(out, graph.n);
	bytes_put(out, index.data, index.n);
	bytes_put(out, graph.data, graph.n);
	bytes_put(out, c->blocks.data, c->blocks.n);
	bytes_release(&index);
	bytes_release(&graph);
}

static void spoil(struct random *r, struct bytes *b)
{
	for (unsigned n = 1 + draw(r, 3); n; n--) {
		unsigned char *p = &b->data[draw(r, (uint32_t)b->n)];

		*p = draw(r, 2) ? (unsigned char)draw(r, 256)
		                : (unsigned char)(*p ^ 1 << draw(r, 8));
	}
}

/* Files that were made to deceive: wrong content, right sums. */
static void test_deceit(void **state)
{
	struct random r = {99};
	struct events e = {0};
	struct bytes file = {0}, index = {0};
	struct content plain = {0};
	uint64_t sizes[RANDOM_FUNCTIONS];
	struct cairn_err err;
	struct cursor c;
	struct twpp t;
	unsigned refused = 0;

	(void)state;
	make_sample(&e, &file);
	assert_int_equal(twpp_open_bytes(&t, file.data, file.n, "t", &err), 0);
	c = (struct cursor){file.data + 36, file.data + file.n, false};
	unpack_part(&c, &t.zip, &index);
	unpack_part(&c, &t.zip, &plain.graph);
	unpack_blocks(&t, &plain, sizes);
	for (unsigned i = 0; i < 6000; i++) {
		struct content bad = {0};
		struct bytes whole = {0};

		bytes_put(&bad.blocks, plain.blocks.data, plain.blocks.n);
		bytes_put(&bad.graph, plain.graph.data, plain.graph.n);
		if (i % 3 == 1)
			spoil(&r, &bad.blocks);
		if (i % 3 == 2)
			spoil(&r, &bad.graph);
		put_index(&t, &index, &bad, sizes, &bad.index);
		if (i && i % 3 == 0)
			spoil(&r, &bad.index);
		put_whole(&bad, &whole);
		if (skim(whole.data, whole.n))
			refused++;
		bytes_release(&whole);
		bytes_release(&bad.index);
		bytes_release(&bad.graph);
		bytes_release(&bad.blocks);
		if (!i)
			assert_int_equal(refused, 0);
	}
	assert_true(refused > 3000);
	bytes_release(&index);
	bytes_release(&plain.graph);
	bytes_release(&plain.blocks);
	twpp_close(&t);
	bytes_release(&file);
	free(e.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_figures_1_to_4),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_only),
	        cmocka_unit_test(test_turns),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_nothing),
	        cmocka_unit_test(test_long),
	        cmocka_unit_test(test_alone),
	        cmocka_unit_test(test_file),
	        cmocka_unit_test(test_damage),
	        cmocka_unit_test(test_deceit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
