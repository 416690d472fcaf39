/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of paths across calls, in files.
 *
 * The runtime writes addresses as they are in the process: that of a site's
 * cell, with 1 added if the callee came back, and that of the callee's
 * counters.  Which module they are in follows from where the modules were
 * loaded.  Files that we write have module numbers and link-time addresses
 * instead (AUX0 of the chunk is 1), so that runs add up.
 *
 * Invariant: what is written and read again is the same.
 * Cost: O(modules) per pair that is read, O(n log n) to sum.
 */
#include "format/calls.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "format/container.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/writer.h"

#include <stdlib.h>

#define MODULE_SHIFT 48
#define ADDRESS_MASK (((uint64_t)1 << MODULE_SHIFT) - 1)

bool calls_place(const struct profile *p, const struct calls_modules *m,
                 bool is_raw, uint64_t at, uint32_t *module, uint64_t *address)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct profile_module *x = &p->modules[m->module[i]];

		*module = m->module[i];
		*address = is_raw ? at - m->bias[i] : at & ADDRESS_MASK;
		if (!is_raw && at >> MODULE_SHIFT != m->number[i])
			continue;
		if (*address >= x->base && *address % 8 == 0 &&
		    (*address - x->base) / 8 < x->ncounters)
			return true;
	}
	return false;
}

const char *calls_load(struct profile *p, const struct calls_modules *m,
                       const struct chunk *k)
{
	for (uint64_t i = 0; i < k->n; i++) {
		const unsigned char *slot = k->payload + CAIRN_CALLS_SLOT * i;
		uint64_t site = get_le64(slot), callee = get_le64(slot + 8);
		struct profile_call c = {
		        .is_return = site & 1,
		        .paths = get_le64(slot + 16),
		        .count = get_le64(slot + 24),
		};

		if (!c.count)
			continue;
		if (!calls_place(p, m, !k->aux0, site & ~(uint64_t)1,
		                 &c.site_module, &c.site) ||
		    !calls_place(p, m, !k->aux0, callee, &c.callee_module,
		                 &c.callee))
			return "a call is counted that no module of the file "
			       "makes";
		VEC_RESERVE(p->calls, p->ncalls, p->calls_cap);
		p->calls[p->ncalls++] = c;
	}
	return NULL;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
	const struct profile_call *x = a, *y = b;
	int c = compare(x->site_module, y->site_module);

	if (!c)
		c = compare(x->site, y->site);
	if (!c)
		c = compare(x->is_return, y->is_return);
	if (!c)
		c = compare(x->callee_module, y->callee_module);
	if (!c)
		c = compare(x->callee, y->callee);
	return c ? c : compare(x->paths, y->paths);
}

void calls_sum(struct profile *p)
{
	size_t kept = 0;

	if (p->ncalls)
		qsort(p->calls, p->ncalls, sizeof(*p->calls), by_key);
	for (size_t i = 0; i < p->ncalls; i++) {
		if (kept && !by_key(&p->calls[kept - 1], &p->calls[i]))
			p->calls[kept - 1].count += p->calls[i].count;
		else
			p->calls[kept++] = p->calls[i];
	}
	p->ncalls = kept;
}

void calls_put(struct bytes *out, struct bytes *tmp, const struct profile *p)
{
	if (!p->ncalls)
		return;
	tmp->n = 0;
	for (size_t i = 0; i < p->ncalls; i++) {
		const struct profile_call *c = &p->calls[i];
		uint64_t site_module = (uint64_t)c->site_module + 1;
		uint64_t callee_module = (uint64_t)c->callee_module + 1;

		bytes_put_u64(tmp, site_module << MODULE_SHIFT | c->site |
		                           c->is_return);
		bytes_put_u64(tmp, callee_module << MODULE_SHIFT | c->callee);
		bytes_put_u64(tmp, c->paths);
		bytes_put_u64(tmp, c->count);
	}
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_CALLS,
	                                    .n = p->ncalls,
	                                    .aux0 = 1},
	             tmp->data, tmp->n);
}

const struct map_function *calls_function(const struct map *map, uint64_t at)
{
	for (uint32_t i = 0; i < map->nfunctions; i++) {
		const struct map_function *f = &map->functions[i];

		if (at >= f->counters &&
		    at < f->counters + 8 * (uint64_t)f->ncounters)
			return f;
	}
	return NULL;
}

uint64_t calls_cell(const struct map_function *f, uint64_t at)
{
	return (at - f->counters) / 8 - (f->ncounters - f->ncells);
}
