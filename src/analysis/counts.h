/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_COUNTS_H
#define CAIRN_ANALYSIS_COUNTS_H

#include "analysis/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct map_function;

/* Why the derived counts of a function may not be exact. */
enum counts_doubt {
	COUNTS_EXACT = 0,
	COUNTS_INCOMPLETE, /* counts of whole threads or modules are missing */
	COUNTS_OPEN,       /* killed or running: frames nobody looked at */
	COUNTS_TRACE_OPEN, /* the same of a trace: what was not written yet */
	COUNTS_TRACE_LAST, /* the same of a flight recorder: no branch */
	COUNTS_LOST,       /* frames died that could not be recorded */
	COUNTS_UNWALKED,   /* threads or frames nobody could look at */
	COUNTS_PATH_PARTIAL, /* not all of its paths are counted one by one */
	COUNTS_TRACE_BEGUN,  /* frames of it were there before the trace was */
	COUNTS_UNLOCATED,    /* a signal stopped it, nobody knows where */
	COUNTS_TRACE_CUT,    /* the same of a trace: nor since when */
	COUNTS_HELD,         /* a signal stopped a loop that held its count */
	COUNTS_PATH_UNKNOWN, /* a frame died, and nobody knows on which path */
	COUNTS_PATH_LOST,    /* paths were counted, nobody knows which */
	COUNTS_NEGATIVE,     /* some count came out below zero */
	COUNTS_UNBALANCED,   /* flow into and out of a block differ */
	COUNTS_UNSOLVABLE,   /* the counters do not determine the edges */
	COUNTS_PATH_IMPOSSIBLE, /* counts of a path that it does not have */
	COUNTS_PATH_MAP,        /* the map's paths are not those of its CFG */
};

struct counts_function {
	bool covered;
	enum counts_doubt doubt;
	uint32_t bad_edge, bad_block; /* where the flow is off, UINT32_MAX */
	uint64_t bad_path;            /* COUNTS_PATH_IMPOSSIBLE: the number */
	uint64_t nlost;               /* COUNTS_PATH_LOST: how many */
	uint64_t entries;             /* 0 if not known */
	bool entries_known;
	uint64_t executions;   /* of all its blocks, as far as known */
	uint64_t instructions; /* of the IR, as far as known */
};

/*
 * The counts of one module.  Vectors run parallel to those of its map: the
 * count of edge e of function f is edge[f->first_edge + e].  Where known[] is
 * false there is no number: the counters do not determine it, or it came out
 * negative and so is certainly wrong.
 */
struct counts_module {
	uint64_t *edge, *block, *segment;
	bool *edge_known, *block_known, *segment_known;
	enum frame_stop *stops;            /* per segment */
	struct counts_function *functions; /* one per function of the map */
};

struct counts_totals {
	uint64_t functions, executed, uncovered, inconsistent;
	uint64_t stops;   /* segments where frames were stopped */
	uint64_t partial; /* count some of their paths: no blocks known */
	uint64_t blocks, blocks_executed, executions; /* but of those */
};

struct counts {
	const struct profile *profile;
	struct counts_module *modules; /* one per module; empty without map */
	struct counts_totals totals;
	enum counts_doubt doubt; /* that all functions share, but strict ones */
	uint64_t stray_frames;   /* frames that fit no function of any map */
};

/* Recovers all counts.  The profile has to outlive the result. */
struct counts *counts_new(const struct profile *p);
void counts_free(struct counts *c);

/* True if the counts of the function are wrong, not just possibly one off: its
 * flow equations have no solution, or a signal stopped it at a bad place. */
bool counts_is_inconsistent(enum counts_doubt doubt);
/* One sentence without a full stop; NULL for COUNTS_EXACT. */
const char *counts_reason(enum counts_doubt doubt);

#endif /* CAIRN_ANALYSIS_COUNTS_H */
