/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_IR_DIGEST_H
#define CAIRN_IR_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "abi/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DIGEST_SIZE 32u

/* SHA-256. */
void digest(const void *data, size_t n, uint8_t out[DIGEST_SIZE]);

/* The id of a unit: the beginning of the digest of its bitcode, which nobody
 * can make another bitcode for. */
void digest_unit(const void *bitcode, size_t n, uint8_t id[CAIRN_UNIT_ID]);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_IR_DIGEST_H */
