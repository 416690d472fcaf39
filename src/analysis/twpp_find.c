/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a path within and across functions.
 *
 * Y. Zhang and R. Gupta, "Timestamped whole program path representation and its
 * applications", PLDI 2001, section 2: to search for a path only the traces of
 * its functions are looked at.  A path of one part is counted on the series of
 * the unique traces, times the calls that have them (twpp_form_find).
 *
 * Otherwise every node of the call graph is looked at once, callees before
 * callers, which is their order.  chains[i][v] is the number of ways in which
 * parts i, i + 1, ... are found when v is what part i - 1 called; it needs the
 * chains of v's callees alone.  own[v] is the number of occurrences that begin
 * in v: the trace goes through the automaton of Knuth, Morris and Pratt ("Fast
 * pattern matching in strings", SIAM J. Comput. 6(2), 1977) over the blocks of
 * the first part, and where it matches, the chains of the calls count.  Times
 * the activations that v stands for, the sum is the answer; those go down from
 * the roots, callers before callees.
 *
 * Listing walks through the activations as they came, into those calls alone
 * that have an occurrence; the others are passed over, with the sums of their
 * blocks and activations.
 *
 * Cost: counting O(traces of the nodes of the functions in the path + graph);
 * listing besides that O(occurrences * (depth + traces on the way)).
 */
#include "analysis/twpp_find.h"

#include "analysis/twpp_form.h"
#include "analysis/twpp_graph.h"
#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>

static int too_many(struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_LIMIT,
	                  "there are more than 2^64 of them: ask for a longer "
	                  "path");
}

static bool is_of(const struct twpp_part *part, uint32_t entry)
{
	for (size_t i = 0; i < part->nentries; i++)
		if (part->entries[i] == entry)
			return true;
	return false;
}

/* How much of the part's blocks ends with this one, if `have` did before. */
static size_t advance(const struct twpp_part *part, size_t have, uint32_t block)
{
	if (!part->nblocks)
		return 0;
	if (have == part->nblocks)
		have = part->fails[have - 1];
	while (have && part->blocks[have] != block)
		have = part->fails[have - 1];
	return have + (part->blocks[have] == block);
}

/* --- one part: series --------------------------------------------------- */

static int count_trace(const struct twpp_function *f, size_t i,
                       const struct twpp_part *part, uint64_t *n,
                       struct cairn_err *err)
{
	struct twpp_vector times = {0};
	struct twpp_form form;
	uint64_t all;
	int rc;

	CAIRN_TRY(twpp_form_read_some(&form, f, i, part->blocks, part->nblocks,
	                              err));
	twpp_form_find(&form, part->blocks, part->nblocks, &times);
	rc = __builtin_mul_overflow(times.count, f->traces[i].ncalls, &all) ||
	                     __builtin_add_overflow(*n, all, n)
	             ? too_many(err)
	             : 0;
	twpp_vector_release(&times);
	twpp_form_release(&form);
	return rc;
}

static int count_part(struct twpp *t, const struct twpp_part *part, uint64_t *n,
                      struct cairn_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < part->nentries && !rc; i++) {
		const struct twpp_entry *e = &t->entries[part->entries[i]];
		struct twpp_function f;

		if (!e->ncalls)
			continue;
		if (!part->nblocks) {
			if (__builtin_add_overflow(*n, e->ncalls, n))
				rc = too_many(err);
			continue;
		}
		CAIRN_TRY(twpp_function_load(t, e, &f, err));
		for (size_t k = 0; k < f.ntraces && !rc; k++)
			rc = count_trace(&f, k, part, n, err);
		twpp_function_release(&f);
	}
	return rc;
}

/* --- several: the graph ------------------------------------------------- */

struct search {
	struct twpp_graph *graph;
	const struct twpp_path *path;
	uint64_t **chains; /* per part but the first, per node */
	uint64_t *own;     /* per node: occurrences that begin in it */
};

/* The part is complete, and another one follows: the chains of a call. */
static uint64_t chains_of(const struct search *s, size_t part, uint32_t node)
{
	return part + 1 < s->path->nparts ? s->chains[part + 1][node] : 0;
}

/*
 * Counts what begins in a node with this part: at the beginning of its trace,
 * or anywhere for the first part.
 */
static int count_in(struct search *s, size_t i, uint32_t node, uint64_t *n,
                    struct cairn_err *err)
{
	const struct twpp_part *part = &s->path->parts[i];
	bool is_last = i + 1 == s->path->nparts, is_open = !part->nblocks;
	struct twpp_activation a;
	size_t have = 0;
	uint32_t what;
	int step;

	*n = is_last && is_open;
	if (is_last && is_open)
		return 0;
	step = twpp_activation_init(&a, s->graph, node, err);
	while (step >= 0 && (step = twpp_activation_next(&a, &what, err)) > 0) {
		bool is_block = step == TWPP_STEP_BLOCK, is_there;
		uint64_t more;

		if (is_block)
			have = advance(part, have, what);
		is_there = is_open || have == part->nblocks;
		/* a beginning is over when it does not match, or is behind */
		if (i && is_block && !is_open &&
		    (have != a.at || a.at > part->nblocks))
			break;
		more = !is_there  ? 0
		       : is_block ? is_last
		                  : chains_of(s, i, what);
		if (__builtin_add_overflow(*n, more, n))
			step = too_many(err);
	}
	twpp_activation_release(&a);
	return step < 0 ? step : 0;
}

static int count_nodes(struct search *s, struct cairn_err *err)
{
	for (uint32_t v = 0; v < s->graph->n; v++) {
		uint32_t entry = twpp_graph_node(s->graph, v).entry;

		for (size_t i = 0; i < s->path->nparts; i++)
			if (is_of(&s->path->parts[i], entry))
				CAIRN_TRY(count_in(s, i, v,
				                   i ? &s->chains[i][v]
				                     : &s->own[v],
				                   err));
	}
	return 0;
}

static int search_init(struct search *s, struct twpp_graph *g,
                       const struct twpp_path *p, struct cairn_err *err)
{
	size_t n = g->n + (size_t)1;

	*s = (struct search){.graph = g, .path = p};
	s->own = xcalloc(n, sizeof(*s->own));
	s->chains = xcalloc(p->nparts, sizeof(*s->chains));
	for (size_t i = 1; i < p->nparts; i++)
		s->chains[i] = xcalloc(n, sizeof(**s->chains));
	return count_nodes(s, err);
}

static void search_release(struct search *s)
{
	for (size_t i = 1; i < s->path->nparts; i++)
		free(s->chains[i]);
	free(s->chains);
	free(s->own);
}

/* Adds `times` to every node of a list. */
static int spread(struct twpp_graph *g, const struct twpp_string *nodes,
                  uint32_t below, uint64_t times, uint64_t *to,
                  struct cairn_err *err)
{
	struct twpp_calls c;
	uint32_t node;
	int rc;

	twpp_calls_init(&c, g, nodes, below);
	while ((rc = twpp_calls_next(&c, &node, err)) > 0)
		if (__builtin_add_overflow(to[node], times, &to[node])) {
			rc = too_many(err);
			break;
		}
	twpp_calls_release(&c);
	return rc;
}

/* times[v]: the activations that v stands for. */
static int count_times(struct twpp_graph *g, uint64_t *times,
                       struct cairn_err *err)
{
	for (size_t i = 0; i < g->nthreads; i++)
		CAIRN_TRY(spread(g, &g->threads[i].roots, g->n, 1, times, err));
	for (uint32_t v = g->n; v-- > 0;) {
		struct twpp_node node = twpp_graph_node(g, v);

		if (times[v])
			CAIRN_TRY(spread(g, &node.calls, v, times[v], times,
			                 err));
	}
	return 0;
}

static int count_paths(struct twpp *t, const struct twpp_path *p, uint64_t *n,
                       struct cairn_err *err)
{
	struct twpp_graph g;
	struct search s;
	uint64_t *times, all;
	int rc;

	CAIRN_TRY(twpp_graph_load(&g, t, err));
	times = xcalloc(g.n + (size_t)1, sizeof(*times));
	rc = search_init(&s, &g, p, err);
	if (!rc)
		rc = count_times(&g, times, err);
	for (uint32_t v = 0; v < g.n && !rc; v++)
		if (__builtin_mul_overflow(times[v], s.own[v], &all) ||
		    __builtin_add_overflow(*n, all, n))
			rc = too_many(err);
	search_release(&s);
	free(times);
	twpp_graph_release(&g);
	return rc;
}

int twpp_count(struct twpp *t, const struct twpp_path *p, uint64_t *n,
               struct cairn_err *err)
{
	*n = 0;
	return p->nparts == 1 ? count_part(t, &p->parts[0], n, err)
	                      : count_paths(t, p, n, err);
}

/* --- listing ------------------------------------------------------------ */

/* What a node and all its calls have. */
struct sum {
	uint64_t nblocks, ncalls;
	bool has_any; /* an occurrence begins there */
};

struct frame {
	struct twpp_activation a;
	uint64_t number; /* of the activation in its thread */
	size_t have;     /* of the first part's blocks */
	uint64_t when;   /* blocks of the thread, with the last of this one */
	bool is_first;   /* it is a function of the first part */
};

struct lister {
	struct search search;
	struct sum *sums;
	uint64_t *
	        *lengths; /* per entry, 1 + that of each trace; 0: not known */
	struct frame *frames;
	size_t nframes, frames_cap;
	uint64_t when, ncalls; /* blocks, activations of the thread so far */
	struct twpp_occurrence occurrence;
	struct twpp_site *sites;
	twpp_found *found;
	void *arg;
};

static int length_of(struct lister *l, const struct twpp_node *node,
                     uint64_t *n, struct cairn_err *err)
{
	struct twpp_graph *g = l->search.graph;
	struct twpp_function *f;
	uint64_t *known;

	CAIRN_TRY(twpp_graph_function(g, node->entry, &f, err));
	if (!l->lengths[node->entry])
		l->lengths[node->entry] =
		        xcalloc(f->ntraces + 1, sizeof(**l->lengths));
	known = &l->lengths[node->entry][node->trace];
	if (!*known) {
		CAIRN_TRY(
		        twpp_trace_length(f, &f->traces[node->trace], n, err));
		*known = *n + 1;
	}
	*n = *known - 1;
	return 0;
}

static int sum_node(struct lister *l, uint32_t v, struct cairn_err *err)
{
	struct twpp_node node = twpp_graph_node(l->search.graph, v);
	struct sum *sum = &l->sums[v];
	struct twpp_calls c;
	uint32_t callee;
	int rc;

	CAIRN_TRY(length_of(l, &node, &sum->nblocks, err));
	sum->ncalls = 1;
	sum->has_any = l->search.own[v] > 0;
	twpp_calls_init(&c, l->search.graph, &node.calls, v);
	while ((rc = twpp_calls_next(&c, &callee, err)) > 0) {
		const struct sum *of = &l->sums[callee];

		sum->has_any |= of->has_any;
		if (__builtin_add_overflow(sum->nblocks, of->nblocks,
		                           &sum->nblocks) ||
		    __builtin_add_overflow(sum->ncalls, of->ncalls,
		                           &sum->ncalls)) {
			rc = too_many(err);
			break;
		}
	}
	twpp_calls_release(&c);
	return rc;
}

static int report(struct lister *l)
{
	l->occurrence.sites = l->sites;
	return l->found(l->arg, &l->occurrence);
}

/*
 * Lists the occurrences whose part i is this node, activation `number` of its
 * thread; the parts before it have their sites.
 */
static int list_chains(struct lister *l, size_t i, uint32_t node,
                       uint64_t number, struct cairn_err *err)
{
	const struct twpp_part *part = &l->search.path->parts[i];
	bool is_last = i + 1 == l->search.path->nparts;
	struct twpp_activation a;
	uint32_t what;
	int rc;

	if (!l->search.chains[i][node])
		return 0;
	l->sites[i] = (struct twpp_site){number, part->nblocks};
	if (is_last)
		return report(l);
	number++;
	rc = twpp_activation_init(&a, l->search.graph, node, err);
	while (!rc && (rc = twpp_activation_next(&a, &what, err)) > 0) {
		bool is_call = rc == TWPP_STEP_CALL;

		rc = 0;
		if (!is_call && part->nblocks && a.at > part->nblocks)
			break;
		if (!is_call)
			continue;
		if (!part->nblocks || a.at == part->nblocks) {
			l->sites[i].at = a.at;
			rc = list_chains(l, i + 1, what, number, err);
		}
		number += l->sums[what].ncalls;
	}
	twpp_activation_release(&a);
	return rc;
}

static int enter(struct lister *l, uint32_t node, struct cairn_err *err)
{
	const struct twpp_path *p = l->search.path;
	struct frame *f;
	int rc;

	VEC_RESERVE(l->frames, l->nframes, l->frames_cap);
	f = &l->frames[l->nframes++];
	*f = (struct frame){.number = ++l->ncalls};
	rc = twpp_activation_init(&f->a, l->search.graph, node, err);
	if (rc)
		return rc;
	f->is_first = is_of(&p->parts[0],
	                    twpp_graph_node(l->search.graph, node).entry);
	if (!f->is_first || p->nparts > 1 || p->parts[0].nblocks)
		return 0;
	l->sites[0] = (struct twpp_site){f->number, 0};
	l->occurrence.when = l->when;
	return report(l);
}

static bool is_complete(const struct lister *l, const struct frame *f)
{
	const struct twpp_part *first = &l->search.path->parts[0];

	return f->is_first && f->have == first->nblocks;
}

static int take_block(struct lister *l, struct frame *f, uint32_t block)
{
	const struct twpp_path *p = l->search.path;

	f->when = ++l->when;
	f->have = advance(&p->parts[0], f->have, block);
	if (p->nparts > 1 || !p->parts[0].nblocks || !is_complete(l, f))
		return 0;
	l->sites[0] = (struct twpp_site){f->number, f->a.at};
	l->occurrence.when = l->when;
	return report(l);
}

static int take_call(struct lister *l, struct frame *f, uint32_t callee,
                     struct cairn_err *err)
{
	if (is_complete(l, f) && l->search.path->nparts > 1) {
		int rc;

		l->sites[0] = (struct twpp_site){f->number, f->a.at};
		l->occurrence.when =
		        l->search.path->parts[0].nblocks ? f->when : l->when;
		rc = list_chains(l, 1, callee, l->ncalls + 1, err);
		if (rc)
			return rc;
	}
	if (l->sums[callee].has_any)
		return enter(l, callee, err);
	l->when += l->sums[callee].nblocks;
	l->ncalls += l->sums[callee].ncalls;
	return 0;
}

static int list_root(struct lister *l, uint32_t root, struct cairn_err *err)
{
	int rc;

	if (!l->sums[root].has_any) {
		l->when += l->sums[root].nblocks;
		l->ncalls += l->sums[root].ncalls;
		return 0;
	}
	rc = enter(l, root, err);
	while (!rc && l->nframes) {
		struct frame *f = &l->frames[l->nframes - 1];
		uint32_t what;
		int step = twpp_activation_next(&f->a, &what, err);

		if (step < 0)
			rc = step;
		else if (step == TWPP_STEP_BLOCK)
			rc = take_block(l, f, what);
		else if (step == TWPP_STEP_CALL)
			rc = take_call(l, f, what, err);
		else
			twpp_activation_release(&l->frames[--l->nframes].a);
	}
	return rc;
}

static int list_thread(struct lister *l, size_t thread, struct cairn_err *err)
{
	struct twpp_graph *g = l->search.graph;
	struct twpp_calls roots;
	uint32_t root;
	int rc = 0;

	l->when = l->ncalls = 0;
	l->occurrence.thread = g->threads[thread].id;
	twpp_calls_init(&roots, g, &g->threads[thread].roots, g->n);
	while (!rc && (rc = twpp_calls_next(&roots, &root, err)) > 0)
		rc = list_root(l, root, err);
	twpp_calls_release(&roots);
	return rc;
}

static void lister_release(struct lister *l)
{
	struct twpp_graph *g = l->search.graph;

	while (l->nframes)
		twpp_activation_release(&l->frames[--l->nframes].a);
	for (uint32_t i = 0; i < g->file->nentries; i++)
		free(l->lengths[i]);
	free(l->lengths);
	free(l->frames);
	free(l->sums);
	free(l->sites);
	search_release(&l->search);
}

int twpp_find(struct twpp_graph *g, const struct twpp_path *p,
              twpp_found *found, void *arg, struct cairn_err *err)
{
	struct lister l = {.found = found, .arg = arg};
	int rc = search_init(&l.search, g, p, err);

	l.sums = xcalloc(g->n + (size_t)1, sizeof(*l.sums));
	l.sites = xcalloc(p->nparts, sizeof(*l.sites));
	l.lengths = xcalloc(g->file->nentries + (size_t)1, sizeof(*l.lengths));
	for (uint32_t v = 0; v < g->n && !rc; v++)
		rc = sum_node(&l, v, err);
	for (size_t i = 0; i < g->nthreads && !rc; i++)
		rc = list_thread(&l, i, err);
	lister_release(&l);
	return rc;
}
