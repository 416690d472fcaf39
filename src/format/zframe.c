/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd frames (RFC 8878) inside chunks.
 *
 * Unpacking streams into a buffer that grows with what really comes out, so
 * that a file which claims a huge size gets no huge buffer.
 */
#include "format/zframe.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 9
#define STEP 65536

int zframe_pack(struct bytes *out, const void *data, size_t size,
                struct cairn_err *err)
{
	size_t bound = ZSTD_compressBound(size), n;
	struct bytes buffer = {0};
	const unsigned char zeros[STEP] = {0};

	while (buffer.n < bound)
		bytes_put(&buffer, zeros,
		          bound - buffer.n < STEP ? bound - buffer.n : STEP);
	n = ZSTD_compress(buffer.data, buffer.n, data, size, LEVEL);
	if (!ZSTD_isError(n))
		bytes_put(out, buffer.data, n);
	bytes_release(&buffer);
	return ZSTD_isError(n) ? cairn_fail(err, CAIRN_E_LIMIT,
	                                    "cannot compress %zu bytes: %s",
	                                    size, ZSTD_getErrorName(n))
	                       : 0;
}

/* Unpacks up to `expected` + 1 bytes; the last return value of zstd. */
static size_t inflate(ZSTD_DCtx *ctx, ZSTD_inBuffer *in, uint64_t expected,
                      struct bytes *out)
{
	unsigned char step[STEP];
	size_t left;

	do {
		ZSTD_outBuffer o = {step, sizeof(step), 0};

		left = ZSTD_decompressStream(ctx, &o, in);
		if (ZSTD_isError(left))
			return left;
		bytes_put(out, step, o.pos);
		if (!o.pos && in->pos == in->size)
			return left;
	} while (left && out->n <= expected);
	return left;
}

int zframe_unpack(const unsigned char *data, size_t size, uint64_t expected,
                  const char *name, unsigned char **bytes, size_t *nbytes,
                  struct cairn_err *err)
{
	ZSTD_inBuffer in = {data, size, 0};
	struct bytes out = {0};
	ZSTD_DCtx *ctx;
	size_t left;

	if (expected > ZFRAME_MAX)
		return cairn_fail(
		        err, CAIRN_E_LIMIT,
		        "%s: a compressed part of it claims more than "
		        "4 GiB; restore the file, or make it again",
		        name);
	ctx = ZSTD_createDCtx();
	left = inflate(ctx, &in, expected, &out);
	ZSTD_freeDCtx(ctx);
	if (left || out.n != expected) {
		bytes_release(&out);
		return cairn_corrupt(
		        err, name, in.pos,
		        "what is compressed there does not unpack; "
		        "restore the file, or make it again");
	}
	*bytes = out.data;
	*nbytes = out.n;
	return 0;
}
