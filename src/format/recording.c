/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings, as they are in the file: modules, contexts and their logs
 * (docs/FORMAT.md, section 16).
 *
 * The log of a context is a stream, in parts as those of traces are.  Its first
 * events say what the context is.
 *
 * Cost: a part is unpacked when it is asked for, one at a time.
 */
#include "format/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/file.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

/* --- logs -------------------------------------------------------------------
 */

void recording_log_init(struct recording_log *l, const struct recording *r,
                        const struct recording_context *c)
{
	const struct recording_place *p = &c->base.place;

	*l = (struct recording_log){
	        .r = r,
	        .stream = c->stream,
	        .tick = p->tick,
	        .cell = p->cell,
	        .position = p->position,
	        .skip = p->offset,
	};
}

void recording_log_release(struct recording_log *l)
{
	free(l->memory);
	*l = (struct recording_log){0};
}

int recording_next_part(struct recording_log *l, const unsigned char **bytes,
                        size_t *n, struct cairn_err *err)
{
	if (l->next == l->stream->nparts)
		return 0;
	CAIRN_TRY(streams_load(&l->r->s, &l->stream->parts[l->next], &l->memory,
	                       &l->capacity, bytes, n, err));
	l->next++;
	return 1;
}

/* Fails in the part that is being read. */
static int log_corrupt(const struct recording_log *l, const char *what,
                       struct cairn_err *err)
{
	const struct chunk *k = l->stream->parts[l->next - 1].chunk;

	return cairn_corrupt(err, l->r->s.c.name, k->offset,
	                     "%s in the log of context %" PRIu32, what,
	                     l->stream->id);
}

static const unsigned nvalues[CAIRN_NOTHERS] = {
        [CAIRN_OTHER_END] = 0,    [CAIRN_OTHER_STACK] = 1,
        [CAIRN_OTHER_SYNC] = 1,   [CAIRN_OTHER_BEGIN] = 3,
        [CAIRN_OTHER_STOP] = 0,   [CAIRN_OTHER_FORK] = 3,
        [CAIRN_OTHER_FORGET] = 0, [CAIRN_OTHER_ZERO] = 2,
        [CAIRN_OTHER_ENV] = 1,    [CAIRN_OTHER_OUT] = 1,
        [CAIRN_OTHER_HASHED] = 1, [CAIRN_OTHER_TURN] = 2,
        [CAIRN_OTHER_CAME] = 3,   [CAIRN_OTHER_HALT] = 2,
        [CAIRN_OTHER_LEFT] = 2,
};

/* Most numbers are one byte. */
static inline uint64_t read_uv(struct cursor *c)
{
	return c->p < c->end && *c->p < 0x80 ? *c->p++ : cursor_uv(c);
}

static inline int64_t read_sv(struct cursor *c)
{
	uint64_t v = read_uv(c);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void read_in(struct cursor *c, struct recording_event *e)
{
	uint64_t n = read_uv(c);

	if (n & 1)
		e->offset = cursor_uv(c);
	e->nbytes = (size_t)(n >> 1);
	e->bytes = cursor_take(c, n >> 1);
}

/* The rest of OUT. */
static void read_out(struct cursor *c, struct recording_event *e)
{
	uint64_t word = e->value[0];
	uint64_t n = word >> CAIRN_OUT_BITS;

	e->value[0] = word & ((1u << CAIRN_OUT_BITS) - 1);
	if (word & CAIRN_OUT_PENDING)
		e->value[1] = cursor_uv(c);
	if (word & CAIRN_OUT_AT)
		e->value[2] = cursor_uv(c);
	if (word & CAIRN_OUT_BYTES)
		e->bytes = cursor_take(c, n);
	if (n > CAIRN_OUT_MAX || (n && !e->bytes && !e->value[2]))
		c->bad = true;
	e->nbytes = (size_t)n;
}

/* It says that the bytes are known, and what is left of them. */
static void read_hash(struct cursor *c, struct recording_event *e)
{
	const unsigned char *hash = cursor_take(c, 4);

	e->what = CAIRN_OTHER_OUT;
	if (hash)
		e->value[3] = get_le32(hash);
	if (e->bytes || !e->value[3])
		c->bad = true;
}

static int read_other(const struct recording_log *l, struct cursor *c,
                      struct recording_event *e, struct cairn_err *err)
{
	uint64_t what = cursor_uv(c);

	if (c->bad || what >= CAIRN_NOTHERS)
		return log_corrupt(l, "an event of no known kind", err);
	e->what = (enum cairn_other)what;
	if (what == CAIRN_OTHER_TURN)
		e->cell = l->cell + (uint64_t)read_sv(c);
	for (unsigned i = 0; i < nvalues[what]; i++)
		e->value[i] = cursor_uv(c);
	if (what == CAIRN_OTHER_OUT || what == CAIRN_OTHER_HASHED)
		read_out(c, e);
	if (what == CAIRN_OTHER_HASHED)
		read_hash(c, e);
	return 0;
}

/* From a part that has at least one. */
static int read_event(struct recording_log *l, struct recording_event *e,
                      struct cairn_err *err)
{
	struct cursor c = {l->at, l->end, false};
	uint64_t word = read_uv(&c);

	*e = (struct recording_event){
	        .tick = l->tick + (word >> CAIRN_EVENT_BITS),
	        .kind = (enum cairn_event)(word &
	                                   ((1u << CAIRN_EVENT_BITS) - 1)),
	};
	if (e->kind == CAIRN_EVENT_OTHER)
		CAIRN_TRY(read_other(l, &c, e, err));
	else
		e->cell = l->cell + (uint64_t)read_sv(&c);
	if (e->kind == CAIRN_EVENT_IN)
		read_in(&c, e);
	if (e->kind == CAIRN_EVENT_BACK)
		e->frame = cursor_uv(&c);
	if (c.bad)
		return log_corrupt(l, "an event that ends early", err);
	l->tick = e->tick;
	if (recording_has_cell(e))
		l->cell = e->cell;
	l->position += (uint64_t)(c.p - l->at);
	l->at = c.p;
	return 0;
}

int recording_next_event(struct recording_log *l, struct recording_event *e,
                         struct cairn_err *err)
{
	const unsigned char *bytes;
	size_t n;
	int rc;

	while (l->at == l->end) {
		rc = recording_next_part(l, &bytes, &n, err);
		if (rc <= 0)
			return rc;
		l->start = l->at = bytes;
		l->end = bytes + n;
		if (l->skip > n)
			return log_corrupt(l, "no such place", err);
		l->at += l->skip;
		l->skip = 0;
	}
	CAIRN_TRY(read_event(l, e, err));
	return 1;
}

int recording_seek(struct recording_log *l, const struct recording_place *p,
                   struct cairn_err *err)
{
	const unsigned char *bytes = NULL;
	size_t n = 0;

	if (p->part > l->stream->nparts)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "%s: the log of context %" PRIu32
		                  " has no part %" PRIu64,
		                  l->r->s.c.name, l->stream->id, p->part);
	l->next = (size_t)p->part;
	l->skip = 0;
	l->start = l->at = l->end = NULL;
	if (p->offset && recording_next_part(l, &bytes, &n, err) < 0)
		return CAIRN_E_CORRUPT;
	if (p->offset > n)
		return log_corrupt(l, "no such place", err);
	if (p->offset) {
		l->start = bytes;
		l->at = bytes + p->offset;
		l->end = bytes + n;
	}
	l->tick = p->tick;
	l->cell = p->cell;
	l->position = p->position;
	return 0;
}

/* --- contexts ---------------------------------------------------------------
 */

static void take_begin(struct recording_context *c,
                       const struct recording_event *e)
{
	c->kind = (uint32_t)e->value[0];
	c->thread = (uint32_t)e->value[1];
	c->tid = (uint32_t)e->value[2];
}

static void take_fork(struct recording_context *c,
                      const struct recording_event *e)
{
	c->is_forked = true;
	c->parent_pid = (uint32_t)e->value[0];
	c->parent = (uint32_t)e->value[1];
	c->parent_at = e->value[2];
}

/* What the checkpoint says where it begins. */
static void take_base(struct recording_context *c)
{
	const struct chunk *k = c->stream->checkpoint;
	const unsigned char *p = k->payload;

	c->kind = get_le32(p + CAIRN_CHECKPOINT_KIND);
	c->thread = get_le32(p + CAIRN_CHECKPOINT_THREAD);
	c->tid = get_le32(p + CAIRN_CHECKPOINT_TID);
	c->is_forked = get_le32(p + CAIRN_CHECKPOINT_FORKED);
	c->parent_pid = get_le32(p + CAIRN_CHECKPOINT_PID);
	c->parent = get_le32(p + CAIRN_CHECKPOINT_CONTEXT);
	c->parent_at = get_le64(p + CAIRN_CHECKPOINT_AT);
	c->base = (struct recording_base){
	        .bytes = p + CAIRN_CHECKPOINT_HEAD,
	        .n = (size_t)k->n,
	        .tick = get_le64(p + CAIRN_CHECKPOINT_MOMENT),
	        .place = {0, k->aux1, get_le64(p + CAIRN_CHECKPOINT_TICK),
	                  get_le64(p + CAIRN_CHECKPOINT_CELL),
	                  get_le64(p + CAIRN_CHECKPOINT_POSITION)},
	};
}

/* Its first events. */
static int read_context(struct recording *r, struct recording_context *c,
                        struct cairn_err *err)
{
	struct recording_event e;
	struct recording_log l;
	int rc;

	if (c->stream->checkpoint) {
		take_base(c);
		return c->kind < CAIRN_NCONTEXTS
		               ? 0
		               : cairn_corrupt(err, r->s.c.name,
		                               c->stream->checkpoint->offset,
		                               "an impossible kind of context");
	}
	recording_log_init(&l, r, c);
	while ((rc = recording_next_event(&l, &e, err)) > 0 &&
	       e.kind == CAIRN_EVENT_OTHER) {
		if (e.what == CAIRN_OTHER_BEGIN)
			take_begin(c, &e);
		else if (e.what == CAIRN_OTHER_FORK)
			take_fork(c, &e);
	}
	if (rc >= 0 && c->kind >= CAIRN_NCONTEXTS)
		rc = log_corrupt(&l, "an impossible kind", err);
	recording_log_release(&l);
	return rc < 0 ? rc : 0;
}

static int read_contexts(struct recording *r, struct cairn_err *err)
{
	const struct chunk *all = streams_checkpoint(&r->s, 0);

	r->is_cut = all != NULL;
	r->ncontexts = r->s.nthreads;
	r->nall = all && all->n > r->ncontexts ? (size_t)all->n : r->ncontexts;
	r->contexts = xcalloc(r->ncontexts, sizeof(*r->contexts));
	for (size_t i = 0; i < r->ncontexts; i++) {
		struct recording_context *c = &r->contexts[i];

		c->number = r->s.threads[i].id;
		c->stream = &r->s.threads[i];
		CAIRN_TRY(read_context(r, c, err));
	}
	return 0;
}

/* --- modules ----------------------------------------------------------------
 */

static int read_module(struct recording *r, const struct chunk *k,
                       struct cairn_err *err)
{
	struct cursor c = {k->payload, k->payload + k->size, false};
	struct recording_module m = {
	        .number = k->module,
	        .bias = k->aux1,
	        .cells = k->aux0,
	        .ncells = k->n,
	};

	m.nid = cursor_u32(&c);
	m.id = cursor_take(&c, m.nid);
	if (c.bad || !memchr(c.p, 0, (size_t)(c.end - c.p)))
		return cairn_corrupt(err, r->s.c.name, k->offset,
		                     "the module chunk ends early");
	if (m.ncells > UINT64_MAX / 8 || m.cells > UINT64_MAX - 8 * m.ncells)
		return cairn_corrupt(err, r->s.c.name, k->offset,
		                     "impossible number of cells");
	m.path = (const char *)c.p;
	VEC_RESERVE(r->modules, r->nmodules, r->modules_cap);
	r->modules[r->nmodules++] = m;
	return 0;
}

static int read_modules(struct recording *r, struct cairn_err *err)
{
	for (size_t i = 0; i < r->s.c.nchunks; i++)
		if (r->s.c.chunks[i].type == CAIRN_CHUNK_MODULE)
			CAIRN_TRY(read_module(r, &r->s.c.chunks[i], err));
	return 0;
}

const struct recording_module *recording_module(const struct recording *r,
                                                uint32_t number)
{
	for (size_t i = 0; i < r->nmodules; i++)
		if (r->modules[i].number == number)
			return &r->modules[i];
	return NULL;
}

/* --- a file -----------------------------------------------------------------
 */

int recording_open(struct recording *r, const char *path,
                   enum container_mode mode, struct cairn_err *err)
{
	int rc;

	*r = (struct recording){0};
	rc = streams_open(&r->s, path, mode, err);
	/* it may have become one file in between: that is whole */
	if (rc == CAIRN_E_ABSENT)
		rc = streams_open(&r->s, path, mode, err);
	CAIRN_TRY(rc);
	rc = container_check_run(&r->s.c, err);
	if (rc == 0 && r->s.c.flags & CAIRN_FILE_RECORDING) {
		rc = read_modules(r, err);
		if (rc == 0)
			rc = read_contexts(r, err);
	} else if (rc == 0) {
		rc = cairn_fail(err, CAIRN_E_MISMATCH,
		                "%s: is no recording; run a program that was "
		                "compiled with --cairn=record, and has a "
		                "function that can be recorded",
		                path);
	}
	if (rc < 0)
		recording_release(r);
	return rc;
}

void recording_release(struct recording *r)
{
	free(r->contexts);
	free(r->modules);
	streams_release(&r->s);
	*r = (struct recording){0};
}
