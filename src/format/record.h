/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_RECORD_H
#define CAIRN_FORMAT_RECORD_H

#include <stdint.h>

struct bytes;

/* Counters of a function that counts its paths in a table, and nothing else. */
extern const uint32_t record_counters;

/* A record of a map that a tool writes. */
struct record {
	uint64_t address, counters;
	uint32_t code_size;
	/* as many sites as this, in the order of the blob: the first returns
	 * to address + 1, the next to address + 2 ... */
	uint32_t nsites;
};

/* Appends the record with this blob of a function that counts in a table. */
void record_put(struct bytes *out, const struct record *r,
                const struct bytes *blob);

#endif /* CAIRN_FORMAT_RECORD_H */
