/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members and classes in expressions.  A member hides those of the same name in
 * bases; a pointer that is cast to a base or to a derived class moves, unless
 * it is null.
 *
 * A class that its own unit only declares is looked for in the others: of every
 * variable and of all that is pointed to, with what it has in it.
 * Cost: as that of finding a base (type.c), for each member that is in one.
 */
#include "replay/formula_parser.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct formula_node node;

const struct type *parser_whole(struct parser *p, const struct type *t)
{
	if (p->names->complete)
		p->names->complete(p->names->context, t);
	return t;
}

const struct type *parser_foreign(struct parser *p, const char *name)
{
	return p->names->foreign ? p->names->foreign(p->names->context, name)
	                         : NULL;
}

node *parser_target(struct parser *p, node *a)
{
	return parser_node(p, FORMULA_TARGET, parser_whole(p, a->type->target),
	                   a, NULL);
}

static node *member_node(struct parser *p, node *a, const struct type_member *m)
{
	node *n = parser_node(p, FORMULA_MEMBER, m->type, a, NULL);

	n->member = m;
	return n;
}

static node *walk(struct parser *p, node *a,
                  const struct type_member *const *way, int n)
{
	for (int i = 0; i < n; i++)
		a = member_node(p, a, way[i]);
	return a;
}

/* --- members ---------------------------------------------------------------
 */

/* One of the class itself, also of what has no name in it. */
static bool has_own(const struct type *t, const char *name)
{
	for (size_t i = 0; i < t->nmembers; i++) {
		const struct type_member *m = &t->members[i];

		if (!m->is_base && (*m->name ? !strcmp(m->name, name)
		                             : m->type->kind == TYPE_RECORD &&
		                                       has_own(m->type, name)))
			return true;
	}
	return false;
}

static node *own_member(struct parser *p, node *a, const char *name)
{
	const struct type *t = a->type;

	for (size_t i = 0; i < t->nmembers; i++) {
		const struct type_member *m = &t->members[i];

		if (m->is_base)
			continue;
		if (*m->name && !strcmp(m->name, name))
			return member_node(p, a, m);
		if (!*m->name && m->type->kind == TYPE_RECORD &&
		    has_own(m->type, name))
			return own_member(p, member_node(p, a, m), name);
	}
	return NULL;
}

/* The class that has the member: this one, or a base; of two that have it the
 * one that is derived from the other.  NULL: none. */
static const struct type *owner_of(const struct type *t, const char *name,
                                   bool *is_ambiguous)
{
	const struct type_member *way[TYPE_BASES_MAX];
	const struct type *found = NULL, *other;

	if (has_own(t, name))
		return t;
	for (size_t i = 0; i < t->nmembers; i++) {
		if (!t->members[i].is_base)
			continue;
		other = owner_of(t->members[i].type, name, is_ambiguous);
		if (!other || (found && (type_is_same_record(found, other) ||
		                         type_find_base(found, other, way))))
			continue;
		if (found && !type_find_base(other, found, way))
			*is_ambiguous = true;
		found = other;
	}
	return found;
}

static node *find_in(struct parser *p, node *a, const struct type *owner,
                     const char *name)
{
	const struct type_member *way[TYPE_BASES_MAX];
	int n = type_is_same_record(a->type, owner)
	                ? 0
	                : type_find_base(a->type, owner, way);

	if (n < 0)
		parser_fail(p, p->begin,
		            "%s has more than one base %s: say which by a cast",
		            a->type->name, owner->name);
	return n < 0 ? a : own_member(p, walk(p, a, way, n), name);
}

node *parser_member(struct parser *p, node *a, const char *name)
{
	bool is_ambiguous = false;
	const struct type *owner = owner_of(a->type, name, &is_ambiguous);

	if (is_ambiguous) {
		parser_fail(p, p->begin,
		            "%s has a member %s in more than one base: say "
		            "which, as in %s::%s",
		            a->type->name, name, owner->name, name);
		return a;
	}
	return owner ? find_in(p, a, owner, name) : NULL;
}

/* Is this class called so, maybe without what it is in? */
static bool is_called(const struct type *t, const char *name, size_t n)
{
	const char *full = (t->record ? t->record : t)->name;
	size_t k = strlen(full);

	return k >= n && !strncmp(full + k - n, name, n) &&
	       (k == n || (k > n + 1 && full[k - n - 1] == ':'));
}

static const struct type *find_class(const struct type *t, const char *name,
                                     size_t n)
{
	const struct type *found = NULL;

	if (is_called(t, name, n))
		return t;
	for (size_t i = 0; !found && i < t->nmembers; i++)
		if (t->members[i].is_base)
			found = find_class(t->members[i].type, name, n);
	return found;
}

/* B::name of an object whose class has a base B. */
node *parser_qualified(struct parser *p, node *a, const char *name)
{
	const struct type_member *way[TYPE_BASES_MAX];
	const char *last = name;
	const struct type *t;
	int n;

	for (const char *at = name; (at = strstr(at, "::")); last = at)
		at += 2;
	if (last == name)
		return NULL;
	t = find_class(a->type, name, (size_t)(last - name) - 2);
	if (!t)
		return NULL;
	n = type_is_same_record(a->type, t) ? 0
	                                    : type_find_base(a->type, t, way);
	if (n < 0) {
		parser_fail(p, p->begin, "%s has more than one base %s",
		            a->type->name, t->name);
		return a;
	}
	return parser_member(p, walk(p, a, way, n), last);
}

/* A static member of an object's class, which is a variable. */
bool parser_static(struct parser *p, const struct type *t, const char *name,
                   struct formula_name *found)
{
	char *full;
	bool is_there;

	if (!t->is_class)
		return false;
	full = xasprintf("%s::%s", (t->record ? t->record : t)->name, name);
	is_there = parser_find(p, FORMULA_GLOBAL, full, found);
	free(full);
	for (size_t i = 0; !is_there && i < t->nmembers; i++)
		is_there = t->members[i].is_base &&
		           parser_static(p, t->members[i].type, name, found);
	return is_there;
}

/* --- casts -----------------------------------------------------------------
 */

static bool is_class_pointer(const struct type *t)
{
	return t->kind == TYPE_POINTER && t->target->kind == TYPE_RECORD;
}

static node *null_of(struct parser *p, const struct type *t)
{
	node *n = parser_node(p, FORMULA_NUMBER, t, NULL, NULL);

	n->value = value_of_whole(t, 0);
	return n;
}

/* A null pointer stays one. */
static node *unless_null(struct parser *p, node *a, node *moved)
{
	node *n = parser_node(p, FORMULA_CHOOSE, moved->type, a, moved);

	n->c = null_of(p, moved->type);
	return n;
}

static node *to_base(struct parser *p, node *a, const struct type *t,
                     const struct type_member *const *way, int n)
{
	node *object = walk(p, parser_target(p, a), way, n);

	return unless_null(p, a,
	                   parser_node(p, FORMULA_ADDRESS, t, object, NULL));
}

static node *to_derived(struct parser *p, node *a, const struct type *t,
                        const struct type_member *const *way, int n, size_t at)
{
	uint64_t offset = 0;
	node *back = parser_node(p, FORMULA_NUMBER, &type_ulong, NULL, NULL);

	for (int i = 0; i < n; i++) {
		if (way[i]->slot)
			parser_fail(p, at,
			            "%s is a virtual base of %s, from which "
			            "C++ has no way back; cast the address of "
			            "the whole object",
			            a->type->target->name, t->target->name);
		offset += way[i]->bit / 8;
	}
	back->value = value_of_whole(&type_ulong, (value_wide)offset);
	back = parser_node(p, FORMULA_SUBTRACT, &type_ulong,
	                   parser_node(p, FORMULA_CAST, &type_ulong, a, NULL),
	                   back);
	return unless_null(p, a, parser_node(p, FORMULA_CAST, t, back, NULL));
}

static void fail_ambiguous(struct parser *p, size_t at, const struct type *t,
                           const struct type *base)
{
	parser_fail(p, at,
	            "%s has more than one base %s; cast to the class between "
	            "them first",
	            t->name, base->name);
}

/* Classes whose bases are not known may be related. */
static void check_known(struct parser *p, const struct type *from,
                        const struct type *to, size_t at)
{
	const struct type *t = from->is_incomplete ? from : to;

	if (t->is_incomplete && t->is_class)
		parser_fail(p, at,
		            "the bases of %s are not in the debug information "
		            "of the program; reinterpret_cast does not ask for "
		            "them",
		            t->name);
}

node *parser_cast_class(struct parser *p, node *a, const struct type *t,
                        size_t at)
{
	const struct type_member *way[TYPE_BASES_MAX];
	const struct type *from, *to;
	int up, down;

	if (!is_class_pointer(a->type) || !is_class_pointer(t))
		return NULL;
	from = parser_whole(p, a->type->target);
	to = parser_whole(p, t->target);
	if (type_is_same_record(from, to))
		return NULL;
	check_known(p, from, to, at);
	up = type_find_base(from, to, way);
	if (up > 0)
		return to_base(p, a, t, way, up);
	down = type_find_base(to, from, way);
	if (down > 0)
		return to_derived(p, a, t, way, down, at);
	if (up < 0)
		fail_ambiguous(p, at, from, to);
	if (down < 0)
		fail_ambiguous(p, at, to, from);
	return NULL;
}

node *parser_slice(struct parser *p, node *a, const struct type *t, size_t at)
{
	const struct type_member *way[TYPE_BASES_MAX];
	int n;

	if (a->type->kind != TYPE_RECORD || t->kind != TYPE_RECORD)
		return NULL;
	if (type_is_same_record(a->type, t))
		return a;
	n = type_find_base(a->type, t, way);
	if (n < 0)
		fail_ambiguous(p, at, a->type, t);
	return n > 0 ? walk(p, a, way, n) : NULL;
}

void parser_meet(struct parser *p, node **a, node **b)
{
	const struct type_member *way[TYPE_BASES_MAX];
	const struct type *x, *y;

	if (!is_class_pointer((*a)->type) || !is_class_pointer((*b)->type))
		return;
	x = parser_whole(p, (*a)->type->target);
	y = parser_whole(p, (*b)->type->target);
	if (type_find_base(x, y, way) > 0)
		*a = parser_cast_class(p, *a, (*b)->type, p->begin);
	else if (type_find_base(y, x, way) > 0)
		*b = parser_cast_class(p, *b, (*a)->type, p->begin);
}
