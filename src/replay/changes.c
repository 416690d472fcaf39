/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wrote some memory, and what.
 *
 * A context knows what it has stored or seen there.  What comes from outside
 * is a change only if it is something else than it knew.  If there are several
 * contexts, it may be what another one stored, and is shown there alone.  So
 * all are replayed twice.  The first time collects what each one left there
 * whenever it got a number, and all that was found.  These are put in order by
 * engine_order, as pieces are; something found stands behind the number that
 * the context got with it.  Then they are gone through with a memory of all:
 * what was found is no news if it is there already, in each of its bytes.
 *
 * Nor is it if threads raced, and the order is not the one in which they wrote:
 * each byte that is not there was stored by another context, or was news, at a
 * time that may have been that of looking.  A store was made between two
 * numbers of its context, and a look was between two of its own: the two may
 * have met unless one ended before the other began.  A store can be seen as
 * long as the next one in this order may not have been made.
 *
 * The second time adds stores and news.  What was there before one is what the
 * last one of all left.
 *
 * Invariant: `now` is what the current context knows of the memory, where
 * `knows` says so.  That is not forgotten when a replay forgets: memory itself
 * did not change then.
 * Breaks when: outside code writes the very bytes that a racing context, or one
 * that got no number since, has stored: they are taken for its store.
 * Cost: memory for twice `limit` changes of a context, and O(size) each; with
 * several, for all that they left at numbers, and all that they found.
 */
#include "replay/changes.h"

#include "base/alloc.h"
#include "replay/engine.h"

#include <stdlib.h>
#include <string.h>

void changes_init(struct changes *c)
{
	c->now = xcalloc(c->size + 1, 1);
	c->knows = xcalloc(c->size + 1, sizeof(*c->knows));
	c->is_left = xcalloc(c->size + 1, sizeof(*c->is_left));
	c->last_here = xcalloc(c->size + 1, sizeof(*c->last_here));
}

void changes_release(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].many);
	ptrmap_release(&c->last_of);
	free(c->stored);
	free(c->parts);
	free(c->bytes);
	free(c->whose);
	free(c->last_here);
	free(c->found);
	free(c->is_left);
	free(c->items);
	free(c->now);
	free(c->knows);
}

/* As it was when the program began. */
static void begin_memory(struct changes *c)
{
	memset(c->knows, 0, c->size * sizeof(*c->knows));
	if (!c->initial)
		return;
	memcpy(c->now, c->initial, c->size);
	memcpy(c->knows, c->is_known, c->size * sizeof(*c->knows));
}

void changes_begin(struct changes *c, uint32_t context)
{
	c->context = context;
	c->first = c->n;
	c->last = 0;
	begin_memory(c);
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
	if (c->keeps_last && n > 2 * c->limit) /* one before the first shown */
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
	if (c->widen && (w->is_outside || c->mask))
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

/* Is any of the bits that count not what it was, as far as that is known? */
static bool counts(const struct changes *c, const struct engine_write *w,
                   const unsigned char *now)
{
	size_t offset = (size_t)(w->at - c->at);

	for (size_t i = 0; c->mask && i < w->n; i++)
		if (c->mask[offset + i] &&
		    (!c->knows[offset + i] ||
		     ((c->now[offset + i] ^ now[i]) & c->mask[offset + i])))
			return true;
	return !c->mask;
}

/* --- what is news --------------------------------------------------------- */

static void learn(struct changes *c, uint64_t offset, const unsigned char *now,
                  size_t n)
{
	memcpy(c->now + offset, now, n);
	memset(c->knows + offset, true, n * sizeof(*c->knows));
}

static const void *key_of(uint64_t offset, unsigned char byte)
{
	return (const void *)(uintptr_t)(offset << 8 | byte |
	                                 (uint64_t)1 << 63);
}

/* Returns its index. */
static uint32_t add_stored(struct changes *c, const void *key,
                           struct changes_stored s)
{
	s.before = ptrmap_get(&c->last_of, key);
	if (s.before != PTRMAP_NONE &&
	    c->stored[s.before].context == s.context &&
	    c->stored[s.before].order == s.order)
		return s.before;
	ptrmap_set(&c->last_of, key, (uint32_t)c->nstored);
	VEC_RESERVE(c->stored, c->nstored, c->stored_cap);
	c->stored[c->nstored] = s;
	return (uint32_t)c->nstored++;
}

static struct changes_part *add_part(struct changes *c, uint64_t offset,
                                     const unsigned char *now, size_t n)
{
	struct changes_part *p;

	VEC_RESERVE(c->parts, c->nparts, c->parts_cap);
	p = &c->parts[c->nparts];
	*p = (struct changes_part){
	        .order = c->left_order,
	        .until = c->left_order < c->last ? c->last : UINT64_MAX,
	        .number = c->nparts++,
	        .context = c->context,
	        .found = CHANGES_STORED,
	        .offset = offset,
	        .n = n,
	        .bytes = c->nbytes,
	};
	for (size_t i = 0; i < n; i++) {
		VEC_RESERVE(c->bytes, c->nbytes, c->bytes_cap);
		VEC_RESERVE(c->whose, c->nbytes, c->whose_cap);
		c->whose[c->nbytes] = c->last_here[offset + i];
		c->bytes[c->nbytes++] = now[i];
	}
	return p;
}

/* What the context stored since its last number, as it is now. */
static void leave(struct changes *c)
{
	uint64_t i = c->left_from, end;

	for (; i < c->left_to; i = end) {
		for (end = i; end < c->left_to && c->is_left[end]; end++)
			c->is_left[end] = false;
		if (end > i)
			add_part(c, i, c->now + i, (size_t)(end - i));
		else
			end++;
	}
	c->left_from = c->left_to = 0;
}

static void note_store(struct changes *c, const struct engine_write *w,
                       const unsigned char *now)
{
	uint64_t offset = w->at - c->at;
	struct changes_stored s = {
	        .context = c->context,
	        .order = w->order,
	        .until = w->order < c->last ? c->last : UINT64_MAX,
	};

	if (w->order != c->left_order)
		leave(c);
	learn(c, offset, now, w->n);
	for (size_t i = 0; i < w->n; i++)
		c->last_here[offset + i] =
		        add_stored(c, key_of(offset + i, now[i]), s);
	if (c->left_from == c->left_to)
		c->left_from = c->left_to = offset;
	if (c->left_from > offset)
		c->left_from = offset;
	if (c->left_to < offset + w->n)
		c->left_to = offset + w->n;
	c->left_order = w->order;
	memset(c->is_left + offset, true, w->n * sizeof(*c->is_left));
}

static void note_found(struct changes *c, const struct engine_write *w,
                       const unsigned char *now)
{
	struct changes_part *p;

	leave(c);
	learn(c, w->at - c->at, now, w->n);
	p = add_part(c, w->at - c->at, now, w->n);
	p->order = p->since = w->order;
	p->found = (uint32_t)c->nfound;
	VEC_RESERVE(c->found, c->nfound, c->found_cap);
	c->found[c->nfound++] = (struct changes_found){.order = w->order};
}

void changes_note(struct changes *c, const struct engine_write *write,
                  const unsigned char *now)
{
	struct engine_write w = *write;

	c->has_several = true;
	if (w.is_doubtful)
		return;
	if (w.is_outside || w.is_only_a_change)
		trim(c, &w, &now);
	if (!w.n)
		return;
	if (w.is_outside) {
		note_found(c, &w, now);
	} else {
		note_store(c, write, now - (w.at - write->at));
		c->nplaced = c->nparts;
	}
}

void changes_number(struct changes *c, uint64_t number, uint64_t own)
{
	leave(c);
	for (; c->nplaced < c->nparts; c->nplaced++) {
		struct changes_part *p = &c->parts[c->nplaced];

		if (p->found == CHANGES_STORED || !own)
			continue;
		p->order = c->found[p->found].order = own;
	}
	for (; c->nended < c->nparts; c->nended++)
		if (c->parts[c->nended].until == UINT64_MAX)
			c->parts[c->nended].until = number;
	for (; c->nclosed < c->nstored; c->nclosed++)
		if (c->stored[c->nclosed].until == UINT64_MAX)
			c->stored[c->nclosed].until = number;
	c->last = number;
}

void changes_end(struct changes *c)
{
	leave(c);
	c->nplaced = c->nended = c->nparts;
	c->nclosed = c->nstored;
}

static int by_place(const void *a, const void *b)
{
	const struct changes_part *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* May another context have stored the byte when it was looked at? */
static bool may_be_of_others(const struct changes *c,
                             const struct changes_part *p, size_t i)
{
	uint32_t at = ptrmap_get(&c->last_of,
	                         key_of(p->offset + i, c->bytes[p->bytes + i]));

	for (; at != PTRMAP_NONE; at = c->stored[at].before) {
		const struct changes_stored *s = &c->stored[at];

		if (s->context != p->context && s->order <= p->order &&
		    (s->until > p->since ||
		     (s->gone > p->since && s->gone_by != p->context)))
			return true;
	}
	return false;
}

static bool is_news(const struct changes *c, const struct changes_part *p)
{
	for (size_t i = 0; i < p->n; i++) {
		uint64_t at = p->offset + i;

		if (c->knows[at] && c->now[at] == c->bytes[p->bytes + i])
			continue;
		if (!may_be_of_others(c, p, i))
			return true;
	}
	return false;
}

/* Now this is in memory. */
static void put(struct changes *c, const struct changes_part *p)
{
	for (size_t i = 0; i < p->n; i++) {
		uint32_t *last = &c->last_here[p->offset + i];

		if (*last != PTRMAP_NONE) {
			c->stored[*last].gone = p->until;
			c->stored[*last].gone_by = p->context;
		}
		*last = c->whose[p->bytes + i];
	}
	learn(c, p->offset, c->bytes + p->bytes, p->n);
}

/* What it is now is what others may find, too. */
static void add_news(struct changes *c, struct changes_part *p)
{
	struct changes_stored s = {
	        .context = p->context, .order = p->since, .until = p->order};

	c->found[p->found].is_news = true;
	p->until = p->order;
	for (size_t i = 0; i < p->n; i++)
		c->whose[p->bytes + i] = add_stored(
		        c, key_of(p->offset + i, c->bytes[p->bytes + i]), s);
}

void changes_decide(struct changes *c)
{
	if (c->nparts)
		qsort(c->parts, c->nparts, sizeof(*c->parts), by_place);
	begin_memory(c);
	for (size_t i = 0; i < c->size; i++)
		c->last_here[i] = PTRMAP_NONE;
	for (size_t i = 0; i < c->nparts; i++) {
		struct changes_part *p = &c->parts[i];
		bool was_found = p->found != CHANGES_STORED;

		if (was_found && !is_news(c, p))
			continue;
		if (was_found)
			add_news(c, p);
		put(c, p);
	}
}

/* Was it decided that it is no news?  Else it is put in its place. */
static bool is_of_others(struct changes *c, struct engine_write *w)
{
	const struct changes_found *f;

	if (!w->is_outside || !c->has_several)
		return false;
	f = &c->found[c->next_found++];
	w->order = f->order;
	return !f->is_news;
}

/* --- what is shown -------------------------------------------------------- */

void changes_add(struct changes *c, const struct engine_write *write,
                 const unsigned char *now)
{
	struct engine_write w = *write, new = w;
	const unsigned char *first = now;
	bool is_theirs;

	if (w.is_doubtful) {
		c->ndoubtful++;
		return;
	}
	if (w.is_outside || w.is_only_a_change)
		trim(c, &new, &first);
	if (!new.n)
		return;
	if (w.is_outside) {
		w = new;
		now = first;
	}
	is_theirs = is_of_others(c, &w);
	if (!counts(c, &w, now)) {
		c->nsame += !w.is_outside;
	} else if (!is_theirs) {
		store(c, &w, now);
		c->total++;
	}
	learn(c, w.at - c->at, now, w.n);
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
	learn(c, x->offset, change_bytes(x) + x->n, x->n);
}

void changes_finish(struct changes *c)
{
	if (!c->n)
		return;
	qsort(c->items, c->n, sizeof(*c->items), by_order);
	if (c->has_several) {
		memset(c->knows, 0, c->size * sizeof(*c->knows));
		for (size_t i = 0; i < c->n; i++)
			correct(c, &c->items[i]);
	}
	if (c->limit && c->n > c->limit)
		drop(c, c->keeps_last ? 0 : c->limit, c->n - c->limit);
}
