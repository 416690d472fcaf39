/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses expressions of C and gives every part its type: conversions become
 * nodes of their own, arrays become pointers, references what they refer to.
 *
 * A recursive descent over tokens, one ahead; binary operators by precedence
 * (V. Pratt, "Top down operator precedence", POPL 1973).  The first mistake
 * stops it: from then on every token is the end, and the sentence stays.
 *
 * A name may be qualified (a::b).  In parentheses stands a type if a type's
 * name follows that is no variable's.
 * Cost: linear in the text, but for what names cost to look up.
 */
#include "replay/formula_node.h"

#include "base/alloc.h"
#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200 /* of parentheses and the like */
#define NAME_MAX_ 256

enum token {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_SIGN, /* an operator, in sign */
};

struct parser {
	const char *text;
	size_t at;    /* behind the token */
	size_t begin; /* of the token */
	enum token token;
	char sign[4];
	char name[NAME_MAX_];
	struct value number;
	unsigned depth;
	bool has_failed;
	struct formula *f;
	const struct formula_names *names;
	struct cairn_err *err;
};

typedef struct formula_node node;

/* --- mistakes ------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static void
fail_at(struct parser *p, size_t at, const char *format, ...)
{
	char what[800];
	va_list list;

	if (p->has_failed)
		return;
	va_start(list, format);
	vsnprintf(what, sizeof(what), format, list);
	va_end(list);
	cairn_fail(p->err, CAIRN_E_USAGE, "in '%.100s', column %zu: %s",
	           p->text, at + 1, what);
	p->has_failed = true;
	p->token = TOKEN_END;
}

/* --- tokens -------------------------------------------------------------- */

static bool is_name_part(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void read_name(struct parser *p)
{
	const char *from = p->text + p->at;
	size_t n = 0;

	for (;;) {
		while (is_name_part(from[n]))
			n++;
		if (from[n] != ':' || from[n + 1] != ':' ||
		    !is_name_part(from[n + 2]))
			break;
		n += 2;
	}
	if (n >= sizeof(p->name)) {
		fail_at(p, p->at, "this name is too long");
		return;
	}
	memcpy(p->name, from, n);
	p->name[n] = '\0';
	p->token = TOKEN_NAME;
	p->at += n;
}

static const struct type *type_of_literal(unsigned long long v, bool is_decimal,
                                          bool is_unsigned, bool is_long)
{
	if (!is_long && !is_unsigned && v <= INT32_MAX)
		return &type_int;
	if (!is_long && (is_unsigned || !is_decimal) && v <= UINT32_MAX)
		return &type_uint;
	if (!is_unsigned && v <= INT64_MAX)
		return &type_long;
	return &type_ulong;
}

/* What follows the digits of a whole number. */
static void read_suffix(struct parser *p, unsigned long long v, bool is_decimal)
{
	bool is_unsigned = false, is_long = false;

	for (; isalpha((unsigned char)p->text[p->at]); p->at++) {
		int c = tolower((unsigned char)p->text[p->at]);

		is_unsigned |= c == 'u';
		is_long |= c == 'l';
		if (c != 'u' && c != 'l')
			break;
	}
	p->number = value_of_whole(
	        type_of_literal(v, is_decimal, is_unsigned, is_long),
	        (value_wide)v);
}

static void read_real(struct parser *p)
{
	char *end;
	long double v = strtold(p->text + p->at, &end);
	const struct type *t = &type_double;

	if (*end == 'f' || *end == 'F')
		t = &type_float;
	else if (*end == 'l' || *end == 'L')
		t = &type_long_double;
	if (t == &type_float)
		v = strtof(p->text + p->at, NULL);
	else if (t == &type_double)
		v = strtod(p->text + p->at, NULL);
	p->at = (size_t)(end - p->text) + (t != &type_double);
	p->number = value_of_real(t, v);
}

static void read_number(struct parser *p)
{
	const char *from = p->text + p->at;
	bool is_hex = *from == '0' && tolower((unsigned char)from[1]) == 'x';
	const char *set = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	size_t n = (is_hex ? 2 : 0) + strspn(from + (is_hex ? 2 : 0), set);
	int next = tolower((unsigned char)from[n]);
	unsigned long long v;
	char *end;

	p->token = TOKEN_NUMBER;
	if (next == '.' || next == (is_hex ? 'p' : 'e')) {
		read_real(p);
	} else {
		errno = 0;
		v = strtoull(from, &end, 0);
		if (errno) {
			fail_at(p, p->at, "this number is too large");
			return;
		}
		p->at = (size_t)(end - p->text);
		read_suffix(p, v, *from != '0');
	}
	if (is_name_part(p->text[p->at]))
		fail_at(p, p->at, "this is no number");
}

static int read_escape(struct parser *p)
{
	static const char names[] = "a\ab\bf\fn\nr\rt\tv\ve\033";
	char c = p->text[p->at];
	const char *found = c ? strchr(names, c) : NULL;
	char *end;
	long v = 0;

	p->at += c != '\0';
	if (c >= '0' && c <= '7') {
		v = c - '0';
		for (int i = 0;
		     i < 2 && p->text[p->at] >= '0' && p->text[p->at] <= '7';
		     i++)
			v = 8 * v + p->text[p->at++] - '0';
		return (int)v;
	}
	if (c == 'x') {
		v = strtol(p->text + p->at, &end, 16);
		p->at = (size_t)(end - p->text);
		return (int)v;
	}
	return found && (found - names) % 2 == 0 ? found[1] : c;
}

static void read_character(struct parser *p)
{
	int c = p->text[++p->at];
	bool is_there = c && c != '\'';

	p->at += c != '\0';
	if (c == '\\')
		c = read_escape(p);
	if (!is_there || p->text[p->at] != '\'') {
		fail_at(p, p->begin, "a character stands between two quotes");
		return;
	}
	p->at++;
	p->token = TOKEN_NUMBER;
	p->number = value_of_whole(&type_int, (signed char)c);
}

static void read_sign(struct parser *p)
{
	static const char *const signs[] = {
	        "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+",
	        "-",  "*",  "/",  "%",  "&",  "|",  "^",  "~",  "!",  "<",
	        ">",  "?",  ":",  "(",  ")",  "[",  "]",  ".",  ",",  "="};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		size_t n = strlen(signs[i]);

		if (strncmp(p->text + p->at, signs[i], n) != 0)
			continue;
		memcpy(p->sign, signs[i], n + 1);
		p->token = TOKEN_SIGN;
		p->at += n;
		return;
	}
	fail_at(p, p->at, "this is no part of an expression: %.1s",
	        p->text + p->at);
}

static void next_token(struct parser *p)
{
	char c;

	if (p->has_failed)
		return;
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
	p->begin = p->at;
	c = p->text[p->at];
	if (!c)
		p->token = TOKEN_END;
	else if (isdigit((unsigned char)c) ||
	         (c == '.' && isdigit((unsigned char)p->text[p->at + 1])))
		read_number(p);
	else if (is_name_part(c) ||
	         (c == ':' && p->text[p->at + 1] == ':' && (p->at += 2)))
		read_name(p);
	else if (c == '\'')
		read_character(p);
	else
		read_sign(p);
}

static bool is_sign(const struct parser *p, const char *sign)
{
	return p->token == TOKEN_SIGN && !strcmp(p->sign, sign);
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->token == TOKEN_NAME && !strcmp(p->name, word);
}

static bool take(struct parser *p, const char *sign)
{
	if (!is_sign(p, sign))
		return false;
	next_token(p);
	return true;
}

static void expect(struct parser *p, const char *sign)
{
	if (take(p, sign))
		return;
	if (is_sign(p, ",") && !strcmp(sign, ")"))
		fail_at(p, p->begin,
		        "a comma cannot stand in parentheses here");
	else
		fail_at(p, p->begin, "%s is missing", sign);
}

/* --- types --------------------------------------------------------------- */

static const struct type *pointer_to(struct parser *p, const struct type *t)
{
	struct formula_made *m = xcalloc(1, sizeof(*m));
	size_t n = strlen(t->name);

	m->name = xasprintf("%s%s*", t->name,
	                    n && t->name[n - 1] == '*' ? "" : " ");
	m->type = (struct type){
	        .kind = TYPE_POINTER, .name = m->name, .size = 8, .target = t};
	m->next = p->f->made;
	p->f->made = m;
	return &m->type;
}

static bool is_qualifier(const struct parser *p)
{
	return is_word(p, "const") || is_word(p, "volatile");
}

static bool is_basic_word(const struct parser *p)
{
	static const char *const words[] = {
	        "void",     "char",  "short",  "int",  "long",  "signed",
	        "unsigned", "float", "double", "bool", "_Bool", "__int128"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (is_word(p, words[i]))
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

	for (; is_basic_word(p) || is_qualifier(p); next_token(p))
		count_word(&b, p->name);
	return choose_basic(&b);
}

static bool find_name(struct parser *p, enum formula_scope scope,
                      const char *name, struct formula_name *found)
{
	return p->names->find(p->names->context, scope, name, found);
}

/* Is the token the name of a type, and of no variable? */
static const struct type *named_type(struct parser *p)
{
	struct formula_name found;

	if (p->token != TOKEN_NAME ||
	    find_name(p, FORMULA_LOCAL, p->name, &found))
		return NULL;
	return p->names->type(p->names->context, "", p->name);
}

static const struct type *parse_tagged(struct parser *p)
{
	char tag[8];
	const struct type *t;

	snprintf(tag, sizeof(tag), "%s",
	         is_word(p, "class") ? "struct" : p->name);
	next_token(p);
	if (p->token != TOKEN_NAME) {
		fail_at(p, p->begin, "the name of a %s is missing", tag);
		return NULL;
	}
	t = p->names->type(p->names->context, tag, p->name);
	if (!t)
		fail_at(p, p->begin, "there is no %s %s here", tag, p->name);
	next_token(p);
	return t;
}

/* The type that begins here; NULL if none does. */
static const struct type *parse_type(struct parser *p)
{
	const struct type *t;

	while (is_qualifier(p))
		next_token(p);
	if (is_basic_word(p)) {
		t = parse_basic(p);
	} else if (is_word(p, "struct") || is_word(p, "union") ||
	           is_word(p, "enum") || is_word(p, "class")) {
		t = parse_tagged(p);
	} else {
		t = named_type(p);
		if (t)
			next_token(p);
	}
	while (t && (is_sign(p, "*") || is_qualifier(p))) {
		if (is_sign(p, "*"))
			t = pointer_to(p, t);
		next_token(p);
	}
	return t;
}

/* --- nodes --------------------------------------------------------------- */

static node *new_node(struct parser *p, enum formula_op op,
                      const struct type *t, node *a, node *b)
{
	node *n = xcalloc(1, sizeof(*n));

	*n = (node){.op = op, .type = t, .a = a, .b = b, .next = p->f->nodes};
	p->f->nodes = n;
	return n;
}

static node *new_number(struct parser *p, const struct type *t, value_wide v)
{
	node *n = new_node(p, FORMULA_NUMBER, t, NULL, NULL);

	n->value = value_of_whole(t, v);
	return n;
}

/* What any mistake gives. */
static node *nothing(struct parser *p)
{
	return new_number(p, &type_int, 0);
}

static node *cast(struct parser *p, node *a, const struct type *t)
{
	return a->type == t ? a : new_node(p, FORMULA_CAST, t, a, NULL);
}

/* An array or a function becomes a pointer. */
static node *decay(struct parser *p, node *a)
{
	const struct type *t = a->type;

	if (t->kind == TYPE_ARRAY)
		return new_node(p, FORMULA_ADDRESS, pointer_to(p, t->target), a,
		                NULL);
	if (t->kind == TYPE_FUNCTION)
		return new_node(p, FORMULA_ADDRESS, pointer_to(p, t), a, NULL);
	return a;
}

static bool is_narrow_field(const node *a)
{
	return a->op == FORMULA_MEMBER && a->member->nbits &&
	       (a->member->nbits < 32 ||
	        (a->member->nbits == 32 && a->type->is_signed));
}

static const struct type *promoted(const node *a)
{
	const struct type *t = a->type;

	if (t->kind == TYPE_REAL)
		return t;
	if (t->size < 4 || is_narrow_field(a))
		return &type_int;
	if (t->kind == TYPE_ENUM && t->size == 4)
		return t->is_signed ? &type_int : &type_uint;
	if (t->kind == TYPE_ENUM)
		return t->is_signed ? &type_long : &type_ulong;
	return t;
}

/* The usual arithmetic conversions. */
static const struct type *common(const node *a, const node *b)
{
	const struct type *x = promoted(a), *y = promoted(b);

	if (x->kind == TYPE_REAL || y->kind == TYPE_REAL) {
		if (x->kind != TYPE_REAL)
			return y;
		return y->kind != TYPE_REAL || x->size >= y->size ? x : y;
	}
	if (x->size != y->size)
		return x->size > y->size ? x : y;
	return x->is_signed ? y : x;
}

static bool check_number(struct parser *p, const node *a, size_t at,
                         const char *op)
{
	if (type_is_number(a->type))
		return true;
	fail_at(p, at, "%s needs numbers, and this is of type %s", op,
	        a->type->name);
	return false;
}

static bool check_scalar(struct parser *p, const node *a, size_t at,
                         const char *op)
{
	if (type_is_scalar(a->type))
		return true;
	fail_at(p, at, "%s needs a number or a pointer, and this is of type %s",
	        op, a->type->name);
	return false;
}

/* --- names and members --------------------------------------------------- */

static node *strip_reference(struct parser *p, node *a)
{
	if (a->type->kind == TYPE_REFERENCE)
		return new_node(p, FORMULA_TARGET, a->type->target, a, NULL);
	return a;
}

/* The member as a node, also one of a base or of what has no name; NULL if
 * there is none. */
static node *find_member(struct parser *p, node *a, const char *name)
{
	const struct type *t = a->type;

	for (size_t i = 0; i < t->nmembers; i++) {
		const struct type_member *m = &t->members[i];
		bool is_through = m->is_base || !*m->name;
		node *n, *inner;

		if (m->type->kind != TYPE_RECORD && is_through)
			continue;
		if (!is_through && strcmp(m->name, name) != 0)
			continue;
		n = new_node(p, FORMULA_MEMBER, m->type, a, NULL);
		n->member = m;
		if (!is_through)
			return n;
		inner = find_member(p, n, name);
		if (inner)
			return inner;
	}
	return NULL;
}

static void fail_member(struct parser *p, const struct type *t, size_t at,
                        const char *name)
{
	char list[400] = "";
	size_t n = 0;

	for (size_t i = 0; i < t->nmembers && n < sizeof(list) - 1; i++)
		if (*t->members[i].name)
			n += (size_t)snprintf(list + n, sizeof(list) - n,
			                      "%s%s", n ? ", " : "",
			                      t->members[i].name);
	if (t->is_incomplete)
		fail_at(p, at,
		        "the members of %s are not in the debug "
		        "information of this file",
		        t->name);
	else
		fail_at(p, at, "%s has no member %s; it has %s", t->name, name,
		        n ? list : "none");
}

static node *parse_member(struct parser *p, node *a, bool is_arrow)
{
	size_t at = p->begin;
	node *m;

	if (is_arrow) {
		a = decay(p, a);
		if (a->type->kind != TYPE_POINTER) {
			fail_at(p, at,
			        "-> needs a pointer, and this is of "
			        "type %s",
			        a->type->name);
			return nothing(p);
		}
		a = new_node(p, FORMULA_TARGET, a->type->target, a, NULL);
	}
	if (p->token != TOKEN_NAME || a->type->kind != TYPE_RECORD) {
		fail_at(p, at,
		        p->token != TOKEN_NAME
		                ? "the name of a member is missing "
		                  "behind %s"
		                : "%s needs a struct or union",
		        is_arrow ? "->" : ".");
		return nothing(p);
	}
	m = find_member(p, a, p->name);
	if (!m) {
		fail_member(p, a->type, at, p->name);
		return nothing(p);
	}
	next_token(p);
	return strip_reference(p, m);
}

static node *name_node(struct parser *p, const struct formula_name *found)
{
	node *n;

	if (found->is_constant)
		return new_number(p, found->type, found->value);
	n = new_node(p, FORMULA_VARIABLE, found->type, NULL, NULL);
	n->id = found->id;
	return strip_reference(p, n);
}

/* A member of *this, by its name alone. */
static node *find_own(struct parser *p, const char *name)
{
	struct formula_name self;
	node *n;

	if (!find_name(p, FORMULA_LOCAL, "this", &self) ||
	    self.type->kind != TYPE_POINTER ||
	    self.type->target->kind != TYPE_RECORD)
		return NULL;
	n = new_node(p, FORMULA_TARGET, self.type->target, name_node(p, &self),
	             NULL);
	n = find_member(p, n, name);
	return n ? strip_reference(p, n) : NULL;
}

static node *known_word(struct parser *p)
{
	if (is_word(p, "true") || is_word(p, "false"))
		return new_number(p, &type_bool, is_word(p, "true"));
	if (is_word(p, "NULL") || is_word(p, "nullptr"))
		return new_number(p, pointer_to(p, &type_void), 0);
	return NULL;
}

static node *parse_name(struct parser *p)
{
	struct formula_name found;
	size_t at = p->begin;
	node *n = NULL;
	char *list;

	if (find_name(p, FORMULA_LOCAL, p->name, &found))
		n = name_node(p, &found);
	if (!n)
		n = find_own(p, p->name);
	if (!n && find_name(p, FORMULA_GLOBAL, p->name, &found))
		n = name_node(p, &found);
	if (!n)
		n = known_word(p);
	if (!n) {
		list = p->names->list(p->names->context);
		fail_at(p, at, "there is no variable %.80s here; known are %s",
		        p->name, *list ? list : "none");
		free(list);
		return nothing(p);
	}
	next_token(p);
	if (is_sign(p, "("))
		fail_at(p, p->begin, "functions cannot be called in a replay");
	return n;
}

/* --- postfix and unary --------------------------------------------------- */

static node *parse_unary(struct parser *p);
static node *parse_choice(struct parser *p);

static node *parse_literal(struct parser *p)
{
	node *n = new_node(p, FORMULA_NUMBER, p->number.type, NULL, NULL);

	n->value = p->number;
	next_token(p);
	return n;
}

static node *parse_primary(struct parser *p)
{
	node *n;

	if (p->token == TOKEN_NUMBER)
		return parse_literal(p);
	if (p->token == TOKEN_NAME)
		return parse_name(p);
	if (take(p, "(")) {
		n = parse_choice(p);
		expect(p, ")");
		return n;
	}
	fail_at(p, p->begin, "an expression is missing here");
	return nothing(p);
}

/* a + b of a pointer and a whole number. */
static node *step(struct parser *p, node *a, node *b, size_t at)
{
	if (a->type->target->is_incomplete || !a->type->target->size)
		fail_at(p, at, "the size of %s is not known",
		        a->type->target->name);
	return new_node(p, FORMULA_STEP, a->type, a, b);
}

static node *parse_index(struct parser *p, node *a, size_t at)
{
	node *b = parse_choice(p), *swap;

	expect(p, "]");
	if (a->type->kind == TYPE_ARRAY && type_is_whole(b->type))
		return strip_reference(
		        p, new_node(p, FORMULA_ELEMENT, a->type->target, a, b));
	a = decay(p, a);
	b = decay(p, b);
	if (b->type->kind == TYPE_POINTER) {
		swap = a;
		a = b;
		b = swap;
	}
	if (a->type->kind != TYPE_POINTER || !type_is_whole(b->type)) {
		fail_at(p, at,
		        "[] needs an array or a pointer, and a whole "
		        "number");
		return nothing(p);
	}
	return new_node(p, FORMULA_TARGET, a->type->target, step(p, a, b, at),
	                NULL);
}

static node *parse_postfix(struct parser *p)
{
	node *n = parse_primary(p);

	for (;;) {
		size_t at = p->begin;

		if (take(p, "["))
			n = parse_index(p, n, at);
		else if (take(p, "."))
			n = parse_member(p, n, false);
		else if (take(p, "->"))
			n = parse_member(p, n, true);
		else
			return n;
	}
}

static node *parse_target(struct parser *p, size_t at)
{
	node *a = decay(p, parse_unary(p));

	if (a->type->kind != TYPE_POINTER ||
	    a->type->target->kind == TYPE_VOID) {
		fail_at(p, at,
		        "* needs a pointer to something, and this is of "
		        "type %s",
		        a->type->name);
		return nothing(p);
	}
	if (a->op == FORMULA_ADDRESS && a->a->type == a->type->target)
		return a->a; /* also where it has no address */
	return new_node(p, FORMULA_TARGET, a->type->target, a, NULL);
}

static node *parse_address(struct parser *p, size_t at)
{
	node *a = parse_unary(p);

	if (a->op > FORMULA_TARGET || a->op == FORMULA_NUMBER ||
	    (a->op == FORMULA_MEMBER && a->member->nbits)) {
		fail_at(p, at, "& needs something that has an address");
		return nothing(p);
	}
	return new_node(p, FORMULA_ADDRESS, pointer_to(p, a->type), a, NULL);
}

static node *parse_sizeof(struct parser *p)
{
	const struct type *t = NULL;
	struct parser saved = *p;

	if (take(p, "(")) {
		t = parse_type(p);
		if (t)
			expect(p, ")");
	}
	if (!t) {
		if (!p->has_failed)
			*p = saved;
		t = parse_unary(p)->type;
	}
	if (t->is_incomplete)
		fail_at(p, saved.begin, "the size of %s is not known", t->name);
	return new_number(p, &type_ulong, (value_wide)t->size);
}

static node *convert(struct parser *p, node *a, const struct type *t, size_t at)
{
	a = decay(p, a);
	if (t->kind != TYPE_VOID &&
	    (!type_is_scalar(t) || !type_is_scalar(a->type) ||
	     (t->kind == TYPE_POINTER && a->type->kind == TYPE_REAL) ||
	     (t->kind == TYPE_REAL && a->type->kind == TYPE_POINTER)))
		fail_at(p, at, "a value of type %s cannot become %s",
		        a->type->name, t->name);
	return new_node(p, FORMULA_CAST, t, a, NULL);
}

/* What begins with "(": a cast or an expression. */
static node *parse_parenthesis(struct parser *p)
{
	struct parser saved = *p;
	const struct type *t;
	size_t at = p->begin;

	next_token(p);
	t = parse_type(p);
	if (t) {
		expect(p, ")");
		return convert(p, parse_unary(p), t, at);
	}
	if (!p->has_failed)
		*p = saved;
	return parse_postfix(p);
}

static node *arithmetic(struct parser *p, enum formula_op op, node *a,
                        size_t at, const char *sign)
{
	if (!check_number(p, a, at, sign))
		return nothing(p);
	if (op == FORMULA_INVERT && a->type->kind == TYPE_REAL)
		fail_at(p, at, "~ needs a whole number");
	return new_node(p, op, promoted(a), cast(p, a, promoted(a)), NULL);
}

static node *parse_prefix(struct parser *p)
{
	size_t at = p->begin;
	node *a;

	if (take(p, "*"))
		return parse_target(p, at);
	if (take(p, "&"))
		return parse_address(p, at);
	if (take(p, "-"))
		return arithmetic(p, FORMULA_MINUS, parse_unary(p), at, "-");
	if (take(p, "~"))
		return arithmetic(p, FORMULA_INVERT, parse_unary(p), at, "~");
	if (take(p, "+")) {
		a = parse_unary(p);
		return check_number(p, a, at, "+") ? cast(p, a, promoted(a))
		                                   : a;
	}
	if (take(p, "!")) {
		a = decay(p, parse_unary(p));
		check_scalar(p, a, at, "!");
		return new_node(p, FORMULA_FLIP, &type_int, a, NULL);
	}
	if (is_sign(p, "("))
		return parse_parenthesis(p);
	return parse_postfix(p);
}

static node *parse_unary(struct parser *p)
{
	node *n;

	if (++p->depth > DEPTH_MAX)
		fail_at(p, p->begin, "the expression is nested too deeply");
	if (is_word(p, "sizeof")) {
		next_token(p);
		n = parse_sizeof(p);
	} else {
		n = parse_prefix(p);
	}
	p->depth--;
	return n;
}

/* --- binary -------------------------------------------------------------- */

static const struct operator
{
	const char *sign;
	int level;
	enum formula_op op;
}
operators[] = {
        {"*", 10, FORMULA_MULTIPLY},  {"/", 10, FORMULA_DIVIDE},
        {"%", 10, FORMULA_REST},      {"+", 9, FORMULA_ADD},
        {"-", 9, FORMULA_SUBTRACT},   {"<<", 8, FORMULA_LEFT},
        {">>", 8, FORMULA_RIGHT},     {"<", 7, FORMULA_LESS},
        {">", 7, FORMULA_MORE},       {"<=", 7, FORMULA_AT_MOST},
        {">=", 7, FORMULA_AT_LEAST},  {"==", 6, FORMULA_EQUAL},
        {"!=", 6, FORMULA_DIFFERENT}, {"&", 5, FORMULA_BITS_AND},
        {"^", 4, FORMULA_BITS_XOR},   {"|", 3, FORMULA_BITS_OR},
        {"&&", 2, FORMULA_AND},       {"||", 1, FORMULA_OR},
};

static const struct operator* find_operator(const struct parser *p, int level)
{
	if (p->token != TOKEN_SIGN)
		return NULL;
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (!strcmp(operators[i].sign, p->sign))
			return operators[i].level >= level ? &operators[i]
			                                   : NULL;
	return NULL;
}

static bool is_relation(enum formula_op op)
{
	return op >= FORMULA_LESS && op <= FORMULA_DIFFERENT;
}

static bool needs_whole(enum formula_op op)
{
	return op == FORMULA_REST ||
	       (op >= FORMULA_BITS_AND && op <= FORMULA_RIGHT);
}

static node *combine_numbers(struct parser *p, const struct operator* o,
                             node *a, node *b, size_t at)
{
	const struct type *t;

	if (!check_number(p, a, at, o->sign) ||
	    !check_number(p, b, at, o->sign))
		return nothing(p);
	if (needs_whole(o->op) &&
	    (a->type->kind == TYPE_REAL || b->type->kind == TYPE_REAL)) {
		fail_at(p, at, "%s needs whole numbers", o->sign);
		return nothing(p);
	}
	if (o->op == FORMULA_LEFT || o->op == FORMULA_RIGHT)
		return new_node(p, o->op, promoted(a), cast(p, a, promoted(a)),
		                b);
	t = common(a, b);
	return new_node(p, o->op, is_relation(o->op) ? &type_int : t,
	                cast(p, a, t), cast(p, b, t));
}

/* At least one is a pointer. */
static node *combine_pointers(struct parser *p, const struct operator* o,
                              node *a, node *b, size_t at)
{
	bool both =
	        a->type->kind == TYPE_POINTER && b->type->kind == TYPE_POINTER;

	if (is_relation(o->op) &&
	    (both || type_is_whole(a->type) || type_is_whole(b->type)))
		return new_node(p, o->op, &type_int, cast(p, a, &type_ulong),
		                cast(p, b, &type_ulong));
	if (o->op == FORMULA_ADD && type_is_whole(b->type))
		return step(p, a, b, at);
	if (o->op == FORMULA_ADD && type_is_whole(a->type))
		return step(p, b, a, at);
	if (o->op == FORMULA_SUBTRACT && type_is_whole(b->type)) {
		b = cast(p, b, &type_long);
		return step(p, a,
		            new_node(p, FORMULA_MINUS, &type_long, b, NULL),
		            at);
	}
	if (o->op == FORMULA_SUBTRACT && both && a->type->target->size &&
	    a->type->target->size == b->type->target->size)
		return new_node(p, FORMULA_DISTANCE, &type_long, a, b);
	fail_at(p, at, "%s cannot stand between %s and %s", o->sign,
	        a->type->name, b->type->name);
	return nothing(p);
}

static node *combine(struct parser *p, const struct operator* o, node *a,
                     node *b, size_t at)
{
	a = decay(p, a);
	b = decay(p, b);
	if (o->op == FORMULA_AND || o->op == FORMULA_OR) {
		if (!check_scalar(p, a, at, o->sign) ||
		    !check_scalar(p, b, at, o->sign))
			return nothing(p);
		return new_node(p, o->op, &type_int, a, b);
	}
	if (a->type->kind == TYPE_POINTER || b->type->kind == TYPE_POINTER)
		return combine_pointers(p, o, a, b, at);
	return combine_numbers(p, o, a, b, at);
}

static node *parse_binary(struct parser *p, int level)
{
	const struct operator* o;
	node *a = parse_unary(p);

	while ((o = find_operator(p, level))) {
		size_t at = p->begin;

		next_token(p);
		a = combine(p, o, a, parse_binary(p, o->level + 1), at);
	}
	return a;
}

static node *choose(struct parser *p, node *a, node *b, node *c, size_t at)
{
	const struct type *t;
	node *n;

	b = decay(p, b);
	c = decay(p, c);
	if (!check_scalar(p, a, at, "?"))
		return nothing(p);
	if (type_is_number(b->type) && type_is_number(c->type)) {
		t = common(b, c);
		b = cast(p, b, t);
		c = cast(p, c, t);
	} else if (b->type->kind == TYPE_POINTER && type_is_scalar(c->type)) {
		t = b->type->target->kind == TYPE_VOID &&
		                    c->type->kind == TYPE_POINTER
		            ? c->type
		            : b->type;
		b = cast(p, b, t);
		c = cast(p, c, t);
	} else if (c->type->kind == TYPE_POINTER && type_is_whole(b->type)) {
		t = c->type;
		b = cast(p, b, t);
	} else {
		t = b->type;
		if (b->type != c->type)
			fail_at(p, at, ": cannot stand between %s and %s",
			        b->type->name, c->type->name);
	}
	n = new_node(p, FORMULA_CHOOSE, t, a, b);
	n->c = c;
	return n;
}

static node *parse_choice(struct parser *p)
{
	node *a = parse_binary(p, 1), *b, *c;
	size_t at = p->begin;

	if (!take(p, "?"))
		return a;
	a = decay(p, a);
	b = parse_choice(p);
	expect(p, ":");
	if (++p->depth > DEPTH_MAX)
		fail_at(p, p->begin, "the expression is nested too deeply");
	c = parse_choice(p);
	p->depth--;
	return choose(p, a, b, c, at);
}

int formula_parse(struct formula **f, const char *text, size_t *at,
                  const struct formula_names *names, struct cairn_err *err)
{
	struct parser p = {.text = text,
	                   .at = *at,
	                   .names = names,
	                   .err = err,
	                   .f = xcalloc(1, sizeof(**f))};

	next_token(&p);
	p.f->root = parse_choice(&p);
	if (is_sign(&p, "="))
		fail_at(&p, p.begin, "nothing can be assigned; == compares");
	else if (p.token != TOKEN_END && !is_sign(&p, ","))
		fail_at(&p, p.begin, "the expression should end here");
	if (p.has_failed) {
		formula_free(p.f);
		return CAIRN_E_USAGE;
	}
	*at = p.begin;
	*f = p.f;
	return 0;
}
