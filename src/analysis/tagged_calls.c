/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of paths across calls, out of the tags of paths.
 *
 * A path that is counted with its tag (graph/tags.h) has for each of its calls
 * of known functions the callee's last path: together with the way from the
 * call on that is a pair of a return.  If the callee's path begins at its entry
 * it is also its first one, and with what the caller had done before a pair of
 * a call; if it does not, the callee has counted that pair where its first path
 * ended.  A frame that died has the calls that had come back to it in its
 * register: pairs of calls, and of no returns.
 *
 * Invariant: what comes out is what a site would have counted that has no
 * digit.
 * Oracle: tests/paths/run.py has the same pairs from a log.
 * Cost: O(1) per call, O(n log n) to sort.
 */
#include "analysis/tagged_calls.h"

#include "analysis/frames.h"
#include "analysis/path_counts.h"
#include "base/alloc.h"
#include "format/calls.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>

static void add(struct tagged_calls *t, const struct profile_call *c)
{
	VEC_RESERVE(t->items, t->n, t->cap);
	t->items[t->n++] = *c;
}

void tagged_calls_begin(struct tagged_calls *t, const struct profile *p)
{
	*t = (struct tagged_calls){0};
	for (size_t i = 0; i < p->ncalls; i++)
		add(t, &p->calls[i]);
}

void tagged_calls_add(struct tagged_calls *t, const struct profile *p,
                      uint32_t module, uint32_t function,
                      const struct path_counts *pc)
{
	const struct map *map = p->modules[module].map;
	const struct map_function *f = &map->functions[function];

	for (size_t i = 0; i < pc->ncalls; i++) {
		const struct path_call *k = &pc->calls[i];
		struct profile_call c = {
		        .site_module = module,
		        .callee_module = module,
		        .site = calls_cell_address(
		                f, &map->calls[f->first_call + k->site]),
		        .callee = k->callee ? k->callee->counters : 0,
		        .count = k->count,
		};

		if (!k->callee || k->path >= k->callee->npaths)
			continue; /* the function's counts are in doubt */
		if (k->path < k->callee->nfirst) {
			c.paths = k->before << 32 | k->path;
			add(t, &c);
		}
		if (k->behind == PATH_CALL_UNFINISHED)
			continue;
		c.is_return = true;
		c.paths = k->path << 32 | k->behind;
		add(t, &c);
	}
}

static void add_module(struct tagged_calls *t, const struct profile *p,
                       uint32_t module)
{
	const struct map *map = p->modules[module].map;
	struct frame_places places;
	struct path_counts pc;

	if (!map)
		return;
	frames_place(&places, p, module);
	for (uint32_t i = 0; i < map->nfunctions; i++) {
		if (!map->functions[i].pairs ||
		    !path_counts_init(&pc, &p->modules[module], i, &places))
			continue;
		tagged_calls_add(t, p, module, i, &pc);
		path_counts_release(&pc);
	}
	frames_release(&places);
}

void tagged_calls_init(struct tagged_calls *t, const struct profile *p)
{
	tagged_calls_begin(t, p);
	for (uint32_t i = 0; i < p->nmodules; i++)
		add_module(t, p, i);
	tagged_calls_end(t);
}

void tagged_calls_end(struct tagged_calls *t)
{
	t->n = calls_sum_list(t->items, t->n);
}

void tagged_calls_release(struct tagged_calls *t)
{
	free(t->items);
	*t = (struct tagged_calls){0};
}
