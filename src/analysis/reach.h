/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_REACH_H
#define CAIRN_ANALYSIS_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;
struct map_function;
struct profile;

/* The functions with marks that a profile has, by name. */
struct reach {
	const char **names; /* sorted; the maps' */
	size_t n;
};

/* Memory: until reach_release; the profile outlives it. */
void reach_init(struct reach *r, const struct profile *p);
void reach_release(struct reach *r);

/* May the call that ends this segment be of one of them?  A call through a
 * pointer may. */
bool reach_call(const struct reach *r, const struct map *m,
                const struct map_function *f, uint32_t block, uint32_t segment);

#endif /* CAIRN_ANALYSIS_REACH_H */
