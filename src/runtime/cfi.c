/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: what .eh_frame says about one address.
 *
 * DWARF 5, section 6.4, with the differences that the x86-64 psABI and the LSB
 * give .eh_frame: pointer encodings, augmentation strings, a sorted table in
 * .eh_frame_hdr.  The table is searched by bisection; if a linker left it out,
 * the section is read from its start.
 *
 * The tables were mapped by the loader and are trusted as far as a program
 * trusts them when it throws; what they make us read on the stack is not (the
 * reader checks).
 *
 * Cost: O(log n) to find, then one pass over a few dozen bytes.
 */
#include "runtime/cfi.h"

#include "runtime/sys.h"

/* --- encoded numbers ------------------------------------------------------ */

static uint64_t get_uleb(const unsigned char **p)
{
	uint64_t v = 0;
	unsigned shift = 0;
	unsigned char b;

	do {
		b = *(*p)++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	return v;
}

static int64_t get_sleb(const unsigned char **p)
{
	uint64_t v = 0;
	unsigned shift = 0;
	unsigned char b;

	do {
		b = *(*p)++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (shift < 64 && (b & 0x40))
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

static uint64_t get_fixed(const unsigned char **p, unsigned n, bool is_signed)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)(*p)[i] << 8 * i;
	*p += n;
	if (is_signed && n < 8 && v >> (8 * n - 1))
		v |= ~(uint64_t)0 << 8 * n;
	return v;
}

#define ENC_OMIT 0xff
#define ENC_FORMAT 0x0f
#define ENC_PCREL 0x10
#define ENC_DATAREL 0x30
#define ENC_APPLY 0x70
#define ENC_INDIRECT 0x80
#define ENC_TABLE                                                  \
	0x3b /* sdata4, relative to the header: what linkers write \
	      */

static uint64_t get_encoded(const unsigned char **p, unsigned enc,
                            uintptr_t base)
{
	uintptr_t here = (uintptr_t)*p;
	uint64_t v;

	switch (enc & ENC_FORMAT) {
	case 0x01:
		v = get_uleb(p);
		break;
	case 0x02:
		v = get_fixed(p, 2, false);
		break;
	case 0x03:
		v = get_fixed(p, 4, false);
		break;
	case 0x09:
		v = (uint64_t)get_sleb(p);
		break;
	case 0x0a:
		v = get_fixed(p, 2, true);
		break;
	case 0x0b:
		v = get_fixed(p, 4, true);
		break;
	default:
		v = get_fixed(p, 8, false);
	}
	if (!v)
		return 0;
	if ((enc & ENC_APPLY) == ENC_PCREL)
		v += here;
	else if ((enc & ENC_APPLY) == ENC_DATAREL)
		v += base;
	if (enc & ENC_INDIRECT)
		v = rt_get64((const void *)v);
	return v;
}

/* --- records -------------------------------------------------------------- */

/* What of a CIE an FDE needs, besides what struct cfi_fde keeps. */
struct cie {
	unsigned fde_encoding;
	bool has_augmentation;
};

static bool read_augmentation(const char *s, const unsigned char **p,
                              struct cie *cie, struct cfi_fde *fde)
{
	const unsigned char *end;
	uint64_t n;

	cie->has_augmentation = *s == 'z';
	if (*s != 'z')
		return *s == 0;
	n = get_uleb(p);
	end = *p + n;
	while (*++s) {
		if (*s == 'R') {
			cie->fde_encoding = *(*p)++;
		} else if (*s == 'P') {
			unsigned enc = *(*p)++;

			get_encoded(p, enc & ~(unsigned)ENC_INDIRECT, 0);
		} else if (*s == 'L') {
			++*p;
		} else if (*s == 'S') {
			fde->is_signal_frame = true;
		} else if (*s != 'B') {
			break;
		}
	}
	*p = end;
	return true;
}

static bool read_cie(const unsigned char *at, struct cie *cie,
                     struct cfi_fde *fde)
{
	const unsigned char *p = at + 8, *end = at + 4 + rt_get32(at);
	unsigned version = *p++;
	const char *augmentation = (const char *)p;

	p += rt_strlen(augmentation) + 1;
	if (rt_get32(at) == 0xffffffffu || (version != 1 && version != 3))
		return false;
	fde->code_align = get_uleb(&p);
	fde->data_align = get_sleb(&p);
	if ((version == 1 ? *p++ : get_uleb(&p)) != CFI_RA)
		return false;
	cie->fde_encoding = 0;
	if (!read_augmentation(augmentation, &p, cie, fde))
		return false;
	fde->initial = p;
	fde->initial_end = end;
	return true;
}

/* Reads the FDE at `at`; false if it is none. */
static bool read_fde(const unsigned char *at, struct cfi_fde *fde)
{
	uint32_t size = rt_get32(at), back = rt_get32(at + 4);
	const unsigned char *p = at + 8;
	struct cie cie;

	rt_zero(fde, sizeof(*fde));
	if (size == 0 || size == 0xffffffffu || back == 0 ||
	    !read_cie(at + 4 - back, &cie, fde))
		return false;
	fde->start = get_encoded(&p, cie.fde_encoding, 0);
	fde->end =
	        fde->start + get_encoded(&p, cie.fde_encoding & ENC_FORMAT, 0);
	if (cie.has_augmentation) {
		uint64_t n = get_uleb(&p);

		p += n;
	}
	fde->program = p;
	fde->program_end = at + 4 + size;
	return true;
}

static bool search_section(const unsigned char *at, uintptr_t pc,
                           struct cfi_fde *fde)
{
	uint32_t size;

	for (; (size = rt_get32(at)) != 0 && size != 0xffffffffu;
	     at += 4 + size)
		if (read_fde(at, fde) && pc >= fde->start && pc < fde->end)
			return true;
	return false;
}

bool cfi_find(const unsigned char *hdr, uintptr_t pc, struct cfi_fde *fde)
{
	const unsigned char *p = hdr + 4, *section;
	unsigned count_enc = hdr[2], table_enc = hdr[3];
	uintptr_t base = (uintptr_t)hdr;
	uint64_t lo = 0, hi;
	int64_t want = (int64_t)(pc - base);

	if (hdr[0] != 1)
		return false;
	section = (const unsigned char *)get_encoded(&p, hdr[1], base);
	if (count_enc == ENC_OMIT || table_enc != ENC_TABLE)
		return search_section(section, pc, fde);
	hi = get_encoded(&p, count_enc, base);
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if ((int32_t)rt_get32(p + mid * 8) <= want)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	p += (lo - 1) * 8;
	return read_fde(hdr + (int32_t)rt_get32(p + 4), fde) &&
	       pc >= fde->start && pc < fde->end;
}

/* --- programs ------------------------------------------------------------- */

#define MAX_REMEMBERED 4

struct machine {
	const struct cfi_fde *fde;
	struct cfi_row *row;
	struct cfi_row initial;
	struct cfi_row remembered[MAX_REMEMBERED];
	unsigned nremembered;
	uintptr_t loc, pc;
};

static void copy_row(struct cfi_row *to, const struct cfi_row *from)
{
	rt_copy(to, from, sizeof(*to));
}

static void set_rule(struct machine *m, uint64_t reg, uint8_t kind,
                     int64_t value)
{
	if (reg < CFI_REGS) {
		m->row->kind[reg] = kind;
		m->row->value[reg].number = value;
	}
}

static void set_expression(struct machine *m, const unsigned char **p,
                           uint8_t kind)
{
	uint64_t reg = get_uleb(p), n;
	const unsigned char *expression = *p;

	n = get_uleb(p);
	*p += n;
	if (reg < CFI_REGS) {
		m->row->kind[reg] = kind;
		m->row->value[reg].expression = expression;
	}
}

static void restore_rule(struct machine *m, uint64_t reg)
{
	if (reg < CFI_REGS) {
		m->row->kind[reg] = m->initial.kind[reg];
		m->row->value[reg] = m->initial.value[reg];
	}
}

static void advance(struct machine *m, uint64_t n)
{
	m->loc += n * m->fde->code_align;
}

/* Instructions that move on; false if `op` is none of them. */
static bool run_advance(struct machine *m, unsigned op, const unsigned char **p)
{
	switch (op) {
	case 0x01: /* DW_CFA_set_loc; no assembler for x86-64 writes it */
		m->loc = rt_get64(*p);
		*p += 8;
		return true;
	case 0x02:
		advance(m, get_fixed(p, 1, false));
		return true;
	case 0x03:
		advance(m, get_fixed(p, 2, false));
		return true;
	case 0x04:
		advance(m, get_fixed(p, 4, false));
		return true;
	default:
		return false;
	}
}

/* Instructions about the CFA; false if `op` is none of them. */
static bool run_cfa(struct machine *m, unsigned op, const unsigned char **p)
{
	struct cfi_row *row = m->row;
	uint64_t n;

	switch (op) {
	case 0x0c: /* def_cfa */
		row->cfa_reg = (uint8_t)get_uleb(p);
		row->cfa.number = (int64_t)get_uleb(p);
		break;
	case 0x0d: /* def_cfa_register */
		row->cfa_reg = (uint8_t)get_uleb(p);
		break;
	case 0x0e: /* def_cfa_offset */
		row->cfa.number = (int64_t)get_uleb(p);
		break;
	case 0x0f: /* def_cfa_expression */
		row->cfa.expression = *p;
		row->has_cfa_expression = true;
		n = get_uleb(p);
		*p += n;
		return true;
	case 0x12: /* def_cfa_sf */
		row->cfa_reg = (uint8_t)get_uleb(p);
		row->cfa.number = get_sleb(p) * m->fde->data_align;
		break;
	case 0x13: /* def_cfa_offset_sf */
		row->cfa.number = get_sleb(p) * m->fde->data_align;
		break;
	default:
		return false;
	}
	row->has_cfa_expression = false;
	return true;
}

/* Instructions about one register or the whole row. */
static bool run_rule(struct machine *m, unsigned op, const unsigned char **p)
{
	const int64_t align = m->fde->data_align;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x05: /* offset_extended */
		reg = get_uleb(p);
		set_rule(m, reg, CFI_OFFSET, (int64_t)get_uleb(p) * align);
		return true;
	case 0x06: /* restore_extended */
		restore_rule(m, get_uleb(p));
		return true;
	case 0x07: /* undefined */
		set_rule(m, get_uleb(p), CFI_UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		set_rule(m, get_uleb(p), CFI_SAME, 0);
		return true;
	case 0x09: /* register */
		reg = get_uleb(p);
		set_rule(m, reg, CFI_REGISTER, (int64_t)get_uleb(p));
		return true;
	case 0x0a: /* remember_state */
		if (m->nremembered == MAX_REMEMBERED)
			return false;
		copy_row(&m->remembered[m->nremembered++], m->row);
		return true;
	case 0x0b: /* restore_state */
		if (!m->nremembered)
			return false;
		copy_row(m->row, &m->remembered[--m->nremembered]);
		return true;
	case 0x10: /* expression */
		set_expression(m, p, CFI_EXPRESSION);
		return true;
	case 0x11: /* offset_extended_sf */
		reg = get_uleb(p);
		set_rule(m, reg, CFI_OFFSET, get_sleb(p) * align);
		return true;
	case 0x14: /* val_offset */
		reg = get_uleb(p);
		set_rule(m, reg, CFI_VAL_OFFSET, (int64_t)get_uleb(p) * align);
		return true;
	case 0x15: /* val_offset_sf */
		reg = get_uleb(p);
		set_rule(m, reg, CFI_VAL_OFFSET, get_sleb(p) * align);
		return true;
	case 0x16: /* val_expression */
		set_expression(m, p, CFI_VAL_EXPRESSION);
		return true;
	case 0x2e: /* GNU_args_size */
		get_uleb(p);
		return true;
	default:
		return false;
	}
}

/* Runs a program up to pc. */
static bool run(struct machine *m, const unsigned char *p,
                const unsigned char *end)
{
	while (p < end && m->loc <= m->pc) {
		unsigned op = *p++, low = op & 0x3f;

		switch (op >> 6) {
		case 1:
			advance(m, low);
			break;
		case 2:
			set_rule(m, low, CFI_OFFSET,
			         (int64_t)get_uleb(&p) * m->fde->data_align);
			break;
		case 3:
			restore_rule(m, low);
			break;
		default:
			if (!run_advance(m, op, &p) && !run_cfa(m, op, &p) &&
			    !run_rule(m, op, &p))
				return false;
		}
	}
	return true;
}

bool cfi_row_at(const struct cfi_fde *fde, uintptr_t pc, struct cfi_row *row)
{
	struct machine m;

	rt_zero(row, sizeof(*row));
	m.fde = fde;
	m.row = row;
	m.nremembered = 0;
	m.loc = 0;
	m.pc = pc;
	if (!run(&m, fde->initial, fde->initial_end))
		return false;
	copy_row(&m.initial, row);
	m.loc = fde->start;
	return run(&m, fde->program, fde->program_end);
}

/* --- expressions ---------------------------------------------------------- */

#define STACK_DEPTH 16

struct stack {
	uint64_t v[STACK_DEPTH];
	unsigned n;
	bool is_bad;
};

static void push(struct stack *s, uint64_t v)
{
	if (s->n == STACK_DEPTH)
		s->is_bad = true;
	else
		s->v[s->n++] = v;
}

static uint64_t pop(struct stack *s)
{
	if (s->n)
		return s->v[--s->n];
	s->is_bad = true;
	return 0;
}

/* Constants and registers; false if `op` is none of them. */
static bool run_push(struct stack *s, unsigned op, const unsigned char **p,
                     const uint64_t *reg)
{
	uint64_t r;

	if (op >= 0x30 && op <= 0x4f) { /* lit */
		push(s, op - 0x30);
	} else if (op >= 0x70 && op <= 0x8f) { /* breg */
		r = op - 0x70;
		push(s, (r < CFI_REGS ? reg[r] : 0) + (uint64_t)get_sleb(p));
	} else if (op >= 0x08 && op <= 0x0f) { /* const1u .. const8s */
		push(s, get_fixed(p, 1u << ((op - 0x08) / 2), op & 1));
	} else if (op == 0x03) { /* addr */
		push(s, get_fixed(p, 8, false));
	} else if (op == 0x10) { /* constu */
		push(s, get_uleb(p));
	} else if (op == 0x11) { /* consts */
		push(s, (uint64_t)get_sleb(p));
	} else if (op == 0x92) { /* bregx */
		r = get_uleb(p);
		push(s, (r < CFI_REGS ? reg[r] : 0) + (uint64_t)get_sleb(p));
	} else {
		return false;
	}
	return true;
}

static uint64_t binary(unsigned op, uint64_t a, uint64_t b, bool *known)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case 0x1a:
		return a & b;
	case 0x1c:
		return a - b;
	case 0x1e:
		return a * b;
	case 0x21:
		return a | b;
	case 0x22:
		return a + b;
	case 0x24:
		return b < 64 ? a << b : 0;
	case 0x25:
		return b < 64 ? a >> b : 0;
	case 0x26:
		return (uint64_t)(x >> (b < 64 ? b : 63));
	case 0x27:
		return a ^ b;
	case 0x29:
		return x == y;
	case 0x2a:
		return x >= y;
	case 0x2b:
		return x > y;
	case 0x2c:
		return x <= y;
	case 0x2d:
		return x < y;
	case 0x2e:
		return x != y;
	default:
		*known = false;
		return 0;
	}
}

/* Operations on the stack of the expression; false if not understood. */
static bool run_stack(struct stack *s, unsigned op, const unsigned char **p)
{
	uint64_t a, b;
	bool known = true;

	switch (op) {
	case 0x12: /* dup */
		a = pop(s);
		push(s, a);
		push(s, a);
		return true;
	case 0x13: /* drop */
		pop(s);
		return true;
	case 0x14: /* over */
		b = pop(s);
		a = pop(s);
		push(s, a);
		push(s, b);
		push(s, a);
		return true;
	case 0x16: /* swap */
		b = pop(s);
		a = pop(s);
		push(s, b);
		push(s, a);
		return true;
	case 0x1f: /* neg */
		push(s, -pop(s));
		return true;
	case 0x20: /* not */
		push(s, ~pop(s));
		return true;
	case 0x23: /* plus_uconst */
		a = pop(s);
		push(s, a + get_uleb(p));
		return true;
	case 0x96: /* nop */
		return true;
	default:
		b = pop(s);
		a = pop(s);
		push(s, binary(op, a, b, &known));
		return known;
	}
}

bool cfi_evaluate(const unsigned char *p, const uint64_t *reg,
                  const uint64_t *cfa, cfi_reader *read, void *context,
                  uint64_t *result)
{
	uint64_t n = get_uleb(&p), v;
	const unsigned char *end = p + n;
	struct stack s;

	s.n = 0;
	s.is_bad = false;
	if (cfa)
		push(&s, *cfa);
	while (p < end && !s.is_bad) {
		unsigned op = *p++;

		if (run_push(&s, op, &p, reg))
			continue;
		if (op == 0x06) { /* deref */
			if (!read(context, pop(&s), &v))
				return false;
			push(&s, v);
		} else if (op == 0x28) { /* bra */
			int16_t by = (int16_t)get_fixed(&p, 2, true);

			if (pop(&s))
				p += by;
		} else if (op == 0x2f) { /* skip */
			int16_t by = (int16_t)get_fixed(&p, 2, true);

			p += by;
		} else if (!run_stack(&s, op, &p)) {
			return false;
		}
	}
	*result = pop(&s);
	return !s.is_bad;
}
