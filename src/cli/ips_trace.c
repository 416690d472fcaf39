/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a trace to its path segments: the walk feeds analysis/segments.c.  Which
 * edges are back edges is found on the graph of the trace, in which calls end
 * nothing: the same edges are back edges where calls were inlined.
 */
#include "cli/ips.h"

#include "base/alloc.h"
#include "base/err.h"
#include "cli/cli.h"
#include "cli/trace_input.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/dag.h"

#include <stdlib.h>

#define BATCH 1024

static struct segments_edge *graph_of(const struct traced_function *f)
{
	const struct map_edge *e = f->map->edges + f->f->first_edge;
	struct segments_edge *edges =
	        xcalloc((size_t)f->f->nedges + 1, sizeof(*edges));
	enum dag_how *asked = xcalloc((size_t)f->f->nedges + 1, sizeof(*asked));
	struct dag d;

	for (uint32_t i = 0; i < f->f->nedges; i++)
		asked[i] = e[i].kind == CAIRN_EDGE_INDIRECT ? DAG_INDIRECT
		                                            : DAG_THROUGH;
	dag_init(&d, &f->g, asked);
	for (uint32_t i = 0; i < f->f->nedges; i++)
		edges[i] = (struct segments_edge){
		        .src = e[i].src,
		        .dst = e[i].dst,
		        .is_call = f->callee[i] != WALK_NOTHING,
		        .is_part = e[i].kind == CAIRN_EDGE_CALL,
		        .ends = d.how[i] == DAG_BACK ||
		                d.how[i] == DAG_INDIRECT,
		};
	dag_release(&d);
	free(asked);
	return edges;
}

static void name_functions(struct ips *x, const struct trace_input *in)
{
	x->nfunctions = in->traced.n;
	x->keys = xcalloc((size_t)x->nfunctions + 1, sizeof(*x->keys));
	x->names = xcalloc((size_t)x->nfunctions + 1, sizeof(*x->names));
	x->graphs = xcalloc((size_t)x->nfunctions + 1, sizeof(*x->graphs));
	for (uint32_t i = 0; i < x->nfunctions; i++) {
		const struct traced_function *f = &in->traced.functions[i];

		x->keys[i] = key_of(f->map, f->f);
		x->names[i] = xstrdup(trace_input_name(in, i));
		x->graphs[i].nedges = f->f->nedges;
		x->graphs[i].edges = graph_of(f);
	}
	x->program = in->profile->program;
}

static void feed(struct segments *s, const struct walk_event *e)
{
	switch (e->kind) {
	case WALK_START:
	case WALK_LOST:
		segments_end_thread(s);
		segments_begin_thread(s);
		break;
	case WALK_ENTER:
		segments_enter(s, e->function, e->depth);
		break;
	case WALK_FRAME:
		segments_find_frame(s, e->function, e->depth);
		break;
	case WALK_PATH:
		segments_take(s, e->way->edges, e->way->nedges);
		break;
	case WALK_LEAVE:
		segments_leave(s);
		break;
	case WALK_DEATH:
		segments_die(s);
		break;
	case WALK_LAND:
		segments_land(s, e->block);
		break;
	case WALK_TIME:
	case WALK_SYNC:
		break;
	}
}

static int walk_thread(struct segments *s, struct traced *t, size_t thread,
                       struct cairn_err *err)
{
	struct walk_event *events = xcalloc(BATCH, sizeof(*events));
	struct traced_walk w;
	int rc = 1;

	segments_begin_thread(s);
	traced_begin(&w, t, thread);
	while (rc > 0) {
		size_t n;

		rc = walk_run(&w.walk, events, BATCH, &n, err);
		for (size_t i = 0; i < n; i++)
			feed(s, &events[i]);
	}
	segments_end_thread(s);
	traced_end(&w);
	free(events);
	return rc;
}

static int walk_all(struct ips *x, struct cairn_err *err)
{
	for (size_t i = 0; i < x->trace->streams.nthreads; i++)
		CAIRN_TRY(walk_thread(&x->s, &x->trace->traced, i, err));
	ips_sort(x);
	return 0;
}

int ips_from_trace(struct ips *x, struct trace_input *in,
                   const struct ips_options *o, struct cairn_err *err)
{
	struct cli_inputs inputs = {0};
	int rc = 0;

	*x = (struct ips){.options = *o, .trace = in};
	name_functions(x, in);
	if (!o->like) {
		segments_init(&x->s, x->graphs, x->nfunctions, o->depth);
	} else {
		segments_init_planned(&x->s, x->graphs, x->nfunctions);
		rc = ips_add_copies(x, &inputs, o->like, err);
		cli_inputs_release(&inputs);
	}
	return rc < 0 ? rc : walk_all(x, err);
}

/* Adds a copy of x and those it is in to y: its number there. */
static uint32_t plan_copy(struct ips *y, const struct ips *x, uint32_t copy,
                          uint32_t *planned)
{
	const struct segments_copy *c = &x->s.copies[copy];
	uint32_t parent;

	if (c->parent == SEGMENTS_NONE || planned[copy])
		return c->parent == SEGMENTS_NONE ? copy : planned[copy];
	parent = plan_copy(y, x, c->parent, planned);
	planned[copy] = segments_add_copy(&y->s, parent, c->site, c->function);
	return planned[copy];
}

/* Is this segment of y one of those that x has chosen?  Marks them. */
static void take_choice(struct ips *y, struct ips *x, const uint32_t *planned)
{
	struct segments chosen;
	struct segments_one one;

	segments_init_planned(&chosen, y->graphs, y->nfunctions);
	for (uint32_t i = y->nfunctions; i < y->s.ncopies; i++)
		segments_add_copy(&chosen, y->s.copies[i].parent,
		                  y->s.copies[i].site, y->s.copies[i].function);
	for (size_t i = 0; i < x->nrows; i++) {
		struct segments_step *steps;

		if (!x->rows[i].is_chosen)
			continue;
		ips_read(x, &x->rows[i], &one);
		steps = xcalloc(one.nsteps, sizeof(*steps));
		for (uint32_t k = 0; k < one.nsteps; k++) {
			steps[k] = one.steps[k];
			if (steps[k].copy >= x->nfunctions)
				steps[k].copy = planned[steps[k].copy];
		}
		if (one.end == SEGMENTS_BACK && one.to.copy >= x->nfunctions)
			one.to.copy = planned[one.to.copy];
		one.steps = steps;
		one.count = 1;
		segments_count(&chosen, &one);
		free(steps);
	}
	y->nchosen = 0;
	for (size_t i = 0; i < y->nrows; i++) {
		ips_read(y, &y->rows[i], &one);
		one.count = 0;
		y->rows[i].is_chosen = segments_has(&chosen, &one);
		y->nchosen += y->rows[i].is_chosen;
	}
	segments_release(&chosen);
}

int ips_plan(struct ips *y, struct ips *x, struct cairn_err *err)
{
	uint32_t *planned = xcalloc((size_t)x->s.ncopies + 1, sizeof(*planned));
	struct segments_one one;
	int rc;

	*y = (struct ips){.options = x->options, .trace = x->trace};
	y->options.every = true;
	y->options.top = y->options.share = 0;
	name_functions(y, x->trace);
	segments_init_planned(&y->s, y->graphs, y->nfunctions);
	for (size_t i = 0; i < x->nrows; i++) {
		if (!x->rows[i].is_chosen)
			continue;
		ips_read(x, &x->rows[i], &one);
		for (uint32_t k = 0; k < one.nsteps; k++)
			plan_copy(y, x, one.steps[k].copy, planned);
	}
	rc = walk_all(y, err);
	if (rc == 0)
		take_choice(y, x, planned);
	free(planned);
	return rc;
}
