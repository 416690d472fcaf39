/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test suite as a page: the tests in the order to run them, with what each
 * adds and which suffice; and, if some failed, lines and paths by how much they
 * go with failure, each to be seen in the source and on the graph of its
 * function, with the scores of all lines beside the source.
 *
 * A line of the list is shown with the path through it that goes most with
 * failure (suite_line.path): both are selected together.
 *
 * Cost: O(paths + lines of the suite) for the page, besides what it holds.
 */
#include "cli/html.h"

#include "base/alloc.h"
#include "base/json.h"
#include "cli/html_list.h"
#include "cli/trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NCOLUMNS(c) (sizeof(c) / sizeof(*(c)))

struct page {
	const struct trial *t;
	struct html_pick pick;
	size_t *pick_of;       /* per path of the suite; SIZE_MAX: not there */
	size_t npaths, nlines; /* listed */
	/* suspect lines by file: by_file[first[f]] .. first[f + 1] */
	size_t *by_file;
	size_t *first;
};

static const struct page *page_of(const struct html *h)
{
	return h->lists->data;
}

/* --- beside the source --------------------------------------------------- */

static void group_lines(struct page *page)
{
	const struct suite_lines *l = &page->t->lines;
	size_t n = trial_nlines(page->t), *next;

	page->first = xcalloc((size_t)l->files.n + 2, sizeof(*page->first));
	next = xcalloc((size_t)l->files.n + 1, sizeof(*next));
	page->by_file = xcalloc(n + 1, sizeof(*page->by_file));
	for (size_t i = 0; i < n; i++)
		page->first[l->items[i].file + 1]++;
	for (uint32_t f = 0; f < l->files.n; f++) {
		page->first[f + 1] += page->first[f];
		next[f] = page->first[f];
	}
	for (size_t i = 0; i < n; i++)
		page->by_file[next[l->items[i].file]++] = i;
	free(next);
}

/* The scores of a file: line, score, line, score, ... */
static void put_source(const struct html *h, struct json *j, uint32_t source)
{
	const struct page *page = page_of(h);
	const char *name = h->names.items[source];
	uint32_t file = strtab_find(&page->t->lines.files, name, strlen(name));

	json_key(j, "scores");
	json_begin(j, '[');
	for (size_t i = file == STRTAB_NONE ? 0 : page->first[file];
	     file != STRTAB_NONE && i < page->first[file + 1]; i++) {
		const struct suite_line *l =
		        &page->t->lines.items[page->by_file[i]];

		json_u64(j, l->line);
		json_real(j, l->score);
	}
	json_end(j, ']');
}

/* --- tables -------------------------------------------------------------- */

static void put_score(FILE *out, const struct suite_score *s)
{
	html_cell_score(out, s->ochiai);
	html_cell_score(out, s->tarantula);
	html_cell_number(out, s->nfailed);
	html_cell_number(out, s->npassed);
}

static void put_line(const struct html *h, FILE *out, size_t i)
{
	const struct page *page = page_of(h);
	const struct suite_line *l = &page->t->lines.items[i];
	const char *name = page->t->lines.files.items[l->file];
	const char *slash = strrchr(name, '/');
	char *place =
	        xasprintf("%s:%" PRIu32, slash ? slash + 1 : name, l->line);

	html_row_of(out, &page->pick.places[page->pick_of[l->path]],
	            strtab_find(&h->names, name, strlen(name)), l->line);
	html_cell_number(out, i + 1);
	html_cell_score(out, l->score);
	put_score(out, &l->own);
	html_cell_score(out, l->best.ochiai);
	html_cell_score(out, l->best.tarantula);
	html_cell(out, place);
	html_cell_function(out, &page->t->all,
	                   page->t->suite.paths[l->path].function);
	html_row_end(out);
	free(place);
}

static void put_lines(const struct html *h, FILE *out)
{
	static const struct html_column columns[] = {
	        {"#", NULL, true},
	        {"score", "the higher one of both Ochiai scores", true},
	        {"line", "Ochiai score of running the line at all", true},
	        {"tarantula", "of running the line at all", true},
	        {"failed", "failed tests that ran the line", true},
	        {"passed", "passed tests that ran the line", true},
	        {"path", "Ochiai score of the worst path through it", true},
	        {"tarantula", "of that path", true},
	        {"place", NULL, false},
	        {"function", "of that path", false},
	};
	const struct page *page = page_of(h);

	html_section(out, "lines", "lines that go with failure");
	fputs("<p>By themselves, or by the path through them that does most. "
	      "The page has the functions of these, and of the paths that go "
	      "with failure.</p>\n",
	      out);
	html_table(out, NULL, columns, NCOLUMNS(columns));
	for (size_t i = 0; i < page->nlines; i++)
		put_line(h, out, i);
	html_table_end(out);
	html_more(out, page->nlines, trial_nlines(page->t));
	if (page->t->nsystem)
		fprintf(out, "<p>Lines of system headers left out: %zu.</p>\n",
		        page->t->nsystem);
	html_section_end(out);
}

static void put_path(const struct page *page, FILE *out, size_t i)
{
	const struct trial *t = page->t;
	size_t path = t->suspects[i];
	const struct suite_path *p = &t->suite.paths[path];
	struct hot_path h = trial_path(t, path);

	html_row_of(out, &page->pick.places[page->pick_of[path]], UINT32_MAX,
	            0);
	html_cell_number(out, i + 1);
	put_score(out, &t->scores[path]);
	html_cell_function(out, &t->all, p->function);
	if (p->is_prefix)
		html_cell(out, "unfinished");
	else
		html_cell_number(out, p->number);
	html_cell_lines(out, &t->all.view, &h);
	html_row_end(out);
}

static void put_paths(const struct page *page, FILE *out)
{
	static const struct html_column columns[] = {
	        {"#", NULL, true},
	        {"ochiai",
	         "f / sqrt(F (f + p)), of f failed and p passed "
	         "tests that took it and F failed ones in all",
	         true},
	        {"tarantula", "(f/F) / (f/F + p/P)", true},
	        {"failed", "failed tests that took it", true},
	        {"passed", "passed tests that took it", true},
	        {"function", NULL, false},
	        {"number", NULL, true},
	        {"lines", NULL, false},
	};

	html_section(out, "suspects", "paths that go with failure");
	html_table(out, NULL, columns, NCOLUMNS(columns));
	for (size_t i = 0; i < page->npaths; i++)
		put_path(page, out, i);
	html_table_end(out);
	html_more(out, page->npaths, page->t->nsuspects);
	html_section_end(out);
}

static void put_test(const struct trial *t, FILE *out, size_t i, bool suffices)
{
	const struct suite_step *s = &t->order[i];

	html_row(out);
	html_cell_number(out, i + 1);
	html_cell(out, t->files[s->test]);
	if (t->nfailed)
		html_cell(out, t->failed[s->test] ? "failed" : "passed");
	html_cell_number(out, t->suite.npaths_of[s->test]);
	html_cell_number(out, t->suite.nalone_of[s->test]);
	html_cell_number(out, s->nadded);
	if (t->diff) {
		html_cell_number(out, s->nchanged);
		html_cell_number(out, s->nadded_changed);
	}
	html_cell(out, suffices ? "yes" : "");
	html_cell(out, t->suite.nalone_of[s->test] ? "" : "adds no path");
	html_row_end(out);
}

static void put_test_columns(const struct trial *t, FILE *out)
{
	struct html_column columns[10];
	size_t n = 0;

	columns[n++] = (struct html_column){"#", "the order to run them", true};
	columns[n++] = (struct html_column){"test", NULL, false};
	if (t->nfailed)
		columns[n++] = (struct html_column){"result", NULL, false};
	columns[n++] = (struct html_column){"paths", "that it takes", true};
	columns[n++] = (struct html_column){
	        "alone", "paths that no other test takes", true};
	columns[n++] = (struct html_column){
	        "+paths", "paths that no test before it takes", true};
	if (t->diff) {
		columns[n++] = (struct html_column){
		        "changed", "paths through changed lines", true};
		columns[n++] = (struct html_column){
		        "+changed",
		        "of these, ones that no test before it takes", true};
	}
	columns[n++] = (struct html_column){
	        "smallest set", "one of the tests that suffice", false};
	columns[n++] = (struct html_column){"mark", NULL, false};
	html_table(out, NULL, columns, n);
}

/* What is true of all tests. */
static void put_facts(const struct trial *t, FILE *out)
{
	const struct cover *c = &t->cover;
	size_t needless = 0;

	for (size_t i = 0; i < t->suite.ntests; i++)
		needless += !t->suite.nalone_of[i];
	html_notes(out, &t->all);
	fprintf(out,
	        "<p>Tests: %zu, failed: %zu, paths: %zu. Tests that add no "
	        "path, since others take all of theirs: %zu, each by itself."
	        "</p>\n<p>%zu of %zu tests take the same paths: ",
	        t->suite.ntests, t->nfailed, t->suite.npaths, needless, c->n,
	        t->suite.ntests);
	if (c->at_least == c->n)
		fputs("no fewer do.</p>\n", out);
	else
		fprintf(out, "found greedily; it takes %zu at least.</p>\n",
		        c->at_least);
	if (!t->diff)
		return;
	fputs("<p>In the order for ", out);
	html_text(out, t->diff);
	fprintf(out,
	        ": changed lines: %zu, paths through them: %" PRIu64 ".</p>\n",
	        t->patch.n, trial_nchanged(t));
	for (uint32_t i = 0; i < t->patch.files.n; i++) {
		if (t->used[i])
			continue;
		fputs("<p class=\"note\">note: ", out);
		html_text(out, t->patch.files.items[i]);
		fputs(": no code of it in the profiles</p>\n", out);
	}
}

static void put_tests(const struct trial *t, FILE *out)
{
	bool *suffices = xcalloc(t->suite.ntests + 1, sizeof(*suffices));

	for (size_t i = 0; i < t->cover.n; i++)
		suffices[t->cover.sets[i]] = true;
	html_section(out, "tests", "tests");
	put_facts(t, out);
	put_test_columns(t, out);
	for (size_t i = 0; i < t->suite.ntests; i++)
		put_test(t, out, i, suffices[t->order[i].test]);
	free(suffices);
	html_table_end(out);
	html_section_end(out);
}

static void put_tables(const struct html *h, FILE *out)
{
	const struct page *page = page_of(h);

	if (page->nlines)
		put_lines(h, out);
	if (page->npaths)
		put_paths(page, out);
	put_tests(page->t, out);
}

/* --- the page ------------------------------------------------------------ */

static void pick(struct page *page, size_t path)
{
	struct hot_path h = trial_path(page->t, path);

	if (page->pick_of[path] == SIZE_MAX)
		page->pick_of[path] = html_pick_add(&page->pick, &h);
}

/* Listed paths, and those that listed lines are shown with. */
static void pick_paths(struct page *page)
{
	const struct trial *t = page->t;
	size_t nlines = trial_nlines(t);

	page->nlines = nlines < t->top ? nlines : t->top;
	page->npaths = t->nsuspects < t->top ? t->nsuspects : t->top;
	page->pick_of = xmalloc((t->suite.npaths + 1) * sizeof(size_t));
	for (size_t i = 0; i < t->suite.npaths; i++)
		page->pick_of[i] = SIZE_MAX;
	for (size_t i = 0; i < page->npaths; i++)
		pick(page, t->suspects[i]);
	for (size_t i = 0; i < page->nlines; i++)
		pick(page, t->lines.items[i].path);
}

void html_trial(const struct trial *t, FILE *out)
{
	char *headline = xasprintf("tests: %zu, failed: %zu, paths: %zu, tests "
	                           "that take all of these: %zu",
	                           t->suite.ntests, t->nfailed, t->suite.npaths,
	                           t->cover.n);
	struct page page = {.t = t};
	struct html_lists lists = {
	        .kind = "tests",
	        .title = "tests",
	        .headline = headline,
	        .data = &page,
	        .put_tables = put_tables,
	        .put_source = put_source,
	};

	html_pick_init(&page.pick, &t->all);
	pick_paths(&page);
	html_pick_finish(&page.pick);
	group_lines(&page);
	html_page(&page.pick.report, &page.pick.hot, &lists, out);
	html_pick_release(&page.pick);
	free(page.pick_of);
	free(page.by_file);
	free(page.first);
	free(headline);
}
