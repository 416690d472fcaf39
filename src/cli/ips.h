/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_IPS_H
#define CAIRN_CLI_IPS_H

/* Inter-procedural path segments, as cairn segments shows them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/key.h"
#include "analysis/segment_list.h"
#include "analysis/segments.h"

struct cairn_err;
struct cli_inputs;
struct ips_blocks;
struct profile;
struct segment_build;
struct trace_input;

struct ips_options {
	uint32_t depth;
	uint64_t top;     /* segments that are chosen; 0: no limit */
	uint32_t share;   /* millionths of all executions; 0: no limit */
	unsigned shown;   /* UINT_MAX: all */
	const char *like; /* count as this build or list does, or NULL */
	bool every;       /* show those without calls, too */
	bool no_demangle;
};

struct ips_row {
	uint32_t at; /* of segments_next */
	uint64_t count;
	uint32_t depth;
	bool is_chosen;
};

struct ips {
	struct ips_options options;
	struct segments s;
	struct segments_graph *graphs; /* of a trace */
	uint32_t nfunctions;
	struct key *keys; /* per function; strings are borrowed */
	char **names;     /* per function, as the user knows it */
	const char *program;
	struct ips_row *rows; /* the hottest first */
	size_t nrows, rows_cap;
	uint64_t executions; /* of all rows */
	/* of a profile: executions that no row has, since they are counted
	 * together (prefer=), or since nobody can name them */
	uint64_t nother, nlost;
	size_t nchosen;
	bool is_profile;
	struct segment_build *build; /* of a profile, or NULL */
	/* the lines of a step: exactly one of them is not NULL */
	struct trace_input *trace;
	struct ips_blocks *blocks;
};

/* From a trace: walks over all of it. */
int ips_from_trace(struct ips *x, struct trace_input *in,
                   const struct ips_options *o, struct cairn_err *err);
/* The same as a build counts it, for the copies of the rows that are chosen;
 * y is another view of the same trace. */
int ips_plan(struct ips *y, struct ips *x, struct cairn_err *err);
/* From a profile of a build with calls=. */
int ips_from_profile(struct ips *x, struct profile *p,
                     const struct ips_options *o, struct cairn_err *err);
/* Call sites that ran, in chains of up to `depth`, as copies. */
int ips_sites(struct profile *p, uint32_t depth, struct segment_list *l,
              struct cairn_err *err);
/* For ips_release. */
void ips_forget_build(struct ips *x);
void ips_release(struct ips *x);

/* The copies of another build, or of a list, in functions with these keys:
 * those that x has. */
int ips_add_copies(struct ips *x, struct cli_inputs *inputs, const char *path,
                   struct cairn_err *err);

/* Makes rows of what was counted, and chooses. */
void ips_sort(struct ips *x);
/* The segment of a row. */
void ips_read(struct ips *x, const struct ips_row *row,
              struct segments_one *one);
/* Blocks and calls: "1 2 (3 helper 1 4) 5"; the caller frees it. */
char *ips_path(const struct ips *x, const struct segments_one *one,
               bool says_tails);
/* Functions and lines that it runs through; the caller frees it. */
char *ips_lines(const struct ips *x, const struct segments_one *one);
uint32_t ips_root(const struct ips *x, const struct segments_one *one);
const char *ips_end_name(const struct ips *x, const struct segments_one *one);

/* The list for a compiler. */
void ips_list(struct ips *x, struct segment_list *l);
void ips_text(struct ips *x, FILE *out);
void ips_json(struct ips *x, FILE *out);

#endif /* CAIRN_CLI_IPS_H */
