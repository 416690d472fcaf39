/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a line ran, from blocks that the optimizer has taken apart, copied
 * and merged: what the map has to say for that.
 *
 * Before the optimizer code of one line in different blocks gets different
 * discriminators (entry.cpp), so that an instruction tells which block of the
 * source it comes from.  Copies of one instruction have the same discriminator,
 * column and operation; they are made where code is duplicated (a loop that is
 * rotated, unrolled or versioned, a jump that is threaded, a tail that is
 * copied), and each execution of the source runs one of them: their counts add
 * up.  A place is such a set of copies.
 *
 * Which place tells how often the block of the source ran?  Loads and
 * arithmetic are also hoisted to where they run more often.  Branches, calls,
 * stores and returns are not.  So where a block of the source has some of
 * these, they are its places, and else all that is left of it.  The line ran as
 * often as the greatest of its places: so says the block of the source that ran
 * most, which is what counts of unoptimized code say.
 *
 * Code that unwinds is no place: the clean-up of a scope has the line of its
 * end, and the choice of a handler that of a `catch`; such a line ran if its
 * other code did.
 *
 * A copy within one block adds nothing: within a block code is merged, and what
 * stands there twice may have done so in the source.
 *
 * Cost: O(n log n), and for a line with k different places in more than one
 * segment O(k) times these.
 */
#include "plugin/places.h"

#include "abi/map.h"
#include "base/alloc.h"
#include "plugin/function.h"
#include "plugin/shim.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

static bool is_fixed(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMBr:
	case LLVMSwitch:
	case LLVMIndirectBr:
		return LLVMGetNumSuccessors(i) > 1;
	case LLVMCall:
		return !LLVMIsAIntrinsicInst(i);
	case LLVMInvoke:
	case LLVMCallBr:
	case LLVMStore:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMFence:
	case LLVMRet:
	case LLVMResume:
		return true;
	default:
		return false;
	}
}

/* What a call calls, by name (FNV): copies of one call may go to different
 * entries of one function. */
static uint64_t hash_of_callee(LLVMValueRef call)
{
	size_t n = 0;
	const char *name = callee_name(call, &n);
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; name && i < n; i++)
		hash = (hash ^ (unsigned char)name[i]) *
		       UINT64_C(1099511628211);
	return name ? hash : 0;
}

/* 1: a jump, which only tells something where nothing else does. */
static uint64_t operation_of(LLVMValueRef i)
{
	uint64_t opcode = (uint64_t)LLVMGetInstructionOpcode(i);

	if (LLVMIsABranchInst(i) && LLVMGetNumSuccessors(i) == 1)
		return 1;
	/* a copy in which the callee cannot throw is no invoke any more */
	if (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i))
		return (uint64_t)LLVMCall << 48 ^ hash_of_callee(i);
	return opcode << 48;
}

struct place_key place_key_of(LLVMValueRef instruction)
{
	return (struct place_key){
	        .location = LLVMInstructionGetDebugLoc(instruction),
	        .operation = operation_of(instruction),
	        .is_fixed = is_fixed(instruction),
	};
}

/* An item, with what it is sorted by. */
struct sorted {
	struct place_item *item;
	uint32_t source; /* block of the source: the discriminator */
	uint32_t column;
};

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_line(const struct sorted *x, const struct sorted *y)
{
	int order = compare(x->item->instance, y->item->instance);

	if (!order)
		order = compare(x->item->file, y->item->file);
	return order ? order : compare(x->item->line, y->item->line);
}

static int by_source(const struct sorted *x, const struct sorted *y)
{
	int order = by_line(x, y);

	return order ? order : compare(x->source, y->source);
}

static int by_copy(const struct sorted *x, const struct sorted *y)
{
	int order = by_source(x, y);

	if (!order)
		order = compare(x->column, y->column);
	return order ? order
	             : compare(x->item->key.operation, y->item->key.operation);
}

static int by_all(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int order = by_copy(x, y);

	return order ? order : compare((uintptr_t)x->item, (uintptr_t)y->item);
}

typedef int compare_fn(const struct sorted *x, const struct sorted *y);

/* Where the run of equal items ends that begins at i. */
static size_t end_of(const struct sorted *s, size_t i, size_t n, compare_fn *by)
{
	size_t end = i + 1;

	while (end < n && !by(&s[i], &s[end]))
		end++;
	return end;
}

/* --- the places of a line ------------------------------------------------ */

/* Copies of one instruction, the first of each block: in order of blocks. */
struct place {
	struct place_item **copies;
	size_t n;
};

struct places {
	struct place *items;
	size_t n, cap;
	struct place_item **copies; /* of all */
	size_t ncopies;
};

/* How much the copies of one instruction tell: the more the better. */
static int worth(const struct sorted *s)
{
	if (s->item->key.is_fixed)
		return 2;
	return s->item->key.operation != 1;
}

static void add_place(struct places *p, const struct sorted *s, size_t n)
{
	struct place place = {.copies = p->copies + p->ncopies};

	for (size_t i = 0; i < n; i++)
		if (!i || s[i].item->block != s[i - 1].item->block)
			place.copies[place.n++] = s[i].item;
	p->ncopies += place.n;
	VEC_RESERVE(p->items, p->n, p->cap);
	p->items[p->n++] = place;
}

/* The places of a block of the source. */
static void add_source(struct places *p, const struct sorted *s, size_t n)
{
	int most = 0;

	for (size_t i = 0; i < n; i++)
		if (worth(&s[i]) > most)
			most = worth(&s[i]);
	for (size_t i = 0, end; i < n; i = end) {
		end = end_of(s, i, n, by_copy);
		if (worth(&s[i]) == most)
			add_place(p, s + i, end - i);
	}
}

static int by_segments(const struct place *x, const struct place *y)
{
	int order = compare(y->n, x->n);

	for (size_t i = 0; !order && i < x->n; i++)
		order = compare(x->copies[i]->segment, y->copies[i]->segment);
	return order;
}

/* Those in most segments first. */
static int by_size(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = by_segments(x, y);

	return order ? order
	             : compare((uintptr_t)x->copies, (uintptr_t)y->copies);
}

/* Has `whole` all segments of `part`? */
static bool has_all(const struct place *whole, const struct place *part)
{
	size_t k = 0;

	for (size_t i = 0; i < part->n; i++) {
		while (k < whole->n &&
		       whole->copies[k]->segment < part->copies[i]->segment)
			k++;
		if (k == whole->n ||
		    whole->copies[k]->segment != part->copies[i]->segment)
			return false;
	}
	return true;
}

/* A place in some of the segments of another says nothing more. */
static bool is_needless(const struct place *kept, size_t n,
                        const struct place *p)
{
	for (size_t i = 0; i < n; i++)
		if (has_all(&kept[i], p))
			return true;
	return false;
}

/* Numbers those that say something.  Of one segment only: it counts alone. */
static void number_places(struct places *p)
{
	size_t nkept = 0;

	qsort(p->items, p->n, sizeof(*p->items), by_size);
	for (size_t i = 0; i < p->n; i++) {
		struct place *next = &p->items[i];
		uint32_t number = CAIRN_PLACE_ALONE;

		if (is_needless(p->items, nkept, next))
			continue;
		if (next->n > 1) {
			number = CAIRN_PLACE_ALONE + 1 + (uint32_t)nkept;
			p->items[nkept++] = *next;
		}
		for (size_t k = 0; k < next->n; k++)
			next->copies[k]->place = number;
	}
}

/*
 * Puts code that unwinds aside.  In an inlined copy only if the line has other
 * code: a destructor may be inlined into a clean-up.  Returns how many items
 * are left, which are in the same order as before.
 */
static size_t put_aside(struct sorted *s, size_t n)
{
	bool is_inlined = s[0].item->instance != 0;
	size_t nleft = 0;

	for (size_t i = 0; i < n; i++)
		nleft += !s[i].item->key.unwinds;
	if (is_inlined && !nleft)
		return n;
	nleft = 0;
	for (size_t i = 0; i < n; i++) {
		if (s[i].item->key.unwinds)
			s[i].item->place = CAIRN_PLACE_ASIDE;
		else
			s[nleft++] = s[i];
	}
	return nleft;
}

static void choose_of_line(struct places *p, struct sorted *s, size_t n)
{
	n = put_aside(s, n);
	p->n = p->ncopies = 0;
	for (size_t i = 0, end; i < n; i = end) {
		end = end_of(s, i, n, by_source);
		add_source(p, s + i, end - i);
	}
	number_places(p);
}

void places_choose(struct place_item *items, size_t n)
{
	struct sorted *s = xcalloc(n + 1, sizeof(*s));
	struct places p = {.copies = xcalloc(n + 1, sizeof(*p.copies))};

	for (size_t i = 0; i < n; i++) {
		LLVMMetadataRef at = items[i].key.location;

		items[i].place = PLACE_NONE;
		s[i] = (struct sorted){
		        .item = &items[i],
		        .source = shim_discriminator(at),
		        .column = LLVMDILocationGetColumn(at),
		};
	}
	qsort(s, n, sizeof(*s), by_all);
	for (size_t i = 0, end; i < n; i = end) {
		end = end_of(s, i, n, by_line);
		choose_of_line(&p, s + i, end - i);
	}
	free(p.items);
	free(p.copies);
	free(s);
}
