/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a trace as one self-contained file.
 *
 * Addresses in the streams are those of the process, so that the modules keep
 * their load biases, and with them everything else has to stay as it was: all
 * chunks are written as they are, with checksums, and the maps beside them.
 * Parts of streams that were not packed when the program ended are.
 *
 * The runtime packs while the program runs: fast, and buffer by buffer.  The
 * best packing takes PACK_PART bytes of a stream at a time, and zstd's time.
 * A part is what has to be unpacked to read any of it: that one of this size is
 * unpacked in a few milliseconds is what bounds it.
 *
 * Invariant: the bytes of a stream, parts joined, stay the same but for zeros
 * at the end of parts, which mean nothing.
 * Cost: memory of the packed file and of a part.
 */
#include "format/pack_trace.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "abi/file.h"
#include "abi/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/profile.h"
#include "format/streams.h"
#include "format/writer.h"
#include "format/zframe.h"

#define PACK_PART ((size_t)4 << 20)
#define PACK_BEST 19
#define PACK_FAST 3

struct trace_packer {
	const struct profile *p;
	const struct streams *s;
	struct bytes out;
	struct bytes raw;    /* what the next part has so far */
	struct bytes packed; /* room */
	unsigned char *memory;
	size_t capacity;
	ZSTD_CCtx *z;
	bool best;
};

struct pack_writer {
	struct trace_packer k;
	bool is_begun;
	uint32_t thread; /* of the part before */
	uint64_t number; /* of that */
};

/* --- parts --------------------------------------------------------------- */

static int pack_part(struct trace_packer *k, uint32_t thread, uint64_t number,
                     struct cairn_err *err)
{
	size_t bound = ZSTD_compressBound(k->raw.n), n;

	if (k->packed.cap < bound) {
		k->packed.data = xrealloc(k->packed.data, bound, 1);
		k->packed.cap = bound;
	}
	n = ZSTD_compressCCtx(k->z, k->packed.data, bound, k->raw.data,
	                      k->raw.n, k->best ? PACK_BEST : PACK_FAST);
	if (ZSTD_isError(n))
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "cannot pack a part of the trace: %s",
		                  ZSTD_getErrorName(n));
	writer_part(&k->out, thread, number, k->raw.n, k->packed.data, n);
	k->raw.n = 0;
	return 0;
}

/* A part that is packed already, as it is. */
static int pack_copy(struct trace_packer *k, const struct streams_part *part,
                     uint32_t thread, struct cairn_err *err)
{
	const struct chunk *c = part->chunk;
	const unsigned char *bytes;
	size_t n;

	CAIRN_TRY(streams_load(k->s, part, &k->memory, &k->capacity, &bytes, &n,
	                       err));
	writer_copy_part(&k->out, c, thread, part->number);
	return 0;
}

/* Appends a part without the zeros that follow it. */
static int pack_load(struct trace_packer *k, const struct streams_part *part,
                     struct cairn_err *err)
{
	const unsigned char *bytes;
	size_t n;

	CAIRN_TRY(streams_load(k->s, part, &k->memory, &k->capacity, &bytes, &n,
	                       err));
	if (part->chunk->type == CAIRN_CHUNK_STREAM) {
		size_t all = n;

		while (n && !bytes[n - 1])
			n--;
		/* the last item may end with zeros */
		n = all - n < CAIRN_TRACE_ITEM_MAX ? all
		                                   : n + CAIRN_TRACE_ITEM_MAX;
	}
	bytes_put(&k->raw, bytes, n);
	return 0;
}

static int pack_thread(struct trace_packer *k, const struct streams_thread *t,
                       struct cairn_err *err)
{
	uint64_t number = t->ndropped;

	for (size_t i = 0; i < t->nparts; i++) {
		if (!k->best && t->parts[i].chunk->type == CAIRN_CHUNK_PACKED) {
			CAIRN_TRY(pack_copy(k, &t->parts[i], t->id, err));
			number++;
			continue;
		}
		CAIRN_TRY(pack_load(k, &t->parts[i], err));
		if (!k->best || k->raw.n >= PACK_PART || i + 1 == t->nparts)
			CAIRN_TRY(pack_part(k, t->id, ++number, err));
	}
	return 0;
}

/* --- the rest ------------------------------------------------------------ */

/* The module that a MODULE chunk is of. */
static const struct profile_module *pack_find(const struct profile *p,
                                              const struct chunk *k)
{
	struct cursor c = {k->payload, k->payload + k->size, false};
	uint32_t nid = cursor_u32(&c);
	const unsigned char *id = cursor_take(&c, nid);
	size_t left = (size_t)(c.end - c.p);

	for (uint32_t i = 0; !c.bad && i < p->nmodules; i++) {
		const struct profile_module *m = &p->modules[i];
		size_t n = strlen(m->path) + 1;

		if (m->nid == nid && (!nid || !memcmp(m->id, id, nid)) &&
		    (nid || (n <= left && !memcmp(m->path, c.p, n) &&
		             m->base == k->aux0)))
			return m;
	}
	return NULL;
}

static int pack_map(struct trace_packer *k, const struct chunk *module,
                    struct cairn_err *err)
{
	const struct profile_module *m = pack_find(k->p, module);

	if (!m || !m->map)
		return 0;
	k->packed.n = 0;
	CAIRN_TRY(zframe_pack(&k->packed, m->map_bytes, m->map_size, err));
	writer_chunk(&k->out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_MAP,
	                                    .module = module->module,
	                                    .aux0 = m->map_size},
	             k->packed.data, k->packed.n);
	return 0;
}

static int pack_chunk(struct trace_packer *k, const struct chunk *c,
                      struct cairn_err *err)
{
	if (c->type == CAIRN_CHUNK_STREAM || c->type == CAIRN_CHUNK_PACKED ||
	    c->type == CAIRN_CHUNK_MAP || c->type == CAIRN_CHUNK_SOURCES)
		return 0;
	writer_copy(&k->out, c);
	return c->type == CAIRN_CHUNK_MODULE ? pack_map(k, c, err) : 0;
}

/* All but the streams. */
static int pack_begin(struct trace_packer *k, struct cairn_err *err)
{
	const struct container *c = &k->s->c;

	if (!k->z)
		return cairn_fail(err, CAIRN_E_SYSTEM, "out of memory");
	writer_begin(&k->out);
	for (size_t i = 0; i < c->nchunks; i++)
		CAIRN_TRY(pack_chunk(k, &c->chunks[i], err));
	return sources_put(&k->p->sources, &k->out, &k->packed, err);
}

static int pack_all(struct trace_packer *k, struct cairn_err *err)
{
	struct writer_header header = writer_header_of(&k->s->c);

	CAIRN_TRY(pack_begin(k, err));
	for (size_t i = 0; i < k->s->nthreads; i++)
		CAIRN_TRY(pack_thread(k, &k->s->threads[i], err));
	writer_end(&k->out, &header);
	return 0;
}

static void pack_release(struct trace_packer *k)
{
	bytes_release(&k->out);
	bytes_release(&k->raw);
	bytes_release(&k->packed);
	free(k->memory);
	ZSTD_freeCCtx(k->z);
}

int pack_trace(const struct profile *p, const struct streams *s, bool best,
               const char *path, struct cairn_err *err)
{
	struct trace_packer k = {
	        .p = p,
	        .s = s,
	        .z = ZSTD_createCCtx(),
	        .best = best,
	};
	int rc = pack_all(&k, err);

	if (rc == 0)
		rc = writer_replace(path, k.out.data, k.out.n, err);
	pack_release(&k);
	return rc;
}

/* --- of a recording ------------------------------------------------------ */

struct pack_writer *pack_writer_new(const struct profile *p,
                                    const struct streams *s)
{
	struct pack_writer *w = xcalloc(1, sizeof(*w));

	w->k.p = p;
	w->k.s = s;
	w->k.z = ZSTD_createCCtx();
	return w;
}

static int pack_writer_begin(struct pack_writer *w, struct cairn_err *err)
{
	if (w->is_begun)
		return 0;
	w->is_begun = true;
	return pack_begin(&w->k, err);
}

int pack_writer_part(struct pack_writer *w, uint32_t thread, const void *bytes,
                     size_t n, struct cairn_err *err)
{
	CAIRN_TRY(pack_writer_begin(w, err));
	w->number = w->thread == thread ? w->number + 1 : 1;
	w->thread = thread;
	bytes_put(&w->k.raw, bytes, n);
	return pack_part(&w->k, thread, w->number, err);
}

int pack_writer_end(struct pack_writer *w, const char *path, bool is_unfinished,
                    struct cairn_err *err)
{
	struct writer_header header = writer_header_of(&w->k.s->c);

	CAIRN_TRY(pack_writer_begin(w, err));
	header.flags &= ~CAIRN_FILE_RECORDING;
	if (is_unfinished)
		header.flags |= CAIRN_FILE_UNFINISHED;
	writer_end(&w->k.out, &header);
	return writer_replace(path, w->k.out.data, w->k.out.n, err);
}

void pack_writer_free(struct pack_writer *w)
{
	pack_release(&w->k);
	free(w);
}
