/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_CRC_H
#define CAIRN_RUNTIME_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C of n bytes, by the processor's instruction where it has one. */
uint32_t crc_of(const void *data, size_t n);

#endif /* CAIRN_RUNTIME_CRC_H */
