/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_PAIR_FLOW_H
#define CAIRN_ANALYSIS_PAIR_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_err;
struct pair_flow;
struct pair_flow_function;

/*
 * Opens a profile for the compiler: where pairs of paths are joined, edges that
 * end paths and calls, and which of these have enough of them: the hottest that
 * make this share of all, in millionths.
 *
 * Fails: as profile_open; CAIRN_E_MISMATCH if it says of no function how often
 *        its edges were taken.
 */
int pair_flow_open(const char *path, uint32_t share, struct pair_flow **out,
                   struct cairn_err *err);
void pair_flow_free(struct pair_flow *x);

/*
 * A function is known as feedback_edges knows it.  Returns NULL if the profile
 * does not have it, or nobody knows how often its edges were taken.  Borrowed.
 */
const struct pair_flow_function *pair_flow_find(const struct pair_flow *x,
                                                const char *name,
                                                const char *file,
                                                uint64_t hash);

/* How often an edge was taken. */
uint64_t pair_flow_edge(const struct pair_flow_function *f, uint32_t edge);
/* Is a place where so many pairs are joined one of those with enough? */
bool pair_flow_is_enough(const struct pair_flow_function *f, uint64_t n);
/* Is the call that ends this segment one?  So is one that the profile does not
 * have. */
bool pair_flow_has_site(const struct pair_flow_function *f, uint32_t block,
                        uint32_t segment);

#endif /* CAIRN_ANALYSIS_PAIR_FLOW_H */
