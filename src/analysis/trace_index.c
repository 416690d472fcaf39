/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a trace: checkpoints of the walk over each thread, at known
 * numbers of executed blocks, and what time it was when.
 *
 * One walk over the whole trace builds it.  Since that takes long, it can be
 * kept in a file: trace_index_encode has magic, version, identity of the trace,
 * then varints, and a hash of it all.  What is read is checked nevertheless:
 * no number of it may lead outside of the trace.  A wrong index that is made to
 * look right leads to wrong events, as a wrong trace does, not to a crash.
 *
 * Times are thinned: not more than TIMES_MAX per thread are kept, at even
 * distances, and always the last one.
 *
 * Cost: the walk; a checkpoint every INTERVAL blocks, which take some 10 ms.
 */
#include "analysis/trace_index.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/traced.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "format/map.h"
#include "format/profile.h"

#define INTERVAL ((uint64_t)1 << 19)
#define BOUND ((size_t)64 << 20)
#define TIMES_MAX 65536
#define BATCH 256

static const char magic[] = "cairn trace index 3\n";

void trace_index_release(struct trace_index *x)
{
	for (size_t i = 0; i < x->nthreads; i++) {
		checkpoints_release(&x->threads[i].points);
		free(x->threads[i].times);
	}
	free(x->threads);
	*x = (struct trace_index){0};
}

/* --- building ------------------------------------------------------------ */

static void thin_times(struct trace_index_thread *t)
{
	size_t n = 0;

	t->step *= 2;
	for (size_t i = 0; i < t->ntimes; i++)
		if (!n || i + 1 == t->ntimes ||
		    t->times[i].block >= t->times[n - 1].block + t->step)
			t->times[n++] = t->times[i];
	t->ntimes = n;
}

/* The last one is always kept; one that is near to it takes its place, unless
 * that is the first. */
static void add_time(struct trace_index_thread *t, uint64_t block, uint64_t ns)
{
	if (t->ntimes && ns < t->times[t->ntimes - 1].ns)
		ns = t->times[t->ntimes - 1].ns;
	if (t->ntimes > 1 && t->times[t->ntimes - 1].block <
	                             t->times[t->ntimes - 2].block + t->step)
		t->ntimes--;
	VEC_RESERVE(t->times, t->ntimes, t->times_cap);
	t->times[t->ntimes++] = (struct trace_index_time){block, ns};
	if (t->ntimes == TIMES_MAX)
		thin_times(t);
}

static void count_events(struct trace_index_thread *t,
                         const struct walk_event *events, size_t n,
                         uint64_t nblocks)
{
	for (size_t i = 0; i < n; i++) {
		const struct walk_event *e = &events[i];

		if (e->kind == WALK_PATH) {
			t->npaths++;
			t->nbranches += e->way->nbranches;
			nblocks += walk_nblocks(e);
		} else if (e->kind == WALK_ENTER) {
			t->ncalls++;
		} else if (e->kind == WALK_TIME) {
			add_time(t, nblocks, e->value);
		}
		t->nnotes += e->kind == WALK_TIME || e->kind == WALK_SYNC ||
		             e->kind == WALK_START;
	}
}

/* Bytes of the file that the first n parts take. */
static uint64_t parts_size(const struct streams_thread *s, uint64_t from,
                           uint64_t to)
{
	uint64_t size = 0;

	for (; from < to && from < s->nparts; from++)
		size += s->parts[from].chunk->size;
	return size;
}

static void build_thread(struct trace_index_thread *x, struct traced *t,
                         size_t thread, uint64_t done, uint64_t all,
                         const struct trace_index_progress *progress)
{
	struct walk_event events[BATCH];
	struct traced_walk w;
	uint64_t nparts = 0;
	int result = 1;

	traced_begin(&w, t, thread);
	while (result == 1) {
		uint64_t nblocks = w.walk.nblocks;
		size_t n;

		checkpoints_offer(&x->points, &w.walk);
		result = walk_run(&w.walk, events, BATCH, &n, &x->err);
		count_events(x, events, n, nblocks);
		if (nparts == w.walk.nparts || !progress)
			continue;
		done += parts_size(w.thread, nparts, w.walk.nparts);
		nparts = w.walk.nparts;
		progress->tell(progress->context, done, all);
	}
	x->nblocks = w.walk.nblocks;
	x->nevents = w.walk.nevents;
	x->nbytes = w.walk.before + w.walk.nbytes;
	x->nrecords = w.walk.nread - x->nnotes;
	x->is_broken = result < 0;
	traced_end(&w);
}

void trace_index_build(struct trace_index *x, struct traced *t,
                       const struct trace_index_progress *progress)
{
	const struct streams *s = t->streams;
	uint64_t done = 0, all = 0;

	*x = (struct trace_index){.nthreads = s->nthreads};
	x->threads = xcalloc(s->nthreads + 1, sizeof(*x->threads));
	for (size_t i = 0; i < s->nthreads; i++)
		all += parts_size(&s->threads[i], 0, s->threads[i].nparts);
	for (size_t i = 0; i < s->nthreads; i++) {
		struct trace_index_thread *thread = &x->threads[i];

		thread->step = 1;
		checkpoints_init(&thread->points, INTERVAL,
		                 BOUND / s->nthreads);
		build_thread(thread, t, i, done, all, progress);
		done += parts_size(&s->threads[i], 0, s->threads[i].nparts);
	}
}

/* --- times --------------------------------------------------------------- */

/* a * b / c without overflow; b <= c. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

uint64_t trace_index_time(const struct trace_index_thread *t, uint64_t block)
{
	const struct trace_index_time *a = t->times;
	size_t lo = 0, hi = t->ntimes;

	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;

		if (a[middle].block <= block)
			lo = middle + 1;
		else
			hi = middle;
	}
	if (lo == 0)
		return t->ntimes ? a[0].ns : 0;
	if (lo == t->ntimes)
		return a[lo - 1].ns;
	return a[lo - 1].ns + scale(a[lo].ns - a[lo - 1].ns,
	                            block - a[lo - 1].block,
	                            a[lo].block - a[lo - 1].block);
}

uint64_t trace_index_block(const struct trace_index_thread *t, uint64_t ns)
{
	uint64_t lo = 0, hi = t->nblocks;

	while (lo < hi) { /* the first one that is not before */
		uint64_t middle = lo + (hi - lo) / 2;

		if (trace_index_time(t, middle) < ns)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* --- identity ------------------------------------------------------------ */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const unsigned char *p, size_t n)
{
	h = mix(h, n);
	for (; n >= 8; p += 8, n -= 8)
		h = mix(h, get_le64(p));
	for (; n; p++, n--)
		h = mix(h, *p);
	return h;
}

uint64_t trace_index_hash(const unsigned char *data, size_t size)
{
	return mix_bytes(0, data, size);
}

/* A part that has a checksum is known by it. */
static uint64_t mix_part(uint64_t h, const struct streams_part *p)
{
	const struct chunk *k = p->chunk;

	h = mix(mix(mix(h, k->type), p->number), k->n);
	return k->verified ? mix(mix(h, k->size), k->crc)
	                   : mix_bytes(h, k->payload, (size_t)k->size);
}

uint64_t trace_index_identity(const struct traced *t)
{
	const struct profile *p = t->profile;
	const struct streams *s = t->streams;
	uint64_t h = mix(mix(0, t->n), s->c.start);

	for (uint32_t i = 0; i < p->nmodules; i++) {
		h = mix_bytes(h, p->modules[i].id, p->modules[i].nid);
		for (uint32_t k = 0; k < p->modules[i].nbiases; k++)
			h = mix(h, p->modules[i].biases[k]);
		h = mix(h, p->modules[i].map != NULL);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		h = mix(mix(h, s->threads[i].id), s->threads[i].nparts);
		for (size_t k = 0; k < s->threads[i].nparts; k++)
			h = mix_part(h, &s->threads[i].parts[k]);
	}
	return h;
}

/* --- a file -------------------------------------------------------------- */

static void put_point(struct bytes *out, const struct checkpoint *k)
{
	bytes_put_uv(out, k->nblocks);
	bytes_put_uv(out, k->nevents);
	bytes_put_uv(out, k->nparts);
	bytes_put_uv(out, k->before);
	bytes_put_uv(out, k->at);
	bytes_put_uv(out, k->nread);
	bytes_put_uv(out, k->word);
	bytes_put_uv(out, k->sync);
	bytes_put_uv(out, k->ns);
	bytes_put_uv(out, k->top);
	bytes_put_uv(out, k->nframes);
	bytes_put_uv(out, k->calls);
	bytes_put_uv(out, k->nsilent);
	bytes_put_uv(out, k->nidle);
	bytes_put_uv(out, k->nbits);
	bytes_put_uv(out, (uint64_t)k->has_history | (uint64_t)k->is_full << 1 |
	                          (uint64_t)k->is_leaving << 2 |
	                          (uint64_t)k->is_lost << 3);
}

static void put_frame(struct bytes *out, const struct checkpoint_frame *f)
{
	bytes_put_uv(out, f->below);
	bytes_put_uv(out, f->function);
	bytes_put_uv(out, f->next);
	bytes_put_uv(out, f->nsilent);
	bytes_put_uv(out, f->read);
	bytes_put_uv(out, f->nahead);
	bytes_put_uv(out, (uint64_t)f->state << 1 | f->is_inside);
}

static void put_thread(struct bytes *out, const struct trace_index_thread *t)
{
	const struct checkpoints *c = &t->points;

	bytes_put_uv(out, t->nblocks);
	bytes_put_uv(out, t->nevents);
	bytes_put_uv(out, t->npaths);
	bytes_put_uv(out, t->ncalls);
	bytes_put_uv(out, t->nbranches);
	bytes_put_uv(out, t->nbytes);
	bytes_put_uv(out, t->nrecords);
	bytes_put_uv(out, t->ntimes);
	for (size_t i = 0; i < t->ntimes; i++) {
		bytes_put_uv(out, t->times[i].block);
		bytes_put_uv(out, t->times[i].ns);
	}
	bytes_put_uv(out, c->nframes);
	for (uint32_t i = 0; i < c->nframes; i++)
		put_frame(out, &c->frames[i]);
	bytes_put_uv(out, c->n);
	for (uint32_t i = 0; i < c->n; i++)
		put_point(out, &c->items[i]);
}

void trace_index_encode(const struct trace_index *x, uint64_t identity,
                        struct bytes *out)
{
	bytes_put(out, magic, sizeof(magic));
	bytes_put_u64(out, identity);
	bytes_put_uv(out, x->nthreads);
	for (size_t i = 0; i < x->nthreads; i++)
		put_thread(out, &x->threads[i]);
	bytes_put_u64(out, trace_index_hash(out->data, out->n));
}

/* A number of things of which each takes at least one byte. */
static uint32_t get_number(struct cursor *c)
{
	uint64_t n = cursor_uv(c);

	if (n >= UINT32_MAX || n > (uint64_t)(c->end - c->p))
		c->bad = true;
	return c->bad ? 0 : (uint32_t)n;
}

static uint32_t get_u32(struct cursor *c)
{
	uint64_t v = cursor_uv(c);

	c->bad |= v > UINT32_MAX;
	return (uint32_t)v;
}

static void get_times(struct cursor *c, struct trace_index_thread *x)
{
	x->ntimes = x->times_cap = get_number(c);
	x->times = xcalloc(x->ntimes + 1, sizeof(*x->times));
	for (size_t i = 0; i < x->ntimes; i++) {
		x->times[i].block = cursor_uv(c);
		x->times[i].ns = cursor_uv(c);
		c->bad |= i && (x->times[i].block < x->times[i - 1].block ||
		                x->times[i].ns < x->times[i - 1].ns);
	}
}

static void get_frames(struct cursor *c, struct checkpoints *points,
                       const struct traced *t)
{
	points->nframes = points->frames_cap = get_number(c);
	points->frames =
	        xcalloc((size_t)points->nframes + 1, sizeof(*points->frames));
	for (uint32_t i = 0; i < points->nframes && !c->bad; i++) {
		struct checkpoint_frame *f = &points->frames[i];
		uint64_t flags;

		f->below = get_u32(c);
		f->function = get_u32(c);
		f->next = get_u32(c);
		f->nsilent = get_u32(c);
		f->read = cursor_uv(c);
		f->nahead = get_u32(c);
		flags = cursor_uv(c);
		f->is_inside = flags & 1;
		f->state = (uint8_t)(flags >> 1);
		f->depth = 1;
		c->bad |= flags >> 1 > WALK_STOPPED || f->nahead > 63 ||
		          (f->below >= i && f->below != CHECKPOINTS_NOBODY) ||
		          f->function >= t->n ||
		          f->next >= walk_nplaces(&t->walked[f->function]);
		if (!c->bad && f->below != CHECKPOINTS_NOBODY)
			f->depth += points->frames[f->below].depth;
	}
}

/* Are there as many frames as it says? */
static bool has_frames(const struct checkpoints *points,
                       const struct checkpoint *k)
{
	if (k->top == CHECKPOINTS_NOBODY)
		return k->nframes == 0;
	return k->top < points->nframes &&
	       points->frames[k->top].depth == k->nframes;
}

static void get_point(struct cursor *c, struct checkpoint *k)
{
	uint64_t flags;

	k->nblocks = cursor_uv(c);
	k->nevents = cursor_uv(c);
	k->nparts = cursor_uv(c);
	k->before = cursor_uv(c);
	k->at = cursor_uv(c);
	k->nread = cursor_uv(c);
	k->word = cursor_uv(c);
	k->sync = cursor_uv(c);
	k->ns = cursor_uv(c);
	k->top = get_u32(c);
	k->nframes = get_u32(c);
	k->calls = get_u32(c);
	k->nsilent = get_u32(c);
	k->nidle = get_u32(c);
	k->nbits = get_u32(c);
	flags = cursor_uv(c);
	k->has_history = flags & 1;
	k->is_full = flags >> 1 & 1;
	k->is_leaving = flags >> 2 & 1;
	k->is_lost = flags >> 3 & 1;
}

/* A walk that goes on from here finds what it needs. */
static bool is_possible(const struct checkpoints *points, uint32_t i,
                        const struct traced *t)
{
	const struct checkpoint *k = &points->items[i];
	const struct checkpoint *before = i ? k - 1 : NULL;

	return has_frames(points, k) && k->nbits < 64 &&
	       (k->calls < t->n || k->calls == WALK_NOTHING) &&
	       (k->nframes || (!k->has_history && !k->is_leaving &&
	                       k->calls == WALK_NOTHING)) &&
	       (before ? k->nevents > before->nevents &&
	                         k->nblocks >= before->nblocks
	               : !k->nevents && !k->nblocks && !k->nparts);
}

static void get_points(struct cursor *c, struct checkpoints *points,
                       const struct traced *t)
{
	points->n = points->cap = get_number(c);
	points->items = xcalloc((size_t)points->n + 1, sizeof(*points->items));
	c->bad |= points->n == 0;
	for (uint32_t i = 0; i < points->n && !c->bad; i++) {
		get_point(c, &points->items[i]);
		c->bad |= !is_possible(points, i, t);
	}
}

static void get_thread(struct cursor *c, struct trace_index_thread *x,
                       const struct traced *t)
{
	x->nblocks = cursor_uv(c);
	x->nevents = cursor_uv(c);
	x->npaths = cursor_uv(c);
	x->ncalls = cursor_uv(c);
	x->nbranches = cursor_uv(c);
	x->nbytes = cursor_uv(c);
	x->nrecords = cursor_uv(c);
	get_times(c, x);
	get_frames(c, &x->points, t);
	get_points(c, &x->points, t);
}

bool trace_index_decode(struct trace_index *x, const struct traced *t,
                        uint64_t identity, const unsigned char *data,
                        size_t size)
{
	struct cursor c = {data, data + size, false};
	const unsigned char *head;

	*x = (struct trace_index){0};
	if (size < 8 || trace_index_hash(data, size - 8) != get_le64(c.end - 8))
		return false;
	c.end -= 8;
	head = cursor_take(&c, sizeof(magic));
	if (!head || memcmp(head, magic, sizeof(magic)) ||
	    cursor_u64(&c) != identity ||
	    cursor_uv(&c) != t->streams->nthreads || c.bad)
		return false;
	x->nthreads = t->streams->nthreads;
	x->threads = xcalloc(x->nthreads + 1, sizeof(*x->threads));
	for (size_t i = 0; i < x->nthreads && !c.bad; i++)
		get_thread(&c, &x->threads[i], t);
	if (!c.bad && c.p == c.end)
		return true;
	trace_index_release(x);
	return false;
}
