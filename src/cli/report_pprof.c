/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for pprof: profile.proto (github.com/google/pprof/proto), not
 * compressed, which pprof reads as well.  A sample is a line of a function,
 * its value the instructions of LLVM's IR that it executed; what was inlined is
 * in the location, as pprof wants it, and callers as far as counts prove them
 * (costs.h) behind it.
 *
 * Protocol buffers: a field is its number and kind as a varint, then a varint
 * (kind 0) or bytes with their length (kind 2).
 */
#include "cli/costs.h"

#include "analysis/counts.h"
#include "analysis/inclusive.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/strtab.h"

#include <stdlib.h>
#include <string.h>

/* Fields of messages. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING };
enum { PROFILE_LOCATION = 4, PROFILE_FUNCTION, PROFILE_STRING };
enum { PROFILE_TIME = 9 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME };
enum { FUNCTION_FILE = 4, FUNCTION_LINE };

struct proto {
	const struct report *r;
	struct inclusive *x;
	struct bytes out; /* the profile, but for strings */
	struct strtab strings;
	struct strtab functions; /* keys: name and file; number + 1 is the id */
	uint64_t nlocations;
	uint64_t *callers;     /* per function: its location as a caller, 0 */
	struct call_end *ends; /* per function */
};

static void put_number(struct bytes *b, unsigned field, uint64_t v)
{
	bytes_put_uv(b, field << 3);
	bytes_put_uv(b, v);
}

static void put_bytes(struct bytes *b, unsigned field, const void *data,
                      size_t n)
{
	bytes_put_uv(b, field << 3 | 2);
	bytes_put_uv(b, n);
	bytes_put(b, data, n);
}

static void put_message(struct bytes *b, unsigned field, struct bytes *message)
{
	put_bytes(b, field, message->data, message->n);
	bytes_release(message);
	*message = (struct bytes){0};
}

/* Strings of protocol buffers are UTF-8, and pprof prints them as they are. */
static uint64_t string_of(struct proto *p, const char *s)
{
	char *text = text_escape(s, strlen(s));
	uint32_t at = strtab_add(&p->strings, text, strlen(text));

	free(text);
	return at;
}

static uint64_t function_of(struct proto *p, const struct frame_name *f)
{
	char *key = xasprintf("%s\n%s", f->name, f->file);
	uint32_t n = p->functions.n;
	uint32_t at = strtab_add(&p->functions, key, strlen(key));
	struct bytes b = {0};
	char *name;

	free(key);
	if (at < n)
		return (uint64_t)at + 1;
	name = report_name(p->r, f->name);
	put_number(&b, FUNCTION_ID, (uint64_t)at + 1);
	put_number(&b, FUNCTION_NAME, string_of(p, name));
	put_number(&b, FUNCTION_SYSTEM_NAME, string_of(p, f->name));
	if (*f->file)
		put_number(&b, FUNCTION_FILE,
		           string_of(p, report_path(p->r, f->file)));
	put_number(&b, FUNCTION_LINE, f->line);
	put_message(&p->out, PROFILE_FUNCTION, &b);
	free(name);
	return (uint64_t)at + 1;
}

static void put_line(struct proto *p, struct bytes *location,
                     const struct frame_name *f, uint32_t line)
{
	struct bytes b = {0};

	put_number(&b, LINE_FUNCTION, function_of(p, f));
	put_number(&b, LINE_LINE, line);
	put_message(location, LOCATION_LINE, &b);
}

/* The location of a line: what was inlined comes before what it is in. */
static uint64_t put_location(struct proto *p, const struct report_row *row,
                             const struct cost *c)
{
	const struct map_instance *all =
	        row->map->instances + row->f->first_instance;
	size_t n;
	struct frame_name *chain = costs_chain(row, c->instance, &n);
	uint32_t line = c->line, instance = c->instance;
	struct bytes b = {0};

	put_number(&b, LOCATION_ID, ++p->nlocations);
	while (n--) {
		put_line(p, &b, &chain[n], line);
		if (instance) {
			line = all[instance - 1].call_line;
			instance = all[instance - 1].parent;
		}
	}
	put_message(&p->out, PROFILE_LOCATION, &b);
	free(chain);
	return p->nlocations;
}

/* The location of a function that called: which line is not said. */
static uint64_t caller_of(struct proto *p, uint32_t f)
{
	const struct map *m = p->r->profile->modules[p->ends[f].module].map;
	const struct map_function *k = &m->functions[p->ends[f].function];
	struct frame_name name = {map_string(m, k->name),
	                          map_string(m, k->file), k->line};
	struct bytes b = {0};

	if (p->callers[f])
		return p->callers[f];
	put_number(&b, LOCATION_ID, ++p->nlocations);
	p->callers[f] = p->nlocations;
	put_line(p, &b, &name, k->line);
	put_message(&p->out, PROFILE_LOCATION, &b);
	return p->callers[f];
}

static void put_sample(struct proto *p, const struct report_row *row,
                       const struct cost *c)
{
	struct bytes b = {0}, locations = {0}, values = {0};
	uint32_t f = p->x->first[row->module] + row->index;

	bytes_put_uv(&locations, put_location(p, row, c));
	for (f = p->x->parent[f]; f != CALLGRAPH_NONE; f = p->x->parent[f])
		bytes_put_uv(&locations, caller_of(p, f));
	bytes_put_uv(&values, c->instructions);
	put_message(&b, SAMPLE_LOCATIONS, &locations);
	put_message(&b, SAMPLE_VALUES, &values);
	put_message(&p->out, PROFILE_SAMPLE, &b);
}

static void put_row(struct proto *p, const struct report_row *row)
{
	size_t n;
	struct cost *c = costs_of(row, &n);

	for (size_t i = 0; i < n; i++)
		if (c[i].instructions)
			put_sample(p, row, &c[i]);
	free(c);
}

static void number_functions(struct proto *p)
{
	const struct profile *profile = p->r->profile;

	p->ends = xcalloc(p->x->n, sizeof(*p->ends));
	p->callers = xcalloc(p->x->n, sizeof(*p->callers));
	for (uint32_t i = 0; i < profile->nmodules; i++) {
		const struct map *m = profile->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++)
			p->ends[p->x->first[i] + f] = (struct call_end){i, f};
	}
}

void report_pprof(const struct report *r, FILE *out)
{
	struct proto p = {.r = r, .x = inclusive_new(r->counts, r->calls)};
	struct bytes b = {0};

	number_functions(&p);
	string_of(&p, ""); /* the first one, by rule */
	put_number(&b, TYPE_TYPE, string_of(&p, "instructions"));
	put_number(&b, TYPE_UNIT, string_of(&p, "count"));
	put_message(&p.out, PROFILE_SAMPLE_TYPE, &b);
	for (size_t i = 0; i < r->nrows; i++)
		if (r->rows[i].r->instructions)
			put_row(&p, &r->rows[i]);
	for (uint32_t i = 0; i < p.strings.n; i++)
		put_bytes(&p.out, PROFILE_STRING, p.strings.items[i],
		          strlen(p.strings.items[i]));
	if (r->profile->nfiles && !r->options.stable)
		put_number(&p.out, PROFILE_TIME, r->profile->files[0].start);
	fwrite(p.out.data, 1, p.out.n, out);
	bytes_release(&p.out);
	strtab_release(&p.strings);
	strtab_release(&p.functions);
	free(p.ends);
	free(p.callers);
	inclusive_free(p.x);
}
