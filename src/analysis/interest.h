/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_INTEREST_H
#define CAIRN_ANALYSIS_INTEREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spot.h"

struct cairn_err;
struct interest;

/* Which of the paths in a profile are interesting: all, or ... */
struct interest_options {
	uint64_t top; /* ... the hottest so many of the program; 0: no limit */
	/* ... the hottest that make this share of all path executions, in
	 * millionths; 0: no limit */
	uint32_t share;
	bool is_tested; /* it says what was tested, all of it */
	bool in_calls;  /* paths end at calls, or go into them: calls= */
	/* and these besides, be they in the profile or not: "function:NAME",
	 * "line:FILE:LINE" */
	const char *const *sets;
	size_t nsets;
};

/* All paths of a function, or all that run through a line. */
struct interest_set {
	char *function; /* linkage name; NULL: the line */
	struct spot spot;
};

/* The interesting paths of one function. */
struct interest_function {
	uint64_t npaths;      /* of the function; 0: not known (a list) */
	uint32_t ncuts;       /* edges that were cut, for the same numbers */
	const uint32_t *cuts; /* borrowed */
	uint32_t n;
	uint64_t *numbers; /* ascending */
};

/*
 * Opens a profile for the compiler: interesting paths by function.  Or a list:
 * text, a function per line, its linkage name and then numbers of paths, as
 * `cairn paths` shows them, or a * for all of them; or FILE:LINE and a *, for
 * all paths through this line.  What follows a # is a comment.  Without a file
 * (NULL) there are only the sets of the options.
 *
 * Fails: as profile_open; CAIRN_E_MISMATCH if it has no paths, or paths of a
 *        build with calls= where these are not meant, or is to say what was
 *        tested and did not count all paths; CAIRN_E_CORRUPT
 *        for a line that is not of this form; CAIRN_E_USAGE for such a set, and
 *        for top or share without a profile.
 */
int interest_open(const char *path, const struct interest_options *options,
                  struct interest **out, struct cairn_err *err);
void interest_free(struct interest *in);
bool interest_is_profile(const struct interest *in);

/*
 * A function is known by its name, structural hash and, if it was local in the
 * build that ran, source file; `file` may be NULL.  In a list it is known by
 * its name alone.
 *
 * Returns NULL if the profile has no such function.  Borrowed.
 */
const struct interest_function *interest_find(const struct interest *in,
                                              const char *name,
                                              const char *file, uint64_t hash);

/* All sets, each once, in an order of their own.  Borrowed. */
const struct interest_set *interest_sets(const struct interest *in, size_t *n);

/* Those of a function, or of lines with this number in whatever file:
 * interest_sets()[first] .. [end - 1]. */
struct interest_range {
	size_t first, end;
};
struct interest_range interest_of_function(const struct interest *in,
                                           const char *name);
struct interest_range interest_of_line(const struct interest *in,
                                       uint32_t line);

#endif /* CAIRN_ANALYSIS_INTEREST_H */
