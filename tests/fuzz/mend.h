/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_MEND_H
#define CAIRN_TESTS_MEND_H

/*
 * Puts checksums right.  A fuzzer does not guess them, so that without this
 * it would never get behind them.
 */
#include "abi/crc32c.h"
#include "abi/file.h"
#include "abi/map.h"
#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>

#define MEND_UNUSED __attribute__((unused))

/* Walks the records of a map as far as they make sense. */
MEND_UNUSED static void mend_map(uint8_t *data, size_t size)
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

/* The header and the chunks of a container, as far as they make sense. */
MEND_UNUSED static void mend_container(uint8_t *data, size_t size)
{
	size_t at = CAIRN_FILE_HEADER_SIZE;

	if (size < at)
		return;
	put_le32(data + CAIRN_HDR_CRC, crc32c(0, data, CAIRN_HDR_CRC));
	put_le32(data + CAIRN_HDR_STATE_CRC,
	         crc32c(0, data + CAIRN_HDR_STATE,
	                CAIRN_HDR_STATE_CRC - CAIRN_HDR_STATE));
	while (size - at >= CAIRN_CHUNK_HEADER_SIZE) {
		uint8_t *h = data + at;
		uint64_t n = get_le64(h + CAIRN_CHK_LENGTH);

		put_le32(h + CAIRN_CHK_HEADER_CRC,
		         crc32c(0, h, CAIRN_CHK_FLAGS));
		if (n < CAIRN_CHUNK_HEADER_SIZE || n > size - at)
			return;
		put_le32(h + CAIRN_CHK_PAYLOAD_CRC,
		         crc32c(0, h + CAIRN_CHUNK_HEADER_SIZE,
		                (size_t)n - CAIRN_CHUNK_HEADER_SIZE));
		at += (size_t)n;
	}
}

#endif /* CAIRN_TESTS_MEND_H */
