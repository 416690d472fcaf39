/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_CRC_H
#define CAIRN_RUNTIME_CRC_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C, by the processor's instruction where it has one: of what `crc` is
 * that of (0: nothing), followed by n bytes, or by so many zeros.
 */
uint32_t crc_add(uint32_t crc, const void *data, size_t n);
uint32_t crc_add_zeros(uint32_t crc, size_t pages);

static inline uint32_t crc_of(const void *data, size_t n)
{
	return crc_add(0, data, n);
}

#endif /* CAIRN_RUNTIME_CRC_H */
