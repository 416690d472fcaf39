/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses expressions of C and gives every part its type: conversions become
 * nodes of their own, arrays become pointers, references what they refer to.
 *
 * A recursive descent over tokens, one ahead; binary operators by precedence
 * (V. Pratt, "Top down operator precedence", POPL 1973).
 * Cost: linear in the text, but for what names cost to look up.
 */
#include "replay/formula_parser.h"

#include "base/alloc.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200 /* of parentheses and the like */

typedef struct formula_node node;

/* --- nodes --------------------------------------------------------------- */

node *parser_node(struct parser *p, enum formula_op op, const struct type *t,
                  node *a, node *b)
{
	node *n = xcalloc(1, sizeof(*n));

	*n = (node){.op = op, .type = t, .a = a, .b = b, .next = p->f->nodes};
	p->f->nodes = n;
	return n;
}

static node *new_number(struct parser *p, const struct type *t, value_wide v)
{
	node *n = parser_node(p, FORMULA_NUMBER, t, NULL, NULL);

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
	return a->type == t ? a : parser_node(p, FORMULA_CAST, t, a, NULL);
}

/* An array or a function becomes a pointer. */
static node *decay(struct parser *p, node *a)
{
	const struct type *t = a->type;

	if (t->kind == TYPE_ARRAY)
		return parser_node(p, FORMULA_ADDRESS,
		                   parser_pointer(p, t->target), a, NULL);
	if (t->kind == TYPE_FUNCTION)
		return parser_node(p, FORMULA_ADDRESS, parser_pointer(p, t), a,
		                   NULL);
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
	parser_fail(p, at, "%s needs numbers, and this is of type %s", op,
	            a->type->name);
	return false;
}

static bool check_scalar(struct parser *p, const node *a, size_t at,
                         const char *op)
{
	if (type_is_scalar(a->type))
		return true;
	parser_fail(p, at,
	            "%s needs a number or a pointer, and this is of type %s",
	            op, a->type->name);
	return false;
}

/* --- names and members --------------------------------------------------- */

static node *strip_reference(struct parser *p, node *a)
{
	if (a->type->kind == TYPE_REFERENCE)
		return parser_target(p, a);
	return a;
}

static node *name_node(struct parser *p, const struct formula_name *found)
{
	node *n;

	if (found->is_constant)
		return new_number(p, found->type, found->value);
	n = parser_node(p, FORMULA_VARIABLE, parser_whole(p, found->type), NULL,
	                NULL);
	n->id = found->id;
	return strip_reference(p, n);
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
		parser_fail(p, at,
		            "the members of %s are not in the debug "
		            "information of this file",
		            t->name);
	else
		parser_fail(p, at, "%s has no member %s; it has %s", t->name,
		            name, n ? list : "none");
}

static node *parse_member(struct parser *p, node *a, bool is_arrow)
{
	struct formula_name found;
	size_t at = p->begin;
	node *m;

	if (is_arrow) {
		a = decay(p, a);
		if (a->type->kind != TYPE_POINTER) {
			parser_fail(p, at,
			            "-> needs a pointer, and this is of "
			            "type %s",
			            a->type->name);
			return nothing(p);
		}
		a = parser_target(p, a);
	}
	if (p->token != TOKEN_NAME || a->type->kind != TYPE_RECORD) {
		parser_fail(p, at,
		            p->token != TOKEN_NAME
		                    ? "the name of a member is missing "
		                      "behind %s"
		                    : "%s needs a struct or union",
		            is_arrow ? "->" : ".");
		return nothing(p);
	}
	m = parser_member(p, a, p->name);
	if (!m)
		m = parser_qualified(p, a, p->name);
	if (!m && parser_static(p, a->type, p->name, &found))
		m = name_node(p, &found);
	if (!m) {
		fail_member(p, a->type, at, p->name);
		return nothing(p);
	}
	parser_next(p);
	return strip_reference(p, m);
}

node *parser_own(struct parser *p, const char *name)
{
	struct formula_name self;
	node *n, *object;

	if (!parser_find(p, FORMULA_LOCAL, "this", &self) ||
	    self.type->kind != TYPE_POINTER ||
	    self.type->target->kind != TYPE_RECORD)
		return NULL;
	object = parser_target(p, name_node(p, &self));
	n = parser_member(p, object, name);
	if (!n)
		n = parser_qualified(p, object, name);
	return n ? strip_reference(p, n) : NULL;
}

static node *known_word(struct parser *p)
{
	if (parser_is_word(p, "true") || parser_is_word(p, "false"))
		return new_number(p, &type_bool, parser_is_word(p, "true"));
	if (parser_is_word(p, "NULL") || parser_is_word(p, "nullptr"))
		return new_number(p, parser_pointer(p, &type_void), 0);
	return NULL;
}

static node *parse_name(struct parser *p)
{
	struct formula_name found = {0};
	size_t at = p->begin;
	node *n = NULL;
	char *list;

	if (parser_find(p, FORMULA_LOCAL, p->name, &found))
		n = name_node(p, &found);
	if (!n && !found.why)
		n = parser_own(p, p->name);
	if (!n && !found.why && parser_find(p, FORMULA_GLOBAL, p->name, &found))
		n = name_node(p, &found);
	if (!n)
		n = known_word(p);
	if (!n && found.why) {
		parser_fail(p, at, "%s", found.why);
		return nothing(p);
	}
	if (!n) {
		list = p->names->list(p->names->context);
		parser_fail(p, at,
		            "there is no variable %.80s here; known are %s",
		            p->name, *list ? list : "none");
		free(list);
		return nothing(p);
	}
	parser_next(p);
	if (parser_is(p, "("))
		parser_fail(p, p->begin,
		            "functions cannot be called in a replay");
	return n;
}

/* --- postfix and unary --------------------------------------------------- */

static node *parse_unary(struct parser *p);
static node *parse_choice(struct parser *p);

static bool has_address(const node *a)
{
	return a->op <= FORMULA_TARGET && a->op != FORMULA_NUMBER &&
	       (a->op != FORMULA_MEMBER || !a->member->nbits);
}

/* What begins at the address of a, as something else; of a class, the base or
 * the object that it is a part of. */
static node *refer(struct parser *p, node *a, const struct type *t,
                   bool as_it_is, size_t at)
{
	const struct type *to = parser_pointer(p, t->target);
	node *n = as_it_is ? NULL
	                   : parser_slice(p, a, parser_whole(p, t->target), at);
	node *moved;

	if (n)
		return n;
	if (!has_address(a)) {
		parser_fail(p, at,
		            "a reference needs something that has an "
		            "address");
		return nothing(p);
	}
	a = parser_node(p, FORMULA_ADDRESS, parser_pointer(p, a->type), a,
	                NULL);
	moved = as_it_is ? NULL : parser_cast_class(p, a, to, at);
	return parser_target(p, moved ? moved : cast(p, a, to));
}

/* as_it_is: a pointer stays the same number, as by reinterpret_cast. */
static node *convert(struct parser *p, node *a, const struct type *t,
                     bool as_it_is, size_t at)
{
	node *moved;

	if (t->kind == TYPE_REFERENCE)
		return refer(p, a, t, as_it_is, at);
	moved = parser_slice(p, a, t, at);
	if (moved)
		return moved;
	a = decay(p, a);
	moved = as_it_is ? NULL : parser_cast_class(p, a, t, at);
	if (moved)
		return moved;
	if (t->kind != TYPE_VOID &&
	    (!type_is_scalar(t) || !type_is_scalar(a->type) ||
	     (t->kind == TYPE_POINTER && a->type->kind == TYPE_REAL) ||
	     (t->kind == TYPE_REAL && a->type->kind == TYPE_POINTER)))
		parser_fail(p, at, "a value of type %s cannot become %s",
		            a->type->name, t->name);
	return parser_node(p, FORMULA_CAST, t, a, NULL);
}

/* static_cast<T>(a) and the like. */
static bool is_cast(const struct parser *p)
{
	return parser_is_word(p, "static_cast") ||
	       parser_is_word(p, "reinterpret_cast") ||
	       parser_is_word(p, "const_cast") ||
	       parser_is_word(p, "dynamic_cast");
}

static bool is_upwards(const struct type *from, const struct type *to)
{
	const struct type_member *way[TYPE_BASES_MAX];

	return to->target && from->kind == TYPE_RECORD &&
	       to->target->kind == TYPE_RECORD &&
	       (type_is_same_record(from, to->target) ||
	        type_find_base(from, to->target, way));
}

static node *parse_cast(struct parser *p)
{
	bool is_dynamic = parser_is_word(p, "dynamic_cast");
	bool as_it_is = parser_is_word(p, "reinterpret_cast");
	size_t at = p->begin;
	const struct type *t;
	node *a;

	parser_next(p);
	parser_expect(p, "<");
	t = parser_type(p);
	if (!t)
		parser_fail(p, p->begin, "there is no type %.80s here",
		            p->token == TOKEN_NAME ? p->name : "");
	parser_expect(p, ">");
	parser_expect(p, "(");
	a = parse_choice(p);
	parser_expect(p, ")");
	if (!t)
		return nothing(p);
	if (is_dynamic && !is_upwards(a->type->kind == TYPE_POINTER
	                                      ? parser_whole(p, a->type->target)
	                                      : a->type,
	                              t))
		parser_fail(p, at,
		            "dynamic_cast would ask the object for its class; "
		            "static_cast takes your word for it");
	return convert(p, a, t, as_it_is, at);
}

static node *parse_literal(struct parser *p)
{
	node *n = parser_node(p, FORMULA_NUMBER, p->number.type, NULL, NULL);

	n->value = p->number;
	parser_next(p);
	return n;
}

static node *parse_primary(struct parser *p)
{
	node *n;

	if (p->token == TOKEN_NUMBER)
		return parse_literal(p);
	if (p->token == TOKEN_NAME && is_cast(p))
		return parse_cast(p);
	if (p->token == TOKEN_NAME)
		return parse_name(p);
	if (parser_take(p, "(")) {
		n = parse_choice(p);
		parser_expect(p, ")");
		return n;
	}
	parser_fail(p, p->begin, "an expression is missing here");
	return nothing(p);
}

/* a + b of a pointer and a whole number. */
static node *step(struct parser *p, node *a, node *b, size_t at)
{
	const struct type *target = parser_whole(p, a->type->target);

	if (target->is_incomplete || !target->size)
		parser_fail(p, at, "the size of %s is not known", target->name);
	return parser_node(p, FORMULA_STEP, a->type, a, b);
}

static node *parse_index(struct parser *p, node *a, size_t at)
{
	node *b = parse_choice(p), *swap;

	parser_expect(p, "]");
	if (a->type->kind == TYPE_ARRAY && a->type->target->is_incomplete)
		parser_fail(p, at, "the size of %s is not known",
		            a->type->target->name);
	if (a->type->kind == TYPE_ARRAY && type_is_whole(b->type))
		return strip_reference(p, parser_node(p, FORMULA_ELEMENT,
		                                      a->type->target, a, b));
	a = decay(p, a);
	b = decay(p, b);
	if (b->type->kind == TYPE_POINTER) {
		swap = a;
		a = b;
		b = swap;
	}
	if (a->type->kind != TYPE_POINTER || !type_is_whole(b->type)) {
		parser_fail(p, at,
		            "[] needs an array or a pointer, and a whole "
		            "number");
		return nothing(p);
	}
	return parser_target(p, step(p, a, b, at));
}

static node *parse_postfix(struct parser *p)
{
	node *n = parse_primary(p);

	for (;;) {
		size_t at = p->begin;

		if (parser_take(p, "["))
			n = parse_index(p, n, at);
		else if (parser_take(p, "."))
			n = parse_member(p, n, false);
		else if (parser_take(p, "->"))
			n = parse_member(p, n, true);
		else
			return n;
	}
}

/* What an array that became a pointer points to, maybe some elements on: also
 * where the array has no address.  NULL: it is no such pointer. */
static node *element_of(struct parser *p, node *a)
{
	node *array = a->op == FORMULA_STEP ? a->a : a;
	node *i = a->op == FORMULA_STEP ? a->b : new_number(p, &type_int, 0);

	if (array->op != FORMULA_ADDRESS ||
	    array->a->type->kind != TYPE_ARRAY ||
	    array->type->target != array->a->type->target)
		return NULL;
	return strip_reference(p, parser_node(p, FORMULA_ELEMENT,
	                                      a->type->target, array->a, i));
}

static node *parse_target(struct parser *p, size_t at)
{
	node *a = decay(p, parse_unary(p)), *n;

	if (a->type->kind != TYPE_POINTER ||
	    a->type->target->kind == TYPE_VOID) {
		parser_fail(p, at,
		            "* needs a pointer to something, and this is of "
		            "type %s",
		            a->type->name);
		return nothing(p);
	}
	if (a->op == FORMULA_ADDRESS && a->a->type == a->type->target)
		return a->a; /* also where it has no address */
	n = element_of(p, a);
	if (n)
		return n;
	return parser_target(p, a);
}

static node *parse_address(struct parser *p, size_t at)
{
	node *a = parse_unary(p);

	if (!has_address(a)) {
		parser_fail(p, at, "& needs something that has an address");
		return nothing(p);
	}
	return parser_node(p, FORMULA_ADDRESS, parser_pointer(p, a->type), a,
	                   NULL);
}

static node *parse_sizeof(struct parser *p)
{
	const struct type *t = NULL;
	struct parser saved = *p;

	if (parser_take(p, "(")) {
		t = parser_type(p);
		if (t)
			parser_expect(p, ")");
	}
	if (!t) {
		if (!p->has_failed)
			*p = saved;
		t = parse_unary(p)->type;
	}
	t = parser_whole(p, t);
	if (t->is_incomplete)
		parser_fail(p, saved.begin, "the size of %s is not known",
		            t->name);
	return new_number(p, &type_ulong, (value_wide)t->size);
}

/* What begins with "(": a cast or an expression. */
static node *parse_parenthesis(struct parser *p)
{
	struct parser saved = *p;
	const struct type *t;
	size_t at = p->begin;

	parser_next(p);
	t = parser_type(p);
	if (t) {
		parser_expect(p, ")");
		return convert(p, parse_unary(p), t, false, at);
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
		parser_fail(p, at, "~ needs a whole number");
	return parser_node(p, op, promoted(a), cast(p, a, promoted(a)), NULL);
}

static node *parse_prefix(struct parser *p)
{
	size_t at = p->begin;
	node *a;

	if (parser_take(p, "*"))
		return parse_target(p, at);
	if (parser_take(p, "&"))
		return parse_address(p, at);
	if (parser_take(p, "-"))
		return arithmetic(p, FORMULA_MINUS, parse_unary(p), at, "-");
	if (parser_take(p, "~"))
		return arithmetic(p, FORMULA_INVERT, parse_unary(p), at, "~");
	if (parser_take(p, "+")) {
		a = parse_unary(p);
		return check_number(p, a, at, "+") ? cast(p, a, promoted(a))
		                                   : a;
	}
	if (parser_take(p, "!")) {
		a = decay(p, parse_unary(p));
		check_scalar(p, a, at, "!");
		return parser_node(p, FORMULA_FLIP, &type_int, a, NULL);
	}
	if (parser_is(p, "("))
		return parse_parenthesis(p);
	return parse_postfix(p);
}

static node *parse_unary(struct parser *p)
{
	node *n;

	if (++p->depth > DEPTH_MAX)
		parser_fail(p, p->begin, "the expression is nested too deeply");
	if (parser_is_word(p, "sizeof")) {
		parser_next(p);
		n = parse_sizeof(p);
	} else {
		n = parse_prefix(p);
	}
	p->depth--;
	return n;
}

/* --- binary -------------------------------------------------------------- */

static const struct sign {
	const char *sign;
	int level;
	enum formula_op op;
} signs[] = {
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

static const struct sign *find_sign(const struct parser *p, int level)
{
	if (p->token != TOKEN_SIGN)
		return NULL;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (!strcmp(signs[i].sign, p->sign))
			return signs[i].level >= level ? &signs[i] : NULL;
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

static node *combine_numbers(struct parser *p, const struct sign *o, node *a,
                             node *b, size_t at)
{
	const struct type *t;

	if (!check_number(p, a, at, o->sign) ||
	    !check_number(p, b, at, o->sign))
		return nothing(p);
	if (needs_whole(o->op) &&
	    (a->type->kind == TYPE_REAL || b->type->kind == TYPE_REAL)) {
		parser_fail(p, at, "%s needs whole numbers", o->sign);
		return nothing(p);
	}
	if (o->op == FORMULA_LEFT || o->op == FORMULA_RIGHT)
		return parser_node(p, o->op, promoted(a),
		                   cast(p, a, promoted(a)), b);
	t = common(a, b);
	return parser_node(p, o->op, is_relation(o->op) ? &type_int : t,
	                   cast(p, a, t), cast(p, b, t));
}

/* At least one is a pointer. */
static node *combine_pointers(struct parser *p, const struct sign *o, node *a,
                              node *b, size_t at)
{
	bool both =
	        a->type->kind == TYPE_POINTER && b->type->kind == TYPE_POINTER;

	if (is_relation(o->op) && both)
		parser_meet(p, &a, &b);
	if (is_relation(o->op) &&
	    (both || type_is_whole(a->type) || type_is_whole(b->type)))
		return parser_node(p, o->op, &type_int, cast(p, a, &type_ulong),
		                   cast(p, b, &type_ulong));
	if (o->op == FORMULA_ADD && type_is_whole(b->type))
		return step(p, a, b, at);
	if (o->op == FORMULA_ADD && type_is_whole(a->type))
		return step(p, b, a, at);
	if (o->op == FORMULA_SUBTRACT && type_is_whole(b->type)) {
		b = cast(p, b, &type_long);
		return step(p, a,
		            parser_node(p, FORMULA_MINUS, &type_long, b, NULL),
		            at);
	}
	if (o->op == FORMULA_SUBTRACT && both && a->type->target->size &&
	    a->type->target->size == b->type->target->size)
		return parser_node(p, FORMULA_DISTANCE, &type_long, a, b);
	parser_fail(p, at, "%s cannot stand between %s and %s", o->sign,
	            a->type->name, b->type->name);
	return nothing(p);
}

static node *combine(struct parser *p, const struct sign *o, node *a, node *b,
                     size_t at)
{
	a = decay(p, a);
	b = decay(p, b);
	if (o->op == FORMULA_AND || o->op == FORMULA_OR) {
		if (!check_scalar(p, a, at, o->sign) ||
		    !check_scalar(p, b, at, o->sign))
			return nothing(p);
		return parser_node(p, o->op, &type_int, a, b);
	}
	if (a->type->kind == TYPE_POINTER || b->type->kind == TYPE_POINTER)
		return combine_pointers(p, o, a, b, at);
	return combine_numbers(p, o, a, b, at);
}

static node *parse_binary(struct parser *p, int level)
{
	const struct sign *o;
	node *a = parse_unary(p);

	while ((o = find_sign(p, level))) {
		size_t at = p->begin;

		parser_next(p);
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
		parser_meet(p, &b, &c);
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
			parser_fail(p, at, ": cannot stand between %s and %s",
			            b->type->name, c->type->name);
	}
	n = parser_node(p, FORMULA_CHOOSE, t, a, b);
	n->c = c;
	return n;
}

static node *parse_choice(struct parser *p)
{
	node *a = parse_binary(p, 1), *b, *c;
	size_t at = p->begin;

	if (!parser_take(p, "?"))
		return a;
	a = decay(p, a);
	b = parse_choice(p);
	parser_expect(p, ":");
	if (++p->depth > DEPTH_MAX)
		parser_fail(p, p->begin, "the expression is nested too deeply");
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

	parser_next(&p);
	p.f->root = parse_choice(&p);
	if (parser_is(&p, "="))
		parser_fail(&p, p.begin,
		            "nothing can be assigned; == compares");
	else if (p.token != TOKEN_END && !parser_is(&p, ","))
		parser_fail(&p, p.begin, "the expression should end here");
	if (p.has_failed) {
		formula_free(p.f);
		return CAIRN_E_USAGE;
	}
	*at = p.begin;
	*f = p.f;
	return 0;
}
