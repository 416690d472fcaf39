/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_RESIDUE_H
#define CAIRN_CLI_RESIDUE_H

#include <stddef.h>
#include <stdio.h>

#include "analysis/residual.h"
#include "cli/side.h"

/* What cairn residual shows. */
struct residue {
	struct side tested, field;
	struct residual residual;
	struct residual_row *rows; /* per file of the field */
	char **files;              /* their names */
	size_t nfiles;
	unsigned top;     /* rows of the list; UINT_MAX: all */
	bool all_details; /* of every row, not just of the first few */
};

/* A path in the words of the field's build. */
struct hot_path residue_path(const struct residual_path *p);
/* Why a function of one side has no like on the other. */
const char *residue_fate(enum catalog_fate fate, bool is_field);
/*
 * Functions of the field of which nobody knows all that they did: a frame died
 * on a path that is not known, or counts do not add up.
 */
bool residue_is_unknown(const struct report_row *row);
/* Executions of paths and frames on paths that nobody knows, at least. */
uint64_t residue_nunknown(const struct residue *r);
/* Is there anything that no test did, or that nobody knows? */
bool residue_is_any(const struct residue *r);

/* Does a file know in which order its paths were first taken? */
bool residue_has_order(const struct residue *r);

void residue_text(const struct residue *r, FILE *out);
void residue_json(const struct residue *r, FILE *out);

#endif /* CAIRN_CLI_RESIDUE_H */
