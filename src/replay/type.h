/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_TYPE_H
#define CAIRN_REPLAY_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type_kind {
	TYPE_VOID,
	TYPE_BOOL,
	TYPE_INTEGER,
	TYPE_REAL,
	TYPE_COMPLEX, /* of two reals */
	TYPE_ENUM,
	TYPE_POINTER,
	TYPE_REFERENCE,
	TYPE_ARRAY,
	TYPE_RECORD, /* struct, class, union */
	TYPE_FUNCTION,
	TYPE_OTHER, /* bytes that nothing is known about */
};

struct type;

struct type_member {
	const char *name; /* "": it has none, its members count as ours */
	const struct type *type;
	uint64_t bit;   /* where it begins */
	uint32_t nbits; /* of a bit-field; 0: it is none */
	bool is_base;   /* a base class */
	/* a virtual one: where it is, the object says; not 0: how far before
	 * its table that stands, in bytes */
	uint64_t slot;
};

struct type_constant {
	const char *name;
	int64_t value;
};

/* A type of C or C++, without qualifiers; a typedef has its own name. */
struct type {
	enum type_kind kind;
	const char *name; /* as C writes it */
	uint64_t size;    /* bytes */
	bool is_signed, is_char;
	bool is_class;             /* a record of C++, maybe with bases */
	bool is_completed;         /* what was missing was looked for */
	bool is_incomplete;        /* size and members are not known; of an
	                              array, before the program runs */
	const struct type *target; /* of pointers, arrays, references */
	uint64_t n;                /* elements of an array */
	const char *count;         /* NULL, or the variable that says so */
	const struct type_member *members;
	size_t nmembers;
	const struct type *record; /* of a record: itself, also if this is a
	                              typedef of it; NULL: this */
	const struct type_constant *constants; /* of an enum */
	size_t nconstants;
};

static inline bool type_is_whole(const struct type *t)
{
	return t->kind == TYPE_INTEGER || t->kind == TYPE_BOOL ||
	       t->kind == TYPE_ENUM;
}

static inline bool type_is_number(const struct type *t)
{
	return type_is_whole(t) || t->kind == TYPE_REAL;
}

static inline bool type_is_scalar(const struct type *t)
{
	return type_is_number(t) || t->kind == TYPE_POINTER;
}

#define TYPE_BASES_MAX 32

/* The ways from a class to one of its bases: members one in the other.  Returns
 * how many; 0 if it is none, or -1 if it has several of it. */
int type_find_base(const struct type *derived, const struct type *base,
                   const struct type_member **way);
/* Are two records the same class, maybe from two units? */
bool type_is_same_record(const struct type *a, const struct type *b);

/* Types that C has by itself. */
extern const struct type type_void, type_bool, type_char, type_schar,
        type_uchar, type_short, type_ushort, type_int, type_uint, type_long,
        type_ulong, type_llong, type_ullong, type_int128, type_uint128,
        type_float, type_double, type_long_double;

#endif /* CAIRN_REPLAY_TYPE_H */
