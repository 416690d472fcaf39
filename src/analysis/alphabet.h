/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_ALPHABET_H
#define CAIRN_ANALYSIS_ALPHABET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/strtab.h"

struct automaton;
struct cairn_err;

/* A line that a block runs; two are the same visit only if all but the letter
 * agree. */
struct alphabet_line {
	uint32_t block;
	uint32_t instance, file, line; /* file: in alphabet->files */
	uint32_t letter;
};

struct alphabet_function {
	uint32_t enter, leave; /* letters */
	/* the lines of block b are those from starts[first_block + b] on; none
	 * if no line of the function is a letter: nblocks is then 0 */
	uint32_t first_block, nblocks;
};

/* What the functions and lines of a program are to an automaton. */
struct alphabet {
	struct automaton *automaton;
	struct alphabet_function *functions;
	uint32_t nfunctions, functions_cap;
	struct alphabet_line *lines;
	uint32_t nlines, lines_cap;
	uint32_t *starts;
	uint32_t nstarts, starts_cap;
	struct strtab files;
	bool has_lines; /* the expression names some: blocks matter */
	bool *is_found; /* per symbol: the program has something of it */
	uint64_t *scratch;
	uint32_t kept; /* lines of functions that are complete */
};

/* Requires: the automaton has no letters yet, and outlives it. */
void alphabet_init(struct alphabet *l, struct automaton *a);
void alphabet_release(struct alphabet *l);

/*
 * The next function, with its linkage name and, unless it is NULL, its C++
 * name, which may be meant with its parameters and without.  Functions are
 * numbered from 0 on.
 */
void alphabet_add_function(struct alphabet *l, const char *name,
                           const char *readable);
/* A C++ name without its parameters; the caller frees it.  NULL if it has
 * none. */
char *alphabet_brief(const char *readable);
/*
 * The next line of the function that was added last, in the order in which they
 * run.  Requires: blocks do not decrease.
 */
void alphabet_add_line(struct alphabet *l, uint32_t block, uint32_t instance,
                       const char *path, uint32_t line);
/*
 * Ends it.  Fails: CAIRN_E_ABSENT if the program, which `name` stands for, has
 * nothing that a symbol could be.
 */
int alphabet_finish(struct alphabet *l, const char *name,
                    struct cairn_err *err);

/* The lines of a block, in order. */
const struct alphabet_line *alphabet_lines(const struct alphabet *l,
                                           uint32_t function, uint32_t block,
                                           uint32_t *n);

#endif /* CAIRN_ANALYSIS_ALPHABET_H */
