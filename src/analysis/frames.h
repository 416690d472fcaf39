/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_FRAMES_H
#define CAIRN_ANALYSIS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;
struct profile;

/* Where frames died or began: at the end of, or within, a segment.  Block 0:
 * somewhere in a strict function; segment 1: in a call. */
struct frame_place {
	uint32_t function, block, segment;
	uint64_t in, out; /* modulo 2^64 */
};

/*
 * Marks that frames were stopped right before: the frame is placed in the block
 * behind them, so they have to count it.
 */
struct frame_late {
	uint32_t function, block, edge; /* its own counter; MAP_NONE: none */
	uint64_t by;                    /* modulo 2^64 */
};

/* What is known of the path that a frame was on. */
enum frame_path_kind {
	FRAME_PATH_NONE,    /* it was counted before the call */
	FRAME_PATH_BEGIN,   /* it has just begun, at the block */
	FRAME_PATH_SUM,     /* `sum` of the values so far: graph/paths.h */
	FRAME_PATH_DONE,    /* the same, and it has left by the one way there */
	FRAME_PATH_UNKNOWN, /* unless only one leads there */
	FRAME_PATH_LOST,    /* it was in a shared copy, nobody knows where */
};

/* A frame of a function that counts paths.  These are in no other list. */
struct frame_path {
	uint32_t function, block, segment;
	uint32_t edge; /* not taken yet, leads to the block; MAP_NONE: none */
	enum frame_path_kind kind;
	uint64_t sum;
	uint64_t in, out; /* modulo 2^64 */
};

/* What a frame can do to the exactness of a function, worst last. */
enum frame_trouble {
	FRAME_FINE = 0,
	FRAME_BEGUN,     /* of a trace: it was there before */
	FRAME_UNLOCATED, /* one of the functions here, nobody knows which */
	FRAME_CUT,       /* of a trace: it went on, nobody knows how far */
	FRAME_HELD,      /* died in a loop whose count was not in memory yet */
};

/* Was a frame stopped between the calls of a segment?  Then it ran some of the
 * segment's lines, and nobody knows which. */
enum frame_stop {
	FRAME_STOP_NONE = 0,
	FRAME_STOP_WITHIN, /* the first of them it ran */
	FRAME_STOP_BEFORE, /* or none */
};

struct frame_places {
	struct frame_place *items; /* sorted by function, block, segment */
	size_t n, cap;
	struct frame_late *late; /* sorted by function */
	size_t nlate, late_cap;
	struct frame_path *paths; /* sorted by all but in and out */
	size_t npaths, paths_cap;
	enum frame_trouble *trouble; /* per function */
	uint64_t
	        *nblind; /* per function: frames that made trouble in a trace */
	enum frame_stop *stops; /* per segment of the map */
	uint64_t nstray;        /* frames that were in no function of the map */
};

/* Finds the places of all frames of one module.  Requires: it has a map. */
void frames_place(struct frame_places *out, const struct profile *p,
                  uint32_t module);
void frames_release(struct frame_places *places);

#endif /* CAIRN_ANALYSIS_FRAMES_H */
