/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what the debug information says of where a variable is: operations on a
 * stack, as DWARF has them (version 5, section 2.5), and LLVM's own for
 * operands and conversions ("Source level debugging with LLVM").
 *
 * A variable that is all in memory stays there; one that is in pieces, or in
 * registers, is put together, with a byte for every byte that is known.
 *
 * Addresses of what the compiler keeps on the real stack are addresses in our
 * own process; what is computed from them is, too.
 *
 * Cost: linear in operations and in the size of the variable.
 */
#include "replay/location.h"

#include "base/alloc.h"
#include "replay/debug.h"

#include <stdlib.h>
#include <string.h>

#define STACK_MAX 32

/* From LLVM's llvm/BinaryFormat/Dwarf.h; the first ones are DWARF's. */
enum {
	OP_DEREF = 0x06,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_CONVERT = 0x1001,
	OP_ARG = 0x1005,
	ENCODING_SIGNED = 0x05,
	ENCODING_SIGNED_CHAR = 0x06,
};

struct entry {
	uint64_t v;
	unsigned nbits; /* that it was converted to; 0: any */
	bool is_signed;
	bool is_own; /* an address in our memory */
};

struct machine {
	struct entry stack[STACK_MAX];
	size_t n;
	const struct debug_piece *piece;
	const uint64_t *words;
	const struct value_memory *memory;
};

void location_room_clear(struct location_room *r)
{
	while (r->n)
		free(r->blocks[--r->n]);
}

void location_room_release(struct location_room *r)
{
	location_room_clear(r);
	free(r->blocks);
	*r = (struct location_room){0};
}

void *location_room_take(struct location_room *r, size_t n)
{
	VEC_RESERVE(r->blocks, r->n, r->cap);
	r->blocks[r->n] = xcalloc(n + 1, 1);
	return r->blocks[r->n++];
}

/* --- the stack ----------------------------------------------------------- */

static bool push_operand(struct machine *m, uint64_t i)
{
	const struct debug_operand *o = &m->piece->operands[i];
	struct entry e = {.is_own = o->is_own};

	if (o->nbytes > 8)
		return false;
	memcpy(&e.v, m->words + o->word, o->nbytes);
	m->stack[m->n++] = e;
	return true;
}

static bool dereference(struct machine *m)
{
	struct entry *e = &m->stack[m->n - 1];
	uint64_t p = e->v;

	if (e->is_own)
		memcpy(&e->v, (const void *)(uintptr_t)p, sizeof(e->v));
	else if (!m->memory->read(m->memory->context, p, &e->v, sizeof(e->v)))
		return false;
	*e = (struct entry){.v = e->v};
	return true;
}

static void convert(struct entry *e, uint64_t nbits, uint64_t encoding)
{
	uint64_t v = e->v;

	if (e->nbits && e->nbits < 64) {
		v <<= 64 - e->nbits;
		v = e->is_signed ? (uint64_t)((int64_t)v >> (64 - e->nbits))
		                 : v >> (64 - e->nbits);
	}
	if (nbits < 64)
		v &= ((uint64_t)1 << nbits) - 1;
	e->v = v;
	e->nbits = (unsigned)nbits;
	e->is_signed =
	        encoding == ENCODING_SIGNED || encoding == ENCODING_SIGNED_CHAR;
}

static bool compute(uint64_t op, uint64_t a, uint64_t b, uint64_t *v)
{
	switch (op) {
	case OP_AND:
		*v = a & b;
		return true;
	case OP_OR:
		*v = a | b;
		return true;
	case OP_XOR:
		*v = a ^ b;
		return true;
	case OP_PLUS:
		*v = a + b;
		return true;
	case OP_MINUS:
		*v = a - b;
		return true;
	case OP_MUL:
		*v = a * b;
		return true;
	case OP_SHL:
		*v = b < 64 ? a << b : 0;
		return true;
	case OP_SHR:
		*v = b < 64 ? a >> b : 0;
		return true;
	case OP_SHRA:
		*v = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
		return true;
	case OP_DIV: /* signed; MOD is not */
		if (!b)
			return false;
		*v = b == UINT64_MAX ? 0 - a
		                     : (uint64_t)((int64_t)a / (int64_t)b);
		return true;
	case OP_MOD:
		if (!b)
			return false;
		*v = a % b;
		return true;
	default:
		return false;
	}
}

static bool do_binary(struct machine *m, uint64_t op)
{
	struct entry *a, *b;

	if (m->n < 2)
		return false;
	b = &m->stack[--m->n];
	a = b - 1;
	a->is_own |= b->is_own;
	return compute(op, a->v, b->v, &a->v);
}

/* One operation; moves *at over its arguments. */
static bool do_op(struct machine *m, const uint64_t **at)
{
	uint64_t op = *(*at)++;
	struct entry *top = m->n ? &m->stack[m->n - 1] : NULL;

	if (m->n == STACK_MAX)
		return false;
	if (op == OP_ARG)
		return push_operand(m, *(*at)++);
	if (op == OP_CONSTU || op == OP_CONSTS) {
		m->stack[m->n++] = (struct entry){.v = *(*at)++};
		return true;
	}
	if (op >= OP_LIT0 && op <= OP_LIT31) {
		m->stack[m->n++] = (struct entry){.v = op - OP_LIT0};
		return true;
	}
	if (!top)
		return false;
	switch (op) {
	case OP_DEREF:
		return dereference(m);
	case OP_PLUS_UCONST:
		top->v += *(*at)++;
		return true;
	case OP_NEG:
		top->v = 0 - top->v;
		return true;
	case OP_NOT:
		top->v = ~top->v;
		return true;
	case OP_CONVERT:
		convert(top, (*at)[0], (*at)[1]);
		*at += 2;
		return true;
	default:
		return do_binary(m, op);
	}
}

static bool run(struct machine *m)
{
	const uint64_t *at = m->piece->ops, *end = at + m->piece->nops;

	while (at < end)
		if (!do_op(m, &at))
			return false;
	return m->n > 0;
}

/* --- pieces -------------------------------------------------------------- */

/* The whole value is one operand, of any size. */
static bool is_plain(const struct debug_piece *p)
{
	return !p->is_memory && p->nops == 2 && p->ops[0] == OP_ARG;
}

/* Bytes of a value that is narrower than the variable follow its sign. */
static void fill(unsigned char *to, size_t have, size_t n,
                 const struct type *type)
{
	unsigned char more = 0;

	if (have < n && have && type_is_whole(type) && type->is_signed &&
	    to[have - 1] & 0x80)
		more = 0xff;
	if (have < n)
		memset(to + have, more, n - have);
}

/* The bytes of a piece that is a value. */
static bool value_bytes(struct machine *m, const struct type *type,
                        unsigned char *to, size_t n)
{
	const struct debug_piece *p = m->piece;
	size_t skip = (size_t)p->skip / 8, have = 0;
	const unsigned char *from = NULL;

	if (is_plain(p)) {
		const struct debug_operand *o = &p->operands[p->ops[1]];

		if (o->is_own)
			return false;
		from = (const unsigned char *)(m->words + o->word);
		have = o->nbytes;
	} else {
		if (!run(m) || m->stack[m->n - 1].is_own)
			return false;
		from = (const unsigned char *)&m->stack[m->n - 1].v;
		have = sizeof(uint64_t);
	}
	have = have > skip ? have - skip : 0;
	have = have < n ? have : n;
	memcpy(to, from + skip, have);
	fill(to, have, n, type);
	return true;
}

static bool memory_bytes(struct machine *m, unsigned char *to, size_t n)
{
	const struct entry *e = &m->stack[m->n - 1];
	uint64_t p = e->v + m->piece->skip / 8;

	if (!e->is_own)
		return m->memory->read(m->memory->context, p, to, n);
	memcpy(to, (const void *)(uintptr_t)p, n);
	return true;
}

static void add_piece(struct machine *m, const struct type *type,
                      unsigned char *bytes, unsigned char *known)
{
	const struct debug_piece *p = m->piece;
	size_t at = (size_t)p->bit / 8, n = (size_t)(p->nbits + 7) / 8;
	bool fine;

	if (p->bit % 8 || p->skip % 8 || at >= type->size)
		return;
	if (n > type->size - at)
		n = (size_t)type->size - at;
	if (p->is_memory)
		fine = run(m) && memory_bytes(m, bytes + at, n);
	else
		fine = value_bytes(m, type, bytes + at, n);
	if (fine)
		memset(known + at, 1, n);
}

/* A variable that is all in one place in memory. */
static bool find_memory(struct machine *m, const struct debug_variable *v,
                        struct value *out)
{
	const struct entry *e;

	m->piece = &v->pieces[0];
	if (v->npieces != 1 || !m->piece->is_memory || m->piece->bit ||
	    m->piece->skip || m->piece->nbits < 8 * v->type->size)
		return false;
	if (!run(m)) {
		*out = value_unknown(v->type, VALUE_UNSEEN);
		return true;
	}
	e = &m->stack[m->n - 1];
	*out = (struct value){.type = v->type,
	                      .place = e->is_own ? VALUE_BYTES : VALUE_MEMORY,
	                      .address = e->v};
	if (e->is_own)
		out->bytes = (const unsigned char *)(uintptr_t)e->v;
	out->nbytes = v->type->size;
	return true;
}

void location_value(const struct debug_variable *v, const uint64_t *words,
                    const struct value_memory *m, struct location_room *room,
                    struct value *out)
{
	struct machine machine = {.words = words, .memory = m};
	unsigned char *bytes, *known;

	*out = value_unknown(v->type, VALUE_GONE);
	if (!v->npieces || find_memory(&machine, v, out))
		return;
	bytes = location_room_take(room, (size_t)v->type->size);
	known = location_room_take(room, (size_t)v->type->size);
	for (size_t i = 0; i < v->npieces; i++) {
		machine.piece = &v->pieces[i];
		machine.n = 0;
		add_piece(&machine, v->type, bytes, known);
	}
	if (!memchr(known, 1, (size_t)v->type->size))
		return;
	*out = (struct value){.type = v->type,
	                      .place = VALUE_BYTES,
	                      .bytes = bytes,
	                      .nbytes = v->type->size,
	                      .known = known};
}
