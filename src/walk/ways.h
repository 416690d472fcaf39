/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_WAYS_H
#define CAIRN_WALK_WAYS_H

/* What the files of the walk share of the paths that it remembers; others have
 * no use for it. */
#include "graph/paths.h"
#include "walk/walk.h"

/* The paths that begin in a block: a table by code, or if codes are too wide
 * for that, by hash. */
struct walk_start {
	struct walk_way *table; /* NULL: not asked for yet, or hashed */
	uint32_t size;          /* of the table; 0: hashed */
	uint8_t width;
	uint8_t exits; /* bits, of a loop that counts its turns */
};

/* Paths of wide codes, each of its own; hashed, a power of two of slots. */
struct walk_wide {
	struct walk_wide_slot {
		struct walk_way *way; /* NULL: free */
		block_id first;
		uint64_t code;
	} * slots;
	size_t n, cap;
};

/* Of one function. */
struct walk_ways {
	struct walk_start *starts; /* per place */
	struct walk_wide wide;
	struct path path;
};

#define WALK_COUNTED 255u /* as width: a loop that counts its turns */

const struct cfg *walk_graph(const struct walk_function *f);
/* A place of a function with witnesses, as a frame has it and as witness.h
 * has it: there blocks behind their heads come first. */
uint32_t walk_swap_place(const struct walk_function *f, uint32_t at);

/* Where the path of a wide code is, or would be. */
struct walk_wide_slot *walk_wide_slot(const struct walk_wide *wide,
                                      block_id first, uint64_t code);

/*
 * The path with this code that begins in a block.
 *
 * Fails: as codes_decode.
 */
int walk_look_up(struct walk_function *f, block_id first, uint64_t code,
                 const struct walk_way **out, struct cairn_err *err);

static inline int walk_find(struct walk_function *f, block_id first,
                            uint64_t code, const struct walk_way **out,
                            struct cairn_err *err)
{
	const struct walk_start *s = f->ways ? &f->ways->starts[first] : NULL;

	if (!s || !s->table || code >= s->size || !s->table[code].is_known)
		return walk_look_up(f, first, code, out, err);
	*out = &s->table[code];
	return 0;
}
/* The path from a place of a function with witnesses to the one that has this
 * code, or if it is 0 to its silent end.  Fails: as witness_decode. */
int walk_find_witness(struct walk_function *f, uint32_t at, uint32_t code,
                      const struct walk_way **out, struct cairn_err *err);

/* Is there an operation that ends a path at this place (CAIRN_PLACE_*)? */
bool walk_is_place(const struct walk_function *f, uint32_t place);
/* The block that such a place is in. */
block_id walk_block_of(const struct walk_function *f, uint32_t place);
/* The rest of a path from such a place on. */
const struct walk_way *walk_find_rest(struct walk_function *f, uint32_t place);
/* A path of nothing but the block that it begins in. */
const struct walk_way *walk_find_stand(struct walk_function *f, block_id block);
/* From a block over an edge to the next one, if no path ends there; NULL: there
 * is no such edge. */
const struct walk_way *walk_find_step(struct walk_function *f, block_id from,
                                      edge_id e);

#endif /* CAIRN_WALK_WAYS_H */
