/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a module at its start: bytes of the segments that are loaded,
 * zeros behind them, and relocations.
 *
 * Relative relocations add the bias, so they are kept as they are; all others
 * depend on symbols of other modules, and make holes.
 *
 * Invariant: relocations ascend by address.
 * Cost: O(n log n) in relocations; O(log n) to read.
 */
#include "format/image.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HOLE_MAX                                                   \
	4096 /* bytes; of what is copied from another module, more \
	        are not believed */

#define GET16(p, type, field)                   \
	((uint32_t)(p)[offsetof(type, field)] | \
	 (uint32_t)(p)[offsetof(type, field) + 1] << 8)
#define GET32(p, type, field) get_le32((p) + offsetof(type, field))
#define GET64(p, type, field) get_le64((p) + offsetof(type, field))

struct segment {
	uint64_t at, nbytes, nmemory;
	bool is_writable;
	unsigned char *bytes;
};

struct relocation {
	uint64_t at, n;
	bool is_relative; /* else a hole */
	uint64_t value;   /* less the bias */
};

struct image {
	struct segment *segments;
	size_t nsegments, segments_cap;
	struct relocation *relocations;
	size_t nrelocations, relocations_cap;
	uint64_t sealed, nsealed; /* what nobody writes to once it is loaded */
};

struct file {
	const unsigned char *data;
	size_t size;
};

static bool inside(const struct file *f, uint64_t offset, uint64_t n)
{
	return offset <= f->size && n <= f->size - offset;
}

/* --- the file ------------------------------------------------------------ */

static void add_segment(struct image *im, const struct file *f,
                        const unsigned char *h)
{
	uint64_t offset = GET64(h, Elf64_Phdr, p_offset);
	struct segment s = {.at = GET64(h, Elf64_Phdr, p_vaddr),
	                    .nbytes = GET64(h, Elf64_Phdr, p_filesz),
	                    .nmemory = GET64(h, Elf64_Phdr, p_memsz)};

	if (GET32(h, Elf64_Phdr, p_type) == PT_GNU_RELRO) {
		im->sealed = s.at;
		im->nsealed = s.nmemory;
	}
	if (GET32(h, Elf64_Phdr, p_type) != PT_LOAD ||
	    GET32(h, Elf64_Phdr, p_flags) & PF_X ||
	    !inside(f, offset, s.nbytes) || s.nmemory < s.nbytes)
		return;
	s.is_writable = GET32(h, Elf64_Phdr, p_flags) & PF_W;
	s.bytes = xmalloc((size_t)s.nbytes + 1);
	memcpy(s.bytes, f->data + offset, (size_t)s.nbytes);
	VEC_RESERVE(im->segments, im->nsegments, im->segments_cap);
	im->segments[im->nsegments++] = s;
}

static void add_segments(struct image *im, const struct file *f)
{
	uint64_t at = GET64(f->data, Elf64_Ehdr, e_phoff);
	uint64_t n = GET16(f->data, Elf64_Ehdr, e_phnum);

	if (GET16(f->data, Elf64_Ehdr, e_phentsize) != sizeof(Elf64_Phdr) ||
	    !inside(f, at, n * sizeof(Elf64_Phdr)))
		return;
	for (; n; n--, at += sizeof(Elf64_Phdr))
		add_segment(im, f, f->data + at);
}

static void add_relocation(struct image *im, struct relocation r)
{
	VEC_RESERVE(im->relocations, im->nrelocations, im->relocations_cap);
	im->relocations[im->nrelocations++] = r;
}

struct sections {
	uint64_t at, n;
};

static const unsigned char *section(const struct file *f,
                                    const struct sections *s, uint64_t i)
{
	return f->data + s->at + i * sizeof(Elf64_Shdr);
}

/* The size of a symbol of the table that a section of relocations names. */
static uint64_t size_of_symbol(const struct file *f, const struct sections *s,
                               const unsigned char *h, uint64_t symbol)
{
	uint32_t link = GET32(h, Elf64_Shdr, sh_link);
	uint64_t at, n = HOLE_MAX;

	if (link >= s->n)
		return n;
	at = GET64(section(f, s, link), Elf64_Shdr, sh_offset) +
	     symbol * sizeof(Elf64_Sym);
	if (inside(f, at, sizeof(Elf64_Sym)))
		n = GET64(f->data + at, Elf64_Sym, st_size);
	return n < HOLE_MAX ? n : HOLE_MAX;
}

static void add_table(struct image *im, const struct file *f,
                      const struct sections *s, const unsigned char *h)
{
	const unsigned char *p = f->data + GET64(h, Elf64_Shdr, sh_offset);
	uint64_t size = GET64(h, Elf64_Shdr, sh_size);

	for (; size >= sizeof(Elf64_Rela); size -= sizeof(Elf64_Rela)) {
		uint64_t type = GET64(p, Elf64_Rela, r_info) & 0xffffffff;
		struct relocation r = {.at = GET64(p, Elf64_Rela, r_offset),
		                       .n = 8};

		r.is_relative = type == R_X86_64_RELATIVE;
		r.value = GET64(p, Elf64_Rela, r_addend);
		if (type == R_X86_64_COPY)
			r.n = size_of_symbol(
			        f, s, h, GET64(p, Elf64_Rela, r_info) >> 32);
		add_relocation(im, r);
		p += sizeof(Elf64_Rela);
	}
}

static const struct segment *find_segment(const struct image *im, uint64_t at)
{
	for (size_t i = 0; i < im->nsegments; i++)
		if (at >= im->segments[i].at &&
		    at - im->segments[i].at < im->segments[i].nmemory)
			return &im->segments[i];
	return NULL;
}

/* One of a packed table: what to add stands in memory. */
static void add_packed(struct image *im, uint64_t at)
{
	const struct segment *s = find_segment(im, at);
	uint64_t offset = s ? at - s->at : 0;

	if (s && s->nbytes >= 8 && offset <= s->nbytes - 8)
		add_relocation(im, (struct relocation){
		                           .at = at,
		                           .n = 8,
		                           .is_relative = true,
		                           .value = get_le64(s->bytes + offset),
		                   });
}

/* Addresses, and bitmaps of the 63 words that follow. */
static void add_packed_table(struct image *im, const unsigned char *p,
                             uint64_t size)
{
	uint64_t where = 0;

	for (; size >= 8; size -= 8, p += 8) {
		uint64_t e = get_le64(p);

		if (e % 2 == 0) {
			add_packed(im, e);
			where = e + 8;
			continue;
		}
		for (unsigned i = 0; i < 63; i++)
			if (e >> (i + 1) & 1)
				add_packed(im, where + 8 * (uint64_t)i);
		where += (uint64_t)63 * 8;
	}
}

static void add_section(struct image *im, const struct file *f,
                        const struct sections *s, const unsigned char *h)
{
	uint64_t offset = GET64(h, Elf64_Shdr, sh_offset);
	uint64_t size = GET64(h, Elf64_Shdr, sh_size);

	if (!(GET64(h, Elf64_Shdr, sh_flags) & SHF_ALLOC) ||
	    !inside(f, offset, size))
		return;
	if (GET32(h, Elf64_Shdr, sh_type) == SHT_RELA)
		add_table(im, f, s, h);
	else if (GET32(h, Elf64_Shdr, sh_type) == SHT_RELR)
		add_packed_table(im, f->data + offset, size);
}

/* Were the contents taken out, into another file? */
static bool is_hollow(const struct file *f, const struct sections *s)
{
	for (uint64_t i = 0; i < s->n; i++) {
		const unsigned char *h = section(f, s, i);

		if (GET32(h, Elf64_Shdr, sh_type) == SHT_NOBITS &&
		    GET64(h, Elf64_Shdr, sh_flags) & SHF_EXECINSTR)
			return true;
	}
	return false;
}

static struct sections find_sections(const struct file *f)
{
	struct sections s = {GET64(f->data, Elf64_Ehdr, e_shoff),
	                     GET16(f->data, Elf64_Ehdr, e_shnum)};

	if (!s.at || !inside(f, s.at, s.n * sizeof(Elf64_Shdr)))
		s.n = 0;
	return s;
}

static int by_address(const void *a, const void *b)
{
	const struct relocation *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

struct image *image_new(const unsigned char *data, size_t size)
{
	struct image *im = xcalloc(1, sizeof(*im));
	struct file f = {data, size};
	struct sections s;

	if (size < sizeof(Elf64_Ehdr))
		return im;
	s = find_sections(&f);
	if (is_hollow(&f, &s))
		return im;
	add_segments(im, &f);
	for (uint64_t i = 0; i < s.n; i++)
		add_section(im, &f, &s, section(&f, &s, i));
	if (im->nrelocations)
		qsort(im->relocations, im->nrelocations,
		      sizeof(*im->relocations), by_address);
	return im;
}

void image_free(struct image *im)
{
	if (!im)
		return;
	for (size_t i = 0; i < im->nsegments; i++)
		free(im->segments[i].bytes);
	free(im->segments);
	free(im->relocations);
	free(im);
}

/* --- reading ------------------------------------------------------------- */

/* The first relocation that may reach an address. */
static size_t first_relocation(const struct image *im, uint64_t at)
{
	size_t low = 0, high = im->nrelocations;

	at = at > HOLE_MAX ? at - HOLE_MAX : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (im->relocations[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool relocate(const struct image *im, uint64_t bias, uint64_t at,
                     unsigned char *to, size_t n)
{
	for (size_t i = first_relocation(im, at);
	     i < im->nrelocations && im->relocations[i].at < at + n; i++) {
		const struct relocation *r = &im->relocations[i];
		unsigned char bytes[8];

		if (r->at + r->n <= at)
			continue;
		if (!r->is_relative)
			return false;
		put_le64(bytes, r->value + bias);
		for (uint64_t k = 0; k < 8; k++)
			if (r->at + k >= at && r->at + k - at < n)
				to[r->at + k - at] = bytes[k];
	}
	return true;
}

static bool is_sealed(const struct image *im, uint64_t at, size_t n)
{
	return at >= im->sealed && at - im->sealed < im->nsealed &&
	       n <= im->nsealed - (at - im->sealed);
}

bool image_read(const struct image *im, uint64_t bias, bool is_constant,
                uint64_t address, void *to, size_t n)
{
	uint64_t at = address - bias, offset, part;
	const struct segment *s = find_segment(im, at);

	if (!s || n > s->nmemory - (at - s->at) ||
	    (is_constant && s->is_writable && !is_sealed(im, at, n)))
		return false;
	offset = at - s->at;
	part = offset < s->nbytes ? s->nbytes - offset : 0;
	part = part < n ? part : n;
	memcpy(to, s->bytes + (offset < s->nbytes ? offset : 0), (size_t)part);
	memset((unsigned char *)to + part, 0, n - (size_t)part);
	return relocate(im, bias, at, to, n);
}
