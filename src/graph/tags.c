/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for what happened on a path besides its branches.
 *
 * A site may have as many outcomes as its radix says, of which 0 is that
 * nothing is known.  Were each an edge of its own, T. Ball and J. Larus,
 * "Efficient path profiling", MICRO-29, 1996, would number the ways through
 * them with the paths; here paths keep their numbers, and what happened at the
 * sites of a path is a number beside it, in a mixed radix:
 *
 *     weight(site) = the most tags that paths can have when they come to it
 *     behind it      tag += weight(site) * digit
 *
 * Invariant: a path that comes to a site has a tag below the site's weight, so
 * that its digits follow from the tag, the last one first.  A site that a path
 * does not come by, or has not come by yet, has the digit 0.
 * Oracle: tests/unit/test_tags.c takes tags of random graphs apart.
 * Cost: O(V + E + sites).
 */
#include "graph/tags.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dag.h"

/* Tags of paths that come to a vertex. */
static uint64_t most_before(const struct dag *d, const uint64_t *most,
                            uint32_t v)
{
	uint64_t n = 1;

	for (uint32_t k = d->in_at[v]; k < d->in_at[v + 1]; k++)
		if (most[d->edges[d->in[k]].src] > n)
			n = most[d->edges[d->in[k]].src];
	return n;
}

/* The first site of each block, or nsites. */
static uint32_t *index_sites(const struct dag *d, const struct tag_site *sites,
                             uint32_t nsites)
{
	uint32_t *first = xcalloc(d->nvertices, sizeof(*first));

	for (uint32_t v = 0; v < d->nvertices; v++)
		first[v] = nsites;
	for (uint32_t i = nsites; i--;)
		first[sites[i].block] = i;
	return first;
}

bool tags_init(struct tags *t, const struct dag *d,
               const struct tag_site *sites, uint32_t nsites, uint64_t limit)
{
	uint64_t *most = xcalloc(d->nvertices, sizeof(*most));
	uint32_t *first = index_sites(d, sites, nsites);
	bool fits = true;

	if (limit > TAGS_LIMIT)
		limit = TAGS_LIMIT;
	t->n = 1;
	t->weight = xcalloc((size_t)nsites + 1, sizeof(*t->weight));
	for (uint32_t i = 0; fits && i < d->norder; i++) {
		uint32_t v = d->order[i], k = first[v];

		most[v] = most_before(d, most, v);
		for (; fits && k < nsites && sites[k].block == v; k++) {
			if (!sites[k].radix)
				continue;
			t->weight[k] = most[v];
			fits = most[v] <= limit / sites[k].radix;
			most[v] *= fits ? sites[k].radix : 0;
		}
		if (most[v] > t->n)
			t->n = most[v];
	}
	free(most);
	free(first);
	if (!fits)
		tags_release(t);
	return fits;
}

void tags_release(struct tags *t)
{
	free(t->weight);
	*t = (struct tags){0};
}

uint64_t tags_take(const struct tags *t, uint32_t site, uint64_t *tag)
{
	uint64_t digit;

	if (!t->weight[site])
		return 0;
	digit = *tag / t->weight[site];
	*tag %= t->weight[site];
	return digit;
}
