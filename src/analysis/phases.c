/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: intervals of a run that execute different paths.
 *
 * After T. Sherwood, E. Perelman, G. Hamerly and B. Calder, "Automatically
 * characterizing large scale program behavior", ASPLOS 2002, with paths where
 * they have blocks, so that the same blocks along different paths differ.  The
 * run is cut into intervals of equal work while it is read: when there are too
 * many, each becomes one with its neighbour.  What an interval did is a vector:
 * the share of each path in its instructions.  Of shares the square roots are
 * taken: then the distance of two intervals is that of Hellinger, which is the
 * same for few and for many paths, 0 for equal ones and the root of 2 for those
 * that have no path in common, and what chance does to shares is alike for all
 * of them.  A random projection (signs by a hash) makes them short.
 *
 * k-means with more centres than needed cuts the points into small clusters,
 * and two clusters are made one again, the least different first, unless two
 * explain their points better.  That is judged on the line through their
 * centres, by the Bayesian information criterion of D. Pelleg and A. Moore,
 * "X-means", ICML 2000: one normal distribution or two.  A cloud or a slow
 * drift that was cut in the middle loses by that, whatever its spread; clusters
 * with a gap of about four times their spread remain.  A spread below SPREAD is
 * taken as SPREAD: smaller differences are of no interest.
 *
 * Everything is a function of the input: no time, no random seed.
 * Invariant: interval i has the symbols before which `work` was from i * unit
 * up to (i + 1) * unit; features sum to its work. Cost: O(1) per symbol and 32
 * MB; finding takes well under a second.
 */
#include "analysis/phases.h"

#include "base/alloc.h"
#include "base/real.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Paths whose numbers are equal modulo this are not told apart. */
#define FEATURES 4096
#define DIMENSIONS 16
#define SPREAD 0.02
#define FEW_INTERVALS 32 /* that remain if there are many paths */
#define ROUNDS 50        /* of k-means; it ends when nothing changes */

struct phases *phases_new(void)
{
	struct phases *p = xcalloc(1, sizeof(*p));

	p->unit = 1;
	p->features = xcalloc((size_t)PHASES_INTERVALS * FEATURES,
	                      sizeof(*p->features));
	return p;
}

void phases_free(struct phases *p)
{
	if (!p)
		return;
	free(p->features);
	free(p);
}

static uint64_t *features_of(const struct phases *p, uint32_t interval)
{
	return p->features + (size_t)interval * FEATURES;
}

/* Makes one interval of each two. */
static void halve(struct phases *p)
{
	for (uint32_t i = 1; i < p->n; i++) {
		const struct phases_interval *from = &p->intervals[i];
		struct phases_interval *to = &p->intervals[i / 2];
		uint64_t *x = features_of(p, i / 2), *y = features_of(p, i);

		if (i % 2) {
			to->end = from->end;
			to->work += from->work;
		} else {
			*to = *from;
		}
		for (uint32_t k = 0; k < p->nfeatures; k++) {
			x[k] += y[k];
			y[k] = 0;
		}
	}
	p->n = (p->n + 1) / 2;
	p->unit *= 2;
}

/* Begins intervals up to number i; there may be empty ones. */
static void begin_intervals(struct phases *p, uint64_t i)
{
	while (p->n <= i)
		p->intervals[p->n++] = (struct phases_interval){
		        .first = p->length, .end = p->length};
}

/* One symbol, where the one before it was: false if there another interval
 * begins.  Nothing is divided. */
static bool push_near(struct phases *p, uint32_t feature, uint64_t weight)
{
	struct phases_interval *interval;

	if (!p->n || p->work - (p->n - 1) * p->unit >= p->unit)
		return false;
	interval = &p->intervals[p->n - 1];
	p->length++;
	p->work += weight;
	p->squares += (double)weight * (double)weight;
	interval->end = p->length;
	interval->work += weight;
	features_of(p, p->n - 1)[feature] += weight;
	return true;
}

void phases_push(struct phases *p, uint32_t symbol, uint64_t weight, uint64_t n)
{
	uint32_t feature = symbol % FEATURES;

	if (feature >= p->nfeatures)
		p->nfeatures = feature + 1;
	if (n == 1 && push_near(p, feature, weight))
		return;
	while (n) {
		uint64_t i = p->work / p->unit, part = n;
		struct phases_interval *interval;

		if (i >= PHASES_INTERVALS) {
			halve(p);
			continue;
		}
		begin_intervals(p, i);
		interval = &p->intervals[i];
		if (weight) {
			part = ((i + 1) * p->unit - p->work - 1) / weight + 1;
			part = part < n ? part : n;
		}
		p->length += part;
		p->work += part * weight;
		p->squares += (double)part * (double)weight * (double)weight;
		interval->end = p->length;
		interval->work += part * weight;
		features_of(p, (uint32_t)i)[feature] += part * weight;
		n -= part;
	}
}

/* --- points ------------------------------------------------------------ */

/* Intervals that did something, and what k-means says of them. */
struct cluster {
	double centre[DIMENSIONS];
	uint32_t n;
};

struct search {
	const struct phases *p;
	double (*points)[DIMENSIONS]; /* per interval */
	uint32_t *of;                 /* per interval: its cluster */
	bool *is_in;                  /* per interval: it has a say */
	uint32_t npoints;             /* that have */
	double spread;                /* squared: what clusters have at least */
	struct cluster clusters[PHASES_MOST];
	uint32_t n;
};

static uint64_t mix(uint64_t x)
{
	x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 29) * 0x94d049bb133111ebu;
	return x ^ x >> 32;
}

static void make_point(const struct phases *p, uint32_t interval, double *point)
{
	const uint64_t *features = features_of(p, interval);
	double work = (double)p->intervals[interval].work;

	memset(point, 0, DIMENSIONS * sizeof(*point));
	for (uint32_t k = 0; k < p->nfeatures; k++) {
		uint64_t signs;
		double root;

		if (!features[k])
			continue;
		signs = mix(k);
		/* divided by the root of DIMENSIONS: lengths stay */
		root = real_sqrt((double)features[k] / work) / 4;
		for (int d = 0; d < DIMENSIONS; d++)
			point[d] += signs >> d & 1 ? root : -root;
	}
}

_Static_assert(DIMENSIONS == 16, "its root is 4");

static double distance(const double *x, const double *y)
{
	double sum = 0;

	for (int d = 0; d < DIMENSIONS; d++)
		sum += (x[d] - y[d]) * (x[d] - y[d]);
	return sum;
}

/* A last interval of less than half the work is too short to have a say. */
static void make_points(struct search *s)
{
	const struct phases *p = s->p;

	for (uint32_t i = 0; i < p->n; i++) {
		s->of[i] = 0;
		s->is_in[i] = p->intervals[i].work &&
		              (!i || i + 1 < p->n ||
		               p->intervals[i].work >= p->unit / 2);
		s->npoints += s->is_in[i];
		if (p->intervals[i].work)
			make_point(p, i, s->points[i]);
	}
}

/* --- clusters ---------------------------------------------------------- */

static void find_centres(struct search *s)
{
	for (uint32_t c = 0; c < s->n; c++)
		s->clusters[c] = (struct cluster){0};
	for (uint32_t i = 0; i < s->p->n; i++) {
		struct cluster *c = &s->clusters[s->of[i]];

		if (!s->is_in[i])
			continue;
		c->n++;
		for (int d = 0; d < DIMENSIONS; d++)
			c->centre[d] += s->points[i][d];
	}
	for (uint32_t c = 0; c < s->n; c++)
		for (int d = 0; d < DIMENSIONS; d++)
			s->clusters[c].centre[d] /=
			        s->clusters[c].n ? s->clusters[c].n : 1;
}

static uint32_t nearest(const struct search *s, uint32_t i, double *best)
{
	uint32_t found = 0;

	*best = -1;
	for (uint32_t c = 0; c < s->n; c++) {
		double x = distance(s->points[i], s->clusters[c].centre);

		if (s->clusters[c].n && (*best < 0 || x < *best)) {
			*best = x;
			found = c;
		}
	}
	return found;
}

/* Begins with one cluster, and makes the point that is furthest from its
 * centre one of its own, until there are enough or none is far. */
static void spread_centres(struct search *s)
{
	s->n = 1;
	find_centres(s);
	while (s->n < PHASES_MOST) {
		double furthest = s->spread, x;
		uint32_t found = UINT32_MAX;

		for (uint32_t i = 0; i < s->p->n; i++) {
			if (!s->is_in[i])
				continue;
			nearest(s, i, &x);
			if (x > furthest) {
				furthest = x;
				found = i;
			}
		}
		if (found == UINT32_MAX)
			return;
		memcpy(s->clusters[s->n].centre, s->points[found],
		       sizeof(s->points[found]));
		s->clusters[s->n++].n = 1;
	}
}

static void find_means(struct search *s)
{
	bool changed = true;

	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (uint32_t i = 0; i < s->p->n; i++) {
			double x;
			uint32_t c = nearest(s, i, &x);

			changed |= c != s->of[i];
			s->of[i] = c;
		}
		find_centres(s);
	}
}

/* Sums of the squares of what points of cluster c differ from its centre,
 * along a line. */
static double scatter(const struct search *s, uint32_t c, const double *line)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->p->n; i++) {
		double x = 0;

		if (!s->is_in[i] || s->of[i] != c)
			continue;
		for (int d = 0; d < DIMENSIONS; d++)
			x += (s->points[i][d] - s->clusters[c].centre[d]) *
			     line[d];
		sum += x * x;
	}
	return sum;
}

/* How much better two clusters explain their points than one; negative if they
 * do not. */
static double gain(const struct search *s, uint32_t a, uint32_t b)
{
	const struct cluster *x = &s->clusters[a], *y = &s->clusters[b];
	double line[DIMENSIONS],
	        gap = real_sqrt(distance(x->centre, y->centre));
	double n = x->n + y->n, within, between;

	if (!(gap > 0))
		return -1;
	for (int d = 0; d < DIMENSIONS; d++)
		line[d] = (x->centre[d] - y->centre[d]) / gap;
	within = (scatter(s, a, line) + scatter(s, b, line)) / n + s->spread;
	between = gap * gap * x->n / n * y->n / n;
	/* which cluster a point is in has to be told as well, and a centre */
	return n / 2 * real_log((within + between) / within) -
	       x->n * real_log(n / x->n) - y->n * real_log(n / y->n) -
	       (DIMENSIONS + 1) / 2.0 * real_log(n);
}

static void join_clusters(struct search *s, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < s->p->n; i++)
		if (s->of[i] == b)
			s->of[i] = a;
	find_centres(s);
}

/* The two clusters that one explains best; false if all are better as they
 * are. */
static bool find_join(const struct search *s, uint32_t *a, uint32_t *b)
{
	double least = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		for (uint32_t k = i + 1; k < s->n; k++) {
			double x = s->clusters[i].n && s->clusters[k].n
			                   ? gain(s, i, k)
			                   : 0;

			if (x >= least)
				continue;
			least = x;
			*a = i;
			*b = k;
		}
	}
	return least < 0;
}

static void join_all(struct search *s)
{
	uint32_t a = 0, b = 0;

	while (find_join(s, &a, &b))
		join_clusters(s, a, b);
}

/* Is an interval between two of different clusters, and in neither of them? */
static bool is_between(const struct search *s, uint32_t i)
{
	return i && i + 1 < s->p->n && s->is_in[i - 1] && s->is_in[i] &&
	       s->is_in[i + 1] && s->of[i - 1] != s->of[i] &&
	       s->of[i] != s->of[i + 1] && s->of[i - 1] != s->of[i + 1];
}

/* An interval in which one phase goes over into another is a mixture, and no
 * phase: a cluster of such ones only goes to the clusters before. */
static void drop_borders(struct search *s)
{
	uint32_t borders[PHASES_MOST] = {0};
	bool *is_border = xcalloc(s->p->n, sizeof(*is_border));

	for (uint32_t i = 0; i < s->p->n; i++) {
		is_border[i] = is_between(s, i);
		borders[s->of[i]] += is_border[i];
	}
	for (uint32_t i = 0; i < s->p->n; i++)
		if (is_border[i] &&
		    borders[s->of[i]] == s->clusters[s->of[i]].n)
			s->of[i] = s->of[i - 1];
	free(is_border);
	find_centres(s);
}

/* Numbers the clusters in order of appearance; intervals without work, and the
 * last if it has no say, go along. */
static void name_phases(struct phases *p, struct search *s)
{
	uint32_t name[PHASES_MOST], before = 0;
	double x;

	memset(name, 0xff, sizeof(name));
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t c;

		if (!p->intervals[i].work) {
			p->intervals[i].phase = before;
			continue;
		}
		c = s->is_in[i] ? s->of[i] : nearest(s, i, &x);
		if (name[c] == UINT32_MAX)
			name[c] = p->nphases++;
		p->intervals[i].phase = before = name[c];
	}
	if (p->n && !p->nphases)
		p->nphases = 1;
}

/* As many symbols of equal weight are as much of a sample. */
static double count_symbols(const struct phases *p)
{
	return p->work ? (double)p->work / p->squares * (double)p->work : 0;
}

/* As many paths of equal shares are as concentrated. */
static double count_paths(const struct phases *p)
{
	double sum = 0;

	for (uint32_t k = 0; k < p->nfeatures; k++) {
		double share = 0;

		for (uint32_t i = 0; i < p->n; i++)
			share += (double)features_of(p, i)[k];
		share /= (double)p->work;
		sum += share * share;
	}
	return 1 / sum;
}

/* Makes intervals so long that those of one phase have paths in common. */
static void lengthen(struct phases *p)
{
	double symbols = count_symbols(p), paths;

	if (!p->work)
		return;
	paths = count_paths(p);
	while (p->n >= 2 * FEW_INTERVALS && symbols < paths * (double)p->n)
		halve(p);
}

void phases_find(struct phases *p)
{
	struct search s = {.p = p};

	lengthen(p);
	/* a square root of a share varies by that much, whatever the share */
	if (p->work)
		s.spread =
		        SPREAD * SPREAD + (double)p->n / (4 * count_symbols(p));
	s.points = xcalloc(p->n, sizeof(*s.points));
	s.of = xcalloc(p->n, sizeof(*s.of));
	s.is_in = xcalloc(p->n, sizeof(*s.is_in));
	p->nphases = 0;
	make_points(&s);
	if (s.npoints) {
		spread_centres(&s);
		find_means(&s);
		join_all(&s);
		drop_borders(&s);
	}
	name_phases(p, &s);
	free(s.points);
	free(s.of);
	free(s.is_in);
}

/* --- timeline ---------------------------------------------------------- */

/* Work of an interval that is between two amounts of all work; `before` is what
 * was done before the interval. */
static double share_between(const struct phases_interval *i, double before,
                            double from, double to)
{
	double end = before + (double)i->work;

	if (from < before)
		from = before;
	if (to > end)
		to = end;
	return to > from ? to - from : 0;
}

void phases_timeline(const struct phases *p, char *text, size_t n)
{
	double part = (double)p->work / (double)(n ? n : 1);

	memset(text, ' ', n);
	text[n] = '\0';
	for (size_t k = 0; k < n && p->work; k++) {
		double shares[PHASES_MOST] = {0}, before = 0, most = 0;

		for (uint32_t i = 0; i < p->n; i++) {
			shares[p->intervals[i].phase] += share_between(
			        &p->intervals[i], before, part * (double)k,
			        part * (double)(k + 1));
			before += (double)p->intervals[i].work;
		}
		for (uint32_t c = 0; c < PHASES_MOST; c++) {
			if (shares[c] > most) {
				most = shares[c];
				text[k] = (char)('A' + c);
			}
		}
	}
}
