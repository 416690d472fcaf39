/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of call sites to inline and of segments, as text, for the compiler.
 * The first line says what it is, then
 *
 *     f HASH NAME [FILE]         a function, the next number
 *     c PARENT SITE FUNCTION     what is called at a block of a copy; the next
 *                                number behind those of the functions
 *     s COUNT [*] STEP... END    a segment; a star: it was chosen.  A step is
 *                                COPY:BLOCK, an end is . (returns), ! (a call)
 *                                or >COPY:BLOCK (back to there)
 *     x STEP STEP                segments are cut between these
 *
 * Invariant: a copy comes after its parent; all functions come before copies.
 * Cost: linear.
 */
#include "analysis/segment_list.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/regular.h"
#include "base/text.h"
#include "format/listed.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC LISTED_MAGIC

static const char *const kinds[] = {
        [SEGMENT_LIST_ALL] = "all",
        [SEGMENT_LIST_SOME] = "some",
        [SEGMENT_LIST_PLAN] = "plan",
};

uint32_t segment_list_add_function(struct segment_list *l, struct key key)
{
	VEC_RESERVE(l->functions, l->nfunctions, l->functions_cap);
	l->functions[l->nfunctions++] = (struct segment_list_function){
	        {xstrdup(key.name), xstrdup(key.file), key.hash}};
	VEC_RESERVE(l->copies, l->ncopies, l->copies_cap);
	l->copies[l->ncopies] = (struct segments_copy){
	        .function = l->ncopies,
	        .root = l->ncopies,
	        .parent = SEGMENTS_NONE,
	};
	return l->ncopies++;
}

uint32_t segment_list_add_copy(struct segment_list *l, uint32_t parent,
                               block_id site, uint32_t function)
{
	VEC_RESERVE(l->copies, l->ncopies, l->copies_cap);
	l->copies[l->ncopies] = (struct segments_copy){
	        .function = function,
	        .root = l->copies[parent].root,
	        .parent = parent,
	        .site = site,
	        .depth = l->copies[parent].depth + 1,
	};
	return l->ncopies++;
}

static void add_step(struct segment_list *l, struct segments_step step)
{
	VEC_RESERVE(l->steps, l->nsteps, l->steps_cap);
	l->steps[l->nsteps++] = step;
}

void segment_list_add_item(struct segment_list *l,
                           const struct segments_one *one, bool is_chosen)
{
	VEC_RESERVE(l->items, l->nitems, l->items_cap);
	l->items[l->nitems++] = (struct segment_list_item){
	        .count = one->count,
	        .is_chosen = is_chosen,
	        .first_step = l->nsteps,
	        .nsteps = one->nsteps,
	        .end = one->end,
	        .to = one->to,
	};
	for (uint32_t i = 0; i < one->nsteps; i++)
		add_step(l, one->steps[i]);
}

void segment_list_add_cut(struct segment_list *l, struct segments_cut cut)
{
	VEC_RESERVE(l->cuts, l->ncuts, l->cuts_cap);
	l->cuts[l->ncuts++] = cut;
}

void segment_list_release(struct segment_list *l)
{
	for (uint32_t i = 0; i < l->nfunctions; i++) {
		free((void *)(uintptr_t)l->functions[i].key.name);
		free((void *)(uintptr_t)l->functions[i].key.file);
	}
	free(l->functions);
	free(l->copies);
	free(l->items);
	free(l->steps);
	free(l->cuts);
	*l = (struct segment_list){0};
}

/* --- writing ------------------------------------------------------------- */

static void write_item(const struct segment_list *l,
                       const struct segment_list_item *item, FILE *out)
{
	fprintf(out, "s %" PRIu64 "%s", item->count,
	        item->is_chosen ? " *" : "");
	for (uint32_t i = 0; i < item->nsteps; i++) {
		const struct segments_step *s = &l->steps[item->first_step + i];

		fprintf(out, " %" PRIu32 ":%" PRIu32, s->copy, s->block);
	}
	if (item->end == SEGMENTS_BACK)
		fprintf(out, " >%" PRIu32 ":%" PRIu32 "\n", item->to.copy,
		        item->to.block);
	else
		fprintf(out, " %c\n", item->end == SEGMENTS_CALLS ? '!' : '.');
}

void segment_list_write(const struct segment_list *l, FILE *out)
{
	fprintf(out, MAGIC "depth %" PRIu32 " %s\n", l->depth, kinds[l->kind]);
	for (uint32_t i = 0; i < l->nfunctions; i++) {
		const struct key *k = &l->functions[i].key;

		/* each on its line: a name that is escaped matches nothing */
		text_print(out, "f %016" PRIx64 " %s%s%s\n", k->hash, k->name,
		           *k->file ? " " : "", k->file);
	}
	for (uint32_t i = l->nfunctions; i < l->ncopies; i++)
		fprintf(out, "c %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
		        l->copies[i].parent, l->copies[i].site,
		        l->copies[i].function);
	for (uint32_t i = 0; i < l->ncuts; i++)
		fprintf(out,
		        "x %" PRIu32 ":%" PRIu32 " %" PRIu32 ":%" PRIu32 "\n",
		        l->cuts[i].from.copy, l->cuts[i].from.block,
		        l->cuts[i].to.copy, l->cuts[i].to.block);
	for (uint32_t i = 0; i < l->nitems; i++)
		write_item(l, &l->items[i], out);
}

/* --- reading ------------------------------------------------------------- */

/* A line that is taken apart; `bad` once something is not as it should be. */
struct words {
	char *at;
	bool bad;
};

/* The next number, below `end`, and what follows it has to be one of these. */
static uint64_t take_number(struct words *w, int base, uint64_t end,
                            const char *behind)
{
	char *rest;
	uint64_t v;

	while (*w->at == ' ')
		w->at++;
	errno = 0;
	v = strtoull(w->at, &rest, base);
	if (!isxdigit((unsigned char)*w->at) || errno || v >= end ||
	    (*rest && !strchr(behind, *rest))) {
		w->bad = true;
		return 0;
	}
	w->at = rest;
	return v;
}

static struct segments_step take_step(struct words *w,
                                      const struct segment_list *l)
{
	struct segments_step s;

	s.copy = (uint32_t)take_number(w, 10, l->ncopies, ":");
	if (!w->bad && *w->at++ != ':')
		w->bad = true;
	s.block = w->bad ? 0 : (block_id)take_number(w, 10, UINT32_MAX, " \n");
	return s;
}

static void take_function(struct segment_list *l, struct words *w)
{
	struct key key = {.hash = take_number(w, 16, UINT64_MAX, " ")};
	char *file;

	while (*w->at == ' ')
		w->at++;
	key.name = w->at;
	file = strchr(w->at, ' ');
	if (file)
		*file++ = 0;
	key.file = file ? file : "";
	if (!*key.name || l->ncopies != l->nfunctions)
		w->bad = true;
	else
		segment_list_add_function(l, key);
}

static void take_copy(struct segment_list *l, struct words *w)
{
	uint32_t parent = (uint32_t)take_number(w, 10, l->ncopies, " ");
	block_id site = (block_id)take_number(w, 10, UINT32_MAX, " ");
	uint32_t function = (uint32_t)take_number(w, 10, l->nfunctions, " ");

	if (w->bad || l->copies[parent].depth >= SEGMENTS_DEPTH_MAX)
		w->bad = true;
	else
		segment_list_add_copy(l, parent, site, function);
}

static void take_end(struct segment_list *l, struct words *w,
                     struct segment_list_item *item)
{
	if (*w->at == '>') {
		w->at++;
		item->end = SEGMENTS_BACK;
		item->to = take_step(w, l);
	} else {
		item->end = *w->at == '!' ? SEGMENTS_CALLS : SEGMENTS_LEAVES;
		if (*w->at != '!' && *w->at != '.')
			w->bad = true;
		else
			w->at++;
	}
	if (!w->bad && *w->at)
		w->bad = true;
}

static void take_item(struct segment_list *l, struct words *w)
{
	struct segment_list_item item = {
	        .count = take_number(w, 10, UINT64_MAX, " "),
	        .first_step = l->nsteps,
	};

	while (*w->at == ' ')
		w->at++;
	if (*w->at == '*') {
		item.is_chosen = true;
		w->at++;
	}
	for (;;) {
		while (*w->at == ' ')
			w->at++;
		if (w->bad || !isdigit((unsigned char)*w->at))
			break;
		add_step(l, take_step(w, l));
		item.nsteps++;
	}
	take_end(l, w, &item);
	if (!item.nsteps)
		w->bad = true;
	VEC_RESERVE(l->items, l->nitems, l->items_cap);
	l->items[l->nitems++] = item;
}

static void take_cut(struct segment_list *l, struct words *w)
{
	struct segments_cut cut;

	cut.from = take_step(w, l);
	cut.to = take_step(w, l);
	if (!w->bad)
		segment_list_add_cut(l, cut);
}

static bool take_line(struct segment_list *l, char *line)
{
	struct words w = {.at = line + 1};

	if (!*line || *line == '#')
		return true;
	if (line[1] != ' ')
		return false;
	if (*line == 'f')
		take_function(l, &w);
	else if (*line == 'c')
		take_copy(l, &w);
	else if (*line == 's')
		take_item(l, &w);
	else if (*line == 'x')
		take_cut(l, &w);
	else
		return false;
	return !w.bad;
}

static bool take_head(struct segment_list *l, const char *line)
{
	unsigned kind = 0;
	char *rest;

	if (strncmp(line, MAGIC "depth ", strlen(MAGIC "depth ")) != 0)
		return false;
	l->depth = (uint32_t)strtoul(line + strlen(MAGIC "depth "), &rest, 10);
	while (kind < 3 && (*rest != ' ' || strcmp(rest + 1, kinds[kind]) != 0))
		kind++;
	l->kind = (enum segment_list_kind)kind;
	return kind < 3 && l->depth <= SEGMENTS_DEPTH_MAX;
}

int segment_list_read(struct segment_list *l, const char *path,
                      struct cairn_err *err)
{
	FILE *f = regular_stream(path, "name a list of segments", err);
	size_t cap = 0, number = 0;
	char *line = NULL;
	bool ok = true;

	*l = (struct segment_list){0};
	if (!f)
		return CAIRN_E_ABSENT;
	while (ok && getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "\n")] = 0;
		ok = number++ ? take_line(l, line) : take_head(l, line);
	}
	free(line);
	ok = ok && number && !ferror(f);
	fclose(f);
	if (ok)
		return 0;
	segment_list_release(l);
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s:%zu: is no line of a list of segments; make one "
	                  "with cairn segments --list",
	                  path, number);
}
