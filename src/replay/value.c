/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of variables: where they are, how they become numbers, and parts of
 * them.  Bytes are those of x86-64: little-endian, long double in 10 of 16.
 *
 * Invariant: a value with a reason `why` is never looked into.
 */
#include "replay/value.h"

#include <string.h>

#define BYTES_MAX 17 /* a bit-field of 128 bits that begins within a byte */

__extension__ typedef unsigned __int128 bits;

struct value value_of_whole(const struct type *t, value_wide v)
{
	return (struct value){.type = t, .whole = value_fit(t, v)};
}

struct value value_of_real(const struct type *t, long double v)
{
	struct value r = {.type = t, .real = v};

	if (t->size == 4)
		r.real = (float)v;
	else if (t->size == 8)
		r.real = (double)v;
	return r;
}

struct value value_unknown(const struct type *t, const char *why)
{
	return (struct value){.type = t, .why = why};
}

static value_wide extend(bits v, unsigned nbits, bool is_signed)
{
	if (nbits >= 128)
		return (value_wide)v;
	v &= ((bits)1 << nbits) - 1;
	if (is_signed && nbits && v >> (nbits - 1))
		v |= ~(bits)0 << nbits;
	return (value_wide)v;
}

value_wide value_fit(const struct type *t, value_wide v)
{
	if (t->kind == TYPE_BOOL)
		return v != 0;
	return extend((bits)v, 8 * (unsigned)t->size, t->is_signed);
}

void value_convert(struct value *v, const struct type *to)
{
	bool was_real = v->type->kind == TYPE_REAL;

	if (v->why || to->kind == TYPE_VOID) {
		v->type = to;
		return;
	}
	if (to->kind == TYPE_REAL && was_real)
		*v = value_of_real(to, v->real);
	else if (to->kind == TYPE_REAL && v->type->is_signed)
		*v = value_of_real(to, (long double)v->whole);
	else if (to->kind == TYPE_REAL)
		*v = value_of_real(to, (long double)(bits)v->whole);
	else if (was_real && to->kind == TYPE_BOOL)
		*v = value_of_whole(to, v->real != 0);
	else if (!was_real)
		*v = value_of_whole(to, v->whole);
	else if (v->real > -0x1p127L && v->real < 0x1p127L)
		*v = value_of_whole(to, (value_wide)v->real);
	else
		*v = value_unknown(to, "too large a number");
}

/* --- reading ------------------------------------------------------------- */

/* Fetches n bytes from `skip` on; the reason if they are not known. */
static const char *fetch(const struct value *v, const struct value_memory *m,
                         size_t skip, unsigned char *to, size_t n)
{
	if (v->place == VALUE_MEMORY)
		return m->read(m->context, v->address + skip, to, n)
		               ? NULL
		               : VALUE_UNSEEN;
	for (size_t i = 0; v->known && i < n; i++)
		if (!v->known[skip + i])
			return VALUE_GONE;
	memcpy(to, v->bytes + skip, n);
	return NULL;
}

static void load_field(struct value *v, const struct value_memory *m)
{
	size_t skip = v->bit / 8, n = (v->bit % 8 + v->nbits + 7) / 8;
	unsigned char bytes[BYTES_MAX] = {0};
	bits low = 0, high;

	v->why = n <= BYTES_MAX ? fetch(v, m, skip, bytes, n) : "too wide";
	if (v->why)
		return;
	memcpy(&low, bytes, sizeof(low));
	high = bytes[BYTES_MAX - 1];
	low >>= v->bit % 8;
	if (v->bit % 8)
		low |= high << (128 - v->bit % 8);
	*v = (struct value){.type = v->type,
	                    .whole = extend(low, v->nbits, v->type->is_signed)};
}

static long double get_real(const unsigned char *bytes, size_t n)
{
	long double l;
	double d;
	float f;

	if (n == 4) {
		memcpy(&f, bytes, n);
		return f;
	}
	if (n == 8) {
		memcpy(&d, bytes, n);
		return d;
	}
	memcpy(&l, bytes, sizeof(l));
	return l;
}

const char *value_fetch(const struct value *v, const struct value_memory *m,
                        unsigned char *to, size_t n)
{
	return v->why ? v->why : fetch(v, m, 0, to, n);
}

void value_load(struct value *v, const struct value_memory *m)
{
	unsigned char bytes[16] = {0};
	size_t n = (size_t)v->type->size;
	bits whole;

	if (v->type->kind == TYPE_REAL && n == 16)
		n = 10; /* nobody writes the others */
	if (v->why || v->place == VALUE_HERE)
		return;
	if (v->nbits) {
		load_field(v, m);
		return;
	}
	v->why = n <= sizeof(bytes) ? fetch(v, m, 0, bytes, n) : "too wide";
	if (v->why)
		return;
	memcpy(&whole, bytes, sizeof(whole));
	if (v->type->kind == TYPE_REAL)
		*v = value_of_real(v->type, get_real(bytes, n));
	else if (v->type->kind == TYPE_BOOL)
		*v = (struct value){.type = v->type, .whole = bytes[0]};
	else
		*v = value_of_whole(v->type, (value_wide)whole);
}

/* --- parts --------------------------------------------------------------- */

static struct value part_of(const struct value *v, const struct type *t,
                            uint64_t offset)
{
	struct value p = *v;

	p.type = t;
	if (v->why)
		return p;
	p.address += offset;
	if (p.bytes)
		p.bytes += offset;
	p.nbytes -= offset < p.nbytes ? offset : p.nbytes;
	if (p.known)
		p.known += offset;
	return p;
}

/* An object with virtual bases begins with the address of a table, which has
 * the distance to each of them (Itanium C++ ABI, section 2.5.2). */
static struct value virtual_base(const struct value *v,
                                 const struct type_member *m,
                                 const struct value_memory *memory)
{
	unsigned char bytes[8];
	uint64_t table, offset;
	const char *why = value_fetch(v, memory, bytes, sizeof(bytes));

	if (why)
		return value_unknown(m->type, why);
	memcpy(&table, bytes, sizeof(table));
	if (!memory->read(memory->context, table - m->slot, bytes,
	                  sizeof(bytes)))
		return value_unknown(m->type, VALUE_UNSEEN);
	memcpy(&offset, bytes, sizeof(offset));
	if (v->place == VALUE_BYTES &&
	    (offset > v->nbytes || m->type->size > v->nbytes - offset))
		return value_unknown(m->type, VALUE_GONE);
	return part_of(v, m->type, offset);
}

struct value value_member(const struct value *v, const struct type_member *m,
                          const struct value_memory *memory)
{
	struct value p;

	if (m->slot)
		return virtual_base(v, m, memory);
	p = part_of(v, m->type, m->nbits ? 0 : m->bit / 8);
	if (m->nbits) {
		p = part_of(v, m->type, m->bit / 8);
		p.bit = m->bit % 8;
		p.nbits = m->nbits;
	}
	return p;
}

struct value value_element(const struct value *v, const struct type *t,
                           value_wide i)
{
	return part_of(v, t, (uint64_t)i * t->size);
}
