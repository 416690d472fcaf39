/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_HTML_H
#define CAIRN_CLI_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "format/strtab.h"

struct hot;
struct hot_path;
struct html;
struct report;
struct residue;
struct trial;

/*
 * Writes the report as one page that needs nothing else: functions, source
 * with counts, control-flow graphs and, if `h` is not NULL, executed paths.
 *
 * Requires: the report has lines; h, if given, is of the same report.
 */
void html_report(const struct report *r, const struct hot *h, FILE *out);

/*
 * Pages about lists, as many rows of them as --top says: the functions of what
 * is listed, and the lists as tables.
 */
void html_residue(const struct residue *r, FILE *out);
void html_trial(const struct trial *t, FILE *out);

/* Rows of a list on a page unless --top says otherwise. */
#define HTML_TOP 200

/* --- between the files that make the page --------------------------------- */

/* Paths of one function that the page has, at most, and the steps of these
 * that it has in all: the hottest ones. */
#define HTML_PATHS 200
#define HTML_STEPS 100000

/* What makes a page one about lists. */
struct html_lists {
	const char *kind, *title; /* for the page's code, for people */
	const char *headline;     /* the most important numbers */
	const void *data;
	void (*put_tables)(const struct html *h, FILE *out);
	/* more keys of a function, and of a source file; may be NULL */
	void (*put_function)(const struct html *h, struct json *j, size_t row);
	void (*put_source)(const struct html *h, struct json *j,
	                   uint32_t source);
};

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
	const struct hot *hot;          /* NULL: without paths */
	const struct html_lists *lists; /* NULL: the report */
	struct html_paths paths, prefixes;
	uint32_t *hot_of;    /* per row: its function there, or UINT32_MAX */
	struct strtab names; /* of source files, as the map has them */
	struct html_source *sources;
	size_t sources_cap;
	size_t source_bytes; /* embedded so far */
};

/* Writes a page; `lists` may be NULL. */
void html_page(const struct report *r, const struct hot *h,
               const struct html_lists *lists, FILE *out);

/* Text of an element or of an attribute. */
void html_text(FILE *out, const char *s);

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

/* Callers, callees and what was inlined, as keys of a function's object. */
void html_put_calls(struct html *h, struct json *j, size_t row);

/* Elements of the page. */
void html_put_function(struct html *h, struct json *j, size_t row);
void html_put_source(struct html *h, struct json *j, uint32_t source);
void html_put_index(const struct html *h, struct json *j);

/*
 * One element of data, "<kind><number>", filled by json_begin ... json_end in
 * between.
 */
struct html_element {
	struct json json;
	char *data;
	size_t size;
};

struct json *html_element_begin(struct html_element *e);
void html_element_end(struct html_element *e, FILE *out, char kind,
                      size_t number);

/* A page begins with these two, with its title in between, as text; `more` is a
 * style sheet behind the common one, or NULL. */
void html_head_begin(FILE *out);
void html_head_end(FILE *out, const unsigned char *more,
                   const unsigned char *body);
/* And ends with its scripts. */
void html_end(FILE *out, const unsigned char *const *scripts);

/* The parts of the page that are always the same. */
extern const unsigned char html_diff_css[], html_diff_body[];
extern const unsigned char *const html_diff_scripts[];
extern const unsigned char html_css[], html_body[];
/* Scripts, in the order they have on the page; ends with NULL. */
extern const unsigned char *const html_scripts[];

#endif /* CAIRN_CLI_HTML_H */
