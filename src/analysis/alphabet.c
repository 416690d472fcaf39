/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the functions and lines of a program to the letters of an automaton.
 *
 * Symbols are patterns, so that it is settled once per function and line,
 * before the walk, which symbols they are; the walk then has one number for
 * each event, or none if the expression does not name it.
 *
 * Lines are kept, all of them, for those functions only in which one is a
 * letter: to know that a frame has come to a line, one has to know that it left
 * it.
 *
 * Invariant: starts[] of a function has one entry more than it has blocks, and
 * increases.  Cost: O(n * symbols) for n names and lines.
 */
#include "analysis/alphabet.h"

#include "analysis/automaton.h"
#include "analysis/expression.h"
#include "base/alloc.h"
#include "base/err.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void alphabet_init(struct alphabet *l, struct automaton *a)
{
	const struct expression *e = a->e;

	assert(!a->nletters);
	*l = (struct alphabet){.automaton = a};
	l->is_found = xcalloc(e->nsymbols + 1, sizeof(*l->is_found));
	l->scratch = xcalloc(a->symbol_width + 1, sizeof(*l->scratch));
	for (uint32_t i = 0; i < e->nsymbols; i++)
		l->has_lines |= e->symbols[i].what == EXPRESSION_LINE;
}

void alphabet_release(struct alphabet *l)
{
	free(l->functions);
	free(l->lines);
	free(l->starts);
	free(l->is_found);
	free(l->scratch);
	strtab_release(&l->files);
	*l = (struct alphabet){0};
}

static void clear(struct alphabet *l)
{
	memset(l->scratch, 0, l->automaton->symbol_width * sizeof(uint64_t));
}

static void take_symbol(struct alphabet *l, uint32_t symbol)
{
	l->scratch[symbol / 64] |= (uint64_t)1 << symbol % 64;
	l->is_found[symbol] = true;
}

/* The names that a function goes by, some NULL. */
struct names {
	const char *of[3];
};

/* A C++ name without the last thing in parentheses and what follows it: its
 * parameters, const and the like.  NULL if there is no such thing; for the
 * caller to free. */
char *alphabet_brief(const char *readable)
{
	const char *at = readable ? strrchr(readable, ')') : NULL;
	size_t nested = 0;

	for (; at && at > readable; at--) {
		nested += *at == ')';
		nested -= *at == '(';
		if (!nested)
			return xstrndup(readable, (size_t)(at - readable));
	}
	return NULL;
}

static uint32_t letter_of(struct alphabet *l, enum expression_what what,
                          const struct names *names)
{
	const struct expression *e = l->automaton->e;

	clear(l);
	for (uint32_t i = 0; i < e->nsymbols; i++) {
		const struct expression_symbol *s = &e->symbols[i];
		bool is_meant = false;

		for (size_t k = 0; k < 3; k++)
			is_meant |= names->of[k] &&
			            expression_is_function(s, names->of[k]);
		if (s->what == what && is_meant)
			take_symbol(l, i);
	}
	return automaton_letter(l->automaton, l->scratch);
}

static uint32_t letter_of_line(struct alphabet *l, const char *path,
                               uint32_t line)
{
	const struct expression *e = l->automaton->e;

	clear(l);
	for (uint32_t i = 0; i < e->nsymbols; i++)
		if (expression_is_line(&e->symbols[i], path, line))
			take_symbol(l, i);
	return automaton_letter(l->automaton, l->scratch);
}

static void add_start(struct alphabet *l, uint32_t start)
{
	VEC_RESERVE(l->starts, l->nstarts, l->starts_cap);
	l->starts[l->nstarts++] = start;
}

/* Finds where the blocks of the last function begin, or forgets its lines. */
static void close_function(struct alphabet *l)
{
	struct alphabet_function *f;
	bool is_used = false;

	for (uint32_t i = l->kept; i < l->nlines; i++)
		is_used |= l->lines[i].letter != AUTOMATON_OTHER;
	if (!is_used) {
		l->nlines = l->kept;
		return;
	}
	f = &l->functions[l->nfunctions - 1];
	f->first_block = l->nstarts;
	f->nblocks = l->lines[l->nlines - 1].block + 1;
	for (uint32_t b = 0, i = l->kept; b <= f->nblocks; b++) {
		while (i < l->nlines && l->lines[i].block < b)
			i++;
		add_start(l, i);
	}
	l->kept = l->nlines;
}

void alphabet_add_function(struct alphabet *l, const char *name,
                           const char *readable)
{
	char *brief = alphabet_brief(readable);
	struct names names = {{name, readable, brief}};

	close_function(l);
	VEC_RESERVE(l->functions, l->nfunctions, l->functions_cap);
	l->functions[l->nfunctions++] = (struct alphabet_function){
	        .enter = letter_of(l, EXPRESSION_ENTER, &names),
	        .leave = letter_of(l, EXPRESSION_LEAVE, &names)};
	free(brief);
}

void alphabet_add_line(struct alphabet *l, uint32_t block, uint32_t instance,
                       const char *path, uint32_t line)
{
	assert(l->nfunctions);
	assert(l->nlines == l->kept || l->lines[l->nlines - 1].block <= block);
	if (!l->has_lines)
		return;
	VEC_RESERVE(l->lines, l->nlines, l->lines_cap);
	l->lines[l->nlines++] = (struct alphabet_line){
	        .block = block,
	        .instance = instance,
	        .file = strtab_add(&l->files, path, strlen(path)),
	        .line = line,
	        .letter = letter_of_line(l, path, line),
	};
}

int alphabet_finish(struct alphabet *l, const char *name, struct cairn_err *err)
{
	const struct expression *e = l->automaton->e;
	uint32_t i = 0;

	close_function(l);
	while (i < e->nsymbols && l->is_found[i])
		i++;
	if (i == e->nsymbols)
		return 0;
	if (e->symbols[i].what == EXPRESSION_LINE)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: no code is of line %s, in column %zu of "
		                  "the path expression; name a line that cairn "
		                  "report --lines counts",
		                  name, e->symbols[i].text,
		                  e->symbols[i].column);
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%s: no function is %s, in column %zu of the path "
	                  "expression; name one that cairn-cc compiled and the "
	                  "optimizer did not inline everywhere",
	                  name, e->symbols[i].text, e->symbols[i].column);
}

const struct alphabet_line *alphabet_lines(const struct alphabet *l,
                                           uint32_t function, uint32_t block,
                                           uint32_t *n)
{
	const struct alphabet_function *f = &l->functions[function];
	const uint32_t *start;

	*n = 0;
	if (block >= f->nblocks)
		return NULL;
	start = &l->starts[f->first_block + block];
	*n = start[1] - start[0];
	return &l->lines[start[0]];
}
