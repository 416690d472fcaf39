/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_FEEDBACK_H
#define CAIRN_ANALYSIS_FEEDBACK_H

#include <stdbool.h>
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
/* The same, but only functions that were marked before optimization. */
int feedback_open_source(const char *path, struct feedback **out,
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

/* Does it have the function, but no trustworthy count of each edge? */
bool feedback_doubts(const struct feedback *f, const char *name,
                     const char *file, uint64_t hash);

/* Does the profile have a function of this name and file, whatever its hash is
 * and its counts are worth? */
bool feedback_knows(const struct feedback *f, const char *name,
                    const char *file);

/* Calls `use` with the count of every block, function by function, the entry's
 * first. */
typedef void feedback_count(void *context, uint64_t count, bool is_entry);
void feedback_each_block(const struct feedback *f, feedback_count *use,
                         void *context);

#endif /* CAIRN_ANALYSIS_FEEDBACK_H */
