/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash of all blocks that a thread executed, in order.
 *
 * A block is the word a << 32 | b, where a is the low half of its function's
 * address in the process and b its number; h starts with 0, and each word makes
 * it (h ^ word) * 0x9e3779b97f4a7c15, then h ^ h >> 29.  A program that writes
 * down each block that it executes (--cairn=trace,log; tests/trace/log.c) gets
 * the same number from what it wrote, if and only if the trace regenerates just
 * that: tests/trace compares them.
 *
 * One kind of block is left out: one that is nothing but a call which may come
 * back in two ways.  The log has it before the call, the trace behind it.
 *
 * Invariant: no event is skipped: nblocks is what the walk counts, less what is
 * left out.  Cost: the walk, and about 2 ns per block.
 */
#include "analysis/trace_hash.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/traced.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#define BATCH 256
#define FACTOR 0x9e3779b97f4a7c15u

struct hasher {
	const struct traced *t;
	uint64_t *base;  /* per function: its address, in the high half */
	bool **is_call;  /* per function: NULL, or per block: left out */
	uint64_t h, n;   /* of the thread at hand */
	bool is_running; /* there is one */
};

void trace_hash_release(struct trace_hash *h)
{
	free(h->threads);
	*h = (struct trace_hash){0};
}

/* Does a frame that is in a call of this block go on in the next one? */
static bool goes_on(const struct traced_function *f, block_id block)
{
	const struct map_edge *edges = f->map->edges + f->f->first_edge;
	const struct map_call *calls = f->map->traced + f->f->first_traced;

	for (uint32_t i = 0; i < f->f->ntraced; i++)
		if (edges[calls[i].edge].src == block &&
		    edges[calls[i].edge].kind == CAIRN_EDGE_FALL)
			return true;
	return false;
}

static bool *calls_of(const struct traced_function *f)
{
	bool *is_call = NULL;

	for (uint32_t i = 0; i < f->f->nsites; i++) {
		block_id b = f->map->sites[f->f->first_site + i].block;

		if (goes_on(f, b))
			continue;
		if (!is_call)
			is_call = xcalloc(f->f->nblocks, sizeof(*is_call));
		is_call[b] = true;
	}
	return is_call;
}

static void hasher_init(struct hasher *x, const struct traced *t)
{
	*x = (struct hasher){.t = t};
	x->base = xcalloc((size_t)t->n + 1, sizeof(*x->base));
	x->is_call = xcalloc((size_t)t->n + 1, sizeof(*x->is_call));
	for (uint32_t i = 0; i < t->n; i++) {
		const struct traced_function *f = &t->functions[i];

		x->base[i] =
		        (f->f->address + t->profile->modules[f->module].bias)
		        << 32;
		x->is_call[i] = calls_of(f);
	}
}

static void hasher_release(struct hasher *x)
{
	for (uint32_t i = 0; i < x->t->n; i++)
		free(x->is_call[i]);
	free(x->is_call);
	free(x->base);
}

static inline uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * FACTOR;
	return h ^ h >> 29;
}

static void take_path(struct hasher *x, const struct walk_event *e)
{
	const bool *is_call = x->is_call[e->function];
	const block_id *blocks = e->way->blocks;
	uint64_t base = x->base[e->function], h = x->h;
	uint32_t n = e->way->nblocks, nleft = 0;

	if (!is_call) {
		for (uint32_t i = e->nskipped; i < n; i++)
			h = mix(h, base | blocks[i]);
	} else {
		for (uint32_t i = e->nskipped; i < n; i++) {
			if (is_call[blocks[i]])
				nleft++;
			else
				h = mix(h, base | blocks[i]);
		}
	}
	x->h = h;
	x->n += n - e->nskipped - nleft;
}

static void end_thread(struct hasher *x, struct trace_hash *all)
{
	if (x->is_running) {
		all->threads[all->n - 1].hash = x->h;
		all->threads[all->n - 1].nblocks = x->n;
	}
	x->h = x->n = 0;
	x->is_running = false;
}

static void begin_thread(struct hasher *x, struct trace_hash *all,
                         size_t stream, uint64_t tid)
{
	end_thread(x, all);
	VEC_RESERVE(all->threads, all->n, all->cap);
	all->threads[all->n++] =
	        (struct trace_hash_thread){.stream = stream, .tid = tid};
	x->is_running = true;
}

static void take(struct hasher *x, struct trace_hash *all, size_t stream,
                 const struct walk_event *e)
{
	if (e->kind == WALK_START) {
		begin_thread(x, all, stream, e->value);
		return;
	}
	if (e->kind != WALK_PATH)
		return;
	if (!x->is_running)
		begin_thread(x, all, stream, 0);
	take_path(x, e);
}

int trace_hash_add(struct trace_hash *h, struct traced *t, size_t stream,
                   struct cairn_err *err)
{
	struct walk_event events[BATCH];
	struct traced_walk w;
	struct hasher x;
	int result = 1;

	hasher_init(&x, t);
	traced_begin(&w, t, stream);
	while (result == 1) {
		size_t n;

		result = walk_run(&w.walk, events, BATCH, &n, err);
		for (size_t i = 0; i < n; i++)
			take(&x, h, stream, &events[i]);
	}
	end_thread(&x, h);
	traced_end(&w);
	hasher_release(&x);
	return result;
}
