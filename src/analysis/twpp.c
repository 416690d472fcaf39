/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamped whole program paths: collecting.
 *
 * Y. Zhang and R. Gupta, "Timestamped whole program path representation and its
 * applications", PLDI 2001, section 2: the trace of a program is cut into path
 * traces, one per activation; equal ones of a function are kept once; a dynamic
 * call graph says which activation called which, so that the whole can be put
 * together again.  Timestamps come when the file is written (twpp_stamp.c).
 *
 * The dynamic call graph is compacted in the same way as the traces: what an
 * activation is, its function, its trace, how it ended and the activations that
 * it called, is kept once.  Calls of a function that do the same, all the way
 * down, are one node, and the tree becomes a graph without cycles.  A node is
 * numbered when its first activation ends: callees have lower numbers.
 *
 * Where in the trace of the caller a call belongs follows from its block: a
 * block makes as many calls each time, unless it calls code without marks which
 * calls back.  The number is what the block did when it was first completed;
 * executions that differ are listed with their activation ("odd").  Calls
 * before the first block belong to block 0.
 *
 * If only some functions are asked for (twpp_only), the frames of others are
 * only counted, and no call graph is made.
 *
 * Memory: frames hold their traces as varints and in packed pieces of 64 KiB
 * (twpp_pack.c), ended activations cost nothing unless they are new.
 * Cost: a few ns per block, and a hash of trace and calls per activation.
 */
#include "analysis/twpp.h"

#include "analysis/twpp_builder.h"
#include "analysis/twpp_stamp.h"
#include "base/alloc.h"
#include "base/err.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* Memory that an ended frame may leave to the next one at its depth. */
#define KEEP ((size_t)1 << 17)

struct twpp_builder *twpp_new(void)
{
	return xcalloc(1, sizeof(struct twpp_builder));
}

static void release_thread(struct twpp_thread *t)
{
	for (size_t i = 0; i < t->frames_ready; i++) {
		twpp_pack_release(&t->frames[i].blocks);
		twpp_pack_release(&t->frames[i].odd);
		twpp_pack_release(&t->frames[i].children);
	}
	free(t->frames);
	twpp_pack_release(&t->roots);
	free(t);
}

void twpp_free(struct twpp_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nthreads; i++)
		release_thread(b->threads[i]);
	for (size_t i = 0; i < b->nfunctions; i++) {
		twpp_store_release(&b->functions[i].traces);
		free(b->functions[i].trace_calls);
		free(b->functions[i].expected);
	}
	free(b->threads);
	free(b->functions);
	free(b->is_wanted);
	twpp_store_release(&b->nodes);
	twpp_zip_release(&b->zip);
	bytes_release(&b->scratch);
	free(b);
}

void twpp_only(struct twpp_builder *b, const uint32_t *functions, size_t n)
{
	assert(!b->nthreads);
	b->is_partial = true;
	for (size_t i = 0; i < n; i++)
		if (functions[i] >= b->nwanted)
			b->nwanted = (size_t)functions[i] + 1;
	b->is_wanted = xcalloc(b->nwanted + 1, sizeof(*b->is_wanted));
	for (size_t i = 0; i < n; i++)
		b->is_wanted[functions[i]] = true;
}

struct twpp_thread *twpp_thread(struct twpp_builder *b, uint64_t id)
{
	struct twpp_thread *t;

	for (size_t i = 0; i < b->nthreads; i++)
		if (b->threads[i]->id == id)
			return b->threads[i];
	t = xcalloc(1, sizeof(*t));
	t->builder = b;
	t->id = id;
	VEC_RESERVE(b->threads, b->nthreads, b->threads_cap);
	b->threads[b->nthreads++] = t;
	return t;
}

/* --- feeding ------------------------------------------------------------ */

static void add_functions(struct twpp_builder *b, uint32_t function)
{
	size_t n = b->nfunctions ? b->nfunctions : 64;

	while (n <= function)
		n *= 2;
	b->functions = xrealloc(b->functions, n, sizeof(*b->functions));
	for (size_t i = b->nfunctions; i < n; i++)
		b->functions[i] = (struct twpp_build_function){0};
	b->nfunctions = n;
}

static void add_blocks(struct twpp_build_function *f, uint32_t block)
{
	size_t n = f->nexpected ? f->nexpected : 16;

	while (n <= block)
		n *= 2;
	f->expected = xrealloc(f->expected, n, sizeof(*f->expected));
	for (size_t i = f->nexpected; i < n; i++)
		f->expected[i] = TWPP_NOT_KNOWN;
	f->nexpected = n;
}

int twpp_enter(struct twpp_thread *t, uint32_t function, struct cairn_err *err)
{
	struct twpp_builder *b = t->builder;
	struct twpp_frame *f;

	if (function >= TWPP_FUNCTIONS)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "function %" PRIu32 " has too high a number",
		                  function);
	if (function >= b->nfunctions)
		add_functions(b, function);
	if (!b->functions[function].nexpected)
		add_blocks(&b->functions[function], 0);
	VEC_RESERVE(t->frames, t->nframes, t->frames_cap);
	f = &t->frames[t->nframes];
	if (t->nframes++ == t->frames_ready) {
		*f = (struct twpp_frame){0};
		t->frames_ready++;
	}
	f->function = function;
	f->is_kept = !b->is_partial ||
	             (function < b->nwanted && b->is_wanted[function]);
	b->sizes.ncalls += f->is_kept;
	return 0;
}

/* The block is completed: did it make as many calls as it always does? */
static void settle(struct twpp_builder *b, struct twpp_frame *f,
                   uint64_t *expected)
{
	if (*expected == TWPP_NOT_KNOWN)
		*expected = f->ncalls;
	if (*expected != f->ncalls) {
		twpp_pack_uv(&f->odd, &b->zip, f->nblocks - f->odd_at);
		twpp_pack_uv(&f->odd, &b->zip, f->ncalls);
		f->odd_at = f->nblocks;
		f->nodd++;
	}
	f->ncalls = 0;
}

int twpp_blocks(struct twpp_thread *t, const uint32_t *blocks, size_t n,
                struct cairn_err *err)
{
	struct twpp_builder *b = t->builder;
	struct twpp_build_function *function;
	struct twpp_frame *f;

	if (!t->nframes)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "thread %" PRIu64 " executes a block outside "
		                  "of any function",
		                  t->id);
	f = &t->frames[t->nframes - 1];
	if (!f->is_kept)
		return 0;
	function = &b->functions[f->function];
	for (size_t i = 0; i < n; i++) {
		uint32_t block = blocks[i];

		if (!block || block >= TWPP_BLOCKS)
			return cairn_fail(err, CAIRN_E_LIMIT,
			                  "function %" PRIu32
			                  " has no block %" PRIu32,
			                  f->function, block);
		if (block >= function->nexpected)
			add_blocks(function, block);
		if (f->ncalls | function->expected[f->block])
			settle(b, f, &function->expected[f->block]);
		f->block = block;
		f->nblocks++;
		twpp_pack_uv(&f->blocks, &b->zip, block);
	}
	return 0;
}

int twpp_leave(struct twpp_thread *t, bool died, struct cairn_err *err)
{
	if (!t->nframes)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "thread %" PRIu64 " leaves a function that "
		                  "it never entered",
		                  t->id);
	twpp_end_frame(t, died ? TWPP_DIED : TWPP_LEFT);
	return 0;
}

/* --- the end of an activation ------------------------------------------- */

static uint32_t add_trace(struct twpp_builder *b, struct twpp_frame *f)
{
	struct twpp_build_function *function = &b->functions[f->function];
	size_t before = function->traces.n;
	uint32_t trace;

	b->scratch.n = 0;
	twpp_pack_put(&f->blocks, &b->scratch);
	trace = twpp_store_add(&function->traces, b->scratch.data,
	                       b->scratch.n);
	if (function->traces.n > before) {
		VEC_RESERVE(function->trace_calls, before,
		            function->trace_calls_cap);
		function->trace_calls[trace] = 0;
		b->sizes.ntraces++;
		b->sizes.unique_words += f->nblocks;
	}
	function->trace_calls[trace]++;
	function->ncalls++;
	b->sizes.nblocks += f->nblocks;
	return trace;
}

static uint32_t add_node(struct twpp_builder *b, const struct twpp_frame *f,
                         uint32_t trace, enum twpp_end end)
{
	size_t before = b->nodes.n;
	uint32_t node;

	b->scratch.n = 0;
	bytes_put_uv(&b->scratch, f->function);
	bytes_put_uv(&b->scratch, (uint64_t)trace << TWPP_TRACE_SHIFT |
	                                  (uint64_t)end |
	                                  (f->nodd ? TWPP_HAS_ODD : 0) |
	                                  (f->nchildren ? TWPP_HAS_CALLS : 0));
	if (f->nodd)
		twpp_pack_put(&f->odd, &b->scratch);
	if (f->nchildren)
		twpp_pack_put(&f->children, &b->scratch);
	node = twpp_store_add(&b->nodes, b->scratch.data, b->scratch.n);
	if (b->nodes.n > before)
		b->sizes.dcg_words += 2 + 2 * f->nodd + f->nchildren;
	return node;
}

static void empty(struct twpp_pack *p)
{
	if (p->pieces.cap > KEEP)
		twpp_pack_release(p);
	else
		twpp_pack_clear(p);
}

void twpp_end_frame(struct twpp_thread *t, enum twpp_end end)
{
	struct twpp_frame *f = &t->frames[--t->nframes];
	struct twpp_builder *b = t->builder;
	uint32_t trace, node = 0;

	if (!f->is_kept)
		return;
	settle(b, f, &b->functions[f->function].expected[f->block]);
	trace = add_trace(b, f);
	if (!b->is_partial)
		node = add_node(b, f, trace, end);
	empty(&f->blocks);
	empty(&f->odd);
	empty(&f->children);
	if (b->scratch.cap > KEEP)
		bytes_release(&b->scratch);
	f->block = 0;
	f->nblocks = f->nodd = f->odd_at = f->nchildren = 0;
	if (b->is_partial)
		return;
	if (t->nframes) {
		struct twpp_frame *caller = &t->frames[t->nframes - 1];

		twpp_pack_uv(&caller->children, &b->zip, node);
		caller->nchildren++;
		caller->ncalls++;
	} else {
		twpp_pack_uv(&t->roots, &b->zip, node);
		t->nroots++;
	}
}
