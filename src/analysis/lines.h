/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_LINES_H
#define CAIRN_ANALYSIS_LINES_H

#include "format/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts;

struct line_count {
	uint32_t file; /* in files */
	uint32_t line;
	uint64_t count;
	bool known;    /* false: part of it is not known, count is the rest */
	bool doubtful; /* part of it comes from an inconsistent function */
	uint64_t instructions;      /* of the IR, executed; as far as known */
	size_t first_copy, ncopies; /* in copies */
};

/*
 * One copy of the code of a line: in a function, or in one that was inlined
 * into it.  Instances of templates are functions of their own.
 */
struct line_copy {
	uint32_t file, line;
	uint32_t module, function; /* of the map: where the code is */
	uint32_t instance;         /* 0: no inlined copy */
	uint64_t count, instructions;
	bool known, doubtful;
};

/* One direction of a branch that a source line contains. */
struct line_branch {
	uint32_t file, line;
	uint32_t block;  /* number of the branch on its line */
	uint32_t branch; /* number of the direction */
	uint64_t taken;
	uint64_t total; /* how often the branch itself was executed */
	bool reached;   /* it was, as far as known */
	uint32_t to_file, to_line; /* where it leads; line 0: copies differ, or
	                              nobody knows */
};

struct lines {
	struct strtab files;      /* in order of path */
	struct line_count *items; /* by file, line */
	size_t n;
	struct line_branch *branches; /* by file, line, block, branch */
	size_t nbranches;
	struct line_copy *copies; /* by file, line, count: the greatest first */
	size_t ncopies;
};

/*
 * Counts of all source lines and their branches.  How often a line ran: within
 * one function, or one inlined copy of one, as often as the piece of it that
 * ran most, all duplicates of that piece together (lines.c); then summed over
 * all copies, instances of templates, and modules.
 */
struct lines *lines_new(const struct counts *c);
void lines_free(struct lines *l);

/* How many lines ran, of how many: but for those of functions that count some
 * of their paths only. */
void lines_total(const struct lines *l, uint64_t *executed, uint64_t *known);
/* Is it one of them? */
bool line_is_known(const struct line_count *c);
/* How many directions of branches were taken, of how many. */
void lines_total_branches(const struct lines *l, uint64_t *taken,
                          uint64_t *known);
/* The branches of a line: the first of *n. */
const struct line_branch *lines_branches(const struct lines *l, uint32_t file,
                                         uint32_t line, size_t *n);
/* The same of all lines of a file. */
const struct line_branch *lines_branches_of_file(const struct lines *l,
                                                 uint32_t file, size_t *n);
/* The lines of a file: the first of *n. */
const struct line_count *lines_of_file(const struct lines *l, uint32_t file,
                                       size_t *n);
/* The count of a line, NULL if it has no code. */
const struct line_count *lines_find(const struct lines *l, const char *file,
                                    uint32_t line);

#endif /* CAIRN_ANALYSIS_LINES_H */
