/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_CODES_H
#define CAIRN_GRAPH_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/dag.h"
#include "graph/paths.h"

struct cairn_err;

struct codes_options {
	const enum dag_how *asked; /* per CFG edge, or NULL: see dag_init */
	const uint64_t *weight;    /* per CFG edge, or NULL: all alike */
	/* per block, or NULL: a path that begins there is written down, even if
	 * there is only one */
	const bool *loud;
	/* cut these, those of an earlier codes_init, and choose none */
	bool is_cut;
	const edge_id *cuts;
	uint32_t ncuts;
};

/*
 * How a function writes down which way it goes, for one who knows where it is:
 * a code per path, which tells it from others that begin in the same block.
 * See codes.c.
 */
struct codes {
	struct paths paths; /* with all cuts; its dag is that of the codes */
	unsigned width;     /* bytes of a code: 1, 2 or 4 */
	uint64_t *value; /* per DAG edge: along a path they sum to its code */
	bool *is_silent; /* per DAG edge: ends paths without writing a code */
};

/* No code begins with this byte; codes are written highest byte first. */
#define CODES_MARK 0xffu

/*
 * Finds the codes of g.
 *
 * Requires: cfg_link(g) done, g outlives c; asked as for dag_init.
 * Ensures:  paths that begin in the same block have different codes.  The
 *           result is a function of g, asked, loud and c->paths.cuts alone.
 * Fails:    CAIRN_E_CORRUPT if asked breaks the rules of dag_init, or cuts are
 *           no edges that can be cut; CAIRN_E_LIMIT if a code would need more
 *           than 4 bytes.  c is then released.
 * Memory:   until codes_release.
 */
int codes_init(struct codes *c, const struct cfg *g,
               const struct codes_options *options, struct cairn_err *err);
void codes_release(struct codes *c);

/*
 * Is nothing written when the path that begins in a block ends?  Then there is
 * only one.  Paths that enter the function begin in CFG_OUTSIDE.
 */
bool codes_is_silent(const struct codes *c, block_id first);

/*
 * The path with this code that begins in a block, or enters the function if
 * that is CFG_OUTSIDE.  *path is overwritten and must be {0} or one that was
 * written before.
 *
 * Fails: CAIRN_E_CORRUPT if there is no such path.
 */
int codes_decode(const struct codes *c, block_id first, uint64_t code,
                 struct path *path, struct cairn_err *err);

#endif /* CAIRN_GRAPH_CODES_H */
