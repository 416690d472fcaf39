/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of streams, in files.
 *
 * The runtime has slots and nodes (abi/file.h): a window is a slot's own
 * element and, before it, the elements of its node, which are found by going
 * from node to node.  In a profile a window is a list of elements, the newest
 * first, so that windows with the same end are neighbours once they are
 * sorted; node numbers, which differ from thread to thread, are gone.  Files
 * that we write have these lists (WINDOWS), so that runs add up.
 *
 * The same with call chains: a window is a path and the calls before it.
 *
 * Invariant: what is written and read again is the same.
 * Cost: O(n * length) to read, O(n log n) to sum; 4 bytes per element of a
 * window, 24 per window and per element that is another one.
 */
#include "format/windows.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "format/calls.h"
#include "format/container.h"
#include "format/profile.h"
#include "format/writer.h"

#include <stdlib.h>
#include <string.h>

#define START 0u
#define EMPTY 1u

static const char too_long[] = "a window is longer than any can be";

/* A NODES chunk. */
struct piece {
	const struct chunk *k;
	uint32_t *element; /* per node: 1 + its element, 0: not known yet */
};

struct reader {
	struct profile *p;
	const struct calls_modules *m;
	struct piece *pieces; /* by thread and number */
	size_t npieces, pieces_cap;
};

/* --- elements --------------------------------------------------------------
 */

static uint32_t add_element(struct profile_windows *w,
                            const struct profile_element *e)
{
	VEC_RESERVE(w->elements, w->nelements, w->elements_cap);
	w->elements[w->nelements] = *e;
	return w->nelements++;
}

/* An owner and an id of the runtime. */
static const char *take_element(struct reader *r, uint64_t owner, uint32_t id,
                                uint32_t *element)
{
	struct profile_element e = {
	        .number = (uint64_t)id - 1,
	        .link = (uint32_t)(owner >> CAIRN_LINK_SHIFT),
	};

	owner &= ((uint64_t)1 << CAIRN_LINK_SHIFT) - 1;
	if (!id || (e.link && !r->p->windows.of_chains) ||
	    !calls_place(r->p, r->m, true, owner, &e.module, &e.owner))
		return "a window has a path that no module of the file has";
	*element = add_element(&r->p->windows, &e);
	return NULL;
}

static void push(struct profile_windows *w, uint32_t element)
{
	VEC_RESERVE(w->pool, w->npool, w->pool_cap);
	w->pool[w->npool++] = element;
}

/* K, or CAIRN_CHAINS + D. */
static const char *set_longest(struct profile *p, uint64_t k)
{
	bool of_chains = k >= CAIRN_CHAINS;
	uint64_t longest = of_chains ? k - CAIRN_CHAINS + 1 : k;

	if (longest < 2 ||
	    longest > (of_chains ? CAIRN_CHAINS_MAX + 1 : CAIRN_FOREST_MAX))
		return too_long;
	if (p->windows.longest && (p->windows.longest != longest ||
	                           p->windows.of_chains != of_chains))
		return "its windows are of another length than those of "
		       "another file";
	p->windows.longest = (uint32_t)longest;
	p->windows.of_chains = of_chains;
	return NULL;
}

static uint64_t kind_of(const struct profile_windows *w)
{
	return w->of_chains ? CAIRN_CHAINS + (uint64_t)w->longest - 1
	                    : w->longest;
}

/* Its elements are the last of the pool. */
static const char *add_window(struct profile_windows *w,
                              const struct profile_window *x)
{
	for (unsigned i = 0; w->of_chains && i < x->len; i++)
		if (!w->elements[w->pool[x->first + i]].link != !i)
			return "a chain is not a path behind calls";
	VEC_RESERVE(w->items, w->n, w->cap);
	w->items[w->n++] = *x;
	return NULL;
}

/* --- of the runtime --------------------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
	const struct chunk *x = ((const struct piece *)a)->k;
	const struct chunk *y = ((const struct piece *)b)->k;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->aux0 < y->aux0 ? -1 : x->aux0 > y->aux0;
}

/* The piece with a node of a thread, NULL if there is none; *at: where. */
static struct piece *find_piece(const struct reader *r, uint32_t thread,
                                uint64_t number, uint64_t *at)
{
	for (size_t lo = 0, hi = r->npieces; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;
		struct piece *x = &r->pieces[mid];

		if (x->k->id < thread ||
		    (x->k->id == thread && x->k->aux0 + x->k->n <= number)) {
			lo = mid + 1;
		} else if (x->k->id > thread || x->k->aux0 > number) {
			hi = mid;
		} else {
			*at = number - x->k->aux0;
			return x;
		}
	}
	return NULL;
}

/* Puts the elements of a node at the end of the pool. */
static const char *take_node(struct reader *r, uint32_t thread, uint64_t number,
                             struct profile_window *window)
{
	unsigned left = 0;

	if (r->p->windows.of_chains) /* the upper bits are the runtime's */
		number &= ((uint64_t)1 << CAIRN_NODE_BITS) - 1;
	if (number == START || number == EMPTY) {
		window->is_anchored = number == START;
		return NULL;
	}
	for (bool is_first = true; is_first || left; is_first = false) {
		uint64_t at;
		struct piece *x = find_piece(r, thread, number, &at);
		const unsigned char *node;

		if (number <= EMPTY || !x)
			return "a window begins with a node that is not there";
		node = x->k->payload + at * CAIRN_NODE_SIZE;
		if (is_first) {
			left = node[CAIRN_NODE_LEN];
			window->is_anchored = node[CAIRN_NODE_ANCHORED];
			if (!left || left >= r->p->windows.longest)
				return too_long;
			window->len = (uint8_t)(left + 1);
		}
		if (!x->element[at]) {
			const char *wrong = take_element(
			        r, get_le64(node + CAIRN_NODE_OWNER),
			        get_le32(node + CAIRN_NODE_ID),
			        &x->element[at]);

			if (wrong)
				return wrong;
			x->element[at]++;
		}
		push(&r->p->windows, x->element[at] - 1);
		number = get_le32(node + CAIRN_NODE_PREV);
		left--;
	}
	return NULL;
}

static const char *load_slots(struct reader *r, const struct chunk *k)
{
	struct profile_windows *w = &r->p->windows;

	for (uint64_t i = 0; i < k->n; i++) {
		const unsigned char *slot = k->payload + CAIRN_FOREST_SLOT * i;
		uint64_t key = get_le64(slot + CAIRN_SLOT_KEY);
		struct profile_window x = {
		        .first = w->npool,
		        .count = get_le64(slot + CAIRN_SLOT_COUNT),
		        .len = 1,
		};
		const char *wrong;
		uint32_t element;

		if (!key || !x.count)
			continue;
		wrong = take_element(r, get_le64(slot + CAIRN_SLOT_OWNER),
		                     (uint32_t)key, &element);
		if (wrong)
			return wrong;
		push(w, element);
		wrong = take_node(r, k->id, key >> 32, &x);
		if (wrong)
			return wrong;
		wrong = add_window(w, &x);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static void find_pieces(struct reader *r, const struct container *c)
{
	for (size_t i = 0; i < c->nchunks; i++) {
		const struct chunk *k = &c->chunks[i];

		if (k->type != CAIRN_CHUNK_NODES)
			continue;
		VEC_RESERVE(r->pieces, r->npieces, r->pieces_cap);
		r->pieces[r->npieces++] = (struct piece){
		        k, xcalloc(k->n, sizeof(*r->pieces->element))};
	}
	if (r->npieces)
		qsort(r->pieces, r->npieces, sizeof(*r->pieces), by_number);
}

/* --- of ours ---------------------------------------------------------------
 */

static bool find_module(const struct reader *r, uint64_t number,
                        uint32_t *module)
{
	for (uint32_t i = 0; i < r->m->n; i++)
		if (r->m->number[i] == number) {
			*module = r->m->module[i];
			return true;
		}
	return false;
}

static const char *load_elements(struct reader *r, struct cursor *c, uint64_t n)
{
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t module = cursor_uv(c), owner = cursor_uv(c);
		uint64_t number = cursor_uv(c);
		uint64_t link = r->p->windows.of_chains ? cursor_uv(c) : 0;
		struct profile_element e = {
		        .owner = owner,
		        .number = number,
		        .link = (uint32_t)link,
		};

		if (c->bad || link > CAIRN_LINKS_MAX ||
		    !find_module(r, module, &e.module))
			return "a window has a path that no module of the file "
			       "has";
		add_element(&r->p->windows, &e);
	}
	return NULL;
}

static const char *load_lists(struct reader *r, const struct chunk *k)
{
	struct profile_windows *w = &r->p->windows;
	struct cursor c = {k->payload, k->payload + k->size, false};
	uint32_t first = w->nelements;
	uint64_t n = cursor_uv(&c);
	const char *wrong = load_elements(r, &c, n);

	for (uint64_t i = 0; !wrong && i < k->n && !c.bad; i++) {
		uint64_t head = cursor_uv(&c);
		struct profile_window x = {
		        .first = w->npool,
		        .count = cursor_uv(&c),
		        .len = (uint8_t)(head / 2),
		        .is_anchored = head % 2,
		};

		if (head / 2 < 1 || head / 2 > w->longest)
			return too_long;
		for (unsigned j = 0; j < x.len; j++) {
			uint64_t element = cursor_uv(&c);

			if (element >= n)
				return "a window has an element that is not "
				       "there";
			push(w, first + (uint32_t)element);
		}
		wrong = add_window(w, &x);
	}
	return wrong ? wrong : c.bad ? "the list of windows ends early" : NULL;
}

const char *windows_load(struct profile *p, const struct calls_modules *m,
                         const struct container *c, const struct chunk **bad)
{
	struct reader r = {.p = p, .m = m};
	const char *wrong = NULL;

	find_pieces(&r, c);
	for (size_t i = 0; !wrong && i < c->nchunks; i++) {
		const struct chunk *k = &c->chunks[i];

		*bad = k;
		if (k->type != CAIRN_CHUNK_FOREST &&
		    k->type != CAIRN_CHUNK_WINDOWS)
			continue;
		wrong = set_longest(p, k->aux1);
		if (!wrong)
			wrong = k->type == CAIRN_CHUNK_FOREST
			                ? load_slots(&r, k)
			                : load_lists(&r, k);
	}
	for (size_t i = 0; i < r.npieces; i++)
		free(r.pieces[i].element);
	free(r.pieces);
	return wrong;
}

/* --- sums ------------------------------------------------------------------
 */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_identity(const struct profile_element *x,
                       const struct profile_element *y)
{
	int c = compare(x->module, y->module);

	if (!c)
		c = compare(x->owner, y->owner);
	if (!c)
		c = compare(x->link, y->link);
	return c ? c : compare(x->number, y->number);
}

struct ranked {
	struct profile_element element;
	uint32_t was;
};

static int by_element(const void *a, const void *b)
{
	return by_identity(&((const struct ranked *)a)->element,
	                   &((const struct ranked *)b)->element);
}

/* Each element once, in order. */
static void sum_elements(struct profile_windows *w)
{
	struct ranked *ranked =
	        xcalloc((size_t)w->nelements + 1, sizeof(*ranked));
	uint32_t *now = xcalloc((size_t)w->nelements + 1, sizeof(*now));
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nelements; i++)
		ranked[i] = (struct ranked){w->elements[i], i};
	if (w->nelements)
		qsort(ranked, w->nelements, sizeof(*ranked), by_element);
	for (uint32_t i = 0; i < w->nelements; i++) {
		if (!n || by_identity(&w->elements[n - 1], &ranked[i].element))
			w->elements[n++] = ranked[i].element;
		now[ranked[i].was] = n - 1;
	}
	w->nelements = n;
	for (size_t i = 0; i < w->npool; i++)
		w->pool[i] = now[w->pool[i]];
	free(ranked);
	free(now);
}

struct sorted {
	const uint32_t *newest;
	struct profile_window window;
};

/* The newest element first. */
static int by_end(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	for (unsigned i = 0; i < x->window.len && i < y->window.len; i++)
		if (x->newest[i] != y->newest[i])
			return x->newest[i] < y->newest[i] ? -1 : 1;
	if (x->window.len != y->window.len)
		return x->window.len < y->window.len ? -1 : 1;
	return compare(x->window.is_anchored, y->window.is_anchored);
}

/* Leaves what windows have in the pool, in their order. */
static void compact_pool(struct profile_windows *w)
{
	uint32_t *old = w->pool;
	size_t n = 0;

	w->pool = NULL;
	w->npool = w->pool_cap = 0;
	for (size_t i = 0; i < w->n; i++) {
		struct profile_window *window = &w->items[i];

		for (unsigned k = 0; k < window->len; k++)
			push(w, old[window->first + k]);
		window->first = n;
		n = w->npool;
	}
	free(old);
}

void windows_sum(struct profile *p)
{
	struct profile_windows *w = &p->windows;
	struct sorted *sorted = xcalloc(w->n + 1, sizeof(*sorted));
	size_t kept = 0;

	sum_elements(w);
	for (size_t i = 0; i < w->n; i++)
		sorted[i] = (struct sorted){w->pool + w->items[i].first,
		                            w->items[i]};
	if (w->n)
		qsort(sorted, w->n, sizeof(*sorted), by_end);
	for (size_t i = 0; i < w->n; i++) {
		if (i && !by_end(&sorted[i - 1], &sorted[i]))
			w->items[kept - 1].count += sorted[i].window.count;
		else
			w->items[kept++] = sorted[i].window;
	}
	w->n = kept;
	free(sorted);
	compact_pool(w);
}

bool windows_absorb(struct profile *p, const struct profile *from,
                    const uint32_t *number)
{
	const struct profile_windows *f = &from->windows;
	struct profile_windows *w = &p->windows;
	uint32_t base = w->nelements;

	if (!f->longest)
		return true;
	if (set_longest(p, kind_of(f)))
		return false;
	for (uint32_t i = 0; i < f->nelements; i++) {
		struct profile_element e = f->elements[i];

		e.module = number[e.module];
		add_element(w, &e);
	}
	for (size_t i = 0; i < f->n; i++) {
		struct profile_window window = f->items[i];

		window.first = w->npool;
		for (unsigned k = 0; k < window.len; k++)
			push(w, base + f->pool[f->items[i].first + k]);
		VEC_RESERVE(w->items, w->n, w->cap);
		w->items[w->n++] = window;
	}
	return true;
}

/* --- writing ---------------------------------------------------------------
 */

void windows_put(struct bytes *out, struct bytes *tmp, const struct profile *p)
{
	const struct profile_windows *w = &p->windows;

	if (!w->longest)
		return;
	tmp->n = 0;
	bytes_put_uv(tmp, w->nelements);
	for (uint32_t i = 0; i < w->nelements; i++) {
		const struct profile_element *e = &w->elements[i];

		bytes_put_uv(tmp, (uint64_t)e->module + 1);
		bytes_put_uv(tmp, e->owner);
		bytes_put_uv(tmp, e->number);
		if (w->of_chains)
			bytes_put_uv(tmp, e->link);
	}
	for (size_t i = 0; i < w->n; i++) {
		const struct profile_window *x = &w->items[i];

		bytes_put_uv(tmp, 2 * (uint64_t)x->len + x->is_anchored);
		bytes_put_uv(tmp, x->count);
		for (unsigned j = 0; j < x->len; j++)
			bytes_put_uv(tmp, w->pool[x->first + j]);
	}
	writer_chunk(out,
	             &(struct writer_chunk){.type = CAIRN_CHUNK_WINDOWS,
	                                    .n = w->n,
	                                    .aux1 = kind_of(w)},
	             tmp->data, tmp->n);
}

void windows_release(struct profile *p)
{
	free(p->windows.elements);
	free(p->windows.items);
	free(p->windows.pool);
}
