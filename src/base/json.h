/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_JSON_H
#define CAIRN_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON (RFC 8259), indented down to a depth where elements get small.
 * Zero-initialise with the stream set.  A value inside an object is preceded
 * by json_key.
 */
struct json {
	FILE *out;
	unsigned depth;
	unsigned flat_below; /* containers at this depth or deeper: one line */
	bool need_comma, after_key;
};

void json_begin(struct json *j, char bracket); /* '{' or '[' */
void json_end(struct json *j, char bracket);   /* '}' or ']' */
void json_key(struct json *j, const char *key);
void json_u64(struct json *j, uint64_t v);
void json_real(struct json *j, double v); /* six decimals; finite */
void json_bool(struct json *j, bool v);
/* Any bytes; what is not UTF-8 becomes U+FFFD.  NULL becomes null. */
void json_string(struct json *j, const char *s);
/* A value that another writer has made. */
void json_raw(struct json *j, const char *text, size_t n);
/* v, or null if it is not known. */
void json_count(struct json *j, uint64_t v, bool known);

#endif /* CAIRN_BASE_JSON_H */
