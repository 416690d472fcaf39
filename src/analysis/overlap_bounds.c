/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of the frequencies of pairs of paths.
 *
 * S. Tallam, X. Zhang and R. Gupta, "Extending path profiling across loop
 * backedges and procedure boundaries", CGO 2004, sections 2.2 and 3.2, and the
 * tightest bounds that the same counts allow.
 *
 * An overlapping path of degree k says how often a first half was followed by a
 * class of second halves.  So all pairs fall into blocks, one per class, in
 * which the sum R of every row (first half) and the sum C of every column are
 * known, and any row can go with any column.
 *
 * Iteration.  Equations 7 and 8 (17 and 18) start with U = min(R, C), and lower
 * bounds 0.  Let S be the sum of U over a row, D = S - R >= 0; then the next
 * lower bound is L = max(0, U - D).  The one after it changes nothing: for
 * every pair, R less the lower bounds of the others is at least U (if one L is
 * positive that is R >= U; if several are, those others leave what is missing).
 * So the equations are stable after one step.  Equations 13 and 14 are the same
 * with all pairs of a call site as one row, N instead of R, and U = min(N, F_p,
 * F_q).
 *
 * Linear programming.  A block is a transportation problem in which all is
 * connected with all, so a pair has at least max(0, R + C - T) and at most
 * min(R, C), where T is the sum over the block, and both are reached (Frechet's
 * bounds).  From plain paths only N, of a site and callee, is known, and F_p
 * bounds what goes through a row p.  At least m = N - (sum of the other F) goes
 * there; taking no more than that, the callee's side is such a problem again:
 * at least max(0, m + C - T).  That callees compete for the rows of an indirect
 * site changes nothing: the rows can be divided among callees so that one of
 * them has its least, or its most, of one row.  So nothing is left to solve;
 * proof_overlap compares with GLPK.
 *
 * What was never completed is one more row or column, which is no pair.
 *
 * Invariant: lower <= tight_lower <= frequency <= upper.
 * Cost: O(n log n) in the number of counts, rows and columns, whatever the
 * number of pairs: columns are sorted by count, and sums over all columns that
 * are above a bound are differences of prefix sums.
 */
#include "analysis/overlap_bounds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/paths.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a - b, or 0. */
static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* --- columns by count -------------------------------------------------------
 */

struct ranked {
	uint64_t *count; /* greatest first */
	uint64_t *sum;   /* of the first so many */
	size_t n, cap;
};

static int by_count(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

static void ranked_fill(struct ranked *r, const struct overlap_bounds *b,
                        const struct overlap_block *block)
{
	size_t n = block->ncolumns;

	if (n >= r->cap) {
		r->cap = 2 * n + 16;
		r->count = xrealloc(r->count, r->cap, sizeof(*r->count));
		r->sum = xrealloc(r->sum, r->cap, sizeof(*r->sum));
	}
	for (size_t i = 0; i < n; i++)
		r->count[i] = b->columns[block->first_column + i].count;
	if (n)
		qsort(r->count, n, sizeof(*r->count), by_count);
	r->sum[0] = 0;
	for (size_t i = 0; i < n; i++)
		r->sum[i + 1] = r->sum[i] + r->count[i];
	r->n = n;
}

/* How many are above a bound. */
static size_t ranked_above(const struct ranked *r, uint64_t bound)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->count[middle] > bound)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The sum of min(cap, C) over all columns. */
static uint64_t ranked_capped(const struct ranked *r, uint64_t cap)
{
	size_t n = ranked_above(r, cap);

	return cap * n + r->sum[r->n] - r->sum[n];
}

/* The sum of what min(cap, C) is above a bound. */
static uint64_t ranked_excess(const struct ranked *r, uint64_t cap,
                              uint64_t bound)
{
	size_t n = ranked_above(r, bound), ncapped = ranked_above(r, cap);

	if (cap <= bound)
		return 0;
	return cap * ncapped + r->sum[n] - r->sum[ncapped] - bound * n;
}

/* --- blocks ------------------------------------------------------------------
 */

/* A row, column or open half with the block that it belongs to. */
struct piece {
	uint32_t group, what_last;
	uint64_t what_sum;
	bool is_whole;
	uint32_t function;
	struct overlap_margin m;
};

struct pieces {
	struct piece *items;
	size_t n, cap;
};

struct builder {
	struct overlap_bounds *b;
	const struct overlap_margins *m;
	struct ranked ranked;
};

static int by_block(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->what_last != y->what_last)
		return x->what_last < y->what_last ? -1 : 1;
	if (x->what_sum != y->what_sum)
		return x->what_sum < y->what_sum ? -1 : 1;
	return x->is_whole < y->is_whole ? -1 : x->is_whole > y->is_whole;
}

static int by_name(const struct overlap_margin *x,
                   const struct overlap_margin *y)
{
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return x->sum < y->sum ? -1 : x->sum > y->sum;
}

static int by_block_and_name(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	int order = by_block(x, y);

	return order ? order : by_name(&x->m, &y->m);
}

/* Adds a half if its class is known at this degree. */
static void pieces_add(struct pieces *x, const struct overlap_margins *m,
                       enum overlap_kind kind, int32_t degree,
                       const struct overlap_item *name,
                       const struct overlap_item *to)
{
	struct piece piece = {
	        .group = to->group,
	        .function = to->function,
	        .m = {name->first, name->last, name->sum, to->count, 0},
	};
	struct overlap_behind behind;

	if (degree != OVERLAP_PLAIN) {
		if (!overlap_behind(&m->profile->graphs[to->function], kind,
		                    to->from, to->number, to->block,
		                    (uint32_t)degree, &behind))
			return;
		/* a path that was not completed is counted no more */
		if (behind.is_whole && to->block != CFG_NONE)
			return;
		piece.what_last = behind.part.last;
		piece.what_sum = behind.part.sum;
		piece.is_whole = behind.is_whole;
	}
	VEC_RESERVE(x->items, x->n, x->cap);
	x->items[x->n++] = piece;
}

static void pieces_sum(struct pieces *x)
{
	size_t kept = 0;

	if (x->n)
		qsort(x->items, x->n, sizeof(*x->items), by_block_and_name);
	for (size_t i = 0; i < x->n; i++) {
		if (kept &&
		    !by_block_and_name(&x->items[kept - 1], &x->items[i]))
			x->items[kept - 1].m.count += x->items[i].m.count;
		else
			x->items[kept++] = x->items[i];
	}
	x->n = kept;
}

/* The next pieces from *at on that belong to a block: their number. */
static size_t pieces_of(const struct pieces *x, const struct piece *block,
                        size_t *at)
{
	size_t n = 0;

	while (*at < x->n && by_block(&x->items[*at], block) < 0)
		++*at;
	while (*at + n < x->n && !by_block(&x->items[*at + n], block))
		n++;
	return n;
}

static void put_rows(struct overlap_bounds *b, struct overlap_margin m)
{
	VEC_RESERVE(b->rows, b->nrows, b->rows_cap);
	b->rows[b->nrows++] = m;
}

static void put_columns(struct overlap_bounds *b, struct overlap_margin m)
{
	VEC_RESERVE(b->columns, b->ncolumns, b->columns_cap);
	b->columns[b->ncolumns++] = m;
}

static struct overlap_block *put_block(struct overlap_bounds *b,
                                       struct overlap_block block)
{
	VEC_RESERVE(b->blocks, b->nblocks, b->blocks_cap);
	b->blocks[b->nblocks] = block;
	return &b->blocks[b->nblocks++];
}

/* --- blocks by class ---------------------------------------------------------
 */

static struct overlap_totals *totals_of(const struct overlap_bounds *b,
                                        const struct overlap_block *block)
{
	return &b->totals[(size_t)OVERLAP_NKINDS * block->function +
	                  block->kind];
}

/* Sums over all pairs of a row. */
static void sum_row(const struct ranked *r, const struct overlap_block *block,
                    struct overlap_margin *row, struct overlap_totals *t)
{
	uint64_t capped = ranked_capped(r, row->count);
	uint64_t spare;

	row->reach = capped + least(row->count, block->nopen);
	spare = above(row->reach, row->count);
	t->potential += capped;
	t->definite += ranked_excess(r, row->count, spare);
	t->tight_definite +=
	        ranked_excess(r, block->total, above(block->total, row->count));
	if (spare) {
		t->nexact -= r->n;
		t->ntight -= r->n;
	}
}

static void sum_block(struct builder *x, const struct overlap_block *block)
{
	struct overlap_bounds *b = x->b;

	ranked_fill(&x->ranked, b, block);
	for (size_t i = 0; i < block->nrows; i++)
		sum_row(&x->ranked, block, &b->rows[block->first_row + i],
		        totals_of(b, block));
}

static void add_block(struct builder *x, enum overlap_kind kind,
                      const struct piece *rows, size_t nrows,
                      const struct piece *columns, size_t ncolumns,
                      uint64_t nopen)
{
	struct overlap_bounds *b = x->b;
	struct overlap_block block = {
	        .kind = kind,
	        .group = rows->group,
	        .what_last = rows->what_last,
	        .what_sum = rows->what_sum,
	        .is_whole = rows->is_whole,
	        .function = (ncolumns ? columns : rows)->function,
	        .first_row = b->nrows,
	        .nrows = nrows,
	        .first_column = b->ncolumns,
	        .ncolumns = ncolumns,
	        .nopen = nopen,
	        .total = nopen,
	};

	for (size_t i = 0; i < nrows; i++) {
		put_rows(b, rows[i].m);
		block.row_sum += rows[i].m.count;
	}
	for (size_t i = 0; i < ncolumns; i++) {
		put_columns(b, columns[i].m);
		block.total += columns[i].m.count;
	}
	if (block.total < block.row_sum) /* no program counts so */
		block.total = block.row_sum;
	sum_block(x, put_block(b, block));
}

static void join_blocks(struct builder *x, enum overlap_kind kind,
                        struct pieces *rows, struct pieces *columns,
                        struct pieces *open)
{
	size_t column = 0, at = 0;

	pieces_sum(rows);
	pieces_sum(columns);
	pieces_sum(open);
	for (size_t i = 0, nrows; i < rows->n; i += nrows) {
		size_t ncolumns = pieces_of(columns, &rows->items[i], &column);
		size_t nopens = pieces_of(open, &rows->items[i], &at);
		uint64_t nopen = 0;

		nrows = 1;
		while (i + nrows < rows->n &&
		       !by_block(&rows->items[i + nrows], &rows->items[i]))
			nrows++;
		for (size_t k = 0; k < nopens; k++)
			nopen += open->items[at + k].m.count;
		add_block(x, kind, &rows->items[i], nrows,
		          ncolumns ? &columns->items[column] : NULL, ncolumns,
		          nopen);
	}
	free(rows->items);
	free(columns->items);
	free(open->items);
}

/* Rows from paths alone: those of loops. */
static void add_loop_rows(const struct builder *x, struct pieces *rows)
{
	const struct overlap_items *first = &x->m->first[OVERLAP_LOOP];

	for (size_t i = 0; i < first->n; i++)
		pieces_add(rows, x->m, OVERLAP_LOOP, OVERLAP_PLAIN,
		           &first->items[i], &first->items[i]);
}

static void build_by_class(struct builder *x, enum overlap_kind kind)
{
	const struct overlap_margins *m = x->m;
	int32_t degree = x->b->degree;
	struct pieces rows = {0}, columns = {0}, open = {0};

	for (size_t i = 0; i < m->second[kind].n; i++)
		pieces_add(&columns, m, kind, degree, &m->second[kind].items[i],
		           &m->second[kind].items[i]);
	if (degree == OVERLAP_PLAIN || !m->profile->is_finished)
		for (size_t i = 0; i < m->open[kind].n; i++)
			pieces_add(&open, m, kind, degree,
			           &m->open[kind].items[i],
			           &m->open[kind].items[i]);
	if (degree == OVERLAP_PLAIN)
		add_loop_rows(x, &rows);
	for (size_t i = 0; i < m->njoints[kind] && degree != OVERLAP_PLAIN; i++)
		pieces_add(&rows, m, kind, degree, &m->joints[kind][i].row,
		           &m->joints[kind][i].to);
	join_blocks(x, kind, &rows, &columns, &open);
}

/* --- blocks by site, from plain paths ----------------------------------------
 */

static uint64_t open_of(const struct overlap_items *open, uint32_t group)
{
	uint64_t sum = 0;
	size_t n;
	const struct overlap_item *items = overlap_items_of(open, group, &n);

	for (size_t i = 0; i < n; i++)
		sum += items[i].count;
	return sum;
}

/* At least so much of the calls goes through a row. */
static uint64_t needed_row(const struct overlap_block *block, uint64_t row)
{
	uint64_t others = block->row_sum + block->nopen_rows - row;

	return above(block->ncalls, others);
}

static void sum_site_row(const struct ranked *r,
                         const struct overlap_block *block, uint64_t row,
                         struct overlap_totals *t)
{
	uint64_t cap = least(block->ncalls, row);
	uint64_t need = needed_row(block, row);
	uint64_t spare = above(block->reach, block->ncalls);

	t->potential += ranked_capped(r, cap);
	t->definite += ranked_excess(r, cap, spare);
	t->tight_definite +=
	        ranked_excess(r, block->total, above(block->total, need));
	if (spare)
		t->nexact -= r->n;
	if (need == block->total)
		t->ntight += r->n;
	else if (need == cap) /* and the column has all */
		t->ntight += ranked_above(r, above(block->total, 1));
	t->ntight -= r->n;
}

static void sum_site(struct builder *x, struct overlap_block *block)
{
	struct overlap_bounds *b = x->b;
	const struct overlap_margin *rows = b->rows + block->first_row;
	const struct ranked *r = &x->ranked;
	uint64_t cap;

	ranked_fill(&x->ranked, b, block);
	for (size_t i = 0; i <= block->nrows; i++) {
		cap = i < block->nrows ? rows[i].count : block->nopen_rows;
		cap = least(cap, block->ncalls);
		block->reach +=
		        ranked_capped(r, cap) + least(cap, block->nopen);
	}
	for (size_t i = 0; i < block->nrows; i++)
		sum_site_row(r, block, rows[i].count, totals_of(b, block));
}

/* All items as margins, in the same order. */
static void put_all(struct overlap_bounds *b, const struct overlap_items *x,
                    void (*put)(struct overlap_bounds *, struct overlap_margin))
{
	for (size_t i = 0; i < x->n; i++)
		put(b, (struct overlap_margin){
		               x->items[i].first, x->items[i].last,
		               x->items[i].sum, x->items[i].count, 0});
}

static int by_site(const void *a, const void *b)
{
	const struct overlap_calls *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void build_site(struct builder *x, enum overlap_kind kind,
                       const struct overlap_calls *calls, size_t row_base,
                       size_t column_base)
{
	const struct overlap_margins *m = x->m;
	bool is_call = kind == OVERLAP_CALL;
	const struct overlap_items *callers =
	        is_call ? &m->first[kind] : &m->second[kind];
	const struct overlap_items *callees =
	        is_call ? &m->second[kind] : &m->first[kind];
	const struct overlap_item *rows, *columns;
	struct overlap_block block = {
	        .kind = kind,
	        .by_site = true,
	        .group = calls->site,
	        .callee = calls->callee,
	        .function = is_call ? calls->callee
	                            : m->profile->sites[calls->site].function,
	        .ncalls = is_call ? calls->ncalls : calls->nreturns,
	};

	if (!block.ncalls)
		return;
	rows = overlap_items_of(callers, calls->site, &block.nrows);
	columns = overlap_items_of(callees, calls->callee, &block.ncolumns);
	if (!block.nrows || !block.ncolumns)
		return;
	block.first_row = row_base + (size_t)(rows - callers->items);
	block.first_column = column_base + (size_t)(columns - callees->items);
	block.nopen = open_of(is_call ? &m->open[kind] : &m->torn[kind],
	                      calls->callee);
	block.nopen_rows =
	        open_of(is_call ? &m->torn[kind] : &m->open[kind], calls->site);
	for (size_t i = 0; i < block.nrows; i++)
		block.row_sum += rows[i].count;
	block.total = block.nopen;
	for (size_t i = 0; i < block.ncolumns; i++)
		block.total += columns[i].count;
	if (block.total < block.ncalls) /* no program counts so */
		block.total = block.ncalls;
	sum_site(x, put_block(x->b, block));
}

static struct overlap_calls *sorted_calls(const struct overlap_profile *p)
{
	struct overlap_calls *calls = xcalloc(p->ncalls + 1, sizeof(*calls));

	if (p->ncalls) {
		memcpy(calls, p->calls, p->ncalls * sizeof(*calls));
		qsort(calls, p->ncalls, sizeof(*calls), by_site);
	}
	return calls;
}

static void build_by_site(struct builder *x, enum overlap_kind kind)
{
	const struct overlap_margins *m = x->m;
	struct overlap_bounds *b = x->b;
	struct overlap_calls *calls = sorted_calls(m->profile);
	size_t row = b->nrows, column = b->ncolumns;
	bool is_call = kind == OVERLAP_CALL;

	put_all(b, is_call ? &m->first[kind] : &m->second[kind], put_rows);
	put_all(b, is_call ? &m->second[kind] : &m->first[kind], put_columns);
	for (size_t i = 0; i < m->profile->ncalls; i++)
		build_site(x, kind, &calls[i], row, column);
	free(calls);
}

/* --- all of it ---------------------------------------------------------------
 */

static void count_pairs(struct overlap_bounds *b, enum overlap_kind kind,
                        uint32_t function, uint64_t n)
{
	struct overlap_totals *t =
	        &b->totals[(size_t)OVERLAP_NKINDS * function + kind];

	t->npairs += n;
	t->nexact += n; /* until a block takes it away */
	t->ntight += n;
}

/* The pairs that paths alone allow. */
static void count_all_pairs(struct overlap_bounds *b)
{
	const struct overlap_margins *m = b->margins;
	const struct overlap_profile *p = m->profile;
	const struct overlap_items *loops = &m->second[OVERLAP_LOOP];

	for (size_t i = 0, n = 1, nrows; i < loops->n; i += n) {
		overlap_items_of(loops, loops->items[i].group, &n);
		overlap_items_of(&m->first[OVERLAP_LOOP], loops->items[i].group,
		                 &nrows);
		count_pairs(b, OVERLAP_LOOP, loops->items[i].function,
		            nrows * n);
	}
	for (size_t i = 0; i < p->ncalls; i++) {
		const struct overlap_calls *c = &p->calls[i];
		size_t before, callee, last, rest;

		overlap_items_of(&m->first[OVERLAP_CALL], c->site, &before);
		overlap_items_of(&m->second[OVERLAP_CALL], c->callee, &callee);
		overlap_items_of(&m->first[OVERLAP_RETURN], c->callee, &last);
		overlap_items_of(&m->second[OVERLAP_RETURN], c->site, &rest);
		if (c->ncalls)
			count_pairs(b, OVERLAP_CALL, c->callee,
			            before * callee);
		if (c->nreturns)
			count_pairs(b, OVERLAP_RETURN,
			            p->sites[c->site].function, last * rest);
	}
}

static void totals_add(struct overlap_totals *to,
                       const struct overlap_totals *from)
{
	to->npairs += from->npairs;
	to->nexact += from->nexact;
	to->ntight += from->ntight;
	to->real += from->real;
	to->definite += from->definite;
	to->tight_definite += from->tight_definite;
	to->potential += from->potential;
}

static void sum_totals(struct overlap_bounds *b)
{
	const struct overlap_margins *m = b->margins;

	for (int k = 0; k < OVERLAP_NKINDS; k++)
		for (size_t i = 0; i < m->njoints[k]; i++)
			b->totals[(size_t)OVERLAP_NKINDS *
			                  m->joints[k][i].to.function +
			          (size_t)k]
			        .real += m->joints[k][i].to.count;
	for (uint32_t i = 0; i < m->profile->nfunctions; i++)
		for (int k = 0; k < OVERLAP_NKINDS; k++)
			totals_add(&b->all[k],
			           &b->totals[(size_t)OVERLAP_NKINDS * i +
			                      (size_t)k]);
	for (int k = 0; k < OVERLAP_NKINDS; k++)
		totals_add(&b->sum, &b->all[k]);
}

void overlap_bounds_init(struct overlap_bounds *b,
                         const struct overlap_margins *m, int32_t degree)
{
	struct builder x = {.b = b, .m = m};

	assert(degree <= overlap_margins_known(m));
	*b = (struct overlap_bounds){.margins = m, .degree = degree};
	b->totals = xcalloc(OVERLAP_NKINDS * (size_t)m->profile->nfunctions + 1,
	                    sizeof(*b->totals));
	count_all_pairs(b);
	build_by_class(&x, OVERLAP_LOOP);
	for (enum overlap_kind k = OVERLAP_CALL; k <= OVERLAP_RETURN; k++) {
		if (degree == OVERLAP_PLAIN)
			build_by_site(&x, k);
		else
			build_by_class(&x, k);
	}
	sum_totals(b);
	free(x.ranked.count);
	free(x.ranked.sum);
}

void overlap_bounds_release(struct overlap_bounds *b)
{
	free(b->rows);
	free(b->columns);
	free(b->blocks);
	free(b->totals);
	*b = (struct overlap_bounds){0};
}

/* --- single pairs ------------------------------------------------------------
 */

struct overlap_bound overlap_bounds_cell(const struct overlap_bounds *b,
                                         const struct overlap_block *block,
                                         size_t row, size_t column)
{
	uint64_t r = b->rows[row].count, c = b->columns[column].count;
	uint64_t spare = above(b->rows[row].reach, r);
	struct overlap_bound bound = {0};

	if (block->by_site) {
		spare = above(block->reach, block->ncalls);
		bound.upper = least(least(block->ncalls, r), c);
		r = needed_row(block, r);
	} else {
		bound.upper = least(r, c);
	}
	bound.lower = above(bound.upper, spare);
	bound.tight_lower = above(r + c, block->total);
	return bound;
}

static int block_order(const struct overlap_block *x,
                       const struct overlap_block *y)
{
	struct piece a = {
	        .group = x->group,
	        .what_last = x->what_last,
	        .what_sum = x->what_sum,
	        .is_whole = x->is_whole,
	};
	struct piece b = {
	        .group = y->group,
	        .what_last = y->what_last,
	        .what_sum = y->what_sum,
	        .is_whole = y->is_whole,
	};

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->group == y->group && x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return by_block(&a, &b);
}

static const struct overlap_block *find_block(const struct overlap_bounds *b,
                                              const struct overlap_block *key)
{
	size_t low = 0, high = b->nblocks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = block_order(&b->blocks[middle], key);

		if (!order)
			return &b->blocks[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static size_t find_margin(const struct overlap_margin *margins, size_t first,
                          size_t n, const struct overlap_item *name)
{
	struct overlap_margin key = {name->first, name->last, name->sum, 0, 0};
	size_t low = first, high = first + n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = by_name(&margins[middle], &key);

		if (!order)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

/* The halves of a pair as a block by site has them. */
static void find_key(const struct overlap_bounds *b, enum overlap_kind kind,
                     const struct overlap_joint *pair,
                     struct overlap_block *key, struct overlap_item *row,
                     struct overlap_item *column)
{
	const struct overlap_item *to =
	        &b->margins->second[kind].items[pair->column];
	struct overlap_behind behind = {0};

	*key = (struct overlap_block){.kind = kind, .group = to->group};
	*row = pair->row;
	*column = *to;
	if (b->degree != OVERLAP_PLAIN) {
		/* it is whole, so this is known */
		(void)overlap_behind(&b->margins->profile->graphs[to->function],
		                     kind, to->from, to->number, to->block,
		                     (uint32_t)b->degree, &behind);
		key->what_last = behind.part.last;
		key->what_sum = behind.part.sum;
		key->is_whole = behind.is_whole;
	} else if (kind == OVERLAP_CALL) {
		key->group = pair->row.first;
		key->callee = to->group;
		row->first = 0;
	} else if (kind == OVERLAP_RETURN) {
		key->callee = pair->row.first;
		*row = *to;
		*column = pair->row;
		column->first = 0;
	}
}

struct overlap_bound overlap_bounds_pair(const struct overlap_bounds *b,
                                         enum overlap_kind kind,
                                         const struct overlap_joint *pair)
{
	const struct overlap_block *block;
	struct overlap_item row, column;
	struct overlap_block key;
	size_t r, c;

	if (pair->column == SIZE_MAX) /* no program counts so */
		return (struct overlap_bound){0};
	find_key(b, kind, pair, &key, &row, &column);
	block = find_block(b, &key);
	if (!block)
		return (struct overlap_bound){0};
	r = find_margin(b->rows, block->first_row, block->nrows, &row);
	c = find_margin(b->columns, block->first_column, block->ncolumns,
	                &column);
	if (r == SIZE_MAX || c == SIZE_MAX)
		return (struct overlap_bound){0};
	return overlap_bounds_cell(b, block, r, c);
}

/* --- degrees -----------------------------------------------------------------
 */

uint32_t overlap_margins_degree(const struct overlap_margins *m)
{
	uint32_t most = 0;

	for (int k = 0; k < OVERLAP_NKINDS; k++)
		for (size_t i = 0; i < m->njoints[k]; i++) {
			const struct overlap_item *to = &m->joints[k][i].to;
			block_id from = to->from;
			uint32_t degree;

			if (i && to->group == m->joints[k][i - 1].to.group)
				continue;
			if (k == OVERLAP_LOOP)
				from = to->group - m->base[to->function];
			degree = overlap_degree(
			        &m->profile->graphs[to->function],
			        (enum overlap_kind)k, from);
			most = degree > most ? degree : most;
		}
	return most;
}

int32_t overlap_margins_known(const struct overlap_margins *m)
{
	int32_t least_known = OVERLAP_ALL;

	for (int k = 0; k < OVERLAP_NKINDS; k++)
		for (size_t i = 0; i < m->njoints[k]; i++) {
			const struct overlap_item *to = &m->joints[k][i].to;
			struct overlap_behind b;

			if (m->joints[k][i].column != SIZE_MAX ||
			    overlap_behind(&m->profile->graphs[to->function],
			                   (enum overlap_kind)k, to->from,
			                   to->number, to->block, OVERLAP_MAX,
			                   &b))
				continue;
			if ((int32_t)b.degree < least_known)
				least_known = (int32_t)b.degree;
		}
	return least_known;
}
