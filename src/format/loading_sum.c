/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a profile several times, after files were added to it, becomes one
 * of each: frames by place, paths by function and number, calls and windows.
 *
 * Sorted, equal ones stand side by side.  Counts are plain numbers of events,
 * so it does not matter when they are summed: in between, if much has come, and
 * at the end.  Frames are told apart by the load bias of their registers until
 * maps are there that take it out (normal.c).
 *
 * Invariant: sums are modulo 2^64, as counters are; of a sum of zero nothing is
 * kept.
 * Cost: O(n log n); compacted when it has doubled, O(log n) per item on
 * average.
 */
#include "format/loading.h"

#include "base/alloc.h"
#include "format/calls.h"
#include "format/normal.h"
#include "format/windows.h"

#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
	const struct profile_frame *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->has_reg != y->has_reg)
		return x->has_reg ? 1 : -1;
	return x->reg < y->reg ? -1 : x->reg > y->reg;
}

static int by_place_and_bias(const void *a, const void *b)
{
	const struct loaded_frame *x = a, *y = b;
	int c = by_place(&x->frame, &y->frame);

	return c ? c : x->bias < y->bias ? -1 : x->bias > y->bias;
}

/* Sorts the frames, adds up equal ones and forgets sums of zero. */
static void sum_frames(struct loading *l)
{
	size_t kept = 0;

	if (l->nframes)
		qsort(l->frames, l->nframes, sizeof(*l->frames),
		      by_place_and_bias);
	for (size_t i = 0, next; i < l->nframes; i = next) {
		struct loaded_frame f = l->frames[i];
		uint64_t sum = 0;

		for (next = i; next < l->nframes &&
		               !by_place_and_bias(&f, &l->frames[next]);
		     next++)
			sum += (uint64_t)l->frames[next].frame.count;
		f.frame.count = (int64_t)sum;
		if (sum)
			l->frames[kept++] = f;
	}
	l->nframes = kept;
}

/* Puts the registers of all frames in terms that all runs share. */
static void normalise_frames(struct loading *l)
{
	struct profile *p = l->p;
	struct normal_sites *sites = xcalloc(p->nmodules, sizeof(*sites));

	for (uint32_t i = 0; i < p->nmodules; i++)
		normal_sites_init(&sites[i], &p->modules[i]);
	for (size_t i = 0; i < l->nframes; i++) {
		struct loaded_frame *f = &l->frames[i];

		normal_frame(&sites[f->frame.module], &f->frame, f->bias);
		f->bias = 0;
	}
	for (uint32_t i = 0; i < p->nmodules; i++)
		normal_sites_release(&sites[i]);
	free(sites);
}

void loading_settle_frames(struct loading *l)
{
	struct profile *p = l->p;

	normalise_frames(l);
	sum_frames(l);
	p->frames_cap = p->nframes = l->nframes;
	p->frames = xmalloc(p->nframes * sizeof(*p->frames));
	for (size_t i = 0; i < p->nframes; i++)
		p->frames[i] = l->frames[i].frame;
}

static int by_path(const void *a, const void *b)
{
	const struct profile_path *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void loading_sum_paths(struct profile_module *m)
{
	size_t kept = 0;

	if (m->npaths)
		qsort(m->paths, m->npaths, sizeof(*m->paths), by_path);
	for (size_t i = 0, next; i < m->npaths; i = next) {
		struct profile_path path = m->paths[i];

		for (next = i + 1;
		     next < m->npaths && !by_path(&path, &m->paths[next]);
		     next++)
			path.count += m->paths[next].count;
		if (path.count)
			m->paths[kept++] = path;
	}
	m->npaths = kept;
}

/* Doubles, at most, what was there when it was last summed. */
static bool is_much(size_t n, size_t summed)
{
	return n / 2 > summed + LOADING_SLACK;
}

void loading_compact(struct loading *l)
{
	struct profile *p = l->p;

	if (is_much(l->nframes, l->frames_summed)) {
		sum_frames(l);
		l->frames_summed = l->nframes;
	}
	if (is_much(p->ncalls, l->calls_summed)) {
		calls_sum(p);
		l->calls_summed = p->ncalls;
	}
	if (is_much(p->windows.npool, l->windows_summed)) {
		windows_sum(p);
		l->windows_summed = p->windows.npool;
	}
	for (uint32_t i = 0; i < p->nmodules; i++) {
		struct profile_module *m = &p->modules[i];

		if (!is_much(m->npaths, m->paths_summed))
			continue;
		loading_sum_paths(m);
		m->paths_summed = m->npaths;
	}
}
