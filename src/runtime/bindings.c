/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where calls by name lead, for readers of traces.
 *
 * A trace says who was entered, and the map by which name a call was made.  In
 * a shared object a function of this name need not be whom the call reached:
 * the dynamic linker may have found another one before it, which called it in
 * turn.  Where it led is in the words that the linker filled in, one for each
 * name that a module calls and that others may define.  They are read when the
 * module goes or the process ends: a name that was called is bound by then, and
 * nothing has to be resolved that the program would not have resolved.
 *
 * Listed is what a reader could not tell: a name that another module with marks
 * has, and one that this module has itself and that led elsewhere, or is not
 * bound.
 *
 * Cost: one pass over the module's relocations.
 */
#include "runtime/bindings.h"

#include <elf.h>

#include "abi/file.h"
#include "abi/trace.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

/* What the dynamic section of a module says. */
struct dynamic {
	uintptr_t bias;
	const Elf64_Sym *symbols;
	const char *names;
	const Elf64_Rela *list[2]; /* of calls, and others */
	uint64_t size[2];          /* bytes */
};

/* glibc writes addresses over what was there, others do not. */
static const void *at(const struct dynamic *d, uint64_t value)
{
	return (const void *)(value < d->bias ? d->bias + value : value);
}

static void read_entry(struct dynamic *d, const Elf64_Dyn *e)
{
	switch (e->d_tag) {
	case DT_SYMTAB:
		d->symbols = at(d, e->d_un.d_ptr);
		break;
	case DT_STRTAB:
		d->names = at(d, e->d_un.d_ptr);
		break;
	case DT_JMPREL:
		d->list[0] = at(d, e->d_un.d_ptr);
		break;
	case DT_PLTRELSZ:
		d->size[0] = e->d_un.d_val;
		break;
	case DT_RELA:
		d->list[1] = at(d, e->d_un.d_ptr);
		break;
	case DT_RELASZ:
		d->size[1] = e->d_un.d_val;
		break;
	default:
		break;
	}
}

/* False if it has none: nothing was left to the dynamic linker. */
static bool read_dynamic(struct dynamic *d, const struct module *m)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)m->ehdr;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(m->ehdr + eh->e_phoff);
	const Elf64_Dyn *e = NULL;

	rt_zero(d, sizeof(*d));
	d->bias = m->bias;
	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			e = (const Elf64_Dyn *)(m->bias + ph[i].p_vaddr);
	for (; e && e->d_tag != DT_NULL; e++)
		read_entry(d, e);
	return d->symbols && d->names;
}

/* Is it a word that calls by name go by?  Those of a recording are variables of
 * its own. */
static bool is_for_calls(const Elf64_Rela *r)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);

	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       (type == R_X86_64_64 && !r->r_addend && process.is_recording);
}

/* Is it listed?  Then *to is the module that the name has led to, 0 if that has
 * no marks. */
static bool is_listed(const struct dynamic *d, uint32_t module,
                      const Elf64_Rela *r, uint32_t *to)
{
	const Elf64_Sym *s = &d->symbols[ELF64_R_SYM(r->r_info)];
	uintptr_t led;

	if (!is_for_calls(r))
		return false;
	led = *(const uintptr_t *)(d->bias + r->r_offset);
	if (s->st_shndx == SHN_UNDEF) {
		*to = rt_module_of(led);
		return *to && *to != module; /* else it is not bound */
	}
	if (ELF64_ST_TYPE(s->st_info) != STT_FUNC ||
	    led == d->bias + s->st_value)
		return false;
	*to = rt_module_of(led);
	if (*to == module)
		*to = 0;
	return true;
}

static void put(unsigned char *p, const struct dynamic *d, const Elf64_Rela *r,
                uint32_t to)
{
	const Elf64_Sym *s = &d->symbols[ELF64_R_SYM(r->r_info)];

	rt_put64(p, cairn_name_hash(d->names + s->st_name));
	rt_put64(p + 8, to);
}

/* Returns how many there are; puts up to `room` of them. */
static uint64_t list(const struct dynamic *d, uint32_t module, uint64_t room,
                     unsigned char *p)
{
	uint64_t n = 0;
	uint32_t to;

	for (unsigned i = 0; i < 2; i++) {
		const Elf64_Rela *r = d->list[i];
		uint64_t left = r ? d->size[i] / sizeof(*r) : 0;

		for (; left; left--, r++) {
			if (!is_listed(d, module, r, &to))
				continue;
			if (n < room)
				put(p + CAIRN_BINDING * n, d, r, to);
			n++;
		}
	}
	return n;
}

void bindings_write(uint32_t module)
{
	const struct module *m = &process.modules[module];
	struct out_spec spec = {
	        .type = CAIRN_CHUNK_BINDINGS,
	        .module = module,
	};
	struct dynamic d;
	struct chunk *c;

	if (!process.trace || process.is_sealed || process.is_off || !m->live)
		return;
	if (read_dynamic(&d, m))
		spec.n = list(&d, module, 0, NULL);
	/* nothing takes the place of what an executable has */
	if (!spec.n && *m->live->is_executable)
		return;
	spec.payload = spec.n * CAIRN_BINDING;
	c = out_chunk(&spec);
	if (!c) {
		out_lose();
		return;
	}
	list(&d, module, spec.n, out_payload(c));
	out_publish(c);
}

void bindings_write_all(void)
{
	for (uint32_t i = 1; i <= process.nmodules; i++)
		bindings_write(i);
}
