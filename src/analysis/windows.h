/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_WINDOWS_H
#define CAIRN_ANALYSIS_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

struct profile_windows;

/* A sequence of elements and how often it occurred. */
struct window_row {
	size_t first; /* in the pool of the profile, the newest element first */
	uint64_t count;
	size_t rank; /* by its elements, for those with the same count */
};

/* What is known of the elements before some that were counted. */
struct window_sums {
	uint64_t known; /* as many as were asked for */
	uint64_t first; /* there were not so many */
	uint64_t lost;  /* nobody knows: there was no memory left */
};

/*
 * All sequences of n elements that occurred, most frequent first.  The caller
 * frees them.
 *
 * Requires: n >= 1.
 */
struct window_row *windows_list(const struct profile_windows *w, unsigned n,
                                size_t *nrows);
/* Sums by the newest element: one for each, which the caller frees. */
struct window_sums *windows_known(const struct profile_windows *w, unsigned n);

#endif /* CAIRN_ANALYSIS_WINDOWS_H */
