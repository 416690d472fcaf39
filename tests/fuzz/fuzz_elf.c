/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of ELF files.  What it hands out is read to its last byte,
 * so that the sanitizer sees a range that leaves the file.
 */
#include "base/err.h"
#include "format/elf.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cairn_err err;
	struct elf_view v;

	if (elf_parse(data, size, "input", &v, &err))
		return 0;
	for (size_t i = 0; i < v.map_size; i++)
		sink += v.map[i];
	for (uint32_t i = 0; i < v.build_id_size; i++)
		sink += v.build_id[i];
	return 0;
}
