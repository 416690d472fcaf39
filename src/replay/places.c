/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in the source, from the debug information of the embedded IR.
 *
 * A unit is read when its first place is asked for: all its sites are then in a
 * table, by function.
 *
 * Invariant: sites are those of ir/sites.c, as the recorder saw them.
 * Cost: linear in the instructions of a unit, once.
 */
#include "replay/places.h"

#include "base/alloc.h"
#include "ir/sites.h"
#include "replay/bitcode.h"
#include "replay/program.h"
#include "replay/shim.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct site {
	uint32_t cell, ncells;
	struct place place;
};

struct function {
	struct site *sites;
	uint32_t nsites;
};

struct unit {
	bool is_read;
	struct function *functions; /* by index */
	uint32_t nfunctions, functions_cap;
};

struct places {
	const struct program *p;
	struct unit *units;
	char **strings; /* names of files and functions, each once */
	size_t nstrings, strings_cap;
};

struct places *places_new(const struct program *p)
{
	struct places *s = xcalloc(1, sizeof(*s));

	s->p = p;
	s->units = xcalloc((size_t)p->nunits + 1, sizeof(*s->units));
	return s;
}

void places_free(struct places *s)
{
	for (uint32_t i = 0; i < s->p->nunits; i++) {
		for (uint32_t k = 0; k < s->units[i].nfunctions; k++)
			free(s->units[i].functions[k].sites);
		free(s->units[i].functions);
	}
	for (size_t i = 0; i < s->nstrings; i++)
		free(s->strings[i]);
	free(s->strings);
	free(s->units);
	free(s);
}

/* Neighbours have the same, mostly. */
static const char *keep(struct places *s, const char *text, size_t n)
{
	for (size_t i = s->nstrings; i > 0; i--)
		if (!strncmp(s->strings[i - 1], text, n) &&
		    !s->strings[i - 1][n])
			return s->strings[i - 1];
	VEC_RESERVE(s->strings, s->nstrings, s->strings_cap);
	s->strings[s->nstrings] = xstrndup(text, n);
	return s->strings[s->nstrings++];
}

static struct place find_place(struct places *s, LLVMValueRef at)
{
	struct replay_shim_place found;

	if (!replay_shim_find_place(at, &found) || !found.line)
		return (struct place){NULL, NULL, 0};
	return (struct place){keep(s, found.function, found.nfunction),
	                      keep(s, found.file, found.nfile), found.line};
}

static struct function read_function(struct places *s, LLVMValueRef f)
{
	struct function fn = {NULL, 0};
	struct ir_function ir;

	if (!ir_has_marks(f))
		return fn;
	ir_function_init(&ir, f);
	fn.nsites = ir.nsites;
	fn.sites = xcalloc((size_t)ir.nsites + 1, sizeof(*fn.sites));
	for (uint32_t i = 0; i < ir.nsites; i++)
		fn.sites[i] =
		        (struct site){ir.sites[i].cell, ir.sites[i].ncells,
		                      find_place(s, ir.sites[i].at)};
	ir_function_release(&ir);
	return fn;
}

static void read_module(struct places *s, struct unit *u, LLVMModuleRef m)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
	     f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f))
			continue;
		VEC_RESERVE(u->functions, u->nfunctions, u->functions_cap);
		u->functions[u->nfunctions++] = read_function(s, f);
	}
}

static void ignore(LLVMDiagnosticInfoRef info, void *context)
{
	(void)info;
	(void)context;
}

/* What cannot be read has no places. */
static void read_unit(struct places *s, uint32_t unit)
{
	const struct program_unit *u = &s->p->units[unit];
	LLVMContextRef context;
	LLVMModuleRef m;
	unsigned char *bitcode;
	size_t n;

	s->units[unit].is_read = true;
	if (program_bitcode(s->p, u, &bitcode, &n, NULL) < 0)
		return;
	context = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(context, ignore, NULL);
	m = bitcode_parse(context, bitcode, n);
	if (m) {
		read_module(s, &s->units[unit], m);
		LLVMDisposeModule(m);
	}
	LLVMContextDispose(context);
	free(bitcode);
}

static const struct function *find_function(struct places *s,
                                            const struct program_function *f)
{
	struct unit *u = &s->units[f->unit];

	if (!u->is_read)
		read_unit(s, f->unit);
	return f->index < u->nfunctions ? &u->functions[f->index] : NULL;
}

/* site NULL: there is none. */
static struct place place_of(const struct program_function *f,
                             const struct site *site)
{
	if (site && site->place.line)
		return site->place;
	return f ? (struct place){f->name, f->file, f->line}
	         : (struct place){NULL, NULL, 0};
}

struct place places_of_site(struct places *s, uint64_t cell, uint32_t site)
{
	const struct program_function *f = program_of_cell(s->p, cell);
	const struct function *fn = f ? find_function(s, f) : NULL;

	return place_of(f, fn && site < fn->nsites ? &fn->sites[site] : NULL);
}

struct place places_of_cell(struct places *s, uint64_t cell)
{
	const struct program_function *f = program_of_cell(s->p, cell);
	const struct function *fn = f ? find_function(s, f) : NULL;
	uint32_t i = 0, at = f ? (uint32_t)((cell - f->cells) / 8) : 0;

	while (fn && i < fn->nsites &&
	       at - fn->sites[i].cell >= fn->sites[i].ncells)
		i++;
	return place_of(f, fn && i < fn->nsites ? &fn->sites[i] : NULL);
}
