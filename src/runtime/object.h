/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_OBJECT_H
#define CAIRN_RUNTIME_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the program headers of a loaded ELF object tell. */
struct object {
	uintptr_t bias;           /* load address minus link-time address */
	uintptr_t text, text_end; /* its executable segments */
	const unsigned char *eh_frame_hdr; /* NULL if it has none */
	const unsigned char *build_id;     /* NULL if it has none */
	uint32_t nbuild_id;
	bool has_interpreter;
};

/* Requires: ehdr is the ELF header of a loaded object. */
void object_read(struct object *o, const unsigned char *ehdr);

/* The ELF header of the loaded object that `address` lies in, NULL if there is
 * none.  Takes a lock of the dynamic linker. */
const unsigned char *object_around(uintptr_t address);

/* The path of the file that is mapped at `address`, "" if none.  Reads
 * /proc/self/maps; returns its length.  Requires: lock held. */
size_t object_path(uintptr_t address, char *path, size_t size);

#endif /* CAIRN_RUNTIME_OBJECT_H */
