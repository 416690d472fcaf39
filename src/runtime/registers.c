/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where frames keep their path registers.
 *
 * A module that counts paths has a loaded section with an entry for each call
 * after which a frame may die in the middle of a path (abi/map.h).  Linkers put
 * the entries in any order, so the first frame of a module that is looked at
 * makes an index: a hash table, by link-time return address, of the entries'
 * numbers.  It is made privately and put in place by one compare-and-exchange,
 * so it needs no lock; who comes second throws his own away.
 *
 * Invariant: an index is complete when it is seen, and outlives its module: the
 * same build has the same entries wherever it is loaded.
 * Cost: nothing for modules without entries; one pass over the entries, then
 * two cache misses per new pc (unwind.c remembers).  Without memory for an
 * index, all entries are looked at.
 */
#include "runtime/registers.h"

#include "runtime/rt.h"
#include "runtime/sys.h"

/* Callee-saved registers and the stack pointer: those that a walk knows. */
#define KNOWN_REGISTERS (1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12)

static const unsigned char *entry(const struct module *m, uint32_t i)
{
	return m->regs + (size_t)i * CAIRN_REG_ENTRY;
}

/* The return address that an entry is about. */
static uintptr_t address(const unsigned char *e)
{
	return (uintptr_t)e + (uintptr_t)(intptr_t)(int32_t)rt_get32(e);
}

static uint32_t location(const unsigned char *e)
{
	uint32_t at = rt_get32(e + 4);

	return KNOWN_REGISTERS >> (at & CAIRN_REG_NUMBER) & 1 ? at : 0;
}

/* At least twice as many places as entries. */
static uint32_t index_size(const struct module *m)
{
	uint32_t size = 16;

	while (size / 2 < m->nregs)
		size *= 2;
	return size;
}

static uint32_t home(const struct module *m, uintptr_t pc, uint32_t size)
{
	uint64_t key = (pc - m->bias) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(key >> 32) & (size - 1);
}

/* NULL if there is no memory. */
static const uint32_t *make_index(struct module *m)
{
	uint32_t size = index_size(m), *nobody = NULL;
	uint32_t *index = sys_map_zeros(size * sizeof(*index));

	if (!index)
		return NULL;
	for (uint32_t i = 0; i < m->nregs; i++) {
		uint32_t at = home(m, address(entry(m, i)), size);

		while (index[at])
			at = (at + 1) & (size - 1);
		index[at] = 1 + i;
	}
	if (__atomic_compare_exchange_n(&m->regs_index, &nobody, index, false,
	                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return index;
	sys3(SYS_munmap, (long)index, (long)(size * sizeof(*index)), 0);
	return nobody;
}

static uint32_t look_at_all(const struct module *m, uintptr_t pc)
{
	for (uint32_t i = 0; i < m->nregs; i++)
		if (address(entry(m, i)) == pc)
			return location(entry(m, i));
	return 0;
}

uint32_t registers_at(uint32_t module, uintptr_t pc)
{
	struct module *m = &process.modules[module];
	uint32_t size;
	const uint32_t *index;

	if (!process.has_registers || !m->nregs)
		return 0;
	index = __atomic_load_n(&m->regs_index, __ATOMIC_ACQUIRE);
	if (!index)
		index = make_index(m);
	if (!index)
		return look_at_all(m, pc);
	size = index_size(m);
	for (uint32_t at = home(m, pc, size); index[at];
	     at = (at + 1) & (size - 1)) {
		const unsigned char *e = entry(m, index[at] - 1);

		if (address(e) == pc)
			return location(e);
	}
	return 0;
}
