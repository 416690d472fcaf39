/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side of a comparison of path profiles, and what drift, residual and tests
 * say alike about functions, doubts and numbers.
 *
 * Paths are told in the words of cairn paths (hot.h), through a view whose
 * functions borrow the path counts of the catalog.
 */
#include "cli/side.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "format/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_LIMIT ((uint64_t)1 << 53)

static void make_view(struct side *s)
{
	const struct profile *p = s->profile;
	uint32_t *first = xcalloc((size_t)p->nmodules + 1, sizeof(*first));
	const struct report_row **rows;

	for (uint32_t i = 0; i < p->nmodules; i++)
		first[i + 1] =
		        first[i] +
		        (p->modules[i].map ? p->modules[i].map->nfunctions : 0);
	rows = xcalloc((size_t)first[p->nmodules] + 1, sizeof(*rows));
	for (size_t i = 0; i < s->report.nrows; i++) {
		const struct report_row *row = &s->report.rows[i];

		rows[first[row->module] + row->index] = row;
	}
	s->view = (struct hot){.report = &s->report};
	s->view.nfunctions = s->catalog.n;
	s->view.functions =
	        xcalloc(s->catalog.n + 1, sizeof(*s->view.functions));
	for (size_t i = 0; i < s->catalog.n; i++) {
		const struct catalog_function *f = &s->catalog.functions[i];

		s->view.functions[i] = (struct hot_function){
		        .row = rows[first[f->module] + f->index],
		        .pc = f->pc,
		        .has_paths = true,
		};
	}
	free(rows);
	free(first);
}

int side_open(struct side *s, struct cli_inputs *in, char **paths, int npaths,
              const struct report_options *o)
{
	struct cairn_err err;

	*s = (struct side){
	        .name = paths[0],
	        .files = paths,
	        .nfiles = (size_t)npaths,
	};
	s->troubles = xcalloc(s->nfiles, sizeof(*s->troubles));
	s->profile = cli_open(in, paths, npaths);
	if (!s->profile)
		return CLI_ERROR;
	cli_say_missing(s->profile);
	if (!hot_has_paths(s->profile)) {
		cairn_fail(&err, CAIRN_E_ABSENT,
		           "%s: no function in it counts paths; build the "
		           "program with --cairn=paths",
		           s->name);
		return cli_fail(&err);
	}
	s->counts = counts_new(s->profile);
	cli_say_findings(s->counts);
	report_init(&s->report, s->counts, NULL, o);
	catalog_init(&s->catalog, s->profile);
	make_view(s);
	return CLI_FINE;
}

void side_release(struct side *s)
{
	free(s->troubles);
	free(s->view.functions);
	if (s->counts) {
		catalog_release(&s->catalog);
		report_release(&s->report);
	}
	counts_free(s->counts);
	profile_free(s->profile);
	*s = (struct side){0};
}

struct hot_path side_path(uint32_t function, uint64_t number,
                          const struct path_prefix *prefix, uint64_t count)
{
	struct hot_path p = {
	        .function = function,
	        .number = number,
	        .count = count,
	};

	if (prefix) {
		p.is_prefix = true;
		p.number = prefix->sum;
		p.block = prefix->block;
		p.segment = prefix->segment;
	}
	return p;
}

const char *side_function(const struct side *s, uint32_t function)
{
	return s->view.functions[function].row->name;
}

void side_text_function(const struct side *s, FILE *out, uint32_t function)
{
	const struct catalog_function *f = &s->catalog.functions[function];
	const char *slash = strrchr(f->file, '/');

	text_print(out, "%s", side_function(s, function));
	if (*f->file && f->f->line)
		text_print(out, "  %s:%" PRIu32, slash ? slash + 1 : f->file,
		           f->f->line);
}

void side_json_function(const struct side *s, struct json *j, uint32_t function)
{
	const struct catalog_function *f = &s->catalog.functions[function];
	const struct report_row *row = s->view.functions[function].row;
	char hash[24];

	snprintf(hash, sizeof(hash), "%016" PRIx64, f->f->hash);
	side_json_string(j, "name", f->name);
	side_json_string(j, "demangled", row->demangled);
	side_json_string(j, "file",
	                 *f->file ? report_path(&s->report, f->file) : NULL);
	side_json_u64(j, "line", f->f->line);
	side_json_string(j, "hash", hash);
}

/* Functions whose counts are wrong, not just possibly one off. */
static uint64_t count_doubtful(const struct catalog *catalog,
                               const struct counts *counts)
{
	uint64_t n = catalog->nwrong;

	for (size_t i = 0; i < catalog->n; i++) {
		const struct catalog_function *f = &catalog->functions[i];
		const struct counts_module *m = &counts->modules[f->module];
		enum counts_doubt doubt = m->functions[f->index].doubt;

		n += doubt != COUNTS_PATH_PARTIAL &&
		     counts_is_inconsistent(doubt);
	}
	return n;
}

void side_add_file(struct side *s, size_t file, const struct catalog *c)
{
	uint64_t ndoubtful = count_doubtful(&s->catalog, s->counts);
	struct counts *counts;

	if (c->npartial)
		s->troubles[file] |= SIDE_PARTIAL;
	if (s->counts->doubt == COUNTS_EXACT && !ndoubtful)
		return; /* counts take time, and nobody will ask */
	counts = counts_new(c->profile);
	if (counts->doubt && counts->doubt == s->counts->doubt)
		s->troubles[file] |= SIDE_INEXACT;
	if (count_doubtful(c, counts))
		s->troubles[file] |= SIDE_DOUBTFUL;
	counts_free(counts);
}

static bool has_trouble(const struct side *s, size_t file, unsigned trouble)
{
	return s->nfiles == 1 || s->troubles[file] & trouble;
}

/* "note  FILES: ", the files that this trouble comes from. */
static void begin_note(const struct side *s, FILE *out, unsigned trouble)
{
	char **names = xcalloc(s->nfiles, sizeof(*names));
	size_t n = 0;
	char *list;

	for (size_t i = 0; i < s->nfiles; i++)
		if (has_trouble(s, i, trouble))
			names[n++] = s->files[i];
	/* Each file may be fine and the sum wrong all the same. */
	list = n ? cli_list_files(names, n)
	         : xasprintf("the sum of %zu files", s->nfiles);
	text_print(out, "note       %s: ", list);
	free(list);
	free(names);
}

void side_text_notes(const struct side *s, FILE *out)
{
	const char *note = report_note(&s->report);
	uint64_t ndoubtful = count_doubtful(&s->catalog, s->counts);

	if (note) {
		begin_note(s, out, SIDE_INEXACT);
		text_print(out, "%s\n", note);
	}
	if (ndoubtful) {
		begin_note(s, out, SIDE_DOUBTFUL);
		text_print(out,
		           "functions whose counts are in doubt: %" PRIu64
		           "; cairn check says why\n",
		           ndoubtful);
	}
	if (s->catalog.npartial) {
		begin_note(s, out, SIDE_PARTIAL);
		text_print(out,
		           "functions that did not count all of their paths: "
		           "%zu\n",
		           s->catalog.npartial);
	}
}

/* The files that a trouble comes from, if the sum has it. */
static void put_files(const struct side *s, struct json *j, const char *key,
                      bool is_there, unsigned trouble)
{
	json_key(j, key);
	json_begin(j, '[');
	for (size_t i = 0; is_there && i < s->nfiles; i++)
		if (has_trouble(s, i, trouble))
			json_string(j, s->files[i]);
	json_end(j, ']');
}

void side_json_notes(const struct side *s, struct json *j, const char *key)
{
	const char *note = report_note(&s->report);
	uint64_t ndoubtful = count_doubtful(&s->catalog, s->counts);

	json_key(j, key);
	json_begin(j, '{');
	side_json_string(j, "file", s->name);
	side_json_u64(j, "files", s->nfiles);
	side_json_u64(j, "runs", profile_nruns(s->profile));
	side_json_u64(j, "paths", s->catalog.npaths);
	side_json_u64(j, "executions", s->catalog.executions);
	side_json_string(j, "note", note);
	put_files(s, j, "note_files", note, SIDE_INEXACT);
	side_json_u64(j, "doubtful_functions", ndoubtful);
	put_files(s, j, "doubtful_files", ndoubtful, SIDE_DOUBTFUL);
	side_json_u64(j, "partial_functions", s->catalog.npartial);
	put_files(s, j, "partial_files", s->catalog.npartial, SIDE_PARTIAL);
	json_end(j, '}');
}

void side_json_u64(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	json_key(j, key);
	if (v < EXACT_LIMIT) {
		json_u64(j, v);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, v);
	json_string(j, text);
}

void side_json_real(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_real(j, v);
}

void side_json_string(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_string(j, s);
}

double side_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}
