/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn paths --chains: paths with the calls that led to them, hottest first,
 * and how much of it is not known.
 *
 * A chain is a window whose newest element is the path, the one before it the
 * call of its activation, and so on (analysis/windows.h, abi/file.h).  Callers
 * are looked up in the maps: they need not be among the functions that were
 * asked for.
 *
 * Cost: O(elements) lookups, as they are sorted by function; O(rows * length).
 */
#include "cli/chain.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/hot.h"
#include "cli/sequence.h"
#include "format/calls.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Who makes a call, and where. */
struct chain_call {
	struct report_row row; /* map and f; NULL: no map has it */
	uint32_t block, segment;
};

static const struct profile *profile_of(const struct sequences *s)
{
	return s->h->report->profile;
}

static unsigned ncallers(const struct sequences *s)
{
	return s->length - 1;
}

static void find_place(struct chain_call *c, uint32_t link)
{
	const struct map_function *f = c->row.f;
	const struct map_site *site;

	if (link < f->ncalls) {
		site = &c->row.map->calls[f->first_call + link];
		c->block = site->block;
		c->segment = site->segment;
		return;
	}
	/* it has no site: somewhere in the block */
	link -= f->ncalls;
	if (link >= f->nblocks) {
		c->row.f = NULL; /* damaged */
		return;
	}
	c->block = link;
	c->segment = c->row.map->blocks[f->first_block + link].nsegments;
	c->segment -= c->segment > 0;
}

/* Per element; of those that are calls. */
static struct chain_call *find_calls(const struct sequences *s)
{
	const struct profile *p = profile_of(s);
	const struct profile_windows *w = &p->windows;
	struct chain_call *calls =
	        xcalloc((size_t)w->nelements + 1, sizeof(*calls));
	const struct map_function *f = NULL;

	for (uint32_t i = 0; i < w->nelements; i++) {
		const struct profile_element *e = &w->elements[i];
		const struct map *map = p->modules[e->module].map;

		if (!i || e[-1].module != e->module || e[-1].owner != e->owner)
			f = map ? calls_function(map, e->owner) : NULL;
		if (!e->link || !f)
			continue;
		calls[i].row = (struct report_row){
		        .module = e->module, .map = map, .f = f};
		find_place(&calls[i], e->link - 1);
	}
	return calls;
}

/* --- text ----------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Lines of the caller's path up to the call, if they are known. */
static void print_prefix(const struct sequences *s, FILE *out, uint32_t element,
                         const struct chain_call *c)
{
	const struct profile_element *e =
	        &profile_of(s)->windows.elements[element];
	const struct hot_path p = {
	        .function = s->function_of[element],
	        .is_prefix = true,
	        .number = e->number,
	        .block = c->block,
	        .segment = c->segment,
	};
	const struct hot_function *f;
	struct path path = {0};
	struct cairn_err err;

	if (p.function == UINT32_MAX)
		return;
	f = &s->h->functions[p.function];
	if (f->has_paths && paths_decode_prefix(&f->pc.paths, e->number,
	                                        c->block, &path, &err) >= 0) {
		text_print(out, "  behind ");
		hot_text_lines(s->h, out, &p);
	}
	path_release(&path);
}

static void print_call(const struct sequences *s, FILE *out, uint32_t element,
                       const struct chain_call *c)
{
	uint32_t file, line;
	char *name;

	if (!c->row.f) {
		text_print(out, "%24s  a function without a map\n", "call in");
		return;
	}
	name = report_name(s->h->report,
	                   map_string(c->row.map, c->row.f->name));
	text_print(out, "%24s  %s", "call in", name);
	free(name);
	line = hot_last_line(&c->row, c->block, c->segment + 1, &file);
	if (line)
		text_print(
		        out, "  %s:%" PRIu32,
		        report_path(s->h->report, map_string(c->row.map, file)),
		        line);
	print_prefix(s, out, element, c);
	text_print(out, "\n");
}

static void print_row(const struct sequences *s, FILE *out,
                      const struct window_row *r,
                      const struct chain_call *calls)
{
	const struct profile_windows *w = &profile_of(s)->windows;
	uint32_t newest = w->pool[r->first];
	const struct hot_path p = {.function = s->function_of[newest],
	                           .number = w->elements[newest].number};

	text_print(out, "%20" PRIu64 " %6.2f\n", r->count,
	           percent(r->count, s->sum.executions));
	for (unsigned i = ncallers(s); i > 0; i--) {
		uint32_t e = w->pool[r->first + i];

		print_call(s, out, e, &calls[e]);
	}
	text_print(out, "%24s  %s  path %" PRIu64 "  ", "to",
	           s->h->functions[p.function].row->name, p.number);
	hot_text_lines(s->h, out, &p);
	text_print(out, "\n");
}

static void print_head(const struct sequences *s, FILE *out)
{
	const struct window_sums *sum = &s->sum.sums;
	uint64_t all = s->sum.executions;

	text_print(out,
	           "chains     of a path and %u calls that led to it\n"
	           "executions %" PRIu64 " of paths\n",
	           ncallers(s), all);
	text_print(out,
	           "known      %" PRIu64 ", %.2f %%, in %zu different ones\n",
	           sum->known, percent(sum->known, all), s->nrows);
	text_print(out,
	           "first      %" PRIu64
	           ", %.2f %%: so many calls did not lead "
	           "there since main, a\n"
	           "           thread, or code without marks called\n",
	           sum->first, percent(sum->first, all));
	text_print(out,
	           "lost       %" PRIu64
	           ", %.2f %%: nobody knows the calls: no "
	           "memory, a fork, a module\n"
	           "           that took another one's place%s\n",
	           sum->lost, percent(sum->lost, all),
	           sum->lost ? " (memory= of the build)" : "");
	sequences_text_notes(s, out);
}

void chains_text(const struct sequences *s, FILE *out)
{
	size_t n = s->nrows < s->h->options.top ? s->nrows : s->h->options.top;
	struct chain_call *calls = find_calls(s);

	print_head(s, out);
	if (n)
		text_print(out, "\n%20s %6s\n", "count", "%");
	for (size_t i = 0; i < n; i++)
		print_row(s, out, &s->rows[i], calls);
	if (n < s->nrows)
		text_print(out, "%20s (%zu more; --top 0 shows all)\n", "",
		           s->nrows - n);
	free(calls);
}

/* --- JSON ----------------------------------------------------------------- */

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_string(struct json *j, const char *key, const char *v)
{
	json_key(j, key);
	json_string(j, v);
}

static void put_call(const struct sequences *s, struct json *j,
                     const struct profile_element *e,
                     const struct chain_call *c)
{
	bool is_known = c->row.f != NULL;
	uint32_t file = MAP_NONE, line = 0;

	if (is_known)
		line = hot_last_line(&c->row, c->block, c->segment + 1, &file);
	json_begin(j, '{');
	put_string(j, "function",
	           is_known ? map_string(c->row.map, c->row.f->name) : NULL);
	put_u64(j, "link", e->link - 1);
	put_u64(j, "block", c->block);
	put_u64(j, "sum", e->number);
	put_string(
	        j, "file",
	        line ? report_path(s->h->report, map_string(c->row.map, file))
	             : NULL);
	put_u64(j, "line", line);
	json_end(j, '}');
}

static void put_row(const struct sequences *s, struct json *j,
                    const struct window_row *r, const struct chain_call *calls)
{
	const struct profile_windows *w = &profile_of(s)->windows;
	uint32_t newest = w->pool[r->first];

	json_begin(j, '{');
	put_u64(j, "count", r->count);
	json_key(j, "callers");
	json_begin(j, '[');
	for (unsigned i = ncallers(s); i > 0; i--) {
		uint32_t e = w->pool[r->first + i];

		put_call(s, j, &w->elements[e], &calls[e]);
	}
	json_end(j, ']');
	put_string(j, "function", sequences_name(s, s->function_of[newest]));
	put_u64(j, "path", w->elements[newest].number);
	json_end(j, '}');
}

void chains_json(const struct sequences *s, FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};
	struct chain_call *calls = find_calls(s);

	json_begin(&j, '{');
	put_u64(&j, "length", ncallers(s));
	put_u64(&j, "longest", profile_of(s)->windows.longest - 1);
	sequences_put_functions(s, &j);
	json_key(&j, "chains");
	json_begin(&j, '[');
	for (size_t i = 0; i < s->nrows; i++)
		put_row(s, &j, &s->rows[i], calls);
	json_end(&j, ']');
	json_end(&j, '}');
	text_print(out, "\n");
	free(calls);
}
