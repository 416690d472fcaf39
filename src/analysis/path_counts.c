/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From path counts to what ran: executed paths, unfinished ones, and through
 * them the counts of all edges and blocks.
 *
 * T. Ball and J. Larus, "Efficient path profiling", MICRO-29, 1996.  A count of
 * path p is one execution of each of its edges.  A frame that died had begun a
 * path that no counter has; from its path register the map gives the sum of the
 * values so far, and that with the block gives the prefix (graph/paths.h).  A
 * frame that began in the middle (the child of a fork) will end a path of which
 * it did not run the first part: that part counts -1.
 *
 * A call that ends paths has a block of its own, and a path begins with it: if
 * it never returns and nobody sees that, no more is lost than where it was.
 * What went into such a block and neither came out of the call nor was seen to
 * die has left by the ABNORMAL edge.
 *
 * A frame that a signal stopped between calls has no register that anybody
 * knows of.  If only one prefix leads to where it was, that is the one.  One
 * that was stopped on an edge, before the operation on it, is taken to be
 * behind it, as for edge counts (frames.c): if the edge ends a path, this path
 * is complete, and missing in the counters.
 *
 * A function may count pairs (graph/pairs.h): then the count of a path is the
 * sum over what came before it.
 *
 * Where a function has many paths, loops may count their turns (graph/local.h):
 * each is a path that begins at the head.
 *
 * Invariant: items are paths of the function, prefixes decode; what does not
 * is left out and makes a doubt.
 * Second way: flow is conserved at every block; path counts satisfy this only
 * if ends and begins of paths match, which no numbering gives for free.
 * Cost: O(V + E) per executed path and per prefix.
 */
#include "analysis/path_counts.h"

#include "analysis/frames.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/calls.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/local.h"
#include "graph/pairs.h"

#include <stdlib.h>
#include <string.h>

/* --- the graph ---------------------------------------------------------- */

enum dag_how path_counts_ask(uint32_t kind)
{
	switch (kind) {
	case CAIRN_EDGE_INDIRECT:
		return DAG_INDIRECT;
	case CAIRN_EDGE_CALL:
		return DAG_CUT;
	case CAIRN_EDGE_ABNORMAL:
		return DAG_IGNORED;
	default:
		return DAG_THROUGH;
	}
}

void path_counts_graph(struct cfg *g, enum dag_how **asked,
                       const struct map *map, const struct map_function *f)
{
	const struct map_edge *e = map->edges + f->first_edge;

	*asked = xcalloc((size_t)f->nedges + 1, sizeof(**asked));
	cfg_init(g, f->nblocks);
	for (uint32_t i = 0; i < f->nedges; i++) {
		(*asked)[i] = path_counts_ask(e[i].kind);
		cfg_add_edge(g, e[i].src, e[i].dst);
	}
	cfg_link(g);
}

/* Numbers the paths; false if the map says otherwise. */
static bool number_paths(struct path_counts *pc, const struct map *map,
                         const struct map_function *f)
{
	struct paths_options options = {
	        .cuts = map->cuts + f->first_cut,
	        .ncuts = f->ncuts,
	};
	enum dag_how *asked;
	int rc;

	pc->g = xcalloc(1, sizeof(*pc->g));
	path_counts_graph(pc->g, &asked, map, f);
	options.asked = asked;
	rc = paths_init(&pc->paths, pc->g, &options, NULL);
	free(asked);
	return !rc && pc->paths.n == f->npaths && pc->paths.ncuts == f->ncuts;
}

/* --- finished paths ----------------------------------------------------- */

static void doubt(struct path_counts *pc, enum counts_doubt what)
{
	if (pc->doubt < what)
		pc->doubt = what;
}

static void impossible(struct path_counts *pc, uint64_t number)
{
	if (pc->doubt != COUNTS_PATH_IMPOSSIBLE)
		pc->bad_number = number;
	doubt(pc, COUNTS_PATH_IMPOSSIBLE);
}

static void add_count(struct path_counts *pc, uint64_t number, uint64_t count)
{
	struct path path = {0};

	if (!count)
		return;
	if (paths_decode(&pc->paths, number, &path, NULL)) {
		impossible(pc, number);
	} else {
		VEC_RESERVE(pc->items, pc->n, pc->cap);
		pc->items[pc->n++] = (struct path_count){number, count};
	}
	path_release(&path);
}

static void add_pair(struct path_counts *pc, uint64_t before, uint64_t number,
                     uint64_t count)
{
	add_count(pc, number, count);
	if (!count)
		return;
	VEC_RESERVE(pc->pairs, pc->npairs, pc->pairs_cap);
	pc->pairs[pc->npairs++] = (struct path_pair){before, number, count};
}

/* --- tags --------------------------------------------------------------- */

/* What numbers of a function stand for that counts pairs. */
struct numbers {
	const struct map_site *sites; /* its calls */
	uint32_t nsites;
	const struct map_function **callee; /* per call, where it has a digit */
	struct pairs pairs;
};

/* A block of a path, and the sum of the path up to there. */
struct step {
	uint32_t vertex;
	uint64_t sum;
};

/* The steps of a path, or up to a block: how many. */
static uint32_t find_steps(const struct path_counts *pc, uint64_t number,
                           block_id block, struct step *step)
{
	const struct paths *p = &pc->paths;
	uint32_t *route = xcalloc(p->dag.nvertices, sizeof(*route)), n;
	uint64_t sum = 0, left;

	n = paths_route_from(p, DAG_START, number,
	                     block == CFG_NONE ? dag_end(&p->dag) : block,
	                     route, &left);
	for (uint32_t i = 0; i < n; i++) {
		sum += p->value[route[i]];
		step[i] = (struct step){p->dag.edges[route[i]].dst, sum};
	}
	free(route);
	return n;
}

static int compare_path_calls(const void *a, const void *b)
{
	const struct path_call *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (x->behind > y->behind) - (x->behind < y->behind);
}

/* The same call, with the same paths, is in many tags: they are added up
 * whenever there is no room for more. */
static void sum_path_calls(struct path_counts *pc)
{
	size_t n = 0;

	qsort(pc->calls, pc->ncalls, sizeof(*pc->calls), compare_path_calls);
	for (size_t i = 0; i < pc->ncalls; i++) {
		if (n && !compare_path_calls(&pc->calls[n - 1], &pc->calls[i]))
			pc->calls[n - 1].count += pc->calls[i].count;
		else
			pc->calls[n++] = pc->calls[i];
	}
	pc->ncalls = n;
}

static void add_path_call(struct path_counts *pc, const struct path_call *c)
{
	if (pc->ncalls == pc->sum_at) {
		if (pc->ncalls)
			sum_path_calls(pc);
		pc->sum_at = 2 * pc->ncalls + 1024;
	}
	VEC_RESERVE(pc->calls, pc->ncalls, pc->calls_cap);
	pc->calls[pc->ncalls++] = *c;
}

/* The digit of a call; false if the callee has no such path. */
static bool take_digit(struct path_counts *pc, struct path_call c,
                       uint64_t *tag)
{
	uint64_t digit = tags_take(&pc->tags, c.site, tag);

	if (!digit)
		return true;
	c.path = digit - 1;
	add_path_call(pc, &c);
	return c.callee && c.path < c.callee->npaths;
}

/* Takes a tag apart; block: of the frame that died there, or CFG_NONE.  False
 * if no path has this tag. */
static bool take_tag(struct path_counts *pc, const struct numbers *s,
                     uint64_t number, block_id block, uint64_t tag,
                     uint64_t count)
{
	struct step *step;
	bool ok = true;
	uint32_t n;

	if (!tag)
		return true;
	step = xcalloc(pc->paths.dag.nvertices, sizeof(*step));
	n = find_steps(pc, number, block, step);
	while (ok && n--)
		for (uint32_t i = s->nsites; ok && i--;) {
			struct path_call c = {
			        .site = i,
			        .callee = s->callee[i],
			        .before = step[n].sum,
			        .behind = block == CFG_NONE
			                          ? number - step[n].sum
			                          : PATH_CALL_UNFINISHED,
			        .count = count,
			};

			if (s->sites[i].block == step[n].vertex)
				ok = take_digit(pc, c, &tag);
		}
	free(step);
	return ok && !tag;
}

/* What the map says of calls; false if that cannot be. */
static bool find_tags(struct path_counts *pc, struct numbers *s,
                      const struct map *map)
{
	struct tag_site *sites = xcalloc((size_t)s->nsites + 1, sizeof(*sites));
	bool ok;

	s->callee = xcalloc((size_t)s->nsites + 1, sizeof(*s->callee));
	for (uint32_t i = 0; i < s->nsites; i++) {
		sites[i] =
		        (struct tag_site){s->sites[i].block, s->sites[i].radix};
		if (s->sites[i].radix)
			s->callee[i] = calls_callee(map, s->sites[i].callee);
	}
	ok = tags_init(&pc->tags, &pc->paths.dag, sites, s->nsites,
	               TAGS_LIMIT / s->pairs.total);
	free(sites);
	return ok;
}

/* What a number of a counter or of a table stands for. */
static void add_numbered(struct path_counts *pc, const struct numbers *s,
                         uint64_t number, uint64_t count)
{
	uint64_t before, path, tag;

	if (!count)
		return;
	if (!pc->has_pairs) {
		add_count(pc, number, count);
		return;
	}
	tag = number / s->pairs.total;
	if (pairs_split(&s->pairs, number % s->pairs.total, &before, &path))
		add_pair(pc, before, path, count);
	else
		add_count(pc, path, count);
	if (!take_tag(pc, s, path, CFG_NONE, tag, count))
		impossible(pc, number);
}

static void add_table(struct path_counts *pc, const struct profile_module *m,
                      const struct map_function *f, const struct numbers *s)
{
	size_t n = 0;
	const struct profile_path *table = profile_paths(m, f->counters, &n);

	for (size_t i = 0; i < n; i++) {
		if (table[i].key) {
			add_numbered(pc, s, table[i].key - 1, table[i].count);
			continue;
		}
		pc->nlost += table[i].count;
		doubt(pc, COUNTS_PATH_LOST);
	}
}

/* All pairs of turns of a loop. */
static void add_turn_pairs(struct path_counts *pc,
                           const struct profile_module *m,
                           const struct local *l, uint64_t first)
{
	for (uint64_t i = 0; i < l->paths.n * l->paths.n; i++) {
		uint64_t count = profile_count(m, first + i), before, number;

		if (!count)
			continue;
		if (local_path(l, &pc->paths, i / l->paths.n, &before) &&
		    local_path(l, &pc->paths, i % l->paths.n, &number))
			add_pair(pc, before, number, count);
		else
			impossible(pc, i % l->paths.n);
	}
}

/*
 * The turns of one loop; *counter is that of its first.  A turn that leaves the
 * loop is no whole path, and is never counted here.  Returns false if the map
 * is wrong.
 */
static bool add_turns(struct path_counts *pc, const struct profile_module *m,
                      const struct map_function *f, block_id head,
                      uint64_t *counter)
{
	uint64_t first = (f->counters - m->base) / 8, number;
	struct local l;

	if (!local_init(&l, &pc->paths, head, f->ncounters - *counter))
		return false;
	if (pc->has_pairs && !(pc->left_out && pc->left_out[head])) {
		uint64_t n = l.paths.n * l.paths.n;
		bool fits = n <= f->ncounters - *counter;

		if (fits)
			add_turn_pairs(pc, m, &l, first + *counter);
		*counter += n;
		local_release(&l);
		return fits;
	}
	for (uint64_t i = 0; i < l.paths.n; i++) {
		uint64_t count = profile_count(m, first + (*counter)++);

		if (local_path(&l, &pc->paths, i, &number))
			add_count(pc, number, count);
		else if (count)
			impossible(pc, number);
	}
	local_release(&l);
	return true;
}

/* Interesting paths, from a counter on, and all others together. */
static bool add_slots(struct path_counts *pc, const struct profile_module *m,
                      const struct map_function *f, uint64_t counter)
{
	uint64_t first = (f->counters - m->base) / 8 + counter;

	if (counter + f->slots_size + 1 != f->ncounters)
		return false;
	for (uint32_t i = 0; i < f->nslots; i++) {
		const struct map_slot *s = &m->map->slots[f->first_slot + i];

		add_count(pc, s->number, profile_count(m, first + s->slot));
	}
	pc->nother = profile_count(m, first + f->slots_size);
	if (pc->nother)
		doubt(pc, COUNTS_PATH_PARTIAL);
	return true;
}

/* Beginnings of paths of which no pairs are counted. */
static void note_left_out(struct path_counts *pc, const struct map *map,
                          const struct map_function *f)
{
	if (!f->nleft_out)
		return;
	pc->left_out = xcalloc(f->nblocks, sizeof(*pc->left_out));
	for (uint32_t i = 0; i < f->nleft_out; i++)
		pc->left_out[map->left_out[f->first_left_out + i]] = true;
}

/* How the function numbers what it counts; false if the map has it otherwise.
 */
static bool find_numbers(struct path_counts *pc, struct numbers *s,
                         const struct map *map, const struct map_function *f)
{
	*s = (struct numbers){.sites = map->calls + f->first_call,
	                      .nsites = f->ncalls};
	pc->has_pairs = f->pairs;
	note_left_out(pc, map, f);
	if (!f->pairs)
		return true;
	if (pc->paths.n >= PAIRS_LIMIT)
		return false;
	pairs_init(&s->pairs, &pc->paths);
	if (s->pairs.first != f->nfirst)
		return false;
	if (pc->left_out)
		pairs_leave_out(&s->pairs, &pc->paths, pc->left_out);
	return s->pairs.total && find_tags(pc, s, map) &&
	       (f->paths != CAIRN_PATHS_DIRECT ||
	        s->pairs.total * pc->tags.n == map_path_counters(f));
}

/* Returns false if the map's counters are not those of its paths. */
static bool add_counts(struct path_counts *pc, const struct profile_module *m,
                       const struct map_function *f, const struct numbers *s)
{
	const uint32_t *heads = m->map->turns + f->first_turn;
	uint64_t first = (f->counters - m->base) / 8;
	uint64_t counter = f->turn_counter;

	if (f->paths == CAIRN_PATHS_DIRECT) {
		for (uint64_t i = 0; i < map_path_counters(f); i++)
			add_numbered(pc, s, i, profile_count(m, first + i));
		return true;
	}
	add_table(pc, m, f, s);
	for (uint32_t i = 0; i < f->nturns; i++)
		if (!add_turns(pc, m, f, heads[i], &counter))
			return false;
	if (f->paths == CAIRN_PATHS_RESIDUAL) {
		doubt(pc, COUNTS_PATH_PARTIAL);
		return true;
	}
	if (f->paths != CAIRN_PATHS_PREFERRED)
		return counter == map_path_counters(f);
	return add_slots(pc, m, f, counter);
}

static int by_number(const void *a, const void *b)
{
	const struct path_count *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void sum_counts(struct path_counts *pc)
{
	size_t kept = 0;

	if (pc->n)
		qsort(pc->items, pc->n, sizeof(*pc->items), by_number);
	for (size_t i = 0, next; i < pc->n; i = next) {
		struct path_count c = pc->items[i];

		for (next = i + 1;
		     next < pc->n && pc->items[next].number == c.number; next++)
			c.count += pc->items[next].count;
		if (c.count)
			pc->items[kept++] = c;
	}
	pc->n = kept;
}

static int by_pair(const void *a, const void *b)
{
	const struct path_pair *x = a, *y = b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sum_pairs(struct path_counts *pc)
{
	size_t kept = 0;

	if (pc->npairs)
		qsort(pc->pairs, pc->npairs, sizeof(*pc->pairs), by_pair);
	for (size_t i = 0; i < pc->npairs; i++) {
		if (kept && !by_pair(&pc->pairs[kept - 1], &pc->pairs[i]))
			pc->pairs[kept - 1].count += pc->pairs[i].count;
		else
			pc->pairs[kept++] = pc->pairs[i];
	}
	pc->npairs = kept;
}

/* --- unfinished paths --------------------------------------------------- */

/* The sum of the values up to a block, if only one prefix leads there. */
static bool only_prefix(const struct path_counts *pc, block_id block,
                        uint64_t *sum)
{
	const struct dag *d = &pc->paths.dag;
	uint32_t v = block;

	*sum = 0;
	while (v != DAG_START) {
		uint32_t e;

		if (d->in_at[v + 1] - d->in_at[v] != 1)
			return false;
		e = d->in[d->in_at[v]];
		*sum += pc->paths.value[e];
		v = d->edges[e].src;
	}
	return true;
}

/*
 * A frame that was stopped before the operation of edge e: what becomes of its
 * path once the edge is taken.  Returns false if that is not known.
 */
static bool take_edge(struct path_counts *pc, const struct frame_path *f,
                      uint64_t *sum)
{
	const struct dag *d = &pc->paths.dag;
	block_id dst = pc->g->edges[f->edge].dst;
	uint32_t e = d->edge_of[f->edge];

	if (e == CFG_NONE || d->how[f->edge] == DAG_INDIRECT ||
	    !only_prefix(pc, pc->g->edges[f->edge].src, sum))
		return false;
	*sum += pc->paths.value[e];
	if (!dag_is_ended(d, f->edge))
		return true;
	add_count(pc, *sum, f->out - f->in);
	*sum = pc->paths.value[d->begin_of[dst]];
	return true;
}

static bool find_prefix(struct path_counts *pc, const struct frame_path *f,
                        uint64_t *sum)
{
	uint32_t begin = pc->paths.dag.begin_of[f->block];

	*sum = f->sum;
	if (f->kind == FRAME_PATH_LOST)
		return false;
	if (f->kind == FRAME_PATH_BEGIN && begin != CFG_NONE)
		*sum = pc->paths.value[begin];
	else if (f->kind == FRAME_PATH_BEGIN)
		return false;
	if (f->kind != FRAME_PATH_UNKNOWN)
		return true;
	if (f->edge == MAP_NONE)
		return only_prefix(pc, f->block, sum);
	return take_edge(pc, f, sum);
}

/* The prefix that a frame was on; its sum without the tag, which is *tag. */
static struct path_prefix prefix_of(const struct path_counts *pc,
                                    const struct numbers *s,
                                    const struct frame_path *f, uint64_t sum,
                                    uint64_t *tag)
{
	bool is_pending = f->kind != FRAME_PATH_NONE;

	*tag = 0;
	if (pc->has_pairs && is_pending) {
		*tag = sum / s->pairs.total;
		sum %= s->pairs.total;
	}
	return (struct path_prefix){
	        .block = f->block,
	        .segment = f->segment,
	        .is_pending = is_pending,
	        .sum = is_pending ? sum : 0,
	        .in = f->in,
	        .out = f->out,
	};
}

/* A frame that has left by the only way out of its block, as the path says.
 * One that counts pairs was still there, to do it after the call. */
static void add_left(struct path_counts *pc, const struct numbers *s,
                     const struct frame_path *f)
{
	const struct dag *d = &pc->paths.dag;
	uint32_t at = pc->g->out_at[f->block], e = CFG_NONE;
	struct path_ended left;
	uint64_t tag;

	if (at + 1 == pc->g->out_at[f->block + 1])
		e = d->edge_of[pc->g->out[at]];
	if (e == CFG_NONE) {
		impossible(pc, f->sum);
		return;
	}
	left.prefix = prefix_of(pc, s, f, f->sum, &tag);
	left.number = left.prefix.sum + pc->paths.value[e];
	add_count(pc, left.number, f->out - f->in);
	if (!pc->has_pairs || pc->doubt == COUNTS_PATH_IMPOSSIBLE)
		return;
	if (!take_tag(pc, s, left.prefix.sum, f->block, tag, f->out - f->in))
		impossible(pc, left.number);
	VEC_RESERVE(pc->ended, pc->nended, pc->ended_cap);
	pc->ended[pc->nended++] = left;
}

static void add_prefix(struct path_counts *pc, const struct numbers *s,
                       const struct frame_path *f)
{
	struct path_prefix prefix;
	struct path path = {0};
	uint64_t sum, tag;

	if (f->kind == FRAME_PATH_DONE) {
		add_left(pc, s, f);
		return;
	}
	if (!find_prefix(pc, f, &sum)) {
		pc->nunknown += f->in + f->out;
		doubt(pc, COUNTS_PATH_UNKNOWN);
		return;
	}
	prefix = prefix_of(pc, s, f, sum, &tag);
	if (prefix.is_pending &&
	    (paths_decode_prefix(&pc->paths, prefix.sum, f->block, &path,
	                         NULL) ||
	     !take_tag(pc, s, prefix.sum, f->block, tag, f->out - f->in))) {
		impossible(pc, prefix.sum);
	} else {
		VEC_RESERVE(pc->prefixes, pc->nprefixes, pc->prefixes_cap);
		pc->prefixes[pc->nprefixes++] = prefix;
	}
	path_release(&path);
}

static int by_place(const void *a, const void *b)
{
	const struct path_prefix *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	if (x->is_pending != y->is_pending)
		return x->is_pending ? 1 : -1;
	return x->sum < y->sum ? -1 : x->sum > y->sum;
}

static void sum_prefixes(struct path_counts *pc)
{
	size_t kept = 0;

	if (pc->nprefixes)
		qsort(pc->prefixes, pc->nprefixes, sizeof(*pc->prefixes),
		      by_place);
	for (size_t i = 0; i < pc->nprefixes; i++) {
		struct path_prefix *last =
		        kept ? &pc->prefixes[kept - 1] : NULL;

		if (last && !by_place(last, &pc->prefixes[i])) {
			last->in += pc->prefixes[i].in;
			last->out += pc->prefixes[i].out;
		} else {
			pc->prefixes[kept++] = pc->prefixes[i];
		}
	}
	pc->nprefixes = kept;
}

static void add_prefixes(struct path_counts *pc, const struct numbers *s,
                         uint32_t function, const struct frame_places *places)
{
	size_t lo = 0, hi = places->npaths;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (places->paths[mid].function < function)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < places->npaths && places->paths[lo].function == function;
	     lo++)
		add_prefix(pc, s, &places->paths[lo]);
	sum_prefixes(pc);
}

/* Frames of a trace whose paths are not known, or not whole. */
static void add_blind(struct path_counts *pc, uint32_t function,
                      const struct frame_places *places)
{
	pc->nunknown += places->nblind[function];
	if (places->trouble[function] == FRAME_BEGUN)
		doubt(pc, COUNTS_TRACE_BEGUN);
	if (places->trouble[function] == FRAME_CUT)
		doubt(pc, COUNTS_TRACE_CUT);
}

bool path_counts_init(struct path_counts *pc, const struct profile_module *m,
                      uint32_t function, const struct frame_places *places)
{
	const struct map_function *f = &m->map->functions[function];
	struct numbers s = {0};

	*pc = (struct path_counts){0};
	if (!number_paths(pc, m->map, f) || !find_numbers(pc, &s, m->map, f) ||
	    !add_counts(pc, m, f, &s)) {
		free(s.callee);
		path_counts_release(pc);
		pc->doubt = COUNTS_PATH_MAP;
		return false;
	}
	add_prefixes(pc, &s, function, places);
	free(s.callee);
	add_blind(pc, function, places);
	sum_counts(pc);
	sum_pairs(pc);
	return true;
}

void path_counts_reopen(struct path_counts *pc)
{
	for (size_t i = 0; i < pc->nended; i++) {
		const struct path_ended *left = &pc->ended[i];

		VEC_RESERVE(pc->items, pc->n, pc->cap);
		pc->items[pc->n++] = (struct path_count){
		        left->number, left->prefix.in - left->prefix.out};
		VEC_RESERVE(pc->prefixes, pc->nprefixes, pc->prefixes_cap);
		pc->prefixes[pc->nprefixes++] = left->prefix;
	}
	pc->nended = 0;
	sum_counts(pc);
	sum_prefixes(pc);
}

void path_counts_release(struct path_counts *pc)
{
	tags_release(&pc->tags);
	free(pc->calls);
	paths_release(&pc->paths);
	if (pc->g)
		cfg_release(pc->g);
	free(pc->g);
	free(pc->items);
	free(pc->pairs);
	free(pc->left_out);
	free(pc->prefixes);
	free(pc->ended);
	*pc = (struct path_counts){0};
}

/* --- edges and blocks --------------------------------------------------- */

/* Counts of a function while they are added up. */
struct adding {
	const struct path_counts *pc;
	const struct map_edge *edges; /* of the function, in the map */
	uint64_t *edge;
	uint64_t *rest; /* per block: what went in and did not come out */
};

/* All edges but ABNORMAL ones are right afterwards. */
static void add_all(struct adding *a)
{
	const struct path_counts *pc = a->pc;

	for (size_t i = 0; i < pc->n; i++)
		paths_count(&pc->paths, pc->items[i].number, pc->items[i].count,
		            a->edge, NULL);
	for (size_t i = 0; i < pc->nprefixes; i++) {
		const struct path_prefix *x = &pc->prefixes[i];

		a->rest[x->block] += x->in - x->out;
		if (x->is_pending)
			paths_count_prefix(&pc->paths, x->sum, x->block,
			                   x->out - x->in, a->edge, NULL);
	}
}

/* Fills in rest[], and lets it out where there is an ABNORMAL way. */
static void balance(struct adding *a)
{
	const struct cfg *g = a->pc->g;

	for (edge_id e = 0; e < g->nedges; e++) {
		a->rest[g->edges[e].dst] += a->edge[e];
		a->rest[g->edges[e].src] -= a->edge[e];
	}
	for (edge_id e = 0; e < g->nedges; e++)
		if (a->edges[e].kind == CAIRN_EDGE_ABNORMAL) {
			a->edge[e] = a->rest[g->edges[e].src];
			a->rest[g->edges[e].src] = 0;
		}
}

/* Edges into a block and frames that began in it. */
static void count_blocks(const struct adding *a, uint64_t *block)
{
	const struct cfg *g = a->pc->g;

	memset(block, 0, g->nblocks * sizeof(*block));
	for (edge_id e = 0; e < g->nedges; e++)
		if (g->edges[e].dst != CFG_OUTSIDE)
			block[g->edges[e].dst] += a->edge[e];
	block[CFG_OUTSIDE] = g->nedges ? a->edge[0] : 0;
	for (size_t i = 0; i < a->pc->nprefixes; i++)
		block[a->pc->prefixes[i].block] += a->pc->prefixes[i].in;
}

uint32_t path_counts_edges(const struct path_counts *pc, const struct map *map,
                           const struct map_function *f, uint64_t *edge,
                           uint64_t *block)
{
	struct adding a = {
	        .pc = pc,
	        .edges = map->edges + f->first_edge,
	        .edge = edge,
	        .rest = xcalloc(f->nblocks, sizeof(*a.rest)),
	};
	uint32_t bad = 0;

	memset(edge, 0, f->nedges * sizeof(*edge));
	add_all(&a);
	balance(&a);
	for (block_id b = f->nblocks; b-- > 1;)
		if (a.rest[b])
			bad = b;
	count_blocks(&a, block);
	free(a.rest);
	return bad;
}
