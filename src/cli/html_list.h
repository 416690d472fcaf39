/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_HTML_LIST_H
#define CAIRN_CLI_HTML_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/hot.h"
#include "cli/report.h"

struct lines;
struct side;

/* Where a path is on the page: its function, and its rank among the function's
 * paths there, finished ones first. */
struct html_place {
	uint32_t row;
	size_t path;
};

/*
 * The part of a side that a page about lists has: paths that are listed, and
 * their functions.
 */
struct html_pick {
	const struct side *side;
	struct hot_path *paths; /* as they were added */
	size_t n, paths_cap;
	struct html_place *places; /* per path */
	uint32_t *functions;       /* per row: the side's function */
	/* what html_page needs; rows are in the order of their first path */
	struct report report;
	struct hot hot;
	struct lines *lines;
};

/* `s` outlives the result. */
void html_pick_init(struct html_pick *p, const struct side *s);
/* Adds a path that is not there yet; its number in `places`. */
size_t html_pick_add(struct html_pick *p, const struct hot_path *path);
/* Makes report and hot of what was added.  *p must not be moved after it. */
void html_pick_finish(struct html_pick *p);
void html_pick_release(struct html_pick *p);

/* --- tables -------------------------------------------------------------- */

struct html_column {
	const char *name;
	const char *meaning; /* shown when asked for; NULL: the name says it */
	bool is_number;
};

/* A part of the page with a heading, which becomes the name of its tab. */
void html_section(FILE *out, const char *id, const char *heading);
void html_section_end(FILE *out);

void html_table(FILE *out, const char *caption, const struct html_column *c,
                size_t n);
void html_table_end(FILE *out);
/* "(N more; ...)" if not all are shown. */
void html_more(FILE *out, size_t shown, size_t n);

/* A row that selects something: a path, and a line of source `source` if that
 * is not UINT32_MAX. */
void html_row_of(FILE *out, const struct html_place *place, uint32_t source,
                 uint32_t line);
/* A row; both end with html_row_end. */
void html_row(FILE *out);
void html_row_end(FILE *out);

void html_cell(FILE *out, const char *text);
void html_cell_number(FILE *out, uint64_t v);
/* Four decimals, as scores have. */
void html_cell_score(FILE *out, double v);
/* A share in percent, "-" if it is not known. */
void html_cell_share(FILE *out, uint64_t part, uint64_t whole, bool is_known);
/* How the user knows a function. */
void html_cell_function(FILE *out, const struct side *s, uint32_t function);
/* The lines of a path as one range. */
void html_cell_lines(FILE *out, const struct hot *view,
                     const struct hot_path *p);

/* What qualifies all numbers of a side, as paragraphs. */
void html_notes(FILE *out, const struct side *s);

#endif /* CAIRN_CLI_HTML_LIST_H */
