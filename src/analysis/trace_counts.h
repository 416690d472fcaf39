/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TRACE_COUNTS_H
#define CAIRN_ANALYSIS_TRACE_COUNTS_H

#include <stdint.h>

struct bytes;
struct cairn_err;
struct profile;
struct profile_options;
struct streams;

/*
 * Makes a profile of a trace: all threads are walked, and the functions of the
 * trace become such that count their paths, as if the program had been built
 * with --cairn=paths; what it counted otherwise stays.
 *
 * nwitnessed as in struct profile_options, or NULL.
 *
 * Requires: p and s are of one file.
 * Fails:    as traced_init and walk_next; p can only be freed then.
 */
int trace_counts(struct profile *p, const struct streams *s,
                 uint64_t *nwitnessed, struct cairn_err *err);

/* The same for profile_options.untrace: the bytes of a .cairn file. */
int trace_counts_file(const char *path, const struct profile_options *options,
                      struct bytes *out, struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_TRACE_COUNTS_H */
