/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_RUN_IDS_H
#define CAIRN_FORMAT_RUN_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct container;
struct profile;

/* Which runs a file has: CAIRN_RUN_ID of each that is known. */
struct run_ids {
	uint64_t *ids;
	size_t n, cap;
	uint64_t nruns; /* how many the file says that it has */
	bool is_open;   /* it was not closed */
	uint32_t pid;   /* of the one run of a file that is no sum, else 0 */
	uint64_t start;
	/* its process ended before the runtime noted a module: nothing was
	 * counted */
	bool is_empty;
};

/*
 * Reads that from the header and the heads of chunks, without looking at the
 * rest.  What is no intact .cairn file has none: its reader says so.
 */
void run_ids_read(struct run_ids *r, const char *path);
void run_ids_release(struct run_ids *r);

/* True if every run of the file is among the ids. */
bool run_ids_are_all_known(const struct run_ids *r);
/* Does it have this run? */
bool run_ids_have(const struct run_ids *r, uint64_t id);

/* The ids of a file that is open. */
void run_ids_of(struct run_ids *r, const struct container *c);
/* Writes the RUNS chunk of a sum. */
void run_ids_put(const struct profile *p, struct bytes *out, struct bytes *tmp);

#endif /* CAIRN_FORMAT_RUN_IDS_H */
