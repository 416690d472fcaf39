/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_WITNESS_PLACE_H
#define CAIRN_GRAPH_WITNESS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct slots;

struct witness_place_options {
	const uint64_t *weight; /* per CFG edge, or NULL: all alike */
	bool is_alone;          /* nobody writes behind the exit */
};

/*
 * Chooses the slots that write witnesses: at_arc[a] for every arc of s.
 *
 * Ensures: an arc without room has none.  The arcs without a witness form no
 *          directed cycle, and no diamond between calls; no way along them
 *          leads from a watcher to a sink (with is_alone, the exit is none).
 */
void witness_place(const struct slots *s,
                   const struct witness_place_options *options, bool *at_arc);

/*
 * Adds witnesses to these, so that no vertex sees more than `limit` of them
 * next, unless it has more arcs out.
 */
void witness_narrow(const struct slots *s, const uint64_t *weight,
                    uint64_t limit, bool *at_arc);

/*
 * The vertices so that whatever an arc without a witness leads to stands before
 * where it comes from; arcs from calls do not count.
 *
 * Requires: arcs without a witness form no directed cycle between calls.
 * Memory:   order[] has room for s->nvertices.
 */
void witness_order(const struct slots *s, const bool *at_arc, uint32_t *order);

#endif /* CAIRN_GRAPH_WITNESS_PLACE_H */
