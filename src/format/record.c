/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of maps that tools write (abi/map.h, docs/FORMAT.md section 5), for
 * counts that no compiled function has made.
 *
 * Invariant: map_parse reads what is written here.
 */
#include "format/record.h"

#include "abi/crc32c.h"
#include "abi/map.h"
#include "abi/rt.h"
#include "base/bytes.h"

const uint32_t record_counters = CAIRN_TABLE_WORDS;

void record_put(struct bytes *out, const struct record *r,
                const struct bytes *blob)
{
	unsigned char h[CAIRN_MAP_HEAD_SIZE] = {0};

	put_le32(h + CAIRN_REC_MAGIC, CAIRN_MAP_MAGIC);
	put_le32(h + CAIRN_REC_SIZE,
	         (uint32_t)(sizeof(h) + blob->n + 8 * (size_t)r->nsites));
	put_le64(h + CAIRN_REC_FUNC, r->address);
	put_le64(h + CAIRN_REC_COUNTERS, r->counters);
	put_le32(h + CAIRN_REC_NCOUNTERS, record_counters);
	put_le32(h + CAIRN_REC_BLOB_CRC, crc32c(0, blob->data, blob->n));
	put_le32(h + CAIRN_REC_NBLOB, (uint32_t)blob->n);
	put_le32(h + CAIRN_REC_NSITES, r->nsites);
	put_le32(h + CAIRN_REC_CODE_SIZE, r->code_size);
	bytes_put(out, h, sizeof(h));
	bytes_put(out, blob->data, blob->n);
	for (uint32_t i = 0; i < r->nsites; i++) {
		bytes_put_u32(out, i + 1);
		bytes_put_u32(out, i);
	}
}
