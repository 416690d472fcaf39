/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set cover: the fewest sets that contain everything.
 *
 * R. Karp, "Reducibility among combinatorial problems", 1972: NP-hard; V.
 * Chvatal, "A greedy heuristic for the set-covering problem", Mathematics of
 * Operations Research 4(3), 1979.  Elements in the same sets count once; an
 * element whose sets include all those of another is covered along with it; the
 * only set of an element has to be taken.  What these rules leave is covered
 * greedily, and then better by branch and bound: take the open element in the
 * fewest sets and try each of them.  Elements no two of which share a set need
 * a set each, which bounds the rest from below.
 *
 * Invariant: `best` covers everything; `at_least` <= any cover <= best.
 * Cost: O(elements^2 words) for the rules, then at most `limit` steps.
 */
#include "analysis/cover.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct search {
	size_t nsets, words;
	uint64_t *rows; /* holders of the elements that are left */
	size_t nrows;
	uint64_t *chosen, *best; /* sets */
	size_t nchosen, nbest;
	uint64_t steps, limit;
	uint64_t *scratch; /* a set */
};

static const uint64_t *row_of(const struct search *s, size_t i)
{
	return s->rows + i * s->words;
}

static bool meets(const uint64_t *x, const uint64_t *y, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (x[i] & y[i])
			return true;
	return false;
}

static bool is_within(const uint64_t *x, const uint64_t *y, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (x[i] & ~y[i])
			return false;
	return true;
}

static size_t size_of(const uint64_t *x, size_t words)
{
	size_t n = 0;

	for (size_t i = 0; i < words; i++)
		n += (size_t)__builtin_popcountll(x[i]);
	return n;
}

static size_t next_of(const uint64_t *x, size_t from, size_t n)
{
	while (from < n && !cover_has(x, from))
		from++;
	return from;
}

/* --- rules -------------------------------------------------------------- */

static int by_size(const void *a, const void *b, void *context)
{
	const struct search *s = context;
	const uint64_t *x = a, *y = b;
	size_t n = size_of(x, s->words), k = size_of(y, s->words);

	if (n != k)
		return n < k ? -1 : 1;
	return memcmp(x, y, s->words * sizeof(*x));
}

/* Drops elements that are covered along with another, or in no set.  Smaller
 * ones come first, so one look back finds what makes an element needless. */
static void drop_rows(struct search *s)
{
	size_t kept = 0, width = s->words * sizeof(*s->rows);

	if (s->nrows)
		qsort_r(s->rows, s->nrows, width, by_size, s);
	for (size_t i = 0; i < s->nrows; i++) {
		bool is_needed = size_of(row_of(s, i), s->words) > 0 &&
		                 !(kept && !memcmp(row_of(s, kept - 1),
		                                   row_of(s, i), width));

		for (size_t k = 0; is_needed && k < kept; k++)
			is_needed = !is_within(row_of(s, k), row_of(s, i),
			                       s->words);
		if (is_needed)
			memmove(s->rows + kept++ * s->words, row_of(s, i),
			        width);
	}
	s->nrows = kept;
}

/* Takes the sets that some element is in alone. */
static void take_only_ones(struct search *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nrows; i++)
		if (size_of(row_of(s, i), s->words) == 1)
			for (size_t w = 0; w < s->words; w++)
				s->chosen[w] |= row_of(s, i)[w];
	for (size_t i = 0; i < s->nrows; i++)
		if (!meets(row_of(s, i), s->chosen, s->words))
			memmove(s->rows + kept++ * s->words, row_of(s, i),
			        s->words * sizeof(*s->rows));
	s->nrows = kept;
	s->nchosen = size_of(s->chosen, s->words);
}

/* --- greedy ------------------------------------------------------------- */

static size_t richest(const struct search *s, const uint64_t *taken)
{
	size_t best = s->nsets, most = 0;

	for (size_t t = 0; t < s->nsets; t++) {
		size_t n = 0;

		for (size_t i = 0; i < s->nrows; i++)
			n += cover_has(row_of(s, i), t) &&
			     !meets(row_of(s, i), taken, s->words);
		if (n > most) {
			most = n;
			best = t;
		}
	}
	return best;
}

static void cover_greedily(struct search *s)
{
	memcpy(s->best, s->chosen, s->words * sizeof(*s->best));
	for (size_t t; (t = richest(s, s->best)) < s->nsets;)
		cover_put(s->best, t);
	s->nbest = size_of(s->best, s->words);
}

/* --- branch and bound --------------------------------------------------- */

/*
 * How many more sets it takes at least.  *open is the first of the smallest
 * open elements, SIZE_MAX if none is open.
 */
static size_t bound(struct search *s, size_t *open)
{
	size_t n = 0;

	*open = SIZE_MAX;
	memset(s->scratch, 0, s->words * sizeof(*s->scratch));
	for (size_t i = 0; i < s->nrows; i++) {
		if (meets(row_of(s, i), s->chosen, s->words))
			continue;
		if (*open == SIZE_MAX)
			*open = i;
		if (meets(row_of(s, i), s->scratch, s->words))
			continue;
		n++;
		for (size_t w = 0; w < s->words; w++)
			s->scratch[w] |= row_of(s, i)[w];
	}
	return n;
}

static void search(struct search *s) /* NOLINT(misc-no-recursion): as deep as
                                        the best cover is large */
{
	size_t open, more = bound(s, &open);

	if (s->steps >= s->limit || s->nchosen + more >= s->nbest)
		return;
	s->steps++;
	if (open == SIZE_MAX) {
		memcpy(s->best, s->chosen, s->words * sizeof(*s->best));
		s->nbest = s->nchosen;
		return;
	}
	for (size_t t = next_of(row_of(s, open), 0, s->nsets); t < s->nsets;
	     t = next_of(row_of(s, open), t + 1, s->nsets)) {
		cover_put(s->chosen, t);
		s->nchosen++;
		search(s);
		s->chosen[t / 64] &= ~((uint64_t)1 << (t % 64));
		s->nchosen--;
	}
}

void cover_init(struct cover *c, size_t nsets, const uint64_t *holders,
                size_t nelements, uint64_t limit)
{
	size_t words = cover_words(nsets), open;
	struct search s = {
	        .nsets = nsets,
	        .words = words,
	        .rows = xcalloc(nelements * words + 1, sizeof(*s.rows)),
	        .nrows = nelements,
	        .chosen = xcalloc(words + 1, sizeof(*s.chosen)),
	        .best = xcalloc(words + 1, sizeof(*s.best)),
	        .scratch = xcalloc(words + 1, sizeof(*s.scratch)),
	        .limit = limit,
	};

	*c = (struct cover){0};
	if (nelements)
		memcpy(s.rows, holders, nelements * words * sizeof(*holders));
	drop_rows(&s);
	take_only_ones(&s);
	c->at_least = s.nchosen + bound(&s, &open);
	cover_greedily(&s);
	search(&s);
	if (s.steps < s.limit)
		c->at_least = s.nbest;
	c->n = s.nbest;
	c->sets = xcalloc(c->n + 1, sizeof(*c->sets));
	for (size_t t = 0, n = 0; n < c->n; t++)
		if (cover_has(s.best, t))
			c->sets[n++] = (uint32_t)t;
	free(s.rows);
	free(s.chosen);
	free(s.best);
	free(s.scratch);
}

void cover_release(struct cover *c)
{
	free(c->sets);
	*c = (struct cover){0};
}
