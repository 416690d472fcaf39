/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of a grammar.
 *
 * An item that a rule has several times in a row is a loop: sequitur.c makes
 * one item of whatever repeats, so that turns are counts and not structure.
 * J. Larus, "Whole program paths", PLDI 1999, shows that the rules of a whole
 * program path are the program's loops and calls.  The outline of a rule writes
 * its items down, and instead of rules that stand once what these generate, so
 * that only symbols and loops remain.  What is light is summed up.
 *
 * Invariant: the weights of the rows that are one deeper than a repeated one
 * sum to its weight; those of depth 0 to that of what is outlined. Cost:
 * repeats, linear in items, and a sort; an outline, what it shows, and the
 * items of rules that it opens.
 */
#include "analysis/repeats.h"

#include "analysis/grammar.h"
#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>

/* Marks weigh nothing; so many in a row are shown all the same. */
#define SHOWN_MARKS 4

/* A part of a loop that is shown with it: a tenth. */
#define LOOP_PART 10

/* Rules within rules that are opened, at most. */
#define DEEPEST 1000

static uint64_t weight_of(const struct grammar *g, const uint64_t *weight,
                          uint32_t symbol)
{
	return grammar_is_rule(symbol) ? g->weight[symbol - GRAMMAR_RULE]
	                               : weight[symbol];
}

/* --- loops ------------------------------------------------------------- */

static void add_run(struct repeat *r, uint64_t occurrences, uint64_t times)
{
	if (!r->runs || times < r->fewest)
		r->fewest = times;
	if (times > r->most)
		r->most = times;
	r->runs += occurrences;
	r->turns += occurrences * times;
}

static int by_weight(const void *p, const void *q)
{
	const struct repeat *x = p, *y = q;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->turns != y->turns)
		return x->turns > y->turns ? -1 : 1;
	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

void repeats_init(struct repeats *r, const struct grammar *g,
                  const uint64_t *weight)
{
	uint32_t nsymbols = grammar_nsymbols(g);
	/* symbols, then rules */
	struct repeat *all =
	        xcalloc((size_t)nsymbols + g->nrules, sizeof(*all));

	*r = (struct repeats){0};
	for (uint32_t k = 0; k < g->nrules; k++) {
		for (size_t i = g->first[k]; i < g->first[k + 1]; i++) {
			uint32_t symbol = g->items[i].symbol;

			if (g->items[i].times > 1 && g->occurrences[k])
				add_run(&all[grammar_is_rule(symbol)
				                     ? nsymbols + symbol -
				                               GRAMMAR_RULE
				                     : symbol],
				        g->occurrences[k], g->items[i].times);
		}
	}
	for (size_t i = 0; i < (size_t)nsymbols + g->nrules; i++) {
		if (!all[i].runs)
			continue;
		all[i].symbol = i < nsymbols
		                        ? (uint32_t)i
		                        : GRAMMAR_RULE + (uint32_t)i - nsymbols;
		all[i].weight =
		        all[i].turns * weight_of(g, weight, all[i].symbol);
		VEC_RESERVE(r->items, r->n, r->cap);
		r->items[r->n++] = all[i];
	}
	free(all);
	if (r->n)
		qsort(r->items, r->n, sizeof(*r->items), by_weight);
}

void repeats_release(struct repeats *r)
{
	free(r->items);
	*r = (struct repeats){0};
}

/* --- outline ----------------------------------------------------------- */

/* A rule that is open. */
struct opened {
	size_t item, end;
	uint64_t executions; /* within what is outlined */
	uint64_t lightest;   /* weight that is shown of it */
	uint32_t depth;      /* of its rows */
};

struct writing {
	struct outline *o;
	const struct grammar *g;
	const uint64_t *weight;
	struct outline_options options;
	struct opened opened[DEEPEST];
	size_t n;
	/* things since the last row that are not shown */
	uint64_t nrest, rest_weight;
	uint32_t marks[SHOWN_MARKS];
	bool is_marks; /* all of them are, and in marks[] */
};

static void add_row(struct writing *w, struct outline_row row)
{
	VEC_RESERVE(w->o->rows, w->o->n, w->o->cap);
	w->o->rows[w->o->n++] = row;
}

/* Writes down what was not shown, at this depth. */
static void end_rest(struct writing *w, uint32_t depth)
{
	for (uint64_t i = 0; w->is_marks && i < w->nrest; i++)
		add_row(w, (struct outline_row){.kind = OUTLINE_SYMBOL,
		                                .depth = depth,
		                                .symbol = w->marks[i],
		                                .times = 1});
	if (!w->is_marks)
		add_row(w, (struct outline_row){.kind = OUTLINE_REST,
		                                .depth = depth,
		                                .times = w->nrest,
		                                .weight = w->rest_weight});
	w->nrest = w->rest_weight = 0;
	w->is_marks = true;
}

static void add_rest(struct writing *w, const struct grammar_item *item,
                     uint64_t weight)
{
	if (w->is_marks && w->nrest < SHOWN_MARKS && !weight &&
	    !grammar_is_rule(item->symbol) && item->times == 1)
		w->marks[w->nrest] = item->symbol;
	else
		w->is_marks = false;
	w->nrest++;
	w->rest_weight += weight;
}

static void open_rule(struct writing *w, uint32_t rule, struct opened in)
{
	in.item = w->g->first[rule];
	in.end = w->g->first[rule + 1];
	w->opened[w->n++] = in;
}

/* Of a loop that is shown a part is shown if it is one of the run, or of it. */
static uint64_t lightest_in(const struct opened *in, uint64_t weight)
{
	return weight / LOOP_PART < in->lightest ? weight / LOOP_PART + 1
	                                         : in->lightest;
}

static void outline_item(struct writing *w, const struct grammar_item *item,
                         struct opened in)
{
	bool is_rule = grammar_is_rule(item->symbol);
	uint64_t executions = in.executions * item->times;
	uint64_t weight = executions * weight_of(w->g, w->weight, item->symbol);

	if (weight < in.lightest || w->o->n >= w->options.rows ||
	    (is_rule && w->n == DEEPEST)) {
		add_rest(w, item, weight);
		return;
	}
	if (is_rule && item->times == 1) {
		in.executions = executions;
		open_rule(w, item->symbol - GRAMMAR_RULE, in);
		return;
	}
	end_rest(w, in.depth);
	add_row(w, (struct outline_row){
	                   .kind = is_rule ? OUTLINE_REPEAT : OUTLINE_SYMBOL,
	                   .depth = in.depth,
	                   .symbol = item->symbol,
	                   .times = item->times,
	                   .weight = weight,
	           });
	if (!is_rule)
		return;
	in.executions = executions;
	in.lightest = lightest_in(&in, weight);
	in.depth++;
	open_rule(w, item->symbol - GRAMMAR_RULE, in);
}

void outline_init(struct outline *o, const struct grammar *g,
                  const uint64_t *weight, uint32_t symbol,
                  const struct outline_options *options)
{
	struct writing *w = xcalloc(1, sizeof(*w));

	*o = (struct outline){0};
	*w = (struct writing){.o = o,
	                      .g = g,
	                      .weight = weight,
	                      .options = *options,
	                      .is_marks = true};
	if (grammar_is_rule(symbol))
		open_rule(w, symbol - GRAMMAR_RULE,
		          (struct opened){.executions = 1,
		                          .lightest = options->lightest});
	else
		add_row(w, (struct outline_row){.symbol = symbol,
		                                .times = 1,
		                                .weight = weight[symbol]});
	while (w->n) {
		struct opened *in = &w->opened[w->n - 1];

		if (in->item < in->end) {
			size_t item = in->item++;

			outline_item(w, &g->items[item], *in);
			continue;
		}
		w->n--;
		if (!w->n || w->opened[w->n - 1].depth != in->depth)
			end_rest(w, in->depth);
	}
	free(w);
}

void outline_release(struct outline *o)
{
	free(o->rows);
	*o = (struct outline){0};
}
