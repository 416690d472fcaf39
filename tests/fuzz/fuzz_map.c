/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the parser of map sections.  Blobs carry a checksum that a fuzzer
 * does not guess, so the input is tried a second time with checksums put
 * right.
 */
#include "abi/crc32c.h"
#include "abi/map.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/map.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const uint8_t *data, size_t size)
{
	struct cairn_err err;
	struct map *m;

	if (!map_parse(data, size, "input", &m, &err))
		map_free(m);
}

/* Walks the records as far as they make sense and mends their checksums. */
static void mend(uint8_t *data, size_t size)
{
	size_t at = 0;

	while (size - at >= CAIRN_MAP_HEAD_SIZE) {
		uint8_t *r = data + at;
		uint32_t n = get_le32(r + CAIRN_REC_SIZE);
		uint32_t nblob = get_le32(r + CAIRN_REC_NBLOB);

		if (!*r) {
			at++;
			continue;
		}
		if (n < CAIRN_MAP_HEAD_SIZE || n > size - at ||
		    nblob > n - CAIRN_MAP_HEAD_SIZE)
			return;
		put_le32(r + CAIRN_REC_BLOB_CRC,
		         crc32c(0, r + CAIRN_MAP_HEAD_SIZE, nblob));
		at += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	parse(data, size);
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	mend(copy, size);
	parse(copy, size);
	free(copy);
	return 0;
}
