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

/* Perhaps a table for the first function; the file is refused if that has
 * none. */
static void put_paths(struct bytes *file, const uint8_t *what, uint64_t owner)
{
	uint8_t table[CAIRN_TABLE_HEAD + 8 * CAIRN_TABLE_SLOT] = {0};

	if (what[0] & 1)
		return;
	put_le64(table + CAIRN_TABLE_OWNER, owner);
	put_le64(table + CAIRN_TABLE_SLOTS, 8);
	for (unsigned i = 0; i < 8; i++) {
		put_le64(table + CAIRN_TABLE_HEAD + 16 * (size_t)i, what[i]);
		put_le64(table + CAIRN_TABLE_HEAD + 16 * (size_t)i + 8, i + 1);
	}
	writer_chunk(file,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_PATHS,
	                                    .module = 1,
	                                    .n = sizeof(table)},
	             table, sizeof(table));
}

static void put_frames(struct bytes *file, const uint8_t *what, uint64_t func,
                       uint64_t counters)
{
	uint8_t slots[24 * NFRAMES];

	for (unsigned i = 0; i < NFRAMES; i++) {
		uint64_t kind = 1 + (what[i] & 3), offset = what[i] >> 2;
		uint64_t pc = (func + offset) & CAIRN_FRAME_PC_MASK;

		put_le64(slots + 24 * (size_t)i,
		         kind << CAIRN_FRAME_KIND_SHIFT |
		                 1ull << CAIRN_FRAME_MODULE_SHIFT | pc);
		put_le64(slots + 24 * (size_t)i + 8,
		         i % 2 ? 1 + counters + 8 * (uint64_t)i : i);
		put_le64(slots + 24 * (size_t)i + 16, i + 1);
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
	uint64_t base;

	if (size < 16 + CAIRN_MAP_HEAD_SIZE)
		return 0;
	bytes_put(&map, data + 16, size - 16);
	mend_map(map.data, map.n);
	zframe_pack(&packed, map.data, map.n, NULL);
	writer_begin(&file);
	base = get_le64(map.data + CAIRN_REC_COUNTERS);
	put_module(&file, base);
	put_counts(&file, data);
	put_paths(&file, data, base);
	put_frames(&file, data + 8, get_le64(map.data + CAIRN_REC_FUNC), base);
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
