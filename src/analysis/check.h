/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_CHECK_H
#define CAIRN_ANALYSIS_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct counts;

/* Something that is off, under the rule of docs/INVARIANTS.md that it breaks.
 */
struct finding {
	const char *rule; /* "F1" */
	char *where;      /* function or file; owned */
	char *what;       /* one sentence with the likely cause; owned */
};

struct findings {
	struct finding *items;
	size_t n, cap;
};

/*
 * Looks for everything that makes counts of a readable profile unsound.  What
 * makes a file unreadable was found when it was opened.
 */
void check_profile(struct findings *out, const struct counts *c);
/* Of all that, what makes no count of a function inexact that counts_function
 * says: rules C8 to C10. */
void check_contradictions(struct findings *out, const struct counts *c);
void findings_release(struct findings *f);
/* Takes over `what`. */
void findings_add(struct findings *out, const char *rule, const char *where,
                  char *what);
/* The rules of paths that follow each other, C9 and C10: check_joins.c. */
void check_joins(struct findings *out, const struct counts *c);

#endif /* CAIRN_ANALYSIS_CHECK_H */
