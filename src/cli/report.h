/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_REPORT_H
#define CAIRN_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct counts;
struct counts_function;
struct counts_module;
struct lines;
struct map;
struct map_function;
struct profile;

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

void report_text(const struct report *r, FILE *out);
void report_json(const struct report *r, FILE *out);
void report_lcov(const struct report *r, FILE *out);

#endif /* CAIRN_CLI_REPORT_H */
