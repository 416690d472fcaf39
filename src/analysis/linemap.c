/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which line of one version of a file is which line of another.
 *
 * E. W. Myers, "An O(ND) difference algorithm and its variations",
 * Algorithmica 1, 1986, section 4b: the middle snake of a shortest edit is
 * found from both ends at once, and the halves before and behind it are done
 * the same way, in linear space.  Lines are numbered by content first; those
 * that the other version does not have at all are left out, as GNU diff does,
 * since they have no partner in any edit.  A search that needs more than
 * COST_LIMIT edits is ended where it got farthest: the result is then a common
 * subsequence, but perhaps not a longest one.
 *
 * Invariant: pairs are added in ascending order on both sides, and the lines
 * of a pair are equal.  Cost: O((n + m) d) time for d edits, O(n + m) memory.
 */
#include "analysis/linemap.h"

#include "analysis/patch.h"
#include "base/alloc.h"
#include "format/strtab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COST_LIMIT 2000
/* How far a diagonal reaches that is not in the box: less than any other. */
#define OUT (PTRDIFF_MIN / 4)

/* A line that may have a partner. */
struct element {
	uint32_t content, line;
};

struct version {
	struct element *items;
	size_t n, cap;
};

struct work {
	struct linemap *m;
	const struct element *a, *b;
	/* how far diagonals reach, from the front and from the back */
	ptrdiff_t *front, *back;
};

/* --- runs --------------------------------------------------------------- */

static void add_run(struct linemap *m, uint32_t first, uint32_t last,
                    uint32_t now)
{
	struct linemap_run *r = m->n ? &m->runs[m->n - 1] : NULL;

	if (r && r->last + 1 == first &&
	    r->now + (r->last - r->first) + 1 == now) {
		r->last = last;
		return;
	}
	VEC_RESERVE(m->runs, m->n, m->cap);
	m->runs[m->n++] = (struct linemap_run){first, last, now};
}

void linemap_init_identity(struct linemap *m)
{
	*m = (struct linemap){.is_identity = true};
}

void linemap_release(struct linemap *m)
{
	free(m->runs);
	*m = (struct linemap){0};
}

uint32_t linemap_now(const struct linemap *m, uint32_t old)
{
	size_t low = 0, high = m->n;

	if (m->is_identity)
		return old;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->runs[middle].last < old)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == m->n || m->runs[low].first > old)
		return 0;
	return m->runs[low].now + (old - m->runs[low].first);
}

/* --- texts -------------------------------------------------------------- */

static void split(struct version *v, const char *text, size_t size,
                  struct strtab *contents)
{
	const char *end = text + size;
	uint32_t line = 0;

	for (const char *p = text; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		size_t n = (size_t)(stop - p);

		/* a line that ends in CR LF is that which ends in LF */
		n -= n && p[n - 1] == '\r';
		VEC_RESERVE(v->items, v->n, v->cap);
		v->items[v->n++] =
		        (struct element){strtab_add(contents, p, n), ++line};
		p = newline ? newline + 1 : end;
	}
}

/* Leaves out lines that the other version does not have. */
static void keep_common(struct version *v, const bool *is_in_other)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->n; i++)
		if (is_in_other[v->items[i].content])
			v->items[kept++] = v->items[i];
	v->n = kept;
}

static bool *contents_of(const struct version *v, uint32_t ncontents)
{
	bool *is_in = xcalloc((size_t)ncontents + 1, sizeof(*is_in));

	for (size_t i = 0; i < v->n; i++)
		is_in[v->items[i].content] = true;
	return is_in;
}

/* A point of a shortest edit. */
struct snake {
	ptrdiff_t x, y;
};

static bool are_equal(const struct work *w, ptrdiff_t x, ptrdiff_t y)
{
	return w->a[x].content == w->b[y].content;
}

/* Where an edit of d steps that ends on diagonal k begins its last snake; OUT
 * if that is not in the box. */
static ptrdiff_t step(const ptrdiff_t *reach, ptrdiff_t d, ptrdiff_t k,
                      ptrdiff_t n, ptrdiff_t m)
{
	ptrdiff_t x = k == -d || (k != d && reach[k - 1] < reach[k + 1])
	                      ? reach[k + 1]
	                      : reach[k - 1] + 1;

	return x < 0 || x > n || x - k > m ? OUT : x;
}

/* The farthest point of the front, where the search is given up. */
static struct snake farthest(const struct work *w, ptrdiff_t d)
{
	struct snake best = {0, 0};

	for (ptrdiff_t k = -d; k <= d; k += 2) {
		ptrdiff_t x = w->front[k];

		if (x >= 0 && 2 * x - k > best.x + best.y)
			best = (struct snake){x, x - k};
	}
	return best;
}

/*
 * A point on a shortest edit of the box a0..a0+n, b0..b0+m, relative to its
 * corner, that is neither of its corners unless the edit is one step.
 *
 * Requires: n and m are not 0, the first elements differ, so do the last.
 */
static struct snake middle(const struct work *w, ptrdiff_t a0, ptrdiff_t n,
                           ptrdiff_t b0, ptrdiff_t m)
{
	ptrdiff_t delta = n - m, *f = w->front, *r = w->back;
	bool is_odd = delta & 1;

	f[1] = 0;
	r[1] = 0;
	for (ptrdiff_t d = 0;; d++) {
		for (ptrdiff_t k = -d; k <= d; k += 2) {
			ptrdiff_t x = step(f, d, k, n, m);

			while (x >= 0 && x < n && x - k < m &&
			       are_equal(w, a0 + x, b0 + x - k))
				x++;
			f[k] = x;
			if (is_odd && delta - k > -d && delta - k < d &&
			    x + r[delta - k] >= n)
				return (struct snake){x, x - k};
		}
		for (ptrdiff_t k = -d; k <= d; k += 2) {
			ptrdiff_t x = step(r, d, k, n, m);

			while (x >= 0 && x < n && x - k < m &&
			       are_equal(w, a0 + n - 1 - x, b0 + m - 1 - x + k))
				x++;
			r[k] = x;
			if (!is_odd && delta - k >= -d && delta - k <= d &&
			    x + f[delta - k] >= n)
				return (struct snake){n - x, m - x + k};
		}
		if (d == COST_LIMIT)
			return farthest(w, d);
	}
}

static void compare(struct work *w, ptrdiff_t a0, ptrdiff_t n, ptrdiff_t b0,
                    ptrdiff_t m)
{
	ptrdiff_t tail = 0;
	struct snake s;

	for (; n && m && are_equal(w, a0, b0); a0++, b0++, n--, m--)
		add_run(w->m, w->a[a0].line, w->a[a0].line, w->b[b0].line);
	while (n && m && are_equal(w, a0 + n - 1, b0 + m - 1))
		n--, m--, tail++;
	if (n && m) {
		s = middle(w, a0, n, b0, m);
		if ((s.x || s.y) && (s.x < n || s.y < m)) {
			compare(w, a0, s.x, b0, s.y);
			compare(w, a0 + s.x, n - s.x, b0 + s.y, m - s.y);
		}
	}
	for (ptrdiff_t i = 0; i < tail; i++)
		add_run(w->m, w->a[a0 + n + i].line, w->a[a0 + n + i].line,
		        w->b[b0 + m + i].line);
}

void linemap_init_text(struct linemap *m, const char *old, size_t old_size,
                       const char *now, size_t now_size)
{
	struct strtab contents = {0};
	struct version a = {0}, b = {0};
	bool *in_a, *in_b;
	/* of diagonals -COST_LIMIT - 1 .. COST_LIMIT + 1 */
	const size_t width = COST_LIMIT + 2;
	ptrdiff_t *places;

	*m = (struct linemap){0};
	split(&a, old, old_size, &contents);
	split(&b, now, now_size, &contents);
	in_a = contents_of(&a, contents.n);
	in_b = contents_of(&b, contents.n);
	keep_common(&a, in_b);
	keep_common(&b, in_a);
	places = xcalloc(4 * width, sizeof(*places));
	compare(&(struct work){m, a.items, b.items, places + width,
	                       places + 3 * width},
	        0, (ptrdiff_t)a.n, 0, (ptrdiff_t)b.n);
	free(places);
	free(in_a);
	free(in_b);
	free(a.items);
	free(b.items);
	strtab_release(&contents);
}

/* --- patches ------------------------------------------------------------ */

void linemap_init_patch(struct linemap *m, const struct patch *p, uint32_t old,
                        uint32_t now)
{
	uint32_t next_old = 1, next_now = 1;

	*m = (struct linemap){0};
	for (size_t i = 0; i < p->nchanges; i++) {
		const struct patch_change *c = &p->changes[i];

		if (c->old_file != old || c->new_file != now)
			continue;
		if (c->old > next_old)
			add_run(m, next_old, c->old - 1, next_now);
		next_old = c->old + c->nold;
		next_now = c->now + c->nnow;
	}
	add_run(m, next_old, UINT32_MAX, next_now);
}
