/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_SEGMENT_BUILD_H
#define CAIRN_ANALYSIS_SEGMENT_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/segment_list.h"
#include "graph/paths.h"

struct map;
struct map_function;
struct profile;

/* A function of a build with paths,calls=, and its copies in the list. */
struct segment_build_function {
	uint32_t module, index; /* in the profile's map */
	const struct map *map;
	const struct map_function *f;
	uint32_t *copy; /* [0] is itself; f->ncopies more */
};

/* What such a build has inlined. */
struct segment_build {
	struct segment_list list; /* a PLAN */
	struct segment_build_function *functions;
	uint32_t n, cap;
};

/* Requires: the profile outlives b.  Empty if it is no such build. */
void segment_build_init(struct segment_build *b, const struct profile *p);
void segment_build_release(struct segment_build *b);

/*
 * A path of such a function in terms of the list; the steps are the caller's to
 * free.  Of a path that began behind a call and says nothing of where, there
 * are no steps.
 */
void segment_build_read(const struct segment_build_function *f,
                        const struct cfg *g, const struct path *path,
                        struct segments_one *one);

#define SEGMENT_BUILD_MAX 100000u

/* Adds call sites that may be on segments: those of executed blocks, in chains
 * of up to `depth`.  executed[i][b]: function i has executed its block b.
 * Returns false if there are more than SEGMENT_BUILD_MAX. */
bool segment_build_chain(struct segment_build *b, uint32_t depth,
                         bool *const *executed);

#endif /* CAIRN_ANALYSIS_SEGMENT_BUILD_H */
