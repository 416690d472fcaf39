/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bases: which marks count relative to a register.
 *
 * In an executable a mark needs no register (mark.c).  But the processor
 * forwards a store to the next load of the same counter sooner if both are
 * relative to a general register: `incq 64(%rbx)` over and over takes 1 cycle
 * each on AMD EPYC, `incq %gs:64+counters(%rip)` and also the plain
 * `incq 64+counters(%rip)` take 6 (bzip2: 1.07 against 1.14 times the plain
 * run).  So marks in loops without calls, where no register has to be saved
 * for it, count from counters + delta in a register, found once before the
 * outermost such loop.
 *
 * Invariant: a base is defined at the end of the only block from which its
 * loop is entered, which dominates all blocks of the loop; loops that can be
 * entered in other ways have none.
 * Cost: linear in the function, times the depth of its loops.
 */
#include "plugin/function.h"

#include "base/alloc.h"
#include "graph/dfs.h"
#include "graph/loops.h"

#include <stdlib.h>

/* Increments per entry of a loop from which on finding the base pays. */
#define BASE_PAYS 8

struct finder {
	struct function *fn;
	struct loops loops;
	bool *has_call;  /* per loop, those inside included */
	edge_id *enter;  /* per loop: the way in */
	uint64_t *marks; /* per loop: how often its marks run */
};

/* The only edge into a loop, if a base can be found at its source; else 0. */
static edge_id find_enter(const struct finder *x, uint32_t loop)
{
	const struct cfg *g = &x->fn->g;
	block_id head = x->loops.loop[loop].head;
	edge_id enter = 0;
	LLVMValueRef end;

	if (x->loops.loop[loop].irreducible)
		return 0;
	for (uint32_t i = g->in_at[head]; i < g->in_at[head + 1]; i++) {
		if (loops_contains(&x->loops, loop, g->edges[g->in[i]].src))
			continue;
		if (enter)
			return 0;
		enter = g->in[i];
	}
	if (!enter) /* the entry of the function */
		return 0;
	end = LLVMGetBasicBlockTerminator(
	        x->fn->nodes[g->edges[enter].src].block);
	return LLVMIsABranchInst(end) || LLVMIsASwitchInst(end) ? enter : 0;
}

/* The outermost loop around a block that can have a base, or CFG_NONE. */
static uint32_t home_of(const struct finder *x, block_id b)
{
	uint32_t home = CFG_NONE;

	for (uint32_t l = x->loops.of[b]; l != CFG_NONE && !x->has_call[l];
	     l = x->loops.loop[l].parent)
		if (x->enter[l])
			home = l;
	return home;
}

static uint64_t flow_into(const struct function *fn, block_id b)
{
	uint64_t flow = 0;

	for (uint32_t i = fn->g.in_at[b]; i < fn->g.in_at[b + 1]; i++)
		flow += fn->edges[fn->g.in[i]].weight;
	return flow;
}

static void note_calls(struct finder *x)
{
	for (block_id b = 1; b < x->fn->g.nblocks; b++)
		if (x->fn->nodes[b].has_call)
			for (uint32_t l = x->loops.of[b]; l != CFG_NONE;
			     l = x->loops.loop[l].parent)
				x->has_call[l] = true;
}

/* Edges belong to the loop of both their ends: where the mark comes to stand
 * is not looked at. */
static void weigh_marks(struct finder *x, const uint32_t *home)
{
	const struct function *fn = x->fn;

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		uint32_t loop = home[fn->g.edges[e].src];

		if (fn->edges[e].counter && fn->edges[e].where != AT_TRIP &&
		    loop != CFG_NONE && loop == home[fn->g.edges[e].dst])
			x->marks[loop] += fn->edges[e].weight;
	}
	for (block_id b = 1; b < fn->g.nblocks; b++)
		if (fn->nodes[b].counter && home[b] != CFG_NONE)
			x->marks[home[b]] += flow_into(fn, b);
}

static bool pays(const struct finder *x, uint32_t loop)
{
	uint64_t entries = flow_into(x->fn, x->fn->g.edges[x->enter[loop]].src);

	return x->marks[loop] / BASE_PAYS >= entries && x->marks[loop];
}

static void give_bases(struct finder *x, const uint32_t *home)
{
	struct function *fn = x->fn;
	uint32_t *base_of = xcalloc(x->loops.n, sizeof(*base_of));

	for (uint32_t l = 0; l < x->loops.n; l++) {
		if (!x->enter[l] || !pays(x, l))
			continue;
		VEC_RESERVE(fn->bases, fn->nbases, fn->bases_cap);
		fn->bases[fn->nbases++] =
		        (struct loop_base){.enter = x->enter[l]};
		base_of[l] = fn->nbases;
	}
	for (block_id b = 1; b < fn->g.nblocks; b++)
		if (home[b] != CFG_NONE)
			fn->nodes[b].base = base_of[home[b]];
	free(base_of);
}

void bases_find(struct function *fn)
{
	struct finder x = {.fn = fn};
	uint32_t *home = xcalloc(fn->g.nblocks, sizeof(*home));
	struct dfs dfs;

	dfs_init(&dfs, &fn->g);
	loops_init(&x.loops, &fn->g, &dfs);
	x.has_call = xcalloc(x.loops.n, sizeof(*x.has_call));
	x.enter = xcalloc(x.loops.n, sizeof(*x.enter));
	x.marks = xcalloc(x.loops.n, sizeof(*x.marks));
	note_calls(&x);
	for (uint32_t l = 0; l < x.loops.n; l++)
		x.enter[l] = find_enter(&x, l);
	home[CFG_OUTSIDE] = CFG_NONE;
	for (block_id b = 1; b < fn->g.nblocks; b++)
		home[b] = home_of(&x, b);
	weigh_marks(&x, home);
	give_bases(&x, home);
	free(x.has_call);
	free(x.enter);
	free(x.marks);
	free(home);
	loops_release(&x.loops);
	dfs_release(&dfs);
}
