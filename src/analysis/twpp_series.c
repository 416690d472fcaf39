/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of timestamps as arithmetic series.
 *
 * Y. Zhang and R. Gupta, "Timestamped whole program path representation and its
 * applications", PLDI 2001: when a block executes inside a loop its timestamps
 * are mostly l, l + s, ... h, and a traversal of the trace moves all of them at
 * once, (2:20:2) to (3:21:2).
 *
 * Runs are made greedily from left to right.  Two timestamps with a gap make no
 * run, since l:h:s takes three numbers.  A maker sees one timestamp at a time
 * and holds one run; a whole run is added to it in constant time, as after
 * three of its elements the run that is held has its step.
 *
 * Two runs meet where x = l1 (mod s1) and x = l2 (mod s2): again a series,
 * whose step is the least common multiple (Chinese remainders).
 *
 * Invariant: the runs of a vector are disjoint intervals in order, so that two
 * vectors are merged as lists of intervals are.
 * Cost: see the header.  Timestamps are below 2^62, so that sums do not
 * overflow; the least common multiple is made in 128 bits.
 */
#include "analysis/twpp_series.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

unsigned twpp_maker_add(struct twpp_maker *m, uint64_t t, struct twpp_run *out)
{
	assert(!m->count || t > m->h);
	if (!m->count) {
		*m = (struct twpp_maker){t, t, 1, 1};
		return 0;
	}
	if (m->count == 1 || t - m->h == m->s) {
		m->s = t - m->h;
		m->h = t;
		m->count++;
		return 0;
	}
	if (m->count == 2 && m->s > 1) {
		*out = (struct twpp_run){m->l, m->l, 1};
		*m = (struct twpp_maker){m->h, t, t - m->h, 2};
		return 1;
	}
	*out = (struct twpp_run){m->l, m->h, m->s};
	*m = (struct twpp_maker){t, t, 1, 1};
	return 1;
}

unsigned twpp_maker_end(struct twpp_maker *m, struct twpp_run out[2])
{
	struct twpp_maker last = *m;

	*m = (struct twpp_maker){0};
	if (!last.count)
		return 0;
	if (last.count == 2 && last.s > 1) {
		out[0] = (struct twpp_run){last.l, last.l, 1};
		out[1] = (struct twpp_run){last.h, last.h, 1};
		return 2;
	}
	out[0] = (struct twpp_run){last.l, last.h, last.s};
	return 1;
}

/* --- vectors ------------------------------------------------------------ */

void twpp_vector_release(struct twpp_vector *v)
{
	free(v->runs);
	*v = (struct twpp_vector){0};
}

void twpp_vector_clear(struct twpp_vector *v)
{
	v->n = 0;
	v->count = 0;
}

static void push(struct twpp_vector *v, const struct twpp_run *r)
{
	VEC_RESERVE(v->runs, v->n, v->cap);
	v->runs[v->n++] = *r;
	v->count += twpp_run_count(r);
}

void twpp_writer_begin(struct twpp_writer *w, struct twpp_vector *v)
{
	assert(!v->n);
	*w = (struct twpp_writer){.v = v};
}

void twpp_writer_add(struct twpp_writer *w, const struct twpp_run *r)
{
	struct twpp_maker *m = &w->maker;
	uint64_t left = twpp_run_count(r), t = r->l;
	struct twpp_run done;

	for (unsigned i = 0; i < 3 && left; i++, left--, t += r->s)
		if (twpp_maker_add(m, t, &done))
			push(w->v, &done);
	if (left) {
		assert(m->s == r->s);
		m->h = r->h;
		m->count += left;
	}
}

static void add_one(struct twpp_writer *w, uint64_t t)
{
	struct twpp_run done;

	if (twpp_maker_add(&w->maker, t, &done))
		push(w->v, &done);
}

void twpp_writer_end(struct twpp_writer *w)
{
	struct twpp_run rest[2];
	unsigned n = twpp_maker_end(&w->maker, rest);

	for (unsigned i = 0; i < n; i++)
		push(w->v, &rest[i]);
}

bool twpp_vector_has(const struct twpp_vector *v, uint64_t t)
{
	size_t low = 0, high = v->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct twpp_run *r = &v->runs[middle];

		if (t > r->h)
			low = middle + 1;
		else if (t < r->l)
			high = middle;
		else
			return (t - r->l) % r->s == 0;
	}
	return false;
}

bool twpp_vector_equal(const struct twpp_vector *a, const struct twpp_vector *b)
{
	return a->n == b->n &&
	       (!a->n || !memcmp(a->runs, b->runs, a->n * sizeof(*a->runs)));
}

/* The part of r within low..high; false if that is empty. */
static bool clip(struct twpp_run *r, uint64_t low, uint64_t high)
{
	if (r->h < low || r->l > high)
		return false;
	if (r->l < low)
		r->l += (low - r->l + r->s - 1) / r->s * r->s;
	if (r->h > high)
		r->h -= (r->h - high + r->s - 1) / r->s * r->s;
	if (r->l > r->h || r->l < low || r->h > high)
		return false;
	if (r->l == r->h)
		r->s = 1;
	return true;
}

void twpp_vector_step(const struct twpp_vector *v, int64_t by, uint64_t n,
                      struct twpp_vector *out)
{
	uint64_t back = by < 0 ? (uint64_t)-by : 0;
	uint64_t forth = by > 0 ? (uint64_t)by : 0;
	struct twpp_writer w;

	twpp_vector_clear(out);
	twpp_writer_begin(&w, out);
	for (size_t i = 0; i < v->n && forth < n; i++) {
		struct twpp_run r = v->runs[i];

		if (!clip(&r, 1 + back, n - forth + back))
			continue;
		r.l = r.l + forth - back;
		r.h = r.h + forth - back;
		twpp_writer_add(&w, &r);
	}
	twpp_writer_end(&w);
}

/* x with a x = gcd (mod b); sets *gcd. */
static wide inverse(wide a, wide b, wide *gcd)
{
	wide x = 1, next = 0;

	while (b) {
		wide q = a / b, rest = a - q * b, y = x - q * next;

		a = b;
		b = rest;
		x = next;
		next = y;
	}
	*gcd = a;
	return x;
}

/* The timestamps that are in a and in b; false if there is none. */
static bool meet(const struct twpp_run *a, const struct twpp_run *b,
                 struct twpp_run *out)
{
	wide low = a->l > b->l ? a->l : b->l, high = a->h < b->h ? a->h : b->h;
	wide gcd, lcm, x, gap = (wide)b->l - (wide)a->l;
	wide k = inverse(a->s, b->s, &gcd);
	wide turn = (wide)b->s / gcd;

	if (low > high || gap % gcd)
		return false;
	/* a->l + k a->s = b->l (mod b->s), with 0 <= k < turn */
	k = k % turn * (gap / gcd % turn) % turn;
	k = k < 0 ? k + turn : k;
	lcm = (wide)a->s * turn;
	x = (wide)a->l + k * (wide)a->s;
	x = x < low ? x + (low - x + lcm - 1) / lcm * lcm : x;
	if (x > high)
		return false;
	*out = (struct twpp_run){(uint64_t)x, (uint64_t)x, 1};
	if ((high - x) / lcm) {
		out->h = (uint64_t)(high - (high - x) % lcm);
		out->s = (uint64_t)lcm;
	}
	return true;
}

void twpp_vector_and(const struct twpp_vector *a, const struct twpp_vector *b,
                     struct twpp_vector *out)
{
	struct twpp_writer w;
	struct twpp_run both;

	twpp_vector_clear(out);
	twpp_writer_begin(&w, out);
	for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
		if (meet(&a->runs[i], &b->runs[j], &both))
			twpp_writer_add(&w, &both);
		if (a->runs[i].h < b->runs[j].h)
			i++;
		else
			j++;
	}
	twpp_writer_end(&w);
}

/* Where a merge is in a vector: the next timestamp is runs[i].l + k s. */
struct place {
	const struct twpp_vector *v;
	size_t i;
	uint64_t t;
};

static struct place begin(const struct twpp_vector *v)
{
	return (struct place){v, 0, v->n ? v->runs[0].l : UINT64_MAX};
}

static void skip_to(struct place *p, size_t i)
{
	p->i = i;
	p->t = i < p->v->n ? p->v->runs[i].l : UINT64_MAX;
}

static void next(struct place *p)
{
	const struct twpp_run *r = &p->v->runs[p->i];

	if (p->t < r->h)
		p->t += r->s;
	else
		skip_to(p, p->i + 1);
}

/* Takes what is left of p's run if it ends before `other` begins. */
static bool take_rest(struct place *p, const struct place *other,
                      struct twpp_writer *w)
{
	struct twpp_run rest;

	if (p->i == p->v->n || p->v->runs[p->i].h >= other->t)
		return false;
	rest = p->v->runs[p->i];
	rest.l = p->t;
	rest.s = rest.l == rest.h ? 1 : rest.s;
	if (w)
		twpp_writer_add(w, &rest);
	skip_to(p, p->i + 1);
	return true;
}

void twpp_vector_or(const struct twpp_vector *a, const struct twpp_vector *b,
                    struct twpp_vector *out)
{
	struct place p = begin(a), q = begin(b);
	struct twpp_writer w;

	twpp_vector_clear(out);
	twpp_writer_begin(&w, out);
	while (p.t != UINT64_MAX || q.t != UINT64_MAX) {
		uint64_t t = p.t < q.t ? p.t : q.t;

		if (take_rest(&p, &q, &w) || take_rest(&q, &p, &w))
			continue;
		add_one(&w, t);
		if (p.t == t)
			next(&p);
		if (q.t == t)
			next(&q);
	}
	twpp_writer_end(&w);
}

void twpp_vector_less(const struct twpp_vector *a, const struct twpp_vector *b,
                      struct twpp_vector *out)
{
	struct place p = begin(a), q = begin(b);
	struct twpp_writer w;

	twpp_vector_clear(out);
	twpp_writer_begin(&w, out);
	while (p.t != UINT64_MAX) {
		if (take_rest(&p, &q, &w) || take_rest(&q, &p, NULL))
			continue;
		if (p.t < q.t)
			add_one(&w, p.t);
		if (q.t <= p.t) {
			if (q.t == p.t)
				next(&p);
			next(&q);
		} else {
			next(&p);
		}
	}
	twpp_writer_end(&w);
}
