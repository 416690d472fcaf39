/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks, for flamegraph.pl and its kin: a line per different stack, its
 * functions from the outermost on with ';' between, a blank, and how much time
 * the innermost one itself took in all threads.  Stacks without time of their
 * own have no line.
 *
 * B. Gregg, "The flame graph", CACM 59(6), 2016.
 *
 * The stacks are a tree; a stack is its parent and one function more, and the
 * pair is looked up in a table.  A function calls the same ones over and over,
 * so stacks are few where calls are many.
 *
 * Each line has a whole stack, so that a recursion of n frames makes n^2 / 2
 * names: frames below MAX_DEPTH become one, "[deeper]".  Their time is not
 * lost.
 *
 * Names must not have ';', line ends or control characters, which become ':'
 * and blanks; flamegraph.pl stops at what is not UTF-8, so that is replaced, as
 * in JSON.
 *
 * Invariant: stack 0 is the empty one; every other one comes after
 * its parent.  Cost: O(1) per call.
 */
#include "cli/export.h"

#include "base/alloc.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 1000
#define DEEPER UINT32_MAX

struct stack {
	uint32_t parent, function; /* DEEPER: those that are not shown */
	uint64_t weight;
};

struct export_tree {
	struct stack *stacks;
	uint32_t n, cap;
	uint32_t *slots; /* open addressing: a stack, 0 empty */
	uint32_t nslots; /* a power of two */
	uint32_t at;     /* the current stack */
};

static uint32_t find_slot(const struct export_tree *t, uint32_t parent,
                          uint32_t function)
{
	uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15;
	uint32_t i = (uint32_t)(h >> 32) & (t->nslots - 1), s;

	while ((s = t->slots[i]) && (t->stacks[s].parent != parent ||
	                             t->stacks[s].function != function))
		i = (i + 1) & (t->nslots - 1);
	return i;
}

static void grow(struct export_tree *t)
{
	free(t->slots);
	t->nslots = t->nslots ? 2 * t->nslots : 1024;
	t->slots = xcalloc(t->nslots, sizeof(*t->slots));
	for (uint32_t s = 1; s < t->n; s++)
		t->slots[find_slot(t, t->stacks[s].parent,
		                   t->stacks[s].function)] = s;
}

static uint32_t add_stack(struct export_tree *t, uint32_t parent,
                          uint32_t function)
{
	VEC_RESERVE(t->stacks, t->n, t->cap);
	t->stacks[t->n] =
	        (struct stack){.parent = parent, .function = function};
	return t->n++;
}

static uint32_t child_of(struct export_tree *t, uint32_t parent,
                         uint32_t function)
{
	uint32_t slot;

	if (2 * (t->n + 1) > t->nslots)
		grow(t);
	slot = find_slot(t, parent, function);
	if (!t->slots[slot])
		t->slots[slot] = add_stack(t, parent, function);
	return t->slots[slot];
}

static void folded_begin(struct export_writer *x)
{
	x->tree = xcalloc(1, sizeof(*x->tree));
	add_stack(x->tree, 0, 0);
}

static void folded_begin_thread(struct export_writer *x)
{
	x->tree->at = 0;
}

static void folded_spend(struct export_writer *x, uint64_t time)
{
	x->tree->stacks[x->tree->at].weight += time;
}

static void folded_enter(struct export_writer *x, uint32_t function)
{
	struct export_tree *t = x->tree;

	if (x->nframes <= MAX_DEPTH)
		t->at = child_of(t, t->at, function);
	else if (x->nframes == MAX_DEPTH + 1)
		t->at = child_of(t, t->at, DEEPER);
}

static void folded_leave(struct export_writer *x, uint32_t function)
{
	(void)function;
	if (x->nframes <= MAX_DEPTH)
		x->tree->at = x->tree->stacks[x->tree->at].parent;
}

static void folded_end_thread(struct export_writer *x)
{
	(void)x;
}

void export_put_folded(FILE *out, const char *name)
{
	char *text = text_escape(name, strlen(name));

	for (char *at = text; (at = strchr(at, ';'));)
		*at = ':';
	fputs(text, out);
	free(text);
}

static void put_function(struct export_writer *x, uint32_t function)
{
	const char *s =
	        function == DEEPER ? "[deeper]" : x->functions[function].name;

	export_put_folded(x->out, s);
}

static void put_stack(struct export_writer *x, uint32_t stack)
{
	const struct stack *stacks = x->tree->stacks;
	uint32_t functions[MAX_DEPTH + 1];
	size_t n = 0;

	for (uint32_t s = stack; s; s = stacks[s].parent)
		functions[n++] = stacks[s].function;
	while (n--) {
		put_function(x, functions[n]);
		putc(n ? ';' : ' ', x->out);
	}
	fprintf(x->out, "%" PRIu64 "\n", stacks[stack].weight);
}

static void folded_end(struct export_writer *x)
{
	for (uint32_t s = 1; s < x->tree->n; s++)
		if (x->tree->stacks[s].weight)
			put_stack(x, s);
	free(x->tree->stacks);
	free(x->tree->slots);
	free(x->tree);
}

const struct export_format export_folded = {
        .name = "folded",
        .begin = folded_begin,
        .begin_thread = folded_begin_thread,
        .spend = folded_spend,
        .enter = folded_enter,
        .leave = folded_leave,
        .end_thread = folded_end_thread,
        .end = folded_end,
};
