/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_PATH_COUNTS_H
#define CAIRN_ANALYSIS_PATH_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/counts.h"
#include "graph/cfg.h"
#include "graph/paths.h"
#include "graph/tags.h"

struct frame_places;
struct map;
struct map_function;
struct profile_module;

/* A path that was taken. */
struct path_count {
	uint64_t number;
	uint64_t count; /* not 0; modulo 2^64 */
};

/* A path behind another one, to which an ended edge led. */
struct path_pair {
	uint64_t before, number;
	uint64_t count; /* not 0; modulo 2^64 */
};

/* A call that was made on a path, of a known function, and by which path that
 * came back (graph/tags.h). */
struct path_call {
	uint32_t site; /* among the function's calls in the map */
	const struct map_function *callee;
	uint64_t before; /* the sum of the path up to there */
	uint64_t path;   /* the callee's last one */
	uint64_t behind; /* the way from there on, or PATH_CALL_UNFINISHED */
	uint64_t count;  /* modulo 2^64 */
};

#define PATH_CALL_UNFINISHED UINT64_MAX

/* A path that frames were on when they died (out), or that they inherited
 * when they began in the middle (in). */
struct path_prefix {
	uint32_t block, segment;
	/* false: nothing is unfinished, the path was counted before the call */
	bool is_pending;
	uint64_t sum;     /* for paths_decode_prefix */
	uint64_t in, out; /* modulo 2^64 */
};

/* A path that ends after the call in which its frame died, whatever that does:
 * up to there, and all of it. */
struct path_ended {
	struct path_prefix prefix;
	uint64_t number;
};

/* The paths of one function.  The struct may be moved. */
struct path_counts {
	struct cfg *g; /* owned; `paths` points at it */
	struct paths paths;
	struct path_count *items; /* by number */
	size_t n, cap;
	/* if the function counts them; a path that was the last one of a frame
	 * that died is before none */
	bool has_pairs;
	/* per block: no pair is counted of a path that begins there; NULL: all
	 * are */
	bool *left_out;
	struct path_pair *pairs; /* by before, number */
	size_t npairs, pairs_cap;
	/* in no order; other calls are in the profile */
	struct path_call *calls;
	size_t ncalls, calls_cap;
	size_t sum_at; /* so many are added up before there are more */
	struct tags tags;
	struct path_prefix *prefixes; /* by block, segment, sum */
	size_t nprefixes, prefixes_cap;
	/* if the function counts pairs: these are among `items`, but what joins
	 * them to others would have been counted after the call */
	struct path_ended *ended;
	size_t nended, ended_cap;
	uint64_t nlost;    /* counted under no path */
	uint64_t nother;   /* paths that were not asked for, together */
	uint64_t nunknown; /* frames whose path nobody knows, in + out */
	/* what is wrong with the function, COUNTS_EXACT if nothing is: that
	 * flow is conserved is for path_counts_edges to see */
	enum counts_doubt doubt;
	uint64_t bad_number; /* COUNTS_PATH_IMPOSSIBLE */
};

/*
 * The paths of a function, as far as they make sense; `places` are those of
 * the module, `function` its index in the map.
 *
 * Requires: the function counts paths.
 * Memory:   until path_counts_release.
 * Returns false, with `doubt` set and nothing else in *pc, if the map's paths
 * are not those of its CFG.
 */
bool path_counts_init(struct path_counts *pc, const struct profile_module *m,
                      uint32_t function, const struct frame_places *places);
void path_counts_release(struct path_counts *pc);

/* Makes what is in `ended` unfinished, as pairs have it. */
void path_counts_reopen(struct path_counts *pc);

/*
 * Counts of all edges and blocks of the function, modulo 2^64, from its paths.
 *
 * Returns the first block whose flow does not add up, 0 if there is none.
 */
uint32_t path_counts_edges(const struct path_counts *pc, const struct map *map,
                           const struct map_function *f, uint64_t *edge,
                           uint64_t *block);

/*
 * The CFG of a function of the map and what its edges ask of paths_init; the
 * caller frees the latter.
 */
void path_counts_graph(struct cfg *g, enum dag_how **asked,
                       const struct map *map, const struct map_function *f);
/* ... an edge of this kind (enum cairn_edge_kind). */
enum dag_how path_counts_ask(uint32_t kind);

#endif /* CAIRN_ANALYSIS_PATH_COUNTS_H */
