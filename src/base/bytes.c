/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte strings and cursors: the one place where our formats meet memory.
 * Nothing here trusts its input; a cursor that ran off stays at its end.
 */
#include "base/bytes.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void bytes_release(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

static void reserve(struct bytes *b, size_t n)
{
	if (b->cap - b->n >= n)
		return;
	b->cap = b->cap + n > 2 * b->cap ? b->cap + n : 2 * b->cap;
	b->data = xrealloc(b->data, b->cap, 1);
}

void bytes_put(struct bytes *b, const void *data, size_t n)
{
	reserve(b, n);
	if (n)
		memcpy(b->data + b->n, data, n);
	b->n += n;
}

unsigned char *bytes_grow(struct bytes *b, size_t n)
{
	unsigned char *p;

	reserve(b, n);
	p = b->data + b->n;
	memset(p, 0, n);
	b->n += n;
	return p;
}

void bytes_put_u8(struct bytes *b, uint8_t v)
{
	bytes_put(b, &v, 1);
}

void bytes_put_u32(struct bytes *b, uint32_t v)
{
	unsigned char raw[4];

	put_le32(raw, v);
	bytes_put(b, raw, sizeof(raw));
}

void bytes_put_u64(struct bytes *b, uint64_t v)
{
	unsigned char raw[8];

	put_le64(raw, v);
	bytes_put(b, raw, sizeof(raw));
}

void bytes_put_uv(struct bytes *b, uint64_t v)
{
	do {
		unsigned char byte = v & 0x7f;

		v >>= 7;
		if (v)
			byte |= 0x80;
		bytes_put(b, &byte, 1);
	} while (v);
}

void bytes_put_sv(struct bytes *b, int64_t v)
{
	uint64_t sign = v < 0 ? UINT64_MAX : 0;

	bytes_put_uv(b, ((uint64_t)v << 1) ^ sign);
}

void bytes_put_str(struct bytes *b, const char *s, size_t n)
{
	bytes_put_uv(b, n);
	bytes_put(b, s, n);
}

const unsigned char *cursor_take(struct cursor *c, uint64_t n)
{
	const unsigned char *p = c->p;

	if (c->bad || n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

uint32_t cursor_u32(struct cursor *c)
{
	const unsigned char *p = cursor_take(c, 4);

	return p ? get_le32(p) : 0;
}

uint64_t cursor_u64(struct cursor *c)
{
	const unsigned char *p = cursor_take(c, 8);

	return p ? get_le64(p) : 0;
}

uint64_t cursor_uv(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const unsigned char *p = cursor_take(c, 1);

		if (!p || (shift == 63 && *p > 1))
			break;
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

int64_t cursor_sv(struct cursor *c)
{
	uint64_t v = cursor_uv(c);

	return (int64_t)((v >> 1) ^ (0 - (v & 1)));
}

const char *cursor_str(struct cursor *c, size_t *n)
{
	uint64_t length = cursor_uv(c);
	const unsigned char *p = cursor_take(c, length);

	*n = p ? (size_t)length : 0;
	return (const char *)p;
}
