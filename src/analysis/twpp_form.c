/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timestamp-annotated dynamic control-flow graph.
 *
 * Y. Zhang and R. Gupta, "Timestamped whole program path representation and its
 * applications", PLDI 2001, section 4.1.  Nodes are dynamic basic blocks with
 * the vector of their timestamps; there is an edge from m to n if m has some t
 * and n has t + 1.  The point before (t, n) is at the predecessor of n that has
 * t - 1.  A vector of timestamps moves as one: all are decremented, and those
 * that go to a predecessor are the intersection with its vector.
 *
 * A sequence of blocks is found the same way, without reading the trace: a
 * block is at one place of one node, so that the next block is the next one of
 * the same node, or the first of a successor.
 *
 * Invariant: every t of 1..n is in exactly one vector; checked when read.
 * Cost: reading is O(n), for the edges; a step or a move O(runs).
 */
#include "analysis/twpp_form.h"

#include "analysis/twpp_stamp.h"
#include "analysis/twpp_trail.h"
#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void twpp_form_release(struct twpp_form *g)
{
	for (size_t i = 0; i < g->nnodes; i++) {
		free(g->nodes[i].blocks);
		twpp_vector_release(&g->nodes[i].times);
	}
	free(g->nodes);
	free(g->edges);
	free(g->back_edges);
	*g = (struct twpp_form){0};
}

/* --- making ------------------------------------------------------------- */

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_from(const void *a, const void *b)
{
	const struct twpp_edge *x = a, *y = b;
	int from = compare(x->from, y->from);

	return from ? from : compare(x->to, y->to);
}

static int by_to(const void *a, const void *b)
{
	const struct twpp_edge *x = a, *y = b;
	int to = compare(x->to, y->to);

	return to ? to : compare(x->from, y->from);
}

static void set_edges(struct twpp_form *g, const struct twpp_edges *e)
{
	g->nedges = e->n;
	g->edges = xcalloc(e->n + 1, sizeof(*g->edges));
	g->back_edges = xcalloc(e->n + 1, sizeof(*g->edges));
	if (!e->n)
		return;
	memcpy(g->edges, e->items, e->n * sizeof(*g->edges));
	memcpy(g->back_edges, e->items, e->n * sizeof(*g->edges));
	qsort(g->edges, e->n, sizeof(*g->edges), by_from);
	qsort(g->back_edges, e->n, sizeof(*g->edges), by_to);
}

/* Goes through the trace once: checks it, and finds its edges. */
static int read_edges(struct twpp_form *g, const struct twpp_function *f,
                      const struct twpp_body *body, struct cairn_err *err)
{
	struct twpp_edges edges = {0};
	size_t last = TWPP_NOWHERE, node;
	struct twpp_trail w;
	uint64_t times;
	int rc = twpp_trail_init(&w, f, body, err);

	while (!rc && (rc = twpp_trail_next(&w, &node, &times, err)) > 0) {
		if (last != TWPP_NOWHERE)
			twpp_edges_add(&edges, (uint32_t)last, (uint32_t)node,
			               1);
		if (times > 1)
			twpp_edges_add(&edges, (uint32_t)node, (uint32_t)node,
			               times - 1);
		last = node;
		rc = 0;
	}
	twpp_trail_release(&w);
	if (!rc)
		set_edges(g, &edges);
	twpp_edges_release(&edges);
	return rc;
}

static void copy_blocks(struct twpp_form_node *node, const uint32_t *blocks,
                        size_t n)
{
	node->blocks = xcalloc(n, sizeof(*node->blocks));
	node->nblocks = n;
	memcpy(node->blocks, blocks, n * sizeof(*blocks));
}

int twpp_form_read(struct twpp_form *g, const struct twpp_function *f, size_t i,
                   struct cairn_err *err)
{
	const struct twpp_trace *trace = &f->traces[i];
	const struct twpp_body *body = &f->bodies[trace->body];
	int rc;

	*g = (struct twpp_form){.n = body->n};
	rc = read_edges(g, f, body, err);
	g->nodes = xcalloc(body->nnodes + 1, sizeof(*g->nodes));
	for (; !rc && g->nnodes < body->nnodes; g->nnodes++) {
		const struct twpp_body_node *from =
		        &f->nodes[body->first + g->nnodes];
		struct twpp_form_node *node = &g->nodes[g->nnodes];
		size_t n;
		const uint32_t *blocks = twpp_node_blocks(f, trace, from, &n);

		copy_blocks(node, blocks, n);
		/* read_edges has read the same: it cannot fail */
		twpp_runs_all(&from->series, g->n, &f->file->zip, &node->times);
	}
	if (rc)
		twpp_form_release(g);
	return rc;
}

static bool has_any(const struct twpp_form_node *node, const uint32_t *blocks,
                    size_t n)
{
	for (size_t i = 0; i < node->nblocks; i++)
		for (size_t k = 0; k < n; k++)
			if (node->blocks[i] == blocks[k])
				return true;
	return false;
}

int twpp_form_read_some(struct twpp_form *g, const struct twpp_function *f,
                        size_t i, const uint32_t *blocks, size_t n,
                        struct cairn_err *err)
{
	const struct twpp_trace *trace = &f->traces[i];
	const struct twpp_body *body = &f->bodies[trace->body];
	int rc = 0;

	*g = (struct twpp_form){.n = body->n};
	g->nodes = xcalloc(body->nnodes + 1, sizeof(*g->nodes));
	for (; !rc && g->nnodes < body->nnodes; g->nnodes++) {
		const struct twpp_body_node *from =
		        &f->nodes[body->first + g->nnodes];
		struct twpp_form_node *node = &g->nodes[g->nnodes];
		size_t length;
		const uint32_t *of = twpp_node_blocks(f, trace, from, &length);

		copy_blocks(node, of, length);
		if (has_any(node, blocks, n))
			rc = twpp_runs_all(&from->series, g->n, &f->file->zip,
			                   &node->times);
	}
	if (rc) {
		twpp_form_release(g);
		return cairn_corrupt(err, f->file->name, f->entry->offset,
		                     "the timestamps of a trace make no sense; "
		                     "make the file again from its trace");
	}
	return 0;
}

/* Nodes and edges of what was just stamped. */
static void take_stamp(struct twpp_form *g, const struct twpp_stamp *s)
{
	struct cursor body = {s->body.data, s->body.data + s->body.n, false};
	struct cursor dictionary = {s->dictionary.data,
	                            s->dictionary.data + s->dictionary.n,
	                            false};

	g->n = cursor_uv(&body);
	g->nnodes = (size_t)cursor_uv(&body);
	g->nodes = xcalloc(g->nnodes + 1, sizeof(*g->nodes));
	for (size_t i = 0; i < g->nnodes; i++) {
		uint32_t head = (uint32_t)cursor_uv(&body);
		struct twpp_string series;

		twpp_string_take(&body, &series);
		copy_blocks(&g->nodes[i], &head, 1);
		twpp_runs_all(&series, g->n, s->zip, &g->nodes[i].times);
	}
	for (uint64_t n = cursor_uv(&dictionary); n; n--) {
		uint64_t length = cursor_uv(&dictionary) + 2;
		uint32_t head = (uint32_t)cursor_uv(&dictionary);
		struct twpp_form_node *node = &g->nodes[s->node[head]];

		node->nblocks = (size_t)length;
		node->blocks = xrealloc(node->blocks, node->nblocks,
		                        sizeof(*node->blocks));
		for (size_t i = 1; i < length; i++)
			node->blocks[i] = (uint32_t)cursor_uv(&dictionary);
	}
	set_edges(g, &s->edges);
}

int twpp_form_make(struct twpp_form *g, const uint32_t *blocks, size_t n,
                   bool with_dictionaries, struct cairn_err *err)
{
	struct twpp_zip zip = {0};
	struct twpp_stamp s = {.zip = &zip};
	struct twpp_pack pack = {0};
	struct bytes serial = {0};
	struct twpp_string string;
	struct cursor c;
	int rc = 0;

	*g = (struct twpp_form){0};
	for (size_t i = 0; i < n && !rc; i++) {
		if (!blocks[i] || blocks[i] >= TWPP_BLOCKS)
			rc = cairn_fail(err, CAIRN_E_LIMIT,
			                "there is no block %u", blocks[i]);
		twpp_pack_uv(&pack, &zip, blocks[i]);
	}
	twpp_pack_put(&pack, &serial);
	c = (struct cursor){serial.data, serial.data + serial.n, false};
	twpp_string_take(&c, &string);
	if (!rc) {
		twpp_stamp_make(&s, &string, with_dictionaries);
		take_stamp(g, &s);
	}
	if (zip.has_failed)
		rc = cairn_fail(err, CAIRN_E_SYSTEM,
		                "there is no memory to pack a trace");
	if (rc)
		twpp_form_release(g);
	twpp_pack_release(&pack);
	bytes_release(&serial);
	twpp_stamp_release(&s);
	twpp_zip_release(&zip);
	return rc;
}

/* --- stepping ----------------------------------------------------------- */

size_t twpp_form_at(const struct twpp_form *g, uint64_t t)
{
	for (size_t i = 0; i < g->nnodes; i++)
		if (twpp_vector_has(&g->nodes[i].times, t))
			return i;
	return TWPP_NOWHERE;
}

/* The edges whose end of this kind is the node, in a list sorted by it. */
static const struct twpp_edge *edges_of(const struct twpp_form *g, size_t node,
                                        bool is_in, size_t *n)
{
	const struct twpp_edge *list = is_in ? g->back_edges : g->edges;
	size_t low = 0, high = g->nedges, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((is_in ? list[middle].to : list[middle].from) < node)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < g->nedges; end++)
		if ((is_in ? list[end].to : list[end].from) != node)
			break;
	*n = end - low;
	return list + low;
}

const struct twpp_edge *twpp_form_out(const struct twpp_form *g, size_t node,
                                      size_t *n)
{
	return edges_of(g, node, false, n);
}

const struct twpp_edge *twpp_form_in(const struct twpp_form *g, size_t node,
                                     size_t *n)
{
	return edges_of(g, node, true, n);
}

size_t twpp_form_before(const struct twpp_form *g, size_t node, uint64_t t)
{
	size_t n;
	const struct twpp_edge *e = twpp_form_in(g, node, &n);

	for (; n && t > 1; e++, n--)
		if (twpp_vector_has(&g->nodes[e->from].times, t - 1))
			return e->from;
	return TWPP_NOWHERE;
}

size_t twpp_form_behind(const struct twpp_form *g, size_t node, uint64_t t)
{
	size_t n;
	const struct twpp_edge *e = twpp_form_out(g, node, &n);

	for (; n; e++, n--)
		if (twpp_vector_has(&g->nodes[e->to].times, t + 1))
			return e->to;
	return TWPP_NOWHERE;
}

void twpp_form_move(const struct twpp_form *g, const struct twpp_vector *times,
                    int by, size_t node, struct twpp_vector *out)
{
	struct twpp_vector moved = {0};

	twpp_vector_step(times, by, g->n, &moved);
	twpp_vector_and(&moved, &g->nodes[node].times, out);
	twpp_vector_release(&moved);
}

/* --- finding ------------------------------------------------------------ */

/* Where a block is: in which node, and which of its blocks.  False: nowhere. */
static bool place_of(const struct twpp_form *g, uint32_t block, size_t *node,
                     size_t *at)
{
	for (*node = 0; *node < g->nnodes; ++*node)
		for (*at = 0; *at < g->nodes[*node].nblocks; ++*at)
			if (g->nodes[*node].blocks[*at] == block)
				return true;
	return false;
}

static void copy_vector(const struct twpp_vector *from, struct twpp_vector *out)
{
	struct twpp_writer w;

	twpp_vector_clear(out);
	twpp_writer_begin(&w, out);
	for (size_t i = 0; i < from->n; i++)
		twpp_writer_add(&w, &from->runs[i]);
	twpp_writer_end(&w);
}

void twpp_form_find(const struct twpp_form *g, const uint32_t *blocks, size_t n,
                    struct twpp_vector *out)
{
	struct twpp_vector moved = {0};
	size_t node, at, next, place;

	twpp_vector_clear(out);
	if (!place_of(g, blocks[0], &node, &at))
		return;
	copy_vector(&g->nodes[node].times, out);
	for (size_t i = 1; i < n && out->n; i++) {
		bool is_there = place_of(g, blocks[i], &next, &place);

		if (is_there && next == node && place == at + 1) {
			at = place;
		} else if (is_there && !place &&
		           at + 1 == g->nodes[node].nblocks) {
			struct twpp_vector old = *out;

			twpp_form_move(g, &old, 1, next, &moved);
			*out = moved;
			moved = old;
			node = next;
			at = 0;
		} else {
			twpp_vector_clear(out);
		}
	}
	twpp_vector_release(&moved);
}
