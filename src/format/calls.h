/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_CALLS_H
#define CAIRN_FORMAT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct chunk;
struct map;
struct map_function;
struct map_site;
struct profile;
struct profile_call;

/* Where the modules of a file were loaded. */
struct calls_modules {
	const uint32_t
	        *module; /* index in the profile, by number in the file */
	const uint32_t *number; /* parallel: that number */
	const uint64_t *bias;   /* parallel */
	uint32_t n;
};

/*
 * Which module an address of counters, as a file has it, is in, and its
 * link-time address; false if in none.  is_raw: it is one of the process, else
 * the number of the module is in the upper bits.
 */
bool calls_place(const struct profile *p, const struct calls_modules *m,
                 bool is_raw, uint64_t at, uint32_t *module, uint64_t *address);
/* Adds the pairs of a CALLS chunk to the profile; NULL, or what is wrong. */
const char *calls_load(struct profile *p, const struct calls_modules *m,
                       const struct chunk *k);
/* The function at an address that a site calls, if it counts in rows and by
 * tags; or NULL. */
const struct map_function *calls_callee(const struct map *map,
                                        uint64_t address);
/* Makes pairs of what is in rows of counters, which are 0 then, and names the
 * sites of those whose site is a row; needs the maps.  NULL, or what is wrong.
 */
const char *calls_take_rows(struct profile *p);
/* Sorts and sums them. */
void calls_sum(struct profile *p);
/* Writes them as a chunk, if there are any. */
void calls_put(struct bytes *out, struct bytes *tmp, const struct profile *p);

/* The function with a link-time address among its counters; NULL: there is
 * none. */
const struct map_function *calls_function(const struct map *map, uint64_t at);
/* Sorts and sums n pairs: how many are left, those of a site together. */
size_t calls_sum_list(struct profile_call *calls, size_t n);
/* The address of a site's cell. */
uint64_t calls_cell_address(const struct map_function *f,
                            const struct map_site *s);
/* The cell at an address of its counters; not below f->ncells: it is none. */
uint64_t calls_cell(const struct map_function *f, uint64_t at);

#endif /* CAIRN_FORMAT_CALLS_H */
