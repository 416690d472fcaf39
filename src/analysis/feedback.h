/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_FEEDBACK_H
#define CAIRN_ANALYSIS_FEEDBACK_H

#include <stdint.h>

struct cairn_err;
struct feedback;

/*
 * Opens a profile for the compiler: measured edge counts by function.
 *
 * Fails:  as profile_open.  The executables that ran have to be there still
 *         (CAIRN_E_ABSENT otherwise, with the remedy: cairn pack after a run).
 */
int feedback_open(const char *path, struct feedback **out,
                  struct cairn_err *err);
void feedback_free(struct feedback *f);

/*
 * The edge counts of a function, in the order of its edges, summed over all
 * modules that have it.  It has to have the same linkage name and structural
 * hash and, if it was local (static) in the build that ran, the same source
 * file; `file` may be NULL if it is not known.
 *
 * Returns NULL if the profile has no such function, or no trustworthy count of
 * each of its edges.  The result is borrowed and valid until feedback_free.
 */
const uint64_t *feedback_edges(struct feedback *f, const char *name,
                               const char *file, uint64_t hash,
                               uint32_t *nedges);

#endif /* CAIRN_ANALYSIS_FEEDBACK_H */
