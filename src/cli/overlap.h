/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_CLI_OVERLAP_H
#define CAIRN_CLI_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/overlap_bounds.h"
#include "analysis/overlap_counts.h"
#include "analysis/overlap_trace.h"

struct cairn_err;
struct trace_input;

enum overlap_choice {
	OVERLAP_AUTO,    /* a third of the maximum */
	OVERLAP_HIGHEST, /* the maximum */
	OVERLAP_NUMBER,
	OVERLAP_EACH, /* all, for JSON; what is shown is as for AUTO */
};

struct overlap_options {
	enum overlap_choice choice;
	uint32_t number;
	bool plain;           /* no overlapping paths, only plain ones */
	bool tight;           /* the tightest lower bounds */
	unsigned top;         /* rows; UINT_MAX: all */
	const char *function; /* NULL: all */
};

/* A pair that is shown. */
struct overlap_row {
	enum overlap_kind kind;
	const struct overlap_joint *joint;
	uint64_t weight, most; /* its count, or what it lies between */
};

/* One half of a pair that is shown. */
struct overlap_shown {
	uint32_t function;
	block_id *blocks; /* of the function as other builds have it */
	uint32_t nblocks;
	char *lines;
};

/* Pairs of paths of a trace, and what there is to say about them. */
struct overlap_view {
	struct overlap_options options;
	const struct trace_input *in;
	struct overlap_trace trace;            /* of a trace, or ... */
	struct overlap_counts counted;         /* ... of a profile with pairs */
	const struct overlap_profile *profile; /* that of either */
	uint64_t npaths;                       /* the same */
	size_t nfindings; /* of a profile: counts that contradict each other */
	struct overlap_margins margins;
	uint32_t maximum;
	uint32_t degree; /* of the bounds that are shown */
	struct overlap_bounds plain, bounds;
	struct overlap_row *rows; /* most frequent first */
	size_t nrows;
	uint32_t *functions; /* with pairs, those with most of them first */
	size_t nfunctions;
};

/*
 * Requires: the trace outlives v.
 * Fails:    as overlap_trace_init; CAIRN_E_ABSENT if there is no such function.
 */
int overlap_view_init(struct overlap_view *v, struct trace_input *in,
                      const struct overlap_options *options,
                      struct cairn_err *err);
/* The same of a profile, whose counts are taken over; `in` has its functions.
 * nfindings: what cairn check finds in its counts. */
int overlap_view_init_counted(struct overlap_view *v, struct trace_input *in,
                              const struct overlap_counts *counted,
                              size_t nfindings,
                              const struct overlap_options *options,
                              struct cairn_err *err);
void overlap_view_release(struct overlap_view *v);

/* Did the function run, and were its paths cut, since they are too many? */
bool overlap_view_is_cut(const struct overlap_view *v, uint32_t function);

/* Sums over the pairs that a function has the second half of, of all kinds. */
struct overlap_totals overlap_view_sum(const struct overlap_bounds *b,
                                       uint32_t function);
/* What to show of both halves of a pair; for overlap_shown_release. */
void overlap_view_halves(const struct overlap_view *v,
                         const struct overlap_row *row,
                         struct overlap_shown *from, struct overlap_shown *to);
void overlap_shown_release(struct overlap_shown *s);

void overlap_text(const struct overlap_view *v, FILE *out);
void overlap_json(const struct overlap_view *v, FILE *out);

#endif /* CAIRN_CLI_OVERLAP_H */
