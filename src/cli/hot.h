/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_HOT_H
#define CAIRN_CLI_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/path_counts.h"
#include "cli/report.h"

/* What cairn paths is to show. */
struct hot_options {
	const char *file; /* --line; NULL: all paths */
	uint32_t line;
	unsigned top;     /* UINT_MAX: all */
	bool by_blocks;   /* sort by executed blocks, not by count */
	bool all_details; /* of every row, not just of the first few */
	bool unfinished;
	bool model;
};

/* A function that counts paths. */
struct hot_function {
	const struct report_row *row;
	struct path_counts pc; /* empty if pc.doubt is COUNTS_PATH_MAP */
	bool has_paths;
};

/* A path, or an unfinished one, that the options select. */
struct hot_path {
	uint32_t function; /* in functions */
	bool is_prefix;
	uint64_t number;         /* or the sum of a prefix */
	uint32_t block, segment; /* of a prefix: where the frame died */
	uint64_t count; /* of a prefix: frames that died less those begun */
	uint64_t begun; /* of a prefix: frames that began on it */
	uint64_t nblocks;
};

struct hot {
	const struct report *report;
	struct hot_options options;
	struct hot_function *functions; /* in the order of the report */
	size_t nfunctions, functions_cap;
	struct hot_path *paths; /* finished, selected, in the wanted order */
	size_t npaths, paths_cap;
	struct hot_path *prefixes; /* unfinished, selected, known */
	size_t nprefixes, prefixes_cap;
	/* of all functions of the profile, whatever is selected */
	uint64_t executions; /* of paths, those counted as other, too */
	uint64_t others;     /* of these, the ones counted as other */
	uint64_t blocks;     /* executed by the rest and by unfinished ones */
	bool is_residual;    /* some functions count untested paths only: nobody
	                        knows how many there were */
};

/* Are the totals those of all that ran, so that shares of them make sense? */
static inline bool hot_knows_executions(const struct hot *h)
{
	return !h->is_residual;
}

static inline bool hot_knows_blocks(const struct hot *h)
{
	return !h->is_residual && !h->others;
}

/* Which paths of the function are counted one by one, if that are not all that
 * ran: "preferred", "untested"; else NULL. */
const char *hot_only(const struct hot_function *f);
/* Compactness: counters per preferred path, delta of section 3.2 of the thesis;
 * 0 if it has no preferred path. */
double hot_delta(const struct hot_function *f);

/*
 * Collects the paths of the functions that the report has selected.
 *
 * Requires: the report outlives the result.
 */
void hot_init(struct hot *h, const struct report *r,
              const struct hot_options *o);
void hot_release(struct hot *h);

/* Does any function of the profile count paths? */
bool hot_has_paths(const struct profile *p);

/* Decodes a path; *path as for paths_decode. */
void hot_decode(const struct hot *h, const struct hot_path *p,
                struct path *path);

/* The blocks that a path executes are path_block(i) for first <= i < end. */
struct hot_range {
	uint32_t first, end;
};
struct hot_range hot_blocks(const struct path *path);

/* Lines of the source that a path runs through, in order, made ranges. */
struct hot_lines {
	uint32_t file; /* in the map's strings */
	uint32_t first, last;
};
size_t hot_list_lines(const struct hot *h, const struct hot_path *p,
                      const struct path *path, struct hot_lines **out);

/* The first and the last line of a block, 0 if it has none; *file is in the
 * map's strings.  Of segments from nsegments on nothing is looked at. */
uint32_t hot_first_line(const struct report_row *row, block_id b,
                        uint32_t *file);
uint32_t hot_last_line(const struct report_row *row, block_id b,
                       uint32_t nsegments, uint32_t *file);

enum hot_begin {
	HOT_FROM_ENTRY,
	HOT_FROM_LOOP, /* a back edge led there */
	HOT_FROM_CALL, /* with a call that ended the path before */
	HOT_FROM_GOTO, /* a computed goto led there */
	HOT_FROM_CUT,
};

enum hot_end {
	HOT_RETURN,
	HOT_TAIL,     /* a tail call */
	HOT_NORETURN, /* a call that never returns */
	HOT_RESUME,   /* an exception is passed on */
	HOT_BACK,     /* a back edge */
	HOT_CALL,     /* comes to a call that ends paths */
	HOT_GOTO,     /* a computed goto */
	HOT_CUT,
	HOT_UNFINISHED,
};

enum hot_begin hot_begin_of(const struct hot_function *f,
                            const struct path *path);
enum hot_end hot_end_of(const struct hot_function *f, const struct path *path);
const char *hot_begin_name(enum hot_begin b);
const char *hot_end_name(enum hot_end e);

/* True if the edge is one of several ways out of its block. */
bool hot_is_choice(const struct hot_function *f, edge_id e);
/* "true", "false", ...: as the IR has it.  The optimizer turns conditions
 * around as it likes, so "true" need not be what the source calls true. */
const char *hot_edge_name(uint32_t kind);
/* The line that says where a choice goes: the first one of the target, if that
 * is not the line of the branch and no other way out of it has the same; else
 * 0. */
uint32_t hot_way_line(const struct hot_function *f, edge_id e, uint32_t *file);

struct json;
/* The view of analysis/model.h: of all functions, or of one, as a key. */
void hot_model_text(const struct hot *h, FILE *out);
void hot_model_json(const struct hot_function *f, struct json *j);

/* The parts of these that other lists of paths need.  One path in terms of the
 * source: where it begins, how its branches went, where it ends, its lines;
 * four indented rows. */
void hot_text_path(const struct hot *h, FILE *out, const struct hot_path *p);
/* Where a choice goes: "to 5", "case to file.h:7", "to block 3". */
void hot_text_way(const struct hot_function *f, FILE *out, edge_id e);
/* Its lines, as ranges. */
void hot_text_lines(const struct hot *h, FILE *out, const struct hot_path *p);
/* Its lines as one range. */
void hot_text_summary(const struct hot *h, FILE *out, const struct hot_path *p);
/* An object with all that there is to say about a path, closed by the caller.
 */
void hot_json_begin(const struct hot *h, struct json *j,
                    const struct hot_path *p);

void hot_text(const struct hot *h, FILE *out);
void hot_json(const struct hot *h, FILE *out);

#endif /* CAIRN_CLI_HOT_H */
