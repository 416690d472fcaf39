/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_SUITE_H
#define CAIRN_ANALYSIS_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/catalog.h"
#include "format/strtab.h"

struct cover;
struct patch;

/* A path that some test took, finished or not. */
struct suite_path {
	uint32_t function; /* in the catalog of all tests */
	bool is_prefix;
	uint64_t number; /* of a finished path */
	struct path_prefix prefix;
};

/* How strongly something goes with failure. */
struct suite_score {
	uint32_t nfailed, npassed; /* tests that ran it */
	double ochiai, tarantula;
};

/* Which tests took which paths. */
struct suite {
	const struct catalog *all;
	size_t ntests, words;     /* words of a set of tests */
	struct suite_path *paths; /* by function, finished first */
	uint64_t *takers;         /* per path: the set of its tests */
	size_t npaths, paths_cap;
	size_t *first;       /* per function: its first path */
	uint64_t *npaths_of; /* per test */
	uint64_t *nalone_of; /* per test: paths that no other test takes */
};

/* `all` is the sum of all tests and outlives the result. */
void suite_init(struct suite *s, const struct catalog *all, size_t ntests);
/* Adds test number `test`; all have to be there before what follows. */
void suite_add(struct suite *s, size_t test, const struct catalog *c);
/* Drops what no test took, and counts. */
void suite_finish(struct suite *s);
void suite_release(struct suite *s);

static inline const uint64_t *suite_takers(const struct suite *s, size_t path)
{
	return s->takers + path * s->words;
}

/* Decodes a path of the suite; *path as for paths_decode. */
void suite_decode(const struct suite *s, size_t path, struct path *out);

/* The fewest tests that take every path, if `limit` steps suffice. */
void suite_cover(const struct suite *s, uint64_t limit, struct cover *out);

/*
 * Marks the paths that run through a line of the patch.  used[], one per file
 * of the patch, says whether any code of it is in the profile.
 */
void suite_mark(const struct suite *s, const struct patch *p, bool *is_changed,
                bool *used);

struct suite_step {
	uint32_t test;
	uint64_t nchanged, nadded_changed; /* of the marked paths */
	uint64_t nadded;                   /* paths that no test before took */
};

/*
 * In which order to run the tests: as long as some test takes a marked path
 * that none before it took, the one that takes most of those; then those that
 * take marked paths at all, then the others, both by paths that none before
 * took.  is_changed[] may be NULL.
 */
void suite_order(const struct suite *s, const bool *is_changed,
                 struct suite_step *out);

/* The scores of all paths. */
void suite_score(const struct suite *s, const bool *failed,
                 struct suite_score *out);

/* A line that a test ran. */
struct suite_line {
	uint32_t file, line;     /* file: in files */
	struct suite_score own;  /* of running the line at all */
	struct suite_score best; /* the highest of the paths through it */
	size_t path;             /* the first that has it */
	double score;            /* the higher one of the two, Ochiai */
};

struct suite_lines {
	struct strtab files;
	struct suite_line *items; /* most suspicious first */
	size_t n;
};

/* `scores` are those of suite_score with the same failed[]. */
void suite_rank_lines(const struct suite *s, const bool *failed,
                      const struct suite_score *scores,
                      struct suite_lines *out);
void suite_lines_release(struct suite_lines *l);

#endif /* CAIRN_ANALYSIS_SUITE_H */
