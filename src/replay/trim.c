/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest part of a recording, with checkpoints to begin at.
 *
 * Parts of logs are in the file in the order in which they were filled, over
 * all contexts, and those that were not packed are the newest: from the end on,
 * as many are kept as `size` allows.  A context that ended before is dropped.
 * One that has older parts is replayed up to the first moment with no more log
 * behind it, where a checkpoint is made.  Frames cannot be written at every
 * moment; in case there is none behind that, checkpoints are made at two
 * earlier ones, too, and the last that could be made counts.
 *
 * What a child of fork has before its checkpoint is its parents': it begins at
 * a checkpoint of its own as soon as it can, so that it needs them no more.
 *
 * Invariant: of each context the log from its checkpoint on is kept as it is;
 * a context without one is kept from its beginning.
 * Cost: a replay that notes what is seen, up to there; a look at each event.
 */
#include "replay/trim.h"

#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/writer.h"
#include "replay/broker.h"
#include "replay/checkpoint.h"
#include "replay/engine.h"
#include "replay/keeper.h"
#include "replay/meter.h"
#include "replay/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#define KEPT_MIN 4096u /* of a context that lives on, with no room left */
#define IS_NEWEST ((uint64_t)1 << 63)
#define LEVEL 3
#define NTRIES 64u /* of moments in a row that cannot be written */

/* How much more log than wanted may be behind a moment, if there is no better
 * one. */
static const uint64_t slack[TRIM_NWANTED] = {16, 2, 1};

/* --- what is kept --------------------------------------------------------- */

static void add_part(struct trim *t, size_t context,
                     const struct streams_part *part)
{
	const struct chunk *k = part->chunk;
	bool is_packed = k->type == CAIRN_CHUNK_PACKED;
	struct trim_part p = {
	        .part = part,
	        .context = (uint32_t)context,
	        .age = is_packed ? k->offset : IS_NEWEST | k->offset,
	};

	if (is_packed) {
		p.size = CAIRN_CHUNK_HEADER_SIZE + k->size;
		p.raw = k->n;
	} else if (k->size >= CAIRN_STREAM_COUNT_SIZE) {
		p.raw = get_le64(k->payload) >> 1;
		p.size = p.raw;
	}
	VEC_RESERVE(t->parts, t->nparts, t->parts_cap);
	t->parts[t->nparts++] = p;
	t->nlog += p.size;
	t->cuts[context].nlog += p.raw;
}

static int by_age(const void *a, const void *b)
{
	const struct trim_part *x = a, *y = b;

	return x->age > y->age ? -1 : x->age < y->age;
}

/* The newest; of the part where the room ends as much as fits. */
static void choose(struct trim *t, uint64_t size)
{
	const struct recording *r = &t->session->recording;

	t->cuts = xcalloc(r->ncontexts + 1, sizeof(*t->cuts));
	for (size_t i = 0; i < r->ncontexts; i++) {
		const struct streams_thread *s = r->contexts[i].stream;

		t->cuts[i].context = &r->contexts[i];
		for (size_t k = 0; k < s->nparts; k++)
			add_part(t, i, &s->parts[k]);
	}
	if (t->nparts)
		qsort(t->parts, t->nparts, sizeof(*t->parts), by_age);
	for (size_t i = 0; i < t->nparts; i++) {
		const struct trim_part *p = &t->parts[i];
		uint64_t n = p->size < size ? p->size : size;

		if (p->size)
			t->cuts[p->context].nkept +=
			        n == p->size ? p->raw
			                     : (uint64_t)((double)p->raw *
			                                  (double)n /
			                                  (double)p->size);
		size -= n;
	}
}

void trim_leave_live(struct session *s)
{
	struct recording *r = &s->recording;

	for (size_t i = 0; i < r->s.nthreads; i++) {
		struct streams_thread *x = &r->s.threads[i];
		size_t n = 0;

		while (n < x->nparts &&
		       x->parts[n].chunk->type == CAIRN_CHUNK_PACKED)
			n++;
		x->is_live = n < x->nparts;
		x->nparts = n;
	}
}

/* --- moments -------------------------------------------------------------- */

static bool is_end(const struct recording_event *e)
{
	return e->kind == CAIRN_EVENT_OTHER && e->what == CAIRN_OTHER_END;
}

/* Up to where the log may be dropped, but for `times` as much as is wanted. */
static uint64_t position_of(const struct trim_cut *c, uint64_t times)
{
	uint64_t first = c->context->base.place.position;
	uint64_t n = c->nkept ? c->nkept : KEPT_MIN;

	/* a child of fork that is kept whole begins where it can */
	if (c->nkept >= c->nlog || n > c->nlog / times)
		return first;
	return first + c->nlog - n * times;
}

/* Its beginning is no gain, but for a child of fork. */
static void want(struct trim_cut *c, uint64_t times, uint64_t tick)
{
	const struct recording_context *x = c->context;

	if ((position_of(c, times) == x->base.place.position &&
	     (!x->is_forked || x->base.bytes)) ||
	    (c->nwanted && c->wanted[c->nwanted - 1] == tick))
		return;
	c->wanted[c->nwanted++] = tick;
}

/* The ticks of the first events from these positions on. */
static int find_wanted(const struct recording *r, struct trim_cut *c,
                       struct cairn_err *err)
{
	struct recording_event e = {0};
	struct recording_log l;
	size_t i = 0;
	int rc;

	recording_log_init(&l, r, c->context);
	for (;;) {
		uint64_t position = l.position;

		rc = recording_next_event(&l, &e, err);
		if (rc <= 0)
			break;
		for (; i < TRIM_NWANTED && position >= position_of(c, slack[i]);
		     i++)
			want(c, slack[i], e.tick);
	}
	c->has_ended = rc == 0 && is_end(&e) && !c->context->stream->is_live;
	recording_log_release(&l);
	return rc;
}

/* Needs it another checkpoint than it has? */
static bool is_to_be_cut(const struct trim_cut *c)
{
	return !c->is_gone && (c->nkept < c->nlog || (c->context->is_forked &&
	                                              !c->context->base.bytes));
}

static int plan(struct trim *t, struct cairn_err *err)
{
	const struct recording *r = &t->session->recording;

	for (size_t i = 0; i < r->ncontexts; i++) {
		struct trim_cut *c = &t->cuts[i];

		if (!is_to_be_cut(c))
			continue;
		CAIRN_TRY(find_wanted(r, c, err));
		c->is_gone = !c->nkept && c->has_ended;
	}
	return 0;
}

/* --- checkpoints ---------------------------------------------------------- */

/* Who attends. */
struct maker {
	const struct trim *trim;
	struct trim_cut *cut;
	size_t at; /* of those that are wanted */
	unsigned ntries;
	bool has_one;
};

static int write_moment(void *maker, const struct engine_moment *m)
{
	const struct maker *k = maker;
	const struct checkpoint_place at = {
	        k->trim->scratch, checkpoint_version(), k->cut->context->number,
	        &k->trim->session->program, &k->trim->session->recording};

	return checkpoint_write(&at, m);
}

static void note_moment(struct maker *k, const struct engine_moment *m)
{
	k->has_one = true;
	k->cut->base.tick = m->tick;
	k->cut->base.place = (struct recording_place){
	        m->mark.part, m->mark.offset, m->mark.tick, m->mark.cell,
	        m->mark.position};
}

/* The next tick of interest; those that were passed are not. */
static uint64_t next_wanted(struct maker *k, uint64_t tick)
{
	const struct trim_cut *c = k->cut;

	k->ntries = 0;
	while (k->at < c->nwanted && c->wanted[k->at] <= tick)
		k->at++;
	if (k->at == c->nwanted)
		engine_pause();
	return c->wanted[k->at];
}

static uint64_t reached(void *maker, uint64_t tick, bool can_save)
{
	struct maker *k = maker;
	struct engine_moment m;
	int status = 1;
	pid_t child;

	engine_now(&m);
	if (!can_save || m.mark.link)
		return tick + 1;
	child = engine_save(write_moment, k);
	if (!child)
		return tick + 1;
	if (child > 0 && waitpid(child, &status, 0) == child && !status) {
		note_moment(k, &m);
		return next_wanted(k, tick);
	}
	/* where many in a row cannot be written, they get fewer */
	k->ntries++;
	return tick + 1 + (k->ntries > NTRIES ? k->ntries : 0);
}

static int read_scratch(const struct trim *t, struct trim_cut *c,
                        struct cairn_err *err)
{
	size_t at = 0;
	struct stat st;
	ssize_t n = 1;

	if (!fstat(t->scratch, &st)) {
		c->base.n = (size_t)st.st_size;
		c->bytes = xmalloc(c->base.n + 1);
		for (; at < c->base.n && n > 0; at += n > 0 ? (size_t)n : 0)
			n = pread(t->scratch, c->bytes + at, c->base.n - at,
			          (off_t)at);
	}
	c->base.bytes = c->bytes;
	if (c->bytes && at == c->base.n)
		return 0;
	return cairn_fail(err, CAIRN_E_SYSTEM,
	                  "%s: a checkpoint of it cannot be read back; make "
	                  "room in TMPDIR",
	                  t->session->options->file);
}

/* One that is wanted need not be possible: then all of the log is kept. */
static int cut(struct trim *t, struct trim_cut *c, struct cairn_err *err)
{
	struct maker k = {.trim = t, .cut = c};
	struct keeper_list kept;
	struct engine_result result;
	int rc;

	if (!c->nwanted)
		return 0;
	keeper_find(&kept, t->session, c->context, true);
	engine_note_seen();
	engine_attend(reached, c->wanted[0], &k);
	rc = session_run_from(t->session, c->context,
	                      keeper_before(&kept, c->wanted[0]), &result, err);
	engine_attend(NULL, UINT64_MAX, NULL);
	keeper_list_release(&kept);
	if (rc == 0 && result.end == ENGINE_DIVERGED)
		rc = CAIRN_E_MISMATCH;
	if (rc == 0 && k.has_one)
		rc = read_scratch(t, c, err);
	return rc;
}

/* Contexts that are not replayed have no ticks to go. */
static void plan_meter(const struct trim *t)
{
	size_t n = t->session->recording.ncontexts;
	struct meter_part *parts = xcalloc(n + 1, sizeof(*parts));

	for (size_t i = 0; i < n; i++) {
		const struct trim_cut *c = &t->cuts[i];

		parts[i].context = c->context;
		if (is_to_be_cut(c) && c->nwanted)
			parts[i].last = c->wanted[c->nwanted - 1];
	}
	meter_plan(parts, n);
	free(parts);
}

int trim_make(struct trim *t, struct session *s, uint64_t size,
              struct cairn_err *err)
{
	int rc;

	*t = (struct trim){.session = s, .scratch = broker_scratch()};
	if (t->scratch < 0)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: no file can be made for its checkpoint: "
		                  "%s; set TMPDIR to a folder that has room",
		                  s->options->file, strerror(errno));
	choose(t, size);
	rc = plan(t, err);
	if (rc == 0)
		plan_meter(t);
	for (size_t i = 0; rc == 0 && i < s->recording.ncontexts; i++) {
		meter_begin(i);
		if (is_to_be_cut(&t->cuts[i]))
			rc = cut(t, &t->cuts[i], err);
	}
	meter_close();
	if (rc < 0)
		trim_release(t);
	return rc;
}

void trim_release(struct trim *t)
{
	for (size_t i = 0; t->cuts && i < t->session->recording.ncontexts; i++)
		free(t->cuts[i].bytes);
	free(t->cuts);
	free(t->parts);
	if (t->session)
		close(t->scratch);
	*t = (struct trim){0};
}

bool trim_drops(const struct trim *t)
{
	const struct recording *r = &t->session->recording;

	for (size_t i = 0; i < r->ncontexts; i++)
		if (t->cuts[i].is_gone || t->cuts[i].bytes)
			return true;
	return false;
}

/* --- writing -------------------------------------------------------------- */

/* Where a context begins in what is written. */
static const struct recording_base *base_of(const struct trim_cut *c)
{
	return c->bytes ? &c->base : &c->context->base;
}

static void put_checkpoint(struct bytes *out, const struct trim_cut *c,
                           uint64_t part, uint64_t offset)
{
	const struct recording_context *x = c->context;
	const struct recording_base *b = base_of(c);
	struct bytes payload = {0};
	unsigned char *h = bytes_grow(&payload, CAIRN_CHECKPOINT_HEAD);

	memset(h, 0, CAIRN_CHECKPOINT_HEAD);
	put_le32(h + CAIRN_CHECKPOINT_KIND, x->kind);
	put_le32(h + CAIRN_CHECKPOINT_THREAD, x->thread);
	put_le32(h + CAIRN_CHECKPOINT_TID, x->tid);
	put_le32(h + CAIRN_CHECKPOINT_FORKED, x->is_forked);
	put_le32(h + CAIRN_CHECKPOINT_PID, x->parent_pid);
	put_le32(h + CAIRN_CHECKPOINT_CONTEXT, x->parent);
	put_le64(h + CAIRN_CHECKPOINT_AT, x->parent_at);
	put_le64(h + CAIRN_CHECKPOINT_TICK, b->place.tick);
	put_le64(h + CAIRN_CHECKPOINT_CELL, b->place.cell);
	put_le64(h + CAIRN_CHECKPOINT_POSITION, b->place.position);
	put_le64(h + CAIRN_CHECKPOINT_MOMENT, b->tick);
	bytes_put(&payload, b->bytes, b->n);
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_CHECKPOINT,
	                                    .id = x->number,
	                                    .n = b->n,
	                                    .aux0 = part,
	                                    .aux1 = offset},
	             payload.data, payload.n);
	bytes_release(&payload);
}

static void put_all_contexts(struct bytes *out, const struct trim *t)
{
	writer_chunk(out,
	             &(struct writer_chunk){
	                     .type = CAIRN_CHUNK_CHECKPOINT,
	                     .n = t->session->recording.nall,
	             },
	             NULL, 0);
}

static int pack_part(struct bytes *out, const struct trim_part *p,
                     uint64_t number, const unsigned char *bytes, size_t n,
                     struct cairn_err *err)
{
	size_t room = ZSTD_compressBound(n);
	unsigned char *packed = xmalloc(room);
	size_t size = ZSTD_compress(packed, room, bytes, n, LEVEL);

	if (!ZSTD_isError(size))
		writer_part(out, p->context, number, n, packed, size);
	free(packed);
	if (!ZSTD_isError(size))
		return 0;
	return cairn_fail(err, CAIRN_E_LIMIT,
	                  "cannot pack a part of the log: %s",
	                  ZSTD_getErrorName(size));
}

/* A part of which the first bytes are dropped, or that is not packed, is packed
 * anew; others stay as they are. */
static int put_part(struct trim *t, struct bytes *out,
                    const struct trim_part *part, struct cairn_err *err)
{
	const struct trim_cut *c = &t->cuts[part->context];
	const struct recording_place *first = &base_of(c)->place;
	const struct chunk *k = part->part->chunk;
	uint64_t index = (uint64_t)(part->part - c->context->stream->parts);
	struct trim_part p = *part;
	unsigned char *memory = NULL;
	const unsigned char *bytes;
	size_t capacity = 0, n, skip;
	int rc;

	if (c->is_gone || index < first->part)
		return 0;
	skip = index == first->part ? (size_t)first->offset : 0;
	p.context = c->context->number;
	t->nkept += p.size; /* as much of it as counts */
	if (skip && p.raw)
		t->nkept -= (uint64_t)((double)p.size * (double)skip /
		                       (double)p.raw);
	CAIRN_TRY(streams_load(&t->session->recording.s, part->part, &memory,
	                       &capacity, &bytes, &n, err));
	if (skip > n) {
		rc = cairn_corrupt(err, t->session->options->file, k->offset,
		                   "a part of the log is too short");
	} else if (skip || k->type != CAIRN_CHUNK_PACKED) {
		rc = pack_part(out, &p, index - first->part + 1, bytes + skip,
		               n - skip, err);
	} else {
		writer_copy_part(out, k, p.context, index - first->part + 1);
		rc = 0;
	}
	free(memory);
	return rc;
}

/* All that is no log. */
static void put_others(struct bytes *out, const struct container *c)
{
	for (size_t i = 0; i < c->nchunks; i++) {
		const struct chunk *k = &c->chunks[i];

		if (k->type != CAIRN_CHUNK_STREAM &&
		    k->type != CAIRN_CHUNK_PACKED &&
		    k->type != CAIRN_CHUNK_CHECKPOINT)
			writer_copy(out, k);
	}
}

static void put_header(struct bytes *out, const struct container *c,
                       bool is_cut)
{
	struct writer_header h = writer_header_of(c);

	h.flags &= ~CAIRN_FILE_LAST;
	if (is_cut)
		h.flags |= CAIRN_FILE_LAST;
	writer_end(out, &h);
}

uint64_t trim_first_part(const struct trim_cut *c)
{
	const struct streams_thread *s = c->context->stream;

	return s->ndropped + 1 + base_of(c)->place.part;
}

void trim_put_checkpoints(const struct trim *t, struct bytes *out)
{
	put_all_contexts(out, t);
	for (size_t i = 0; i < t->session->recording.ncontexts; i++) {
		const struct trim_cut *c = &t->cuts[i];

		if (!c->is_gone && base_of(c)->bytes)
			put_checkpoint(out, c, trim_first_part(c),
			               base_of(c)->place.offset);
	}
}

void trim_put_header(const struct trim *t, struct bytes *out)
{
	put_header(out, &t->session->recording.s.c, true);
}

int trim_write(struct trim *t, const char *path, struct cairn_err *err)
{
	const struct recording *r = &t->session->recording;
	bool is_cut = r->is_cut || trim_drops(t);
	struct bytes out = {0};
	int rc = 0;

	writer_begin(&out);
	put_others(&out, &r->s.c);
	if (is_cut)
		put_all_contexts(&out, t);
	for (size_t i = 0; i < r->ncontexts; i++)
		if (!t->cuts[i].is_gone && base_of(&t->cuts[i])->bytes)
			put_checkpoint(&out, &t->cuts[i], 1, 0);
	for (size_t i = t->nparts; rc == 0 && i--;)
		rc = put_part(t, &out, &t->parts[i], err);
	put_header(&out, &r->s.c, is_cut);
	if (rc == 0)
		rc = writer_replace(path, out.data, out.n, err);
	bytes_release(&out);
	return rc;
}
