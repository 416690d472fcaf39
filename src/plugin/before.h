/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_BEFORE_H
#define CAIRN_PLUGIN_BEFORE_H

#include "base/ptrmap.h"
#include "plugin/places.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* What the map says of an instruction that is code (ir/code.h). */
struct before_item {
	struct place_key key;
	bool is_call; /* lines of a block are in parts, up to it */
};

/*
 * The code of a module that will be recorded, before it is made definite: what
 * it is after that is the replay's, and not the program's.
 */
struct before {
	struct before_item *items;
	size_t nitems, items_cap;
	struct ptrmap of_block; /* to a number in ends[] */
	uint32_t *ends; /* in items, block by block: the first begins at 0 */
	size_t nends, ends_cap;
};

/* Notes the code of all functions that have marks. */
void before_init(struct before *b, LLVMModuleRef module);
void before_release(struct before *b);

/* A place in the code of a block. */
struct before_cursor {
	const struct before_item *next, *end;
};

/* At the top of a block; at the end of nothing, if the block is a new one. */
struct before_cursor before_at(const struct before *b, LLVMBasicBlockRef block);
/* The next item, NULL at the end, or before a call: that is returned if the
 * caller `takes_calls`. */
const struct before_item *before_next(struct before_cursor *c,
                                      bool takes_calls);

#endif /* CAIRN_PLUGIN_BEFORE_H */
