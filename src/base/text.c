/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for terminals, and for formats with one item per line.
 *
 * A terminal obeys control characters: the C0 set and DEL, and the C1 set,
 * which it takes as single bytes or as UTF-8 (U+0080 to U+009F).  Characters
 * that change the direction of text make a line look like another one (Boucher
 * and Anderson, "Trojan Source", USENIX Security 2023).  A newline in a name
 * ends a record of lcov or callgrind.  All of these, and bytes that are not
 * UTF-8 (Unicode 15, table 3-7), are written as C would write them: \n, \x1b,
 * \u202e.  A backslash stays one backslash: this is for people to read, not for
 * programs to undo; JSON has names as they are.
 *
 * text_print escapes strings and trusts formats, so a writer cannot forget it,
 * and its own newlines and columns need no special care.  Colours are ours, so
 * they go out by fputs.
 *
 * Cost: linear; no allocation for strings without a width.
 */
#include "base/text.h"

#include "base/alloc.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- characters ----------------------------------------------------------- */

size_t text_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

unsigned text_code(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = text_utf8(text);
	unsigned code = n < 2 ? s[0] : s[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

static bool is_obeyed(unsigned code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

size_t text_character(const char *s)
{
	size_t n = text_utf8(s);

	return n && !is_obeyed(text_code(s)) ? n : 0;
}

/* --- strings -------------------------------------------------------------- */

/* Room for the longest escape, with its NUL. */
#define ESCAPE_SIZE 8

/* What stands for the character that s begins with: how many bytes of s that
 * is. */
static size_t escape_one(const char *s, char to[ESCAPE_SIZE])
{
	static const char special[] = "\n\t\r", letters[] = "ntr";
	const char *at = *s ? strchr(special, *s) : NULL;
	size_t n = text_utf8(s);

	if (at)
		snprintf(to, ESCAPE_SIZE, "\\%c", letters[at - special]);
	else if (n > 1)
		snprintf(to, ESCAPE_SIZE, "\\u%04x", text_code(s) & 0xffff);
	else
		snprintf(to, ESCAPE_SIZE, "\\x%02x", (unsigned char)*s);
	return n ? n : 1;
}

/* How many bytes of s, from its beginning on, need no escape. */
static size_t plain_length(const char *s, bool is_source)
{
	size_t at = 0, n;

	while (s[at] && ((n = text_character(s + at)) ||
	                 (is_source && s[at] == '\t' && (n = 1))))
		at += n;
	return at;
}

static void put(FILE *out, const char *s, bool is_source)
{
	while (*s) {
		size_t n = plain_length(s, is_source);
		char escape[ESCAPE_SIZE];

		fwrite(s, 1, n, out);
		s += n;
		if (!*s || (is_source && !strcmp(s, "\r")))
			return;
		s += escape_one(s, escape);
		fputs(escape, out);
	}
}

void text_put(FILE *out, const char *s)
{
	put(out, s, false);
}

void text_put_source(FILE *out, const char *line)
{
	put(out, line, true);
}

char *text_escape(const char *s, size_t n)
{
	char *copy = xstrndup(s, n), *to = xmalloc(4 * n + ESCAPE_SIZE);
	size_t at = 0;

	for (const char *p = copy; *p;) {
		size_t plain = plain_length(p, false);

		memcpy(to + at, p, plain);
		at += plain;
		p += plain;
		if (*p) {
			p += escape_one(p, to + at);
			at += strlen(to + at);
		}
	}
	to[at] = '\0';
	free(copy);
	return to;
}

/* --- formats -------------------------------------------------------------- */

/* A conversion: %, flags, width, precision, length, letter. */
struct conversion {
	char text[48]; /* with numbers in the place of asterisks */
	size_t n;
	int precision; /* -1: none */
	bool has_width;
	unsigned nlongs; /* l, or j, z and t; 2 for ll */
	bool is_size;    /* z, t or j */
	bool is_real;    /* L */
	char letter;
};

/* va_list may be an array, which cannot be handed on by address. */
struct arguments {
	va_list list;
};

static void keep(struct conversion *c, char letter)
{
	if (c->n + 2 < sizeof(c->text))
		c->text[c->n++] = letter;
}

/* Digits or an asterisk; *value is -1 if neither is there. */
static const char *read_number(const char *f, struct conversion *c,
                               struct arguments *a, int *value)
{
	char digits[16];

	*value = -1;
	if (*f == '*') {
		*value = va_arg(a->list, int);
		snprintf(digits, sizeof(digits), "%d", *value);
		for (const char *d = digits; *d; d++)
			keep(c, *d);
		return f + 1;
	}
	for (; *f >= '0' && *f <= '9'; f++) {
		*value = (*value < 0 ? 0 : *value) * 10 + (*f - '0');
		keep(c, *f);
	}
	return f;
}

static const char *read_conversion(const char *f, struct conversion *c,
                                   struct arguments *a)
{
	int width;

	*c = (struct conversion){.precision = -1};
	keep(c, *f++);
	while (*f && strchr("-+ #0'", *f))
		keep(c, *f++);
	f = read_number(f, c, a, &width);
	c->has_width = width > 0 || width < -1;
	if (*f == '.') {
		keep(c, *f);
		f = read_number(f + 1, c, a, &c->precision);
		if (c->precision < 0)
			c->precision = 0;
	}
	for (; *f && strchr("hlLzjt", *f); f++) {
		c->nlongs += *f == 'l';
		c->is_size |= strchr("zjt", *f) != NULL;
		c->is_real |= *f == 'L';
		keep(c, *f);
	}
	c->letter = *f;
	keep(c, *f);
	c->text[c->n] = '\0';
	return *f ? f + 1 : f;
}

static void print_string(FILE *out, const struct conversion *c, const char *s)
{
	char *escaped, *dot, text[sizeof(c->text)];

	if (!s)
		s = "(null)";
	if (!c->has_width && c->precision < 0) {
		text_put(out, s);
		return;
	}
	escaped = text_escape(s, c->precision < 0
	                                 ? strlen(s)
	                                 : strnlen(s, (size_t)c->precision));
	/* the precision is of what was to be escaped */
	memcpy(text, c->text, sizeof(text));
	dot = strchr(text, '.');
	if (dot)
		memcpy(dot, "s", 2);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(out, text, escaped);
	free(escaped);
}

static void print_real(FILE *out, const struct conversion *c,
                       struct arguments *a)
{
	if (c->is_real)
		fprintf(out, c->text, va_arg(a->list, long double));
	else
		fprintf(out, c->text, va_arg(a->list, double));
}

static void print_whole(FILE *out, const struct conversion *c,
                        struct arguments *a)
{
	/* long, long long, size_t, intmax_t and ptrdiff_t have 64 bits here */
	_Static_assert(sizeof(long) == sizeof(long long), "x86-64 Linux");
	if (c->nlongs || c->is_size)
		fprintf(out, c->text, va_arg(a->list, long));
	else
		fprintf(out, c->text, va_arg(a->list, int));
}

static void print_one(FILE *out, const struct conversion *c,
                      struct arguments *a)
{
	switch (c->letter) {
	case '%':
		putc('%', out);
		break;
	case 's':
		print_string(out, c, va_arg(a->list, const char *));
		break;
	case 'p':
		fprintf(out, c->text, va_arg(a->list, void *));
		break;
	case 'a':
	case 'e':
	case 'f':
	case 'g':
	case 'A':
	case 'E':
	case 'F':
	case 'G':
		print_real(out, c, a);
		break;
	default:
		print_whole(out, c, a);
		break;
	}
}
#pragma GCC diagnostic pop

int text_vprint(FILE *out, const char *format, va_list args)
{
	struct arguments a;

	va_copy(a.list, args);
	while (*format) {
		struct conversion c;
		size_t n = strcspn(format, "%");

		fwrite(format, 1, n, out);
		format += n;
		if (!*format)
			break;
		format = read_conversion(format, &c, &a);
		print_one(out, &c, &a);
	}
	va_end(a.list);
	return ferror(out) ? -1 : 0;
}

int text_print(FILE *out, const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = text_vprint(out, format, args);
	va_end(args);
	return rc;
}
