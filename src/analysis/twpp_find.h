/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_FIND_H
#define CAIRN_ANALYSIS_TWPP_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct twpp;
struct twpp_graph;

/*
 * A path within and across functions:
 *
 *     path  = part { ">" part }
 *     part  = function [ ":" block { "." block } ]
 *     block = "b" number
 *
 * as in "f:b2.b7 > g:b1".  A function is a name, in double quotes if it has a
 * ">" or a space, or "#" and its number; a name that several functions have
 * means each of them.  The colons of "::" belong to the name.  Space around
 * parts is ignored.
 *
 * A name is that of the file; if no function has it, one without what is before
 * its last colon, for functions of several sources that are FILE:NAME in the
 * file; then the readable name (twpp_call), with FILE or without, with
 * parameters or without.
 *
 * An occurrence is one activation for each part:
 * - that of the first part executes the blocks of this part one behind the
 *   other, anywhere in its trace; calls in between do not matter;
 * - that of every other part is called by the activation before it, directly,
 *   after this one has executed the last block of its part and before it
 *   executes its next block, and the trace of the callee begins with the blocks
 *   of the callee's part.
 * A part without blocks leaves open where in its activation the call is made.
 * Occurrences may overlap; two that differ in an activation, or in where the
 * first part is, or in which call is made, are two.
 */
struct twpp_part {
	uint32_t *entries; /* functions: indices into the file's entries */
	size_t nentries;
	uint32_t *blocks;
	size_t nblocks;
	size_t *fails; /* per block: see twpp_find.c */
};

struct twpp_path {
	struct twpp_part *parts;
	size_t nparts, parts_cap;
};

/*
 * Fails:  CAIRN_E_USAGE for what is no path, CAIRN_E_ABSENT for a function that
 *         the file does not have.
 * Memory: until twpp_path_release.
 */
int twpp_path_parse(struct twpp_path *p, const struct twpp *t, const char *text,
                    struct cairn_err *err);
/* The same for one function, named as it is, without quotes. */
int twpp_path_name(struct twpp_path *p, const struct twpp *t, const char *name,
                   struct cairn_err *err);
void twpp_path_release(struct twpp_path *p);

/* Where one part of an occurrence is. */
struct twpp_site {
	uint64_t
	        activation; /* of its thread, from 1 on, as they were entered */
	uint64_t at; /* blocks that it had executed, up to the last of the part,
	              * or, without blocks, when it made the call; 0 in a last
	              * part without blocks */
};

struct twpp_occurrence {
	uint64_t thread; /* its id */
	/* blocks that the thread had executed when the first part was complete;
	 * if that has no blocks, when it made the call, or was entered */
	uint64_t when;
	const struct twpp_site *sites; /* one per part */
};

/* Who gets them; what does not return 0 ends the search, which returns the
 * same. */
typedef int twpp_found(void *arg, const struct twpp_occurrence *o);

/*
 * Counts all occurrences.  A path of one part takes the series of its functions
 * alone; another one the call graph, and every node of it once.
 *
 * Fails: CAIRN_E_CORRUPT; CAIRN_E_LIMIT from 2^64 on.
 */
int twpp_count(struct twpp *t, const struct twpp_path *p, uint64_t *n,
               struct cairn_err *err);
/*
 * Lists all occurrences: by thread, then as their second parts were entered,
 * or, of a path of one part, as it was complete.  Calls in which there is none
 * are not walked through.
 */
int twpp_find(struct twpp_graph *g, const struct twpp_path *p,
              twpp_found *found, void *arg, struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_TWPP_FIND_H */
