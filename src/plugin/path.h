/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_PATH_H
#define CAIRN_PLUGIN_PATH_H

/* What path.c, which chooses, hands to path_code.c, which writes. */
#include "graph/increments.h"
#include "graph/local.h"
#include "graph/pairs.h"
#include "graph/paths.h"
#include "graph/prefer.h"
#include "graph/tags.h"
#include "plugin/function.h"

struct bytes;
struct pair_flow_function;

#define HELD_TURNS 8

/* A loop that counts its turns. */
struct turns {
	struct local local;
	struct increments inc;
	const struct increment **op; /* per edge of the loop's graph, or NULL */
	uint32_t first;              /* counter of turn 0, if there are any */
	uint32_t nheld;              /* turns that are counted in a register */
	uint64_t held[HELD_TURNS];
	LLVMValueRef step_table; /* per turn: what it adds to that */
	/* what turns add to the registers, once needed */
	LLVMValueRef table, slot_table;
	uint64_t *slot_sum; /* per turn, if there are slots */
	uint8_t *tested; /* residual: per turn, 1 if there is no need to look */
	LLVMValueRef tested_table;
};

/* Pairs across calls: counters of a call of a known function. */
struct call_rows {
	LLVMValueRef callee; /* NULL: it has none */
	uint64_t *sum;       /* per row: what it is for, or CALLS_NO_SUM */
	uint32_t n, first;   /* rows; counter of the first */
	/* the row of a sum: (sum - least) * multiplier >> shift */
	uint64_t least, multiplier;
	unsigned shift;
};

#define CALLS_NO_SUM UINT64_MAX

/* Pairs across calls: path_calls.c. */
struct function_calls {
	uint32_t degree;           /* enum cairn_degree */
	bool is_off;               /* nobody looks at calls */
	bool *left_out;            /* per site: it has no cell */
	struct call_rows *rows;    /* per site */
	struct tag_site *digits;   /* per site: in tags */
	struct tags tags;          /* of the paths that came back */
	bool *is_tagged;           /* per site: may a path that comes to it? */
	bool *is_certain;          /* per site: is whom it calls? */
	bool *is_single;           /* ... and has one path */
	bool *says_site;           /* per site: before the call */
	bool *may_wait;            /* per site: for the end of the path */
	bool says_who;             /* where it returns, not only its path */
	uint64_t *weight;          /* per edge: how often it is taken */
	uint64_t *flow;            /* per site: how often it is passed */
	enum cairn_rows uses_rows; /* of its callers */
	bool ends_early;           /* may a path, before it returns? */
	bool has_tails;            /* calls that must be tail calls */
	bool is_leaf;              /* it calls nobody and comes back */
	uint32_t *cell;            /* per site: its cell, or CFG_NONE */
	uint32_t ncells, first;    /* counter of cell 0, which counts nothing */
	bool *from_entry;          /* per vertex */
	/* per vertex: on the way there, at most, of calls that may have to wait
	 * for the end of the path */
	uint32_t *ncalls;
	uint32_t longest;
};

struct function_paths {
	enum cairn_paths how;
	struct paths paths;
	struct pairs pairs; /* n 0: none are counted */
	/* per block: no pair behind an edge to it is counted; NULL: all are */
	bool *left_out;
	const struct pair_flow_function *flow; /* why, or NULL */
	struct function_calls *calls;          /* or NULL */
	uint32_t longest;    /* window that is counted; 0: none is */
	uint32_t start_word; /* abi/rt.h: STARTS */
	uint32_t deepest;    /* call chain that is counted; or 0 */
	struct increments inc;
	const struct increment **op; /* per edge, or NULL */
	bool has_slots;              /* and the three below */
	struct prefer prefer;
	struct increments slot_inc;
	const struct increment **slot_op;
	uint32_t slots_size;  /* a power of two */
	uint32_t slots_first; /* counter of slot 0 */
	bool others;          /* are counted one by one */
	uint8_t *tested;      /* residual, few paths: per path */
	bool is_tested;       /* residual: all paths are, so nobody counts */
	bool is_strict;       /* no turns are held */
	struct turns *turns;
	uint32_t nturns, turns_cap;
	uint32_t *turns_of; /* per block: 0, or 1 + index */
	edge_id *local;     /* per edge out of such a block: its name there */
};

/* Does the function count which path came before? */
bool counts_pairs(const struct function_paths *p);
/* Does it do so for paths that begin at this block, behind an ended edge? */
bool counts_pairs_at(const struct function_paths *p, block_id head);
/* Does it count windows of the stream of its paths? */
bool counts_windows(const struct function_paths *p);
/* Does it count call chains? */
bool counts_chains(const struct function_paths *p);
/* Do loops that count their turns have counters for them? */
bool counts_turns(const struct function_paths *p);
/* Is the path one of those that have slots, or are tested? */
bool is_tested(const struct function_paths *p, uint64_t number);

/* What there is to know of a function for those that it calls, and that call
 * it; weight[] is how often each edge is taken. */
void path_calls_begin(struct function *fn, const struct mode *mode,
                      const uint64_t *weight);
/* Which calls have digits in the tags of paths, once all functions that are
 * called have begun; returns how paths are counted, with up to `few` counters
 * for numbers without tags. */
enum cairn_paths path_calls_choose_tags(struct function *fn,
                                        const struct mode *mode, uint64_t few);
/* How the others are counted; behind all other counters. */
void path_calls_choose(struct function *fn, const struct mode *mode);
/* May the path that comes to a site have a tag? */
bool path_calls_has_tag(const struct function *fn, uint32_t site);
void path_calls_release(struct function_calls *c, uint32_t nsites);
/* What the map says of them. */
void path_calls_describe(const struct function *fn, struct bytes *b);

#endif /* CAIRN_PLUGIN_PATH_H */
