/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_BYTES_H
#define CAIRN_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Little-endian access at any alignment. */
static inline uint32_t get_le32(const void *p)
{
	const unsigned char *b = p;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

static inline uint64_t get_le64(const void *p)
{
	return get_le32(p) | (uint64_t)get_le32((const char *)p + 4) << 32;
}

static inline void put_le32(void *p, uint32_t v)
{
	unsigned char *b = p;

	b[0] = (unsigned char)v;
	b[1] = (unsigned char)(v >> 8);
	b[2] = (unsigned char)(v >> 16);
	b[3] = (unsigned char)(v >> 24);
}

static inline void put_le64(void *p, uint64_t v)
{
	put_le32(p, (uint32_t)v);
	put_le32((char *)p + 4, (uint32_t)(v >> 32));
}

/* A growing byte string to write into. */
struct bytes {
	unsigned char *data;
	size_t n, cap;
};

void bytes_release(struct bytes *b);
void bytes_put(struct bytes *b, const void *data, size_t n);
/* n more bytes, zeros, to be written before the next call. */
unsigned char *bytes_grow(struct bytes *b, size_t n);
void bytes_put_u8(struct bytes *b, uint8_t v);
void bytes_put_u32(struct bytes *b, uint32_t v);
void bytes_put_u64(struct bytes *b, uint64_t v);
void bytes_put_uv(struct bytes *b, uint64_t v); /* unsigned LEB128 */
void bytes_put_sv(struct bytes *b, int64_t v);  /* zigzag, then LEB128 */
void bytes_put_str(struct bytes *b, const char *s, size_t n);

/*
 * A cursor over bytes that come from a file.  A read past the end or a varint
 * of more than 64 bits sets `bad` and returns 0; check it once at the end.
 */
struct cursor {
	const unsigned char *p, *end;
	bool bad;
};

uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
uint64_t cursor_uv(struct cursor *c);
int64_t cursor_sv(struct cursor *c);
/* Borrows n bytes of the input; NULL (and bad) if there are fewer. */
const unsigned char *cursor_take(struct cursor *c, uint64_t n);
/* A string: borrows it and stores its length. */
const char *cursor_str(struct cursor *c, size_t *n);

#endif /* CAIRN_BASE_BYTES_H */
