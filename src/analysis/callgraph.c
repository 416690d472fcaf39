/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph: a call ran as often as the segment that it is in.
 *
 * A callee is known by its linkage name.  Of several functions of that name in
 * the caller's module the one whose definition is where the caller saw it is
 * meant; if there are still several they are copies of one function.  A name
 * that the module does not have is looked for in the others, but not among
 * their static functions.
 *
 * Invariant: items are sorted by caller, by_callee by callee, then caller.
 * Cost: O((functions + calls) log functions) comparisons of names.
 */
#include "analysis/callgraph.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

/* All functions by name, then module, then number. */
struct entry {
	const char *name;
	struct call_end at;
};

struct resolver {
	const struct profile *profile;
	struct entry *entries;
	size_t n, cap;
};

static int by_end(const struct call_end *x, const struct call_end *y)
{
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : by_end(&x->at, &y->at);
}

static void resolver_init(struct resolver *r, const struct profile *p)
{
	*r = (struct resolver){.profile = p};
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++) {
			const struct map_function *x = &m->functions[f];

			VEC_RESERVE(r->entries, r->n, r->cap);
			r->entries[r->n++] =
			        (struct entry){map_string(m, x->name), {i, f}};
			for (uint32_t k = 0; k < x->naliases; k++) {
				uint32_t name = m->aliases[x->first_alias + k];

				VEC_RESERVE(r->entries, r->n, r->cap);
				r->entries[r->n++] = (struct entry){
				        map_string(m, name), {i, f}};
			}
		}
	}
	if (r->n)
		qsort(r->entries, r->n, sizeof(*r->entries), by_name);
}

/* How well a function of the right name fits; 0: not at all. */
static int fit(const struct resolver *r, const struct entry *e, uint32_t module,
               const struct map_callee *c)
{
	const struct map *m = r->profile->modules[e->at.module].map;
	const struct map_function *f = &m->functions[e->at.function];

	if (e->at.module != module)
		return f->flags & CAIRN_FN_LOCAL ? 0 : 1;
	/* strings of one map are the same if their numbers are */
	return c->line && f->file == c->file && f->line == c->line ? 3 : 2;
}

static struct call_end resolve(const struct resolver *r, uint32_t module,
                               const struct map_callee *c)
{
	const struct map *m = r->profile->modules[module].map;
	const char *name = map_string(m, c->name);
	struct call_end best = {CALLGRAPH_NONE, CALLGRAPH_NONE};
	size_t low = 0, high = r->n;
	int most = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(r->entries[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < r->n && !strcmp(r->entries[low].name, name); low++) {
		int now = fit(r, &r->entries[low], module, c);

		if (now > most) {
			most = now;
			best = r->entries[low].at;
		}
	}
	return best;
}

static void add_calls(struct callgraph *c, size_t *cap,
                      const struct resolver *r, const struct counts_module *cm,
                      struct call_end from)
{
	const struct map *m = r->profile->modules[from.module].map;
	const struct map_function *f = &m->functions[from.function];

	for (uint32_t i = 0; i < f->noutcalls; i++) {
		const struct map_outcall *o =
		        &m->outcalls[f->first_outcall + i];
		const struct map_block *b =
		        &m->blocks[f->first_block + o->block];
		uint32_t segment = b->first_segment + o->segment;
		struct call call = {
		        .from = from,
		        .to = {CALLGRAPH_NONE, CALLGRAPH_NONE},
		        .outcall = f->first_outcall + i,
		        .known = cm->segment_known[segment],
		};

		if (call.known)
			call.count = cm->segment[segment];
		if (o->callee != MAP_NONE) {
			const struct map_callee *k = &m->callees[o->callee];

			call.name = map_string(m, k->name);
			call.to = resolve(r, from.module, k);
		}
		VEC_RESERVE(c->items, c->n, *cap);
		c->items[c->n++] = call;
	}
}

static int by_callee(const void *a, const void *b, void *context)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct call *items = context;
	int order = by_end(&items[x].to, &items[y].to);

	return order ? order : x < y ? -1 : x > y;
}

struct callgraph *callgraph_new(const struct counts *counts)
{
	const struct profile *p = counts->profile;
	struct callgraph *c = xcalloc(1, sizeof(*c));
	struct resolver r;
	size_t cap = 0;

	resolver_init(&r, p);
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++)
			add_calls(c, &cap, &r, &counts->modules[i],
			          (struct call_end){i, f});
	}
	c->by_callee = xcalloc(c->n, sizeof(*c->by_callee));
	for (size_t i = 0; i < c->n; i++)
		if (c->items[i].to.module != CALLGRAPH_NONE)
			c->by_callee[c->nby_callee++] = i;
	if (c->nby_callee)
		qsort_r(c->by_callee, c->nby_callee, sizeof(*c->by_callee),
		        by_callee, c->items);
	free(r.entries);
	return c;
}

void callgraph_free(struct callgraph *c)
{
	if (!c)
		return;
	free(c->items);
	free(c->by_callee);
	free(c);
}

size_t callgraph_from(const struct callgraph *c, struct call_end f, size_t *n)
{
	size_t low = 0, high = c->n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_end(&c->items[middle].from, &f) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < c->n && !by_end(&c->items[end].from, &f); end++)
		;
	*n = end - low;
	return low;
}

size_t callgraph_to(const struct callgraph *c, struct call_end f, size_t *n)
{
	size_t low = 0, high = c->nby_callee, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_end(&c->items[c->by_callee[middle]].to, &f) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < c->nby_callee &&
	                !by_end(&c->items[c->by_callee[end]].to, &f);
	     end++)
		;
	*n = end - low;
	return low;
}
