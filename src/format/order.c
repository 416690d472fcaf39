/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order a run first took the paths of its tables: what its ORDER
 * chunks say (docs/FORMAT.md, section 4), put together.
 *
 * Chunks come in any order, and threads that took a path at the same moment may
 * have recorded it twice: of two records the one with the lower number counts.
 *
 * Cost: two sorts.
 */
#include "format/order.h"

#include "base/alloc.h"
#include "format/profile.h"

#include <stdlib.h>

void order_add(struct profile_order *o, const struct profile_first *first)
{
	VEC_RESERVE(o->items, o->n, o->cap);
	o->items[o->n++] = *first;
}

static int by_number(const void *a, const void *b)
{
	const struct profile_first *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_path(const struct profile_first *x, const struct profile_first *y)
{
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_path_and_number(const void *a, const void *b)
{
	int order = by_path(a, b);

	return order ? order : by_number(a, b);
}

bool order_settle(struct profile_order *o)
{
	size_t kept = 0;

	if (!o->n)
		return true;
	qsort(o->items, o->n, sizeof(*o->items), by_number);
	for (size_t i = 1; i < o->n; i++)
		if (o->items[i - 1].number == o->items[i].number)
			return false;
	qsort(o->items, o->n, sizeof(*o->items), by_path_and_number);
	for (size_t i = 0; i < o->n; i++)
		if (!kept || by_path(&o->items[kept - 1], &o->items[i]))
			o->items[kept++] = o->items[i];
	o->n = kept;
	qsort(o->items, o->n, sizeof(*o->items), by_number);
	return true;
}

void order_clear(struct profile_order *o)
{
	free(o->items);
	*o = (struct profile_order){0};
}
