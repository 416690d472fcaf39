/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where handlers of signals interrupted what.
 *
 * The log of a handler says where it came, and gets a number in the order of
 * all contexts there.  What it interrupted goes on without one: what that does
 * from there on is behind the handler, whatever numbers the handler got.  So a
 * look at the logs of all handlers tells, for each context that was
 * interrupted, where, and which order what follows has at least.
 *
 * A handler may be interrupted in turn, by one whose context is younger: those
 * are read first.
 *
 * Invariant: the lists of all contexts that are younger than the one that is
 * being read are complete.
 * Cost: one pass over the logs of handlers, without a replay.
 */
#include "replay/interrupts.h"

#include "base/alloc.h"
#include "base/err.h"
#include "replay/engine.h"
#include "replay/lineage.h"

#include <stdlib.h>

struct interrupts_list {
	uint32_t context;
	struct engine_came *items;
	size_t n, cap;
};

static struct interrupts_list *find(const struct interrupts *t,
                                    uint32_t context)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->lists[i].context == context)
			return &t->lists[i];
	return NULL;
}

static struct interrupts_list *list_of(struct interrupts *t, uint32_t context)
{
	struct interrupts_list *l = find(t, context);

	if (l)
		return l;
	VEC_RESERVE(t->lists, t->n, t->cap);
	t->lists[t->n] = (struct interrupts_list){.context = context};
	return &t->lists[t->n++];
}

/* The link of an ancestor is greater. */
static int compare(uint64_t link, uint64_t position,
                   const struct engine_came *with)
{
	if (link != with->link)
		return link > with->link ? -1 : 1;
	return position < with->position ? -1 : position > with->position;
}

static int by_place(const void *a, const void *b)
{
	const struct engine_came *x = a, *y = b;
	int order = compare(x->link, x->position, y);

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	if (order)
		return order;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* A context of handlers, whose log is being read. */
struct reading {
	struct interrupts *t;
	uint32_t context;
	size_t ncame;   /* handlers that interrupted it so far */
	uint64_t order; /* so far */
	uint32_t outer; /* whom the current one interrupts; 0: there is none */
	struct engine_came came;
};

/* What interrupted it before this place raises its own order. */
static void raise(struct reading *r, const struct engine_mark *m)
{
	const struct interrupts_list *l = find(r->t, r->context);

	for (; l && r->ncame < l->n; r->ncame++) {
		const struct engine_came *c = &l->items[r->ncame];

		if (m && compare(m->link, m->position, c) < 0)
			return;
		if (r->order < c->order)
			r->order = c->order;
	}
}

/* The handler returned. */
static void end_one(struct reading *r)
{
	struct interrupts_list *l;

	if (!r->outer)
		return;
	l = list_of(r->t, r->outer);
	r->came.order = r->order + 1;
	VEC_RESERVE(l->items, l->n, l->cap);
	l->items[l->n++] = r->came;
	r->outer = 0;
}

static void take(struct reading *r, const struct recording_event *v,
                 const struct engine_mark *m)
{
	if (v->kind != CAIRN_EVENT_OTHER)
		return;
	if (v->what == CAIRN_OTHER_SYNC || v->what == CAIRN_OTHER_TURN)
		r->order = ENGINE_ORDER(v->value[0]);
	if (v->what != CAIRN_OTHER_CAME)
		return;
	raise(r, m);
	end_one(r);
	r->outer = (uint32_t)v->value[0];
	r->came = (struct engine_came){
	        .tick = v->value[1] >> 1,
	        .is_in_call = v->value[1] & 1,
	        .link = m->link,
	        .position = v->value[2],
	};
}

static void read_log(struct interrupts *t, const struct recording *r,
                     const struct recording_context *c,
                     const struct lineage_options *options)
{
	struct reading reading = {.t = t, .context = c->number};
	struct interrupts_list *own = find(t, c->number);
	struct recording_event v;
	struct cairn_err err;
	struct engine_mark m;
	struct lineage log;

	if (lineage_open(&log, r, c, options, &err) < 0)
		return;
	if (own)
		qsort(own->items, own->n, sizeof(*own->items), by_place);
	for (;;) {
		lineage_where(&log, &m);
		if (lineage_next(&log, &v, &err) <= 0)
			break;
		if (m.link != log.at) /* it is the first of the next */
			m.position = 0;
		m.link = log.at;
		take(&reading, &v, &m);
	}
	raise(&reading, NULL);
	end_one(&reading);
	lineage_close(&log);
}

void interrupts_read(struct interrupts *t, const struct recording *r,
                     const struct lineage_options *options)
{
	*t = (struct interrupts){0};
	for (size_t i = r->ncontexts; i--;)
		if (r->contexts[i].kind == CAIRN_CONTEXT_SIGNAL)
			read_log(t, r, &r->contexts[i], options);
	for (size_t i = 0; i < t->n; i++)
		qsort(t->lists[i].items, t->lists[i].n,
		      sizeof(*t->lists[i].items), by_place);
}

void interrupts_release(struct interrupts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->lists[i].items);
	free(t->lists);
	*t = (struct interrupts){0};
}

const struct engine_came *interrupts_of(const struct interrupts *t,
                                        uint32_t context, size_t *n)
{
	const struct interrupts_list *l = find(t, context);

	*n = l ? l->n : 0;
	return l ? l->items : NULL;
}
