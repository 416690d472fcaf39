/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_LINEMAP_H
#define CAIRN_ANALYSIS_LINEMAP_H

#include <stddef.h>
#include <stdint.h>

struct patch;

/*
 * Which line of one version of a source file is which line of another.  Lines
 * count from 1; those of either version that have a partner come in the same
 * order in both.  {0} maps every line to itself.
 */
struct linemap {
	/* where the shift changes: lines first .. last of the old version, and
	 * what they are in the new one, from `now` on; by first */
	struct linemap_run {
		uint32_t first, last, now;
	} * runs;
	size_t n, cap;
	int is_identity; /* whatever runs say */
};

/*
 * By content: the lines of a shortest edit of one text into the other.
 *
 * Memory: until linemap_release; O(n) for n lines while it works.
 */
void linemap_init_text(struct linemap *m, const char *old, size_t old_size,
                       const char *now, size_t now_size);
/* By a patch: `old` is one of its others, `now` one of its files, STRTAB_NONE
 * for none.  What it does not change is the same. */
void linemap_init_patch(struct linemap *m, const struct patch *p, uint32_t old,
                        uint32_t now);
/* Every line has its own number. */
void linemap_init_identity(struct linemap *m);
void linemap_release(struct linemap *m);

/* The new line of an old one; 0: it is gone. */
uint32_t linemap_now(const struct linemap *m, uint32_t old);

#endif /* CAIRN_ANALYSIS_LINEMAP_H */
