/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_VALUE_H
#define CAIRN_REPLAY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/type.h"

__extension__ typedef __int128 value_wide;

/* Why something is not known; printed as <...>. */
#define VALUE_GONE "optimized out"
#define VALUE_UNSEEN "not seen"

/* The memory of the program that is looked at. */
struct value_memory {
	/* False: nothing is known of one of these bytes. */
	bool (*read)(void *context, uint64_t address, void *to, size_t n);
	/* The function at an address, or NULL. */
	const char *(*function)(void *context, uint64_t address);
	void *context;
};

enum value_place {
	VALUE_HERE,   /* a scalar, in `whole` or `real` */
	VALUE_MEMORY, /* of the program, at address */
	VALUE_BYTES,  /* of ours */
};

struct value {
	const struct type *type;
	const char *why; /* not NULL: it is not known, for this reason */
	enum value_place place;
	uint64_t address;
	const unsigned char *bytes;
	const unsigned char *known; /* of bytes, those that are not 0; NULL:
	                               all */
	uint64_t nbytes;            /* how many these are, from here on */
	uint32_t bit, nbits; /* of a bit-field, from the address on; nbits 0:
	                        it is none */
	value_wide whole;    /* extended as its type says; also pointers */
	long double real;
};

/* Makes a scalar one that is HERE, or one that is not known. */
void value_load(struct value *v, const struct value_memory *m);

/* Its first n bytes; returns NULL, or why they are not known.  Requires: not
 * HERE, no bit-field. */
const char *value_fetch(const struct value *v, const struct value_memory *m,
                        unsigned char *to, size_t n);

/* Numbers. */
struct value value_of_whole(const struct type *t, value_wide v);
struct value value_of_real(const struct type *t, long double v);
struct value value_unknown(const struct type *t, const char *why);
/* Cuts a number off as its type says, and extends it. */
value_wide value_fit(const struct type *t, value_wide v);
/* Converts what is HERE to another scalar type. */
void value_convert(struct value *v, const struct type *to);

/* A part of an aggregate, or an element of an array.  Requires: not HERE.  Of a
 * virtual base, memory says where it is. */
struct value value_member(const struct value *v, const struct type_member *m,
                          const struct value_memory *memory);
struct value value_element(const struct value *v, const struct type *t,
                           value_wide i);

/* Prints a value as gdb does. */
void value_print(FILE *out, const struct value *v,
                 const struct value_memory *m);

#endif /* CAIRN_REPLAY_VALUE_H */
