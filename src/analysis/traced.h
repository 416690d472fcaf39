/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TRACED_H
#define CAIRN_ANALYSIS_TRACED_H

#include <stddef.h>
#include <stdint.h>

#include "format/streams.h"
#include "graph/witness.h"
#include "walk/walk.h"

struct cairn_err;
struct map;
struct map_function;
struct profile;

/* A function of a trace; its number is that of the walk. */
struct traced_function {
	uint32_t module, index; /* in the profile's map */
	const struct map *map;
	const struct map_function *f;
	struct cfg g;
	struct codes codes;
	struct witness witness; /* of one that writes witnesses; codes is {0} */
	/* RECORD: what marks in the stream have for its address; the return
	 * address of call i is this + 1 + i */
	uint32_t made_up;
	uint32_t *callee;
	bool *is_final, *is_resumed, *is_branch;
};

struct traced_place;

/* A trace, ready to be walked. */
struct traced {
	const struct profile *profile;
	const struct streams *streams;
	struct traced_function *functions;
	uint32_t n, cap;
	struct walk_function *walked;
	struct walk_program program;
	struct traced_place *code, *sites; /* by address */
	size_t ncode, nsites;
};

/*
 * Requires: profile and streams are of the same file, and outlive t.
 * Fails:    CAIRN_E_CORRUPT if a map makes no sense.
 */
int traced_init(struct traced *t, const struct profile *profile,
                const struct streams *streams, struct cairn_err *err);
void traced_release(struct traced *t);

/*
 * Checks that the witnesses of all *n functions that have some are enough
 * (witness_check: theorem 4.2 of the 1994 paper), with the codes they have.
 *
 * Fails: CAIRN_E_CORRUPT, with the function.
 */
int traced_check(const struct traced *t, uint64_t *n, struct cairn_err *err);

/* The walk over the stream of a thread, part by part. */
struct traced_walk {
	struct walk walk;
	const struct streams *streams;
	const struct streams_thread *thread;
	size_t part; /* the next one */
	unsigned char *memory;
	size_t capacity;
};

/* From the beginning.  w must stay where it is. */
void traced_begin(struct traced_walk *w, struct traced *t, size_t thread);
void traced_end(struct traced_walk *w);

/* The linkage name of a function. */
const char *traced_name(const struct traced *t, uint32_t function);

#endif /* CAIRN_ANALYSIS_TRACED_H */
