/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_PATH_MACHINE_H
#define CAIRN_TESTS_PATH_MACHINE_H

/* A machine that executes the operations on the path register along a walk. */
#include <string.h>

#include "graph/dag.h"
#include "graph/increments.h"
#include "graphs.h"

struct machine {
	const struct dag *d;
	const struct increments *inc;
	uint32_t *on_edge, *at_head, *at_end; /* operation, or CFG_NONE */
	uint64_t r, mask;                     /* mask: the width of r */
	bool has_counted;                     /* by the last call */
	uint64_t counted;
	uint32_t nrepeated; /* places with two operations */
};

static inline uint32_t *machine_places(uint32_t n)
{
	uint32_t *p = calloc((size_t)n + 1, sizeof(*p));

	if (!p)
		abort();
	memset(p, 0xff, ((size_t)n + 1) * sizeof(*p));
	return p;
}

/* The register begins with garbage: it must be set before it is read. */
static inline void machine_init(struct machine *m, const struct dag *d,
                                const struct increments *inc)
{
	*m = (struct machine){
	        .d = d,
	        .inc = inc,
	        .on_edge = machine_places(d->g->nedges),
	        .at_head = machine_places(d->g->nblocks),
	        .at_end = machine_places(d->g->nblocks),
	        .r = 0xdeadbeefdeadbeef,
	        .mask = UINT64_MAX,
	};
	for (uint32_t i = 0; i < inc->n; i++) {
		const struct increment *op = &inc->ops[i];
		uint32_t *at = op->place == INCREMENT_ON_EDGE   ? m->on_edge
		               : op->place == INCREMENT_AT_HEAD ? m->at_head
		                                                : m->at_end;

		m->nrepeated += at[op->where] != CFG_NONE;
		at[op->where] = i;
	}
}

static inline void machine_release(struct machine *m)
{
	free(m->on_edge);
	free(m->at_head);
	free(m->at_end);
}

static inline void machine_execute(struct machine *m, uint32_t i)
{
	const struct increment *op;

	if (i == CFG_NONE)
		return;
	op = &m->inc->ops[i];
	if (op->kind == INCREMENT_SET)
		m->r = op->value & m->mask;
	else if (op->kind == INCREMENT_ADD)
		m->r = (m->r + op->value) & m->mask;
	else {
		m->has_counted = true;
		m->counted = op->value;
		if (op->kind == INCREMENT_COUNT)
			m->counted += m->r;
		m->counted &= m->mask;
		m->r = op->then_set ? op->set & m->mask : 0xbadbadbadbadbad;
	}
}

/* Takes an edge. */
static inline void machine_take(struct machine *m, edge_id e)
{
	const struct cfg_edge *edge = &m->d->g->edges[e];

	m->has_counted = false;
	if (m->d->how[e] == DAG_INDIRECT) {
		machine_execute(m, m->at_end[edge->src]);
		machine_execute(m, m->at_head[edge->dst]);
	} else {
		machine_execute(m, m->on_edge[e]);
	}
}

/* Comes to the end of a block without edges out. */
static inline void machine_stop(struct machine *m, block_id b)
{
	m->has_counted = false;
	machine_execute(m, m->at_end[b]);
}

#endif /* CAIRN_TESTS_PATH_MACHINE_H */
