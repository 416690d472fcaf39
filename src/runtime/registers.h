/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_REGISTERS_H
#define CAIRN_RUNTIME_REGISTERS_H

#include <stdint.h>

#include "abi/map.h"

/*
 * Where the frame that goes on at return address pc of a module keeps its path
 * register, as abi/map.h encodes it; 0 if it has none there.
 * Threads: any, in signal handlers too.  Requires: the module is loaded.
 */
uint32_t registers_at(uint32_t module, uintptr_t pc);

/* What to add to the register for the address of the path register. */
static inline uint64_t registers_offset(uint32_t at)
{
	return (uint64_t)(int64_t)((int32_t)at >> CAIRN_REG_OFFSET_SHIFT);
}

#endif /* CAIRN_RUNTIME_REGISTERS_H */
