/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON writer.  Names of functions and files are bytes that nobody promised
 * to be UTF-8; RFC 8259 wants UTF-8, so each byte that does not take part in a
 * well-formed sequence (Unicode 15, table 3-7) is replaced.  Characters that a
 * terminal obeys (base/text.h) are written by their numbers.
 */
#include "base/json.h"

#include "base/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static void newline(struct json *j)
{
	if (j->depth > j->flat_below)
		return;
	putc('\n', j->out);
	for (unsigned i = 0; i < j->depth; i++)
		putc(' ', j->out);
}

static void before_value(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->need_comma)
		putc(',', j->out);
	if (j->need_comma && j->depth > j->flat_below)
		putc(' ', j->out);
	if (j->depth)
		newline(j);
}

void json_begin(struct json *j, char bracket)
{
	before_value(j);
	putc(bracket, j->out);
	j->depth++;
	j->need_comma = false;
}

void json_end(struct json *j, char bracket)
{
	bool empty = !j->need_comma;

	j->depth--;
	if (!empty && j->depth + 1 <= j->flat_below)
		newline(j);
	putc(bracket, j->out);
	j->need_comma = true;
	if (!j->depth)
		putc('\n', j->out);
}

static void put_escaped(FILE *out, const char *s)
{
	putc('"', out);
	while (*s) {
		size_t n = text_utf8(s);

		if (!n) {
			fputs("\xef\xbf\xbd", out);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (!text_character(s)) /* none is above U+FFFF */
			fprintf(out, "\\u%04x", text_code(s));
		else
			fwrite(s, 1, n, out);
		s += n;
	}
	putc('"', out);
}

void json_key(struct json *j, const char *key)
{
	before_value(j);
	put_escaped(j->out, key);
	fputs(": ", j->out);
	j->after_key = true;
	j->need_comma = true;
}

void json_u64(struct json *j, uint64_t v)
{
	before_value(j);
	fprintf(j->out, "%" PRIu64, v);
	j->need_comma = true;
}

void json_real(struct json *j, double v)
{
	before_value(j);
	fprintf(j->out, "%.6f", v);
	j->need_comma = true;
}

void json_bool(struct json *j, bool v)
{
	before_value(j);
	fputs(v ? "true" : "false", j->out);
	j->need_comma = true;
}

void json_string(struct json *j, const char *s)
{
	before_value(j);
	if (s)
		put_escaped(j->out, s);
	else
		fputs("null", j->out);
	j->need_comma = true;
}

void json_raw(struct json *j, const char *text, size_t n)
{
	before_value(j);
	fwrite(text, 1, n, j->out);
	j->need_comma = true;
}

void json_count(struct json *j, uint64_t v, bool known)
{
	if (known)
		json_u64(j, v);
	else
		json_string(j, NULL);
}
