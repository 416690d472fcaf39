/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_TRIAL_H
#define CAIRN_CLI_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/cover.h"
#include "analysis/patch.h"
#include "analysis/suite.h"
#include "cli/side.h"

/* What cairn tests shows. */
struct trial {
	struct side all; /* the sum of all tests */
	char **files;    /* per test */
	struct suite suite;
	struct cover cover;
	struct suite_step *order;
	const char *diff; /* NULL: none */
	struct patch patch;
	bool *is_changed; /* per path; NULL without a diff */
	bool *used;       /* per file of the patch: has code in the profiles */
	bool *failed;     /* per test */
	size_t nfailed;   /* 0: nothing about failure was asked for */
	struct suite_score *scores; /* per path */
	struct suite_lines lines;   /* without those of system headers */
	size_t nsystem;             /* lines of those that a failed test ran */
	size_t *suspects; /* paths that a failed test took, worst first */
	size_t nsuspects;
	unsigned top; /* rows of a table; UINT_MAX: all */
};

/* A path of the suite as hot.h talks about it. */
struct hot_path trial_path(const struct trial *t, size_t path);
/* Lines that a failed test ran: the first so many of `lines`. */
size_t trial_nlines(const struct trial *t);
/* Paths through changed lines. */
uint64_t trial_nchanged(const struct trial *t);

void trial_text(const struct trial *t, FILE *out);
void trial_json(const struct trial *t, FILE *out);

#endif /* CAIRN_CLI_TRIAL_H */
