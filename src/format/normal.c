/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes runs of one build comparable.
 *
 * Two things in a raw file depend on where the program was loaded.  The path
 * register of a frame whose function has one counter per path (DIRECT) is the
 * address of a counter: link-time address plus load bias.  And the counters of
 * a function that counts in tables (HASHED) are offsets and masks of this
 * thread's table: adding them up over threads and runs gives nothing.  Only the
 * map tells such functions from others, so that both are put right when it is
 * known, before frames are summed and before anything is written.
 *
 * Invariant: afterwards equal places of equal runs compare equal, whatever the
 * load address was; a file that is written from this has bias 0, and reading
 * it changes nothing more.
 * Breaks when: a module has no map (--skip-missing): its frames lose their
 * registers, its words stay sums, and nobody looks at either.
 * Cost: O(s log s) for s sites, O(log s) a frame.
 */
#include "format/normal.h"

#include "abi/rt.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Every table has to belong to a function that counts in tables. */
static int check_owners(const struct profile_module *m, const uint64_t *owners,
                        size_t n, struct cairn_err *err)
{
	for (size_t i = 0; i < m->npaths; i++) {
		const struct profile_path *p = &m->paths[i];

		if (i && p->owner == p[-1].owner)
			continue;
		if (!n ||
		    !bsearch(&p->owner, owners, n, sizeof(*owners), by_number))
			return cairn_fail(
			        err, CAIRN_E_CORRUPT,
			        "%s: paths were counted for %#" PRIx64
			        ", where no function of its map has a table; "
			        "run the program again, or restore the file",
			        m->path, p->owner);
	}
	return 0;
}

int normal_module(struct profile_module *m, struct cairn_err *err)
{
	const struct map *map = m->map;
	uint64_t *owners = xmalloc(map->nfunctions * sizeof(*owners));
	size_t n = 0;
	int rc;

	for (uint32_t i = 0; i < map->nfunctions; i++) {
		const struct map_function *f = &map->functions[i];

		if (f->paths == CAIRN_PATHS_NONE ||
		    f->paths == CAIRN_PATHS_DIRECT || !f->ncounters)
			continue;
		owners[n++] = f->counters;
		if (m->counts)
			memset(m->counts + (f->counters - m->base) / 8, 0,
			       CAIRN_TABLE_WORDS * sizeof(*m->counts));
	}
	qsort(owners, n, sizeof(*owners), by_number);
	rc = check_owners(m, owners, n, err);
	free(owners);
	return rc;
}

static int by_pc(const void *a, const void *b)
{
	const struct normal_site *x = a, *y = b;

	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void add_site(struct normal_sites *s, uint64_t pc, uint32_t pending,
                     const struct map_function *f)
{
	struct normal_site site = {.pc = pc, .is_known = true};

	if (pending == CAIRN_PENDING_ADDRESS)
		site.modulus = cairn_path_modulus(f->npaths);
	else if (pending == CAIRN_PENDING_REGISTER)
		site.is_address = f->paths == CAIRN_PATHS_DIRECT;
	else if (pending != CAIRN_PENDING_SHARED)
		return;
	s->items[s->n++] = site;
}

void normal_sites_init(struct normal_sites *s, const struct profile_module *m)
{
	const struct map *map = m->map;
	uint32_t kept = 0;

	*s = (struct normal_sites){0};
	if (!map)
		return;
	s->items = xmalloc((map->nsites + (size_t)map->nfar_sites) *
	                   sizeof(*s->items));
	for (uint32_t i = 0; i < map->nfunctions; i++) {
		const struct map_function *f = &map->functions[i];
		const struct map_site *at = map->sites + f->first_site;

		for (uint32_t k = 0; k < f->nsites; k++)
			add_site(s, f->address + at[k].offset, at[k].pending,
			         f);
	}
	for (uint32_t i = 0; i < map->nfar_sites; i++) {
		const struct map_far_site *far = &map->far_sites[i];

		add_site(s, far->pc, far->pending,
		         &map->functions[far->function]);
	}
	qsort(s->items, s->n, sizeof(*s->items), by_pc);
	for (uint32_t i = 0; i < s->n; i++) {
		if (kept && s->items[kept - 1].pc == s->items[i].pc)
			s->items[kept - 1].is_known = false;
		else
			s->items[kept++] = s->items[i];
	}
	s->n = kept;
}

void normal_sites_release(struct normal_sites *s)
{
	free(s->items);
	*s = (struct normal_sites){0};
}

void normal_frame(const struct normal_sites *s, struct profile_frame *f,
                  uint64_t bias)
{
	const struct normal_site key = {.pc = f->pc}, *at = NULL;

	if (f->has_reg && s->n &&
	    (f->kind == CAIRN_FRAME_OUT || f->kind == CAIRN_FRAME_IN))
		at = bsearch(&key, s->items, s->n, sizeof(key), by_pc);
	f->has_reg = at && at->is_known;
	if (!f->has_reg)
		f->reg = 0;
	else if (at->modulus)
		f->reg = (f->reg - bias) & (at->modulus - 1);
	else if (at->is_address)
		f->reg -= bias;
}
