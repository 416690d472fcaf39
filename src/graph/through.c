/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths through some blocks, out of all numbered paths.
 *
 * From the end of the DAG backwards, as paths are numbered (T. Ball and J.
 * Larus, "Efficient path profiling", MICRO 29, 1996): of the paths from a
 * vertex on, how many meet a wanted block, the vertex itself included.  A walk
 * from the start then lists them: it turns away from vertices behind which
 * nothing is wanted any more, so that every step leads to a path of the list.
 * Edges out of a vertex have ascending values, so numbers come ascending.
 *
 * An indirect branch goes to its own targets alone, though its vertex, the
 * hub, leads to those of all: see dag.h.  No block comes behind it.
 *
 * Oracle: test_through decodes every number.
 * Cost: O(V+E) to count, and O(length of the paths listed).
 */
#include "graph/through.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dag.h"
#include "graph/paths.h"

/* A vertex on the way from the start. */
struct step {
	uint32_t edge, end; /* its edges that are still to take */
	uint64_t sum;       /* of values up to it */
	bool met;           /* a wanted block, here or before */
};

/* Some paths: how many, and their edges. */
struct amount {
	uint64_t n, length;
};

struct through {
	const struct paths *p;
	const bool *block;
	struct amount *all;     /* per vertex: paths from there on */
	struct amount *meeting; /* those that meet a wanted block */
	uint32_t *stamp; /* per block: 1 + the last branch that targets it */
};

static bool is_wanted(const struct dag *d, const bool *block, uint32_t v)
{
	return v != DAG_START && v < d->g->nblocks && block[v];
}

/* Stamps the targets of the indirect branch of block b; returns how many. */
static uint32_t stamp_targets(struct through *t, block_id b)
{
	const struct dag *d = &t->p->dag;
	uint32_t n = 0;

	for (uint32_t i = d->g->out_at[b]; i < d->g->out_at[b + 1]; i++) {
		edge_id e = d->g->out[i];
		uint32_t *stamp = &t->stamp[d->g->edges[e].dst];

		if (d->how[e] != DAG_INDIRECT || *stamp == b + 1)
			continue;
		*stamp = b + 1;
		n++;
	}
	return n;
}

/* Adds the paths `more`, with one edge before each of them. */
static void add_paths(struct amount *to, struct amount more)
{
	to->n += more.n;
	to->length += more.length + more.n;
}

static void count_from(struct through *t, uint32_t v)
{
	const struct dag *d = &t->p->dag;

	t->all[v] = (struct amount){v == dag_end(d), 0};
	t->meeting[v] = (struct amount){0, 0};
	for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
		const struct dag_edge *edge = &d->edges[e];

		if (edge->kind == DAG_GATHER) {
			uint64_t n = stamp_targets(t, edge->of);

			add_paths(&t->all[v], (struct amount){n, n});
			continue;
		}
		add_paths(&t->all[v], t->all[edge->dst]);
		add_paths(&t->meeting[v], t->meeting[edge->dst]);
	}
	if (is_wanted(d, t->block, v))
		t->meeting[v] = t->all[v];
}

static void through_init(struct through *t, const struct paths *p,
                         const bool *block)
{
	const struct dag *d = &p->dag;

	*t = (struct through){
	        .p = p,
	        .block = block,
	        .all = xcalloc(d->nvertices, sizeof(*t->all)),
	        .meeting = xcalloc(d->nvertices, sizeof(*t->meeting)),
	        .stamp = xcalloc(d->g->nblocks, sizeof(*t->stamp)),
	};
	for (uint32_t i = d->norder; i-- > 0;)
		count_from(t, d->order[i]);
}

static void through_release(struct through *t)
{
	free(t->all);
	free(t->meeting);
	free(t->stamp);
}

/* The paths that the indirect branch of block b ends.  Returns how many. */
static uint32_t list_targets(struct through *t, block_id b, uint64_t sum,
                             uint64_t *number)
{
	const struct dag *d = &t->p->dag;
	uint32_t n = 0;

	stamp_targets(t, b);
	for (uint32_t e = d->out_at[dag_hub(d)]; e < d->out_at[dag_hub(d) + 1];
	     e++)
		if (t->stamp[d->edges[e].of] == b + 1)
			number[n++] = sum + t->p->value[e];
	return n;
}

static struct step step_to(const struct through *t, uint32_t v, uint64_t sum,
                           bool met)
{
	const struct dag *d = &t->p->dag;

	return (struct step){d->out_at[v], d->out_at[v + 1], sum,
	                     met || is_wanted(d, t->block, v)};
}

static void list_all(struct through *t, uint64_t *number)
{
	const struct dag *d = &t->p->dag;
	struct step *stack = xcalloc(d->nvertices, sizeof(*stack));
	uint32_t depth = 0;

	stack[depth++] = step_to(t, DAG_START, 0, false);
	while (depth > 0) {
		struct step *s = &stack[depth - 1];
		const struct dag_edge *edge;
		uint64_t sum;

		if (s->edge == s->end) {
			depth--;
			continue;
		}
		edge = &d->edges[s->edge];
		sum = s->sum + t->p->value[s->edge++];
		if (!s->met && !t->meeting[edge->dst].n)
			continue;
		if (edge->kind == DAG_GATHER)
			number += list_targets(t, edge->of, sum, number);
		else if (edge->dst == dag_end(d))
			*number++ = sum;
		else
			stack[depth++] = step_to(t, edge->dst, sum, s->met);
	}
	free(stack);
}

uint64_t through_count(const struct paths *p, const bool *block,
                       uint64_t *length)
{
	struct amount found;
	struct through t;

	through_init(&t, p, block);
	found = t.meeting[DAG_START];
	through_release(&t);
	if (length)
		*length = found.length;
	return found.n;
}

void through_list(const struct paths *p, const bool *block, uint64_t *number)
{
	struct through t;

	through_init(&t, p, block);
	list_all(&t, number);
	through_release(&t);
}

void through_edges(const struct dag *d, const bool *block, bool *edge)
{
	/* per vertex: a wanted block is there, or before it; or after it */
	bool *before = xcalloc(d->nvertices, sizeof(*before));
	bool *after = xcalloc(d->nvertices, sizeof(*after));

	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i];

		before[v] |= is_wanted(d, block, v);
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			before[d->edges[e].dst] |= before[v];
	}
	for (uint32_t i = d->norder; i-- > 0;) {
		uint32_t v = d->order[i];

		after[v] = is_wanted(d, block, v);
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			after[v] |= after[d->edges[e].dst];
	}
	for (uint32_t e = 0; e < d->nedges; e++)
		if (d->edges[e].kind == DAG_STEP)
			edge[d->edges[e].of] = before[d->edges[e].src] ||
			                       after[d->edges[e].dst];
	free(before);
	free(after);
}
