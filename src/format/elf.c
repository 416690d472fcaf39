/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Just enough of ELF to find three things: the map, the IR, the build id.
 *
 * The build id is looked for in the notes of the section table, then in those
 * of the program headers: `strip` and `objcopy --only-keep-debug` differ in
 * what they leave.
 *
 * Invariant: a pointer handed out has all its bytes inside the file.
 * Cost: O(sections + bytes of notes).
 */
#include "format/elf.h"

#include "abi/map.h"
#include "abi/record.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const unsigned char *data;
	size_t size;
	const char *name;
};

/* Fields are read at their offsets in the struct: no overlay, no alignment. */
#define GET16(p, type, field)                   \
	((uint32_t)(p)[offsetof(type, field)] | \
	 (uint32_t)(p)[offsetof(type, field) + 1] << 8)
#define GET32(p, type, field) get_le32((p) + offsetof(type, field))
#define GET64(p, type, field) get_le64((p) + offsetof(type, field))

static bool inside(const struct image *im, uint64_t offset, uint64_t n)
{
	return offset <= im->size && n <= im->size - offset;
}

static int check_ident(const struct image *im, struct cairn_err *err)
{
	const unsigned char *d = im->data;

	if (im->size < sizeof(Elf64_Ehdr) || memcmp(d, ELFMAG, SELFMAG))
		return cairn_fail(err, CAIRN_E_FOREIGN,
		                  "%s: not an ELF file; name the program or "
		                  "library that ran",
		                  im->name);
	if (d[EI_CLASS] != ELFCLASS64 || d[EI_DATA] != ELFDATA2LSB ||
	    GET16(d, Elf64_Ehdr, e_machine) != EM_X86_64)
		return cairn_fail(
		        err, CAIRN_E_FOREIGN,
		        "%s: not an x86-64 ELF file; name the program "
		        "or library that ran",
		        im->name);
	return 0;
}

/* Looks through a run of notes for the build id. */
static void scan_notes(const struct image *im, uint64_t at, uint64_t size,
                       struct elf_view *out)
{
	struct cursor c = {im->data + at, im->data + at + size, false};

	while (!c.bad && c.p != c.end && !out->build_id) {
		uint32_t nname = cursor_u32(&c), ndesc = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const unsigned char *name, *desc;

		name = cursor_take(&c, ((uint64_t)nname + 3) & ~3ull);
		desc = cursor_take(&c, ndesc);
		if (desc && type == NT_GNU_BUILD_ID && nname == 4 &&
		    !memcmp(name, "GNU", 4)) {
			out->build_id = desc;
			out->build_id_size = ndesc;
		}
		cursor_take(&c, -(uint64_t)ndesc & 3);
	}
}

static bool name_is(const struct image *im, uint64_t strings, uint64_t nstrings,
                    uint32_t name, const char *wanted)
{
	size_t n = strlen(wanted) + 1;

	return name <= nstrings && n <= nstrings - name &&
	       !memcmp(im->data + strings + name, wanted, n);
}

struct sections {
	uint64_t at, n;
	uint64_t strings, nstrings;
};

/* Finds the section table; files with 65280 sections or more keep the true
 * numbers in section 0. */
static int find_sections(const struct image *im, struct sections *s,
                         struct cairn_err *err)
{
	const unsigned char *d = im->data, *h;
	uint64_t index = GET16(d, Elf64_Ehdr, e_shstrndx);

	s->at = GET64(d, Elf64_Ehdr, e_shoff);
	s->n = GET16(d, Elf64_Ehdr, e_shnum);
	if (!s->at) {
		s->n = 0;
		return 0;
	}
	if (GET16(d, Elf64_Ehdr, e_shentsize) != sizeof(Elf64_Shdr) ||
	    !inside(im, s->at, sizeof(Elf64_Shdr)))
		goto bad;
	h = d + s->at;
	if (!s->n)
		s->n = GET64(h, Elf64_Shdr, sh_size);
	if (index == SHN_XINDEX)
		index = GET32(h, Elf64_Shdr, sh_link);
	if (s->n > im->size / sizeof(Elf64_Shdr) ||
	    !inside(im, s->at, s->n * sizeof(Elf64_Shdr)) || index >= s->n)
		goto bad;
	h += index * sizeof(Elf64_Shdr);
	s->strings = GET64(h, Elf64_Shdr, sh_offset);
	s->nstrings = GET64(h, Elf64_Shdr, sh_size);
	if (GET32(h, Elf64_Shdr, sh_type) == SHT_NOBITS)
		s->nstrings = 0;
	if (inside(im, s->strings, s->nstrings))
		return 0;
bad:
	return cairn_corrupt(err, im->name, s->at,
	                     "its section table leads outside of the file; "
	                     "copy or build it again");
}

/* One of our sections: hands it out. */
static int take_section(const struct image *im, const unsigned char *h,
                        const char *name, const unsigned char **at,
                        size_t *size, struct cairn_err *err)
{
	uint64_t offset = GET64(h, Elf64_Shdr, sh_offset);

	if (GET64(h, Elf64_Shdr, sh_flags) & SHF_COMPRESSED)
		return cairn_fail(err, CAIRN_E_FOREIGN,
		                  "%s: its section %s is compressed; use "
		                  "objcopy --decompress-debug-sections first",
		                  im->name, name);
	if (*at)
		return cairn_corrupt(err, im->name, offset,
		                     "a second section %s; build it again",
		                     name);
	*at = im->data + offset;
	*size = (size_t)GET64(h, Elf64_Shdr, sh_size);
	return 0;
}

static int scan_section(const struct image *im, const struct sections *s,
                        uint64_t i, struct elf_view *out, struct cairn_err *err)
{
	const unsigned char *h = im->data + s->at + i * sizeof(Elf64_Shdr);
	uint32_t type = GET32(h, Elf64_Shdr, sh_type);
	uint32_t name = GET32(h, Elf64_Shdr, sh_name);
	uint64_t offset = GET64(h, Elf64_Shdr, sh_offset);
	uint64_t size = GET64(h, Elf64_Shdr, sh_size);
	bool is_map =
	        name_is(im, s->strings, s->nstrings, name, CAIRN_MAP_SECTION);
	bool is_ir =
	        name_is(im, s->strings, s->nstrings, name, CAIRN_IR_SECTION);

	if (type == SHT_NOBITS || (!is_map && !is_ir && type != SHT_NOTE))
		return 0;
	if (!inside(im, offset, size))
		return cairn_corrupt(err, im->name, offset,
		                     "a section leads outside of the file; "
		                     "copy or build it again");
	if (is_map)
		return take_section(im, h, CAIRN_MAP_SECTION, &out->map,
		                    &out->map_size, err);
	if (is_ir)
		return take_section(im, h, CAIRN_IR_SECTION, &out->ir,
		                    &out->ir_size, err);
	scan_notes(im, offset, size, out);
	return 0;
}

/* Notes that only the program headers lead to. */
static void scan_segments(const struct image *im, struct elf_view *out)
{
	uint64_t at = GET64(im->data, Elf64_Ehdr, e_phoff);
	uint64_t n = GET16(im->data, Elf64_Ehdr, e_phnum);

	if (GET16(im->data, Elf64_Ehdr, e_phentsize) != sizeof(Elf64_Phdr) ||
	    !inside(im, at, n * sizeof(Elf64_Phdr)))
		return;
	for (; n && !out->build_id; n--, at += sizeof(Elf64_Phdr)) {
		const unsigned char *h = im->data + at;
		uint64_t offset = GET64(h, Elf64_Phdr, p_offset);
		uint64_t size = GET64(h, Elf64_Phdr, p_filesz);

		if (GET32(h, Elf64_Phdr, p_type) == PT_NOTE &&
		    inside(im, offset, size))
			scan_notes(im, offset, size, out);
	}
}

int elf_parse(const unsigned char *data, size_t size, const char *name,
              struct elf_view *out, struct cairn_err *err)
{
	struct image im = {data, size, name};
	struct sections s = {0};

	*out = (struct elf_view){0};
	CAIRN_TRY(check_ident(&im, err));
	CAIRN_TRY(find_sections(&im, &s, err));
	for (uint64_t i = 0; i < s.n; i++)
		CAIRN_TRY(scan_section(&im, &s, i, out, err));
	if (!out->build_id)
		scan_segments(&im, out);
	return 0;
}

int elf_open(struct elf_file *f, const char *path, struct cairn_err *err)
{
	struct stat st;
	void *p = MAP_FAILED;
	int fd = files_open(path), e = errno;

	*f = (struct elf_file){0};
	if (fd < 0)
		return cairn_fail(err, CAIRN_E_ABSENT, "%s: cannot open: %s",
		                  path, strerror(e));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
		         0);
	close(fd);
	if (p == MAP_FAILED)
		return cairn_fail(err, CAIRN_E_FOREIGN,
		                  "%s: not an ELF file; name the program or "
		                  "library that ran",
		                  path);
	f->data = p;
	f->size = (size_t)st.st_size;
	return 0;
}

void elf_close(struct elf_file *f)
{
	if (f->data)
		munmap(f->data, f->size);
	*f = (struct elf_file){0};
}
