/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wrote some memory, and what.
 *
 * A context knows what it has stored or seen there.  What comes from outside
 * is a change only if it is something else than it knew, and no other context
 * has stored such bytes there: that is shown where it was stored.  Contexts are
 * put in order by the number of the last SYNC, as pieces are; what was there
 * before a store is what the last one of all left.
 *
 * Invariant: `now` is what the current context knows of the memory, where
 * `knows` says so.  That is not forgotten when a replay forgets: memory itself
 * did not change then.
 * Cost: memory for twice `limit` changes of a context, and O(size) each.
 */
#include "replay/changes.h"

#include "base/alloc.h"
#include "replay/engine.h"

#define SEVERAL (PTRMAP_NONE - 1) /* contexts */

#include <stdlib.h>
#include <string.h>

void changes_init(struct changes *c)
{
	c->now = xcalloc(c->size + 1, 1);
	c->knows = xcalloc(c->size + 1, sizeof(*c->knows));
}

void changes_release(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].many);
	ptrmap_release(&c->stored);
	free(c->items);
	free(c->now);
	free(c->knows);
}

void changes_begin(struct changes *c, uint32_t context)
{
	c->context = context;
	c->first = c->n;
	memset(c->knows, 0, c->size * sizeof(*c->knows));
	if (!c->initial)
		return;
	memcpy(c->now, c->initial, c->size);
	memcpy(c->knows, c->is_known, c->size * sizeof(*c->knows));
}

static void drop(struct changes *c, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(c->items[from + i].many);
	memmove(c->items + from, c->items + from + n,
	        (c->n - from - n) * sizeof(*c->items));
	c->n -= n;
}

/* Makes room for one more; false if it is one too many. */
static bool has_room(struct changes *c)
{
	size_t n = c->n - c->first;

	if (!c->limit || n < c->limit)
		return true;
	if (c->keeps_last && n >= 2 * c->limit)
		drop(c, c->first, c->limit);
	return c->keeps_last;
}

static void store(struct changes *c, const struct engine_write *w,
                  const unsigned char *now)
{
	uint64_t at = w->at - c->at, offset = at, n = w->n;
	unsigned char *bytes;
	struct change change = {
	        .context = c->context,
	        .tick = w->tick,
	        .order = w->order,
	        .cell = w->cell,
	        .site = w->site,
	        .is_outside = w->is_outside,
	        .is_copy = w->is_copy,
	        .number = c->total,
	};

	if (!has_room(c))
		return;
	if (c->widen && w->is_outside)
		c->widen(c->context_of_widen, &offset, &n);
	change.offset = offset;
	change.n = (size_t)n;
	for (uint64_t i = 0; i < n; i++)
		change.is_first = change.is_first || !c->knows[offset + i];
	change.many = n > CHANGE_FEW ? xmalloc(2 * n) : NULL;
	bytes = change_bytes(&change);
	memcpy(bytes, c->now + offset, n);
	memcpy(bytes + n, c->now + offset, n);
	memcpy(bytes + n + at - offset, now, w->n);
	VEC_RESERVE(c->items, c->n, c->cap);
	c->items[c->n++] = change;
}

static const void *key_of(uint64_t offset, unsigned char byte)
{
	return (const void *)(uintptr_t)(offset << 8 | byte |
	                                 (uint64_t)1 << 63);
}

void changes_note(struct changes *c, const struct engine_write *w,
                  const unsigned char *now)
{
	for (size_t i = 0; !w->is_outside && i < w->n; i++) {
		const void *key = key_of(w->at - c->at + i, now[i]);
		uint32_t who = ptrmap_get(&c->stored, key);

		if (who == PTRMAP_NONE)
			ptrmap_set(&c->stored, key, c->context);
		else if (who != c->context && who != SEVERAL)
			ptrmap_set(&c->stored, key, SEVERAL);
	}
}

/* Have other contexts stored these bytes? */
static bool is_of_others(const struct changes *c, const struct engine_write *w,
                         const unsigned char *now)
{
	for (size_t i = 0; i < w->n; i++) {
		uint64_t offset = w->at - c->at + i;
		uint32_t who;

		if (c->knows[offset] && c->now[offset] == now[i])
			continue;
		who = ptrmap_get(&c->stored, key_of(offset, now[i]));
		if (who == PTRMAP_NONE || who == c->context)
			return false;
	}
	return true;
}

/* Leaves only what is new of something that was found; nothing, if nothing
 * is. */
static void trim(const struct changes *c, struct engine_write *w,
                 const unsigned char **now)
{
	size_t offset = (size_t)(w->at - c->at), end = w->n, i = 0;

#define IS_OLD(k) (c->knows[offset + (k)] && c->now[offset + (k)] == (*now)[k])
	while (i < end && IS_OLD(i))
		i++;
	while (end > i && IS_OLD(end - 1))
		end--;
#undef IS_OLD
	w->at += i;
	w->n = end - i;
	*now += i;
}

void changes_add(struct changes *c, const struct engine_write *write,
                 const unsigned char *now)
{
	struct engine_write w = *write, new = w;
	const unsigned char *first = now;
	size_t offset;

	if (w.is_outside || w.is_only_a_change)
		trim(c, &new, &first);
	if (!new.n)
		return;
	if (w.is_outside) {
		w = new;
		now = first;
	}
	offset = (size_t)(w.at - c->at);
	if (!w.is_outside || !is_of_others(c, &w, now)) {
		store(c, &w, now);
		c->total++;
	}
	memcpy(c->now + offset, now, w.n);
	memset(c->knows + offset, true, w.n * sizeof(*c->knows));
}

static int by_order(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* What was there before, where another context stored it. */
static void correct(struct changes *c, struct change *x)
{
	bool knew = true;

	for (size_t i = 0; i < x->n; i++) {
		size_t at = (size_t)x->offset + i;

		if (c->knows[at])
			change_bytes(x)[i] = c->now[at];
		else
			knew = false;
	}
	if (knew)
		x->is_first = false;
	memcpy(c->now + x->offset, change_bytes(x) + x->n, x->n);
	memset(c->knows + x->offset, true, x->n * sizeof(*c->knows));
}

void changes_finish(struct changes *c)
{
	if (!c->n)
		return;
	qsort(c->items, c->n, sizeof(*c->items), by_order);
	if (c->stored.n) {
		memset(c->knows, 0, c->size * sizeof(*c->knows));
		for (size_t i = 0; i < c->n; i++)
			correct(c, &c->items[i]);
	}
	if (c->limit && c->n > c->limit)
		drop(c, c->keeps_last ? 0 : c->limit, c->n - c->limit);
}
