/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamped whole program paths: the file.
 *
 * Y. Zhang and R. Gupta, "Timestamped whole program path representation and its
 * applications", PLDI 2001, section 3: a header says where the traces of each
 * function are, the dynamic call graph follows, and then the functions, the one
 * that is called most often first.  To read one function's traces takes the
 * header and one seek.
 *
 * Head, 36 bytes: magic (8), u32 version, u32 sum of the index, u32 sum of the
 * graph, u64 bytes of the index, u64 bytes of the graph.  Then the index (a
 * part), the graph (a part) and one block per function that was called, as the
 * index orders them.  docs/FORMAT.md has all fields.
 *
 * Equal dictionaries of a function are written once, and so are bodies: traces
 * that went different ways through the same shape differ in their dictionary
 * alone (figure 4 of the paper).
 *
 * Memory: the file, and one function's forms.
 */
#include "analysis/twpp.h"

#include "analysis/twpp_builder.h"
#include "analysis/twpp_stamp.h"
#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* A function as it goes into the index. */
struct entry {
	uint32_t function;
	uint64_t ncalls, ntraces;
	uint64_t size, dict_size; /* of its block */
	uint32_t sum;
};

struct trace {
	uint32_t body, dictionary;
};

struct output {
	struct twpp_builder *b;
	struct entry *entries;
	uint32_t nentries;
	struct twpp_stamp stamp;
	struct bytes blocks; /* of all functions */
	/* of the function at hand */
	struct twpp_store dictionaries, bodies;
	bool *is_big; /* per body: it has packed pieces */
	size_t is_big_cap;
	struct trace *traces;
};

/* --- one function ------------------------------------------------------- */

static void count_trace(struct twpp_sizes *z, const struct twpp_stamp_counts *c)
{
	z->nodes += c->nnodes;
	z->edges += c->nedges;
	z->stamps += c->n;
	z->runs += c->nruns;
}

/* Stamps a trace, and finds its dictionary and body among the others. */
static void stamp_trace(struct output *o, struct twpp_build_function *f,
                        uint32_t i)
{
	struct cursor c = twpp_store_get(&f->traces, i);
	struct twpp_sizes *z = &o->b->sizes;
	struct twpp_stamp *s = &o->stamp;
	struct twpp_string blocks;
	size_t ndicts = o->dictionaries.n, nbodies = o->bodies.n;

	twpp_string_take(&c, &blocks);
	twpp_stamp_make(s, &blocks, true);
	count_trace(z, &s->counts);
	o->traces[i].dictionary = twpp_store_add(
	        &o->dictionaries, s->dictionary.data, s->dictionary.n);
	o->traces[i].body = twpp_store_add(&o->bodies, s->body.data, s->body.n);
	if (o->dictionaries.n > ndicts)
		z->dict_words += s->counts.dict_words;
	if (o->bodies.n > nbodies) {
		VEC_RESERVE(o->is_big, nbodies, o->is_big_cap);
		o->is_big[nbodies] = s->counts.has_pieces;
		z->dbb_words += s->counts.n;
		z->stamp_words += s->counts.nwords + s->counts.nnodes;
	}
	twpp_stamp_clear(s);
}

static void put_dictionaries(const struct output *o, struct bytes *out)
{
	bytes_put_uv(out, o->dictionaries.n);
	bytes_put(out, o->dictionaries.bytes.data, o->dictionaries.bytes.n);
}

/* The bodies of one kind; returns the number that the next body gets. */
static uint32_t put_bodies(const struct output *o, struct bytes *out,
                           bool are_big, uint32_t *number, uint32_t next)
{
	uint64_t n = 0;

	for (size_t i = 0; i < o->bodies.n; i++)
		n += o->is_big[i] == are_big;
	bytes_put_uv(out, n);
	for (uint32_t i = 0; i < o->bodies.n; i++) {
		struct cursor c = twpp_store_get(&o->bodies, i);

		if (o->is_big[i] != are_big)
			continue;
		number[i] = next++;
		bytes_put(out, c.p, (size_t)(c.end - c.p));
	}
	return next;
}

static void put_function(struct output *o, struct entry *e,
                         const struct twpp_build_function *f)
{
	uint32_t *number = xcalloc(o->bodies.n + 1, sizeof(*number)), next;
	struct bytes dictionaries = {0}, small = {0}, big = {0};
	size_t begin = o->blocks.n;

	put_dictionaries(o, &dictionaries);
	next = put_bodies(o, &small, false, number, 0);
	put_bodies(o, &big, true, number, next);
	bytes_put_uv(&small, e->ntraces);
	for (size_t i = 0; i < e->ntraces; i++) {
		bytes_put_uv(&small, number[o->traces[i].body]);
		bytes_put_uv(&small, o->traces[i].dictionary);
		bytes_put_uv(&small, f->trace_calls[i]);
	}
	twpp_part_put(&o->blocks, &dictionaries, &o->b->zip);
	e->dict_size = o->blocks.n - begin;
	twpp_part_put(&o->blocks, &small, &o->b->zip);
	twpp_store_release(&o->bodies);
	twpp_part_put_plain(&o->blocks, &big);
	e->size = o->blocks.n - begin;
	e->sum = twpp_sum(o->blocks.data + begin, (size_t)e->size);
	bytes_release(&dictionaries);
	bytes_release(&small);
	bytes_release(&big);
	free(number);
}

static void write_function(struct output *o, struct entry *e)
{
	struct twpp_build_function *f = &o->b->functions[e->function];

	o->traces = xcalloc(f->traces.n, sizeof(*o->traces));
	for (uint32_t i = 0; i < f->traces.n; i++)
		stamp_trace(o, f, i);
	twpp_store_release(&f->traces);
	put_function(o, e, f);
	twpp_store_release(&o->dictionaries);
	free(o->traces);
}

/* --- the order of functions --------------------------------------------- */

static int by_calls(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->ncalls != y->ncalls)
		return x->ncalls < y->ncalls ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

/* Those that were called, and those that have a source. */
static void list_functions(struct output *o, uint32_t nsources)
{
	size_t n = o->b->nfunctions;

	n = n < nsources ? nsources : n;
	o->entries = xcalloc(n + 1, sizeof(*o->entries));
	for (uint32_t i = 0; i < n; i++) {
		struct entry e = {.function = i};

		if (i < o->b->nfunctions) {
			e.ncalls = o->b->functions[i].ncalls;
			e.ntraces = o->b->functions[i].traces.n;
		}
		if (e.ncalls || i < nsources)
			o->entries[o->nentries++] = e;
	}
	qsort(o->entries, o->nentries, sizeof(*o->entries), by_calls);
}

/* --- index and graph ---------------------------------------------------- */

static void put_sizes(struct bytes *out, const struct twpp_sizes *z)
{
	const uint64_t all[] = {z->ncalls,       z->nblocks,   z->ntraces,
	                        z->unique_words, z->dbb_words, z->stamp_words,
	                        z->dict_words,   z->dcg_words, z->dcg_nodes,
	                        z->nodes,        z->edges,     z->stamps,
	                        z->runs};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		bytes_put_uv(out, all[i]);
}

static void put_index(const struct output *o, struct bytes *out,
                      const struct twpp_source *sources, uint32_t nsources)
{
	put_sizes(out, &o->b->sizes);
	bytes_put_uv(out, o->nentries);
	for (uint32_t i = 0; i < o->nentries; i++) {
		const struct entry *e = &o->entries[i];
		struct twpp_source s = {0};

		if (e->function < nsources)
			s = sources[e->function];
		bytes_put_uv(out, e->function);
		bytes_put_str(out, s.name, s.name ? strlen(s.name) : 0);
		bytes_put_uv(out, s.nblocks);
		bytes_put_uv(out, s.nedges);
		bytes_put_uv(out, e->ncalls);
		if (!e->ncalls)
			continue;
		bytes_put_uv(out, e->ntraces);
		bytes_put_uv(out, e->size);
		bytes_put_uv(out, e->dict_size);
		bytes_put_u32(out, e->sum);
	}
}

/* How many calls blocks make, of one function. */
static void put_expected(struct bytes *out, uint32_t function,
                         const struct twpp_build_function *f, uint64_t *words)
{
	uint64_t n = 0, last = 0;

	for (size_t i = 0; i < f->nexpected; i++)
		n += f->expected[i] && f->expected[i] != TWPP_NOT_KNOWN;
	if (!n)
		return;
	bytes_put_uv(out, (uint64_t)function + 1);
	bytes_put_uv(out, n);
	for (size_t i = 0; i < f->nexpected; i++) {
		if (!f->expected[i] || f->expected[i] == TWPP_NOT_KNOWN)
			continue;
		bytes_put_uv(out, i - last);
		bytes_put_uv(out, f->expected[i]);
		last = i;
	}
	*words += 2 + 2 * n;
}

static void put_graph(struct twpp_builder *b, struct bytes *out)
{
	for (uint32_t i = 0; i < b->nfunctions; i++)
		put_expected(out, i, &b->functions[i], &b->sizes.dcg_words);
	bytes_put_uv(out, 0);
	bytes_put_uv(out, b->nthreads);
	for (size_t i = 0; i < b->nthreads; i++) {
		const struct twpp_thread *t = b->threads[i];

		bytes_put_uv(out, t->id);
		twpp_pack_put(&t->roots, out);
		b->sizes.dcg_words += 2 + t->nroots;
	}
	bytes_put_uv(out, b->nodes.n);
	bytes_put(out, b->nodes.bytes.data, b->nodes.bytes.n);
	b->sizes.dcg_nodes = b->nodes.n;
}

/* Puts the file together; takes the blocks as they are, if out is empty. */
static void put_file(struct bytes *out, const struct bytes *index,
                     const struct bytes *graph, struct bytes *blocks)
{
	struct bytes head = {0};

	bytes_put(&head, TWPP_MAGIC, 8);
	bytes_put_u32(&head, TWPP_VERSION);
	bytes_put_u32(&head, twpp_sum(index->data, index->n));
	bytes_put_u32(&head, twpp_sum(graph->data, graph->n));
	bytes_put_u64(&head, index->n);
	bytes_put_u64(&head, graph->n);
	bytes_put(&head, index->data, index->n);
	bytes_put(&head, graph->data, graph->n);
	if (out->data) {
		bytes_put(out, head.data, head.n);
		bytes_put(out, blocks->data, blocks->n);
	} else {
		size_t n = blocks->n;

		bytes_put(blocks, head.data, head.n);
		memmove(blocks->data + head.n, blocks->data, n);
		memcpy(blocks->data, head.data, head.n);
		*out = *blocks;
		*blocks = (struct bytes){0};
	}
	bytes_release(&head);
}

static void release(struct output *o)
{
	free(o->entries);
	free(o->is_big);
	twpp_stamp_release(&o->stamp);
	bytes_release(&o->blocks);
}

int twpp_finish(struct twpp_builder *b, const struct twpp_source *sources,
                uint32_t nsources, struct bytes *out, struct cairn_err *err)
{
	struct output o = {.b = b, .stamp.zip = &b->zip};
	struct bytes raw = {0}, graph = {0}, index = {0};

	if (!sources)
		nsources = 0;
	for (size_t i = 0; i < b->nthreads; i++)
		while (b->threads[i]->nframes)
			twpp_end_frame(b->threads[i], TWPP_OPEN);
	list_functions(&o, nsources);
	put_graph(b, &raw);
	twpp_part_put(&graph, &raw, &b->zip);
	twpp_store_release(&b->nodes);
	for (uint32_t i = 0; i < o.nentries && o.entries[i].ncalls; i++)
		write_function(&o, &o.entries[i]);
	raw.n = 0;
	put_index(&o, &raw, sources, nsources);
	twpp_part_put(&index, &raw, &b->zip);
	put_file(out, &index, &graph, &o.blocks);
	release(&o);
	bytes_release(&raw);
	bytes_release(&graph);
	bytes_release(&index);
	if (b->zip.has_failed)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "there is no memory to pack the traces");
	return 0;
}
