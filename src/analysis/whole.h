/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_WHOLE_H
#define CAIRN_ANALYSIS_WHOLE_H

#include <stdint.h>

#include "graph/cfg.h"
#include "graph/paths.h"

struct bytes;
struct cairn_err;
struct map;
struct map_function;

/*
 * A function of a trace as other builds have it: parts of blocks are blocks
 * again, and its paths run through calls.
 */
struct whole {
	const struct map *map;
	const struct map_function *f;
	struct cfg g;
	struct paths paths;
	block_id *block_of;   /* per block of the map: the one it is part of */
	uint32_t *segment_of; /* ... and which segment of that one */
	edge_id *edge_of;    /* per edge of the map; CFG_NONE: within a block */
	uint32_t *nsegments; /* per block */
};

/*
 * Requires: the map outlives w.
 * Fails:    CAIRN_E_CORRUPT if a part is not behind another, CAIRN_E_LIMIT if
 *           the paths cannot be numbered.
 */
int whole_init(struct whole *w, const struct map *map,
               const struct map_function *f, struct cairn_err *err);
void whole_release(struct whole *w);

/*
 * Per block of the trace's map, the number of the block that it is part of, as
 * reports and paths number them.  For the caller to free; NULL if a part does
 * not follow another.
 */
block_id *whole_block_of(const struct map *map, const struct map_function *f);

/*
 * The other way round, in a map that has records of whole_record: the number in
 * the trace of the first part of each block.  For the caller to free; NULL if f
 * is not of a trace.
 */
block_id *whole_first_part(const struct map *map, const struct map_function *f);

/* Addresses in a map that whole_record writes: a place for every block of the
 * trace's map, and one for none of them, 0. */
uint32_t whole_code_size(const struct whole *w);

/*
 * Appends a record of a map (abi/map.h) in which the function counts its paths
 * in a table.  Its address is `address`; a frame in block b of the trace's map
 * is at the call that returns to address + b, with 1 + the sum of the values of
 * its path in the register.
 */
void whole_record(const struct whole *w, uint64_t address, uint64_t counters,
                  struct bytes *out);

#endif /* CAIRN_ANALYSIS_WHOLE_H */
