/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tail calls that may follow each other without end.
 *
 * A graph has a node per function and an edge per tail call; one node stands
 * for whatever a pointer leads to, which is every function that is not only
 * called by name from here.  A function of another file that is called by name
 * is taken for one that does not come back here by tail calls.  Nodes that
 * nothing leads to, or that lead nowhere, are removed again and again; what is
 * left are cycles, and ways between them.
 *
 * Invariant: each cycle of the graph is left.
 * Cost: edges times the longest way without a cycle.
 */
#include "plugin/tails.h"

#include "base/alloc.h"
#include "base/ptrmap.h"
#include "ir/flow.h"
#include "plugin/shim.h"

#include <stdbool.h>
#include <stdlib.h>

#define POINTER 0u

struct tail {
	uint32_t from, to;
	LLVMValueRef call; /* NULL: from POINTER */
	bool is_gone;
};

struct tails {
	struct ptrmap number; /* of a function */
	uint32_t nfunctions;  /* with POINTER */
	struct tail *items;
	size_t n, cap;
};

static void add(struct tails *t, uint32_t from, uint32_t to, LLVMValueRef call)
{
	VEC_RESERVE(t->items, t->n, t->cap);
	t->items[t->n++] = (struct tail){.from = from, .to = to, .call = call};
}

static void add_calls(struct tails *t, LLVMValueRef f)
{
	uint32_t from = ptrmap_get(&t->number, f);

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef call = ir_tail_call(b), callee;
		uint32_t to = POINTER;

		if (!call)
			continue;
		callee = LLVMGetCalledValue(call);
		if (LLVMIsAFunction(callee))
			to = ptrmap_get(&t->number, callee);
		if (to != PTRMAP_NONE)
			add(t, from, to, call);
	}
}

static void find_calls(struct tails *t, LLVMModuleRef module)
{
	t->nfunctions = POINTER + 1;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			ptrmap_set(&t->number, f, t->nfunctions++);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f))
			continue;
		add_calls(t, f);
		if (shim_has_outside_callers(f))
			add(t, POINTER, ptrmap_get(&t->number, f), NULL);
	}
}

/* Removes edges that no cycle can have; false: there are none. */
static bool trim(struct tails *t, bool *enters, bool *leaves)
{
	bool has_changed = false;

	for (uint32_t i = 0; i < t->nfunctions; i++)
		enters[i] = leaves[i] = false;
	for (size_t i = 0; i < t->n; i++) {
		if (t->items[i].is_gone)
			continue;
		leaves[t->items[i].from] = true;
		enters[t->items[i].to] = true;
	}
	for (size_t i = 0; i < t->n; i++) {
		struct tail *e = &t->items[i];

		if (e->is_gone || (enters[e->from] && leaves[e->to]))
			continue;
		e->is_gone = has_changed = true;
	}
	return has_changed;
}

void tails_find_deep(LLVMModuleRef module, struct ptrmap *deep)
{
	struct tails t = {0};
	bool *enters, *leaves;

	find_calls(&t, module);
	enters = xcalloc(t.nfunctions, sizeof(*enters));
	leaves = xcalloc(t.nfunctions, sizeof(*leaves));
	while (trim(&t, enters, leaves))
		;
	for (size_t i = 0; i < t.n; i++)
		if (!t.items[i].is_gone && t.items[i].call)
			ptrmap_set(deep, t.items[i].call, 1);
	free(enters);
	free(leaves);
	free(t.items);
	ptrmap_release(&t.number);
}
