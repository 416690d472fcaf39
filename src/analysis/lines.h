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
};

/* One direction of a branch that a source line contains. */
struct line_branch {
	uint32_t file, line;
	uint32_t block;  /* number of the branch on its line */
	uint32_t branch; /* number of the direction */
	uint64_t taken;
	bool reached; /* the branch itself was executed */
};

struct lines {
	struct strtab files;      /* in order of path */
	struct line_count *items; /* by file, line */
	size_t n;
	struct line_branch *branches; /* by file, line, block, branch */
	size_t nbranches;
};

/*
 * Counts of all source lines and their branches.  How often a line ran: within
 * one function, or one inlined copy of one, as often as the segment of it that
 * ran most; then summed over all copies, instances of templates, and modules.
 */
struct lines *lines_new(const struct counts *c);
void lines_free(struct lines *l);

/* How many lines ran, of how many: but for those of functions that count some
 * of their paths only. */
void lines_total(const struct lines *l, uint64_t *executed, uint64_t *known);
/* The count of a line, NULL if it has no code. */
const struct line_count *lines_find(const struct lines *l, const char *file,
                                    uint32_t line);

#endif /* CAIRN_ANALYSIS_LINES_H */
