/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From timestamps back to the order of blocks.
 *
 * A body has, for every node, its timestamps in order.  They are merged: the
 * node that comes next is the one whose next timestamp is t + 1, and if there
 * is none the file is wrong.  Most nodes of a loop come again soon: a ring has
 * who is due at each of the next timestamps, a heap those that are due later.
 * Series are read as they are needed, so that a trace of any length takes the
 * memory of its nodes alone.
 *
 * Invariant: a node that has timestamps left is in the ring if the next one is
 * at most t + nring, and in the heap else; nothing in the ring is at or before
 * t. Cost: O(1) per run of equal nodes, O(log nodes) for those that come
 * rarely.
 */
#include "analysis/twpp_trail.h"

#include "base/alloc.h"
#include "base/err.h"

#include <stdlib.h>

#define RING 1024

static int corrupt(const struct twpp_function *f, struct cairn_err *err)
{
	return cairn_corrupt(err, f->file->name, f->entry->offset,
	                     "the timestamps of a trace make no sense; make "
	                     "the file again from its trace");
}

void twpp_runs_init(struct twpp_runs *r, const struct twpp_string *series,
                    uint64_t n, struct twpp_zip *zip)
{
	*r = (struct twpp_runs){.n = n};
	twpp_reader_init(&r->reader, series, zip);
}

void twpp_runs_release(struct twpp_runs *r)
{
	twpp_reader_release(&r->reader);
}

/* Numbers of a run take at most so many bytes. */
#define RUN_BYTES 30

/* Makes a run of its numbers; false if it is none within 1..n. */
static inline bool make_run(struct twpp_runs *r, uint64_t head, uint64_t step,
                            uint64_t more, struct twpp_run *run)
{
	uint64_t gap = head & 1 ? head >> 2 : head >> 1, span = 0;

	run->s = 1;
	if ((head & 3) == 3) {
		if (step > r->n || more > r->n)
			return false;
		run->s = step + 2;
		if (__builtin_mul_overflow(run->s, more + 2, &span))
			return false;
	} else if (head & 1) {
		if (more > r->n)
			return false;
		span = more + 1;
	}
	if (gap >= r->n - r->end)
		return false;
	run->l = r->end + gap + 1;
	if (span > r->n - run->l)
		return false;
	run->h = run->l + span;
	r->end = run->h;
	return true;
}

/* A number of up to 4 bytes at *p, which moves behind it; what is longer is
 * left to twpp_reader_uv, and *p is NULL then. */
static inline uint64_t take_uv(const unsigned char **p)
{
	const unsigned char *at = *p;
	uint64_t v = at[0];

	*p = at + 1;
	if (v < 0x80)
		return v;
	v = (v & 0x7f) | (uint64_t)(at[1] & 0x7f) << 7;
	*p = at + 2;
	if (at[1] < 0x80)
		return v;
	v |= (uint64_t)(at[2] & 0x7f) << 14;
	*p = at + 3;
	if (at[2] < 0x80)
		return v;
	v |= (uint64_t)(at[3] & 0x7f) << 21;
	*p = at[3] < 0x80 ? at + 4 : NULL;
	return v;
}

/* The next run, if it is whole in this piece and its numbers are short: 1, or
 * 0 and nothing happened. */
static inline int next_near(struct twpp_runs *r, struct twpp_run *run)
{
	const unsigned char *p = r->reader.p;
	uint64_t head, step = 0, more = 0;

	if (r->reader.end - p < RUN_BYTES)
		return 0;
	head = take_uv(&p);
	if (p && head & 1) {
		if (head & 2)
			step = take_uv(&p);
		if (p)
			more = take_uv(&p);
	}
	if (!p)
		return 0;
	r->reader.p = p;
	return make_run(r, head, step, more, run) ? 1 : CAIRN_E_CORRUPT;
}

static int next_far(struct twpp_runs *r, struct twpp_run *run)
{
	uint64_t head, step = 0, more = 0;

	if (!twpp_reader_more(&r->reader))
		return r->reader.bad ? CAIRN_E_CORRUPT : 0;
	head = twpp_reader_uv(&r->reader);
	if ((head & 3) == 3)
		step = twpp_reader_uv(&r->reader);
	if (head & 1)
		more = twpp_reader_uv(&r->reader);
	if (r->reader.bad || !make_run(r, head, step, more, run))
		return CAIRN_E_CORRUPT;
	return 1;
}

int twpp_runs_next(struct twpp_runs *r, struct twpp_run *run)
{
	int rc = next_near(r, run);

	return rc ? rc : next_far(r, run);
}

int twpp_runs_all(const struct twpp_string *series, uint64_t n,
                  struct twpp_zip *zip, struct twpp_vector *out)
{
	struct twpp_writer w;
	struct twpp_runs runs;
	struct twpp_run run;
	int rc;

	twpp_writer_begin(&w, out);
	twpp_runs_init(&runs, series, n, zip);
	while ((rc = twpp_runs_next(&runs, &run)) > 0)
		twpp_writer_add(&w, &run);
	twpp_runs_release(&runs);
	twpp_writer_end(&w);
	return rc;
}

static bool is_below(const struct twpp_trail *w, size_t a, size_t b)
{
	return w->nodes[w->heap[a]].run.l < w->nodes[w->heap[b]].run.l;
}

/* The heap is in order but for the element at i, which may be too early. */
static void sift(struct twpp_trail *w, size_t i)
{
	for (;;) {
		size_t least = 2 * i + 1;
		uint32_t kept;

		if (least >= w->nheap)
			return;
		if (least + 1 < w->nheap && is_below(w, least + 1, least))
			least++;
		if (!is_below(w, least, i))
			return;
		kept = w->heap[i];
		w->heap[i] = w->heap[least];
		w->heap[least] = kept;
		i = least;
	}
}

static void push(struct twpp_trail *w, uint32_t node)
{
	size_t i = w->nheap++;

	w->heap[i] = node;
	while (i && is_below(w, i, (i - 1) / 2)) {
		uint32_t kept = w->heap[i];

		w->heap[i] = w->heap[(i - 1) / 2];
		w->heap[(i - 1) / 2] = kept;
		i = (i - 1) / 2;
	}
}

static uint32_t *slot(const struct twpp_trail *w, uint64_t t)
{
	return &w->ring[t & (w->nring - 1)];
}

/* Notes when the node comes next; false if another one comes then. */
static bool await(struct twpp_trail *w, uint32_t node)
{
	uint64_t t = w->nodes[node].run.l;

	if (t - w->t > w->nring) {
		push(w, node);
		return true;
	}
	if (*slot(w, t))
		return false;
	*slot(w, t) = node + 1;
	return true;
}

/* Goes on to t; false if that would pass over somebody. */
static bool go_to(struct twpp_trail *w, uint64_t t)
{
	for (uint64_t i = w->t + 1; i <= t && i <= w->t + w->nring; i++)
		if (*slot(w, i))
			return false;
	w->t = t;
	while (w->nheap) {
		uint32_t node = w->heap[0];

		if (w->nodes[node].run.l <= t)
			return false;
		if (w->nodes[node].run.l - t > w->nring)
			break;
		w->heap[0] = w->heap[--w->nheap];
		sift(w, 0);
		if (!await(w, node))
			return false;
	}
	return true;
}

int twpp_trail_init(struct twpp_trail *w, const struct twpp_function *f,
                    const struct twpp_body *body, struct cairn_err *err)
{
	*w = (struct twpp_trail){.f = f, .n = body->n, .nring = 1};
	while (w->nring < body->n && w->nring < RING)
		w->nring *= 2;
	w->ring = xcalloc(w->nring, sizeof(*w->ring));
	w->nodes = xcalloc(body->nnodes + 1, sizeof(*w->nodes));
	w->heap = xcalloc(body->nnodes + 1, sizeof(*w->heap));
	for (size_t i = 0; i < body->nnodes; i++) {
		struct twpp_trail_node *node = &w->nodes[i];

		twpp_runs_init(&node->runs, &f->nodes[body->first + i].series,
		               body->n, &f->file->zip);
		w->nnodes = i + 1;
		if (twpp_runs_next(&node->runs, &node->run) <= 0 ||
		    !await(w, (uint32_t)i))
			return corrupt(f, err);
	}
	return 0;
}

void twpp_trail_release(struct twpp_trail *w)
{
	for (size_t i = 0; i < w->nnodes; i++)
		twpp_runs_release(&w->nodes[i].runs);
	free(w->nodes);
	free(w->heap);
	free(w->ring);
	*w = (struct twpp_trail){0};
}

int twpp_trail_next(struct twpp_trail *w, size_t *node, uint64_t *times,
                    struct cairn_err *err)
{
	struct twpp_trail_node *at;
	uint32_t *now = slot(w, w->t + 1);
	int rc = 1;

	if (w->t == w->n && !w->nheap)
		return 0;
	if (!*now)
		return corrupt(w->f, err);
	*node = *now - 1;
	*now = 0;
	at = &w->nodes[*node];
	*times = at->run.s == 1 ? at->run.h - at->run.l + 1 : 1;
	if (!go_to(w, w->t + *times))
		return corrupt(w->f, err);
	if (w->t < at->run.h)
		at->run.l += at->run.s;
	else
		rc = twpp_runs_next(&at->runs, &at->run);
	if (rc < 0 || (rc && !await(w, (uint32_t)*node)))
		return corrupt(w->f, err);
	return 1;
}

/* --- whole traces ------------------------------------------------------- */

struct block_list {
	uint32_t *items;
	size_t n, cap, most;
};

/* False if there would be too many. */
static bool append(struct block_list *l, const uint32_t *blocks, size_t n,
                   uint64_t times)
{
	uint64_t all;

	if (__builtin_mul_overflow(times, (uint64_t)n, &all) ||
	    all > l->most - l->n)
		return false;
	for (; times; times--)
		for (size_t i = 0; i < n; i++) {
			VEC_RESERVE(l->items, l->n, l->cap);
			l->items[l->n++] = blocks[i];
		}
	return true;
}

int twpp_trace_blocks(const struct twpp_function *f,
                      const struct twpp_trace *trace, size_t most,
                      uint32_t **blocks, size_t *n, struct cairn_err *err)
{
	const struct twpp_body *body = &f->bodies[trace->body];
	struct block_list list = {.most = most};
	struct twpp_trail w;
	uint64_t times = 0;
	size_t node = 0;
	int rc;

	rc = twpp_trail_init(&w, f, body, err);
	while (!rc && (rc = twpp_trail_next(&w, &node, &times, err)) > 0) {
		size_t length;
		const uint32_t *list_of = twpp_node_blocks(
		        f, trace, &f->nodes[body->first + node], &length);

		rc = append(&list, list_of, length, times) ? 0 : 1;
	}
	twpp_trail_release(&w);
	if (rc) {
		free(list.items);
		list = (struct block_list){0};
	} else if (!list.items) {
		list.items = xcalloc(1, sizeof(*list.items));
	}
	*blocks = list.items;
	*n = list.n;
	return rc < 0 ? rc : 0;
}

int twpp_trace_length(const struct twpp_function *f,
                      const struct twpp_trace *trace, uint64_t *n,
                      struct cairn_err *err)
{
	const struct twpp_body *body = &f->bodies[trace->body];

	*n = 0;
	for (size_t i = 0; i < body->nnodes; i++) {
		const struct twpp_body_node *node = &f->nodes[body->first + i];
		struct twpp_runs runs;
		struct twpp_run run;
		uint64_t count = 0, all;
		size_t length;
		int rc;

		twpp_node_blocks(f, trace, node, &length);
		twpp_runs_init(&runs, &node->series, body->n, &f->file->zip);
		while ((rc = twpp_runs_next(&runs, &run)) > 0)
			count += twpp_run_count(&run);
		twpp_runs_release(&runs);
		if (rc < 0 ||
		    __builtin_mul_overflow(count, (uint64_t)length, &all) ||
		    __builtin_add_overflow(*n, all, n))
			return corrupt(f, err);
	}
	return 0;
}

int twpp_function_scan(const struct twpp_function *f, uint64_t *nruns,
                       struct cairn_err *err)
{
	*nruns = 0;
	for (size_t i = 0; i < f->nbodies; i++) {
		const struct twpp_body *body = &f->bodies[i];

		for (size_t k = 0; k < body->nnodes; k++) {
			struct twpp_runs runs;
			struct twpp_run run;
			int rc;

			twpp_runs_init(&runs, &f->nodes[body->first + k].series,
			               body->n, &f->file->zip);
			while ((rc = next_near(&runs, &run)) > 0 ||
			       (!rc && (rc = next_far(&runs, &run)) > 0))
				++*nruns;
			twpp_runs_release(&runs);
			if (rc < 0)
				return corrupt(f, err);
		}
	}
	return 0;
}
