/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function is the same in two builds if its name and the hash of its CFG
 * agree, and, since names of local functions may repeat, its source file if it
 * is local.  Whoever asks may not know whether it was: it is looked for as a
 * local function first.
 *
 * Cost: O(log n) a look-up.
 */
#include "analysis/key.h"

#include "format/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct key key_of(const struct map *m, const struct map_function *f)
{
	bool local = f->flags & CAIRN_FN_LOCAL;

	return (struct key){
	        .name = map_string(m, f->name),
	        .file = local ? map_string(m, f->file) : "",
	        .hash = f->hash,
	};
}

int key_compare(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->file, y->file);
	if (!order)
		order = x->hash < y->hash ? -1 : x->hash > y->hash;
	return order;
}

void *key_find(const void *items, size_t n, size_t size, const char *name,
               const char *file, uint64_t hash)
{
	struct key key = {name, file, hash};
	void *found = NULL;

	if (!n)
		return NULL;
	if (file)
		found = bsearch(&key, items, n, size, key_compare);
	key.file = "";
	return found ? found : bsearch(&key, items, n, size, key_compare);
}
