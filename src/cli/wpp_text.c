/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole program path as text: what it was made of, its phases as a line of
 * letters, hot subpaths, loops, and the run as nested loops.
 */
#include "cli/wpp.h"

#include "analysis/phases.h"
#include "base/text.h"

#include <inttypes.h>

#define TIMELINE 72

/* What is shown of a loop: parts of a twentieth of it, so many rows. */
#define LOOP_PART 20
#define LOOP_ROWS 12

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static uint64_t all_of(const struct wpp *w)
{
	return w->g.weight[grammar_start(&w->g)];
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void print_symbol(const struct wpp *w, FILE *out, uint32_t symbol)
{
	const struct wpp_symbol *s = &w->symbols[symbol];

	switch (s->kind) {
	case WPP_PATH:
		text_print(out, "%s  %s", s->function,
		           s->lines && *s->lines ? s->lines : "no lines known");
		break;
	case WPP_CALL:
		text_print(out, "call %s", s->function);
		break;
	case WPP_RETURN:
		text_print(out, "return from %s", s->function);
		break;
	case WPP_DEATH:
		text_print(out, "%s is left, it does not return", s->function);
		break;
	case WPP_THREAD:
		text_print(out, "thread %" PRIu64, s->number);
		break;
	}
}

static void print_more(FILE *out, size_t n)
{
	if (n)
		text_print(out, "%14s (%zu more; --top 0 shows all)\n", "", n);
}

/* --- phases ------------------------------------------------------------ */

static void print_phase(const struct wpp *w, FILE *out, uint32_t phase)
{
	const struct wpp_phase *p = &w->phase[phase];

	text_print(out, "%c %20" PRIu64 " %6.2f  ", (int)('A' + phase), p->work,
	           percent(p->work, all_of(w)));
	for (size_t i = 0; i < p->nsymbols; i++) {
		uint64_t work = p->counts[i] * w->weight[p->symbols[i]];

		if (i)
			text_print(out, "%31s", "");
		text_print(out, "%6.2f %%  ", percent(work, p->work));
		print_symbol(w, out, p->symbols[i]);
		text_print(out, "\n");
	}
	if (!p->nsymbols)
		text_print(out, "\n");
}

static void print_phases(const struct wpp *w, FILE *out)
{
	char timeline[TIMELINE + 1];

	if (!w->phases->work)
		return;
	phases_timeline(w->phases, timeline, TIMELINE);
	text_print(out,
	           "\nphases: each letter is %.3g %% of all instructions\n"
	           "%s\n\n"
	           "%-1s %20s %6s  paths that most of it is spent in\n",
	           100.0 / TIMELINE, timeline, " ", "instructions", "%");
	for (uint32_t i = 0; i < w->phases->nphases; i++)
		print_phase(w, out, i);
}

/* --- hot subpaths ------------------------------------------------------ */

static void print_subpath(const struct wpp *w, FILE *out, size_t i)
{
	const struct subpath *p = &w->hot.items[i];

	text_print(out,
	           "\n#%zu %.2f %%: %" PRIu64 " times, %" PRIu64
	           " instructions in %" PRIu32 " symbol%s\n",
	           i + 1, percent(subpath_cost(p), all_of(w)), p->frequency,
	           p->weight, p->n, p->n == 1 ? "" : "s");
	for (uint32_t k = 0; k < p->n; k++) {
		text_print(out, "    ");
		print_symbol(w, out, p->symbols[k]);
		text_print(out, "\n");
	}
}

static void print_hot(const struct wpp *w, FILE *out)
{
	size_t shown = least(w->hot.n, w->options.top);

	text_print(out,
	           "\nhot subpaths: %zu, of %" PRIu32 " to %" PRIu32
	           " symbols and at least %g %% of all instructions;\n"
	           "none begins with another one; occurrences may overlap\n",
	           w->hot.n, w->options.hot.shortest, w->options.hot.longest,
	           w->options.share / 1e4);
	for (size_t i = 0; i < shown; i++)
		print_subpath(w, out, i);
	print_more(out, w->hot.n - shown);
}

/* --- loops ------------------------------------------------------------- */

static void print_outline(const struct wpp *w, FILE *out,
                          const struct outline *o, uint64_t executions,
                          int indent)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct outline_row *r = &o->rows[i];

		text_print(out, "%6.2f %*s",
		           percent(r->weight * executions, all_of(w)),
		           indent + 2 * (int)r->depth, "");
		if (r->kind == OUTLINE_REST) {
			text_print(out,
			           "(%" PRIu64 " thing%s of less weight)\n",
			           r->times, r->times == 1 ? "" : "s");
			continue;
		}
		if (r->kind == OUTLINE_REPEAT) {
			text_print(out, "%" PRIu64 " times:\n", r->times);
			continue;
		}
		if (r->times > 1)
			text_print(out, "%" PRIu64 " times: ", r->times);
		print_symbol(w, out, r->symbol);
		text_print(out, "\n");
	}
}

static void print_loop(const struct wpp *w, FILE *out, size_t i)
{
	const struct repeat *r = &w->loops.items[i];
	uint64_t turn = r->turns ? r->weight / r->turns : 0;
	struct outline_options options = {turn / LOOP_PART + 1, LOOP_ROWS};
	struct outline o;

	text_print(out,
	           "\n#%zu %.2f %%: begun %" PRIu64 " time%s, %" PRIu64
	           " turns",
	           i + 1, percent(r->weight, all_of(w)), r->runs,
	           r->runs == 1 ? "" : "s", r->turns);
	if (r->fewest == r->most)
		text_print(out, ", %" PRIu64 " each\n", r->most);
	else
		text_print(out, ", %" PRIu64 " to %" PRIu64 " each\n",
		           r->fewest, r->most);
	outline_init(&o, &w->g, w->weight, r->symbol, &options);
	print_outline(w, out, &o, r->turns, 1);
	outline_release(&o);
}

static void print_loops(const struct wpp *w, FILE *out)
{
	size_t shown = least(w->loops.n, w->options.top);

	text_print(out,
	           "\nloops: %zu; the heaviest, with what a turn does (%% of "
	           "all instructions)\n",
	           w->loops.n);
	for (size_t i = 0; i < shown; i++)
		print_loop(w, out, i);
	print_more(out, w->loops.n - shown);
	text_print(out, "\nthe run as nested loops (%% of all instructions)\n");
	print_outline(w, out, &w->outline, 1, 0);
}

static void print_head(const struct wpp *w, FILE *out)
{
	uint64_t length = grammar_length(&w->g);
	size_t nitems = grammar_nitems(&w->g);

	if (w->program)
		text_print(out, "program    %s\n", w->program);
	text_print(out,
	           "threads    %" PRIu32 "\n"
	           "symbols    %" PRIu64 ", %" PRIu32 " different ones\n"
	           "executed   %" PRIu64 " instructions\n"
	           "grammar    %" PRIu32 " rules, %zu items, %zu bytes: %.1f "
	           "symbols per item\n"
	           "phases     %" PRIu32 ", in %" PRIu32 " intervals\n",
	           w->nthreads, length, w->nsymbols, all_of(w), w->g.nrules,
	           nitems, w->nbytes,
	           nitems ? (double)length / (double)nitems : 0.0,
	           w->phases->nphases, w->phases->n);
}

void wpp_text(const struct wpp *w, FILE *out)
{
	print_head(w, out);
	print_phases(w, out);
	print_hot(w, out);
	print_loops(w, out);
}
