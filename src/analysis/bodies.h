/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_BODIES_H
#define CAIRN_ANALYSIS_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts;

/*
 * A function as its source has it: all its copies, inlined or not, and all
 * instances of a template that have one name.
 */
struct body {
	const char *name, *file; /* linkage name */
	uint32_t line, last;     /* of its own lines */
	uint64_t instructions;   /* of the IR, executed in all copies; 0 in maps
	                            that do not have them by line */
	uint64_t most; /* how often its hottest line ran, in one copy */
	uint32_t module, function; /* where its first copy is */
	size_t ncopies, ninlined;  /* the second of the first */
	bool is_whole;             /* some copy is a function of its own */
};

struct bodies {
	struct body *items; /* by file, line, name */
	size_t n;
};

/* Those that have a file and a line. */
struct bodies *bodies_new(const struct counts *c);
void bodies_free(struct bodies *b);

#endif /* CAIRN_ANALYSIS_BODIES_H */
