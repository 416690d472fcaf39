/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untested paths as a page: the list by rank, the columns of tables 3.1 and 3.3
 * of the thesis (K. Vaswani, "Efficient online path profiling", 2007), what
 * could not be compared, and the functions of the listed paths with what no
 * test ran in them.
 *
 * A block or an edge is untested here if its count in the tests is 0, whether
 * it ran in the field or not.  The counts are those that follow from the tested
 * paths (path_counts_edges), as in analysis/residual.c: a path is marked as
 * having no untested edge just if none of its edges is.  Both sides number
 * blocks and edges alike, since only functions of the same CFG are compared.
 */
#include "cli/html.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/json.h"
#include "cli/html_list.h"
#include "cli/residue.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#define NCOLUMNS(c) (sizeof(c) / sizeof(*(c)))

struct page {
	const struct residue *r;
	struct html_pick pick; /* path i of it is the one of rank i */
};

static const struct page *page_of(const struct html *h)
{
	return h->lists->data;
}

/* --- what is untested in a function ------------------------------------- */

static void put_untested(struct json *j, const char *key,
                         const uint64_t *counts, uint32_t first, uint32_t n)
{
	json_key(j, key);
	json_begin(j, '[');
	for (uint32_t i = first; i < n; i++)
		if ((int64_t)counts[i] <= 0)
			json_u64(j, i);
	json_end(j, ']');
}

static void put_function(const struct html *h, struct json *j, size_t row)
{
	const struct page *page = page_of(h);
	const struct residual *r = &page->r->residual;
	uint32_t other = r->functions[page->pick.functions[row]].match.other;
	const struct catalog_function *f = &r->tested->functions[other];
	uint64_t *edge = xcalloc((size_t)f->f->nedges + 1, sizeof(*edge));
	uint64_t *block = xcalloc((size_t)f->f->nblocks + 1, sizeof(*block));

	path_counts_edges(&f->pc, f->map, f->f, edge, block);
	put_untested(j, "untested_blocks", block, 1, f->f->nblocks);
	put_untested(j, "untested_edges", edge, 0, f->f->nedges);
	free(edge);
	free(block);
}

/* --- tables ------------------------------------------------------------- */

static void put_first(FILE *out, const struct residual_path *p)
{
	const struct residual_first *first = residual_first(p);

	if (first)
		html_cell_number(out, first->number);
	else
		html_cell(out, "-");
}

static void put_row(const struct page *page, FILE *out, size_t i)
{
	const struct residual_path *p = &page->r->residual.paths[i];

	html_row_of(out, &page->pick.places[i], UINT32_MAX, 0);
	html_cell_number(out, i + 1);
	html_cell_number(out, p->nusers);
	html_cell_number(out, p->count);
	html_cell_number(out, p->nedges);
	html_cell_number(out, p->npairs);
	html_cell_number(out, p->nblocks);
	html_cell(out, p->nedges      ? p->is_prefix ? "died" : ""
	               : p->is_prefix ? "no untested edge, died"
	                              : "no untested edge");
	html_cell_function(out, &page->r->field, p->function);
	html_cell_lines(out, &page->r->field.view, &page->pick.paths[i]);
	if (residue_has_order(page->r))
		put_first(out, p);
	html_row_end(out);
}

static void put_list(const struct page *page, FILE *out)
{
	static const struct html_column columns[] = {
	        {"#", NULL, true},
	        {"users", "files of the field that have the path", true},
	        {"count", "executions, or frames that died on it", true},
	        {"edges", "edges of it that no test took", true},
	        {"pairs",
	         "successive choices that no tested path makes in succession",
	         true},
	        {"blocks", "blocks that it runs", true},
	        {"mark",
	         "no untested edge: coverage of edges and lines does not show "
	         "the path; died: frames were on it when they died",
	         false},
	        {"function", NULL, false},
	        {"lines", NULL, false},
	        {"first",
	         "its place among the untested paths of a run, by their first "
	         "occurrence: in the file where it came earliest",
	         true},
	};
	size_t n = NCOLUMNS(columns) - !residue_has_order(page->r);

	html_section(out, "untested", "untested paths");
	fputs("<p>Paths that ran in the field and in no test: by users, count, "
	      "and risk (untested edges, pairs of choices, blocks). The page "
	      "has the functions of these.</p>\n",
	      out);
	html_table(out, NULL, columns, n);
	for (size_t i = 0; i < page->pick.n; i++)
		put_row(page, out, i);
	html_table_end(out);
	html_more(out, page->pick.n, page->r->residual.n);
	html_section_end(out);
}

/* A number of table 3.1, and its share of `whole`, "-" if that is not known or
 * no share of anything. */
static void put_total(FILE *out, const char *what, uint64_t part,
                      const char *of, uint64_t whole, bool is_known)
{
	html_row(out);
	html_cell(out, what);
	html_cell_number(out, part);
	if (of && is_known) {
		html_cell_share(out, part, whole, true);
		html_cell(out, of);
	} else {
		html_cell(out, "");
		html_cell(out, of ? "not known: the field did not count "
		                    "tested paths"
		                  : "");
	}
	html_row_end(out);
}

static void put_totals(const struct residue *r, FILE *out)
{
	static const struct html_column columns[] = {
	        {"in all", NULL, false},
	        {"number", NULL, true},
	        {"share", NULL, true},
	        {"of", NULL, false},
	};
	const struct residual_totals *t = &r->residual.totals;
	bool is_known = !t->all.is_partial;
	uint64_t n = t->all.nuntested;

	html_table(out, "Untested paths and edges (table 3.1)", columns,
	           NCOLUMNS(columns));
	put_total(out, "untested paths", n, "the paths of the field",
	          t->all.npaths, is_known);
	put_total(out, "executions of them", t->all.untested_executions,
	          "the executions of the field", t->all.executions, is_known);
	put_total(out, "functions with untested paths", t->nfunctions,
	          "the functions compared", t->ncompared, true);
	put_total(out, "untested edges", t->nedges, NULL, 0, true);
	put_total(out, "functions with untested edges", t->nedge_functions,
	          "the functions compared", t->ncompared, true);
	put_total(out, "untested paths in functions without untested edge",
	          t->nquiet, "the untested paths", n, true);
	put_total(out, "untested paths without untested edge themselves",
	          t->nhidden, "the untested paths", n, true);
	if (t->all.ndied)
		put_total(out, "untested paths that frames died on",
		          t->all.ndied, NULL, 0, true);
	html_table_end(out);
}

static void put_files(const struct residue *r, FILE *out)
{
	static const struct html_column columns[] = {
	        {"file", NULL, false},
	        {"untested paths", NULL, true},
	        {"of its paths", NULL, true},
	        {"executions of them", NULL, true},
	        {"of its executions", NULL, true},
	        {"in order",
	         "untested paths whose first occurrence has a place in the "
	         "order of the run",
	         true},
	};
	bool is_ordered = residue_has_order(r);

	html_table(out, "Files of the field (table 3.3)", columns,
	           NCOLUMNS(columns) - !is_ordered);
	for (size_t i = 0; i < r->nfiles; i++) {
		const struct residual_row *row = &r->rows[i];
		bool is_known = !row->is_partial;

		html_row(out);
		html_cell(out, r->files[i]);
		html_cell_number(out, row->nuntested);
		html_cell_share(out, row->nuntested, row->npaths, is_known);
		html_cell_number(out, row->untested_executions);
		html_cell_share(out, row->untested_executions, row->executions,
		                is_known);
		if (is_ordered && row->has_order)
			html_cell_number(out, row->nordered);
		else if (is_ordered)
			html_cell(out, "-");
		html_row_end(out);
	}
	html_table_end(out);
}

/* Functions of one side that ran and are not the same on the other. */
static void put_unmatched(const struct residue *r, FILE *out, bool is_field)
{
	static const struct html_column columns[] = {
	        {"function", NULL, false},
	        {"paths", NULL, true},
	        {"executions", NULL, true},
	        {"", NULL, false},
	};
	const struct side *s = is_field ? &r->field : &r->tested;
	size_t n = 0;

	for (uint32_t i = 0; i < s->catalog.n; i++) {
		const struct catalog_function *f = &s->catalog.functions[i];
		enum catalog_fate fate =
		        is_field ? r->residual.functions[i].match.fate
		                 : r->residual.of_tested[i].fate;

		if (fate == CATALOG_SAME || (!f->pc.n && !f->pc.nprefixes))
			continue;
		if (!n)
			html_table(out,
			           is_field ? "Not compared: ran in the field "
			                      "and are not the same in the "
			                      "tests"
			                    : "Not compared: ran in the tests "
			                      "and are not the same in the "
			                      "field",
			           columns, NCOLUMNS(columns));
		if (n++ >= r->top)
			continue;
		html_row(out);
		html_cell_function(out, s, i);
		html_cell_number(out, f->pc.n);
		html_cell_number(out, f->executions);
		html_cell(out, residue_fate(fate, is_field));
		html_row_end(out);
	}
	if (n)
		html_table_end(out);
	html_more(out, n < r->top ? n : r->top, n);
}

/* Functions of the field of which nobody knows all that they did. */
static void put_unknown(const struct residue *r, FILE *out)
{
	static const struct html_column columns[] = {
	        {"function", NULL, false},
	        {"why", NULL, false},
	};
	uint64_t paths = residue_nunknown(r);
	size_t n = 0;

	if (!paths)
		return;
	fprintf(out, "<p>Paths nobody knows: %" PRIu64 ".</p>\n", paths);
	html_table(out, "Functions with paths that nobody knows", columns,
	           NCOLUMNS(columns));
	for (size_t i = 0; i < r->field.report.nrows; i++) {
		const struct report_row *row = &r->field.report.rows[i];

		if (!residue_is_unknown(row) || n++ >= r->top)
			continue;
		html_row(out);
		html_cell(out, row->name);
		html_cell(out, counts_reason(row->r->doubt));
		html_row_end(out);
	}
	html_table_end(out);
	html_more(out, n < r->top ? n : r->top, n);
}

static void put_summary(const struct residue *r, FILE *out)
{
	const struct residual_totals *t = &r->residual.totals;

	html_section(out, "summary", "summary");
	html_notes(out, &r->tested);
	html_notes(out, &r->field);
	fprintf(out,
	        "<p>Tests: %" PRIu64 " paths, runs: %" PRIu64
	        ". Field: %" PRIu64 " paths, runs: %" PRIu64
	        ", files: %zu. Functions compared: %" PRIu64,
	        r->tested.catalog.npaths, profile_nruns(r->tested.profile),
	        r->field.catalog.npaths, profile_nruns(r->field.profile),
	        r->nfiles, t->ncompared);
	if (t->nunmatched)
		fprintf(out,
		        "; that ran and could not be: %" PRIu64
		        ", with %" PRIu64 " paths and %" PRIu64 " executions",
		        t->nunmatched, t->unmatched_paths,
		        t->unmatched_executions);
	fputs(".</p>\n", out);
	put_unknown(r, out);
	put_totals(r, out);
	put_files(r, out);
	put_unmatched(r, out, true);
	put_unmatched(r, out, false);
	html_section_end(out);
}

static void put_tables(const struct html *h, FILE *out)
{
	const struct page *page = page_of(h);

	if (page->pick.n)
		put_list(page, out);
	put_summary(page->r, out);
}

void html_residue(const struct residue *r, FILE *out)
{
	const struct residual_totals *t = &r->residual.totals;
	char *headline = xasprintf(
	        "untested paths: %" PRIu64 ", executions of them: %" PRIu64
	        ", functions with them: %" PRIu64 " of %" PRIu64 ", files: %zu",
	        t->all.nuntested, t->all.untested_executions, t->nfunctions,
	        t->ncompared, r->nfiles);
	struct page page = {.r = r};
	struct html_lists lists = {
	        .kind = "residual",
	        .title = "untested paths",
	        .headline = headline,
	        .data = &page,
	        .put_tables = put_tables,
	        .put_function = put_function,
	};

	html_pick_init(&page.pick, &r->field);
	for (size_t i = 0; i < r->residual.n && i < r->top; i++) {
		struct hot_path path = residue_path(&r->residual.paths[i]);

		html_pick_add(&page.pick, &path);
	}
	html_pick_finish(&page.pick);
	html_page(&page.pick.report, &page.pick.hot, &lists, out);
	html_pick_release(&page.pick);
	free(headline);
}
