/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_HTML_H
#define CAIRN_CLI_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/strtab.h"

struct hot;
struct hot_path;
struct json;
struct report;

/*
 * Writes the report as one page that needs nothing else: functions, source
 * with counts, control-flow graphs and, if `h` is not NULL, executed paths.
 *
 * Requires: the report has lines; h, if given, is of the same report.
 */
void html_report(const struct report *r, const struct hot *h, FILE *out);

/* --- between the files that make the page --------------------------------- */

/* Paths of one function that the page has, at most, and the steps of these
 * that it has in all: the hottest ones. */
#define HTML_PATHS 200
#define HTML_STEPS 100000

/* A source file that some function on the page mentions. */
struct html_source {
	uint32_t module; /* that of the first such function */
};

/* Paths by function: those of function f are items[at[f]] .. at[f + 1]. */
struct html_paths {
	const struct hot_path **items;
	size_t *at;
};

struct html {
	const struct report *report;
	const struct hot *hot; /* NULL: without paths */
	struct html_paths paths, prefixes;
	uint32_t *hot_of;    /* per row: its function there, or UINT32_MAX */
	struct strtab names; /* of source files, as the map has them */
	struct html_source *sources;
	size_t sources_cap;
	size_t source_bytes; /* embedded so far */
};

/* The number of a source file on the page. */
uint32_t html_source_of(struct html *h, const char *path, uint32_t module);

/* A number that a page may hold exactly, else a string; null if not known. */
void html_number(struct json *j, uint64_t v, bool known);

/* Groups the paths of `hot`; the other one ends that. */
void html_paths_begin(struct html *h);
void html_paths_end(struct html *h);
/* The paths of a row, as keys of its object. */
void html_put_paths(const struct html *h, struct json *j, size_t row);
/* Executed paths of a row; false if it counts none. */
bool html_count_paths(const struct html *h, size_t row, uint64_t *n);

/* Elements of the page. */
void html_put_function(struct html *h, struct json *j, size_t row);
void html_put_source(struct html *h, struct json *j, uint32_t source);
void html_put_index(const struct html *h, struct json *j);

/* The parts of the page that are always the same. */
extern const unsigned char html_css[], html_body[], html_layout_js[],
        html_page_js[];

#endif /* CAIRN_CLI_HTML_H */
