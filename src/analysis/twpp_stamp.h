/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_STAMP_H
#define CAIRN_ANALYSIS_TWPP_STAMP_H

#include "analysis/twpp_edges.h"
#include "analysis/twpp_pack.h"
#include "analysis/twpp_series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Block ids are below this; block 0 is the outside. */
#define TWPP_BLOCKS ((uint32_t)1 << 24)
/* Timestamps go up to this. */
#define TWPP_STAMPS ((uint64_t)1 << 60)

/* A dynamic basic block while its timestamps are being collected. */
struct twpp_stamp_node {
	uint32_t head;   /* its first block */
	uint32_t length; /* its blocks */
	uint64_t end;    /* the last timestamp that was written */
	struct twpp_maker maker;
	struct twpp_pack series;
};

/* What one path trace became. */
struct twpp_stamp_counts {
	uint64_t nblocks; /* of the trace */
	uint64_t n;       /* timestamps: its dynamic basic blocks, in order */
	uint64_t nnodes;  /* different ones */
	uint64_t nedges;  /* between these */
	uint64_t nruns;   /* entries l, l:h, l:h:s */
	uint64_t nwords;  /* numbers in these, as the paper writes them */
	uint64_t dict_words; /* dictionary: blocks, and an end for each entry */
	bool has_pieces;     /* some series is longer than a piece */
};

/* Working memory for timestamping; {0} is empty. */
struct twpp_stamp {
	struct twpp_zip *zip;
	/* per block, of the trace at hand: what comes before and behind it
	 * always, and its node */
	uint32_t *before, *behind, *node;
	size_t nblocks;
	uint32_t *seen; /* the blocks of the trace */
	size_t nseen, seen_cap;
	struct twpp_stamp_node *nodes;
	size_t nnodes, nodes_cap, nodes_ready; /* ready: series to be reused */
	struct twpp_edges edges;
	struct twpp_stamp_counts counts;
	struct bytes dictionary,
	        body; /* the result; the next one replaces it */
};

void twpp_stamp_release(struct twpp_stamp *s);

/*
 * Makes dictionary and body of a path trace, a string of block ids as uv.
 * Without dictionaries every block is a dynamic basic block of its own.
 *
 * Requires: s->zip is set; the string is one that a builder wrote.
 * Ensures:  equal traces have equal results.
 */
void twpp_stamp_make(struct twpp_stamp *s, const struct twpp_string *blocks,
                     bool with_dictionaries);
/* Drops the result; keeps some memory for the next one. */
void twpp_stamp_clear(struct twpp_stamp *s);

#endif /* CAIRN_ANALYSIS_TWPP_STAMP_H */
