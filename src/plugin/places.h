/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_PLACES_H
#define CAIRN_PLUGIN_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* What an instruction of the source is known by, as far as code tells. */
struct place_key {
	LLVMMetadataRef location; /* NULL: it has none, and no line */
	uint64_t operation;       /* equal for copies of one instruction */
	bool is_fixed;            /* runs only where the source runs its line */
	bool unwinds;             /* ir/unwinding.h; the caller knows */
};

struct place_key place_key_of(LLVMValueRef instruction);

/* An instruction that has a line. */
struct place_item {
	struct place_key key;
	uint32_t instance, file, line;
	uint32_t block;   /* of LLVM */
	uint32_t segment; /* of the function: blocks are in order */
	uint32_t place;   /* PLACE_NONE, or CAIRN_PLACE_* and above */
};

/* What it says is not asked. */
#define PLACE_NONE UINT32_MAX

/*
 * Gives items their places; CAIRN_PLACE_ASIDE to code that unwinds and is
 * not inlined, or on a line that has other code.  One line of one instance has
 * the same place in several segments if these are copies of the same code: the
 * line ran as often as they did together, at least.  Requires: blocks and
 * segments do not decrease.
 */
void places_choose(struct place_item *items, size_t n);

#endif /* CAIRN_PLUGIN_PLACES_H */
