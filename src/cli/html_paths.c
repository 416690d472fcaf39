/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths of the functions on the page.  A function has its hottest ones, so
 * that the page stays small however many ran; what is left off is counted.
 *
 * A path is an array: number, count, begin, end, the block that follows, the
 * block it starts at, the range of its steps that are executed blocks (as
 * hot_blocks has it), and its edges.  An unfinished one has null, the frames,
 * and after the edges the last segment that it got to.
 *
 * Cost: O(paths + functions) to group them, and what is written.
 */
#include "cli/html.h"

#include "abi/map.h"
#include "base/alloc.h"
#include "base/json.h"
#include "cli/hot.h"
#include "format/map.h"

#include <inttypes.h>
#include <stdlib.h>

static void group(struct html_paths *g, const struct hot *h,
                  const struct hot_path *paths, size_t n)
{
	size_t *next = xcalloc(h->nfunctions + 1, sizeof(*next));

	g->items = xcalloc(n + 1, sizeof(*g->items));
	g->at = xcalloc(h->nfunctions + 2, sizeof(*g->at));
	for (size_t i = 0; i < n; i++)
		g->at[paths[i].function + 1]++;
	for (size_t i = 0; i < h->nfunctions; i++) {
		g->at[i + 1] += g->at[i];
		next[i] = g->at[i];
	}
	for (size_t i = 0; i < n; i++)
		g->items[next[paths[i].function]++] = &paths[i];
	free(next);
}

void html_paths_begin(struct html *h)
{
	size_t nrows = h->report->nrows;

	h->hot_of = xmalloc((nrows + 1) * sizeof(*h->hot_of));
	for (size_t i = 0; i < nrows; i++)
		h->hot_of[i] = UINT32_MAX;
	if (!h->hot)
		return;
	for (uint32_t i = 0; i < h->hot->nfunctions; i++)
		h->hot_of[h->hot->functions[i].row - h->report->rows] = i;
	group(&h->paths, h->hot, h->hot->paths, h->hot->npaths);
	group(&h->prefixes, h->hot, h->hot->prefixes, h->hot->nprefixes);
}

void html_paths_end(struct html *h)
{
	free(h->hot_of);
	free(h->paths.items);
	free(h->paths.at);
	free(h->prefixes.items);
	free(h->prefixes.at);
}

static void put_frames(struct json *j, const struct hot_path *p)
{
	char text[24];

	if (p->count <= INT64_MAX) {
		html_number(j, p->count, true);
		return;
	}
	snprintf(text, sizeof(text), "%" PRId64, (int64_t)p->count);
	json_string(j, text);
}

/* Returns the number of its edges. */
static size_t put_path(const struct hot *h, struct json *j,
                       const struct hot_path *p)
{
	const struct hot_function *f = &h->functions[p->function];
	struct path path = {0};
	struct hot_range range;
	size_t n;

	hot_decode(h, p, &path);
	range = hot_blocks(&path);
	json_begin(j, '[');
	html_number(j, p->number, !p->is_prefix);
	if (p->is_prefix)
		put_frames(j, p);
	else
		html_number(j, p->count, true);
	json_string(j, hot_begin_name(hot_begin_of(f, &path)));
	json_string(j, hot_end_name(hot_end_of(f, &path)));
	json_u64(j, path_block(&path, f->pc.g, path.nedges));
	json_u64(j, path_block(&path, f->pc.g, 0));
	json_u64(j, range.first);
	json_u64(j, range.end);
	json_begin(j, '[');
	for (uint32_t i = 0; i < path.nedges; i++)
		json_u64(j, path.edges[i]);
	json_end(j, ']');
	if (p->is_prefix)
		json_u64(j, p->segment);
	json_end(j, ']');
	n = path.nedges;
	path_release(&path);
	return n;
}

static void put_list(const struct html *h, struct json *j, const char *key,
                     const struct html_paths *paths, size_t function)
{
	size_t first = paths->at[function], end = paths->at[function + 1];
	size_t i = first, nsteps = 0;

	json_key(j, key);
	json_begin(j, '[');
	/* of lists, --top was the limit */
	for (; i < end &&
	       (h->lists || (i - first < HTML_PATHS && nsteps < HTML_STEPS));
	     i++)
		nsteps += 1 + put_path(h->hot, j, paths->items[i]);
	json_end(j, ']');
}

/* Executions of all paths of a function, whatever the options select, with
 * those that are counted as other. */
static uint64_t sum_counts(const struct path_counts *pc)
{
	uint64_t sum = pc->nother;

	for (size_t i = 0; i < pc->n; i++)
		sum += pc->items[i].count;
	return sum;
}

/* What the counts are of, if not of all paths. */
static void put_table(struct json *j, const struct hot_function *f)
{
	uint32_t kind = f->row->f->paths;

	if (kind == CAIRN_PATHS_PREFERRED) {
		json_key(j, "other");
		html_number(j, f->pc.nother, true);
		json_key(j, "preferred");
		json_u64(j, f->row->f->nslots);
		json_key(j, "counters");
		json_u64(j, f->row->f->slots_size);
	} else if (kind == CAIRN_PATHS_RESIDUAL) {
		json_key(j, "residual");
		json_bool(j, true);
	}
}

bool html_count_paths(const struct html *h, size_t row, uint64_t *n)
{
	uint32_t function = h->hot_of[row];

	if (function == UINT32_MAX)
		return false;
	*n = h->paths.at[function + 1] - h->paths.at[function];
	if (h->lists) /* of what is listed, not of what ran */
		*n += h->prefixes.at[function + 1] - h->prefixes.at[function];
	return true;
}

void html_put_paths(const struct html *h, struct json *j, size_t row)
{
	uint32_t function = h->hot_of[row];
	const struct hot_function *f;
	uint64_t n;

	if (!html_count_paths(h, row, &n))
		return;
	f = &h->hot->functions[function];
	put_table(j, f);
	json_key(j, "possible");
	html_number(j, f->row->f->npaths, true);
	json_key(j, "cuts");
	json_u64(j, f->row->f->ncuts);
	json_key(j, "lost");
	html_number(j, f->pc.nlost, true);
	json_key(j, "unknown");
	html_number(j, f->pc.nunknown, true);
	json_key(j, "total");
	html_number(j, sum_counts(&f->pc), true);
	json_key(j, "executed");
	json_u64(j, f->pc.n);
	json_key(j, "selected");
	json_u64(j, n);
	put_list(h, j, "paths", &h->paths, function);
	json_key(j, "nunfinished");
	json_u64(j, h->prefixes.at[function + 1] - h->prefixes.at[function]);
	put_list(h, j, "unfinished", &h->prefixes, function);
}
