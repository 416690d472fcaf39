/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_TWPP_H
#define CAIRN_CLI_TWPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/twpp_file.h"
#include "analysis/twpp_find.h"
#include "analysis/twpp_series.h"

struct bytes;
struct cairn_err;
struct cli_inputs;

/* How long it takes to read the traces of one function, in ms: to have them, as
 * the file has them, and to decode all their series as well. */
struct twpp_access {
	uint64_t nfunctions;
	double load_mean, load_worst;
	double mean, worst;
};

/* An occurrence of a path; sites[] has one per part. */
struct twpp_hit {
	uint64_t thread, when;
	struct twpp_site *sites;
};

/* A timestamped whole program path, and what is to be shown of it. */
struct twpp_view {
	struct twpp *file;
	bool no_demangle;
	unsigned top;                     /* rows of a table */
	const struct twpp_access *access; /* NULL: not asked for */
};

/* What --find found: all are counted, the first ones are listed. */
struct twpp_hits {
	const char *text; /* the path, as the user wrote it */
	const struct twpp_path *path;
	uint64_t n;
	struct twpp_hit *items;
	size_t nitems, items_cap;
	size_t most; /* to be listed */
};

/* The function as the user knows it; the caller frees it. */
char *twpp_name(const struct twpp_view *v, const struct twpp_entry *e);
/* Functions may then be asked for by their C++ names, too. */
void twpp_name_readably(struct twpp *t);
/* Series as "1,4:28:8"; the caller frees it. */
char *twpp_series_text(const struct twpp_vector *times);
/* Blocks as "b2.b3.b4"; the caller frees it. */
char *twpp_blocks_text(const uint32_t *blocks, size_t n);

/* The rows of figure 8: up to so many unique traces; the last is of all. */
#define TWPP_NSHARES 10
extern const uint64_t twpp_shares[TWPP_NSHARES];

/* The whole; one function's traces; occurrences. */
void twpp_text(const struct twpp_view *v, FILE *out);
int twpp_text_function(const struct twpp_view *v, struct twpp_function *f,
                       FILE *out, struct cairn_err *err);
void twpp_text_hits(const struct twpp_view *v, const struct twpp_hits *h,
                    FILE *out);
void twpp_json(const struct twpp_view *v, FILE *out);
int twpp_json_function(const struct twpp_view *v, struct twpp_function *f,
                       FILE *out, struct cairn_err *err);
void twpp_json_hits(const struct twpp_view *v, const struct twpp_hits *h,
                    FILE *out);
/* What all threads did, one after the other: calls, blocks, ends. */
int twpp_text_events(const struct twpp_view *v, FILE *out,
                     struct cairn_err *err);

/* Traces of f, those of most calls first; the caller frees them. */
uint32_t *twpp_sort_traces(const struct twpp_function *f);

/*
 * Makes the form of a trace.  This is where a walk feeds a builder.  With the
 * name of a function, or the number of one behind a "#", only its traces are in
 * it (twpp_only); returns 1, and err says so, if there is no such function.
 * Functions that share a name are FILE:NAME.
 *
 * Fails: as the walk and twpp_finish do.
 */
int twpp_from_trace(struct cli_inputs *in, char *path, const char *function,
                    struct bytes *out, struct cairn_err *err);

#endif /* CAIRN_CLI_TWPP_H */
