/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_PHASES_H
#define CAIRN_ANALYSIS_PHASES_H

#include <stddef.h>
#include <stdint.h>

/* Intervals that a run is cut into, at most; at least half as many, if it has
 * enough symbols. */
#define PHASES_INTERVALS 1024
/* Phases that are told apart, at most: they have letters. */
#define PHASES_MOST 26

/* An interval of the run. */
struct phases_interval {
	uint64_t first; /* its first symbol's position in the string */
	uint64_t end;   /* behind its last symbol */
	uint64_t work;  /* executed instructions */
	uint32_t phase; /* numbered in order of appearance */
};

/*
 * Phases of a run, from the symbols of its whole program path.  See phases.c.
 * phases_new, phases_push for all symbols, phases_find, then the results.
 */
struct phases {
	struct phases_interval intervals[PHASES_INTERVALS];
	uint32_t n;         /* intervals that there are */
	uint64_t unit;      /* instructions of an interval */
	uint32_t nphases;   /* after phases_find */
	uint64_t work;      /* of all, so far */
	uint64_t length;    /* symbols, so far */
	double squares;     /* of the work of each symbol, so far */
	uint64_t *features; /* per interval and feature: instructions */
	uint32_t nfeatures; /* that occurred, so far */
};

struct phases *phases_new(void);
void phases_free(struct phases *p);

/* A symbol n times, each of so many instructions. */
void phases_push(struct phases *p, uint32_t symbol, uint64_t weight,
                 uint64_t n);

/* Finds the phases. */
void phases_find(struct phases *p);

/*
 * The run as n letters, each for an equal part of its instructions: the phase
 * that has most of that part.  text[n] becomes 0.
 */
void phases_timeline(const struct phases *p, char *text, size_t n);

#endif /* CAIRN_ANALYSIS_PHASES_H */
