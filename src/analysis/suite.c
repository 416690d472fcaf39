/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test suite in terms of the paths that its tests take: which tests add
 * none, which suffice, in which order to run them, and what failing ones have
 * in common.
 *
 * K. Vaswani, "Efficient online path profiling", thesis, 2007, section 6.2.2,
 * proposes each of these.  The order is the "additional" strategy of G.
 * Rothermel et al., "Prioritizing test cases for regression testing", IEEE TSE
 * 27(10), 2001.  Scores of paths and lines: Tarantula (J. Jones and M. Harrold,
 * "Empirical evaluation of the Tarantula automatic fault-localization
 * technique", ASE 2005) and Ochiai (R. Abreu et al., "On the accuracy of
 * spectrum-based fault localization", TAIC PART 2007).
 *
 * A line has two scores: that of running it at all, and the highest one of the
 * paths that run through it.  A fault often shows only if the line is reached
 * in a certain way; then a path goes with failure although the line does not.
 * But where failing tests reach it on different paths, none of these does as
 * much as the line.  So the higher one of both counts.
 *
 * A path that a frame died on counts as a path of its own: a test that crashes
 * often differs from the others in nothing else.
 *
 * Invariant: s->first[f] .. s->first[f + 1] are the paths of function f, the
 * finished ones by number, then the others by place, until suite_finish.
 * Cost: suite_order O(tests^2 + pairs of path and test); lines O(n log n) in
 * the total length of all paths.
 */
#include "analysis/suite.h"

#include "analysis/cover.h"
#include "analysis/patch.h"
#include "base/alloc.h"
#include "format/map.h"

#include <stdlib.h>
#include <string.h>

/* --- who takes what ----------------------------------------------------- */

static void add_path(struct suite *s, struct suite_path p)
{
	VEC_RESERVE(s->paths, s->npaths, s->paths_cap);
	s->paths[s->npaths++] = p;
}

void suite_init(struct suite *s, const struct catalog *all, size_t ntests)
{
	*s = (struct suite){
	        .all = all, .ntests = ntests, .words = cover_words(ntests)};
	s->first = xcalloc(all->n + 1, sizeof(*s->first));
	for (uint32_t f = 0; f < all->n; f++) {
		const struct path_counts *pc = &all->functions[f].pc;

		for (size_t i = 0; i < pc->n; i++)
			add_path(s, (struct suite_path){
			                    .function = f,
			                    .number = pc->items[i].number});
		for (size_t i = 0; i < pc->nprefixes; i++)
			if (pc->prefixes[i].is_pending)
				add_path(s, (struct suite_path){
				                    .function = f,
				                    .is_prefix = true,
				                    .prefix = pc->prefixes[i]});
		s->first[f + 1] = s->npaths;
	}
	s->takers = xcalloc(s->npaths * s->words + 1, sizeof(*s->takers));
	s->npaths_of = xcalloc(ntests + 1, sizeof(*s->npaths_of));
	s->nalone_of = xcalloc(ntests + 1, sizeof(*s->nalone_of));
}

void suite_add(struct suite *s, size_t test, const struct catalog *c)
{
	struct catalog_match *of_all, *of_c;

	of_all = xcalloc(s->all->n + 1, sizeof(*of_all));
	of_c = xcalloc(c->n + 1, sizeof(*of_c));
	catalog_match(s->all, c, of_all, of_c);
	for (size_t i = 0; i < s->npaths; i++) {
		const struct suite_path *p = &s->paths[i];
		const struct catalog_match *m = &of_all[p->function];
		const struct catalog_function *f;

		if (m->fate != CATALOG_SAME)
			continue;
		f = &c->functions[m->other];
		if (p->is_prefix ? catalog_died(f, &p->prefix) > 0
		                 : catalog_count(f, p->number) > 0)
			cover_put(s->takers + i * s->words, test);
	}
	free(of_all);
	free(of_c);
}

static size_t count_takers(const struct suite *s, size_t path)
{
	size_t n = 0;

	for (size_t w = 0; w < s->words; w++)
		n += (size_t)__builtin_popcountll(suite_takers(s, path)[w]);
	return n;
}

void suite_finish(struct suite *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->npaths; i++) {
		size_t n = count_takers(s, i);

		if (!n)
			continue;
		for (size_t t = 0; t < s->ntests; t++) {
			bool takes = cover_has(suite_takers(s, i), t);

			s->npaths_of[t] += takes;
			s->nalone_of[t] += takes && n == 1;
		}
		s->paths[kept] = s->paths[i];
		memmove(s->takers + kept * s->words, suite_takers(s, i),
		        s->words * sizeof(*s->takers));
		kept++;
	}
	s->npaths = kept;
}

void suite_release(struct suite *s)
{
	free(s->paths);
	free(s->takers);
	free(s->first);
	free(s->npaths_of);
	free(s->nalone_of);
	*s = (struct suite){0};
}

void suite_decode(const struct suite *s, size_t path, struct path *out)
{
	const struct suite_path *p = &s->paths[path];
	const struct paths *paths = &s->all->functions[p->function].pc.paths;

	if (p->is_prefix)
		paths_decode_prefix(paths, p->prefix.sum, p->prefix.block, out,
		                    NULL);
	else
		paths_decode(paths, p->number, out, NULL);
}

void suite_cover(const struct suite *s, uint64_t limit, struct cover *out)
{
	cover_init(out, s->ntests, s->takers, s->npaths, limit);
}

/* Calls visit for all lines of a path. */
static void each_line(const struct suite *s, size_t path, struct path *scratch,
                      void (*visit)(void *context, const struct map_line *line),
                      void *context)
{
	const struct suite_path *p = &s->paths[path];

	suite_decode(s, path, scratch);
	catalog_lines(&s->all->functions[p->function], scratch,
	              p->prefix.segment + 1, visit, context);
}

/* --- a patch ------------------------------------------------------------ */

struct marking {
	const struct patch *patch;
	const struct map *map;
	uint32_t *file_of; /* per string of the map: 1 + file of the patch */
	bool found;
};

static bool is_changed_line(const struct patch *p, uint32_t file, uint32_t line)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct patch_line *l = &p->lines[mid];

		if (l->file < file || (l->file == file && l->line < line))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n && p->lines[lo].file == file &&
	       p->lines[lo].line == line;
}

static void mark_line(void *context, const struct map_line *line)
{
	struct marking *m = context;
	uint32_t file = line->file == MAP_NONE ? 0 : m->file_of[line->file];

	m->found = m->found ||
	           (file && is_changed_line(m->patch, file - 1, line->line));
}

/* Which files of the patch the strings of a map are. */
static void find_files(struct marking *m, const struct map *map, bool *used)
{
	const struct patch *p = m->patch;

	free(m->file_of);
	m->map = map;
	m->file_of = xcalloc((size_t)map->strings.n + 1, sizeof(*m->file_of));
	for (uint32_t i = 0; i < map->nlines; i++) {
		uint32_t name = map->lines[i].file;

		if (name == MAP_NONE || m->file_of[name])
			continue;
		for (uint32_t k = 0; k < p->files.n; k++)
			if (patch_is_file(map_string(map, name),
			                  p->files.items[k])) {
				m->file_of[name] = k + 1;
				used[k] = true;
			}
	}
}

void suite_mark(const struct suite *s, const struct patch *p, bool *is_changed,
                bool *used)
{
	struct marking m = {.patch = p};
	struct path scratch = {0};

	memset(used, 0, p->files.n * sizeof(*used));
	for (size_t i = 0; i < s->npaths; i++) {
		const struct map *map =
		        s->all->functions[s->paths[i].function].map;

		if (map != m.map)
			find_files(&m, map, used);
		m.found = false;
		each_line(s, i, &scratch, mark_line, &m);
		is_changed[i] = m.found;
	}
	path_release(&scratch);
	free(m.file_of);
}

/* --- the order ---------------------------------------------------------- */

struct ordering {
	const struct suite *s;
	const bool *is_changed;
	bool *covered;      /* per path */
	bool *done;         /* per test */
	uint64_t *changed;  /* per test: marked paths */
	uint64_t *gain;     /* of these, not covered */
	uint64_t *gain_all; /* paths not covered */
};

/* Is test x to run before test y? */
static bool goes_before(const struct ordering *o, size_t x, size_t y)
{
	if (o->gain[x] != o->gain[y])
		return o->gain[x] > o->gain[y];
	if (!o->changed[x] != !o->changed[y])
		return o->changed[x] > 0;
	if (o->gain_all[x] != o->gain_all[y])
		return o->gain_all[x] > o->gain_all[y];
	return o->changed[x] > o->changed[y];
}

static size_t pick(const struct ordering *o)
{
	size_t best = SIZE_MAX;

	for (size_t t = 0; t < o->s->ntests; t++)
		if (!o->done[t] &&
		    (best == SIZE_MAX || goes_before(o, t, best)))
			best = t;
	return best;
}

/* Takes a test: its paths are covered from now on. */
static void take(struct ordering *o, size_t test)
{
	const struct suite *s = o->s;

	o->done[test] = true;
	for (size_t i = 0; i < s->npaths; i++) {
		const uint64_t *takers = suite_takers(s, i);

		if (o->covered[i] || !cover_has(takers, test))
			continue;
		o->covered[i] = true;
		for (size_t t = 0; t < s->ntests; t++) {
			if (!cover_has(takers, t))
				continue;
			o->gain_all[t]--;
			o->gain[t] -= o->is_changed && o->is_changed[i];
		}
	}
}

void suite_order(const struct suite *s, const bool *is_changed,
                 struct suite_step *out)
{
	struct ordering o = {
	        .s = s,
	        .is_changed = is_changed,
	        .covered = xcalloc(s->npaths + 1, sizeof(bool)),
	        .done = xcalloc(s->ntests + 1, sizeof(bool)),
	        .changed = xcalloc(s->ntests + 1, sizeof(uint64_t)),
	        .gain = xcalloc(s->ntests + 1, sizeof(uint64_t)),
	        .gain_all = xcalloc(s->ntests + 1, sizeof(uint64_t)),
	};

	for (size_t i = 0; i < s->npaths; i++)
		for (size_t t = 0; t < s->ntests; t++)
			if (is_changed && is_changed[i])
				o.changed[t] +=
				        cover_has(suite_takers(s, i), t);
	memcpy(o.gain, o.changed, s->ntests * sizeof(*o.gain));
	memcpy(o.gain_all, s->npaths_of, s->ntests * sizeof(*o.gain_all));
	for (size_t n = 0; n < s->ntests; n++) {
		size_t t = pick(&o);

		out[n] = (struct suite_step){
		        .test = (uint32_t)t,
		        .nchanged = o.changed[t],
		        .nadded_changed = o.gain[t],
		        .nadded = o.gain_all[t],
		};
		take(&o, t);
	}
	free(o.covered);
	free(o.done);
	free(o.changed);
	free(o.gain);
	free(o.gain_all);
}

/* --- failure ------------------------------------------------------------ */

/* Square root by Newton's method: libm is not linked for one use. */
static double root(double x)
{
	double r = x > 1 ? x : 1;

	if (x <= 0)
		return 0;
	for (int i = 0; i < 64; i++)
		r = (r + x / r) / 2;
	return r;
}

/* failed and passed tests in all, and the set of those that ran it. */
struct verdict {
	const bool *failed;
	size_t ntests, nfailed;
};

static struct verdict judge(const struct suite *s, const bool *failed)
{
	struct verdict v = {.failed = failed, .ntests = s->ntests};

	for (size_t t = 0; t < s->ntests; t++)
		v.nfailed += failed[t];
	return v;
}

static struct suite_score score(const struct verdict *v, const uint64_t *takers)
{
	double all_failed = (double)v->nfailed;
	double all_passed = (double)(v->ntests - v->nfailed);
	double failed, passed;
	struct suite_score r = {0};

	for (size_t t = 0; t < v->ntests; t++) {
		bool takes = cover_has(takers, t);

		r.nfailed += takes && v->failed[t];
		r.npassed += takes && !v->failed[t];
	}
	if (!r.nfailed)
		return r;
	failed = r.nfailed / all_failed;
	passed = r.npassed ? r.npassed / all_passed : 0;
	r.tarantula = failed / (failed + passed);
	r.ochiai = r.nfailed / root(all_failed * (r.nfailed + r.npassed));
	return r;
}

void suite_score(const struct suite *s, const bool *failed,
                 struct suite_score *out)
{
	struct verdict v = judge(s, failed);

	for (size_t i = 0; i < s->npaths; i++)
		out[i] = score(&v, suite_takers(s, i));
}

/* A line on a path. */
struct passage {
	uint32_t file, line;
	size_t path;
};

struct gathering {
	struct suite_lines *out;
	const struct map *map;
	size_t path;
	struct passage *items;
	size_t n, cap;
};

static void gather(void *context, const struct map_line *line)
{
	struct gathering *g = context;
	const char *name = map_string(g->map, line->file);
	struct passage p = {
	        .file = strtab_add(&g->out->files, name, strlen(name)),
	        .line = line->line,
	        .path = g->path,
	};

	if (g->n && g->items[g->n - 1].path == p.path &&
	    g->items[g->n - 1].file == p.file &&
	    g->items[g->n - 1].line == p.line)
		return;
	VEC_RESERVE(g->items, g->n, g->cap);
	g->items[g->n++] = p;
}

static int by_line(const void *a, const void *b)
{
	const struct passage *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

static int descending(double x, double y)
{
	return x > y ? -1 : x < y;
}

static int by_suspicion(const void *a, const void *b, void *context)
{
	const struct suite_line *x = a, *y = b;
	const struct suite_lines *l = context;
	int order = descending(x->score, y->score);

	/* one of both is the score: the other one decides */
	if (!order)
		order = descending(x->own.ochiai + x->best.ochiai,
		                   y->own.ochiai + y->best.ochiai);
	if (!order)
		order = descending(x->own.tarantula + x->best.tarantula,
		                   y->own.tarantula + y->best.tarantula);
	if (!order)
		order = strcmp(l->files.items[x->file],
		               l->files.items[y->file]);
	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* One line, from its n passages. */
static struct suite_line join(const struct suite *s, const struct verdict *v,
                              const struct suite_score *scores,
                              const struct passage *p, size_t n)
{
	struct suite_line l = {.file = p->file,
	                       .line = p->line,
	                       .best = scores[p->path],
	                       .path = p->path};
	uint64_t *takers = xcalloc(s->words, sizeof(*takers));

	for (size_t i = 0; i < n; i++) {
		for (size_t w = 0; w < s->words; w++)
			takers[w] |= suite_takers(s, p[i].path)[w];
		if (scores[p[i].path].ochiai > l.best.ochiai) {
			l.best = scores[p[i].path];
			l.path = p[i].path;
		}
	}
	l.own = score(v, takers);
	l.score = l.own.ochiai > l.best.ochiai ? l.own.ochiai : l.best.ochiai;
	free(takers);
	return l;
}

void suite_rank_lines(const struct suite *s, const bool *failed,
                      const struct suite_score *scores, struct suite_lines *out)
{
	struct verdict v = judge(s, failed);
	struct gathering g = {.out = out};
	struct path scratch = {0};
	size_t cap = 0;

	*out = (struct suite_lines){0};
	for (g.path = 0; g.path < s->npaths; g.path++) {
		g.map = s->all->functions[s->paths[g.path].function].map;
		each_line(s, g.path, &scratch, gather, &g);
	}
	path_release(&scratch);
	if (g.n)
		qsort(g.items, g.n, sizeof(*g.items), by_line);
	for (size_t i = 0, next; i < g.n; i = next) {
		for (next = i + 1;
		     next < g.n && g.items[next].file == g.items[i].file &&
		     g.items[next].line == g.items[i].line;
		     next++)
			;
		VEC_RESERVE(out->items, out->n, cap);
		out->items[out->n++] =
		        join(s, &v, scores, &g.items[i], next - i);
	}
	free(g.items);
	if (out->n)
		qsort_r(out->items, out->n, sizeof(*out->items), by_suspicion,
		        out);
}

void suite_lines_release(struct suite_lines *l)
{
	strtab_release(&l->files);
	free(l->items);
	*l = (struct suite_lines){0};
}
