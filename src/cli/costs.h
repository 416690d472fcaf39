/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_COSTS_H
#define CAIRN_CLI_COSTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report;
struct report_row;

/* What a line of one function, or of a copy that was inlined into it, did. */
struct cost {
	uint32_t instance;     /* 0: the function itself */
	uint32_t file, line;   /* a string of the map; MAP_NONE, 0: unknown */
	uint64_t instructions; /* of the IR, executed */
	uint64_t count;        /* of its segment that ran most */
};

/*
 * The costs of a function, by instance, file and line; for the caller to free.
 * They add up to what the function executed: instructions without a line are
 * those of the line of its definition.
 */
struct cost *costs_of(const struct report_row *row, size_t *n);

/* A frame of a stack: a function, or a copy that was inlined into it. */
struct frame_name {
	const char *name, *file; /* linkage name; file "" if not known */
	uint32_t line;           /* of the definition */
};

/* The chain of inlined copies that leads to an instance, the function itself
 * first; for the caller to free.  *n is its length. */
struct frame_name *costs_chain(const struct report_row *row, uint32_t instance,
                               size_t *n);

/*
 * Calls `take` for every function, and copy that was inlined into it, that
 * executed something: with its stack, as far as counts prove it (analysis/
 * inclusive.h), the outermost first, and the instructions of its own lines.
 */
void costs_stacks(const struct report *r,
                  void (*take)(void *context, const struct frame_name *frames,
                               size_t n, uint64_t instructions),
                  void *context);

/* Formats. */
void report_callgrind(const struct report *r, FILE *out);
void report_dot(const struct report *r, FILE *out);
void report_folded(const struct report *r, FILE *out);
void report_speedscope(const struct report *r, FILE *out);
void report_pprof(const struct report *r, FILE *out);
void report_sample(const struct report *r, FILE *out);

#endif /* CAIRN_CLI_COSTS_H */
