/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of the .cairn container (docs/FORMAT.md sections 2 to 4).
 *
 * A file is mapped, and its header read first, then its chunks in order.  Those
 * that a running program may still change are copied: who looks at them twice
 * sees the same.  Nothing is believed before it was checked: the fixed part of
 * the header and every chunk header carry a crc32c of their own; payloads that
 * do not change while the program runs carry one too, and those that do get
 * theirs when the program ends (SEALED).
 *
 * Invariant: every chunk handed out lies inside the data, its header checksum
 * is right, its payload is at least as long as its element count says, no two
 * chunks claim to be the same thing, and its module is declared.
 * Breaks when: bytes 128..191 of a file that was not closed are damaged; they
 * have no checksum while the program runs.  LENGTH is bounded by the size of
 * the file, the rest only says how the program ended.
 * Cost: one pass over the bytes; duplicates by sorting, O(n log n).
 */
#include "format/container.h"

#include "abi/crc32c.h"
#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMEDY_COPY "copy it again, or let cairn read what is whole (--partial)"
#define REMEDY_NOTHING "copy it again, or run the program again"
#define REMEDY_DAMAGED "run the program again, or restore the file"

static int truncated(struct container *c, uint64_t at, uint64_t need,
                     struct cairn_err *err)
{
	return cairn_corrupt(
	        err, c->name, at,
	        "truncated, %" PRIu64 " bytes should follow here; %s", need,
	        at < CAIRN_FILE_HEADER_SIZE ? REMEDY_NOTHING : REMEDY_COPY);
}

/* Checks magic, version and the part of the header that never changes. */
static int check_fixed(struct container *c, const unsigned char *h, size_t size,
                       struct cairn_err *err)
{
	size_t n = size < CAIRN_FILE_MAGIC_SIZE ? size : CAIRN_FILE_MAGIC_SIZE;
	uint32_t version;

	if (!size)
		return cairn_corrupt(err, c->name, 0,
		                     "truncated, the file is empty; run the "
		                     "program again");
	if (memcmp(h, CAIRN_FILE_MAGIC, n))
		return cairn_fail(err, CAIRN_E_FOREIGN,
		                  "%s: not a .cairn file; name a file that a "
		                  "program built with cairn-cc wrote",
		                  c->name);
	if (size < CAIRN_HDR_VERSION + 4)
		return truncated(c, size, CAIRN_FILE_HEADER_SIZE - size, err);
	version = get_le32(h + CAIRN_HDR_VERSION);
	if (version && version != CAIRN_FILE_VERSION)
		return cairn_fail(err, CAIRN_E_VERSION,
		                  "%s: format version %" PRIu32
		                  ", this cairn reads version %u; use the "
		                  "cairn that belongs to the cairn-cc that "
		                  "built the program",
		                  c->name, version, CAIRN_FILE_VERSION);
	if (size < CAIRN_FILE_HEADER_SIZE)
		return truncated(c, size, CAIRN_FILE_HEADER_SIZE - size, err);
	if (crc32c(0, h, CAIRN_HDR_CRC) != get_le32(h + CAIRN_HDR_CRC))
		return cairn_corrupt(err, c->name, CAIRN_HDR_CRC,
		                     "the header's checksum is "
		                     "wrong; " REMEDY_DAMAGED);
	if (version != CAIRN_FILE_VERSION ||
	    get_le32(h + CAIRN_HDR_SIZE) != CAIRN_FILE_HEADER_SIZE)
		return cairn_corrupt(err, c->name, CAIRN_HDR_VERSION,
		                     "no such version or header "
		                     "size; " REMEDY_DAMAGED);
	return 0;
}

static int check_state(struct container *c, const unsigned char *h,
                       struct cairn_err *err)
{
	uint32_t crc = crc32c(0, h + CAIRN_HDR_STATE,
	                      CAIRN_HDR_STATE_CRC - CAIRN_HDR_STATE);

	if (c->state > CAIRN_STATE_CLOSED)
		return cairn_corrupt(
		        err, c->name, CAIRN_HDR_STATE,
		        "no such state %" PRIu32 "; " REMEDY_DAMAGED, c->state);
	if (c->state == CAIRN_STATE_CLOSED &&
	    crc != get_le32(h + CAIRN_HDR_STATE_CRC))
		return cairn_corrupt(err, c->name, CAIRN_HDR_STATE_CRC,
		                     "the checksum of the file's state is "
		                     "wrong; " REMEDY_DAMAGED);
	if (c->length < CAIRN_FILE_HEADER_SIZE)
		return cairn_corrupt(err, c->name, CAIRN_HDR_LENGTH,
		                     "the length does not even hold the "
		                     "header; " REMEDY_DAMAGED);
	return 0;
}

static int parse_header(struct container *c, const unsigned char *h,
                        size_t size, struct cairn_err *err)
{
	CAIRN_TRY(check_fixed(c, h, size, err));
	c->kind = get_le32(h + CAIRN_HDR_KIND);
	c->pid = get_le32(h + CAIRN_HDR_PID);
	c->ppid = get_le32(h + CAIRN_HDR_PPID);
	c->nruns = get_le32(h + CAIRN_HDR_NRUNS);
	c->start = get_le64(h + CAIRN_HDR_START);
	c->last_pid = get_le32(h + CAIRN_HDR_LAST_PID);
	c->last_start = get_le64(h + CAIRN_HDR_LAST_START);
	c->state = get_le32(h + CAIRN_HDR_STATE);
	c->flags = get_le32(h + CAIRN_HDR_FLAGS);
	c->length = get_le64(h + CAIRN_HDR_LENGTH);
	c->end = get_le64(h + CAIRN_HDR_END);
	c->how = get_le32(h + CAIRN_HDR_HOW);
	c->signal = get_le32(h + CAIRN_HDR_SIGNAL);
	c->unwalked = get_le32(h + CAIRN_HDR_UNWALKED);
	if (c->kind != CAIRN_KIND_PROFILE)
		return cairn_fail(err, CAIRN_E_VERSION,
		                  "%s: kind %" PRIu32
		                  " of .cairn file, which this cairn does not "
		                  "know; use a newer cairn",
		                  c->name, c->kind);
	return check_state(c, h, err);
}

/* Bytes that n elements of this type need at least; false if too many. */
static bool payload_holds(const struct chunk *k)
{
	uint64_t head =
	        k->type == CAIRN_CHUNK_ORDER ? CAIRN_ORDER_HEAD_SIZE : 0;
	uint64_t unit = k->type == CAIRN_CHUNK_COUNTS     ? 8
	                : k->type == CAIRN_CHUNK_FRAMES   ? CONTAINER_FRAME_SLOT
	                : k->type == CAIRN_CHUNK_PATHS    ? 1
	                : k->type == CAIRN_CHUNK_CALLS    ? CAIRN_CALLS_SLOT
	                : k->type == CAIRN_CHUNK_PLACED   ? CAIRN_PLACED_SLOT
	                : k->type == CAIRN_CHUNK_FOREST   ? CAIRN_FOREST_SLOT
	                : k->type == CAIRN_CHUNK_NODES    ? CAIRN_NODE_SIZE
	                : k->type == CAIRN_CHUNK_ORDER    ? CAIRN_ORDER_RECORD
	                : k->type == CAIRN_CHUNK_BINDINGS ? CAIRN_BINDING
	                : k->type == CAIRN_CHUNK_RUNS     ? 8
	                                                  : 0;

	if (k->type == CAIRN_CHUNK_CHECKPOINT && k->id) {
		head = CAIRN_CHECKPOINT_HEAD;
		unit = 1;
	}

	return k->size >= head && (!unit || k->n <= (k->size - head) / unit);
}

/* Parts of a trace are checked when they are read: there may be gigabytes. */
static bool is_part(uint32_t type)
{
	return type == CAIRN_CHUNK_STREAM || type == CAIRN_CHUNK_PACKED;
}

static bool is_live_type(uint32_t type)
{
	return type == CAIRN_CHUNK_STREAM || type == CAIRN_CHUNK_COUNTS ||
	       type == CAIRN_CHUNK_FRAMES || type == CAIRN_CHUNK_PATHS ||
	       type == CAIRN_CHUNK_ORDER || type == CAIRN_CHUNK_CALLS ||
	       type == CAIRN_CHUNK_FOREST || type == CAIRN_CHUNK_NODES;
}

static bool is_known_option(uint32_t type)
{
	return type == CAIRN_CHUNK_ORDER || type == CAIRN_CHUNK_SOURCES ||
	       type == CAIRN_CHUNK_BINDINGS || type == CAIRN_CHUNK_RUNS;
}

/* Checks the flags and, where there is one, the payload's checksum. */
static int check_payload(struct container *c, struct chunk *k,
                         const unsigned char *h, struct cairn_err *err)
{
	uint32_t flags = get_le32(h + CAIRN_CHK_FLAGS);
	uint32_t crc = get_le32(h + CAIRN_CHK_PAYLOAD_CRC);

	if (flags & ~(CAIRN_CHUNK_LIVE | CAIRN_CHUNK_SEALED) ||
	    ((flags & CAIRN_CHUNK_LIVE) && !is_live_type(k->type)))
		return cairn_corrupt(err, c->name, k->offset + CAIRN_CHK_FLAGS,
		                     "impossible chunk "
		                     "flags; " REMEDY_DAMAGED);
	k->verified = flags != CAIRN_CHUNK_LIVE;
	k->crc = crc;
	if (k->verified && !is_part(k->type) &&
	    crc32c(0, k->payload, (size_t)k->size) != crc)
		return cairn_corrupt(err, c->name, k->offset,
		                     "the checksum of this chunk is "
		                     "wrong; " REMEDY_DAMAGED);
	if (!payload_holds(k))
		return cairn_corrupt(err, c->name, k->offset + CAIRN_CHK_N,
		                     "the chunk is too short for its %" PRIu64
		                     " elements; " REMEDY_DAMAGED,
		                     k->n);
	return 0;
}

static int check_chunk_header(struct container *c, const unsigned char *h,
                              uint64_t at, struct cairn_err *err)
{
	uint64_t length = get_le64(h + CAIRN_CHK_LENGTH);

	if (get_le32(h + CAIRN_CHK_MAGIC) != CAIRN_CHUNK_MAGIC)
		return cairn_corrupt(err, c->name, at,
		                     "no chunk begins here; " REMEDY_DAMAGED);
	if (crc32c(0, h, CAIRN_CHK_FLAGS) != get_le32(h + CAIRN_CHK_HEADER_CRC))
		return cairn_corrupt(err, c->name, at + CAIRN_CHK_HEADER_CRC,
		                     "the checksum of the chunk's header is "
		                     "wrong; " REMEDY_DAMAGED);
	if (length < CAIRN_CHUNK_HEADER_SIZE || length % 8 ||
	    length > c->length - at)
		return cairn_corrupt(err, c->name, at + CAIRN_CHK_LENGTH,
		                     "impossible chunk length %" PRIu64
		                     "; " REMEDY_DAMAGED,
		                     length);
	return 0;
}

/* Takes over the chunk at `at`, whose header h and length were checked. */
static int add_chunk(struct container *c, const unsigned char *h,
                     const unsigned char *data, uint64_t at,
                     struct cairn_err *err)
{
	struct chunk k = {
	        .type = get_le32(h + CAIRN_CHK_TYPE),
	        .id = get_le32(h + CAIRN_CHK_ID),
	        .module = get_le32(h + CAIRN_CHK_MODULE),
	        .n = get_le64(h + CAIRN_CHK_N),
	        .aux0 = get_le64(h + CAIRN_CHK_AUX0),
	        .aux1 = get_le64(h + CAIRN_CHK_AUX1),
	        .offset = at,
	        .payload = data + CAIRN_CHUNK_HEADER_SIZE,
	        .size = get_le64(h + CAIRN_CHK_LENGTH) -
	                CAIRN_CHUNK_HEADER_SIZE,
	};

	if (k.type & CAIRN_CHUNK_OPTIONAL && !is_known_option(k.type)) {
		c->nskipped++;
		return 0;
	}
	if (!is_known_option(k.type) &&
	    (k.type < CAIRN_CHUNK_PROGRAM || k.type > CAIRN_CHUNK_CHECKPOINT ||
	     k.type == (CAIRN_CHUNK_SOURCES & ~CAIRN_CHUNK_OPTIONAL) ||
	     k.type == (CAIRN_CHUNK_ORDER & ~CAIRN_CHUNK_OPTIONAL)))
		return cairn_fail(err, CAIRN_E_VERSION,
		                  "%s: has a chunk of type %" PRIu32
		                  " at byte %" PRIu64
		                  ", which this cairn does not know; use a "
		                  "newer cairn",
		                  c->name, k.type, at);
	CAIRN_TRY(check_payload(c, &k, h, err));
	VEC_RESERVE(c->chunks, c->nchunks, c->cap);
	c->chunks[c->nchunks++] = k;
	return 0;
}

static int parse_chunks(struct container *c, const unsigned char *data,
                        size_t size, enum container_mode mode,
                        struct cairn_err *err)
{
	uint64_t at = CAIRN_FILE_HEADER_SIZE;

	while (at < c->length) {
		uint64_t left = size > at ? size - at : 0;
		uint64_t need = CAIRN_CHUNK_HEADER_SIZE;
		unsigned char h[CAIRN_CHUNK_HEADER_SIZE];

		if (c->length - at < need)
			return cairn_corrupt(err, c->name, at,
			                     "bytes behind the last "
			                     "chunk; " REMEDY_DAMAGED);
		if (left >= need) {
			memcpy(h, data + at, sizeof(h));
			CAIRN_TRY(check_chunk_header(c, h, at, err));
			need = get_le64(h + CAIRN_CHK_LENGTH);
		}
		if (left < need) {
			c->truncated = true;
			c->cut = at;
			return mode == CONTAINER_PARTIAL
			               ? 0
			               : truncated(c, at, need, err);
		}
		CAIRN_TRY(add_chunk(c, h, data + at, at, err));
		at += need;
	}
	return 0;
}

/* Orders chunks by what they claim to be; tables of frames and of paths may
 * repeat, and so may parts of the order. */
static int by_identity(const void *a, const void *b)
{
	const struct chunk *x = *(const struct chunk *const *)a;
	const struct chunk *y = *(const struct chunk *const *)b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool same_identity(const struct chunk *x, const struct chunk *y)
{
	return x->type == y->type && x->type != CAIRN_CHUNK_FRAMES &&
	       x->type != CAIRN_CHUNK_PLACED && !is_part(x->type) &&
	       x->type != CAIRN_CHUNK_PATHS && x->type != CAIRN_CHUNK_ORDER &&
	       x->type != CAIRN_CHUNK_CALLS && x->type != CAIRN_CHUNK_FOREST &&
	       x->type != CAIRN_CHUNK_NODES &&
	       x->type != CAIRN_CHUNK_BINDINGS &&
	       (x->type == CAIRN_CHUNK_PROGRAM ||
	        (x->module == y->module &&
	         ((x->type != CAIRN_CHUNK_COUNTS &&
	           x->type != CAIRN_CHUNK_CHECKPOINT) ||
	          x->id == y->id)));
}

static const struct chunk *find_module(struct chunk **sorted, size_t n,
                                       uint32_t module)
{
	for (size_t lo = 0, hi = n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;
		const struct chunk *k = sorted[mid];

		if (k->type == CAIRN_CHUNK_MODULE && k->module == module)
			return k;
		if (k->type < CAIRN_CHUNK_MODULE ||
		    (k->type == CAIRN_CHUNK_MODULE && k->module < module))
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static int check_chunk_set(struct container *c, struct chunk **sorted,
                           struct cairn_err *err)
{
	for (size_t i = 0; i < c->nchunks; i++) {
		const struct chunk *k = sorted[i], *m;

		if (i && same_identity(sorted[i - 1], k))
			return cairn_corrupt(
			        err, c->name, k->offset,
			        "the same chunk as at byte %" PRIu64
			        " once more; " REMEDY_DAMAGED,
			        sorted[i - 1]->offset);
		if (k->type == CAIRN_CHUNK_MODULE && !k->module)
			return cairn_corrupt(err, c->name, k->offset,
			                     "modules are numbered from "
			                     "1; " REMEDY_DAMAGED);
		if (k->type != CAIRN_CHUNK_COUNTS &&
		    k->type != CAIRN_CHUNK_MAP &&
		    k->type != CAIRN_CHUNK_PATHS &&
		    k->type != CAIRN_CHUNK_BINDINGS)
			continue;
		m = find_module(sorted, c->nchunks, k->module);
		if (!m || (k->type == CAIRN_CHUNK_COUNTS && m->n != k->n))
			return cairn_corrupt(
			        err, c->name, k->offset,
			        "belongs to module %" PRIu32
			        ", which is not in the file or has another "
			        "number of counters; " REMEDY_DAMAGED,
			        k->module);
	}
	return 0;
}

static int check_relations(struct container *c, struct cairn_err *err)
{
	struct chunk **sorted = xmalloc(c->nchunks * sizeof(struct chunk *));
	int rc;

	for (size_t i = 0; i < c->nchunks; i++)
		sorted[i] = &c->chunks[i];
	qsort(sorted, c->nchunks, sizeof(*sorted), by_identity);
	rc = check_chunk_set(c, sorted, err);
	free(sorted);
	return rc;
}

int container_parse(struct container *c, const char *name,
                    const unsigned char *data, size_t size,
                    enum container_mode mode, struct cairn_err *err)
{
	int rc;

	*c = (struct container){.name = xstrdup(name)};
	rc = parse_header(c, data, size, err);
	if (!rc)
		rc = parse_chunks(c, data, size, mode, err);
	if (!rc)
		rc = check_relations(c, err);
	if (rc)
		container_release(c);
	return rc;
}

static int map_all(int fd, const char *path, unsigned char **data, size_t *size,
                   struct cairn_err *err)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st))
		return cairn_fail(err, CAIRN_E_SYSTEM, "%s: %s", path,
		                  strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cairn_fail(err, CAIRN_E_FOREIGN,
		                  "%s: not a regular file; name a .cairn file",
		                  path);
	*data = NULL;
	*size = (size_t)st.st_size;
	if (!*size)
		return 0;
	p = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: cannot map it into memory: %s", path,
		                  strerror(errno));
	*data = p;
	return 0;
}

/* What may change while it is looked at: payloads without a checksum. */
static void copy_live(struct container *c)
{
	size_t size = 0;

	for (size_t i = 0; i < c->nchunks; i++)
		if (!c->chunks[i].verified)
			size += (size_t)c->chunks[i].size;
	c->live = xmalloc(size + 1);
	size = 0;
	for (size_t i = 0; i < c->nchunks; i++) {
		struct chunk *k = &c->chunks[i];

		if (k->verified)
			continue;
		memcpy(c->live + size, k->payload, (size_t)k->size);
		k->payload = c->live + size;
		size += (size_t)k->size;
	}
}

static int read_as(struct container *c, const char *path, const char *name,
                   enum container_mode mode, struct cairn_err *err)
{
	unsigned char *data;
	size_t size;
	int fd, rc;

	*c = (struct container){0};
	fd = files_open(path);
	if (fd < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: cannot open: %s; check the name and its "
		                  "permissions",
		                  path, strerror(errno));
	rc = map_all(fd, name, &data, &size, err);
	close(fd);
	if (rc)
		return rc;
	rc = container_parse(c, name, data, size, mode, err);
	if (rc) {
		if (data)
			munmap(data, size);
		return rc;
	}
	c->data = data;
	c->size = size;
	copy_live(c);
	return 0;
}

int container_read_plain(struct container *c, const char *path,
                         enum container_mode mode, struct cairn_err *err)
{
	return read_as(c, path, path, mode, err);
}

static container_replay replayer;

void container_replay_with(container_replay replay)
{
	replayer = replay;
}

int container_read(struct container *c, const char *path,
                   enum container_mode mode, struct cairn_err *err)
{
	char *trace;
	int rc;

	CAIRN_TRY(read_as(c, path, path, mode, err));
	if (!(c->flags & CAIRN_FILE_RECORDING) || !replayer)
		return 0;
	container_release(c);
	CAIRN_TRY(replayer(path, mode, &trace, err));
	rc = read_as(c, trace, path, mode, err);
	free(trace);
	return rc;
}

void container_release(struct container *c)
{
	free(c->name);
	free(c->chunks);
	free(c->live);
	if (c->data)
		munmap(c->data, c->size);
	*c = (struct container){0};
}

int container_check_run(const struct container *c, struct cairn_err *err)
{
	for (size_t i = 0; i < c->nchunks; i++)
		if (c->chunks[i].type == CAIRN_CHUNK_MODULE)
			return 0;
	if (c->truncated) /* its modules may be behind the cut */
		return 0;
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%s: is an empty run: its process ended before it "
	                  "counted anything, or has only just begun; name "
	                  "another file, or run the program again",
	                  c->name);
}
