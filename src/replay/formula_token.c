/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of an expression: names, which may be qualified (a::b, A<int>::b),
 * numbers, characters, operators.  The first mistake stops it: from then on
 * every token is the end, and the sentence stays. Cost: linear in the text.
 */
#include "replay/formula_parser.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void parser_fail(struct parser *p, size_t at, const char *format, ...)
{
	char what[800];
	va_list list;

	if (p->has_failed)
		return;
	va_start(list, format);
	vsnprintf(what, sizeof(what), format, list);
	va_end(list);
	cairn_fail(p->err, CAIRN_E_USAGE, "in '%.100s', column %zu: %s",
	           p->text, at + 1, what);
	p->has_failed = true;
	p->token = TOKEN_END;
}

static bool is_name_part(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/*
 * How long the arguments of a template are that begin here, if a name in its
 * scope follows; else 0, and < is an operator.
 */
static size_t template_length(const char *from)
{
	size_t n = 0, depth = 0;

	if (*from != '<')
		return 0;
	do {
		depth += from[n] == '<';
		depth -= from[n] == '>';
		n++;
	} while (depth && (is_name_part(from[n]) ||
	                   (from[n] && strchr(" ,:*&<>()[]-'", from[n]))));
	return !depth && from[n] == ':' && from[n + 1] == ':' &&
	                       is_name_part(from[n + 2])
	               ? n
	               : 0;
}

static void read_name(struct parser *p)
{
	const char *from = p->text + p->at;
	size_t n = 0;

	if (from[0] == ':') /* ::a, outside of everything */
		n = 2;
	for (;;) {
		while (is_name_part(from[n]))
			n++;
		n += template_length(from + n);
		if (from[n] != ':' || from[n + 1] != ':' ||
		    !is_name_part(from[n + 2]))
			break;
		n += 2;
	}
	if (n >= sizeof(p->name)) {
		parser_fail(p, p->at, "this name is too long");
		return;
	}
	memcpy(p->name, from, n);
	p->name[n] = '\0';
	p->token = TOKEN_NAME;
	p->at += n;
}

static const struct type *type_of_literal(unsigned long long v, bool is_decimal,
                                          bool is_unsigned, bool is_long)
{
	if (!is_long && !is_unsigned && v <= INT32_MAX)
		return &type_int;
	if (!is_long && (is_unsigned || !is_decimal) && v <= UINT32_MAX)
		return &type_uint;
	if (!is_unsigned && v <= INT64_MAX)
		return &type_long;
	return &type_ulong;
}

/* What follows the digits of a whole number. */
static void read_suffix(struct parser *p, unsigned long long v, bool is_decimal)
{
	bool is_unsigned = false, is_long = false;

	for (; isalpha((unsigned char)p->text[p->at]); p->at++) {
		int c = tolower((unsigned char)p->text[p->at]);

		is_unsigned |= c == 'u';
		is_long |= c == 'l';
		if (c != 'u' && c != 'l')
			break;
	}
	p->number = value_of_whole(
	        type_of_literal(v, is_decimal, is_unsigned, is_long),
	        (value_wide)v);
}

static void read_real(struct parser *p)
{
	char *end;
	long double v = strtold(p->text + p->at, &end);
	const struct type *t = &type_double;

	if (*end == 'f' || *end == 'F')
		t = &type_float;
	else if (*end == 'l' || *end == 'L')
		t = &type_long_double;
	if (t == &type_float)
		v = strtof(p->text + p->at, NULL);
	else if (t == &type_double)
		v = strtod(p->text + p->at, NULL);
	p->at = (size_t)(end - p->text) + (t != &type_double);
	p->number = value_of_real(t, v);
}

static void read_number(struct parser *p)
{
	const char *from = p->text + p->at;
	bool is_hex = *from == '0' && tolower((unsigned char)from[1]) == 'x';
	const char *set = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	size_t n = (is_hex ? 2 : 0) + strspn(from + (is_hex ? 2 : 0), set);
	int next = tolower((unsigned char)from[n]);
	unsigned long long v;
	char *end;

	p->token = TOKEN_NUMBER;
	if (next == '.' || next == (is_hex ? 'p' : 'e')) {
		read_real(p);
	} else {
		errno = 0;
		v = strtoull(from, &end, 0);
		if (errno) {
			parser_fail(p, p->at, "this number is too large");
			return;
		}
		p->at = (size_t)(end - p->text);
		read_suffix(p, v, *from != '0');
	}
	if (is_name_part(p->text[p->at]))
		parser_fail(p, p->at, "this is no number");
}

static int read_escape(struct parser *p)
{
	static const char names[] = "a\ab\bf\fn\nr\rt\tv\ve\033";
	char c = p->text[p->at];
	const char *found = c ? strchr(names, c) : NULL;
	char *end;
	long v = 0;

	p->at += c != '\0';
	if (c >= '0' && c <= '7') {
		v = c - '0';
		for (int i = 0;
		     i < 2 && p->text[p->at] >= '0' && p->text[p->at] <= '7';
		     i++)
			v = 8 * v + p->text[p->at++] - '0';
		return (int)v;
	}
	if (c == 'x') {
		v = strtol(p->text + p->at, &end, 16);
		p->at = (size_t)(end - p->text);
		return (int)v;
	}
	return found && (found - names) % 2 == 0 ? found[1] : c;
}

/* 'FILE'::NAME, as gdb has it. */
static bool is_file_name(const char *text)
{
	const char *end = strchr(text + 1, '\'');

	return end && end[1] == ':' && end[2] == ':' && is_name_part(end[3]);
}

static void read_file_name(struct parser *p)
{
	const char *from = p->text + p->at;
	size_t n = (size_t)(strchr(from + 1, '\'') - from) + 3;

	p->at += n;
	read_name(p);
	if (p->has_failed)
		return;
	if (n + strlen(p->name) >= sizeof(p->name)) {
		parser_fail(p, p->begin, "this name is too long");
		return;
	}
	memmove(p->name + n, p->name, strlen(p->name) + 1);
	memcpy(p->name, from, n);
}

static void read_character(struct parser *p)
{
	int c = p->text[++p->at];
	bool is_there = c && c != '\'';

	p->at += c != '\0';
	if (c == '\\')
		c = read_escape(p);
	if (!is_there || p->text[p->at] != '\'') {
		parser_fail(p, p->begin,
		            "a character stands between two quotes");
		return;
	}
	p->at++;
	p->token = TOKEN_NUMBER;
	p->number = value_of_whole(&type_int, (signed char)c);
}

static void read_sign(struct parser *p)
{
	static const char *const signs[] = {
	        "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+",
	        "-",  "*",  "/",  "%",  "&",  "|",  "^",  "~",  "!",  "<",
	        ">",  "?",  ":",  "(",  ")",  "[",  "]",  ".",  ",",  "="};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		size_t n = strlen(signs[i]);

		if (strncmp(p->text + p->at, signs[i], n) != 0)
			continue;
		memcpy(p->sign, signs[i], n + 1);
		p->token = TOKEN_SIGN;
		p->at += n;
		return;
	}
	parser_fail(p, p->at, "this is no part of an expression: %.1s",
	            p->text + p->at);
}

void parser_next(struct parser *p)
{
	char c;

	if (p->has_failed)
		return;
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
	p->begin = p->at;
	c = p->text[p->at];
	if (!c)
		p->token = TOKEN_END;
	else if (isdigit((unsigned char)c) ||
	         (c == '.' && isdigit((unsigned char)p->text[p->at + 1])))
		read_number(p);
	else if (is_name_part(c) || (c == ':' && p->text[p->at + 1] == ':' &&
	                             is_name_part(p->text[p->at + 2])))
		read_name(p);
	else if (c == '\'' && is_file_name(p->text + p->at))
		read_file_name(p);
	else if (c == '\'')
		read_character(p);
	else
		read_sign(p);
}

bool parser_is(const struct parser *p, const char *sign)
{
	return p->token == TOKEN_SIGN && !strcmp(p->sign, sign);
}

bool parser_is_word(const struct parser *p, const char *word)
{
	return p->token == TOKEN_NAME && !strcmp(p->name, word);
}

bool parser_take(struct parser *p, const char *sign)
{
	if (!parser_is(p, sign))
		return false;
	parser_next(p);
	return true;
}

void parser_expect(struct parser *p, const char *sign)
{
	if (parser_take(p, sign))
		return;
	if (parser_is(p, ",") && !strcmp(sign, ")"))
		parser_fail(p, p->begin,
		            "a comma cannot stand in parentheses here");
	else
		parser_fail(p, p->begin, "%s is missing", sign);
}
