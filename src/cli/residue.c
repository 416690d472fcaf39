/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untested paths as text and as JSON: the columns of tables 3.1 and 3.3 of the
 * thesis (K. Vaswani, "Efficient online path profiling", 2007), what could not
 * be compared, and the paths by rank.
 */
#include "cli/residue.h"

#include "analysis/counts.h"
#include "base/json.h"
#include "base/text.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <string.h>

#define JSON_VERSION 1
/* Paths that are shown in detail unless the user wants all. */
#define SHOWN_PATHS 10
/* Functions that are named in one line. */
#define SHOWN_NAMES 10

struct hot_path residue_path(const struct residual_path *p)
{
	return (struct hot_path){
	        .function = p->function,
	        .is_prefix = p->is_prefix,
	        .number = p->is_prefix ? p->prefix.sum : p->number,
	        .block = p->prefix.block,
	        .segment = p->prefix.segment,
	        .count = p->count,
	        .nblocks = p->nblocks,
	};
}

const char *residue_fate(enum catalog_fate fate, bool is_field)
{
	switch (fate) {
	case CATALOG_CHANGED:
		return "changed";
	case CATALOG_RENUMBERED:
		return "cut elsewhere";
	default:
		return is_field ? "new in the field" : "gone in the field";
	}
}

static bool has_run(const struct catalog_function *f)
{
	return f->pc.n || f->pc.nprefixes;
}

bool residue_is_unknown(const struct report_row *row)
{
	return row->f->paths != CAIRN_PATHS_NONE &&
	       counts_is_inconsistent(row->r->doubt);
}

uint64_t residue_nunknown(const struct residue *r)
{
	const struct side *s = &r->field;
	uint64_t n = 0;

	for (size_t i = 0; i < s->catalog.n; i++)
		n += s->catalog.functions[i].pc.nunknown +
		     s->catalog.functions[i].pc.nlost;
	for (size_t i = 0; i < s->report.nrows; i++) {
		const struct report_row *row = &s->report.rows[i];

		/* one at least: nobody counted them */
		n += residue_is_unknown(row) &&
		     row->r->doubt != COUNTS_PATH_UNKNOWN &&
		     row->r->doubt != COUNTS_PATH_LOST;
	}
	return n;
}

bool residue_is_any(const struct residue *r)
{
	return residual_is_any(&r->residual) || residue_nunknown(r);
}

/* --- text --------------------------------------------------------------- */

/* A share of what ran in the field, or nothing if that is not known. */
static void print_share(FILE *out, const char *what, uint64_t part,
                        uint64_t whole, bool is_known)
{
	text_print(out, "%-37s %10" PRIu64, what, part);
	if (is_known)
		text_print(out, "  %5.1f %% of %" PRIu64,
		           side_percent(part, whole), whole);
	text_print(out, "\n");
}

static void print_totals(const struct residue *r, FILE *out)
{
	const struct residual_totals *t = &r->residual.totals;
	uint64_t n = t->all.nuntested;

	text_print(out, "\n");
	print_share(out, "untested paths", n, t->all.npaths,
	            !t->all.is_partial);
	print_share(out, "  executions of them", t->all.untested_executions,
	            t->all.executions, !t->all.is_partial);
	text_print(out,
	           "  functions with untested paths       %10" PRIu64 "\n"
	           "untested edges                        %10" PRIu64 "\n"
	           "  functions with untested edges       %10" PRIu64 "\n",
	           t->nfunctions, t->nedges, t->nedge_functions);
	text_print(out,
	           "untested paths that edges do not show\n"
	           "  in functions without untested edge  %10" PRIu64
	           "  %5.1f %% of the untested\n"
	           "  without untested edge themselves    %10" PRIu64
	           "  %5.1f %% of the untested\n",
	           t->nquiet, side_percent(t->nquiet, n), t->nhidden,
	           side_percent(t->nhidden, n));
	if (t->all.ndied)
		text_print(out,
		           "untested paths that frames died on    %10" PRIu64
		           "\n",
		           t->all.ndied);
}

/* What the field did and nobody knows. */
static void print_unknown(const struct residue *r, FILE *out)
{
	uint64_t n = residue_nunknown(r);
	size_t shown = 0, more = 0;

	if (!n)
		return;
	text_print(out,
	           "paths nobody knows                    %10" PRIu64
	           "  (functions",
	           n);
	for (size_t i = 0; i < r->field.report.nrows; i++) {
		const struct report_row *row = &r->field.report.rows[i];

		if (!residue_is_unknown(row))
			continue;
		if (shown == SHOWN_NAMES)
			more++;
		else
			text_print(out, "%s %s", shown++ ? "," : "", row->name);
	}
	if (more)
		text_print(out, ", and %zu more", more);
	text_print(out, "; cairn check says why)\n");
}

static void print_files(const struct residue *r, FILE *out)
{
	text_print(out, "\n%10s %10s %10s  file\n", "untested", "paths %",
	           "exec %");
	for (size_t i = 0; i < r->nfiles; i++) {
		const struct residual_row *row = &r->rows[i];

		text_print(out, "%10" PRIu64, row->nuntested);
		if (row->is_partial)
			text_print(out, " %10s %10s", "-", "-");
		else
			text_print(out, " %10.1f %10.1f",
			           side_percent(row->nuntested, row->npaths),
			           side_percent(row->untested_executions,
			                        row->executions));
		text_print(out, "  %s\n", r->files[i]);
	}
}

/* Files of residual builds that do not say when each untested path came. */
static void print_unordered(const struct residue *r, FILE *out)
{
	for (size_t i = 0; i < r->nfiles; i++) {
		const struct residual_row *row = &r->rows[i];

		if (row->has_order && row->nordered < row->nuntested)
			text_print(
			        out,
			        "note       %s: untested paths that are not in "
			        "the order of their first occurrence: %" PRIu64
			        "%s\n",
			        r->files[i], row->nuntested - row->nordered,
			        row->nleft_out ? "; it was full" : "");
	}
}

bool residue_has_order(const struct residue *r)
{
	for (size_t i = 0; i < r->nfiles; i++)
		if (r->rows[i].has_order)
			return true;
	return false;
}

/* Functions of one side that ran and are not the same on the other. */
static void print_unmatched(const struct residue *r, FILE *out, bool is_field)
{
	const struct side *s = is_field ? &r->field : &r->tested;
	size_t n = 0;

	for (uint32_t i = 0; i < s->catalog.n; i++) {
		const struct catalog_function *f = &s->catalog.functions[i];
		enum catalog_fate fate =
		        is_field ? r->residual.functions[i].match.fate
		                 : r->residual.of_tested[i].fate;

		if (fate == CATALOG_SAME || !has_run(f))
			continue;
		if (!n++)
			text_print(out,
			           "\nnot compared: functions that ran in the "
			           "%s and are not the same in the %s\n"
			           "%10s %14s  function\n",
			           is_field ? "field" : "tests",
			           is_field ? "tests" : "field", "paths",
			           "executions");
		text_print(out, "%10zu %14" PRIu64 "  ", f->pc.n,
		           f->executions);
		side_text_function(s, out, i);
		text_print(out, "  %s\n", residue_fate(fate, is_field));
	}
}

static void print_path(const struct residue *r, FILE *out, size_t i)
{
	const struct residual_path *p = &r->residual.paths[i];
	const struct residual_first *first = residual_first(p);
	struct hot_path h = residue_path(p);

	text_print(out,
	           "%6" PRIu32 " %14" PRIu64 " %5" PRIu32 " %5" PRIu32
	           " %6" PRIu64,
	           p->nusers, p->count, p->nedges, p->npairs, p->nblocks);
	if (first)
		text_print(out, " %6" PRIu64, first->number);
	else if (residue_has_order(r))
		text_print(out, " %6s", "-");
	text_print(out, " %c%c %s  ", p->nedges ? ' ' : '*',
	           p->is_prefix ? '!' : ' ',
	           side_function(&r->field, p->function));
	hot_text_summary(&r->field.view, out, &h);
	text_print(out, "\n");
}

static void print_details(const struct residue *r, FILE *out, size_t i)
{
	const struct residual_path *p = &r->residual.paths[i];
	const struct residual_first *first = residual_first(p);
	struct hot_path h = residue_path(p);

	text_print(out, "\n#%zu %s, ", i + 1,
	           side_function(&r->field, p->function));
	if (p->is_prefix)
		text_print(out, "unfinished");
	else
		text_print(out, "path %" PRIu64 " of %" PRIu64, p->number,
		           r->field.catalog.functions[p->function].f->npaths);
	text_print(out, "%s\n",
	           p->nedges ? "" : "; each edge was tested, not all together");
	hot_text_path(&r->field.view, out, &h);
	if (first)
		text_print(out,
		           "    first    as number %" PRIu64
		           " of the untested paths of %s\n",
		           first->number, r->files[first->file]);
}

static void print_list(const struct residue *r, FILE *out)
{
	size_t n = r->residual.n, shown = n < r->top ? n : r->top;

	if (!n)
		return;
	text_print(
	        out,
	        "\n*: no untested edge, so coverage of edges does not show it"
	        "%s\n%6s %14s %5s %5s %6s%s    function  lines\n",
	        r->residual.totals.all.ndied ? "; !: a frame died on it" : "",
	        "users", "count", "edges", "pairs", "blocks",
	        residue_has_order(r) ? "  first" : "");
	for (size_t i = 0; i < shown; i++)
		print_path(r, out, i);
	if (shown < n)
		text_print(out, "%6s (%zu more; --top 0 shows all)\n", "",
		           n - shown);
	for (size_t i = 0; i < shown && (r->all_details || i < SHOWN_PATHS);
	     i++)
		print_details(r, out, i);
}

static void print_head(const struct residue *r, FILE *out)
{
	const struct residual_totals *t = &r->residual.totals;

	text_print(out,
	           "tested     %" PRIu64 " paths; runs: %" PRIu64 "; %s\n"
	           "field      %" PRIu64 " paths; runs: %" PRIu64
	           "; files: %zu\n"
	           "functions  %" PRIu64 " compared",
	           r->tested.catalog.npaths, profile_nruns(r->tested.profile),
	           r->tested.name, r->field.catalog.npaths,
	           profile_nruns(r->field.profile), r->nfiles, t->ncompared);
	if (t->nunmatched)
		text_print(out,
		           "; %" PRIu64 " that ran could not be, with %" PRIu64
		           " paths and %" PRIu64 " executions",
		           t->nunmatched, t->unmatched_paths,
		           t->unmatched_executions);
	text_print(out, "\n");
	side_text_notes(&r->tested, out);
	side_text_notes(&r->field, out);
}

void residue_text(const struct residue *r, FILE *out)
{
	print_head(r, out);
	print_totals(r, out);
	print_unknown(r, out);
	print_files(r, out);
	print_unordered(r, out);
	print_unmatched(r, out, true);
	print_unmatched(r, out, false);
	print_list(r, out);
	if (!residue_is_any(r))
		fputs("\nno untested paths\n", out);
}

/* --- JSON --------------------------------------------------------------- */

/* A number that is not known if the field did not count tested paths. */
static void put_known(struct json *j, const char *key, uint64_t v,
                      const struct residual_row *row)
{
	if (row->is_partial)
		side_json_string(j, key, NULL);
	else
		side_json_u64(j, key, v);
}

static void put_share(struct json *j, const char *key, uint64_t part,
                      uint64_t whole, const struct residual_row *row)
{
	if (row->is_partial)
		side_json_string(j, key, NULL);
	else
		side_json_real(j, key, side_percent(part, whole));
}

static void put_row(struct json *j, const struct residual_row *row)
{
	put_known(j, "paths", row->npaths, row);
	side_json_u64(j, "untested_paths", row->nuntested);
	put_share(j, "untested_percent", row->nuntested, row->npaths, row);
	put_known(j, "executions", row->executions, row);
	side_json_u64(j, "untested_executions", row->untested_executions);
	put_share(j, "untested_executions_percent", row->untested_executions,
	          row->executions, row);
	side_json_u64(j, "untested_unfinished", row->ndied);
}

static void put_totals(const struct residue *r, struct json *j)
{
	const struct residual_totals *t = &r->residual.totals;
	uint64_t n = t->all.nuntested;

	json_key(j, "totals");
	json_begin(j, '{');
	put_row(j, &t->all);
	side_json_u64(j, "functions_compared", t->ncompared);
	side_json_u64(j, "functions_with_untested_paths", t->nfunctions);
	side_json_u64(j, "untested_edges", t->nedges);
	side_json_u64(j, "functions_with_untested_edges", t->nedge_functions);
	side_json_u64(j, "untested_paths_in_functions_without_untested_edges",
	              t->nquiet);
	side_json_real(j,
	               "untested_paths_in_functions_without_untested_edges_"
	               "percent",
	               side_percent(t->nquiet, n));
	side_json_u64(j, "untested_paths_without_untested_edges", t->nhidden);
	side_json_real(j, "untested_paths_without_untested_edges_percent",
	               side_percent(t->nhidden, n));
	side_json_u64(j, "unknown_paths", residue_nunknown(r));
	side_json_u64(j, "functions_not_compared", t->nunmatched);
	side_json_u64(j, "paths_not_compared", t->unmatched_paths);
	side_json_u64(j, "executions_not_compared", t->unmatched_executions);
	json_end(j, '}');
}

static void put_unmatched(const struct residue *r, struct json *j,
                          const char *key, bool is_field)
{
	static const char *const fates[] = {
	        [CATALOG_SAME] = "same",
	        [CATALOG_CHANGED] = "changed",
	        [CATALOG_RENUMBERED] = "cut",
	        [CATALOG_ABSENT] = "absent",
	};
	const struct side *s = is_field ? &r->field : &r->tested;

	json_key(j, key);
	json_begin(j, '[');
	for (uint32_t i = 0; i < s->catalog.n; i++) {
		const struct catalog_function *f = &s->catalog.functions[i];
		enum catalog_fate fate =
		        is_field ? r->residual.functions[i].match.fate
		                 : r->residual.of_tested[i].fate;

		if (fate == CATALOG_SAME || !has_run(f))
			continue;
		json_begin(j, '{');
		side_json_function(s, j, i);
		side_json_string(j, "fate", fates[fate]);
		side_json_u64(j, "paths", f->pc.n);
		side_json_u64(j, "executions", f->executions);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_unknown(const struct residue *r, struct json *j)
{
	const struct report *report = &r->field.report;

	json_key(j, "unknown");
	json_begin(j, '[');
	for (size_t i = 0; i < report->nrows; i++) {
		const struct report_row *row = &report->rows[i];
		const char *file = map_string(row->map, row->f->file);

		if (!residue_is_unknown(row))
			continue;
		json_begin(j, '{');
		side_json_string(j, "name", map_string(row->map, row->f->name));
		side_json_string(j, "demangled", row->demangled);
		side_json_string(j, "file",
		                 *file ? report_path(report, file) : NULL);
		side_json_u64(j, "line", row->f->line);
		side_json_string(j, "reason", counts_reason(row->r->doubt));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_path(const struct residue *r, struct json *j,
                     const struct residual_path *p)
{
	struct hot_path h = residue_path(p);

	hot_json_begin(&r->field.view, j, &h);
	json_key(j, "function");
	json_begin(j, '{');
	side_json_function(&r->field, j, p->function);
	json_end(j, '}');
	json_key(j, "unfinished");
	json_bool(j, p->is_prefix);
	side_json_u64(j, "users", p->nusers);
	side_json_u64(j, "untested_edges", p->nedges);
	side_json_u64(j, "untested_pairs", p->npairs);
	json_key(j, "hidden");
	json_bool(j, !p->nedges);
	json_key(j, "order");
	json_begin(j, '[');
	for (uint32_t i = 0; i < p->nfirst; i++) {
		json_begin(j, '{');
		side_json_u64(j, "file", p->first[i].file);
		side_json_u64(j, "number", p->first[i].number);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

/* How much of a file's order is known; null if it has none. */
static void put_order(struct json *j, const struct residual_row *row)
{
	if (row->has_order) {
		side_json_u64(j, "ordered_paths", row->nordered);
		side_json_u64(j, "order_left_out", row->nleft_out);
	} else {
		side_json_string(j, "ordered_paths", NULL);
		side_json_string(j, "order_left_out", NULL);
	}
}

void residue_json(const struct residue *r, FILE *out)
{
	struct json j = {.out = out, .flat_below = 3};

	json_begin(&j, '{');
	side_json_u64(&j, "version", JSON_VERSION);
	side_json_notes(&r->tested, &j, "tested");
	side_json_notes(&r->field, &j, "field");
	put_totals(r, &j);
	json_key(&j, "files");
	json_begin(&j, '[');
	for (size_t i = 0; i < r->nfiles; i++) {
		json_begin(&j, '{');
		side_json_string(&j, "file", r->files[i]);
		put_row(&j, &r->rows[i]);
		put_order(&j, &r->rows[i]);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	put_unknown(r, &j);
	put_unmatched(r, &j, "field_only", true);
	put_unmatched(r, &j, "tested_only", false);
	json_key(&j, "untested");
	json_begin(&j, '[');
	for (size_t i = 0; i < r->residual.n; i++)
		put_path(r, &j, &r->residual.paths[i]);
	json_end(&j, ']');
	json_end(&j, '}');
}
