/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of elements of streams, of any length up to the one that was
 * counted.
 *
 * A profile has the windows that were counted, each as long as what was known
 * before its newest element.  How often a sequence of n elements occurred is
 * the sum over the windows that end with it; those are neighbours, as windows
 * are sorted from the newest element on.  A window that is shorter than n is
 * that of a stream which had not begun long before (anchored), or lost.
 *
 * Invariant: known + first + lost is what was counted, for each n.
 * Cost: O(windows) and a sort of the sequences.
 */
#include "analysis/windows.h"

#include "base/alloc.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t *newest(const struct profile_windows *w, size_t i)
{
	return w->pool + w->items[i].first;
}

static int by_count(const void *a, const void *b)
{
	const struct window_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

struct window_row *windows_list(const struct profile_windows *w, unsigned n,
                                size_t *nrows)
{
	struct window_row *rows = xcalloc(w->n + 1, sizeof(*rows));
	const uint32_t *last = NULL;
	size_t at = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->items[i].len < n)
			continue;
		if (last && !memcmp(last, newest(w, i), n * sizeof(*last))) {
			rows[at - 1].count += w->items[i].count;
			continue;
		}
		last = newest(w, i);
		rows[at] = (struct window_row){w->items[i].first,
		                               w->items[i].count, at};
		at++;
	}
	qsort(rows, at, sizeof(*rows), by_count);
	*nrows = at;
	return rows;
}

struct window_sums *windows_known(const struct profile_windows *w, unsigned n)
{
	struct window_sums *sums =
	        xcalloc((size_t)w->nelements + 1, sizeof(*sums));

	for (size_t i = 0; i < w->n; i++) {
		struct window_sums *s = &sums[*newest(w, i)];
		const struct profile_window *x = &w->items[i];

		*(x->len >= n      ? &s->known
		  : x->is_anchored ? &s->first
		                   : &s->lost) += x->count;
	}
	return sums;
}
