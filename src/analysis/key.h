/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_KEY_H
#define CAIRN_ANALYSIS_KEY_H

#include <stddef.h>
#include <stdint.h>

struct map;
struct map_function;

/* By what a function of one build is known in another. */
struct key {
	const char *name; /* linkage name */
	const char *file; /* of its source if it is local (static), else "" */
	uint64_t hash;    /* of the shape of its CFG */
};

/* The strings are the map's. */
struct key key_of(const struct map *m, const struct map_function *f);

/* For qsort and bsearch, of keys or of structures that begin with one. */
int key_compare(const void *a, const void *b);

/*
 * Looks a function up among n items of this size, each of which begins with its
 * key, in the order of key_compare: as a local one of `file`, unless that is
 * NULL, and else as one that is not local.  Returns the item, or NULL.
 */
void *key_find(const void *items, size_t n, size_t size, const char *name,
               const char *file, uint64_t hash);

#endif /* CAIRN_ANALYSIS_KEY_H */
