/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole program path as JSON: symbols, the grammar's rules with all items,
 * hot subpaths, loops, phases with all intervals.  docs/FORMAT.md has the
 * schema.  Numbers of 2^53 and more, which many readers of JSON cannot hold,
 * are strings.
 */
#include "cli/wpp.h"

#include "analysis/phases.h"
#include "base/json.h"

#include <inttypes.h>

#define JSON_VERSION 1
#define EXACT_LIMIT ((uint64_t)1 << 53)

static void put(struct json *j, uint64_t v)
{
	char text[24];

	if (v < EXACT_LIMIT) {
		json_u64(j, v);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, v);
	json_string(j, text);
}

static void put_key(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	put(j, v);
}

static void begin_list(struct json *j, const char *key)
{
	json_key(j, key);
	json_begin(j, '[');
}

static void put_symbols(const struct wpp *w, struct json *j)
{
	static const char *const kinds[] = {
	        [WPP_PATH] = "path",     [WPP_CALL] = "call",
	        [WPP_RETURN] = "return", [WPP_DEATH] = "death",
	        [WPP_THREAD] = "thread",
	};

	begin_list(j, "symbols");
	for (uint32_t i = 0; i < w->nsymbols; i++) {
		const struct wpp_symbol *s = &w->symbols[i];

		json_begin(j, '{');
		json_key(j, "kind");
		json_string(j, kinds[s->kind]);
		json_key(j, "function");
		json_string(j, s->function);
		if (s->kind == WPP_PATH || s->kind == WPP_THREAD)
			put_key(j, "number", s->number);
		if (s->kind == WPP_PATH) {
			json_key(j, "lines");
			json_string(j, s->lines);
			put_key(j, "instructions", s->weight);
		}
		put_key(j, "count", w->counts[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* What it is and how many times: symbols are their index, rules "r" and it. */
static void put_item(struct json *j, const struct grammar_item *item)
{
	char text[16];

	json_begin(j, '[');
	if (grammar_is_rule(item->symbol)) {
		snprintf(text, sizeof(text), "r%" PRIu32,
		         item->symbol - GRAMMAR_RULE);
		json_string(j, text);
	} else {
		json_u64(j, item->symbol);
	}
	put(j, item->times);
	json_end(j, ']');
}

static void put_rules(const struct wpp *w, struct json *j)
{
	const struct grammar *g = &w->g;

	begin_list(j, "rules");
	for (uint32_t r = 0; r < g->nrules; r++) {
		json_begin(j, '{');
		put_key(j, "occurrences", g->occurrences[r]);
		put_key(j, "symbols", g->length[r]);
		put_key(j, "instructions", g->weight[r]);
		begin_list(j, "items");
		for (size_t i = g->first[r]; i < g->first[r + 1]; i++)
			put_item(j, &g->items[i]);
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_hot(const struct wpp *w, struct json *j)
{
	json_key(j, "hot");
	json_begin(j, '{');
	put_key(j, "shortest", w->options.hot.shortest);
	put_key(j, "longest", w->options.hot.longest);
	put_key(j, "instructions", w->options.hot.threshold);
	begin_list(j, "subpaths");
	for (size_t i = 0; i < w->hot.n; i++) {
		const struct subpath *p = &w->hot.items[i];

		json_begin(j, '{');
		put_key(j, "frequency", p->frequency);
		put_key(j, "instructions", p->weight);
		begin_list(j, "symbols");
		for (uint32_t k = 0; k < p->n; k++)
			json_u64(j, p->symbols[k]);
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void put_loops(const struct wpp *w, struct json *j)
{
	begin_list(j, "loops");
	for (size_t i = 0; i < w->loops.n; i++) {
		const struct repeat *r = &w->loops.items[i];

		json_begin(j, '{');
		json_key(j, "turn");
		put_item(j, &(struct grammar_item){r->symbol, 1});
		put_key(j, "runs", r->runs);
		put_key(j, "turns", r->turns);
		put_key(j, "fewest", r->fewest);
		put_key(j, "most", r->most);
		put_key(j, "instructions", r->weight);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_phase(const struct wpp *w, struct json *j, uint32_t phase)
{
	const struct wpp_phase *p = &w->phase[phase];
	char name[2] = {(char)('A' + phase), 0};

	json_begin(j, '{');
	json_key(j, "name");
	json_string(j, name);
	put_key(j, "instructions", p->work);
	begin_list(j, "symbols");
	for (size_t i = 0; i < p->nsymbols; i++) {
		json_begin(j, '{');
		put_key(j, "symbol", p->symbols[i]);
		put_key(j, "count", p->counts[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void put_phases(const struct wpp *w, struct json *j)
{
	begin_list(j, "phases");
	for (uint32_t i = 0; i < w->phases->nphases; i++)
		put_phase(w, j, i);
	json_end(j, ']');
	begin_list(j, "intervals");
	for (uint32_t i = 0; i < w->phases->n; i++) {
		const struct phases_interval *in = &w->phases->intervals[i];

		json_begin(j, '{');
		put_key(j, "first", in->first);
		put_key(j, "end", in->end);
		put_key(j, "instructions", in->work);
		put_key(j, "phase", in->phase);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void wpp_json(const struct wpp *w, FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};

	json_begin(&j, '{');
	put_key(&j, "version", JSON_VERSION);
	json_key(&j, "program");
	json_string(&j, w->program);
	put_key(&j, "threads", w->nthreads);
	put_key(&j, "length", grammar_length(&w->g));
	put_key(&j, "instructions", w->g.weight[grammar_start(&w->g)]);
	put_key(&j, "bytes", w->nbytes);
	put_symbols(w, &j);
	put_rules(w, &j);
	put_hot(w, &j);
	put_loops(w, &j);
	put_phases(w, &j);
	json_end(&j, '}');
}
