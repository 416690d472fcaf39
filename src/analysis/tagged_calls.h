/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TAGGED_CALLS_H
#define CAIRN_ANALYSIS_TAGGED_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct path_counts;
struct profile;
struct profile_call;

/* Pairs across calls, whether a profile has them as such or in tags. */
struct tagged_calls {
	struct profile_call *items;
	size_t n, cap;
};

/* All of them: those of a site, and of it and a callee, are together. */
void tagged_calls_init(struct tagged_calls *t, const struct profile *p);
void tagged_calls_release(struct tagged_calls *t);

/* The same by those who have the paths of all functions: those that the profile
 * has as such; and those in tags of one function; and in the end once. */
void tagged_calls_begin(struct tagged_calls *t, const struct profile *p);
void tagged_calls_add(struct tagged_calls *t, const struct profile *p,
                      uint32_t module, uint32_t function,
                      const struct path_counts *pc);
void tagged_calls_end(struct tagged_calls *t);

#endif /* CAIRN_ANALYSIS_TAGGED_CALLS_H */
