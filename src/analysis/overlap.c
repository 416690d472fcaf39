/* SPDX-License-Identifier: Apache-2.0 */
/* What was counted of pairs of paths. */
#include "analysis/overlap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "graph/paths.h"

void overlap_profile_release(struct overlap_profile *p)
{
	free(p->sites);
	free(p->paths);
	free(p->calls);
	free(p->counts);
	*p = (struct overlap_profile){0};
}

uint64_t overlap_left_out_sum(const struct overlap_left_out *x)
{
	return x->nloops + 2 * x->ncalls;
}

uint64_t overlap_excluded_sum(const struct overlap_excluded *x)
{
	uint64_t sum = x->nirreducible + x->nunmarked + x->nentered + x->ncut;

	for (int i = 0; i < OVERLAP_NKINDS; i++)
		sum += x->nunfinished[i];
	return sum;
}

void overlap_note_irreducible(struct overlap_profile *p)
{
	for (size_t i = 0; i < p->ncounts; i++) {
		const struct overlap_count *c = &p->counts[i];
		const struct overlap_graph *g;
		struct overlap_part part;

		if (c->kind != OVERLAP_LOOP)
			continue;
		g = &p->graphs[c->from.function];
		if (overlap_turns(g, c->from.number) &&
		    overlap_is_irreducible(
		            g, overlap_goes_to(g, c->from.number)) &&
		    !overlap_before(g, c->from.number, &part))
			p->excluded.nirreducible += c->count;
	}
}

static bool is_torn(const struct overlap_profile *p,
                    const struct overlap_count *c)
{
	const struct overlap_graph *from = &p->graphs[c->from.function];
	block_id at = c->kind == OVERLAP_RETURN ? p->sites[c->to.site].block
	                                        : CFG_OUTSIDE;
	struct overlap_part part;
	struct overlap_behind b;

	if (c->kind == OVERLAP_LOOP) {
		if (!overlap_before(from, c->from.number, &part))
			return false;
		if (part.is_torn)
			return true;
	} else if (overlap_begins_torn(from, c->from.number)) {
		return true;
	}
	return overlap_behind(&p->graphs[c->to.function], c->kind, at,
	                      c->to.number, c->to.block, OVERLAP_MAX, &b) &&
	       b.part.is_torn;
}

void overlap_note_cuts(struct overlap_profile *p)
{
	for (size_t i = 0; i < p->ncounts; i++) {
		const struct overlap_count *c = &p->counts[i];

		if ((p->graphs[c->from.function].paths->ncuts ||
		     p->graphs[c->to.function].paths->ncuts) &&
		    is_torn(p, c))
			p->excluded.ncut += c->count;
	}
}

/* --- checks ------------------------------------------------------------------
 */

static bool is_path(const struct overlap_profile *p, uint32_t function,
                    uint64_t number, block_id block)
{
	return function < p->nfunctions &&
	       overlap_is_number(&p->graphs[function], number, block);
}

/* A caller's end names a site of its function. */
static bool is_at_site(const struct overlap_profile *p,
                       const struct overlap_end *e)
{
	return e->site < p->nsites && e->function < p->nfunctions &&
	       p->sites[e->site].function == e->function;
}

/* Is it what a path has behind a site, or the beginning of that? */
static bool is_rest(const struct overlap_profile *p,
                    const struct overlap_end *e)
{
	const struct paths *paths;
	block_id from, to;
	uint64_t left;

	if (!is_at_site(p, e))
		return false;
	from = p->sites[e->site].block;
	paths = p->graphs[e->function].paths;
	if (e->number >= paths->npaths[from] || e->block == CFG_OUTSIDE ||
	    (e->block != CFG_NONE && e->block >= paths->dag.g->nblocks))
		return false;
	to = e->block == CFG_NONE ? dag_end(&paths->dag) : e->block;
	paths_route_from(paths, from, e->number, to,
	                 p->graphs[e->function].route, &left);
	return left == 0;
}

static bool is_loop(const struct overlap_profile *p,
                    const struct overlap_count *c)
{
	const struct overlap_graph *g;

	if (c->from.function != c->to.function || c->from.block != CFG_NONE ||
	    !is_path(p, c->from.function, c->from.number, CFG_NONE) ||
	    !is_path(p, c->to.function, c->to.number, c->to.block))
		return false;
	g = &p->graphs[c->from.function];
	return overlap_goes_to(g, c->from.number) != CFG_NONE &&
	       overlap_goes_to(g, c->from.number) ==
	               overlap_begins(g, c->to.number);
}

static bool is_call(const struct overlap_profile *p,
                    const struct overlap_count *c)
{
	return is_at_site(p, &c->from) &&
	       c->from.block == p->sites[c->from.site].block &&
	       is_path(p, c->from.function, c->from.number, c->from.block) &&
	       is_path(p, c->to.function, c->to.number, c->to.block) &&
	       overlap_begins(&p->graphs[c->to.function], c->to.number) ==
	               CFG_OUTSIDE;
}

static bool is_return(const struct overlap_profile *p,
                      const struct overlap_count *c)
{
	return c->from.block == CFG_NONE &&
	       is_path(p, c->from.function, c->from.number, CFG_NONE) &&
	       overlap_goes_to(&p->graphs[c->from.function], c->from.number) ==
	               CFG_NONE &&
	       is_rest(p, &c->to);
}

static bool is_pair(const struct overlap_profile *p,
                    const struct overlap_count *c)
{
	switch (c->kind) {
	case OVERLAP_LOOP:
		return is_loop(p, c);
	case OVERLAP_CALL:
		return is_call(p, c);
	case OVERLAP_RETURN:
		return is_return(p, c);
	}
	return false;
}

static bool is_site(const struct overlap_profile *p,
                    const struct overlap_site *s)
{
	return s->function < p->nfunctions && s->block != CFG_OUTSIDE &&
	       s->block < p->graphs[s->function].paths->dag.g->nblocks;
}

int overlap_profile_check(const struct overlap_profile *p,
                          struct cairn_err *err)
{
	const char *what = NULL;
	size_t at = 0;

	for (size_t i = 0; i < p->nsites && !what; at = i++)
		if (!is_site(p, &p->sites[i]))
			what = "site";
	for (size_t i = 0; i < p->ncalls && !what; at = i++)
		if (p->calls[i].site >= p->nsites ||
		    p->calls[i].callee >= p->nfunctions)
			what = "count of calls";
	for (size_t i = 0; i < p->npaths && !what; at = i++)
		if (!is_path(p, p->paths[i].function, p->paths[i].number,
		             p->paths[i].block))
			what = "path";
	for (size_t i = 0; i < p->ncounts && !what; at = i++)
		if (!is_pair(p, &p->counts[i]))
			what = "pair of paths";
	if (!what)
		return 0;
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s %zu is none of this program: build it again",
	                  what, at);
}
