/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_TAGS_H
#define CAIRN_GRAPH_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"

struct dag;

/*
 * A place in a block where one of `radix` things happens, in the order of the
 * blocks' code; 0: nothing there is told apart.
 */
struct tag_site {
	block_id block;
	uint64_t radix;
};

/*
 * Numbers for what happened at the sites of a path, one for all of them: the
 * tag, 0 .. n - 1, is the sum of weight times digit over the sites that the
 * path comes by.  See tags.c.
 */
struct tags {
	uint64_t n;
	uint64_t *weight; /* per site; 0: it has no digit */
};

/* There are never more. */
#define TAGS_LIMIT ((uint64_t)1 << 60)

/*
 * Requires: sites of one block follow each other in the order of its code.
 * Ensures:  n <= limit, or false is returned and there is nothing to release.
 * Memory:   until tags_release.
 */
bool tags_init(struct tags *t, const struct dag *d,
               const struct tag_site *sites, uint32_t nsites, uint64_t limit);
void tags_release(struct tags *t);

/*
 * The digit of a site, out of the tag of a path: *tag loses it.  To be called
 * for the sites of the path from its end on.
 */
uint64_t tags_take(const struct tags *t, uint32_t site, uint64_t *tag);

#endif /* CAIRN_GRAPH_TAGS_H */
