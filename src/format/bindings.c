/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where calls by name have led in a trace: runtime/bindings.c has written it.
 *
 * Modules are numbered in the file, where one that came back at another address
 * has two numbers; in a profile it is one module.  A name that has led to
 * different places, since its module came back, is nobody's.
 *
 * The runtime writes at the end of a process.  Of one that was killed nothing
 * is known but that calls in the executable of what the executable has are of
 * that: nothing can take its place.
 *
 * Cost: a sort; a search for each question.
 */
#include "format/bindings.h"

#include <stdlib.h>
#include <string.h>

#include "abi/file.h"
#include "abi/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "format/profile.h"
#include "format/streams.h"

#define NO_MODULE UINT32_MAX

struct binding {
	uint64_t name;     /* its hash */
	uint32_t from, to; /* modules of the profile; to: or NO_MODULE */
};

/* A module of the profile, by its number in the file. */
static uint32_t bindings_module(const struct profile *p,
                                const struct container *c, uint64_t number)
{
	for (size_t i = 0; i < c->nchunks; i++) {
		const struct chunk *k = &c->chunks[i];

		if (k->type != CAIRN_CHUNK_MODULE || k->module != number)
			continue;
		for (uint32_t m = 0; m < p->nmodules; m++)
			for (uint32_t b = 0; b < p->modules[m].nbiases; b++)
				if (p->modules[m].biases[b] == k->aux1)
					return m;
	}
	return NO_MODULE;
}

static int bindings_compare(const void *a, const void *b)
{
	const struct binding *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static bool bindings_has_end(const struct container *c)
{
	return c->state == CAIRN_STATE_CLOSED && !c->truncated &&
	       !(c->flags & (CAIRN_FILE_UNFINISHED | CAIRN_FILE_TRUNCATED));
}

void bindings_init(struct bindings *b, const struct profile *p,
                   const struct streams *s)
{
	const struct container *c = &s->c;

	*b = (struct bindings){0};
	b->is_complete =
	        xcalloc((size_t)p->nmodules + 1, sizeof(*b->is_complete));
	for (uint32_t i = 0; i < p->nmodules; i++)
		b->is_complete[i] =
		        bindings_has_end(c) ||
		        (p->program && !strcmp(p->program, p->modules[i].path));
	for (size_t i = 0; i < c->nchunks; i++) {
		const struct chunk *k = &c->chunks[i];
		uint32_t from;

		if (k->type != CAIRN_CHUNK_BINDINGS)
			continue;
		from = bindings_module(p, c, k->module);
		for (uint64_t n = 0; n < k->n; n++) {
			const unsigned char *at =
			        k->payload + CAIRN_BINDING * n;

			VEC_RESERVE(b->items, b->n, b->cap);
			b->items[b->n++] = (struct binding){
			        .name = get_le64(at),
			        .from = from,
			        .to = bindings_module(p, c, get_le64(at + 8)),
			};
		}
	}
	if (b->n)
		qsort(b->items, b->n, sizeof(*b->items), bindings_compare);
}

void bindings_release(struct bindings *b)
{
	free(b->items);
	free(b->is_complete);
}

bool bindings_lead(const struct bindings *b, uint32_t from, const char *name,
                   uint32_t to)
{
	const struct binding key = {
	        .name = cairn_name_hash(name + (*name == 1)), .from = from};
	const struct binding *found = NULL, *i;

	if (b->n)
		found = bsearch(&key, b->items, b->n, sizeof(key),
		                bindings_compare);
	if (!found)
		return from == to && b->is_complete[from];
	for (i = found; i >= b->items && !bindings_compare(i, &key); i--)
		if (i->to != to)
			return false;
	for (i = found; i < b->items + b->n && !bindings_compare(i, &key); i++)
		if (i->to != to)
			return false;
	return true;
}
