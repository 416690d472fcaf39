/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_FIRST_H
#define CAIRN_ANALYSIS_FIRST_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/catalog.h"

/* A path, as the catalog knows it. */
struct first_path {
	uint32_t function; /* in the catalog */
	uint64_t number;
};

/*
 * The paths of a residual build in the order in which the run first took them.
 * Other builds put only some of their paths into tables, by the size of the
 * function, so that their order says nothing.  A path that several copies of a
 * function took is there several times.
 *
 * Returns how many; *out is for the caller to free.
 */
size_t first_paths(const struct catalog *c, struct first_path **out);

/* Is there an order, and is it that of a residual build? */
bool first_is_known(const struct profile *p);

#endif /* CAIRN_ANALYSIS_FIRST_H */
