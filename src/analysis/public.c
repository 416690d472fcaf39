/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public interface of include/cairn/profile.h over profile, counts and
 * lines.  Structs go out through fill(), which copies as much as the caller's
 * header knew of.
 */
#include "cairn/profile.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cairn_profile {
	struct profile *profile;
	struct counts *counts;
	struct lines *lines;
	size_t nfunctions;
};

/* A function and where its parts are. */
struct place {
	const struct profile_module *module;
	const struct map *map;
	const struct map_function *f;
	const struct counts_module *cm;
	const struct counts_function *r;
};

struct cairn_profile *cairn_profile_open(const char *const *paths,
                                         size_t npaths, char *message,
                                         size_t message_size)
{
	struct cairn_profile *p;
	struct profile *profile;
	struct cairn_err err;

	if (profile_open(&profile, paths, npaths, NULL, &err)) {
		if (message)
			snprintf(message, message_size, "%s", err.text);
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->profile = profile;
	p->counts = counts_new(profile);
	p->lines = lines_new(p->counts);
	for (uint32_t i = 0; i < profile->nmodules; i++)
		p->nfunctions += profile->modules[i].map->nfunctions;
	return p;
}

void cairn_profile_free(struct cairn_profile *p)
{
	if (!p)
		return;
	lines_free(p->lines);
	counts_free(p->counts);
	profile_free(p->profile);
	free(p);
}

const char *cairn_profile_note(const struct cairn_profile *p)
{
	if (p->counts->totals.inconsistent)
		return "the flow through some functions does not add up";
	return counts_reason(p->counts->doubt);
}

size_t cairn_profile_nfunctions(const struct cairn_profile *p)
{
	return p->nfunctions;
}

size_t cairn_profile_nlines(const struct cairn_profile *p)
{
	return p->lines->n;
}

static bool find(const struct cairn_profile *p, size_t function,
                 struct place *out)
{
	for (uint32_t i = 0; i < p->profile->nmodules; i++) {
		const struct map *m = p->profile->modules[i].map;

		if (function < m->nfunctions) {
			*out = (struct place){
			        .module = &p->profile->modules[i],
			        .map = m,
			        .f = &m->functions[function],
			        .cm = &p->counts->modules[i],
			        .r = &p->counts->modules[i].functions[function],
			};
			return true;
		}
		function -= m->nfunctions;
	}
	return false;
}

/* Copies `known` bytes of *from, or as many as the caller has room for. */
static bool fill(void *out, size_t room, void *from, size_t known)
{
	size_t n = room < known ? room : known;

	if (n < sizeof(size_t))
		return false;
	memcpy((char *)out + sizeof(size_t), (char *)from + sizeof(size_t),
	       n - sizeof(size_t));
	return true;
}

bool cairn_profile_function(const struct cairn_profile *p, size_t function,
                            struct cairn_function *out)
{
	struct cairn_function f = {0};
	struct place at;

	if (!find(p, function, &at))
		return false;
	f.name = map_string(at.map, at.f->name);
	f.module = at.module->path;
	f.file = map_string(at.map, at.f->file);
	f.uncovered = at.r->covered ? NULL : map_string(at.map, at.f->reason);
	f.inexact = counts_reason(at.r->doubt);
	f.line = at.f->line;
	f.nblocks = at.f->nblocks;
	f.nedges = at.f->nedges;
	f.entries = at.r->entries_known ? at.r->entries : CAIRN_UNKNOWN;
	return fill(out, out->size, &f, sizeof(f));
}

static const struct map_line *first_line(const struct map *m,
                                         const struct map_block *b)
{
	for (uint32_t s = 0; s < b->nsegments; s++) {
		const struct map_segment *g =
		        &m->segments[b->first_segment + s];

		for (uint32_t i = 0; i < g->nlines; i++)
			if (m->lines[g->first_line + i].line)
				return &m->lines[g->first_line + i];
	}
	return NULL;
}

bool cairn_profile_block(const struct cairn_profile *p, size_t function,
                         uint32_t block, struct cairn_block *out)
{
	struct cairn_block b = {.file = ""};
	const struct map_line *l;
	struct place at;
	uint32_t i;

	if (!find(p, function, &at) || block >= at.f->nblocks)
		return false;
	i = at.f->first_block + block;
	b.count = at.cm->block_known[i] ? at.cm->block[i] : CAIRN_UNKNOWN;
	b.instructions = at.map->blocks[i].ninstructions;
	l = first_line(at.map, &at.map->blocks[i]);
	if (l) {
		b.file = map_string(at.map, l->file);
		b.line = l->line;
	}
	return fill(out, out->size, &b, sizeof(b));
}

bool cairn_profile_edge(const struct cairn_profile *p, size_t function,
                        uint32_t edge, struct cairn_edge *out)
{
	struct cairn_edge e = {0};
	struct place at;
	uint32_t i;

	if (!find(p, function, &at) || edge >= at.f->nedges)
		return false;
	i = at.f->first_edge + edge;
	e.source = at.map->edges[i].src;
	e.target = at.map->edges[i].dst;
	e.kind = at.map->edges[i].kind;
	e.count = at.cm->edge_known[i] ? at.cm->edge[i] : CAIRN_UNKNOWN;
	return fill(out, out->size, &e, sizeof(e));
}

bool cairn_profile_line(const struct cairn_profile *p, size_t line,
                        struct cairn_line *out)
{
	struct cairn_line l = {0};
	const struct line_count *c;

	if (line >= p->lines->n)
		return false;
	c = &p->lines->items[line];
	l.file = p->lines->files.items[c->file];
	l.line = c->line;
	l.count = c->known ? c->count : CAIRN_UNKNOWN;
	return fill(out, out->size, &l, sizeof(l));
}
