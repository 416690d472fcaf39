/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_FORM_H
#define CAIRN_ANALYSIS_TWPP_FORM_H

#include "analysis/twpp_edges.h"
#include "analysis/twpp_file.h"
#include "analysis/twpp_series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* A dynamic basic block: its blocks, and when it executed. */
struct twpp_form_node {
	uint32_t *blocks;
	size_t nblocks;
	struct twpp_vector times;
};

/*
 * The timestamp-annotated dynamic control-flow graph of one path trace.
 * (node, t) is a point of the trace; t = 1..n, each at one node.
 */
struct twpp_form {
	uint64_t n;
	struct twpp_form_node *nodes; /* by their first timestamp */
	size_t nnodes;
	struct twpp_edge *edges; /* by from, then by to */
	size_t nedges;
	struct twpp_edge *back_edges; /* the same, by to, then by from */
};

/*
 * Reads the form of trace i of a function; makes that of a list of blocks, with
 * or without dictionaries (without, every node is one block and t counts
 * blocks).
 *
 * Fails:  CAIRN_E_CORRUPT if the timestamps are not 1..n, each once.
 * Memory: until twpp_form_release.
 */
int twpp_form_read(struct twpp_form *g, const struct twpp_function *f, size_t i,
                   struct cairn_err *err);
/* The same without edges, and with the timestamps of those nodes alone that
 * have one of these blocks: what twpp_form_find needs. */
int twpp_form_read_some(struct twpp_form *g, const struct twpp_function *f,
                        size_t i, const uint32_t *blocks, size_t n,
                        struct cairn_err *err);
int twpp_form_make(struct twpp_form *g, const uint32_t *blocks, size_t n,
                   bool with_dictionaries, struct cairn_err *err);
void twpp_form_release(struct twpp_form *g);

#define TWPP_NOWHERE SIZE_MAX

/* The node at this timestamp, or TWPP_NOWHERE. */
size_t twpp_form_at(const struct twpp_form *g, uint64_t t);
/* The node before, or behind, (node, t); TWPP_NOWHERE at the ends. */
size_t twpp_form_before(const struct twpp_form *g, size_t node, uint64_t t);
size_t twpp_form_behind(const struct twpp_form *g, size_t node, uint64_t t);

/* The edges out of, or into, a node; stores how many. */
const struct twpp_edge *twpp_form_out(const struct twpp_form *g, size_t node,
                                      size_t *n);
const struct twpp_edge *twpp_form_in(const struct twpp_form *g, size_t node,
                                     size_t *n);

/*
 * Moves many points at once: those of `times` that, one step on (by = 1) or
 * back (by = -1), are at `node`, with the timestamps that they have there.
 * Replaces *out.
 */
void twpp_form_move(const struct twpp_form *g, const struct twpp_vector *times,
                    int by, size_t node, struct twpp_vector *out);

/*
 * Where the trace executes these blocks one behind the other: the timestamps of
 * the dynamic basic blocks that hold the last of them.  (Within one, blocks are
 * different: each timestamp is one occurrence.)  Replaces *out.
 *
 * Requires: n > 0.
 */
void twpp_form_find(const struct twpp_form *g, const uint32_t *blocks, size_t n,
                    struct twpp_vector *out);

#endif /* CAIRN_ANALYSIS_TWPP_FORM_H */
