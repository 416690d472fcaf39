/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_CATALOG_H
#define CAIRN_ANALYSIS_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/path_counts.h"

struct map;
struct map_function;
struct map_line;
struct profile;

/* A function that counts paths. */
struct catalog_function {
	const char *name; /* linkage name */
	const char *file; /* of its definition, "" if unknown */
	bool is_local;
	uint32_t module, index; /* of its first copy */
	const struct map *map;
	const struct map_function *f;
	struct path_counts pc; /* of all copies */
	uint64_t executions;   /* of its paths, modulo 2^64 */
	/* paths ran that it did not count one by one: those that are not
	 * preferred, or that the tests of a residual build had */
	bool is_partial;
};

/* The paths of a profile under names that outlive a rebuild. */
struct catalog {
	const struct profile *profile;
	struct catalog_function *functions; /* by name, local file, shape */
	size_t n, cap;
	uint64_t executions; /* of all paths */
	uint64_t npaths;     /* different ones that ran */
	size_t npartial;     /* functions that did not count all of theirs */
	size_t nwrong;       /* functions left out: COUNTS_PATH_MAP */
};

/* Requires: the profile outlives the catalog. */
void catalog_init(struct catalog *c, const struct profile *p);
void catalog_release(struct catalog *c);

/* How often the path ran. */
uint64_t catalog_count(const struct catalog_function *f, uint64_t number);
/* Frames that died on a prefix, less those that began there; 0: none. */
int64_t catalog_died(const struct catalog_function *f,
                     const struct path_prefix *prefix);

/* What became of a function in another profile. */
enum catalog_fate {
	CATALOG_SAME,       /* its paths have the same numbers */
	CATALOG_CHANGED,    /* one of this name has another CFG */
	CATALOG_RENUMBERED, /* the same CFG, but cut elsewhere */
	CATALOG_ABSENT,     /* there is none of this name */
};

struct catalog_match {
	enum catalog_fate fate;
	uint32_t other; /* its index there; UINT32_MAX: ABSENT */
};

/* Fills in one entry per function of a and of b. */
void catalog_match(const struct catalog *a, const struct catalog *b,
                   struct catalog_match *of_a, struct catalog_match *of_b);

/*
 * Blocks that a path executes: path_block(i) for first <= i < end.  The block
 * behind an ended edge belongs to the next path.
 */
struct catalog_range {
	uint32_t first, end;
};
struct catalog_range catalog_blocks(const struct path *path);

/*
 * Calls visit for each line that a path runs through, in order, lines that the
 * compiler made (0) left out.  Of the last block of an unfinished path only
 * `nsegments` segments ran.
 */
void catalog_lines(const struct catalog_function *f, const struct path *path,
                   uint32_t nsegments,
                   void (*visit)(void *context, const struct map_line *line),
                   void *context);

/* The path is `whole` up to where it ends: all its edges, in order. */
bool catalog_is_prefix(const struct path *path, const struct path *whole);

#endif /* CAIRN_ANALYSIS_CATALOG_H */
