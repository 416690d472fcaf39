/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole program path of a run: all its parts, made in one pass.
 *
 * Symbols go into the grammar and into the phases as they come; everything else
 * is computed from the finished grammar, so that nothing is as long as the run.
 */
#include "cli/wpp.h"

#include "analysis/phases.h"
#include "analysis/sequitur.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

#include <assert.h>
#include <stdlib.h>

/* What the outline of the run shows: parts of a hundredth, so many rows. */
#define OUTLINE_PART 100
#define OUTLINE_ROWS 200

/* Symbols that are told of a phase. */
#define PHASE_SYMBOLS 5

void wpp_init(struct wpp *w, const struct wpp_options *o)
{
	*w = (struct wpp){.options = *o};
	w->sequitur = sequitur_new();
	w->phases = phases_new();
}

void wpp_release(struct wpp *w)
{
	for (uint32_t i = 0; i < w->nsymbols; i++)
		free(w->symbols[i].lines);
	for (uint32_t i = 0; w->phase && i < w->phases->nphases; i++) {
		free(w->phase[i].symbols);
		free(w->phase[i].counts);
	}
	free(w->phase);
	free(w->symbols);
	free(w->weight);
	free(w->counts);
	sequitur_free(w->sequitur);
	phases_free(w->phases);
	grammar_release(&w->g);
	subpaths_release(&w->hot);
	repeats_release(&w->loops);
	outline_release(&w->outline);
	*w = (struct wpp){0};
}

uint32_t wpp_add(struct wpp *w, struct wpp_symbol symbol)
{
	uint32_t n = w->nsymbols;

	assert(n < GRAMMAR_RULE);
	VEC_RESERVE(w->symbols, n, w->symbols_cap);
	VEC_RESERVE(w->weight, n, w->weight_cap);
	w->symbols[n] = symbol;
	w->weight[n] = symbol.weight;
	return w->nsymbols++;
}

void wpp_push(struct wpp *w, uint32_t symbol)
{
	assert(symbol < w->nsymbols);
	sequitur_push(w->sequitur, symbol);
	phases_push(w->phases, symbol, w->weight[symbol], 1);
}

void wpp_begin_thread(struct wpp *w)
{
	w->nthreads++;
	wpp_push(w, wpp_add(w, (struct wpp_symbol){.kind = WPP_THREAD,
	                                           .number = w->nthreads}));
}

/* --- phases ------------------------------------------------------------ */

static int by_work(const struct wpp *w, const uint64_t *counts, uint32_t a,
                   uint32_t b)
{
	uint64_t x = counts[a] * w->weight[a], y = counts[b] * w->weight[b];

	if (x != y)
		return x > y ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Puts a symbol where it belongs among the first few. */
static void rank_symbol(const struct wpp *w, struct wpp_phase *p,
                        const uint64_t *counts, uint32_t symbol)
{
	size_t i = p->nsymbols;

	while (i && by_work(w, counts, symbol, p->symbols[i - 1]) < 0)
		i--;
	if (i == PHASE_SYMBOLS)
		return;
	p->nsymbols += p->nsymbols < PHASE_SYMBOLS;
	for (size_t k = p->nsymbols - 1; k > i; k--) {
		p->symbols[k] = p->symbols[k - 1];
		p->counts[k] = p->counts[k - 1];
	}
	p->symbols[i] = symbol;
	p->counts[i] = counts[symbol];
}

static void describe_phase(const struct wpp *w, struct wpp_phase *p,
                           uint32_t phase)
{
	struct grammar_range *ranges = xcalloc(w->phases->n, sizeof(*ranges));
	uint64_t *counts = xcalloc(w->nsymbols, sizeof(*counts));

	for (uint32_t i = 0; i < w->phases->n; i++) {
		const struct phases_interval *in = &w->phases->intervals[i];

		if (in->phase != phase)
			continue;
		p->work += in->work;
		ranges[p->nintervals++] =
		        (struct grammar_range){in->first, in->end};
	}
	grammar_count(&w->g, ranges, p->nintervals, counts);
	p->symbols = xcalloc(PHASE_SYMBOLS, sizeof(*p->symbols));
	p->counts = xcalloc(PHASE_SYMBOLS, sizeof(*p->counts));
	for (uint32_t s = 0; s < w->nsymbols; s++)
		if (counts[s] && w->weight[s])
			rank_symbol(w, p, counts, s);
	free(counts);
	free(ranges);
}

/* --- all --------------------------------------------------------------- */

static void count_bytes(struct wpp *w)
{
	struct bytes b = {0};

	grammar_write(&w->g, &b);
	w->nbytes = b.n;
	bytes_release(&b);
}

int wpp_finish(struct wpp *w, struct cairn_err *err)
{
	struct subpaths_options *hot = &w->options.hot;
	struct outline_options outline = {.rows = OUTLINE_ROWS};
	uint64_t all;

	CAIRN_TRY(sequitur_finish(w->sequitur, &w->g, err));
	sequitur_free(w->sequitur);
	w->sequitur = NULL;
	CAIRN_TRY(grammar_measure(&w->g, w->weight, w->nsymbols, err));
	all = w->g.weight[grammar_start(&w->g)];
	hot->threshold = subpaths_threshold(all, w->options.share);
	CAIRN_TRY(subpaths_init(&w->hot, &w->g, w->weight, w->nsymbols, hot,
	                        err));
	repeats_init(&w->loops, &w->g, w->weight);
	outline.lightest = subpaths_threshold(all, 1000000 / OUTLINE_PART);
	outline_init(&w->outline, &w->g, w->weight,
	             GRAMMAR_RULE + grammar_start(&w->g), &outline);
	w->counts = xcalloc(w->nsymbols, sizeof(*w->counts));
	grammar_count(&w->g, &(struct grammar_range){0, grammar_length(&w->g)},
	              1, w->counts);
	count_bytes(w);
	phases_find(w->phases);
	w->phase = xcalloc(w->phases->nphases, sizeof(*w->phase));
	for (uint32_t i = 0; i < w->phases->nphases; i++)
		describe_phase(w, &w->phase[i], i);
	return 0;
}
