/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_MARKS_H
#define CAIRN_WALK_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct walk;

/* The place of the next item in the part at hand, its end if there is none. */
size_t marks_next(const struct walk *w, size_t at);

/* Is the item there a mark that a frame died? */
bool marks_is_end(const struct walk *w, size_t at);

/* The return address of the call in which a frame died, by the mark there, or
 * false: it died between calls. */
bool marks_call(const struct walk *w, size_t at, uint32_t *address);

/* Bytes of such a mark. */
#define MARKS_SIZE 5u

#endif /* CAIRN_WALK_MARKS_H */
