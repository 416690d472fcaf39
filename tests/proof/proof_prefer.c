/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far are preferential numbers from the optimum?
 * proof_prefer N SEED FUNCTIONS [MARKDOWN]
 *
 * Problem A of the thesis of 2007: integer values of edges such that
 * interesting paths have distinct sums within the smallest window.  The sums
 * that are possible form a lattice, spanned by the columns of the matrix of
 * paths and edges.  In Hermite normal form a path is either free (its sum is
 * any number of a residue class, whatever the paths before it have) or follows
 * from the free ones before it, so a search over the slots of the free paths
 * for windows of n, n + 1, .. slots finds the optimum.  A window that is
 * refuted raises the lower bound; a search that runs out of steps leaves it.
 * Then wider windows are tried, for the best numbering that can be found.
 *
 * Asked of: figures 3.6 and 3.11; N random sets each on chains of 4 to 8 joins
 * with 2 to 4 ways, of 10 to 200 paths; and the functions of a file that
 * prefer_instances.py made of profiles.  For each: its name, the numbers of
 * blocks, edges and paths; the two blocks of every edge; for every path how
 * many edges it has, and which.
 *
 * Checked: every numbering has distinct slots in its window, by values summed
 * along the routes, and so has every better one that a search claims; no
 * numbering is below a bound; on small chains no values of a range that is
 * tried out in full are below it.  The last line is RESULT; status 0 if all
 * checks hold, 1 if not, 2 for bad arguments.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/cfg.h"
#include "graph/dag.h"
#include "graph/paths.h"
#include "graph/prefer.h"
#include "../unit/path_graphs.h"

enum {
	PATHS_MAX = 200,
	NODES_MAX = 2000000, /* steps of a search for one window */
	NMETHODS = 3
};

static const struct paths_options no_options;
static uint32_t nfaults;

static void fault(const char *name, const char *what)
{
	printf("FAULT %s: %s\n", name, what);
	nfaults++;
}

/* --- an instance ---------------------------------------------------------- */

struct instance {
	const char *name;
	struct cfg g;
	struct paths p;
	uint32_t n;
	uint64_t *number; /* interesting paths, ascending */
	uint32_t **route; /* their DAG edges ... */
	uint32_t *length; /* ... and how many */
	uint64_t size[NMETHODS];
	uint64_t lower; /* no numbering has fewer slots */
	uint64_t found; /* there is one with so many */
};

static int compare_numbers(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Takes over number[]; they are distinct.  g and p are there. */
static void instance_take(struct instance *in, uint64_t *number, uint32_t n)
{
	in->n = n;
	in->number = number;
	qsort(number, n, sizeof(*number), compare_numbers);
	in->route = xcalloc(n, sizeof(*in->route));
	in->length = xcalloc(n, sizeof(*in->length));
	for (uint32_t i = 0; i < n; i++) {
		in->route[i] =
		        xcalloc(in->p.dag.nvertices, sizeof(**in->route));
		in->length[i] = paths_route(&in->p, number[i], in->route[i]);
	}
	in->lower = n;
}

static void instance_release(struct instance *in)
{
	for (uint32_t i = 0; i < in->n; i++)
		free(in->route[i]);
	free(in->route);
	free(in->length);
	free(in->number);
	paths_release(&in->p);
	cfg_release(&in->g);
}

/* Modulo 2^64: what the search claims may run over on the way. */
static uint64_t sum_along(const struct instance *in, const int64_t *value,
                          uint32_t i)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < in->length[i]; k++)
		sum += (uint64_t)value[in->route[i][k]];
	return sum;
}

/* The window of the sums, or 0 if two are the same. */
static uint64_t window_of(const struct instance *in, const int64_t *value)
{
	int64_t *sum = xcalloc(in->n, sizeof(*sum));
	int64_t min = INT64_MAX, max = INT64_MIN;
	bool distinct = true;

	for (uint32_t i = 0; i < in->n; i++) {
		sum[i] = (int64_t)sum_along(in, value, i);
		for (uint32_t k = 0; k < i; k++)
			distinct &= sum[k] != sum[i];
		min = sum[i] < min ? sum[i] : min;
		max = sum[i] > max ? sum[i] : max;
	}
	free(sum);
	return distinct ? (uint64_t)max - (uint64_t)min + 1 : 0;
}

/* Numbers by one method. */
static void instance_number(struct instance *in, enum prefer_method method)
{
	struct prefer_options o = {.method = method};
	struct prefer f;

	if (prefer_init(&f, &in->p, in->number, in->n, &o, NULL) < 0) {
		fault(in->name, "is refused");
		exit(1);
	}
	in->size[method] = f.size;
	if (window_of(in, f.value) != f.size)
		fault(in->name, "the slots are not distinct or not in size");
	prefer_release(&f);
}

/* --- the optimum ---------------------------------------------------------- */

struct lattice {
	const struct instance *in;
	uint32_t nrows, ncolumns;
	/* a row per path, as ordered, and one per edge: its value */
	int64_t **row;
	uint32_t order[PATHS_MAX];
	int32_t pivot[PATHS_MAX]; /* per path: its column, or -1: follows */
	/* the search */
	uint64_t window, nodes;
	int64_t y[PATHS_MAX];
	bool *used;
};

#define RANK_PRIME 2147483647 /* an order is no proof: any prime will do */

static int64_t inverse_mod(int64_t a)
{
	int64_t result = 1;

	for (int64_t e = RANK_PRIME - 2; e > 0; e >>= 1) {
		if (e & 1)
			result = result * a % RANK_PRIME;
		a = a * a % RANK_PRIME;
	}
	return result;
}

static void path_vector(const struct instance *in, uint32_t i, int64_t *vector)
{
	memset(vector, 0, in->p.dag.nedges * sizeof(*vector));
	for (uint32_t k = 0; k < in->length[i]; k++)
		vector[in->route[i][k]] = 1;
}

/* How often the edges of path i were taken before. */
static uint32_t shared(const struct instance *in, uint32_t i,
                       const uint32_t *use)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < in->length[i]; k++)
		n += use[in->route[i][k]];
	return n;
}

/* What is left of a path when the free ones are known; its first number is 1,
 * so that one path follows from another exactly if the rests are the same. */
struct rest {
	int64_t *vector;
	uint32_t first; /* nedges: nothing is left, it follows */
	bool taken;
};

static void rest_scale(struct rest *x, uint32_t nedges)
{
	int64_t unit;

	for (x->first = 0; x->first < nedges && x->vector[x->first] == 0;)
		x->first++;
	if (x->first == nedges)
		return;
	unit = inverse_mod(x->vector[x->first]);
	for (uint32_t e = 0; e < nedges; e++)
		x->vector[e] = x->vector[e] * unit % RANK_PRIME;
}

static void rest_subtract(struct rest *x, const struct rest *y, uint32_t nedges)
{
	int64_t factor = x->vector[y->first];

	for (uint32_t e = 0; e < nedges; e++)
		x->vector[e] =
		        (x->vector[e] + (RANK_PRIME - factor) * y->vector[e]) %
		        RANK_PRIME;
	if (factor)
		rest_scale(x, nedges);
}

/* The path to take next: one that follows, or else one that many follow from,
 * or else one whose edges were taken often. */
static uint32_t lattice_next(const struct instance *in, const struct rest *rest,
                             const uint32_t *use)
{
	uint32_t nedges = in->p.dag.nedges, best = CFG_NONE;
	uint64_t most = 0;

	for (uint32_t i = 0; i < in->n; i++) {
		uint64_t score = 1 + shared(in, i, use);

		if (rest[i].taken)
			continue;
		if (rest[i].first == nedges)
			return i;
		for (uint32_t k = 0; k < in->n; k++)
			if (!rest[k].taken &&
			    memcmp(rest[i].vector, rest[k].vector,
			           nedges * sizeof(*rest[i].vector)) == 0)
				score += (uint64_t)1 << 32;
		if (score > most) {
			most = score;
			best = i;
		}
	}
	return best;
}

/* Orders the paths: a path that follows comes as early as it can. */
static void lattice_order(struct lattice *l)
{
	const struct instance *in = l->in;
	uint32_t nedges = in->p.dag.nedges;
	uint32_t *use = xcalloc(nedges, sizeof(*use));
	struct rest *rest = xcalloc(in->n, sizeof(*rest));

	for (uint32_t i = 0; i < in->n; i++) {
		rest[i].vector = xcalloc(nedges, sizeof(*rest[i].vector));
		path_vector(in, i, rest[i].vector);
		rest_scale(&rest[i], nedges);
	}
	for (uint32_t at = 0; at < in->n; at++) {
		uint32_t next = lattice_next(in, rest, use);

		l->order[at] = next;
		rest[next].taken = true;
		for (uint32_t k = 0; k < in->length[next]; k++)
			use[in->route[next][k]]++;
		if (rest[next].first == nedges)
			continue;
		for (uint32_t i = 0; i < in->n; i++)
			if (!rest[i].taken)
				rest_subtract(&rest[i], &rest[next], nedges);
	}
	for (uint32_t i = 0; i < in->n; i++)
		free(rest[i].vector);
	free(rest);
	free(use);
}

/* Adds a multiple of one column to another.  False: too large. */
static bool column_add(struct lattice *l, uint32_t to, uint32_t from,
                       int64_t factor)
{
	for (uint32_t i = 0; i < l->nrows; i++) {
		int64_t product, *x = l->row[i];
		bool large = __builtin_mul_overflow(factor, x[from], &product);

		large |= __builtin_add_overflow(x[to], product, &x[to]);
		if (large && i < l->in->n)
			return false; /* else modulo 2^64: good enough */
	}
	return true;
}

static void column_swap(struct lattice *l, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < l->nrows; i++) {
		int64_t x = l->row[i][a];

		l->row[i][a] = l->row[i][b];
		l->row[i][b] = x;
	}
}

/* Clears row i from column c + 1 on, by Euclid's algorithm. */
static bool row_clear(struct lattice *l, uint32_t i, uint32_t c)
{
	int64_t *x = l->row[i];

	for (uint32_t k = c + 1; k < l->ncolumns; k++)
		while (x[k] != 0) {
			if (!column_add(l, c, k, -(x[c] / x[k])))
				return false;
			column_swap(l, c, k);
		}
	return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* No sum of a search over windows can run over. */
static bool lattice_is_small(const struct lattice *l)
{
	const int64_t limit = (int64_t)1 << 32;

	for (uint32_t i = 0; i < l->in->n; i++)
		for (uint32_t k = 0; k < l->ncolumns; k++)
			if (l->row[i][k] > limit || l->row[i][k] < -limit)
				return false;
	return true;
}

/* Hermite normal form.  False: numbers got too large. */
static bool lattice_reduce(struct lattice *l)
{
	uint32_t c = 0;

	for (uint32_t i = 0; i < l->in->n; i++) {
		int64_t *x = l->row[i];

		l->pivot[i] = -1;
		if (c == l->ncolumns)
			continue;
		if (!row_clear(l, i, c))
			return false;
		if (x[c] == 0)
			continue;
		if (x[c] < 0 && !column_add(l, c, c, -2))
			return false;
		for (uint32_t k = 0; k < c; k++)
			if (!column_add(l, k, c, -floor_div(x[k], x[c])))
				return false;
		l->pivot[i] = (int32_t)c++;
	}
	return lattice_is_small(l);
}

static bool lattice_init(struct lattice *l, const struct instance *in)
{
	uint32_t nedges = in->p.dag.nedges;

	*l = (struct lattice){.in = in, .ncolumns = nedges};
	l->nrows = in->n + nedges;
	l->row = xcalloc(l->nrows, sizeof(*l->row));
	for (uint32_t i = 0; i < l->nrows; i++)
		l->row[i] = xcalloc(nedges, sizeof(**l->row));
	lattice_order(l);
	for (uint32_t i = 0; i < in->n; i++)
		path_vector(in, l->order[i], l->row[i]);
	for (uint32_t e = 0; e < nedges; e++)
		l->row[in->n + e][e] = 1;
	return lattice_reduce(l);
}

static void lattice_release(struct lattice *l)
{
	for (uint32_t i = 0; i < l->nrows; i++)
		free(l->row[i]);
	free(l->row);
	free(l->used);
}

/* What the first `rank` free paths make of row i. */
static int64_t row_sum(const struct lattice *l, uint32_t i, uint32_t rank)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < rank; k++)
		sum += l->row[i][k] * l->y[k];
	return sum;
}

enum answer { NO, YES, UNKNOWN };

static enum answer search_row(struct lattice *l, uint32_t i, uint32_t rank);

static enum answer search_slot(struct lattice *l, uint32_t i, uint32_t rank,
                               int64_t slot)
{
	enum answer a;

	if (slot < 0 || (uint64_t)slot >= l->window || l->used[slot])
		return NO;
	if (++l->nodes > NODES_MAX)
		return UNKNOWN;
	l->used[slot] = true;
	a = search_row(l, i + 1, rank);
	l->used[slot] = false;
	return a;
}

/* Gives paths i, i + 1, .. slots, where `rank` free ones have theirs. */
static enum answer search_row(struct lattice *l, uint32_t i, uint32_t rank)
{
	int64_t base, step, last = (int64_t)l->window - 1;

	if (i == l->in->n)
		return YES;
	base = row_sum(l, i, rank);
	if (l->pivot[i] < 0)
		return search_slot(l, i, rank, base);
	step = l->row[i][l->pivot[i]];
	/* the numbering from the other end is one as well: all sums together
	 * can be moved and, by their sign, be turned round */
	if (i == 0)
		last /= 2;
	l->y[rank] = -floor_div(base, step);
	for (; base + step * l->y[rank] <= last; l->y[rank]++) {
		enum answer a =
		        search_slot(l, i, rank + 1, base + step * l->y[rank]);

		if (a != NO)
			return a;
	}
	return NO;
}

/* Do the slots that were found come out along the routes? */
static bool lattice_holds(const struct lattice *l)
{
	const struct instance *in = l->in;
	int64_t *value = xcalloc(in->p.dag.nedges, sizeof(*value));
	uint64_t window;
	uint32_t rank = 0;

	for (uint32_t i = 0; i < in->n; i++)
		rank += l->pivot[i] >= 0;
	for (uint32_t e = 0; e < in->p.dag.nedges; e++)
		for (uint32_t k = 0; k < rank; k++)
			value[e] = (int64_t)((uint64_t)value[e] +
			                     (uint64_t)l->row[in->n + e][k] *
			                             (uint64_t)l->y[k]);
	window = window_of(in, value);
	free(value);
	return window > 0 && window <= l->window;
}

/* Is there a numbering with so many slots? */
static enum answer lattice_search(struct lattice *l, uint64_t window)
{
	enum answer a;

	l->window = window;
	l->nodes = 0;
	a = search_row(l, 0, 0);
	if (a == YES && !lattice_holds(l))
		fault(l->in->name, "slots that were found are not distinct");
	return a;
}

/* Raises lower from below, as far as windows can be refuted; then drops found
 * by halves, as far as there is an answer. */
static void instance_search(struct instance *in)
{
	enum answer a = NO;
	struct lattice l;
	uint64_t low;

	if (lattice_init(&l, in)) {
		l.used = xcalloc(in->found, sizeof(*l.used));
		while (in->lower < in->found && a == NO) {
			a = lattice_search(&l, in->lower);
			in->lower += a == NO;
		}
		if (a == YES)
			in->found = in->lower;
		for (low = in->lower + 1; low < in->found;) {
			uint64_t window = low + (in->found - low) / 2;

			if (lattice_search(&l, window) == YES)
				in->found = window;
			else
				low = window + 1;
		}
	}
	lattice_release(&l);
}

static void instance_judge(struct instance *in)
{
	for (int m = 0; m < NMETHODS; m++)
		instance_number(in, (enum prefer_method)m);
	in->found = in->size[PREFER_BEST];
	for (int m = 0; m < NMETHODS; m++)
		if (in->size[m] < in->found)
			fault(in->name, "BEST is not the best");
	instance_search(in);
	for (int m = 0; m < NMETHODS; m++)
		if (in->size[m] < in->lower)
			fault(in->name, "is below the lower bound");
}

/* --- figures -------------------------------------------------------------- */

/* One more instance on the graph of these arcs. */
static void instance_figure(struct instance *in, const char *name,
                            uint32_t nblocks, const struct graph_arc *arcs,
                            size_t narcs, const uint64_t *number, uint32_t n)
{
	uint64_t *copy = xcalloc(n, sizeof(*copy));

	*in = (struct instance){.name = name};
	graph_make(&in->g, nblocks, arcs, narcs);
	if (paths_init(&in->p, &in->g, &no_options, NULL) < 0)
		abort();
	memcpy(copy, number, n * sizeof(*copy));
	instance_take(in, copy, n);
}

#define FIGURE(in, name, nblocks, arcs, number)                 \
	instance_figure((in), (name), (nblocks), (arcs),        \
	                sizeof(arcs) / sizeof(*(arcs)), number, \
	                sizeof(number) / sizeof(*(number)))

enum { NFIGURES = 2 };

/* s > a, b, c > d > e, f, g > t; all pairs but three. */
static void figure_36(struct instance *in)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 2}, {1, 2},
	                                        {2, 0}, {2, 0}, {2, 0}};
	static const uint64_t number[] = {1, 2, 3, 5, 6, 7};

	FIGURE(in, "figure 3.6", 3, arcs, number);
}

/* As in test_prefer.c: G1 leaves two holes, G2 and G3 are a path each. */
static void figure_311(struct instance *in)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 7}, {1, 8}, {2, 5}, {3, 5},
	        {4, 5}, {5, 6}, {5, 0}, {6, 0}, {6, 0}, {7, 0}, {8, 0}};
	static const uint64_t number[] = {0, 1, 2, 3, 5, 6, 8, 9, 10};

	FIGURE(in, "after figure 3.11", 9, arcs, number);
}

static void proof_figures(FILE *out)
{
	static const uint64_t optimum[NFIGURES] = {7, 9};
	struct instance in[NFIGURES];

	figure_36(&in[0]);
	figure_311(&in[1]);
	fprintf(out, "| figure | paths | printed | FIT | BEST | optimum |\n"
	             "| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < NFIGURES; i++) {
		instance_judge(&in[i]);
		if (in[i].lower != optimum[i] || in[i].found != optimum[i])
			fault(in[i].name, "has another optimum");
		fprintf(out,
		        "| %s | %" PRIu32 " | %" PRIu64 " | %" PRIu64
		        " | %" PRIu64 " | %" PRIu64 " |\n",
		        in[i].name, in[i].n, in[i].size[PREFER_INTERVALS],
		        in[i].size[PREFER_FIT], in[i].size[PREFER_BEST],
		        in[i].found);
		instance_release(&in[i]);
	}
	fprintf(out, "\n");
}

/* --- chains --------------------------------------------------------------- */

/* n random paths of a chain of joins, which has at least so many. */
static void instance_chain(struct instance *in, uint32_t njoins, uint32_t least,
                           uint32_t most, uint32_t n, struct rng *r)
{
	uint64_t *number = xcalloc(n, sizeof(*number));
	bool enough = false;

	*in = (struct instance){.name = "a chain"};
	while (!enough) {
		cfg_init(&in->g, njoins + 2);
		cfg_add_edge(&in->g, CFG_OUTSIDE, 1);
		for (uint32_t j = 1; j <= njoins; j++) {
			uint32_t ways = least + rng_below(r, most - least + 1);

			while (ways-- > 0)
				cfg_add_edge(&in->g, j, j + 1);
		}
		cfg_add_edge(&in->g, njoins + 1, CFG_OUTSIDE);
		cfg_link(&in->g);
		if (paths_init(&in->p, &in->g, &no_options, NULL) < 0)
			abort();
		enough = in->p.n >= n;
		if (!enough) {
			paths_release(&in->p);
			cfg_release(&in->g);
		}
	}
	for (uint32_t i = 0; i < n;) {
		uint32_t k = 0;

		number[i] = rng_next(r) % in->p.n;
		while (number[k] != number[i])
			k++;
		i += k == i;
	}
	instance_take(in, number, n);
}

/* The least window of all values -6 .. 6, on two joins of three ways; one way
 * of each can be 0. */
static uint64_t tried_out(const struct instance *in)
{
	const struct dag *d = &in->p.dag;
	uint64_t least = UINT64_MAX;
	uint32_t edge[4], n = 0;
	int64_t *value = xcalloc(d->nedges, sizeof(*value));

	for (uint32_t v = 1; v <= 2; v++)
		for (uint32_t e = 1; e <= 2; e++)
			edge[n++] = d->out_at[v] + e;
	for (uint32_t i = 0; i < 13 * 13 * 13 * 13; i++) {
		uint64_t window;

		for (uint32_t k = 0, digits = i; k < 4; k++, digits /= 13)
			value[edge[k]] = (int64_t)(digits % 13) - 6;
		window = window_of(in, value);
		if (window > 0 && window < least)
			least = window;
	}
	free(value);
	return least;
}

/* Every set of 5 paths or more on two joins of three ways: the bounds against
 * values that are all tried out. */
static void proof_small(void)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 2}, {1, 2},
	                                        {2, 0}, {2, 0}, {2, 0}};
	uint32_t nsets = 0, nequal = 0, nimperfect = 0;

	for (uint32_t set = 0; set < 1 << 9; set++) {
		struct instance in;
		uint64_t number[9], least;
		uint32_t n = 0;

		for (uint32_t i = 0; i < 9; i++)
			if (set >> i & 1)
				number[n++] = i;
		if (n < 5)
			continue;
		instance_figure(&in, "a small chain", 3, arcs,
		                sizeof(arcs) / sizeof(*arcs), number, n);
		in.found = 2 * n; /* the search is to do it all alone */
		instance_search(&in);
		least = tried_out(&in);
		if (least < in.lower)
			fault(in.name, "the lower bound is too high");
		nsets++;
		nequal += least == in.found && in.found == in.lower;
		nimperfect += in.lower > n;
		instance_release(&in);
	}
	printf("small chains: %" PRIu32 " of %" PRIu32
	       " optima by trying all values, %" PRIu32 " of them above 1\n",
	       nequal, nsets, nimperfect);
	if (nequal < nsets || nimperfect == 0)
		fault("small chains", "some optima are not known");
}

/* --- a group of instances ------------------------------------------------- */

enum { PRINTED, FIT, BEST, FOUND, LOWER, GAP, NCOLUMNS };

struct group {
	uint32_t n, cap;
	double (*row)[NCOLUMNS]; /* deltas; GAP: best by lower bound */
	uint32_t noptimal;       /* BEST is proven to be optimal */
	uint32_t nsolved;        /* the optimum is known */
};

static void group_add(struct group *s, const struct instance *in)
{
	double n = in->n;

	VEC_RESERVE(s->row, s->n, s->cap);
	s->row[s->n][PRINTED] = (double)in->size[PREFER_INTERVALS] / n;
	s->row[s->n][FIT] = (double)in->size[PREFER_FIT] / n;
	s->row[s->n][BEST] = (double)in->size[PREFER_BEST] / n;
	s->row[s->n][FOUND] = (double)in->found / n;
	s->row[s->n][LOWER] = (double)in->lower / n;
	s->row[s->n][GAP] = (double)in->size[PREFER_BEST] / (double)in->lower;
	s->n++;
	s->noptimal += in->size[PREFER_BEST] == in->lower;
	s->nsolved += in->found == in->lower;
}

static void group_join(struct group *s, const struct group *other)
{
	for (uint32_t i = 0; i < other->n; i++) {
		VEC_RESERVE(s->row, s->n, s->cap);
		memcpy(s->row[s->n++], other->row[i], sizeof(*s->row));
	}
	s->noptimal += other->noptimal;
	s->nsolved += other->nsolved;
}

static int compare_doubles(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

/* The least value that `percent` of them do not exceed. */
static double group_rank(const struct group *s, int column, uint32_t percent)
{
	double *x = xcalloc((size_t)s->n + 1, sizeof(*x));
	double result;

	for (uint32_t i = 0; i < s->n; i++)
		x[i] = s->row[i][column];
	qsort(x, s->n, sizeof(*x), compare_doubles);
	result = s->n ? x[(s->n * percent + 99) / 100 - 1] : 0;
	free(x);
	return result;
}

static double percent_of(uint32_t part, uint32_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void group_print(const struct group *s, FILE *out)
{
	for (int column = PRINTED; column <= LOWER; column++)
		fprintf(out, " %.2f, %.2f |", group_rank(s, column, 50),
		        group_rank(s, column, 95));
	fprintf(out, " %.0f %% | %.0f %% |\n", percent_of(s->nsolved, s->n),
	        percent_of(s->noptimal, s->n));
}

static void group_head(FILE *out, const char *first, const char *rule)
{
	fprintf(out,
	        "|%s printed | FIT | BEST | best found | lower bound | "
	        "optimum known | BEST is optimal |\n"
	        "|%s ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
	        first, rule);
}

static void proof_chains(FILE *out, uint32_t nsets, struct rng *r,
                         struct group *all)
{
	static const uint32_t npaths[] = {10, 20, 50, 100, 200};

	group_head(out, " joins | paths |", " ---: | ---: |");
	for (uint32_t njoins = 4; njoins <= 8; njoins++)
		for (uint32_t k = 0; k < sizeof(npaths) / sizeof(*npaths);
		     k++) {
			struct group s = {0};

			for (uint32_t i = 0; i < nsets; i++) {
				struct instance in;

				instance_chain(&in, njoins, 2, 4, npaths[k], r);
				instance_judge(&in);
				group_add(&s, &in);
				instance_release(&in);
			}
			fprintf(out, "| %" PRIu32 " | %" PRIu32 " |", njoins,
			        npaths[k]);
			group_print(&s, out);
			fflush(out);
			group_join(all, &s);
			free(s.row);
		}
	fprintf(out, "\n");
}

/* --- functions of programs ------------------------------------------------ */

static uint32_t read_number(FILE *in, uint32_t limit)
{
	uint32_t x;

	if (fscanf(in, "%" SCNu32, &x) != 1 || x >= limit) {
		fprintf(stderr, "proof_prefer: no list of functions\n");
		exit(2);
	}
	return x;
}

/* A path by its edges, as a number. */
static uint64_t read_path(struct instance *in, FILE *file)
{
	struct path path = {.enters = true, .end = PATH_LEAVES};
	uint64_t number;

	path.nedges = read_number(file, in->g.nedges + 1);
	path.edges = xcalloc((size_t)path.nedges + 1, sizeof(*path.edges));
	for (uint32_t k = 0; k < path.nedges; k++)
		path.edges[k] = read_number(file, in->g.nedges);
	if (path.nedges == 0 ||
	    (path.first = in->g.edges[path.edges[0]].dst,
	     paths_encode(&in->p, &path, &number, NULL) < 0)) {
		fprintf(stderr, "proof_prefer: %s: no path\n", in->name);
		exit(2);
	}
	path_release(&path);
	return number;
}

/* False at the end of the file. */
static bool instance_read(struct instance *in, FILE *file, char name[128])
{
	enum { MANY = 1 << 20 };
	uint32_t nblocks, nedges, n;
	uint64_t *number;

	if (fscanf(file, "%127s", name) != 1)
		return false;
	*in = (struct instance){.name = name};
	nblocks = read_number(file, MANY);
	nedges = read_number(file, MANY);
	n = read_number(file, PATHS_MAX + 1);
	cfg_init(&in->g, nblocks);
	for (uint32_t e = 0; e < nedges; e++) {
		block_id src = read_number(file, nblocks);

		cfg_add_edge(&in->g, src, read_number(file, nblocks));
	}
	cfg_link(&in->g);
	if (paths_init(&in->p, &in->g, &no_options, NULL) < 0)
		abort();
	number = xcalloc((size_t)n + 1, sizeof(*number));
	for (uint32_t i = 0; i < n; i++)
		number[i] = read_path(in, file);
	instance_take(in, number, n);
	return true;
}

/* Functions by the number of their interesting paths. */
enum { NRANGES = 4, RANGE_LARGE = 3 };
static const uint32_t range_last[NRANGES] = {3, 10, 20, PATHS_MAX};

static void proof_functions(FILE *out, FILE *file, struct group *ranges)
{
	struct instance f;
	char name[128];

	while (instance_read(&f, file, name)) {
		int range = 0;

		while (f.n > range_last[range])
			range++;
		instance_judge(&f);
		group_add(&ranges[range], &f);
		if (f.size[PREFER_BEST] > f.lower)
			printf("%s: %" PRIu32 " paths, BEST %" PRIu64
			       ", found %" PRIu64 ", at least %" PRIu64 "\n",
			       name, f.n, f.size[PREFER_BEST], f.found,
			       f.lower);
		instance_release(&f);
	}
	group_head(out, " paths | functions |", " ---: | ---: |");
	for (int i = 0; i < NRANGES; i++) {
		fprintf(out, "| up to %" PRIu32 " | %" PRIu32 " |",
		        range_last[i], ranges[i].n);
		group_print(&ranges[i], out);
	}
}

/* --- main ----------------------------------------------------------------- */

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static const char preface[] =
        "# How far preferential numbers are from the optimum\n"
        "\n"
        "Written by `proof_prefer`, whose head says what is computed and\n"
        "how. Sizes are slots; deltas are slots by interesting paths, given\n"
        "as the median and the 95th percentile of a row. *printed* is figure\n"
        "3.10 of the thesis of 2007, *FIT* fills holes, *BEST* is what Cairn\n"
        "uses. *best found* is the best numbering that the search came to,\n"
        "*lower bound* what it proved or, where it gave up, the number of\n"
        "paths: the optimum lies between the two, and is known where they\n"
        "meet.\n"
        "\n";

static FILE *open_or_exit(const char *name, const char *mode)
{
	FILE *file = fopen(name, mode);

	if (!file) {
		fprintf(stderr, "proof_prefer: %s: %s\n", name,
		        strerror(errno));
		exit(2);
	}
	return file;
}

static void print_result(const struct group *chains, const struct group *few,
                         const struct group *large)
{
	printf("RESULT prefer chains=%" PRIu32 " chains_delta_printed=%.2f"
	       " chains_delta_fit=%.2f chains_delta_best=%.2f"
	       " chains_delta_found=%.2f chains_optimal_pct=%.1f",
	       chains->n, group_rank(chains, PRINTED, 50),
	       group_rank(chains, FIT, 50), group_rank(chains, BEST, 50),
	       group_rank(chains, FOUND, 50),
	       percent_of(chains->noptimal, chains->n));
	printf(" functions=%" PRIu32 " optimal_pct=%.1f gap_median=%.3f"
	       " gap_p95=%.3f",
	       few->n, percent_of(few->noptimal, few->n),
	       group_rank(few, GAP, 50), group_rank(few, GAP, 95));
	printf(" large=%" PRIu32 " large_optimal_pct=%.1f"
	       " large_gap_median=%.3f large_gap_p95=%.3f faults=%" PRIu32 "\n",
	       large->n, percent_of(large->noptimal, large->n),
	       group_rank(large, GAP, 50), group_rank(large, GAP, 95), nfaults);
}

int main(int argc, char **argv)
{
	struct group chains = {0}, few = {0}, ranges[NRANGES] = {0};
	FILE *functions, *out = stdout;
	uint64_t nsets, seed;
	struct rng r;

	if (argc < 4 || argc > 5 || !parse_number(argv[1], &nsets) ||
	    nsets == 0 || nsets > UINT16_MAX || !parse_number(argv[2], &seed)) {
		fprintf(stderr, "usage: proof_prefer N SEED FUNCTIONS "
		                "[MARKDOWN]\n");
		return 2;
	}
	functions = open_or_exit(argv[3], "r");
	if (argc == 5)
		out = open_or_exit(argv[4], "w");
	r.state = seed;
	printf("SEED=%" PRIu64 "\n", seed);
	fprintf(out, "%s## Figures\n\n", preface);
	proof_figures(out);
	proof_small();
	fprintf(out,
	        "## Chains of joins with 2 to 4 ways, %" PRIu64
	        " random sets each\n\n",
	        nsets);
	proof_chains(out, (uint32_t)nsets, &r, &chains);
	fprintf(out, "## Functions of all programs of the corpus, all executed "
	             "paths\n\n");
	proof_functions(out, functions, ranges);
	fclose(functions);
	if (out != stdout && fclose(out) != 0)
		fault(argv[4], "cannot be written");
	for (int i = 0; i < RANGE_LARGE; i++)
		group_join(&few, &ranges[i]);
	if (few.n == 0)
		fault(argv[3], "has no functions");
	print_result(&chains, &few, &ranges[RANGE_LARGE]);
	for (int i = 0; i < NRANGES; i++)
		free(ranges[i].row);
	free(chains.row);
	free(few.row);
	return nfaults > 0;
}
