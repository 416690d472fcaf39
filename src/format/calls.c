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

#include "abi/map.h"
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

size_t calls_sum_list(struct profile_call *calls, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(calls, n, sizeof(*calls), by_key);
	for (size_t i = 0; i < n; i++) {
		if (kept && !by_key(&calls[kept - 1], &calls[i]))
			calls[kept - 1].count += calls[i].count;
		else
			calls[kept++] = calls[i];
	}
	return kept;
}

void calls_sum(struct profile *p)
{
	p->ncalls = calls_sum_list(p->calls, p->ncalls);
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

/* --- rows of counters ----------------------------------------------------- */

static void add_call(struct profile *p, const struct profile_call *c,
                     uint64_t *counter)
{
	if (!*counter)
		return;
	VEC_RESERVE(p->calls, p->ncalls, p->calls_cap);
	p->calls[p->ncalls] = *c;
	p->calls[p->ncalls++].count = *counter;
	*counter = 0;
}

/* Callee's first paths by the sum of a row. */
static bool take_row(struct profile *p, struct profile_call *c, uint64_t sum,
                     uint64_t *row)
{
	for (uint32_t k = 0; k < CAIRN_ROW_PATHS; k++) {
		c->paths = sum << 32 | k;
		if (row[k] && (sum == MAP_NO_SUM || !c->callee))
			return false;
		add_call(p, c, &row[k]);
	}
	return true;
}

/* False if there are counts that are for nothing. */
static bool take_site(struct profile *p, const struct map *map,
                      const struct map_site *s, struct profile_call c,
                      uint64_t *row)
{
	for (uint32_t i = 0; i < s->nrows; i++, row += CAIRN_ROW_PATHS)
		if (!take_row(p, &c, map->row_sums[s->first_row + i], row))
			return false;
	return true;
}

const struct map_function *calls_callee(const struct map *map, uint64_t address)
{
	const struct map_function *found = NULL;

	for (uint32_t i = 0; i < map->nfunctions; i++) {
		const struct map_function *f = &map->functions[i];

		if (f->address == address && f->rows &&
		    (!found || f->rows > found->rows))
			found = f;
	}
	return found;
}

/* The counters of whom a site with rows calls; 0: it has no marks. */
static uint64_t counters_at(const struct map *map, uint64_t address)
{
	const struct map_function *f = calls_callee(map, address);

	return f ? f->counters : 0;
}

uint64_t calls_cell_address(const struct map_function *f,
                            const struct map_site *s)
{
	return f->counters +
	       8 * (uint64_t)(f->ncounters - f->ncells + s->cell - 1);
}

static bool take_function(struct profile *p, uint32_t module,
                          const struct map_function *f)
{
	struct profile_module *m = &p->modules[module];
	uint64_t at = (f->counters - m->base) / 8;

	for (uint32_t i = 0; m->counts && f->pairs && i < f->ncalls; i++) {
		const struct map_site *s = &m->map->calls[f->first_call + i];
		struct profile_call c = {
		        .site_module = module,
		        .callee_module = module,
		        .site = calls_cell_address(f, s),
		        .callee = s->nrows ? counters_at(m->map, s->callee) : 0,
		};

		if (s->nrows && !take_site(p, m->map, s, c,
		                           m->counts + at + s->row_counter))
			return false;
	}
	return true;
}

/* The site of a row, and the sum that it is for. */
static bool name_row(const struct profile *p, struct profile_call *c)
{
	const struct map *map = p->modules[c->site_module].map;
	const struct map_function *f =
	        map ? calls_function(map, c->site) : NULL;
	uint64_t k = f ? (c->site - f->counters) / 8 : 0, row;

	if (!f || c->is_return || k >= f->ncounters - f->ncells)
		return true;
	for (uint32_t i = 0; f->pairs && i < f->ncalls; i++) {
		const struct map_site *s = &map->calls[f->first_call + i];

		row = (k - s->row_counter) / CAIRN_ROW_PATHS;
		if (k < s->row_counter || row >= s->nrows)
			continue;
		c->site = calls_cell_address(f, s);
		c->paths |= map->row_sums[s->first_row + row] << 32;
		return map->row_sums[s->first_row + row] != MAP_NO_SUM;
	}
	return false;
}

const char *calls_take_rows(struct profile *p)
{
	for (size_t i = 0; i < p->ncalls; i++)
		if (!name_row(p, &p->calls[i]))
			return "a call is counted at no call site";
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *map = p->modules[i].map;

		for (uint32_t k = 0; map && k < map->nfunctions; k++)
			if (!take_function(p, i, &map->functions[k]))
				return "a call is counted that its site does "
				       "not make";
	}
	return NULL;
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
