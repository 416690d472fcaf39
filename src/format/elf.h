/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_FORMAT_ELF_H
#define CAIRN_FORMAT_ELF_H

#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* What we want from an ELF file; borrowed from its bytes. */
struct elf_view {
	const unsigned char *map; /* section .cairn.map; NULL if absent */
	size_t map_size;
	const unsigned char *ir; /* section .cairn.ir; NULL if absent */
	size_t ir_size;
	const unsigned char *build_id; /* NULL if absent */
	uint32_t build_id_size;
};

/*
 * Finds our sections and the build id in the bytes of an ELF file (64 bits,
 * little-endian, x86-64).  Nothing is believed: every offset is checked.
 *
 * Fails:  CAIRN_E_FOREIGN if it is no such file, CAIRN_E_CORRUPT if its
 *         tables lead nowhere.  An absent section or build id is no failure.
 */
int elf_parse(const unsigned char *data, size_t size, const char *name,
              struct elf_view *out, struct cairn_err *err);

/* The bytes of a file, mapped read-only. */
struct elf_file {
	unsigned char *data;
	size_t size;
};

int elf_open(struct elf_file *f, const char *path, struct cairn_err *err);
void elf_close(struct elf_file *f);

#endif /* CAIRN_FORMAT_ELF_H */
