/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_INCREMENTS_H
#define CAIRN_GRAPH_INCREMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"

struct dag;

/* Where an operation goes. */
enum increment_place {
	INCREMENT_ON_EDGE, /* CFG edge; one from outside: at function entry */
	INCREMENT_AT_HEAD, /* of a block that indirect branches lead to */
	INCREMENT_AT_END   /* of a block: before its indirect branch, or, where
	                      it has no edge out, before the call that does not
	                      return */
};

/* What it does with the path register r.  Arithmetic is modulo 2^64; any width
 * that holds all path numbers gives the same counts. */
enum increment_kind {
	INCREMENT_SET,     /* r = value */
	INCREMENT_ADD,     /* r += value; value is not 0 */
	INCREMENT_COUNT,   /* count[r + value]++ */
	INCREMENT_COUNT_AT /* count[value]++: r is known, and not needed */
};

struct increment {
	enum increment_place place;
	uint32_t where; /* CFG edge or block */
	enum increment_kind kind;
	uint64_t value;
	bool then_set; /* a counted path is followed by the next one: */
	uint64_t set;  /* r = set */
};

/* The operations that keep the path register; at most one per place. */
struct increments {
	uint32_t n;
	struct increment *ops;
	/* what decodes the register of a frame that died */
	uint32_t nvertices;
	bool *is_known;   /* per vertex: r is not kept there ... */
	uint64_t *offset; /* ... and this is the sum; else r + this is it */
};

/*
 * Places operations so that every path is counted under the sum of value[]
 * along it, with as little work as possible on the way.
 *
 * cost[] has one entry per CFG edge: that of an addition on it.  value[] has
 * one per DAG edge, those of paths.h or of prefer.h (two's complement).
 *
 * Ensures: whatever path is taken, r is set before it is read, and each end of
 *          a path counts it once, as the sum of value[] along it.
 * Memory:  until increments_release.
 */
void increments_init(struct increments *inc, const struct dag *d,
                     const uint64_t *value, const uint64_t *cost);
void increments_release(struct increments *inc);

/*
 * The sum of value[] up to a block, from the register there.  Where is_known[]
 * says so, r is not looked at.  See paths_decode_prefix.
 */
uint64_t increments_prefix(const struct increments *inc, block_id block,
                           uint64_t r);

#endif /* CAIRN_GRAPH_INCREMENTS_H */
