/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic call graph of a timestamped whole program path.
 *
 * twpp.c says how it is made: a node is what an activation did, all the way
 * down, and callees have lower numbers than callers.  The bytes of the graph
 * are kept as they are, with the place of every node; what an activation did is
 * put together again from the trace of its function, the number of calls of
 * each block, and the list of callees.
 *
 * In the file: per function whose blocks make calls, by its number: uv
 * function + 1, uv blocks, and for each uv (block - the one before) and uv
 * calls; uv 0.  uv threads; each uv id and the string of its roots.  uv nodes;
 * each uv function, uv (trace * 16 + 8 if it calls + 4 if some block is odd +
 * how it ended), the string of odd blocks (pairs: uv position - the one before,
 * uv calls) and the string of callees, if it has them.
 *
 * Short traces are expanded once and kept, up to a bound; others are read from
 * their series each time, with the memory of their nodes alone.
 */
#include "analysis/twpp_graph.h"

#include "analysis/twpp_builder.h"
#include "analysis/twpp_stamp.h"
#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of a trace that is kept expanded, and of all of them. */
#define SHORT ((size_t)1 << 14)
#define ROOM ((size_t)1 << 24)

static int corrupt(const struct twpp *t, const char *what,
                   struct cairn_err *err)
{
	return cairn_corrupt(err, t->name, t->stored.header,
	                     "%s; make the file again from its trace", what);
}

/* --- loading ------------------------------------------------------------ */

/* The entry of a function that was called, or UINT32_MAX. */
static uint32_t entry_of(const struct twpp *t, uint64_t function)
{
	const struct twpp_entry *e = function < TWPP_FUNCTIONS
	                                     ? twpp_entry(t, (uint32_t)function)
	                                     : NULL;

	return e && e->ncalls ? (uint32_t)(e - t->entries) : UINT32_MAX;
}

/* The blocks of one function that make calls. */
static bool take_callers(struct twpp_held *h, struct cursor *c)
{
	uint64_t block = 0;

	for (uint64_t n = cursor_uv(c); n; n--) {
		uint64_t gap = cursor_uv(c), calls = cursor_uv(c);

		if (c->bad || (!gap && h->ncallers) || gap >= TWPP_BLOCKS ||
		    block + gap >= TWPP_BLOCKS)
			return false;
		block += gap;
		VEC_RESERVE(h->callers, h->ncallers, h->callers_cap);
		h->callers[h->ncallers++] =
		        (struct twpp_caller){(uint32_t)block, calls};
	}
	return !c->bad;
}

static bool take_expected(struct twpp_graph *g, struct cursor *c)
{
	uint64_t function;

	while ((function = cursor_uv(c)) != 0) {
		uint32_t entry = entry_of(g->file, function - 1);

		if (entry == UINT32_MAX || g->held[entry].ncallers ||
		    !take_callers(&g->held[entry], c))
			return false;
	}
	return !c->bad;
}

static bool take_threads(struct twpp_graph *g, struct cursor *c)
{
	uint64_t n = cursor_uv(c);

	if (c->bad || n > (uint64_t)(c->end - c->p))
		return false;
	g->threads = xcalloc((size_t)n + 1, sizeof(*g->threads));
	g->nthreads = (size_t)n;
	for (size_t i = 0; i < n; i++) {
		g->threads[i].id = cursor_uv(c);
		twpp_string_take(c, &g->threads[i].roots);
	}
	return !c->bad;
}

static bool take_node(const struct twpp *t, struct cursor *c,
                      struct twpp_node *node)
{
	uint64_t function = cursor_uv(c), word = cursor_uv(c);

	node->entry = entry_of(t, function);
	node->trace = (uint32_t)(word >> TWPP_TRACE_SHIFT);
	node->end = (enum twpp_end)(word & TWPP_END_MASK);
	node->odd = node->calls = (struct twpp_string){0};
	if (word & TWPP_HAS_ODD)
		twpp_string_take(c, &node->odd);
	if (word & TWPP_HAS_CALLS)
		twpp_string_take(c, &node->calls);
	return !c->bad && node->entry != UINT32_MAX && node->end < TWPP_NENDS &&
	       word >> TWPP_TRACE_SHIFT < t->entries[node->entry].ntraces;
}

static bool take_nodes(struct twpp_graph *g, struct cursor *c)
{
	uint64_t n = cursor_uv(c);

	if (c->bad || n > (uint64_t)(c->end - c->p) || n >= UINT32_MAX)
		return false;
	g->nodes = xcalloc((size_t)n + 1, sizeof(*g->nodes));
	g->n = (uint32_t)n;
	for (uint32_t i = 0; i < n; i++) {
		struct twpp_node node;

		g->nodes[i] = (uint64_t)(c->p - g->bytes);
		if (!take_node(g->file, c, &node))
			return false;
	}
	g->nodes[n] = (uint64_t)(c->p - g->bytes);
	return c->p == c->end;
}

int twpp_graph_load(struct twpp_graph *g, struct twpp *t, struct cairn_err *err)
{
	const unsigned char *p = t->data + t->stored.header;
	struct cursor c = {p, p + t->stored.graph, false}, part;
	int rc;

	*g = (struct twpp_graph){.file = t, .room = ROOM};
	if (twpp_sum(p, (size_t)t->stored.graph) != get_le32(t->data + 16))
		return corrupt(t, "its call graph is damaged", err);
	rc = twpp_part_take(&c, &t->zip, t->name, &g->own, &part, err);
	if (rc)
		return rc;
	g->bytes = part.p;
	g->held = xcalloc(t->nentries + (size_t)1, sizeof(*g->held));
	if (c.p == c.end && take_expected(g, &part) && take_threads(g, &part) &&
	    take_nodes(g, &part))
		return 0;
	twpp_graph_release(g);
	return corrupt(t, "its call graph makes no sense", err);
}

static void release_held(struct twpp_held *h)
{
	for (size_t i = 0; h->blocks && i < h->function.ntraces; i++)
		free(h->blocks[i]);
	free(h->blocks);
	free(h->nblocks);
	free(h->callers);
	if (h->is_loaded)
		twpp_function_release(&h->function);
}

void twpp_graph_release(struct twpp_graph *g)
{
	for (uint32_t i = 0; g->held && i < g->file->nentries; i++)
		release_held(&g->held[i]);
	free(g->held);
	free(g->threads);
	free(g->nodes);
	bytes_release(&g->own);
	*g = (struct twpp_graph){0};
}

struct twpp_node twpp_graph_node(const struct twpp_graph *g, uint32_t i)
{
	struct cursor c = {g->bytes + g->nodes[i], g->bytes + g->nodes[i + 1],
	                   false};
	struct twpp_node node;

	take_node(g->file, &c, &node);
	return node;
}

int twpp_graph_function(struct twpp_graph *g, uint32_t entry,
                        struct twpp_function **f, struct cairn_err *err)
{
	struct twpp_held *h = &g->held[entry];

	*f = &h->function;
	if (h->is_loaded)
		return 0;
	CAIRN_TRY(twpp_function_load(g->file, &g->file->entries[entry],
	                             &h->function, err));
	h->blocks = xcalloc(h->function.ntraces + 1, sizeof(*h->blocks));
	h->nblocks = xcalloc(h->function.ntraces + 1, sizeof(*h->nblocks));
	h->is_loaded = true;
	return 0;
}

/* --- lists of nodes ----------------------------------------------------- */

void twpp_calls_init(struct twpp_calls *c, struct twpp_graph *g,
                     const struct twpp_string *nodes, uint32_t below)
{
	*c = (struct twpp_calls){.below = below, .file = g->file};
	twpp_reader_init(&c->reader, nodes, &g->file->zip);
}

void twpp_calls_release(struct twpp_calls *c)
{
	twpp_reader_release(&c->reader);
}

int twpp_calls_next(struct twpp_calls *c, uint32_t *node, struct cairn_err *err)
{
	uint64_t next;

	if (!twpp_reader_more(&c->reader) && !c->reader.bad)
		return 0;
	next = twpp_reader_uv(&c->reader);
	if (c->reader.bad || next >= c->below)
		return corrupt(c->file, "an activation calls what is none",
		               err);
	*node = (uint32_t)next;
	return 1;
}

/* --- an activation ------------------------------------------------------ */

static int not_fitting(const struct twpp_activation *a, struct cairn_err *err)
{
	return corrupt(a->graph->file,
	               "the calls of an activation do not fit its trace", err);
}

static int next_odd(struct twpp_activation *a, bool is_first,
                    struct cairn_err *err)
{
	uint64_t gap;

	if (!twpp_reader_more(&a->odd) && !a->odd.bad) {
		a->odd_at = UINT64_MAX;
		return 0;
	}
	gap = twpp_reader_uv(&a->odd);
	a->odd_calls = twpp_reader_uv(&a->odd);
	if (a->odd.bad || (!gap && !is_first) ||
	    __builtin_add_overflow(a->odd_at, gap, &a->odd_at))
		return not_fitting(a, err);
	return 0;
}

/* How many calls a block makes, if it is not odd. */
static uint64_t calls_of(const struct twpp_held *h, uint32_t block)
{
	size_t low = 0, high = h->ncallers;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->callers[middle].block == block)
			return h->callers[middle].ncalls;
		if (h->callers[middle].block < block)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* The block was executed: how many calls come now? */
static int expect_calls(struct twpp_activation *a, uint32_t block,
                        struct cairn_err *err)
{
	if (a->at == a->odd_at) {
		a->ncalls = a->odd_calls;
		return next_odd(a, false, err);
	}
	a->ncalls = calls_of(a->held, block);
	return 0;
}

/* The blocks of the trace: expanded if it is short. */
static int begin_blocks(struct twpp_activation *a, struct twpp_held *h,
                        uint32_t trace, struct cairn_err *err)
{
	const struct twpp_function *f = &h->function;
	const struct twpp_body *body = &f->bodies[f->traces[trace].body];
	size_t most = a->graph->room < SHORT ? a->graph->room : SHORT;

	if (!h->blocks[trace] && body->n <= most) {
		CAIRN_TRY(twpp_trace_blocks(f, &f->traces[trace], most,
		                            &h->blocks[trace],
		                            &h->nblocks[trace], err));
		a->graph->room -= h->nblocks[trace];
	}
	if (h->blocks[trace]) {
		a->p = h->blocks[trace];
		a->n = h->nblocks[trace];
		return 0;
	}
	a->has_trail = true;
	return twpp_trail_init(&a->trail, f, body, err);
}

int twpp_activation_init(struct twpp_activation *a, struct twpp_graph *g,
                         uint32_t node, struct cairn_err *err)
{
	struct twpp_node is = twpp_graph_node(g, node);
	struct twpp_held *h = &g->held[is.entry];
	struct twpp_function *f;

	*a = (struct twpp_activation){
	        .graph = g, .held = h, .node = node, .end = is.end};
	CAIRN_TRY(twpp_graph_function(g, is.entry, &f, err));
	a->trace = &f->traces[is.trace];
	twpp_calls_init(&a->calls, g, &is.calls, node);
	twpp_reader_init(&a->odd, &is.odd, &g->file->zip);
	CAIRN_TRY(begin_blocks(a, h, is.trace, err));
	CAIRN_TRY(next_odd(a, true, err));
	return expect_calls(a, 0, err);
}

void twpp_activation_release(struct twpp_activation *a)
{
	if (a->has_trail)
		twpp_trail_release(&a->trail);
	twpp_calls_release(&a->calls);
	twpp_reader_release(&a->odd);
}

/* More blocks of the trace: 1, or 0 behind the last one. */
static int more_blocks(struct twpp_activation *a, struct cairn_err *err)
{
	const struct twpp_function *f = &a->held->function;
	size_t node;

	if (!a->times) {
		if (!a->has_trail)
			return 0;
		int rc = twpp_trail_next(&a->trail, &node, &a->times, err);

		if (rc <= 0)
			return rc;
		node += f->bodies[a->trace->body].first;
		a->again = twpp_node_blocks(f, a->trace, &f->nodes[node],
		                            &a->n_again);
	}
	a->times--;
	a->p = a->again;
	a->n = a->n_again;
	return 1;
}

static int end_of(struct twpp_activation *a, struct cairn_err *err)
{
	uint32_t node;
	int rc = twpp_calls_next(&a->calls, &node, err);

	if (rc < 0)
		return rc;
	return rc || a->odd_at != UINT64_MAX ? not_fitting(a, err)
	                                     : TWPP_STEP_END;
}

int twpp_activation_next(struct twpp_activation *a, uint32_t *what,
                         struct cairn_err *err)
{
	int rc;

	if (a->ncalls) {
		a->ncalls--;
		rc = twpp_calls_next(&a->calls, what, err);
		if (rc < 0)
			return rc;
		return rc ? TWPP_STEP_CALL : not_fitting(a, err);
	}
	if (!a->n) {
		rc = more_blocks(a, err);
		if (rc < 0)
			return rc;
		if (!rc)
			return end_of(a, err);
	}
	*what = *a->p++;
	a->n--;
	a->at++;
	CAIRN_TRY(expect_calls(a, *what, err));
	return TWPP_STEP_BLOCK;
}
