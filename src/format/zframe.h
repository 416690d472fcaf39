/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_ZFRAME_H
#define CAIRN_FORMAT_ZFRAME_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* Most bytes that one frame may unpack to. */
#define ZFRAME_MAX ((uint64_t)1 << 32)

/* Appends data as one zstd frame. */
int zframe_pack(struct bytes *out, const void *data, size_t size,
                struct cairn_err *err);

/*
 * Unpacks the zstd frame that begins the data; zero bytes may follow it.  It
 * has to yield exactly `expected` bytes.  The caller frees *bytes.
 */
int zframe_unpack(const unsigned char *data, size_t size, uint64_t expected,
                  const char *name, unsigned char **bytes, size_t *nbytes,
                  struct cairn_err *err);

#endif /* CAIRN_FORMAT_ZFRAME_H */
