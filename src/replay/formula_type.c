/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types in expressions, of casts and sizeof: those of C, of structs, unions and
 * enums, and names, with any number of stars.  A name that is a variable's,
 * too, is the variable's.
 */
#include "replay/formula_parser.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct type *derive(struct parser *p, const struct type *t,
                                 enum type_kind kind)
{
	struct formula_made *m = xcalloc(1, sizeof(*m));
	size_t n = strlen(t->name);

	m->name = xasprintf("%s%s%s", t->name,
	                    n && t->name[n - 1] == '*' ? "" : " ",
	                    kind == TYPE_POINTER ? "*" : "&");
	m->type = (struct type){
	        .kind = kind, .name = m->name, .size = 8, .target = t};
	m->next = p->f->made;
	p->f->made = m;
	return &m->type;
}

const struct type *parser_pointer(struct parser *p, const struct type *t)
{
	return derive(p, t, TYPE_POINTER);
}

static bool is_qualifier(const struct parser *p)
{
	return parser_is_word(p, "const") || parser_is_word(p, "volatile");
}

static bool is_basic_word(const struct parser *p)
{
	static const char *const words[] = {
	        "void",     "char",  "short",  "int",  "long",  "signed",
	        "unsigned", "float", "double", "bool", "_Bool", "__int128"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (parser_is_word(p, words[i]))
			return true;
	return false;
}

/* How often each word occurs. */
struct basic {
	unsigned is_void, is_char, is_short, is_int, nlong, is_signed,
	        is_unsigned, is_float, is_double, is_bool, is_wide;
};

static void count_word(struct basic *b, const char *word)
{
	b->is_void += !strcmp(word, "void");
	b->is_char += !strcmp(word, "char");
	b->is_short += !strcmp(word, "short");
	b->is_int += !strcmp(word, "int");
	b->nlong += !strcmp(word, "long");
	b->is_signed += !strcmp(word, "signed");
	b->is_unsigned += !strcmp(word, "unsigned");
	b->is_float += !strcmp(word, "float");
	b->is_double += !strcmp(word, "double");
	b->is_bool += !strcmp(word, "bool") || !strcmp(word, "_Bool");
	b->is_wide += !strcmp(word, "__int128");
}

static const struct type *choose_basic(const struct basic *b)
{
	if (b->is_void)
		return &type_void;
	if (b->is_bool)
		return &type_bool;
	if (b->is_float)
		return &type_float;
	if (b->is_double)
		return b->nlong ? &type_long_double : &type_double;
	if (b->is_char)
		return b->is_unsigned ? &type_uchar
		       : b->is_signed ? &type_schar
		                      : &type_char;
	if (b->is_short)
		return b->is_unsigned ? &type_ushort : &type_short;
	if (b->is_wide)
		return b->is_unsigned ? &type_uint128 : &type_int128;
	if (b->nlong > 1)
		return b->is_unsigned ? &type_ullong : &type_llong;
	if (b->nlong)
		return b->is_unsigned ? &type_ulong : &type_long;
	return b->is_unsigned ? &type_uint : &type_int;
}

static const struct type *parse_basic(struct parser *p)
{
	struct basic b = {0};

	for (; is_basic_word(p) || is_qualifier(p); parser_next(p))
		count_word(&b, p->name);
	return choose_basic(&b);
}

bool parser_find(struct parser *p, enum formula_scope scope, const char *name,
                 struct formula_name *found)
{
	return p->names->find(p->names->context, scope, name, found);
}

/* One with arguments, which are no part of the token yet. */
static const struct type *template_type(struct parser *p)
{
	const char *from = p->text + p->at;
	size_t n = 0, depth = 0;
	const struct type *t;
	char *name;

	if (*from != '<')
		return NULL;
	do {
		depth += from[n] == '<';
		depth -= from[n] == '>';
		n++;
	} while (depth && from[n]);
	name = xasprintf("%s%.*s", p->name, (int)n, from);
	t = depth ? NULL : p->names->type(p->names->context, "", name);
	free(name);
	p->at += t ? n : 0;
	return t;
}

/* What follows the name of a type in a cast or in sizeof. */
static bool may_be_type(const struct parser *p)
{
	const char *next = p->text + p->at;

	while (*next == ' ')
		next++;
	return *next && strchr("*&)>", *next);
}

/* Is the token the name of a type, and of no variable? */
static const struct type *named_type(struct parser *p)
{
	struct formula_name found = {0};
	const struct type *t;

	if (p->token != TOKEN_NAME ||
	    parser_find(p, FORMULA_LOCAL, p->name, &found) || found.why)
		return NULL;
	t = p->names->type(p->names->context, "", p->name);
	if (!t)
		t = template_type(p);
	if (t || !may_be_type(p) || parser_own(p, p->name) ||
	    parser_find(p, FORMULA_GLOBAL, p->name, &found))
		return t;
	return parser_foreign(p, p->name);
}

static const struct type *parse_tagged(struct parser *p)
{
	char tag[8];
	const struct type *t;

	snprintf(tag, sizeof(tag), "%s",
	         parser_is_word(p, "class") ? "struct" : p->name);
	parser_next(p);
	if (p->token != TOKEN_NAME) {
		parser_fail(p, p->begin, "the name of a %s is missing", tag);
		return NULL;
	}
	t = p->names->type(p->names->context, tag, p->name);
	if (!t) {
		char *full = xasprintf("%s %s", tag, p->name);

		t = parser_foreign(p, full);
		free(full);
	}
	if (!t)
		t = parser_foreign(p, p->name);
	if (!t)
		parser_fail(p, p->begin, "there is no %s %s here", tag,
		            p->name);
	parser_next(p);
	return t;
}

/* The type that begins here; NULL if none does. */
const struct type *parser_type(struct parser *p)
{
	const struct type *t;

	while (is_qualifier(p))
		parser_next(p);
	if (is_basic_word(p)) {
		t = parse_basic(p);
	} else if (parser_is_word(p, "struct") || parser_is_word(p, "union") ||
	           parser_is_word(p, "enum") || parser_is_word(p, "class")) {
		t = parse_tagged(p);
	} else {
		t = named_type(p);
		if (t)
			parser_next(p);
	}
	while (t && (parser_is(p, "*") || is_qualifier(p))) {
		if (parser_is(p, "*"))
			t = parser_pointer(p, t);
		parser_next(p);
	}
	if (t && (parser_is(p, "&") || parser_is(p, "&&"))) {
		t = derive(p, t, TYPE_REFERENCE);
		parser_next(p);
	}
	return t;
}
