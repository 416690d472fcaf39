/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_CACHE_H
#define CAIRN_REPLAY_CACHE_H

#include <stddef.h>

/*
 * Compiled objects, in $XDG_CACHE_HOME/cairn or ~/.cache/cairn.  What cannot be
 * read or written is not there: a cache never fails.
 */

/* The object of this key, which the caller frees; NULL if there is none. */
unsigned char *cache_get(const char *key, size_t *size);
void cache_put(const char *key, const void *data, size_t size);

#endif /* CAIRN_REPLAY_CACHE_H */
