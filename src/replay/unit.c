/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units of a module: IR from one section of its file, addresses and
 * functions from another.
 *
 * Units are known by the hash of their IR, so that two with the same id have
 * the same IR, wherever they were linked.
 * Cost: O(n log n) in units; IR is unpacked when it is compiled.
 */
#include "replay/unit.h"

#include "abi/record.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/image.h"
#include "format/map.h"
#include "replay/program.h"

#include <stdlib.h>
#include <string.h>

#define REMEDY "build the program again"

/* A unit in the section of the IR. */
struct entry {
	const unsigned char *id, *packed;
	uint64_t npacked, nraw;
};

struct entries {
	struct entry *items;
	size_t n, cap;
};

static int by_id(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return memcmp(x->id, y->id, CAIRN_UNIT_ID);
}

static int read_entry(struct entries *all, const unsigned char *p, size_t left,
                      size_t *size)
{
	struct entry e;

	if (left < CAIRN_IR_HEAD ||
	    memcmp(p, CAIRN_IR_MAGIC, strlen(CAIRN_IR_MAGIC) - 1))
		return -1;
	e.id = p + CAIRN_IR_ID;
	e.nraw = get_le64(p + CAIRN_IR_RAW);
	e.npacked = get_le64(p + CAIRN_IR_PACKED);
	e.packed = p + CAIRN_IR_HEAD;
	if (e.npacked > left - CAIRN_IR_HEAD)
		return -1;
	VEC_RESERVE(all->items, all->n, all->cap);
	all->items[all->n++] = e;
	*size = CAIRN_IR_HEAD + (size_t)e.npacked;
	return 0;
}

/* Does a unit begin here, of a version that is too old, or newer? */
static bool is_other_version(const unsigned char *p, size_t left)
{
	const size_t n = strlen(CAIRN_IR_MAGIC);

	return left >= CAIRN_IR_HEAD && !memcmp(p, CAIRN_IR_MAGIC, n - 1) &&
	       (p[n - 1] < CAIRN_IR_OLDEST || p[n - 1] > CAIRN_IR_MAGIC[n - 1]);
}

/* All units of the section; a linker may put zero bytes between them. */
static int read_entries(struct entries *all, const struct locate_sections *s,
                        const char *name, struct cairn_err *err)
{
	size_t at = 0, n;

	while (at < s->ir_size) {
		if (!s->ir[at]) {
			at++;
			continue;
		}
		if (is_other_version(s->ir + at, s->ir_size - at))
			return cairn_fail(err, CAIRN_E_MISMATCH,
			                  "%s: was compiled by another version "
			                  "of Cairn, whose recordings this one "
			                  "cannot replay; compile it again",
			                  name);
		if (read_entry(all, s->ir + at, s->ir_size - at, &n) < 0)
			return cairn_corrupt(err, name, at,
			                     "in the section %s: no unit "
			                     "begins here; " REMEDY,
			                     CAIRN_IR_SECTION);
		at += n;
	}
	if (all->n)
		qsort(all->items, all->n, sizeof(*all->items), by_id);
	return 0;
}

/* Adds all units of a map; unit i of it becomes number *first + i. */
static int add_units(struct program *p, uint32_t module, const struct map *map,
                     const struct entries *all, uint32_t *first,
                     struct cairn_err *err)
{
	*first = p->nunits;
	for (uint32_t i = 0; i < map->nunits; i++) {
		const struct map_unit *m = &map->units[i];
		struct entry key = {.id = m->id}, *e = NULL;
		struct program_unit u = {.module = module};

		if (all->n)
			e = bsearch(&key, all->items, all->n,
			            sizeof(*all->items), by_id);
		if (!e)
			return cairn_fail(
			        err, CAIRN_E_CORRUPT,
			        "%s: the IR of a unit is not there; " REMEDY,
			        p->modules[module].path);
		memcpy(u.id, m->id, sizeof(u.id));
		u.packed = e->packed;
		u.npacked = (size_t)e->npacked;
		u.nraw = e->nraw;
		program_add_unit(p, &u, map->addresses + m->first_address,
		                 m->naddresses);
	}
	return 0;
}

static bool is_defined(const struct map *map, const struct map_function *m)
{
	const struct map_unit *u = &map->units[m->unit];

	for (uint32_t i = 0; i < u->naddresses - u->nlinked; i++)
		if (map->addresses[u->first_address + i] == m->address)
			return true;
	return false;
}

static bool is_taken(const struct program_unit *u, uint32_t index)
{
	return index < u->nfunctions && u->functions[index] != PROGRAM_NONE;
}

static int add_function(struct program *p, const struct map *map,
                        const struct map_function *m, uint32_t first,
                        struct cairn_err *err)
{
	struct program_function f = {
	        .unit = first + m->unit,
	        .index = m->unit_index,
	        .address = m->address,
	        .cells = m->counters,
	        .ncells = m->ncounters,
	        .line = m->line,
	};

	f.name = map->strings.items[m->name];
	if (m->file != MAP_NONE)
		f.file = map->strings.items[m->file];
	return program_add_function(p, &f, err);
}

/* First those that are where their unit says.  Others, whose place another
 * function has taken, are not called; if there are two units of the same IR (a
 * file that was linked twice) theirs need not be this one, which may have its
 * own already. */
static int add_functions(struct program *p, const struct map *map,
                         uint32_t first, struct cairn_err *err)
{
	for (int is_last = 0; is_last < 2; is_last++)
		for (uint32_t i = 0; i < map->nfunctions; i++) {
			const struct map_function *m = &map->functions[i];

			if (m->paths != CAIRN_PATHS_RECORD ||
			    is_defined(map, m) == (bool)is_last)
				continue;
			if (is_last &&
			    is_taken(&p->units[first + m->unit], m->unit_index))
				continue;
			CAIRN_TRY(add_function(p, map, m, first, err));
		}
	return 0;
}

static int add_parts(struct program *p, const struct locate_sections *s,
                     struct cairn_err *err)
{
	uint32_t module = p->nmodules - 1, first;
	const char *name = p->modules[module].path;
	struct entries all = {0};
	struct map *map;
	int rc;

	CAIRN_TRY(map_parse(s->map, s->map_size, name, &map, err));
	rc = read_entries(&all, s, name, err);
	if (!rc)
		rc = add_units(p, module, map, &all, &first, err);
	if (!rc)
		rc = add_functions(p, map, first, err);
	free(all.items);
	map_free(map);
	return rc;
}

int unit_add_module(struct program *p, const struct unit_module *m,
                    const char *const *exes, size_t nexes,
                    struct cairn_err *err)
{
	struct locate_sections s;
	int rc;

	CAIRN_TRY(locate_recorded(&m->file, exes, nexes, &s, err));
	program_keep(p, s.ir);
	rc = program_add_module(p, m->file.path, m->bias, m->cells, m->ncells,
	                        err);
	if (!rc) {
		p->modules[p->nmodules - 1].image = s.image;
		rc = add_parts(p, &s, err);
	} else {
		image_free(s.image);
	}
	free(s.map);
	return rc;
}
