/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of source lines as a reader sees them: those of one call in the source
 * are one spot, whether the compiler unrolled the loop around it or not.
 *
 * Cost: O(copies * spots) for a line; both are small.
 */
#include "cli/report.h"

#include "analysis/lines.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

const struct map_instance *report_instance(const struct report *r,
                                           const struct line_copy *c)
{
	const struct map *m = r->profile->modules[c->module].map;

	return c->instance ? &m->instances[m->functions[c->function]
	                                           .first_instance +
	                                   c->instance - 1]
	                   : NULL;
}

const char *report_caller(const struct report *r, const struct line_copy *c)
{
	const struct map *m = r->profile->modules[c->module].map;
	const struct map_instance *k = report_instance(r, c);

	if (!k || !k->parent)
		return "";
	return map_string(
	        m, m->instances[m->functions[c->function].first_instance +
	                        k->parent - 1]
	                   .name);
}

static bool is_same_spot(const struct report *r, const struct line_copy *x,
                         const struct line_copy *y)
{
	const struct map_instance *a = report_instance(r, x),
	                          *b = report_instance(r, y);

	return x->module == y->module && x->function == y->function &&
	       !a == !b &&
	       (!a || (a->call_line == b->call_line &&
	               !strcmp(report_caller(r, x), report_caller(r, y))));
}

static int by_heat(const void *a, const void *b)
{
	const struct report_spot *x = a, *y = b;

	if (x->copy.count != y->copy.count)
		return x->copy.count > y->copy.count ? -1 : 1;
	if (x->copy.module != y->copy.module)
		return x->copy.module < y->copy.module ? -1 : 1;
	if (x->copy.function != y->copy.function)
		return x->copy.function < y->copy.function ? -1 : 1;
	return x->copy.instance < y->copy.instance
	               ? -1
	               : x->copy.instance > y->copy.instance;
}

struct report_spot *report_spots(const struct report *r,
                                 const struct line_copy *copies, size_t *n)
{
	struct report_spot *spots = xcalloc(*n, sizeof(*spots));
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		size_t k = 0;

		while (k < kept && !is_same_spot(r, &spots[k].copy, &copies[i]))
			k++;
		if (k == kept) {
			spots[kept++] = (struct report_spot){copies[i], 1};
			continue;
		}
		spots[k].copy.count += copies[i].count;
		spots[k].copy.known &= copies[i].known;
		spots[k].copy.doubtful |= copies[i].doubtful;
		spots[k].times++;
	}
	*n = kept;
	if (kept)
		qsort(spots, kept, sizeof(*spots), by_heat);
	return spots;
}

uint32_t report_call_line(const struct report *r, const struct line_copy *c)
{
	const struct map_instance *k = report_instance(r, c);

	return k ? k->call_line : 0;
}
