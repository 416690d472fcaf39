/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a profile that a page about lists has.  The page is made by the
 * same code as the report of a whole program (html.c): this makes a report of
 * the functions that listed paths belong to, and a hot.h view of those paths.
 *
 * Invariant: function i of `hot` is row i of `report`, and places[] counts as
 * html_paths.c groups: by function, in the order of being added, finished paths
 * apart from unfinished ones, which the page's code appends.
 *
 * Cost: O(functions of the side + paths added).
 */
#include "cli/html_list.h"

#include "analysis/lines.h"
#include "base/alloc.h"
#include "cli/side.h"

#include <stdlib.h>

void html_pick_init(struct html_pick *p, const struct side *s)
{
	*p = (struct html_pick){.side = s};
}

size_t html_pick_add(struct html_pick *p, const struct hot_path *path)
{
	VEC_RESERVE(p->paths, p->n, p->paths_cap);
	p->paths[p->n] = *path;
	return p->n++;
}

/* Gives each function that has a path a row, and each path its place. */
static void place_paths(struct html_pick *p)
{
	size_t nfunctions = p->side->catalog.n, *nfinished, *ndied;
	uint32_t *row_of = xmalloc((nfunctions + 1) * sizeof(*row_of));
	uint32_t nrows = 0;

	nfinished = xcalloc(nfunctions + 1, sizeof(*nfinished));
	ndied = xcalloc(nfunctions + 1, sizeof(*ndied));
	p->functions = xmalloc((nfunctions + 1) * sizeof(*p->functions));
	p->places = xcalloc(p->n + 1, sizeof(*p->places));
	for (size_t i = 0; i < nfunctions; i++)
		row_of[i] = UINT32_MAX;
	for (size_t i = 0; i < p->n; i++) {
		uint32_t f = p->paths[i].function;

		if (row_of[f] == UINT32_MAX) {
			p->functions[nrows] = f;
			row_of[f] = nrows++;
		}
		p->places[i].row = row_of[f];
		p->places[i].path =
		        p->paths[i].is_prefix ? ndied[f]++ : nfinished[f]++;
	}
	for (size_t i = 0; i < p->n; i++)
		if (p->paths[i].is_prefix)
			p->places[i].path += nfinished[p->paths[i].function];
	p->report.nrows = nrows;
	free(row_of);
	free(nfinished);
	free(ndied);
}

void html_pick_finish(struct html_pick *p)
{
	const struct side *s = p->side;
	struct hot *h = &p->hot;
	size_t nrows;

	place_paths(p);
	nrows = p->report.nrows;
	p->lines = lines_new(s->counts);
	p->report = s->report;
	p->report.lines = p->lines;
	p->report.row_of = NULL; /* its rows are others */
	p->report.rows = xcalloc(nrows + 1, sizeof(*p->report.rows));
	p->report.nrows = p->report.cap = nrows;
	*h = (struct hot){.report = &p->report, .nfunctions = nrows};
	h->executions = s->catalog.executions;
	h->functions = xcalloc(nrows + 1, sizeof(*h->functions));
	h->paths = xcalloc(p->n + 1, sizeof(*h->paths));
	h->prefixes = xcalloc(p->n + 1, sizeof(*h->prefixes));
	for (size_t i = 0; i < nrows; i++) {
		h->functions[i] = s->view.functions[p->functions[i]];
		p->report.rows[i] = *h->functions[i].row;
		h->functions[i].row = &p->report.rows[i];
	}
	for (size_t i = 0; i < p->n; i++) {
		struct hot_path *to = p->paths[i].is_prefix
		                              ? &h->prefixes[h->nprefixes++]
		                              : &h->paths[h->npaths++];

		*to = p->paths[i];
		to->function = p->places[i].row;
	}
}

/* Names of rows and counts of functions are the side's. */
void html_pick_release(struct html_pick *p)
{
	free(p->hot.functions);
	free(p->hot.paths);
	free(p->hot.prefixes);
	free(p->report.rows);
	lines_free(p->lines);
	free(p->functions);
	free(p->places);
	free(p->paths);
	*p = (struct html_pick){0};
}
