/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_SIDE_H
#define CAIRN_CLI_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/catalog.h"
#include "cli/hot.h"
#include "cli/report.h"

struct cli_inputs;
struct json;
struct option;

/* What the notes are about. */
enum {
	SIDE_INEXACT = 1,  /* all counts may be off: counts.doubt */
	SIDE_DOUBTFUL = 2, /* functions whose counts are wrong */
	SIDE_PARTIAL = 4,  /* functions that did not count all paths */
};

/*
 * One side of a comparison: a profile with all that it takes to talk about its
 * paths.  Function i of the view is function i of the catalog, whatever the
 * view's own lists say.
 */
struct side {
	const char *name; /* of the first file */
	char **files;     /* all of them */
	size_t nfiles;
	unsigned char *troubles; /* per file: SIDE_..., see side_add_file */
	struct profile *profile;
	struct counts *counts;
	struct report report;
	struct catalog catalog;
	struct hot view;
};

/*
 * Opens files of one build.  Returns an exit status, having said what is wrong;
 * it is an error if nothing in the files counts paths.
 *
 * Memory: until side_release; the struct must not be moved, and borrows paths.
 */
int side_open(struct side *s, struct cli_inputs *in, char **paths, int npaths,
              const struct report_options *o);
void side_release(struct side *s);
/* Finds out what in the notes comes from files[file], whose catalog this is.
 * Not needed if there is just one file. */
void side_add_file(struct side *s, size_t file, const struct catalog *c);

/* A path as hot.h talks about it; prefix is NULL for a finished one. */
struct hot_path side_path(uint32_t function, uint64_t number,
                          const struct path_prefix *prefix, uint64_t count);

/* How the user knows the function. */
const char *side_function(const struct side *s, uint32_t function);
/* Name and place of its definition. */
void side_text_function(const struct side *s, FILE *out, uint32_t function);
/* The same, as members of an object. */
void side_json_function(const struct side *s, struct json *j,
                        uint32_t function);
/* What qualifies all numbers of this side and which files that comes from, as
 * lines of text; nothing if they are exact. */
void side_text_notes(const struct side *s, FILE *out);
void side_json_notes(const struct side *s, struct json *j, const char *key);

/* One key and its value; numbers of 2^53 and more become strings. */
void side_json_u64(struct json *j, const char *key, uint64_t v);
void side_json_real(struct json *j, const char *key, double v);
void side_json_string(struct json *j, const char *key, const char *s);

/* A share in percent, 0 of nothing. */
double side_percent(uint64_t part, uint64_t whole);

#endif /* CAIRN_CLI_SIDE_H */
