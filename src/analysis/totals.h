/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TOTALS_H
#define CAIRN_ANALYSIS_TOTALS_H

#include <stddef.h>
#include <stdint.h>

struct counts;
struct lines;

/* What there is in a source file or a directory, and how much of it ran. */
struct total {
	char *path; /* of a directory "." if files have none */
	uint64_t lines, lines_executed;
	uint64_t branches, branches_taken; /* directions of branches */
	uint64_t functions, functions_executed;
	uint64_t instructions; /* of the IR, executed */
};

struct totals {
	struct total *files; /* parallel to lines->files */
	size_t nfiles;
	struct total *directories; /* by path; of files directly in them */
	size_t ndirectories;
	uint32_t *directory_of; /* per file */
};

/*
 * Sums lines, branches and functions by file and directory.  Functions that
 * are not covered, or have no file, are in none.
 */
struct totals *totals_new(const struct counts *c, const struct lines *l);
void totals_free(struct totals *t);

#endif /* CAIRN_ANALYSIS_TOTALS_H */
