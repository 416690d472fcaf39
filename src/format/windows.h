/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_WINDOWS_H
#define CAIRN_FORMAT_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct calls_modules;
struct chunk;
struct container;
struct profile;

/*
 * Adds the windows of a file to the profile: of FOREST and NODES chunks, or of
 * a WINDOWS chunk.  Returns NULL, or what is wrong with *bad.
 */
const char *windows_load(struct profile *p, const struct calls_modules *m,
                         const struct container *c, const struct chunk **bad);
/* Sorts and sums them. */
void windows_sum(struct profile *p);
/* Adds those of another profile, whose module i is number[i] here.  False if
 * they are of another length. */
bool windows_absorb(struct profile *p, const struct profile *from,
                    const uint32_t *number);
/* Writes them as a chunk, if there are any. */
void windows_put(struct bytes *out, struct bytes *tmp, const struct profile *p);
void windows_release(struct profile *p);

#endif /* CAIRN_FORMAT_WINDOWS_H */
