/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_TEXT_H
#define CAIRN_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Text for terminals and for formats with one item per line.  Names of
 * functions, paths, command lines and source come from files that others may
 * have sent: these functions write them so that a terminal shows them and does
 * not obey them, and so that they stay on their line.
 */

/*
 * As fprintf, but what comes by %s is escaped; the format itself is not.
 * Widths count the bytes written.  %n, %ls and numbered arguments are not
 * supported.
 */
int text_print(FILE *out, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
int text_vprint(FILE *out, const char *format, va_list args)
        __attribute__((format(printf, 2, 0)));
/* A string, escaped. */
void text_put(FILE *out, const char *s);
/* A line of source, escaped: it keeps its tabs, and loses the CR at its end. */
void text_put_source(FILE *out, const char *line);
/* n bytes, escaped; the caller frees it. */
char *text_escape(const char *s, size_t n);

/*
 * The number of bytes of the UTF-8 character that s begins with, if terminals
 * just show it; 0 if it is a control character (C0, DEL, C1), a line or
 * paragraph separator, changes the direction of text, or is malformed.
 * Requires: a NUL at the end, which ends malformed characters.
 */
size_t text_character(const char *s);
/* The same, 0 only for what is malformed. */
size_t text_utf8(const char *s);
/* The number of the character that s begins with.
 * Requires: text_utf8(s) > 0. */
unsigned text_code(const char *s);

#endif /* CAIRN_BASE_TEXT_H */
