/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is to say about the pairs of paths of a trace: the bounds at one
 * degree beside those of plain paths, functions and pairs by how often they
 * ran, and what blocks and lines the halves of a pair are.
 */
#include "cli/overlap.h"

#include "base/alloc.h"
#include "base/err.h"
#include "cli/trace_input.h"
#include "format/map.h"
#include "graph/dag.h"
#include "graph/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- degrees, functions ------------------------------------------------------
 */

/* A third, to the nearest number; 0 only if nothing is to be decided. */
static uint32_t third_of(uint32_t maximum)
{
	uint32_t third = (maximum + 1) / 3;

	return third || !maximum ? third : 1;
}

static uint32_t choose_degree(const struct overlap_view *v)
{
	if (v->options.choice == OVERLAP_NUMBER)
		return v->options.number;
	return v->options.choice == OVERLAP_HIGHEST ? v->maximum
	                                            : third_of(v->maximum);
}

/* A name is that of the linker, or of C++ with or without parameters. */
static bool has_name(const struct overlap_view *v, uint32_t function)
{
	const char *wanted = v->options.function;
	const char *name = v->in->names[function];

	return !wanted || !strcmp(wanted, name) ||
	       !strcmp(wanted, traced_name(&v->in->traced, function)) ||
	       (strcspn(name, "(") == strlen(wanted) &&
	        !strncmp(wanted, name, strlen(wanted)));
}

struct overlap_totals overlap_view_sum(const struct overlap_bounds *b,
                                       uint32_t function)
{
	struct overlap_totals sum = {0};

	for (size_t k = 0; k < OVERLAP_NKINDS; k++) {
		const struct overlap_totals *t =
		        &b->totals[OVERLAP_NKINDS * (size_t)function + k];

		sum.npairs += t->npairs;
		sum.nexact += t->nexact;
		sum.ntight += t->ntight;
		sum.real += t->real;
		sum.definite += t->definite;
		sum.tight_definite += t->tight_definite;
		sum.potential += t->potential;
	}
	return sum;
}

struct by_flow {
	uint64_t flow;
	uint32_t function;
};

static int by_flow(const void *a, const void *b)
{
	const struct by_flow *x = a, *y = b;

	if (x->flow != y->flow)
		return x->flow > y->flow ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int rank_functions(struct overlap_view *v, struct cairn_err *err)
{
	struct by_flow *flows =
	        xcalloc((size_t)v->profile->nfunctions + 1, sizeof(*flows));
	bool is_known = false;

	v->functions = xcalloc((size_t)v->profile->nfunctions + 1,
	                       sizeof(*v->functions));
	for (uint32_t i = 0; i < v->profile->nfunctions; i++) {
		struct overlap_totals t = overlap_view_sum(&v->plain, i);
		uint64_t flow = v->profile->is_plain ? t.potential : t.real;

		is_known |= has_name(v, i);
		if (flow && has_name(v, i))
			flows[v->nfunctions++] = (struct by_flow){flow, i};
	}
	qsort(flows, v->nfunctions, sizeof(*flows), by_flow);
	for (size_t i = 0; i < v->nfunctions; i++)
		v->functions[i] = flows[i].function;
	free(flows);
	if (is_known)
		return 0;
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%s: has no function %s; cairn report lists them",
	                  v->in->path, v->options.function);
}

/* --- pairs -------------------------------------------------------------------
 */

static const struct overlap_count *sample_of(const struct overlap_view *v,
                                             const struct overlap_row *row)
{
	return &v->profile->counts[row->joint->sample];
}

static int by_count(const void *a, const void *b)
{
	const struct overlap_row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->joint < y->joint ? -1 : x->joint > y->joint;
}

/* Of pairs that nobody counted, by what is known. */
static void weigh(const struct overlap_view *v, struct overlap_row *row)
{
	struct overlap_bound b =
	        overlap_bounds_pair(&v->plain, row->kind, row->joint);

	row->weight = v->options.tight ? b.tight_lower : b.lower;
	row->most = b.upper;
}

static void rank_pairs(struct overlap_view *v)
{
	const struct overlap_margins *m = &v->margins;
	size_t n = 0;

	for (int k = 0; k < OVERLAP_NKINDS; k++)
		n += m->njoints[k];
	v->rows = xcalloc(n + 1, sizeof(*v->rows));
	for (int k = 0; k < OVERLAP_NKINDS; k++)
		for (size_t i = 0; i < m->njoints[k]; i++) {
			struct overlap_row row = {(enum overlap_kind)k,
			                          &m->joints[k][i], 0, 0};
			const struct overlap_count *c = sample_of(v, &row);

			row.weight = row.joint->to.count;
			if (v->profile->is_plain)
				weigh(v, &row);

			if (has_name(v, c->from.function) ||
			    has_name(v, c->to.function))
				v->rows[v->nrows++] = row;
		}
	qsort(v->rows, v->nrows, sizeof(*v->rows), by_count);
}

/* The lines of blocks, which the map of the trace has in parts. */
static char *lines_of(const struct overlap_view *v, uint32_t function,
                      const block_id *blocks, uint32_t n)
{
	const struct whole *w;
	uint32_t *parts = NULL, nparts = 0, cap = 0;
	char *lines;

	if (!v->trace.wholes)
		return trace_lines(v->in, function, blocks, n);
	w = &v->trace.wholes[function];
	for (uint32_t i = 0; i < n; i++)
		for (block_id p = 1; p < w->f->nblocks; p++) {
			if (w->block_of[p] != blocks[i])
				continue;
			VEC_RESERVE(parts, nparts, cap);
			parts[nparts++] = p;
		}
	lines = trace_lines(v->in, function, parts, nparts);
	free(parts);
	return lines;
}

static void show_part(const struct overlap_view *v, uint32_t function,
                      uint32_t from, uint64_t sum, block_id last,
                      struct overlap_shown *out)
{
	const struct overlap_graph *g = &v->profile->graphs[function];
	uint32_t nvertices = g->paths->dag.nvertices, n;
	struct overlap_step *steps =
	        xcalloc((size_t)nvertices + 1, sizeof(*steps));

	*out = (struct overlap_shown){.function = function};
	out->blocks = xcalloc((size_t)nvertices + 1, sizeof(*out->blocks));
	n = overlap_steps(g, from, sum, last, steps);
	for (uint32_t i = 0; i < n; i++)
		if (steps[i].vertex < g->paths->dag.g->nblocks)
			out->blocks[out->nblocks++] = steps[i].vertex;
	out->lines = lines_of(v, function, out->blocks, out->nblocks);
	free(steps);
}

void overlap_view_halves(const struct overlap_view *v,
                         const struct overlap_row *row,
                         struct overlap_shown *from, struct overlap_shown *to)
{
	const struct overlap_count *c = sample_of(v, row);
	const struct overlap_joint *j = row->joint;

	switch (row->kind) {
	case OVERLAP_LOOP:
		show_part(v, c->from.function, j->row.first, j->row.sum,
		          j->row.last, from);
		show_part(v, c->to.function, j->to.first, j->to.sum, j->to.last,
		          to);
		break;
	case OVERLAP_CALL:
		show_part(v, c->from.function, DAG_START, c->from.number,
		          c->from.block, from);
		show_part(v, c->to.function, DAG_START, c->to.number, CFG_NONE,
		          to);
		break;
	case OVERLAP_RETURN:
		show_part(v, c->from.function, DAG_START, c->from.number,
		          CFG_NONE, from);
		show_part(v, c->to.function, j->to.from, c->to.number, CFG_NONE,
		          to);
		break;
	}
}

void overlap_shown_release(struct overlap_shown *s)
{
	free(s->blocks);
	free(s->lines);
	*s = (struct overlap_shown){0};
}

/* --- all of it ---------------------------------------------------------------
 */

static int make_view(struct overlap_view *v, struct cairn_err *err)
{
	int32_t known;
	int rc;

	overlap_margins_init(&v->margins, v->profile);
	v->maximum = overlap_margins_degree(&v->margins);
	v->degree = choose_degree(v);
	known = overlap_margins_known(&v->margins);
	if ((int64_t)v->degree > known || (int64_t)v->maximum > known) {
		rc = cairn_fail(err, CAIRN_E_CORRUPT,
		                "%s: the second halves of its pairs are known "
		                "to degree %" PRId32 " only, which no program "
		                "leaves; run the program again",
		                v->in->path, known);
		overlap_view_release(v);
		return rc;
	}
	overlap_bounds_init(&v->plain, &v->margins, OVERLAP_PLAIN);
	overlap_bounds_init(&v->bounds, &v->margins,
	                    v->options.plain ? OVERLAP_PLAIN
	                                     : (int32_t)v->degree);
	rank_pairs(v);
	rc = rank_functions(v, err);
	if (rc < 0)
		overlap_view_release(v);
	return rc;
}

int overlap_view_init(struct overlap_view *v, struct trace_input *in,
                      const struct overlap_options *options,
                      struct cairn_err *err)
{
	struct cairn_err e;
	int rc;

	*v = (struct overlap_view){.options = *options, .in = in};
	rc = overlap_trace_init(&v->trace, &in->traced, &e);
	if (rc < 0)
		return cairn_fail_in(err, in->path, &e);
	v->profile = &v->trace.profile;
	v->npaths = v->trace.npaths;
	return make_view(v, err);
}

int overlap_view_init_counted(struct overlap_view *v, struct trace_input *in,
                              const struct overlap_counts *counted,
                              size_t nfindings,
                              const struct overlap_options *options,
                              struct cairn_err *err)
{
	*v = (struct overlap_view){.options = *options,
	                           .in = in,
	                           .counted = *counted,
	                           .nfindings = nfindings};
	v->profile = &v->counted.profile;
	v->npaths = v->counted.npaths;
	v->options.plain |= v->profile->is_plain;
	return make_view(v, err);
}

bool overlap_view_is_cut(const struct overlap_view *v, uint32_t function)
{
	const struct overlap_profile *p = v->profile;

	for (size_t i = 0; i < p->npaths && p->graphs[function].paths->ncuts;
	     i++)
		if (p->paths[i].function == function)
			return true;
	return false;
}

void overlap_view_release(struct overlap_view *v)
{
	overlap_bounds_release(&v->plain);
	overlap_bounds_release(&v->bounds);
	overlap_margins_release(&v->margins);
	overlap_trace_release(&v->trace);
	overlap_counts_release(&v->counted);
	free(v->rows);
	free(v->functions);
	*v = (struct overlap_view){0};
}
