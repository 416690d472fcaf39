/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with what a context has at a moment of its replay: a head, and in one
 * zstd frame what is long: frames, the cells of all modules, pages of memory.
 *
 *      0  "CAIRNCP1"
 *      8  u32 crc32c of all that follows, u32 length of the head
 *     16  u64 key, u64 context, u64 tick, u64 events, 6 u64 place in the log
 *     96  u64 env, u64 order, u64 flags, 8 u64 words of the record
 *    184  u32 hash of memory and cells, u32 0
 *    192  u64 bytes of frames, u64 bytes of all in the zstd frame
 *    208  u64 modules that have cells here, u64 a hash of what they are
 *    224  zstd: frames; per module its cells; then pages, each with its place
 *         before it, | 1 if it says what was seen, and in the end a place of 0
 *
 * They are a cache: nobody but the cairn that wrote them reads them, and one
 * that is damaged, or another recording's, counts as absent.  A recording whose
 * oldest part was dropped has some inside, which only the same version of cairn
 * reads.
 *
 * Invariant: a file gets its name when it is whole (replay/broker.h).
 * Cost: zstd at its fastest, of all memory that is not zeros.
 */
#include "replay/checkpoint.h"

#include "abi/crc32c.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/recording.h"
#include "replay/broker.h"
#include "replay/program.h"
#include "replay/rewrite.h"
#include "replay/shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define MAGIC "CAIRNCP1"
#define AT_CRC 8
#define AT_COVERED 12 /* by the crc, from here on */
#define AT_KEY 16
#define AT_HASH 184
#define HEAD 224u
#define BUFFER ((size_t)1 << 17)
#define FLAG_FORGOTTEN 1u
#define FLAG_SEEN 2u
#define PLACE_SEEN 1u

enum {
	WORD_KEY,
	WORD_CONTEXT,
	WORD_TICK,
	WORD_EVENTS,
	WORD_MARK, /* 6 */
	WORD_ENV = 10,
	WORD_ORDER,
	WORD_FLAGS,
	WORD_RECORD, /* 8 */
	WORD_HASH = 21,
	WORD_FRAMES,
	WORD_RAW,
	WORD_NMODULES,
	WORD_MODULES,
	NWORDS
};

_Static_assert(AT_KEY + 8 * NWORDS == HEAD, "the head has all words");
_Static_assert(AT_KEY + 8 * WORD_HASH == AT_HASH, "as it is described");

/* Replay code takes from a frame what its function has at a point, whatever the
 * length of the frame: behind the last one are zeros. */
#define BEHIND ((size_t)64 << 20)

static void drop_frames(struct checkpoint *c)
{
	if (c->frames)
		munmap(c->frames, c->moment.nframes + BEHIND);
	c->frames = NULL;
}

static bool take_frames(struct checkpoint *c)
{
	void *p;

	drop_frames(c);
	if (c->moment.nframes > SIZE_MAX - BEHIND)
		return false;
	p = mmap(NULL, c->moment.nframes + BEHIND, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	c->moment.frames = c->frames = p;
	return true;
}

void checkpoint_release(struct checkpoint *c)
{
	free(c->name);
	drop_frames(c);
	*c = (struct checkpoint){0};
}

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n--)
		h = (h ^ *p++) * UINT64_C(0x100000001b3);
	return h;
}

/* Those with the first n numbers: more may have been loaded since. */
static uint64_t hash_modules(const struct recording *r, uint64_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < n; i++) {
		const struct recording_module *m = recording_module(r, i);

		if (!m)
			continue;
		h = mix(h, m->id, m->nid);
		h = mix(h, &m->bias, sizeof(m->bias));
		h = mix(h, &m->ncells, sizeof(m->ncells));
	}
	return h;
}

uint64_t checkpoint_version(void)
{
	const uint64_t own[] = {REWRITE_VERSION, HEAD};
	uint64_t h = mix(UINT64_C(0xcbf29ce484222325), own, sizeof(own));

	return mix(h, CAIRN_VERSION, strlen(CAIRN_VERSION));
}

uint64_t checkpoint_key(const struct recording *r)
{
	const uint64_t own[] = {r->s.c.start, r->s.c.size, r->ncontexts};
	uint64_t h = mix(checkpoint_version(), own, sizeof(own));

	for (size_t i = 0; i < r->nmodules; i++) {
		const struct recording_module *m = &r->modules[i];

		h = mix(h, m->id, m->nid);
		h = mix(h, &m->bias, sizeof(m->bias));
	}
	return h;
}

/* --- memory --------------------------------------------------------------- */

/* Who sees all that is long. */
struct sink {
	int (*put)(struct sink *s, const void *data, size_t n);
	bool has_seen;
	uint32_t hash; /* without what was seen */
};

static int put(struct sink *s, const void *data, size_t n)
{
	s->hash = crc32c(s->hash, data, n);
	return s->put(s, data, n);
}

static int put_page(void *sink, uint64_t at, const unsigned char *page)
{
	struct sink *s = sink;
	unsigned char place[8];

	if (s->has_seen && !shadow_has_contents(at)) {
		put_le64(place, at | PLACE_SEEN);
		CAIRN_TRY(s->put(s, place, sizeof(place)));
		return s->put(s, page, SHADOW_PAGE);
	}
	put_le64(place, at);
	CAIRN_TRY(put(s, place, sizeof(place)));
	return put(s, page, SHADOW_PAGE);
}

/* Without those at the end whose cells are all zeros. */
static uint32_t count_modules(const struct program *p)
{
	for (uint32_t n = p->nmodules; n; n--) {
		const struct program_module *m = &p->modules[n - 1];
		const uint64_t *cells = (const uint64_t *)(uintptr_t)m->cells;

		for (uint64_t i = 0; i < m->ncells; i++)
			if (cells[i])
				return n;
	}
	return 0;
}

static int put_all(struct sink *s, const struct program *p)
{
	uint32_t n = count_modules(p);

	for (uint32_t i = 0; i < n; i++)
		CAIRN_TRY(put(s, (void *)(uintptr_t)p->modules[i].cells,
		              8 * p->modules[i].ncells));
	return shadow_each_page(put_page, s);
}

static int ignore(struct sink *s, const void *data, size_t n)
{
	(void)s;
	(void)data;
	(void)n;
	return 0;
}

uint32_t checkpoint_hash(const struct program *p, bool has_seen)
{
	struct sink s = {ignore, has_seen, 0};

	put_all(&s, p);
	return s.hash;
}

/* --- writing -------------------------------------------------------------- */

struct writer {
	struct sink sink;
	int fd;
	uint64_t raw, size;
	uint32_t crc; /* of what was written */
	ZSTD_CCtx *z;
	unsigned char buffer[BUFFER];
};

static int write_all(struct writer *w, const unsigned char *p, size_t n)
{
	w->crc = crc32c(w->crc, p, n);
	w->size += n;
	while (n) {
		ssize_t k = write(w->fd, p, n);

		if (k <= 0)
			return CAIRN_E_SYSTEM;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

static int pack(struct writer *w, const void *data, size_t n,
                ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, n, 0};
	size_t rest;

	do {
		ZSTD_outBuffer out = {w->buffer, BUFFER, 0};

		rest = ZSTD_compressStream2(w->z, &out, &in, end);
		if (ZSTD_isError(rest))
			return CAIRN_E_SYSTEM;
		CAIRN_TRY(write_all(w, w->buffer, out.pos));
	} while (end == ZSTD_e_end ? rest > 0 : in.pos < in.size);
	return 0;
}

static int put_packed(struct sink *s, const void *data, size_t n)
{
	struct writer *w = (struct writer *)s;

	w->raw += n;
	return pack(w, data, n, ZSTD_e_continue);
}

static void make_head(unsigned char *head, const struct writer *w,
                      const struct checkpoint_place *at,
                      const struct engine_moment *m)
{
	uint32_t nmodules = count_modules(at->program);
	uint64_t words[NWORDS] = {
	        [WORD_KEY] = at->key,
	        [WORD_CONTEXT] = at->context,
	        [WORD_TICK] = m->tick,
	        [WORD_EVENTS] = m->nevents,
	        [WORD_ENV] = m->env,
	        [WORD_ORDER] = m->order,
	        [WORD_FLAGS] = (m->has_forgotten ? FLAG_FORGOTTEN : 0) |
	                       (m->has_seen ? FLAG_SEEN : 0),
	        [WORD_HASH] = w->sink.hash,
	        [WORD_FRAMES] = m->nframes,
	        [WORD_RAW] = w->raw,
	        [WORD_NMODULES] = nmodules,
	        [WORD_MODULES] = hash_modules(at->recording, nmodules),
	};

	memcpy(&words[WORD_MARK], &m->mark, sizeof(m->mark));
	memcpy(&words[WORD_RECORD], m->record, sizeof(m->record));
	memcpy(head, MAGIC, 8);
	put_le32(head + AT_CRC, 0);
	put_le32(head + AT_COVERED, HEAD);
	for (size_t i = 0; i < NWORDS; i++)
		put_le64(head + AT_KEY + 8 * i, words[i]);
}

/* The head is known when all else has been written; so is its crc, which is
 * that of both together. */
static int write_file(struct writer *w, const struct checkpoint_place *at,
                      const struct engine_moment *m)
{
	static const unsigned char end[8];
	unsigned char head[HEAD] = {0};
	uint32_t crc;

	CAIRN_TRY(write_all(w, head, HEAD));
	w->crc = 0;
	CAIRN_TRY(pack(w, m->frames, m->nframes, ZSTD_e_continue));
	w->raw = m->nframes;
	CAIRN_TRY(put_all(&w->sink, at->program));
	CAIRN_TRY(pack(w, end, sizeof(end), ZSTD_e_end));
	w->raw += sizeof(end);
	make_head(head, w, at, m);
	crc = crc32c(w->crc, head + AT_COVERED, HEAD - AT_COVERED);
	put_le32(head + AT_CRC, crc);
	return pwrite(w->fd, head, HEAD, 0) == (ssize_t)HEAD ? 0
	                                                     : CAIRN_E_SYSTEM;
}

int checkpoint_write(const struct checkpoint_place *at,
                     const struct engine_moment *m)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int rc = CAIRN_E_SYSTEM;

	w->sink.put = put_packed;
	w->sink.has_seen = m->has_seen;
	w->fd = at->fd;
	w->z = ZSTD_createCCtx();
	if (w->z && !ftruncate(w->fd, 0) && !lseek(w->fd, 0, SEEK_SET)) {
		ZSTD_CCtx_setParameter(w->z, ZSTD_c_compressionLevel, 1);
		rc = write_file(w, at, m);
	}
	ZSTD_freeCCtx(w->z);
	free(w);
	return rc;
}

/* --- reading -------------------------------------------------------------- */

static uint64_t word(const unsigned char *head, size_t i)
{
	return get_le64(head + AT_KEY + 8 * i);
}

static void take_head(struct checkpoint *c, const unsigned char *head)
{
	struct engine_moment *m = &c->moment;
	uint64_t flags = word(head, WORD_FLAGS);
	uint64_t mark[6];

	for (size_t i = 0; i < 6; i++)
		mark[i] = word(head, WORD_MARK + i);
	for (size_t i = 0; i < CAIRN_RECORD_WORDS; i++)
		m->record[i] = word(head, WORD_RECORD + i);
	memcpy(&m->mark, mark, sizeof(mark));
	c->key = word(head, WORD_KEY);
	c->context = (uint32_t)word(head, WORD_CONTEXT);
	c->hash = (uint32_t)word(head, WORD_HASH);
	c->nraw = word(head, WORD_RAW);
	c->nmodules = word(head, WORD_NMODULES);
	c->modules = word(head, WORD_MODULES);
	m->tick = word(head, WORD_TICK);
	m->nevents = word(head, WORD_EVENTS);
	m->env = word(head, WORD_ENV);
	m->order = word(head, WORD_ORDER);
	m->has_forgotten = flags & FLAG_FORGOTTEN;
	m->has_seen = flags & FLAG_SEEN;
	m->nframes = (size_t)word(head, WORD_FRAMES);
}

bool checkpoint_read(struct checkpoint *c, const char *name, uint64_t key)
{
	int fd = broker_get(BROKER_CHECKPOINTS, name);
	unsigned char head[HEAD];
	struct stat st;
	bool is_fine;

	if (fd < 0)
		return false;
	is_fine = read(fd, head, HEAD) == (ssize_t)HEAD && !fstat(fd, &st) &&
	          !memcmp(head, MAGIC, 8) &&
	          get_le32(head + AT_COVERED) == HEAD &&
	          get_le64(head + AT_KEY) == key;
	close(fd);
	if (!is_fine)
		return false;
	*c = (struct checkpoint){.name = xstrdup(name),
	                         .size = (uint64_t)st.st_size};
	take_head(c, head);
	return true;
}

/* Fails with a sentence for the user. */
static int refuse(const char *name, const char *what, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_VERSION,
	                  "%s: begins with a checkpoint %s", name, what);
}

int checkpoint_take(struct checkpoint *c, const struct recording *r,
                    const struct recording_base *b, const char *name,
                    struct cairn_err *err)
{
	const unsigned char *head = b->bytes;

	if (b->n <= HEAD || memcmp(head, MAGIC, 8) != 0 ||
	    get_le32(head + AT_COVERED) != HEAD ||
	    get_le64(head + AT_KEY) != checkpoint_version())
		return refuse(name,
		              "that another version of cairn wrote; replay it "
		              "with that one",
		              err);
	*c = (struct checkpoint){
	        .name = xstrdup(name), .size = b->n, .bytes = b->bytes};
	take_head(c, head);
	if (c->modules == hash_modules(r, c->nmodules) &&
	    c->moment.tick == b->tick)
		return 0;
	checkpoint_release(c);
	return refuse(name,
	              "of other modules than it has; restore the file, or "
	              "record again",
	              err);
}

/* A file, mapped, or bytes of a recording. */
struct mapping {
	const unsigned char *data;
	size_t size;
	bool is_file;
};

static bool map_file(struct mapping *m, const struct checkpoint *c)
{
	int fd;
	struct stat st;
	void *p = MAP_FAILED;

	if (c->bytes) {
		*m = (struct mapping){c->bytes, (size_t)c->size, false};
		return true;
	}
	fd = broker_get(BROKER_CHECKPOINTS, c->name);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > (off_t)HEAD)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
		         0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	*m = (struct mapping){p, (size_t)st.st_size, true};
	return true;
}

static void unmap_file(struct mapping *m)
{
	if (m->is_file)
		munmap((void *)(uintptr_t)m->data, m->size);
}

bool checkpoint_is_sound(const struct checkpoint *c)
{
	struct mapping m;
	uint32_t crc;

	if (!map_file(&m, c))
		return false;
	crc = crc32c(0, m.data + HEAD, m.size - HEAD);
	crc = crc32c(crc, m.data + AT_COVERED, HEAD - AT_COVERED);
	crc ^= get_le32(m.data + AT_CRC);
	unmap_file(&m);
	return !crc;
}

struct reader {
	struct mapping file;
	ZSTD_DCtx *z;
	ZSTD_inBuffer in;
};

static bool reader_open(struct reader *r, const struct checkpoint *c)
{
	if (!map_file(&r->file, c))
		return false;
	r->z = ZSTD_createDCtx();
	r->in = (ZSTD_inBuffer){r->file.data, r->file.size, HEAD};
	return true;
}

static void reader_close(struct reader *r)
{
	ZSTD_freeDCtx(r->z);
	unmap_file(&r->file);
}

static bool get(struct reader *r, void *to, size_t n)
{
	ZSTD_outBuffer out = {to, n, 0};

	while (out.pos < n) {
		size_t before = out.pos, at = r->in.pos;
		size_t rc = ZSTD_decompressStream(r->z, &out, &r->in);

		if (ZSTD_isError(rc) || (out.pos == before && r->in.pos == at))
			return false;
	}
	return true;
}

static int fail(const struct checkpoint *c, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  c->bytes ? "%s: the checkpoint that it begins with "
	                             "is damaged; restore the file"
	                           : "%s: the checkpoint is damaged; remove it",
	                  c->name);
}

int checkpoint_load(struct checkpoint *c, struct cairn_err *err)
{
	size_t n = c->moment.nframes;
	struct reader r;
	bool is_fine;

	if (n > c->nraw || !checkpoint_is_sound(c) || !take_frames(c) ||
	    !reader_open(&r, c))
		return fail(c, err);
	is_fine = get(&r, c->frames, n);
	reader_close(&r);
	return is_fine ? 0 : fail(c, err);
}

static bool skip(struct reader *r, size_t n)
{
	unsigned char some[4096];

	for (; n; n -= n < sizeof(some) ? n : sizeof(some))
		if (!get(r, some, n < sizeof(some) ? n : sizeof(some)))
			return false;
	return true;
}

static bool get_page(struct reader *r, uint64_t place, bool with_seen)
{
	unsigned char *page;

	if (place & PLACE_SEEN && !with_seen)
		return skip(r, SHADOW_PAGE);
	page = shadow_page(place & ~(uint64_t)PLACE_SEEN);
	return page && get(r, page, SHADOW_PAGE);
}

static bool fill(struct reader *r, const struct checkpoint_filler *f)
{
	const struct program *p = f->p;
	unsigned char place[8];

	if (!skip(r, f->c->moment.nframes))
		return false;
	if (f->c->nmodules > p->nmodules)
		return false;
	for (uint32_t i = 0; i < f->c->nmodules; i++)
		if (!get(r, (void *)(uintptr_t)p->modules[i].cells,
		         8 * p->modules[i].ncells))
			return false;
	while (get(r, place, sizeof(place))) {
		if (!get_le64(place))
			return true;
		if (!get_page(r, get_le64(place), f->with_seen))
			return false;
	}
	return false;
}

int checkpoint_fill(void *filler, struct cairn_err *err)
{
	const struct checkpoint_filler *f = filler;
	struct reader r;
	bool is_fine;

	if (!reader_open(&r, f->c))
		return fail(f->c, err);
	is_fine = fill(&r, f);
	reader_close(&r);
	return is_fine ? 0 : fail(f->c, err);
}
