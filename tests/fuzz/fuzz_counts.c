/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the way from a map to counts: the input is 16 bytes that say what the
 * program did, then a map section.  A profile is made around them, with
 * counters where the first record has its own and frames in its code.
 */
#include "analyse.h"
#include "mend.h"

#include "format/writer.h"
#include "format/zframe.h"

#include <string.h>

#define NCOUNTERS 64
#define NFRAMES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_module(struct bytes *file, uint64_t base)
{
	static const uint8_t payload[8] = {0, 0, 0, 0, '/', 'x', 0};

	writer_chunk(file,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_MODULE,
	                                    .module = 1,
	                                    .n = NCOUNTERS,
	                                    .aux0 = base},
	             payload, sizeof(payload));
}

static void put_counts(struct bytes *file, const uint8_t *what)
{
	uint8_t counts[8 * NCOUNTERS];

	for (unsigned i = 0; i < NCOUNTERS; i++)
		put_le64(counts + 8 * (size_t)i, what[i % 8]);
	writer_chunk(file,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_COUNTS,
	                                    .module = 1,
	                                    .n = NCOUNTERS},
	             counts, sizeof(counts));
}

static void put_frames(struct bytes *file, const uint8_t *what, uint64_t func)
{
	uint8_t slots[16 * NFRAMES];

	for (unsigned i = 0; i < NFRAMES; i++) {
		uint64_t kind = 1 + (what[i] & 3), offset = what[i] >> 2;
		uint64_t pc = (func + offset) & CAIRN_FRAME_PC_MASK;

		put_le64(slots + 16 * (size_t)i,
		         kind << CAIRN_FRAME_KIND_SHIFT |
		                 1ull << CAIRN_FRAME_MODULE_SHIFT | pc);
		put_le64(slots + 16 * (size_t)i + 8, i + 1);
	}
	writer_chunk(file,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_FRAMES,
	                                    .n = NFRAMES},
	             slots, sizeof(slots));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct writer_header header = {.nruns = 1};
	struct bytes file = {0}, map = {0}, packed = {0};

	if (size < 16 + CAIRN_MAP_HEAD_SIZE)
		return 0;
	bytes_put(&map, data + 16, size - 16);
	mend_map(map.data, map.n);
	zframe_pack(&packed, map.data, map.n, NULL);
	writer_begin(&file);
	put_module(&file, get_le64(map.data + CAIRN_REC_COUNTERS));
	put_counts(&file, data);
	put_frames(&file, data + 8, get_le64(map.data + CAIRN_REC_FUNC));
	writer_chunk(&file,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_MAP,
	                                    .module = 1,
	                                    .aux0 = map.n},
	             packed.data, packed.n);
	writer_end(&file, &header);
	analyse(file.data, file.n);
	bytes_release(&file);
	bytes_release(&map);
	bytes_release(&packed);
	return 0;
}
