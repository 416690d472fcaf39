/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_TURNS_H
#define CAIRN_GRAPH_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How a walk that ignores directions changes between going with the edges and
 * against them.  A walk is described by the direction of its first edge and
 * the number of its turns; a set of walks between the same two ends is a set of
 * such descriptions, one bit each.  From three turns on a walk can only be on
 * cycles that turn four times or more.
 */
typedef uint8_t turns_set;

#define TURNS_WITH ((turns_set)1)    /* no turn, with the edges */
#define TURNS_AGAINST ((turns_set)2) /* no turn, against the edges */
#define TURNS_ALL ((turns_set)63)
/* Not a description: among the walks is a single edge, in that direction. */
#define TURNS_EDGE_WITH ((turns_set)64)
#define TURNS_EDGE_AGAINST ((turns_set)128)

/* The same walks from the other end. */
turns_set turns_reverse(turns_set s);

/*
 * Walks of s followed by walks of t, which start where those of s end.  Sets
 * *over if some have more than two turns; those are not in the result.
 */
turns_set turns_join(turns_set s, turns_set t, bool *over);

/*
 * Do all cycles made of a walk of s and one of t, between the same ends and
 * with nothing else in common, turn at most twice?  False as well for two
 * single edges in the same direction.
 */
bool turns_agree(turns_set s, turns_set t);

#endif /* CAIRN_GRAPH_TURNS_H */
