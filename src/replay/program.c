/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules, units and functions of a recording, and how to find them: a
 * function by the address that it had (open addressing), or by one of its cells
 * (bisection).
 *
 * Invariant after program_finish: by_cells of a module ascends, and cells of
 * two functions do not overlap unless they are the same.
 * Cost: O(1) and O(log n) to find.
 */
#include "replay/program.h"

#include "base/alloc.h"
#include "base/err.h"
#include "format/image.h"
#include "format/zframe.h"
#include "ir/digest.h"
#include "replay/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void program_release(struct program *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		free(p->modules[i].path);
		free(p->modules[i].by_cells);
		image_free(p->modules[i].image);
	}
	for (uint32_t i = 0; i < p->nunits; i++) {
		free(p->units[i].table);
		free(p->units[i].functions);
	}
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		free(p->functions[i].name);
		free(p->functions[i].file);
	}
	free(p->modules);
	free(p->units);
	free(p->functions);
	free(p->hash);
	for (size_t i = 0; i < p->nkept; i++)
		free(p->kept[i]);
	free(p->kept);
	*p = (struct program){0};
}

int program_add_module(struct program *p, const char *path, uint64_t bias,
                       uint64_t link, uint64_t ncells, struct cairn_err *err)
{
	struct program_module m = {
	        .bias = bias, .link = link, .ncells = ncells};
	void *cells =
	        ncells < ((uint64_t)1 << 28) ? arena_take(8 * ncells) : NULL;

	if (!cells)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "%s: its %" PRIu64 " cells do not fit into "
		                  "the memory of a replay; record less of the "
		                  "program",
		                  path, ncells);
	m.cells = (uint64_t)(uintptr_t)cells;
	m.path = xstrdup(path);
	VEC_RESERVE(p->modules, p->nmodules, p->modules_cap);
	p->modules[p->nmodules++] = m;
	return 0;
}

uint32_t program_add_unit(struct program *p, const struct program_unit *unit,
                          const uint64_t *table, uint32_t ntable)
{
	struct program_unit u = *unit;

	u.ntable = ntable;
	u.table = xcalloc((size_t)ntable + 1, sizeof(*u.table));
	for (uint32_t i = 0; i < ntable; i++)
		if (table[i])
			u.table[i] = table[i] + p->modules[u.module].bias;
	VEC_RESERVE(p->units, p->nunits, p->units_cap);
	p->units[p->nunits] = u;
	return p->nunits++;
}

void program_keep(struct program *p, void *memory)
{
	VEC_RESERVE(p->kept, p->nkept, p->kept_cap);
	p->kept[p->nkept++] = memory;
}

int program_add_function(struct program *p, const struct program_function *f,
                         struct cairn_err *err)
{
	struct program_unit *u = &p->units[f->unit];
	struct program_module *m = &p->modules[u->module];
	struct program_function g = *f;
	uint64_t at = f->cells - m->link;

	if ((f->ncells && (f->cells < m->link || at % 8 || at / 8 > m->ncells ||
	                   f->ncells > m->ncells - at / 8)) ||
	    f->index >= u->ntable)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "%s: function %s has cells outside of the "
		                  "module; build it again",
		                  m->path, f->name);
	while (u->nfunctions <= f->index) {
		VEC_RESERVE(u->functions, u->nfunctions, u->functions_cap);
		u->functions[u->nfunctions++] = PROGRAM_NONE;
	}
	if (u->functions[f->index] != PROGRAM_NONE)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "%s: function %s is there twice; build it "
		                  "again",
		                  m->path, f->name);
	g.name = xstrdup(f->name);
	g.file = f->file ? xstrdup(f->file) : NULL;
	g.address += m->bias;
	g.cells = m->cells + at;
	u->functions[f->index] = p->nfunctions;
	if (f->ncells) {
		VEC_RESERVE(m->by_cells, m->nby_cells, m->by_cells_cap);
		m->by_cells[m->nby_cells++] = p->nfunctions;
	}
	VEC_RESERVE(p->functions, p->nfunctions, p->functions_cap);
	p->functions[p->nfunctions++] = g;
	return 0;
}

static int by_cells(const void *a, const void *b, void *program)
{
	const struct program_function *f =
	        ((struct program *)program)->functions;
	uint64_t x = f[*(const uint32_t *)a].cells;
	uint64_t y = f[*(const uint32_t *)b].cells;

	return x < y ? -1 : x > y;
}

static size_t slot_of(const struct program *p, uint64_t address)
{
	return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
	       (p->nhash - 1);
}

/* Functions without marks that need a cell get one all the same, so that they
 * can be named: in a module of ours, behind all others. */
static int add_cells(struct program *p, struct cairn_err *err)
{
	struct program_module *m;
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->nfunctions; i++)
		n += !p->functions[i].ncells;
	CAIRN_TRY(program_add_module(p, "", 0, 0, n, err));
	m = &p->modules[p->nmodules - 1];
	m->is_ours = true;
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		struct program_function *f = &p->functions[i];

		if (f->ncells)
			continue;
		f->cells = m->cells + 8 * (uint64_t)m->nby_cells;
		f->ncells = 1;
		VEC_RESERVE(m->by_cells, m->nby_cells, m->by_cells_cap);
		m->by_cells[m->nby_cells++] = i;
	}
	return 0;
}

int program_finish(struct program *p, struct cairn_err *err)
{
	CAIRN_TRY(add_cells(p, err));
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].nby_cells)
			qsort_r(p->modules[i].by_cells, p->modules[i].nby_cells,
			        sizeof(uint32_t), by_cells, p);
	p->nhash = 16;
	while (p->nhash < 4 * (size_t)p->nfunctions)
		p->nhash *= 2;
	p->hash = xmalloc(p->nhash * sizeof(*p->hash));
	memset(p->hash, 0xff, p->nhash * sizeof(*p->hash));
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		size_t k = slot_of(p, p->functions[i].address);

		while (p->hash[k] != PROGRAM_NONE)
			k = (k + 1) & (p->nhash - 1);
		p->hash[k] = i;
	}
	return 0;
}

struct program_function *program_find(const struct program *p, uint64_t address)
{
	size_t k = slot_of(p, address);

	for (; p->hash[k] != PROGRAM_NONE; k = (k + 1) & (p->nhash - 1))
		if (p->functions[p->hash[k]].address == address)
			return &p->functions[p->hash[k]];
	return NULL;
}

uint64_t program_named_cell(const struct program *p, uint64_t name)
{
	uint64_t module = name >> CAIRN_CELL_BITS;
	uint64_t index = name & (((uint64_t)1 << CAIRN_CELL_BITS) - 1);

	if (module >= p->nmodules || index >= p->modules[module].ncells)
		return 0;
	return p->modules[module].cells + 8 * index;
}

uint64_t program_cell(const struct program *p, uint64_t id)
{
	uint64_t module = id >> CAIRN_CELL_BITS;

	if (module < p->nmodules && p->modules[module].is_ours)
		return 0;
	return program_named_cell(p, id);
}

static uint32_t module_of_cell(const struct program *p, uint64_t cell)
{
	uint32_t i = 0;

	while (i < p->nmodules &&
	       (cell < p->modules[i].cells ||
	        cell - p->modules[i].cells >= 8 * p->modules[i].ncells))
		i++;
	return i;
}

uint64_t program_name_cell(const struct program *p, uint64_t cell)
{
	uint32_t i = module_of_cell(p, cell);

	if (i == p->nmodules)
		return UINT64_MAX;
	return (uint64_t)i << CAIRN_CELL_BITS |
	       (cell - p->modules[i].cells) / 8;
}

static struct program_function *search_module(const struct program *p,
                                              const struct program_module *m,
                                              uint64_t cell)
{
	uint32_t low = 0, high = m->nby_cells;
	struct program_function *f;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->functions[m->by_cells[middle]].cells <= cell)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	f = &p->functions[m->by_cells[low - 1]];
	return cell - f->cells < 8 * (uint64_t)f->ncells ? f : NULL;
}

struct program_function *program_of_cell(const struct program *p, uint64_t cell)
{
	uint32_t i = module_of_cell(p, cell);

	return i < p->nmodules ? search_module(p, &p->modules[i], cell) : NULL;
}

struct program_function *program_of_code(const struct program *p, uint64_t pc)
{
	struct program_function *best = NULL;

	if (!arena_has(pc))
		return NULL;
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		struct program_function *f = &p->functions[i];

		if (f->body && (uintptr_t)f->body <= pc &&
		    (!best || (uintptr_t)f->body > (uintptr_t)best->body))
			best = f;
	}
	return best;
}

/* LLVM trusts what it reads: what is not what the compiler wrote it does not
 * get. */
int program_bitcode(const struct program *p, const struct program_unit *u,
                    unsigned char **bitcode, size_t *n, struct cairn_err *err)
{
	const char *path = p->modules[u->module].path;
	unsigned char id[CAIRN_UNIT_ID];

	if (zframe_unpack(u->packed, u->npacked, u->nraw, path, bitcode, n,
	                  NULL) == 0) {
		digest_unit(*bitcode, *n, id);
		if (!memcmp(id, u->id, sizeof(id)))
			return 0;
		free(*bitcode);
		*bitcode = NULL;
	}
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s: its IR is damaged; build the program again",
	                  path);
}

void program_clear_cells(struct program *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].ncells)
			madvise((void *)(uintptr_t)p->modules[i].cells,
			        8 * p->modules[i].ncells, MADV_DONTNEED);
}
