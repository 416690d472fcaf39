/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_REPORT_H
#define CAIRN_CLI_REPORT_H

#include "analysis/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bodies;
struct counts;
struct counts_function;
struct counts_module;
struct callgraph;
struct map;
struct map_function;
struct map_instance;
struct profile;
struct source_file;
struct totals;

enum report_sort {
	REPORT_BY_EXECUTIONS,
	REPORT_BY_ENTRIES,
	REPORT_BY_INSTRUCTIONS,
	REPORT_BY_NAME,
	REPORT_BY_LINE,
};

struct report_options {
	const char *function; /* shell pattern, NULL: all */
	const char *file;     /* shell pattern, NULL: all */
	unsigned top;         /* rows of the table; UINT_MAX: all */
	enum report_sort sort;
	bool stable;      /* nothing that differs between two equal runs */
	bool all_lines;   /* whole files beside their counts */
	bool all_files;   /* ... system headers too */
	bool no_source;   /* table only */
	bool no_demangle; /* linkage names */
	bool files;       /* files in the table of directories */
	bool no_branches; /* no branches beside source lines */
	bool copies;      /* where the counts of source lines come from */
	bool colour;
	double threshold; /* least share of a function, in percent */
};

/* A function that the report shows. */
struct report_row {
	uint32_t module, index;
	const struct map *map;
	const struct map_function *f;
	const struct counts_module *cm;
	const struct counts_function *r;
	char *demangled;  /* owned; NULL if it is the same */
	const char *name; /* what to show */
};

struct report {
	const struct profile *profile;
	const struct counts *counts;
	const struct lines *lines;
	struct totals *totals;   /* owned; NULL without lines */
	struct callgraph *calls; /* the same */
	struct bodies *bodies;   /* the same */
	uint64_t instructions;   /* of the IR, executed in all functions */
	uint32_t nmodules;
	uint32_t **row_of; /* per module and function: its row */
	struct report_options options;
	struct report_row *rows; /* selected and sorted */
	size_t nrows, cap;
};

void report_init(struct report *r, const struct counts *c,
                 const struct lines *l, const struct report_options *o);
void report_release(struct report *r);

/* A path as the report shows it: with `stable`, relative to where the program
 * ran, or only its last part. */
const char *report_path(const struct report *r, const char *path);
/* True if the options select this source file. */
bool report_wants_file(const struct report *r, const char *path);
/* True if it came with the system or the compiler. */
bool report_is_system_file(const char *path);
/* Are its blocks counted?  Not if it counts some of its paths only. */
bool report_knows(const struct report_row *row);
/* The sentence that qualifies all counts, NULL if they are exact. */
const char *report_note(const struct report *r);
/* The same, and how many functions count only some of their paths; for the
 * caller to free. */
char *report_whole_note(const struct report *r);

/* Has it the share that --threshold asks for? */
bool report_is_above(const struct report *r, const struct report_row *row);
/* The row of a function; NULL if the options do not select it. */
const struct report_row *report_row_of(const struct report *r, uint32_t module,
                                       uint32_t function);
/* How the user knows the function of a copy of a line: for the caller to
 * free. */
char *report_name(const struct report *r, const char *linkage);

/* What the text of a source file is to the build of a module. */
enum report_age { REPORT_AGE_FINE, REPORT_AGE_NEWER, REPORT_AGE_CHANGED };
enum report_age report_age_of(const struct source_file *f);

void report_text(const struct report *r, FILE *out);
void report_json(const struct report *r, FILE *out);
void report_lcov(const struct report *r, FILE *out);
void report_cobertura(const struct report *r, FILE *out);
void report_gcovr(const struct report *r, FILE *out);

/* Copies of a line that a reader cannot tell apart: of one call in the source.
 */
struct report_spot {
	struct line_copy copy; /* the first; its count is the sum */
	size_t times;
};

/* The spots of copies, the hottest first; for the caller to free.  *n is the
 * number of copies, and then that of spots. */
struct report_spot *report_spots(const struct report *r,
                                 const struct line_copy *copies, size_t *n);
/* The instance of an inlined copy, else NULL. */
const struct map_instance *report_instance(const struct report *r,
                                           const struct line_copy *c);
/* The function that made the call of an inlined copy, if it was inlined too,
 * else "". */
const char *report_caller(const struct report *r, const struct line_copy *c);
/* The line of that call, 0 if there is none. */
uint32_t report_call_line(const struct report *r, const struct line_copy *c);

/* --- between the files that make the text --------------------------------- */

double report_percent(uint64_t part, uint64_t whole);
/* A count in a column: with its mark if it is in doubt. */
void report_count(FILE *out, int width, uint64_t n, bool known, bool doubtful);

/* Escape sequences; all empty without colours. */
struct report_colours {
	const char *head, *name, *dim, *zero, *hot, *off;
};
const struct report_colours *report_colours(const struct report *r);
/* A name in one of the colours. */
void report_paint(FILE *out, const char *colour, const char *name,
                  const struct report_colours *c);

/* Source with counts: of functions, or whole files. */
void report_source_functions(const struct report *r, FILE *out);
void report_source_files(const struct report *r, FILE *out);
/* Do the options select a function that was inlined everywhere? */
bool report_has_body(const struct report *r);

#endif /* CAIRN_CLI_REPORT_H */
