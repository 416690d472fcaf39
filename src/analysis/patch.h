/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_PATCH_H
#define CAIRN_ANALYSIS_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/strtab.h"

struct cairn_err;

/* A line that a patch changes. */
struct patch_line {
	uint32_t file; /* in files */
	uint32_t line; /* from 1 on */
};

/* Lines that are replaced by others: nold from `old` on, by nnow from `now`
 * on.  If there are none on a side, its line is the one behind the place. */
struct patch_change {
	uint32_t old_file, new_file; /* in files and others; STRTAB_NONE */
	uint32_t old, nold, now, nnow;
};

struct patch {
	struct strtab files;      /* as the patch names them */
	struct strtab others;     /* as it names them on the other side */
	struct patch_line *lines; /* by file, line; each once */
	size_t n, cap;
	struct patch_change *changes; /* as they come */
	size_t nchanges, changes_cap;
};

/*
 * The lines that a unified diff changes, of the code before it (is_new false)
 * or after it.  What is only inserted, or only removed, changes the lines on
 * both sides of that place.
 *
 * Fails: CAIRN_E_CORRUPT if it is no unified diff, with the line of the diff;
 *        `name` stands in the sentence.
 * Memory: until patch_release.
 */
int patch_parse(struct patch *p, const char *text, size_t size, bool is_new,
                const char *name, struct cairn_err *err);
void patch_release(struct patch *p);

/*
 * Does a path of the compiler's mean this file of a patch?  It does if it ends
 * with the patch's, of which the first part ("a/") may be left out.
 */
bool patch_is_file(const char *path, const char *file);

#endif /* CAIRN_ANALYSIS_PATCH_H */
