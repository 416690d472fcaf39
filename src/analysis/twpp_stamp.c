/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a path trace to its timestamped form.
 *
 * Y. Zhang and R. Gupta, "Timestamped whole program path representation and its
 * applications", PLDI 2001, section 2.  A dynamic basic block of a path trace
 * is a sequence of blocks that is, in this trace, always entered at its first
 * and left at its last block.  The first pass finds, for every block, the one
 * that always precedes and the one that always follows it; where b is always
 * followed by c, and c always preceded by b, both are in one dynamic basic
 * block.  The second pass numbers the dynamic basic blocks, in order, by
 * t = 1..n, and adds t to the series of the one that executes.
 *
 * The first block of the trace is preceded, and the last one followed, by the
 * outside (block 0), so that no chain is a cycle.
 *
 * Dictionary: uv entries; each, by its first block: uv length - 2, uv blocks.
 * Only dynamic basic blocks of two blocks or more are in it.
 * Body: uv n, uv nodes; each, by its first timestamp: uv first block, a string
 * of runs.  A run that begins d + 1 behind the last timestamp is uv 2d if it is
 * single; uv 4d + 1, uv count - 2 with the step 1; uv 4d + 3, uv step - 2,
 * uv count - 3 else.  (The paper marks the last number of each entry with its
 * sign; 4 bytes a number.)
 *
 * Memory: what the result takes, and a few words per block.
 * Cost: two passes over the trace.
 */
#include "analysis/twpp_stamp.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Of before and behind: not executed yet, not always the same one. */
#define UNSEEN UINT32_MAX
#define VARIOUS (UINT32_MAX - 1)
#define NO_NODE UINT32_MAX
/* Memory that a result may leave to the next one. */
#define KEEP ((size_t)1 << 17)

void twpp_stamp_release(struct twpp_stamp *s)
{
	for (size_t i = 0; i < s->nodes_ready; i++)
		twpp_pack_release(&s->nodes[i].series);
	free(s->nodes);
	free(s->before);
	free(s->behind);
	free(s->node);
	free(s->seen);
	twpp_edges_release(&s->edges);
	bytes_release(&s->dictionary);
	bytes_release(&s->body);
	*s = (struct twpp_stamp){0};
}

static void add_blocks(struct twpp_stamp *s, uint32_t block)
{
	size_t n = s->nblocks ? s->nblocks : 64;

	assert(block < TWPP_BLOCKS);
	while (n <= block)
		n *= 2;
	s->before = xrealloc(s->before, n, sizeof(*s->before));
	s->behind = xrealloc(s->behind, n, sizeof(*s->behind));
	s->node = xrealloc(s->node, n, sizeof(*s->node));
	for (size_t i = s->nblocks; i < n; i++) {
		s->before[i] = s->behind[i] = UNSEEN;
		s->node[i] = NO_NODE;
	}
	s->nblocks = n;
}

static void drop_series(struct twpp_stamp_node *node)
{
	if (node->series.pieces.cap > KEEP)
		twpp_pack_release(&node->series);
	else
		twpp_pack_clear(&node->series);
}

void twpp_stamp_clear(struct twpp_stamp *s)
{
	for (size_t i = 0; i < s->nseen; i++) {
		uint32_t b = s->seen[i];

		s->before[b] = s->behind[b] = UNSEEN;
		s->node[b] = NO_NODE;
	}
	s->nseen = 0;
	for (size_t i = 0; i < s->nnodes; i++)
		drop_series(&s->nodes[i]);
	s->nnodes = 0;
	twpp_edges_clear(&s->edges);
	s->counts = (struct twpp_stamp_counts){0};
	s->dictionary.n = 0;
	s->body.n = 0;
	if (s->body.cap > KEEP)
		bytes_release(&s->body);
}

/* a is followed by b; either may be the outside. */
static inline void follow(struct twpp_stamp *s, uint32_t a, uint32_t b)
{
	if (s->behind[a] != b && a)
		s->behind[a] = s->behind[a] == UNSEEN ? b : VARIOUS;
	if (s->before[b] != a && b)
		s->before[b] = s->before[b] == UNSEEN ? a : VARIOUS;
}

/* The first pass. */
static void find_neighbours(struct twpp_stamp *s,
                            const struct twpp_string *blocks)
{
	struct twpp_reader r;
	uint32_t last = 0;

	twpp_reader_init(&r, blocks, s->zip);
	if (!s->nblocks)
		add_blocks(s, 0);
	while (twpp_reader_more(&r)) {
		uint32_t b = (uint32_t)twpp_reader_uv(&r);

		if (b >= s->nblocks)
			add_blocks(s, b);
		if (s->before[b] == UNSEEN) {
			VEC_RESERVE(s->seen, s->nseen, s->seen_cap);
			s->seen[s->nseen++] = b;
		}
		follow(s, last, b);
		last = b;
		s->counts.nblocks++;
	}
	follow(s, last, 0);
	twpp_reader_release(&r);
}

/* Nobody is to be alone: then every block is a node. */
static void separate(struct twpp_stamp *s)
{
	for (size_t i = 0; i < s->nseen; i++)
		s->before[s->seen[i]] = VARIOUS;
}

/* Is b inside of a dynamic basic block, behind its first block? */
static bool is_inside(const struct twpp_stamp *s, uint32_t b)
{
	uint32_t a = s->before[b];

	return a && a < VARIOUS && s->behind[a] == b;
}

/* The block behind b in its dynamic basic block; 0 if b is the last. */
static uint32_t next_inside(const struct twpp_stamp *s, uint32_t b)
{
	uint32_t c = s->behind[b];

	return c && c < VARIOUS && s->before[c] == b ? c : 0;
}

static uint32_t add_node(struct twpp_stamp *s, uint32_t head)
{
	struct twpp_stamp_node *node;

	VEC_RESERVE(s->nodes, s->nnodes, s->nodes_cap);
	node = &s->nodes[s->nnodes];
	if (s->nnodes == s->nodes_ready) {
		node->series = (struct twpp_pack){0};
		s->nodes_ready++;
	}
	node->head = head;
	node->length = 0;
	node->end = 0;
	node->maker = (struct twpp_maker){0};
	for (uint32_t b = head; b; b = next_inside(s, b))
		node->length++;
	s->node[head] = (uint32_t)s->nnodes;
	return (uint32_t)s->nnodes++;
}

static void put_run(struct twpp_stamp *s, struct twpp_stamp_node *node,
                    const struct twpp_run *r)
{
	uint64_t gap = r->l - node->end - 1;
	struct twpp_pack *p = &node->series;

	if (r->l == r->h) {
		twpp_pack_uv(p, s->zip, gap << 1);
	} else if (r->s == 1) {
		twpp_pack_uv(p, s->zip, gap << 2 | 1);
		twpp_pack_uv(p, s->zip, r->h - r->l - 1);
	} else {
		twpp_pack_uv(p, s->zip, gap << 2 | 3);
		twpp_pack_uv(p, s->zip, r->s - 2);
		twpp_pack_uv(p, s->zip, twpp_run_count(r) - 3);
	}
	node->end = r->h;
	s->counts.nruns++;
	s->counts.nwords += twpp_run_words(r);
}

/* The second pass. */
static void stamp(struct twpp_stamp *s, const struct twpp_string *blocks)
{
	uint32_t last = NO_NODE;
	struct twpp_reader r;
	struct twpp_run run;

	twpp_reader_init(&r, blocks, s->zip);
	while (twpp_reader_more(&r)) {
		uint32_t b = (uint32_t)twpp_reader_uv(&r);
		uint32_t node = s->node[b];

		if (node == NO_NODE) {
			if (is_inside(s, b))
				continue;
			node = add_node(s, b);
		}
		if (twpp_maker_add(&s->nodes[node].maker, ++s->counts.n, &run))
			put_run(s, &s->nodes[node], &run);
		if (last != NO_NODE)
			twpp_edges_add(&s->edges, last, node, 1);
		last = node;
	}
	twpp_reader_release(&r);
}

static void put_body(struct twpp_stamp *s)
{
	bytes_put_uv(&s->body, s->counts.n);
	bytes_put_uv(&s->body, s->nnodes);
	for (size_t i = 0; i < s->nnodes; i++) {
		struct twpp_stamp_node *node = &s->nodes[i];
		struct twpp_run rest[2];
		unsigned n = twpp_maker_end(&node->maker, rest);

		for (unsigned k = 0; k < n; k++)
			put_run(s, node, &rest[k]);
		bytes_put_uv(&s->body, node->head);
		twpp_pack_put(&node->series, &s->body);
		s->counts.has_pieces |= node->series.npieces > 0;
		drop_series(node);
	}
}

static int by_block(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Blocks that are no longer needed in the order they were seen. */
static void put_dictionary(struct twpp_stamp *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nnodes; i++)
		n += s->nodes[i].length > 1;
	bytes_put_uv(&s->dictionary, n);
	if (!n)
		return;
	qsort(s->seen, s->nseen, sizeof(*s->seen), by_block);
	for (size_t i = 0; i < s->nseen; i++) {
		uint32_t b = s->seen[i], node = s->node[b];

		if (node == NO_NODE || s->nodes[node].length < 2)
			continue;
		bytes_put_uv(&s->dictionary, s->nodes[node].length - 2);
		for (; b; b = next_inside(s, b))
			bytes_put_uv(&s->dictionary, b);
		s->counts.dict_words += s->nodes[node].length + 1;
	}
}

void twpp_stamp_make(struct twpp_stamp *s, const struct twpp_string *blocks,
                     bool with_dictionaries)
{
	twpp_stamp_clear(s);
	find_neighbours(s, blocks);
	if (!with_dictionaries)
		separate(s);
	stamp(s, blocks);
	put_body(s);
	put_dictionary(s);
	s->counts.nnodes = s->nnodes;
	s->counts.nedges = s->edges.n;
}
