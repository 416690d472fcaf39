/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_SEGMENTS_H
#define CAIRN_PLUGIN_SEGMENTS_H

#include <llvm-c/Types.h>
#include <stdbool.h>

#include "analysis/segment_list.h"

struct bytes;
struct dag;
struct function;
struct interest_function;
struct mode;
struct shim;

/* Path segments of a module: paths that go into inlined calls, and end at all
 * others. */
struct segs;

/*
 * Notes where all code is, and inlines what the list has, up to the mode's
 * depth; NULL: nothing.  What would grow too much calls a copy that many share.
 * Warns of each call that cannot be inlined.
 *
 * Requires: the list outlives it.
 */
struct segs *segs_new(LLVMModuleRef module, struct shim *s,
                      const struct segment_list *list, const struct mode *mode);
void segs_free(struct segs *g);

/* Before f is imported: the calls that end its paths and those of shared
 * copies, valid until the next function; false if it has no segments. */
bool segs_begin(struct segs *g, LLVMValueRef f, struct mode *mode);
/* Is f a shared copy, which has paths in its callers only? */
bool segs_is_shared(const struct segs *g, LLVMValueRef f);
/* Once all others are marked. */
void segs_mark_shared(struct segs *g, const struct mode *mode);
/* Once it is imported. */
void segs_import(struct segs *g, const struct function *fn);
/* What the map says of it. */
void segs_describe(struct segs *g, const struct function *fn, struct bytes *b);

/* Its segments in the list, as paths, once these are numbered: context is a
 * struct segs_search. */
struct segs_search {
	struct segs *segs;
	bool wants_all; /* not just those that were chosen */
};
const struct interest_function *segs_find(void *context,
                                          const struct function *fn);
/* Marks the edges that these have; lists those at which the list has cuts, and
 * returns how many. */
void segs_keep(void *context, const struct function *fn, const struct dag *d,
               bool *keep);
uint32_t segs_cut(void *context, const struct function *fn, uint32_t *cuts);

/* Nothing is to be counted: takes all notes out again. */
void segs_strip(LLVMModuleRef module);

#endif /* CAIRN_PLUGIN_SEGMENTS_H */
