/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types that C has by itself, as they are on x86-64; classes and their
 * bases.
 *
 * Two ways lead to the same base if they are equal behind the last virtual base
 * on each: an object has one of these, however often it is named.
 * Cost: of bases, all ways to all of them are taken.
 */
#include "replay/type.h"

#include <string.h>

#define WHOLE(name_, bytes, is_signed_)                                 \
	{                                                               \
		.kind = TYPE_INTEGER, .name = (name_), .size = (bytes), \
		.is_signed = (is_signed_)                               \
	}

#define REAL(name_, bytes)                                           \
	{                                                            \
		.kind = TYPE_REAL, .name = (name_), .size = (bytes), \
		.is_signed = true                                    \
	}

const struct type type_void = {.kind = TYPE_VOID, .name = "void"};
const struct type type_bool = {.kind = TYPE_BOOL, .name = "bool", .size = 1};
const struct type type_char = {.kind = TYPE_INTEGER,
                               .name = "char",
                               .size = 1,
                               .is_signed = true,
                               .is_char = true};
const struct type type_schar = {.kind = TYPE_INTEGER,
                                .name = "signed char",
                                .size = 1,
                                .is_signed = true,
                                .is_char = true};
const struct type type_uchar = {.kind = TYPE_INTEGER,
                                .name = "unsigned char",
                                .size = 1,
                                .is_char = true};
const struct type type_short = WHOLE("short", 2, true);
const struct type type_ushort = WHOLE("unsigned short", 2, false);
const struct type type_int = WHOLE("int", 4, true);
const struct type type_uint = WHOLE("unsigned int", 4, false);
const struct type type_long = WHOLE("long", 8, true);
const struct type type_ulong = WHOLE("unsigned long", 8, false);
const struct type type_llong = WHOLE("long long", 8, true);
const struct type type_ullong = WHOLE("unsigned long long", 8, false);
const struct type type_int128 = WHOLE("__int128", 16, true);
const struct type type_uint128 = WHOLE("unsigned __int128", 16, false);
const struct type type_float = REAL("float", 4);
const struct type type_double = REAL("double", 8);
const struct type type_long_double = REAL("long double", 16);

/* --- bases ---------------------------------------------------------------- */

static const struct type *record_of(const struct type *t)
{
	return t->record ? t->record : t;
}

bool type_is_same_record(const struct type *a, const struct type *b)
{
	a = record_of(a);
	b = record_of(b);
	return a == b ||
	       (a->kind == TYPE_RECORD && b->kind == TYPE_RECORD &&
	        strcmp(a->name, b->name) == 0 &&
	        (a->is_incomplete || b->is_incomplete || a->size == b->size));
}

struct base_search {
	const struct type *base;
	const struct type_member *now[TYPE_BASES_MAX], **way;
	int nnow, n;
	bool is_ambiguous;
};

/* What makes two ways different begins behind this many steps. */
static int shared_steps(const struct type_member *const *way, int n)
{
	while (n && !way[n - 1]->slot)
		n--;
	return n;
}

static bool is_same_way(const struct base_search *s)
{
	int a = shared_steps(s->way, s->n), b = shared_steps(s->now, s->nnow);

	if (!a != !b || s->n - a != s->nnow - b)
		return false;
	if (a && !type_is_same_record(s->way[a - 1]->type, s->now[b - 1]->type))
		return false;
	for (int i = 0; i < s->n - a; i++)
		if (s->way[a + i] != s->now[b + i])
			return false;
	return true;
}

static void search_bases(struct base_search *s, const struct type *t)
{
	if (s->nnow && type_is_same_record(t, s->base)) {
		if (s->n && !is_same_way(s))
			s->is_ambiguous = true;
		s->n = s->nnow;
		memcpy(s->way, s->now, (size_t)s->n * sizeof(*s->way));
		return;
	}
	for (size_t i = 0; i < t->nmembers; i++) {
		if (!t->members[i].is_base || s->nnow == TYPE_BASES_MAX)
			continue;
		s->now[s->nnow++] = &t->members[i];
		search_bases(s, t->members[i].type);
		s->nnow--;
	}
}

int type_find_base(const struct type *derived, const struct type *base,
                   const struct type_member **way)
{
	struct base_search s = {.base = base, .way = way};

	search_bases(&s, derived);
	return s.is_ambiguous ? -1 : s.n;
}
