/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded ELF objects, read from their own headers in memory.
 *
 * Linkers define __ehdr_start in every object, so a module finds its segments,
 * its build id and its unwind table without the dynamic linker: in static
 * programs too, and before constructors have run.  (lld may leave the symbol
 * out after LTO; then the C library is asked.)
 *
 * Cost: one pass over the program headers; object_path reads /proc/self/maps
 * up to the object's line.
 */
#include "runtime/object.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include "runtime/rt.h"
#include "runtime/sys.h"

static void read_note(struct object *o, const unsigned char *p, size_t size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *n = (const Elf64_Nhdr *)p;
		size_t name = (n->n_namesz + 3u) & ~(size_t)3;
		size_t whole =
		        sizeof(*n) + name + ((n->n_descsz + 3u) & ~(size_t)3);

		if (whole > size)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    rt_same(p + sizeof(*n), "GNU", 4)) {
			o->build_id = p + sizeof(*n) + name;
			o->nbuild_id = n->n_descsz;
		}
		p += whole;
		size -= whole;
	}
}

static void read_segment(struct object *o, const Elf64_Phdr *ph)
{
	uintptr_t at = o->bias + ph->p_vaddr;

	switch (ph->p_type) {
	case PT_LOAD:
		if (!(ph->p_flags & PF_X))
			break;
		if (!o->text_end || at < o->text)
			o->text = at;
		if (at + ph->p_memsz > o->text_end)
			o->text_end = at + ph->p_memsz;
		break;
	case PT_NOTE:
		read_note(o, (const unsigned char *)at, ph->p_memsz);
		break;
	case PT_GNU_EH_FRAME:
		o->eh_frame_hdr = (const unsigned char *)at;
		break;
	case PT_INTERP:
		o->has_interpreter = true;
		break;
	default:
		break;
	}
}

void object_read(struct object *o, const unsigned char *ehdr)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)ehdr;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(ehdr + eh->e_phoff);

	rt_zero(o, sizeof(*o));
	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset == 0) {
			o->bias = (uintptr_t)ehdr - ph[i].p_vaddr;
			break;
		}
	for (unsigned i = 0; i < eh->e_phnum; i++)
		read_segment(o, &ph[i]);
}

struct around {
	uintptr_t address;
	const unsigned char *ehdr;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct around *a = data;
	uintptr_t start = 0;
	bool here = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_offset == 0)
			start = at;
		if (a->address - at < ph->p_memsz)
			here = true;
	}
	if (here)
		a->ehdr = (const unsigned char *)start;
	return here;
}

const unsigned char *object_around(uintptr_t address)
{
	struct around a = {address, NULL};

	dl_iterate_phdr(visit, &a);
	return a.ehdr;
}

static uintptr_t hex(const char **p)
{
	uintptr_t v = 0;

	for (;; ++*p) {
		char c = **p;

		if (c >= '0' && c <= '9')
			v = v << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return v;
	}
}

/* The path in a line of maps, if the line covers the address. */
static const char *line_path(const char *line, uintptr_t address)
{
	uintptr_t lo = hex(&line), hi;

	if (*line++ != '-')
		return NULL;
	hi = hex(&line);
	if (address < lo || address >= hi)
		return NULL;
	while (*line && *line != '/')
		line++;
	return line;
}

size_t object_path(uintptr_t address, char *path, size_t size)
{
	char *buffer = process.buffers->maps;
	const size_t room = sizeof(process.buffers->maps) - 1;
	const char *found = NULL;
	size_t have = 0, n = 0;
	long r = 1;
	int fd = (int)sys3(SYS_open, (long)"/proc/self/maps",
	                   O_RDONLY | O_CLOEXEC, 0);

	path[0] = 0;
	if (fd < 0)
		return 0;
	while (!found && r > 0) {
		char *line = buffer, *end;

		r = sys3(SYS_read, fd, (long)(buffer + have),
		         (long)(room - have));
		if (r > 0)
			have += (size_t)r;
		buffer[have] = 0;
		for (end = line; *end && !found; end++) {
			if (*end != '\n')
				continue;
			*end = 0;
			found = line_path(line, address);
			line = end + 1;
		}
		have = (size_t)(buffer + have - line);
		if (!found)
			for (size_t i = 0; i < have; i++)
				buffer[i] = line[i];
	}
	sys1(SYS_close, fd);
	for (; found && found[n] && n < size - 1; n++)
		path[n] = found[n];
	path[n] = 0;
	return n;
}
