/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_COVER_H
#define CAIRN_ANALYSIS_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of small numbers: bit i of word i / 64. */
static inline size_t cover_words(size_t n)
{
	return (n + 63) / 64;
}

static inline bool cover_has(const uint64_t *set, size_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static inline void cover_put(uint64_t *set, size_t i)
{
	set[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Few sets that contain every element that any set contains. */
struct cover {
	uint32_t *sets; /* in ascending order */
	size_t n;
	size_t at_least; /* no cover has fewer; n if this is a smallest one */
};

/*
 * Finds a smallest cover, or a small one if `limit` steps of the search do not
 * suffice.  Element e is contained in the sets of holders + e * words, where
 * words = cover_words(nsets); one that is in no set is left out.
 *
 * Memory: until cover_release.
 */
void cover_init(struct cover *c, size_t nsets, const uint64_t *holders,
                size_t nelements, uint64_t limit);
void cover_release(struct cover *c);

#endif /* CAIRN_ANALYSIS_COVER_H */
