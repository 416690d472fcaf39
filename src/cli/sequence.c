/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn paths --iterations: paths one behind the other, hottest first, and how
 * much of it is not known.
 *
 * What was counted nowhere is what the counts of paths have more than the
 * windows: there was no memory left, or a signal took the frame away.
 */
#include "cli/sequence.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/hot.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/pairs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static const struct profile_windows *windows_of(const struct hot *h)
{
	return &h->report->profile->windows;
}

/* --- what there is -------------------------------------------------------- */

static int check_chains(const struct profile_windows *w, unsigned n,
                        const char *path, struct cairn_err *err)
{
	if (!w->longest || !w->of_chains)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: has no call chains; build the program "
		                  "with --cairn=paths,chains=%u",
		                  path, n ? n : 1);
	if (n + 1 > w->longest)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: was counted with chains=%u; ask for no "
		                  "more, or build the program with chains=%u",
		                  path, w->longest - 1, n);
	return 0;
}

static int check_length(const struct profile_windows *w, unsigned length,
                        const char *path, struct cairn_err *err)
{
	if (!w->longest || w->of_chains)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: has no sequences of paths; build the "
		                  "program with --cairn=paths,iterations=%u",
		                  path, length < 2 ? 2 : length);
	if (length > w->longest)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: was counted with iterations=%u; ask for "
		                  "no more, or build the program with "
		                  "iterations=%u",
		                  path, w->longest, length);
	return 0;
}

struct place {
	uint64_t module, counters;
	uint32_t function;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->counters < y->counters ? -1 : x->counters > y->counters;
}

static void find_functions(struct sequences *s)
{
	const struct profile_windows *w = windows_of(s->h);
	struct place *places = xcalloc(s->h->nfunctions + 1, sizeof(*places));

	for (size_t i = 0; i < s->h->nfunctions; i++) {
		const struct report_row *row = s->h->functions[i].row;

		places[i] = (struct place){row->module, row->f->counters,
		                           (uint32_t)i};
	}
	qsort(places, s->h->nfunctions, sizeof(*places), by_place);
	s->function_of =
	        xcalloc((size_t)w->nelements + 1, sizeof(*s->function_of));
	for (uint32_t i = 0; i < w->nelements; i++) {
		const struct place key = {w->elements[i].module,
		                          w->elements[i].owner, 0};
		const struct place *found =
		        bsearch(&key, places, s->h->nfunctions, sizeof(*places),
		                by_place);

		s->function_of[i] = found ? found->function : NONE;
	}
	free(places);
}

/* How often its paths ran, as the counts of paths have it; 0: all activations
 * are one path, and there are no windows. */
static uint64_t count_executions(const struct sequences *s,
                                 const struct hot_function *f)
{
	struct pairs pairs;
	uint64_t n = 0;
	bool is_counted;

	if (!f->has_paths || f->pc.paths.n >= PAIRS_LIMIT)
		return 0;
	pairs_init(&pairs, &f->pc.paths);
	is_counted = s->of_chains || pairs.columns;
	for (size_t i = 0; is_counted && i < f->pc.n; i++)
		n += f->pc.items[i].count;
	return n;
}

static void add_sums(struct window_sums *to, const struct window_sums *more)
{
	to->known += more->known;
	to->first += more->first;
	to->lost += more->lost;
}

static void sum_functions(struct sequences *s)
{
	const struct profile_windows *w = windows_of(s->h);
	struct window_sums *sums = windows_known(w, s->length);

	s->functions = xcalloc(s->h->nfunctions + 1, sizeof(*s->functions));
	for (uint32_t i = 0; i < w->nelements; i++)
		if (s->function_of[i] != NONE)
			add_sums(&s->functions[s->function_of[i]].sums,
			         &sums[i]);
	free(sums);
	for (size_t i = 0; i < s->h->nfunctions; i++) {
		struct sequence_function *f = &s->functions[i];
		uint64_t counted = f->sums.known + f->sums.first + f->sums.lost;

		f->executions = count_executions(s, &s->h->functions[i]);
		f->exceeds = counted > f->executions;
		if (!f->exceeds)
			f->sums.lost += f->executions - counted;
		s->sum.executions += f->executions;
		s->sum.exceeds |= f->exceeds;
		add_sums(&s->sum.sums, &f->sums);
	}
}

static uint32_t newest_of(const struct sequences *s, const struct window_row *r)
{
	return windows_of(s->h)->pool[r->first];
}

int sequences_init(struct sequences *s, const struct hot *h, const char *path,
                   struct cairn_err *err)
{
	const struct profile_windows *w = windows_of(h);
	size_t kept = 0;

	*s = (struct sequences){
	        .h = h, .length = s->length, .of_chains = s->of_chains};
	CAIRN_TRY(s->of_chains ? check_chains(w, s->length - 1, path, err)
	                       : check_length(w, s->length, path, err));
	s->nfindings = cli_count_findings(h->report->counts);
	find_functions(s);
	sum_functions(s);
	s->rows = windows_list(w, s->length, &s->nrows);
	for (size_t i = 0; i < s->nrows; i++)
		if (s->function_of[newest_of(s, &s->rows[i])] != NONE)
			s->rows[kept++] = s->rows[i];
	s->nrows = kept;
	return 0;
}

void sequences_release(struct sequences *s)
{
	free(s->rows);
	free(s->function_of);
	free(s->functions);
	*s = (struct sequences){0};
}

/* The i-th element of a row, oldest first. */
static const struct profile_element *element_at(const struct sequences *s,
                                                const struct window_row *r,
                                                unsigned i, uint32_t *function)
{
	const struct profile_windows *w = windows_of(s->h);
	uint32_t e = w->pool[r->first + s->length - 1 - i];

	*function = s->function_of[e];
	return &w->elements[e];
}

/* --- text ------------------------------------------------------------------
 */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* A path and its lines.  All of a row are of one function, but in a damaged
 * file (rule C10). */
static void print_path(const struct sequences *s, FILE *out,
                       const struct profile_element *e, uint32_t function)
{
	const struct hot_path p = {.function = function, .number = e->number};

	if (function == NONE) {
		text_print(out, "a function without a map  path %" PRIu64 "\n",
		           e->number);
		return;
	}
	text_print(out, "%s  path %" PRIu64 "  ",
	           s->h->functions[function].row->name, e->number);
	hot_text_lines(s->h, out, &p);
	text_print(out, "\n");
}

static void print_row(const struct sequences *s, FILE *out,
                      const struct window_row *r)
{
	text_print(out, "%20" PRIu64 " %6.2f\n", r->count,
	           percent(r->count, s->sum.executions));
	for (unsigned i = 0, n; i < s->length; i += n) {
		uint32_t function, other;
		const struct profile_element *e =
		        element_at(s, r, i, &function);

		for (n = 1; i + n < s->length; n++)
			if (element_at(s, r, i + n, &other) != e)
				break;
		text_print(out, "%24u x  ", n);
		print_path(s, out, e, function);
	}
}

void sequences_text_notes(const struct sequences *s, FILE *out)
{
	if (s->sum.exceeds)
		text_print(out,
		           "note       more was counted than ran; cairn check "
		           "may say why\n");
	if (s->nfindings)
		text_print(out,
		           "note       findings of cairn check about these "
		           "counts, which are not exact: %zu\n",
		           s->nfindings);
}

static void print_head(const struct sequences *s, FILE *out)
{
	const struct window_sums *sum = &s->sum.sums;
	uint64_t all = s->sum.executions;

	text_print(out,
	           "sequences  of %u paths, one behind the other in one "
	           "activation\n"
	           "executions %" PRIu64 " of paths of functions with loops\n",
	           s->length, all);
	text_print(out,
	           "known      %" PRIu64 ", %.2f %%, in %zu different ones\n",
	           sum->known, percent(sum->known, all), s->nrows);
	text_print(out,
	           "first      %" PRIu64 ", %.2f %%: so many were not before "
	           "them\n",
	           sum->first, percent(sum->first, all));
	text_print(out,
	           "lost       %" PRIu64
	           ", %.2f %%: what was before them did not "
	           "fit into the memory%s\n",
	           sum->lost, percent(sum->lost, all),
	           sum->lost ? " (memory= of the build)" : "");
	sequences_text_notes(s, out);
}

void sequences_text(const struct sequences *s, FILE *out)
{
	size_t n = s->nrows < s->h->options.top ? s->nrows : s->h->options.top;

	print_head(s, out);
	if (n)
		text_print(out, "\n%20s %6s\n", "count", "%");
	for (size_t i = 0; i < n; i++)
		print_row(s, out, &s->rows[i]);
	if (n < s->nrows)
		text_print(out, "%20s (%zu more; --top 0 shows all)\n", "",
		           s->nrows - n);
}

/* --- JSON ------------------------------------------------------------------
 */

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_sums(struct json *j, const struct sequence_function *f)
{
	put_u64(j, "executions", f->executions);
	put_u64(j, "known", f->sums.known);
	put_u64(j, "first", f->sums.first);
	put_u64(j, "lost", f->sums.lost);
	json_key(j, "exceeds");
	json_bool(j, f->exceeds);
}

const char *sequences_name(const struct sequences *s, uint32_t function)
{
	const struct report_row *row;

	if (function == NONE)
		return NULL;
	row = s->h->functions[function].row;
	return map_string(row->map, row->f->name);
}

static void put_row(const struct sequences *s, struct json *j,
                    const struct window_row *r)
{
	json_begin(j, '{');
	put_u64(j, "count", r->count);
	json_key(j, "elements");
	json_begin(j, '[');
	for (unsigned i = 0; i < s->length; i++) {
		uint32_t function;
		const struct profile_element *e =
		        element_at(s, r, i, &function);

		json_begin(j, '{');
		json_key(j, "function");
		json_string(j, sequences_name(s, function));
		put_u64(j, "path", e->number);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

void sequences_put_functions(const struct sequences *s, struct json *j)
{
	put_sums(j, &s->sum);
	put_u64(j, "findings", s->nfindings);
	json_key(j, "functions");
	json_begin(j, '[');
	for (uint32_t i = 0; i < s->h->nfunctions; i++) {
		if (!s->functions[i].executions && !s->functions[i].exceeds)
			continue;
		json_begin(j, '{');
		json_key(j, "name");
		json_string(j, sequences_name(s, i));
		put_sums(j, &s->functions[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void sequences_json(const struct sequences *s, FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};

	json_begin(&j, '{');
	put_u64(&j, "length", s->length);
	put_u64(&j, "longest", windows_of(s->h)->longest);
	sequences_put_functions(s, &j);
	json_key(&j, "sequences");
	json_begin(&j, '[');
	for (size_t i = 0; i < s->nrows; i++)
		put_row(s, &j, &s->rows[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	text_print(out, "\n");
}
