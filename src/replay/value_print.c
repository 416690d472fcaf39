/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints values as gdb does: {a = 1, b = {2, 3}}, 97 'a', 0x1234 "text", names
 * of enums, equal elements of arrays as 0 <repeats 20 times>.
 *
 * Numbers with a fraction have as many digits as are needed to tell them from
 * all others of their type.
 * Cost: an array shows ELEMENTS_MAX elements, a string as many bytes; equal
 * elements are all looked at.
 */
#include "replay/value.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 200
#define REPEATS_MIN 10
#define COMPARED_MAX 256
#define DEPTH_MAX 20

static void print_at(FILE *out, const struct value *v,
                     const struct value_memory *m, unsigned depth);

/* --- scalars ------------------------------------------------------------- */

static void print_whole(FILE *out, const struct value *v)
{
	__extension__ unsigned __int128 u = (unsigned __int128)v->whole;
	char digits[48], *at = digits + sizeof(digits);

	if (v->type->is_signed && v->whole < 0) {
		u = 0 - u;
		fputc('-', out);
	}
	*--at = '\0';
	do {
		*--at = (char)('0' + (int)(u % 10));
		u /= 10;
	} while (u);
	fputs(at, out);
}

static void print_byte(FILE *out, unsigned char c, char quote)
{
	static const char names[] = "\aa\bb\ff\nn\rr\tt\vv\033e";
	const char *at = c ? strchr(names, c) : NULL;

	if (at && (at - names) % 2 == 0)
		fprintf(out, "\\%c", at[1]);
	else if (c == (unsigned char)quote || c == '\\')
		fprintf(out, "\\%c", c);
	else if (isprint(c))
		fputc(c, out);
	else
		fprintf(out, "\\%03o", c);
}

/* Does this many digits tell it from all others? */
static bool is_enough(const struct value *v, const char *text)
{
	if (v->type->size == 4)
		return strtof(text, NULL) == (float)v->real;
	if (v->type->size == 8)
		return strtod(text, NULL) == (double)v->real;
	return strtold(text, NULL) == v->real;
}

static void print_real(FILE *out, const struct value *v)
{
	char text[64];
	const char *sign = signbit(v->real) ? "-" : "";

	if (isnan(v->real)) {
		fprintf(out, "%snan", sign);
		return;
	}
	if (isinf(v->real)) {
		fprintf(out, "%sinf", sign);
		return;
	}
	for (int n = 1; n <= 21; n++) {
		snprintf(text, sizeof(text), "%.*Lg", n, v->real);
		/* 100, not 1e+02, as long as all digits are there */
		if (is_enough(v, text) &&
		    (!strstr(text, "e+") || atoi(strstr(text, "e+") + 1) >= 17))
			break;
	}
	fputs(text, out);
}

static void print_enum(FILE *out, const struct value *v)
{
	const struct type *t = v->type;

	for (size_t i = 0; i < t->nconstants; i++)
		if (value_fit(t, t->constants[i].value) == v->whole) {
			fputs(t->constants[i].name, out);
			return;
		}
	print_whole(out, v);
}

static void print_text(FILE *out, uint64_t address,
                       const struct value_memory *m)
{
	unsigned char c;
	size_t n = 0;

	if (!m->read(m->context, address, &c, 1)) {
		fprintf(out, " <" VALUE_UNSEEN ">");
		return;
	}
	fputs(" \"", out);
	for (; n < ELEMENTS_MAX; n++) {
		if (!m->read(m->context, address + n, &c, 1) || !c)
			break;
		print_byte(out, c, '"');
	}
	fprintf(out, n == ELEMENTS_MAX ? "\"..." : "\"");
}

static void print_pointer(FILE *out, const struct value *v,
                          const struct value_memory *m)
{
	const struct type *to = v->type->target;
	uint64_t p = (uint64_t)v->whole;
	const char *name = NULL;

	fprintf(out, "0x%" PRIx64, p);
	if (to->kind == TYPE_FUNCTION && m->function)
		name = m->function(m->context, p);
	if (name)
		fprintf(out, " <%s>", name);
	if (to->kind == TYPE_INTEGER && to->is_char && p)
		print_text(out, p, m);
}

static void print_scalar(FILE *out, struct value v,
                         const struct value_memory *m)
{
	value_load(&v, m);
	if (v.why) {
		fprintf(out, "<%s>", v.why);
	} else if (v.type->kind == TYPE_REAL) {
		print_real(out, &v);
	} else if (v.type->kind == TYPE_POINTER) {
		print_pointer(out, &v, m);
	} else if (v.type->kind == TYPE_ENUM) {
		print_enum(out, &v);
	} else if (v.type->kind == TYPE_BOOL && v.whole >> 1 == 0) {
		fputs(v.whole ? "true" : "false", out);
	} else {
		print_whole(out, &v);
		if (v.type->is_char) {
			fputs(" '", out);
			print_byte(out, (unsigned char)v.whole, '\'');
			fputc('\'', out);
		}
	}
}

static void print_complex(FILE *out, const struct value *v,
                          const struct value_memory *m)
{
	const struct type *part = v->type->size == 8    ? &type_float
	                          : v->type->size == 16 ? &type_double
	                                                : &type_long_double;
	struct value a = value_element(v, part, 0);
	struct value b = value_element(v, part, 1);

	print_scalar(out, a, m);
	fputs(" + ", out);
	print_scalar(out, b, m);
	fputc('i', out);
}

/* --- aggregates ---------------------------------------------------------- */

/* The bytes of an array of characters; their number, 0 if one is not known
 * before the first zero. */
static size_t get_text(const struct value *v, const struct value_memory *m,
                       unsigned char *to)
{
	size_t n =
	        v->type->n < ELEMENTS_MAX ? (size_t)v->type->n : ELEMENTS_MAX;

	for (size_t i = 0; i < n; i++) {
		struct value c =
		        value_element(v, v->type->target, (value_wide)i);

		value_load(&c, m);
		if (c.why && !(i && memchr(to, 0, i)))
			return 0;
		to[i] = (unsigned char)(c.why ? 0 : c.whole);
	}
	return n;
}

/* Zeros at its end are not shown. */
static bool print_string(FILE *out, const struct value *v,
                         const struct value_memory *m)
{
	unsigned char text[ELEMENTS_MAX];
	size_t n = get_text(v, m, text);
	bool is_whole = n == v->type->n;

	if (!n)
		return false;
	while (is_whole && n && !text[n - 1])
		n--;
	fputc('"', out);
	for (size_t i = 0; i < n; i++)
		print_byte(out, text[i], '"');
	fputs(is_whole ? "\"" : "\"...", out);
	return true;
}

/* Are two elements the same, byte for byte, or both not known? */
static bool is_same(const struct value *v, uint64_t i, uint64_t k,
                    const struct value_memory *m)
{
	struct value a = value_element(v, v->type->target, (value_wide)i);
	struct value b = value_element(v, v->type->target, (value_wide)k);
	size_t n = (size_t)v->type->target->size;
	unsigned char x[COMPARED_MAX], y[COMPARED_MAX];
	const char *why;

	if (n > COMPARED_MAX)
		return false;
	why = value_fetch(&a, m, x, n);
	if (why)
		return value_fetch(&b, m, y, n) == why;
	return !value_fetch(&b, m, y, n) && !memcmp(x, y, n);
}

static void print_array(FILE *out, const struct value *v,
                        const struct value_memory *m, unsigned depth)
{
	uint64_t n = v->type->n, count;
	unsigned shown = 0;

	if (v->type->target->is_char && n && print_string(out, v, m))
		return;
	fputc('{', out);
	for (uint64_t i = 0; i < n; i += count) {
		struct value e =
		        value_element(v, v->type->target, (value_wide)i);

		fputs(i ? ", " : "", out);
		if (shown >= ELEMENTS_MAX) {
			fputs("...", out);
			break;
		}
		print_at(out, &e, m, depth + 1);
		for (count = 1; i + count < n && is_same(v, i, i + count, m);)
			count++;
		if (count >= REPEATS_MIN)
			fprintf(out, " <repeats %" PRIu64 " times>", count);
		else
			count = 1;
		shown += count >= REPEATS_MIN ? REPEATS_MIN : 1;
	}
	fputc('}', out);
}

static void print_record(FILE *out, const struct value *v,
                         const struct value_memory *m, unsigned depth)
{
	const char *comma = "";

	fputc('{', out);
	for (size_t i = 0; i < v->type->nmembers; i++) {
		const struct type_member *k = &v->type->members[i];
		struct value part = value_member(v, k, m);

		fputs(comma, out);
		if (k->is_base)
			fprintf(out, "<%s> = ", k->type->name);
		else if (*k->name)
			fprintf(out, "%s = ", k->name);
		print_at(out, &part, m, depth + 1);
		comma = ", ";
	}
	fputc('}', out);
}

static void print_reference(FILE *out, struct value v,
                            const struct value_memory *m, unsigned depth)
{
	value_load(&v, m);
	if (v.why) {
		fprintf(out, "<%s>", v.why);
		return;
	}
	v = (struct value){.type = v.type->target,
	                   .place = VALUE_MEMORY,
	                   .address = (uint64_t)v.whole};
	print_at(out, &v, m, depth + 1);
}

static void print_at(FILE *out, const struct value *v,
                     const struct value_memory *m, unsigned depth)
{
	if (v->why) {
		fprintf(out, "<%s>", v->why);
		return;
	}
	if (depth > DEPTH_MAX) {
		fputs("{...}", out);
		return;
	}
	if (v->type->is_incomplete) {
		fputs("<incomplete type>", out);
		return;
	}
	if (v->known && !v->nbits &&
	    !memchr(v->known, 1, (size_t)v->type->size)) {
		fputs("<" VALUE_GONE ">", out);
		return;
	}
	switch (v->type->kind) {
	case TYPE_VOID:
		fputs("void", out);
		break;
	case TYPE_BOOL:
	case TYPE_INTEGER:
	case TYPE_REAL:
	case TYPE_ENUM:
	case TYPE_POINTER:
		print_scalar(out, *v, m);
		break;
	case TYPE_COMPLEX:
		print_complex(out, v, m);
		break;
	case TYPE_REFERENCE:
		print_reference(out, *v, m, depth);
		break;
	case TYPE_ARRAY:
		print_array(out, v, m, depth);
		break;
	case TYPE_RECORD:
		print_record(out, v, m, depth);
		break;
	case TYPE_FUNCTION:
		fprintf(out, "{%s} 0x%" PRIx64, v->type->name, v->address);
		break;
	case TYPE_OTHER:
		fprintf(out, "<%s>", v->type->name);
		break;
	}
}

void value_print(FILE *out, const struct value *v, const struct value_memory *m)
{
	print_at(out, v, m, 0);
}
