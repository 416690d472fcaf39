/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates expressions: a walk over the tree, with the integers of C on LP64.
 *
 * Invariant: operands have the types that formula_parse.c gave them; a value
 * that depends on an unknown one is unknown, for the same reason.
 * Cost: linear in the tree.
 */
#include "replay/formula_node.h"

#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 bits;

const struct type *formula_type(const struct formula *f)
{
	return f->root->type;
}

void formula_free(struct formula *f)
{
	if (!f)
		return;
	while (f->nodes) {
		struct formula_node *n = f->nodes;

		f->nodes = n->next;
		free(n);
	}
	while (f->made) {
		struct formula_made *m = f->made;

		f->made = m->next;
		free(m->name);
		free(m);
	}
	free(f);
}

static struct value evaluate(const struct formula_node *n,
                             const struct formula_world *w);

/* The scalar that a tree is. */
static struct value number_of(const struct formula_node *n,
                              const struct formula_world *w)
{
	struct value v = evaluate(n, w);

	value_load(&v, &w->memory);
	return v;
}

static bool is_true(const struct value *v)
{
	return v->type->kind == TYPE_REAL ? v->real != 0 : v->whole != 0;
}

/* --- numbers ------------------------------------------------------------- */

/* In the precision of the type: long double first would round twice. */
static long double compute_real(enum formula_op op, const struct type *t,
                                long double a, long double b)
{
#define IN_TYPE(type)                                 \
	(op == FORMULA_ADD        ? (type)a + (type)b \
	 : op == FORMULA_SUBTRACT ? (type)a - (type)b \
	 : op == FORMULA_MULTIPLY ? (type)a * (type)b \
	                          : (type)a / (type)b)
	if (t->size == 4)
		return IN_TYPE(float);
	if (t->size == 8)
		return IN_TYPE(double);
	return IN_TYPE(long double);
#undef IN_TYPE
}

static struct value divide(const struct formula_node *n, value_wide a,
                           value_wide b)
{
	bool is_rest = n->op == FORMULA_REST;

	if (!b)
		return value_unknown(n->type, "division by zero");
	if (!n->type->is_signed)
		return value_of_whole(
		        n->type, (value_wide)(is_rest ? (bits)a % (bits)b
		                                      : (bits)a / (bits)b));
	if (b == -1) /* the least number has no opposite */
		return value_of_whole(n->type,
		                      is_rest ? 0 : (value_wide)(0 - (bits)a));
	return value_of_whole(n->type, is_rest ? a % b : a / b);
}

static struct value shift(const struct formula_node *n, value_wide a,
                          value_wide b)
{
	bits v = (bits)a;

	if (b < 0 || b >= (value_wide)(8 * n->type->size))
		return value_unknown(n->type, "shift by too much");
	if (n->op == FORMULA_LEFT)
		return value_of_whole(n->type, (value_wide)(v << b));
	/* of a signed number, arithmetic */
	return value_of_whole(
	        n->type, n->type->is_signed ? a >> b : (value_wide)(v >> b));
}

static struct value compute_whole(const struct formula_node *n, value_wide x,
                                  value_wide y)
{
	bits a = (bits)x, b = (bits)y, v = 0;

	switch (n->op) {
	case FORMULA_ADD:
		v = a + b;
		break;
	case FORMULA_SUBTRACT:
		v = a - b;
		break;
	case FORMULA_MULTIPLY:
		v = a * b;
		break;
	case FORMULA_BITS_AND:
		v = a & b;
		break;
	case FORMULA_BITS_OR:
		v = a | b;
		break;
	case FORMULA_BITS_XOR:
		v = a ^ b;
		break;
	case FORMULA_LEFT:
	case FORMULA_RIGHT:
		return shift(n, x, y);
	default:
		return divide(n, x, y);
	}
	return value_of_whole(n->type, (value_wide)v);
}

static int compare(const struct value *a, const struct value *b)
{
	if (a->type->kind == TYPE_REAL)
		return a->real < b->real ? -1 : a->real > b->real;
	if (!a->type->is_signed)
		return (bits)a->whole < (bits)b->whole
		               ? -1
		               : (bits)a->whole > (bits)b->whole;
	return a->whole < b->whole ? -1 : a->whole > b->whole;
}

static struct value relate(const struct formula_node *n, const struct value *a,
                           const struct value *b)
{
	int c = compare(a, b), r = 0;

	if (a->type->kind == TYPE_REAL && isunordered(a->real, b->real))
		return value_of_whole(n->type, n->op == FORMULA_DIFFERENT);
	switch (n->op) {
	case FORMULA_LESS:
		r = c < 0;
		break;
	case FORMULA_MORE:
		r = c > 0;
		break;
	case FORMULA_AT_MOST:
		r = c <= 0;
		break;
	case FORMULA_AT_LEAST:
		r = c >= 0;
		break;
	case FORMULA_EQUAL:
		r = c == 0;
		break;
	default:
		r = c != 0;
		break;
	}
	return value_of_whole(n->type, r);
}

static struct value binary(const struct formula_node *n,
                           const struct formula_world *w)
{
	struct value a = number_of(n->a, w), b = number_of(n->b, w);
	value_wide size;

	if (a.why || b.why)
		return value_unknown(n->type, a.why ? a.why : b.why);
	switch (n->op) {
	case FORMULA_STEP:
		size = (value_wide)n->type->target->size;
		return value_of_whole(n->type, a.whole + b.whole * size);
	case FORMULA_DISTANCE:
		size = (value_wide)n->a->type->target->size;
		return value_of_whole(
		        n->type, (int64_t)(uint64_t)(a.whole - b.whole) / size);
	case FORMULA_LESS:
	case FORMULA_MORE:
	case FORMULA_AT_MOST:
	case FORMULA_AT_LEAST:
	case FORMULA_EQUAL:
	case FORMULA_DIFFERENT:
		return relate(n, &a, &b);
	default:
		if (n->type->kind == TYPE_REAL)
			return value_of_real(
			        n->type,
			        compute_real(n->op, n->type, a.real, b.real));
		return compute_whole(n, a.whole, b.whole);
	}
}

static struct value unary(const struct formula_node *n,
                          const struct formula_world *w)
{
	struct value a = number_of(n->a, w);

	if (a.why)
		return value_unknown(n->type, a.why);
	if (n->op == FORMULA_FLIP)
		return value_of_whole(n->type, !is_true(&a));
	if (n->op == FORMULA_INVERT)
		return value_of_whole(n->type, ~a.whole);
	if (n->type->kind == TYPE_REAL)
		return value_of_real(n->type, -a.real);
	return value_of_whole(n->type, (value_wide)(0 - (bits)a.whole));
}

/* --- logic --------------------------------------------------------------- */

static struct value logic(const struct formula_node *n,
                          const struct formula_world *w)
{
	struct value a = number_of(n->a, w), b;

	if (a.why)
		return value_unknown(n->type, a.why);
	if (is_true(&a) == (n->op == FORMULA_OR))
		return value_of_whole(n->type, n->op == FORMULA_OR);
	b = number_of(n->b, w);
	if (b.why)
		return value_unknown(n->type, b.why);
	return value_of_whole(n->type, is_true(&b));
}

static struct value choose(const struct formula_node *n,
                           const struct formula_world *w)
{
	struct value a = number_of(n->a, w);

	if (a.why)
		return value_unknown(n->type, a.why);
	return evaluate(is_true(&a) ? n->b : n->c, w);
}

/* --- places -------------------------------------------------------------- */

static struct value target_of(const struct formula_node *n,
                              const struct formula_world *w)
{
	struct value a = number_of(n->a, w);

	if (a.why)
		return value_unknown(n->type, a.why);
	return (struct value){.type = n->type,
	                      .place = VALUE_MEMORY,
	                      .address = (uint64_t)a.whole};
}

static struct value address_of(const struct formula_node *n,
                               const struct formula_world *w)
{
	struct value a = evaluate(n->a, w);

	if (a.why)
		return value_unknown(n->type, a.why);
	if (a.place != VALUE_MEMORY)
		return value_unknown(n->type, "not in memory");
	return value_of_whole(n->type, (value_wide)a.address);
}

static struct value part_of(const struct formula_node *n,
                            const struct formula_world *w)
{
	struct value a = evaluate(n->a, w), i;

	if (a.why)
		return value_unknown(n->type, a.why);
	if (n->op == FORMULA_MEMBER)
		return value_member(&a, n->member, &w->memory);
	i = number_of(n->b, w);
	if (i.why)
		return value_unknown(n->type, i.why);
	/* memory goes on behind the array; our bytes do not */
	if (a.place != VALUE_MEMORY &&
	    (i.whole < 0 || i.whole >= (value_wide)n->a->type->n))
		return value_unknown(n->type, "outside of the array");
	return value_element(&a, n->type, i.whole);
}

static struct value evaluate(const struct formula_node *n,
                             const struct formula_world *w)
{
	struct value v;

	switch (n->op) {
	case FORMULA_NUMBER:
		return n->value;
	case FORMULA_VARIABLE:
		w->variable(w->context, n->id, &v);
		if (!n->type->is_incomplete || n->type->kind != TYPE_ARRAY)
			v.type = n->type; /* else it is measured now */
		return v;
	case FORMULA_MEMBER:
	case FORMULA_ELEMENT:
		return part_of(n, w);
	case FORMULA_TARGET:
		return target_of(n, w);
	case FORMULA_ADDRESS:
		return address_of(n, w);
	case FORMULA_CAST:
		v = number_of(n->a, w);
		value_convert(&v, n->type);
		return v;
	case FORMULA_MINUS:
	case FORMULA_INVERT:
	case FORMULA_FLIP:
		return unary(n, w);
	case FORMULA_AND:
	case FORMULA_OR:
		return logic(n, w);
	case FORMULA_CHOOSE:
		return choose(n, w);
	default:
		return binary(n, w);
	}
}

void formula_evaluate(const struct formula *f, const struct formula_world *w,
                      struct value *v)
{
	*v = evaluate(f->root, w);
}

int formula_holds(const struct formula *f, const struct formula_world *w)
{
	struct value v = number_of(f->root, w);

	return v.why ? -1 : is_true(&v);
}
