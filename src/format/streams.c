/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of a trace, as they are in the file: parts of each thread's, in
 * any order, packed (zstd) or as they were when the program ended.
 *
 * A part that is there twice, packed and not, was just being packed when the
 * program was killed: the packed one is whole.
 *
 * Of a flight recorder the oldest parts of a thread are missing, and a part
 * that is not packed has its number and thread in its head.
 *
 * Where the file could not grow, or was cut, any part may be missing: the
 * stream ends before the first that is.
 *
 * Recordings have a stream per context, and a part that is not packed begins
 * with its length.  One whose oldest parts were dropped has checkpoints, each
 * of which says with which part its context begins.
 *
 * Cost: a sort of the parts; a part is unpacked when it is asked for.
 */
#include "format/streams.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "abi/crc32c.h"
#include "abi/file.h"
#include "abi/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

/* A part is a buffer of the runtime; nobody writes longer ones. */
#define STREAMS_PART_MAX ((uint64_t)1 << 28)

static struct streams_thread *streams_thread(struct streams *s, uint32_t id)
{
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].id == id)
			return &s->threads[i];
	VEC_RESERVE(s->threads, s->nthreads, s->threads_cap);
	s->threads[s->nthreads] = (struct streams_thread){.id = id};
	return &s->threads[s->nthreads++];
}

static int streams_by_number(const void *a, const void *b)
{
	const struct streams_part *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->chunk->type == CAIRN_CHUNK_STREAM) -
	       (y->chunk->type == CAIRN_CHUNK_STREAM);
}

static int streams_by_id(const void *a, const void *b)
{
	const struct streams_thread *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Those of a flight recorder that follow each other without a gap, up to the
 * last. */
static void streams_keep_last(struct streams_thread *t)
{
	size_t first = t->nparts;

	while (first && (first == t->nparts || t->parts[first - 1].number + 1 ==
	                                               t->parts[first].number))
		first--;
	memmove(t->parts, t->parts + first,
	        (t->nparts - first) * sizeof(*t->parts));
	t->nparts -= first;
	t->ndropped = t->nparts ? t->parts[0].number - 1 : 0;
}

static const struct chunk *find_checkpoint(const struct container *c,
                                           uint32_t id)
{
	for (size_t i = 0; i < c->nchunks; i++)
		if (c->chunks[i].type == CAIRN_CHUNK_CHECKPOINT &&
		    c->chunks[i].id == id)
			return &c->chunks[i];
	return NULL;
}

const struct chunk *streams_checkpoint(const struct streams *s, uint32_t id)
{
	return find_checkpoint(s->last.nchunks ? &s->last : &s->c, id);
}

/* A flight recorder of traces keeps whichever parts are the newest. */
static bool streams_is_ring(const struct streams *s)
{
	return (s->c.flags & CAIRN_FILE_LAST) &&
	       !(s->c.flags & CAIRN_FILE_RECORDING);
}

/* Of a recording that is cut while it is written. */
static bool streams_needs_last(const struct streams *s)
{
	return (s->c.flags & CAIRN_FILE_LAST) &&
	       (s->c.flags & CAIRN_FILE_RECORDING) && !s->last.nchunks &&
	       !streams_checkpoint(s, 0);
}

/* May parts be missing from the middle? */
static bool streams_may_end(const struct streams *s)
{
	return s->c.truncated || (s->c.flags & CAIRN_FILE_TRUNCATED);
}

/* Parts before its checkpoint are not there. */
static void streams_begin(const struct streams *s, struct streams_thread *t)
{
	uint64_t first = 1;
	size_t n = 0;

	t->checkpoint = streams_checkpoint(s, t->id);
	if (t->checkpoint && t->checkpoint->aux0)
		first = t->checkpoint->aux0;
	for (size_t i = 0; i < t->nparts; i++)
		if (t->parts[i].number >= first)
			t->parts[n++] = t->parts[i];
	t->nparts = n;
	t->ndropped = first - 1;
}

/* In order, each once. */
static int streams_sort(struct streams *s, struct streams_thread *t,
                        struct cairn_err *err)
{
	bool is_ring = streams_is_ring(s);
	size_t n = 0;

	if (s->c.flags & CAIRN_FILE_RECORDING)
		streams_begin(s, t);
	if (t->nparts)
		qsort(t->parts, t->nparts, sizeof(*t->parts),
		      streams_by_number);
	for (size_t i = 0; i < t->nparts; i++) {
		uint64_t number = t->ndropped + n + 1;

		if (n && t->parts[n - 1].number == t->parts[i].number)
			continue;
		if (t->parts[i].number != number && !n && streams_needs_last(s))
			return cairn_fail(err, CAIRN_E_ABSENT,
			                  "%s: what it begins with is in "
			                  "%s.last, which is not there; put "
			                  "both into one folder",
			                  s->c.name, s->c.name);
		if (t->parts[i].number != number && !is_ring &&
		    streams_may_end(s))
			break;
		if (t->parts[i].number != number && !is_ring)
			return cairn_corrupt(
			        err, s->c.name, t->parts[i].chunk->offset,
			        "part %" PRIu64 " of the trace of thread "
			        "%" PRIu32 " is missing",
			        number, t->id);
		t->parts[n++] = t->parts[i];
	}
	t->nparts = n;
	if (is_ring)
		streams_keep_last(t);
	return 0;
}

/* Contexts that were over when their parts were dropped are not there. */
static void streams_drop_gone(struct streams *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nthreads; i++) {
		struct streams_thread *t = &s->threads[i];

		if (t->checkpoint && !t->checkpoint->n)
			free(t->parts);
		else
			s->threads[n++] = *t;
	}
	s->nthreads = n;
}

/* What part of which thread a chunk is; false: of none. */
static bool streams_is_part(const struct chunk *k, uint64_t *number,
                            uint32_t *thread)
{
	bool is_packed = k->type == CAIRN_CHUNK_PACKED;

	if (!is_packed && k->type != CAIRN_CHUNK_STREAM)
		return false;
	*number = k->aux0;
	*thread = k->id;
	if (!is_packed && k->aux0 == CAIRN_STREAM_HAS_HEAD) {
		if (k->size < CAIRN_HEAD_SIZE)
			return false;
		*number = get_le64(k->payload + CAIRN_HEAD_NUMBER);
		*thread = get_le32(k->payload + CAIRN_HEAD_THREAD);
	}
	return *number != 0;
}

/*
 * A recording that is being cut while it is written has its checkpoints beside
 * it.  They are written before what they stand for is dropped; if they are not
 * there, nothing was.
 */
static int streams_find_last(struct streams *s, const char *path,
                             struct cairn_err *err)
{
	const uint32_t flags = CAIRN_FILE_RECORDING | CAIRN_FILE_LAST;
	char *name;
	int rc = 0;

	if ((s->c.flags & flags) != flags || find_checkpoint(&s->c, 0))
		return 0;
	name = xasprintf("%s.last", path);
	if (!access(name, F_OK))
		rc = container_read(&s->last, name, CONTAINER_WHOLE, err);
	free(name);
	return rc;
}

int streams_open(struct streams *s, const char *path, enum container_mode mode,
                 struct cairn_err *err)
{
	int rc;

	*s = (struct streams){0};
	CAIRN_TRY(container_read(&s->c, path, mode, err));
	rc = streams_find_last(s, path, err);
	if (rc < 0) {
		streams_release(s);
		return rc;
	}
	for (size_t i = 0; i < s->c.nchunks; i++) {
		const struct chunk *k = &s->c.chunks[i];
		struct streams_thread *t;
		uint64_t number;
		uint32_t thread;

		if (!streams_is_part(k, &number, &thread))
			continue;
		t = streams_thread(s, thread);
		VEC_RESERVE(t->parts, t->nparts, t->parts_cap);
		t->parts[t->nparts++] = (struct streams_part){number, k};
	}
	if (s->nthreads)
		qsort(s->threads, s->nthreads, sizeof(*s->threads),
		      streams_by_id);
	for (size_t i = 0; i < s->nthreads; i++) {
		rc = streams_sort(s, &s->threads[i], err);
		if (rc < 0) {
			streams_release(s);
			return rc;
		}
	}
	streams_drop_gone(s);
	return 0;
}

void streams_release(struct streams *s)
{
	for (size_t i = 0; i < s->nthreads; i++)
		free(s->threads[i].parts);
	free(s->threads);
	container_release(&s->last);
	container_release(&s->c);
	*s = (struct streams){0};
}

static int streams_unpack(const struct streams *s, const struct chunk *k,
                          unsigned char **memory, size_t *capacity,
                          struct cairn_err *err)
{
	size_t n;

	if (k->aux1 > k->size || k->n > STREAMS_PART_MAX)
		return cairn_corrupt(
		        err, s->c.name, k->offset,
		        "impossible sizes of a part of a trace; copy the file "
		        "again, or run the program again");
	if (*capacity < k->n) {
		free(*memory);
		*memory = xmalloc((size_t)k->n);
		*capacity = (size_t)k->n;
	}
	n = ZSTD_decompress(*memory, (size_t)k->n, k->payload, (size_t)k->aux1);
	if (ZSTD_isError(n) || n != k->n)
		return cairn_corrupt(
		        err, s->c.name, k->offset,
		        "a part of the trace cannot be unpacked; copy the file "
		        "again, or run the program again");
	return 0;
}

/* The part of a recording as its context left it. */
static int streams_counted(const struct streams *s, const struct chunk *k,
                           const unsigned char **bytes, size_t *nbytes,
                           struct cairn_err *err)
{
	uint64_t n = k->size < CAIRN_STREAM_COUNT_SIZE
	                     ? UINT64_MAX
	                     : get_le64(k->payload) >> 1;

	if (n > k->size - CAIRN_STREAM_COUNT_SIZE)
		return cairn_corrupt(err, s->c.name, k->offset,
		                     "impossible length of a part of a "
		                     "recording; copy the file again, or run "
		                     "the program again");
	*bytes = k->payload + CAIRN_STREAM_COUNT_SIZE;
	*nbytes = (size_t)n;
	return 0;
}

int streams_load(const struct streams *s, const struct streams_part *part,
                 unsigned char **memory, size_t *capacity,
                 const unsigned char **bytes, size_t *nbytes,
                 struct cairn_err *err)
{
	const struct chunk *k = part->chunk;

	if (k->verified && crc32c(0, k->payload, (size_t)k->size) != k->crc)
		return cairn_corrupt(err, s->c.name, k->offset,
		                     "the checksum of a part of the trace is "
		                     "wrong; copy the file again, or run the "
		                     "program again");
	if (k->type == CAIRN_CHUNK_STREAM && k->aux1 == CAIRN_STREAM_COUNTED)
		return streams_counted(s, k, bytes, nbytes, err);
	if (k->type == CAIRN_CHUNK_STREAM) {
		*bytes = k->payload;
		*nbytes = (size_t)k->size;
		return 0;
	}
	CAIRN_TRY(streams_unpack(s, k, memory, capacity, err));
	*bytes = *memory;
	*nbytes = (size_t)k->n;
	return 0;
}
