/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_PACK_H
#define CAIRN_ANALYSIS_TWPP_PACK_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* Bytes of a piece before it is packed. */
#define TWPP_PIECE 65536

/* What packs and unpacks; one per user, not to be shared by threads. */
struct twpp_zip {
	void *packer, *unpacker; /* zstd's contexts; NULL until needed */
	struct bytes buffer;
	bool has_failed; /* zstd had no memory: what was packed is no good */
};

void twpp_zip_release(struct twpp_zip *z);

/*
 * A string of bytes that may get very long: whole pieces are packed at once,
 * the rest is the tail.  {0} is empty.
 *
 * Ensures: equal strings have equal serial forms.
 */
struct twpp_pack {
	struct bytes pieces; /* each: uv size, zstd frame */
	uint64_t npieces;
	struct bytes tail;
};

void twpp_pack_release(struct twpp_pack *p);
/* Empty again; keeps its memory. */
void twpp_pack_clear(struct twpp_pack *p);
/* Packs the tail's first piece.  Requires: it is that long. */
void twpp_pack_piece(struct twpp_pack *p, struct twpp_zip *z);

static inline void twpp_pack_uv(struct twpp_pack *p, struct twpp_zip *z,
                                uint64_t v)
{
	if (v < 0x80 && p->tail.n < p->tail.cap)
		p->tail.data[p->tail.n++] = (unsigned char)v;
	else
		bytes_put_uv(&p->tail, v);
	if (p->tail.n >= TWPP_PIECE)
		twpp_pack_piece(p, z);
}

/* Appends the serial form. */
void twpp_pack_put(const struct twpp_pack *p, struct bytes *out);
/* Bytes of the string. */
uint64_t twpp_pack_size(const struct twpp_pack *p);

/* A string in its serial form, borrowed. */
struct twpp_string {
	const unsigned char *pieces, *tail;
	uint64_t npieces, npacked;
	size_t ntail;
};

/* Takes one from the input; c->bad if there is none. */
void twpp_string_take(struct cursor *c, struct twpp_string *s);
bool twpp_string_is_empty(const struct twpp_string *s);

/* Reads a string from its beginning.  What does not unpack sets `bad`. */
struct twpp_reader {
	const unsigned char *p, *end; /* of the piece, or of the tail */
	struct twpp_string rest;      /* what comes then */
	unsigned char *piece;         /* own; NULL if there is none */
	struct twpp_zip *zip;
	bool bad;
};

/* Requires: zip outlives r.  Memory: until twpp_reader_release. */
void twpp_reader_init(struct twpp_reader *r, const struct twpp_string *s,
                      struct twpp_zip *zip);
void twpp_reader_release(struct twpp_reader *r);
/* Is there another byte?  Goes on to the next piece if need be. */
bool twpp_reader_fill(struct twpp_reader *r);
uint64_t twpp_reader_long(struct twpp_reader *r);

static inline bool twpp_reader_more(struct twpp_reader *r)
{
	return r->p < r->end || twpp_reader_fill(r);
}

/* The next number; 0, and bad, if there is none. */
static inline uint64_t twpp_reader_uv(struct twpp_reader *r)
{
	if (r->p < r->end && *r->p < 0x80)
		return *r->p++;
	return twpp_reader_long(r);
}

/*
 * A part of a file: bytes, packed if that makes them fewer.  The first ones
 * append one.  The last takes one from the input; the bytes are borrowed
 * from the input, or own->data, which the caller releases.
 *
 * Fails: CAIRN_E_CORRUPT.
 */
void twpp_part_put(struct bytes *out, const struct bytes *in,
                   struct twpp_zip *z);
/* The same for what is packed already. */
void twpp_part_put_plain(struct bytes *out, const struct bytes *in);
int twpp_part_take(struct cursor *c, struct twpp_zip *z, const char *file,
                   struct bytes *own, struct cursor *part,
                   struct cairn_err *err);

/* 32 bits that differ if bytes were damaged. */
uint32_t twpp_sum(const unsigned char *p, size_t n);

/* Strings of bytes, each once, numbered in the order they came.  {0}: none. */
struct twpp_store {
	struct bytes bytes;
	uint64_t *ends; /* of string i; it begins where i - 1 ends */
	uint32_t *sums;
	size_t n, ends_cap, sums_cap;
	uint32_t *slots; /* 1 + number, 0 is free */
	size_t nslots;   /* 0 or a power of two */
};

void twpp_store_release(struct twpp_store *s);
/* The number of this string; s->n grew if it is new. */
uint32_t twpp_store_add(struct twpp_store *s, const unsigned char *p, size_t n);
struct cursor twpp_store_get(const struct twpp_store *s, uint32_t i);

#endif /* CAIRN_ANALYSIS_TWPP_PACK_H */
