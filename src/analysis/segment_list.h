/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_SEGMENT_LIST_H
#define CAIRN_ANALYSIS_SEGMENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/key.h"
#include "analysis/segments.h"

struct cairn_err;

/* What a list is good for. */
enum segment_list_kind {
	SEGMENT_LIST_ALL,  /* all segments of the runs that it was made of */
	SEGMENT_LIST_SOME, /* only those that were chosen are starred */
	SEGMENT_LIST_PLAN  /* call sites alone */
};

/* A segment of a list: steps from first_step on. */
struct segment_list_item {
	uint64_t count;
	bool is_chosen;
	uint32_t first_step, nsteps;
	enum segments_end end;
	struct segments_step to;
};

/* A function; its hash is that of the graph that traces have. */
struct segment_list_function {
	struct key key; /* strings are the list's */
};

/*
 * Call sites to inline, and segments that go through them.  Copies are those of
 * struct segments: the first nfunctions are the functions themselves.
 */
struct segment_list {
	enum segment_list_kind kind;
	uint32_t depth;
	struct segment_list_function *functions;
	struct segments_copy *copies;
	struct segment_list_item *items;
	struct segments_step *steps;
	struct segments_cut *cuts;
	uint32_t nfunctions, functions_cap, ncopies, copies_cap, nitems,
	        items_cap, nsteps, steps_cap, ncuts, cuts_cap;
};

/* {0} is an empty list.  Functions have to be there before other copies are;
 * both return the number of the new one. */
uint32_t segment_list_add_function(struct segment_list *l, struct key key);
uint32_t segment_list_add_copy(struct segment_list *l, uint32_t parent,
                               block_id site, uint32_t function);
void segment_list_add_item(struct segment_list *l,
                           const struct segments_one *one, bool is_chosen);
void segment_list_add_cut(struct segment_list *l, struct segments_cut cut);
void segment_list_release(struct segment_list *l);

/* Fails: CAIRN_E_ABSENT, CAIRN_E_CORRUPT with the line; l is then empty. */
int segment_list_read(struct segment_list *l, const char *path,
                      struct cairn_err *err);
void segment_list_write(const struct segment_list *l, FILE *out);

#endif /* CAIRN_ANALYSIS_SEGMENT_LIST_H */
