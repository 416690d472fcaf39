/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program wrote, in pieces.
 *
 * Contexts are put in order by engine_order, mostly the number of the last SYNC
 * before a piece: who writes after another context has got a new one
 * (runtime/hook_output.c).
 *
 * A stream of libc's keeps bytes back, and what is written to its descriptor
 * meanwhile comes out before them: such a piece says how many there were.
 *
 * Invariant: pieces of one context keep their order.
 * Cost: O(n log n); all bytes are in memory, those of descriptors that are
 * written both ways are moved once for each write.
 */
#include "replay/pieces.h"

#include "abi/record.h"
#include "base/alloc.h"
#include "replay/engine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pieces_release(struct pieces *p)
{
	free(p->items);
	free(p->bytes);
	*p = (struct pieces){0};
}

static void add_bytes(struct pieces *p, const void *bytes, size_t n)
{
	/* and a NUL, at which readers of UTF-8 stop */
	while (p->bytes_cap - p->nbytes <= n) {
		p->bytes_cap = p->bytes_cap ? 2 * p->bytes_cap : 4096;
		p->bytes = xrealloc(p->bytes, p->bytes_cap, 1);
	}
	if (n)
		memcpy(p->bytes + p->nbytes, bytes, n);
	p->nbytes += n;
	p->bytes[p->nbytes] = '\0';
}

/* Did the same call write both? */
static bool is_one(const struct piece *a, const struct piece *b)
{
	return a->context == b->context && a->tick == b->tick &&
	       a->cell == b->cell && a->site == b->site && a->fd == b->fd &&
	       a->order == b->order && a->pending == b->pending &&
	       !((a->how ^ b->how) & CAIRN_OUT_LATE) && a->n && b->n;
}

void pieces_add(struct pieces *p, uint32_t context,
                const struct engine_output *o)
{
	struct piece *last = p->n ? &p->items[p->n - 1] : NULL;
	struct piece new = {
	        .context = context,
	        .fd = o->how & CAIRN_OUT_STDERR ? STDERR_FILENO : STDOUT_FILENO,
	        .tick = o->tick,
	        .cell = o->cell,
	        .order = o->order,
	        .pending = o->pending,
	        .site = o->site,
	        .how = o->how,
	        .at = p->nbytes,
	};

	add_bytes(p, o->bytes, o->n);
	if (o->how & CAIRN_OUT_LINE)
		add_bytes(p, "\n", 1);
	new.n = p->nbytes - new.at;
	if (last && is_one(last, &new)) {
		last->n += new.n;
		return;
	}
	VEC_RESERVE(p->items, p->n, p->cap);
	p->items[p->n++] = new;
}

/* Leaves only those ends behind which nothing follows in their context: an exec
 * can fail. */
static void drop_ends(struct pieces *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		size_t k = i + 1;

		while (!p->items[i].n && k < p->n &&
		       p->items[k].context == p->items[i].context &&
		       p->items[k].fd != p->items[i].fd)
			k++;
		if (p->items[i].n || k == p->n ||
		    p->items[k].context != p->items[i].context)
			p->items[n++] = p->items[i];
	}
	p->n = n;
}

/* Bytes are in the order of adding; the end is behind all. */
static int by_order(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (!x->n != !y->n)
		return x->n ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void pieces_sort(struct pieces *p)
{
	drop_ends(p);
	if (p->n)
		qsort(p->items, p->n, sizeof(*p->items), by_order);
}

void pieces_kill(struct pieces *p, int fd, uint64_t pending)
{
	VEC_RESERVE(p->items, p->n, p->cap);
	p->items[p->n++] =
	        (struct piece){.fd = fd, .pending = pending, .at = p->nbytes};
}

unsigned char *pieces_join(const struct pieces *p, int fd, size_t *n)
{
	unsigned char *all = xmalloc(p->nbytes + 1);
	size_t lost = 0;

	*n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct piece *x = &p->items[i];
		size_t behind = x->pending < *n ? (size_t)x->pending : *n;

		if (x->fd != fd)
			continue;
		if (!x->n)
			lost = behind;
		memmove(all + *n - behind + x->n, all + *n - behind, behind);
		memcpy(all + *n - behind, p->bytes + x->at, x->n);
		*n += x->n;
	}
	*n -= lost;
	return all;
}
