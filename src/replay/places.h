/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_PLACES_H
#define CAIRN_REPLAY_PLACES_H

#include <stdint.h>

struct program;

/* A place in the source; line 0: not known. */
struct place {
	const char *function; /* also one that was inlined */
	const char *file;     /* NULL: not known */
	uint32_t line;
};

/* Those of a program's sites (ir/sites.h), unit by unit as they are asked for.
 * Memory: what it returns is there until places_free. */
struct places;

/* Requires: p outlives it. */
struct places *places_new(const struct program *p);
void places_free(struct places *s);

/* The place of a site, by its index in the function that has a cell, or by one
 * of its own cells; that of the function if there is no such site, or nothing
 * is known. */
struct place places_of_site(struct places *s, uint64_t cell, uint32_t site);
struct place places_of_cell(struct places *s, uint64_t cell);

#endif /* CAIRN_REPLAY_PLACES_H */
