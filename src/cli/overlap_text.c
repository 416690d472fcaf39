/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of paths as text. */
#include "cli/overlap.h"

#include "base/text.h"
#include "cli/trace_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Numbers that are not known are dashes. */
struct number {
	char text[32];
};

static struct number number_of(const struct overlap_view *v, uint64_t n)
{
	struct number t = {"-"};

	if (!v->profile->is_plain)
		snprintf(t.text, sizeof(t.text), "%" PRIu64, n);
	return t;
}

/* How far a bound is off, in per cent of what is true. */
static struct number error_of(const struct overlap_view *v, uint64_t bound,
                              uint64_t real)
{
	double off = (double)bound - (double)real;
	struct number t = {"-"};

	if (!v->profile->is_plain)
		snprintf(t.text, sizeof(t.text), "%+.1f%%",
		         real ? 100.0 * off / (double)real : 0.0);
	return t;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void print_more(FILE *out, size_t n)
{
	if (n)
		text_print(out, "%11s (%zu more; --top 0 shows all)\n", "", n);
}

/* --- sums --------------------------------------------------------------------
 */

static void print_sums(const struct overlap_view *v, FILE *out,
                       const char *what, const struct overlap_bounds *b)
{
	static const char *const kinds[] = {"loops", "calls", "returns", "all"};
	bool tight = v->options.tight;

	text_print(out, "\n%s\n%-9s%14s%14s%23s%23s%9s\n", what, "", "pairs",
	           "real", "definite", "potential", "exact");
	for (int k = 0; k <= OVERLAP_NKINDS; k++) {
		const struct overlap_totals *t =
		        k < OVERLAP_NKINDS ? &b->all[k] : &b->sum;
		uint64_t definite = tight ? t->tight_definite : t->definite;

		text_print(out,
		           "%-9s%14" PRIu64 "%14s%14" PRIu64 " %8s%14" PRIu64
		           " %8s%8.1f%%\n",
		           kinds[k], t->npairs, number_of(v, t->real).text,
		           definite, error_of(v, definite, t->real).text,
		           t->potential,
		           error_of(v, t->potential, t->real).text,
		           percent(tight ? t->ntight : t->nexact, t->npairs));
	}
}

/* Functions whose paths were cut: what is missing is theirs, or next to it. */
static void print_cuts(const struct overlap_view *v, FILE *out)
{
	for (uint32_t i = 0; i < v->profile->nfunctions; i++)
		if (overlap_view_is_cut(v, i))
			text_print(out, "%14s%s\n", "",
			           trace_input_name(v->in, i));
}

static void print_excluded(const struct overlap_view *v, FILE *out)
{
	const struct overlap_excluded *x = &v->profile->excluded;
	const struct overlap_left_out *left = &v->profile->left_out;
	uint64_t all = overlap_excluded_sum(x), rest;

	if (v->profile->is_plain) {
		text_print(
		        out,
		        "\nexcluded, since only paths were counted:\n"
		        "%12" PRIu64 "  calls through pointers, of functions "
		        "without marks, or that did not always return\n"
		        "%12" PRIu64 "  functions entered by no other call\n",
		        x->nunmarked, x->nentered);
		if (v->counted.nleft)
			text_print(out,
			           "%12" PRIu32
			           "  functions whose counts are in "
			           "doubt: see cairn check\n",
			           v->counted.nleft);
		return;
	}
	rest = overlap_left_out_sum(left);
	if (left->any)
		text_print(out,
		           "\nnot marked by prefer: %" PRIu64
		           ", %.2f %% of the interesting flow\n"
		           "%12" PRIu64 "  in loops\n"
		           "%12" PRIu64 "  calls, and as many returns\n",
		           rest, percent(rest, rest + all + v->plain.sum.real),
		           left->nloops, left->ncalls);
	text_print(out,
	           "\nexcluded: %" PRIu64 ", %.2f %% of the interesting flow\n",
	           all, percent(all, rest + all + v->plain.sum.real));
	text_print(out,
	           "%12" PRIu64 "  turns of loops with several entries\n"
	           "%12" PRIu64 "  calls of functions without marks\n"
	           "%12" PRIu64 "  functions entered by no call that is known "
	           "(callbacks, handlers, threads)\n"
	           "%12" PRIu64 "  loops, %" PRIu64 " calls, %" PRIu64
	           " returns unfinished\n",
	           x->nirreducible, x->nunmarked, x->nentered,
	           x->nunfinished[OVERLAP_LOOP], x->nunfinished[OVERLAP_CALL],
	           x->nunfinished[OVERLAP_RETURN]);
	if (!x->ncut)
		return;
	text_print(out,
	           "%12" PRIu64 "  pairs within which paths were cut, of "
	           "functions with too many of them:\n",
	           x->ncut);
	print_cuts(v, out);
}

/* --- functions ---------------------------------------------------------------
 */

static void print_function(const struct overlap_view *v, FILE *out,
                           uint32_t function)
{
	struct overlap_totals t = overlap_view_sum(&v->bounds, function);
	bool tight = v->options.tight;

	if (v->profile->is_plain) {
		text_print(out, "%12" PRIu64 " %12" PRIu64 " %8.1f%%  %s\n",
		           tight ? t.tight_definite : t.definite, t.potential,
		           percent(tight ? t.ntight : t.nexact, t.npairs),
		           trace_input_name(v->in, function));
		return;
	}
	text_print(
	        out, "%12" PRIu64 " %9s %9s %8.1f%%  %s\n", t.real,
	        error_of(v, tight ? t.tight_definite : t.definite, t.real).text,
	        error_of(v, t.potential, t.real).text,
	        percent(tight ? t.ntight : t.nexact, t.npairs),
	        trace_input_name(v->in, function));
}

static void print_functions(const struct overlap_view *v, FILE *out)
{
	size_t n = least(v->nfunctions, v->options.top);

	if (v->profile->is_plain)
		text_print(out,
		           "\n%12s %12s %9s  function of the second half\n",
		           "definite", "potential", "exact");
	else
		text_print(out,
		           "\n%12s %9s %9s %9s  function of the second half\n",
		           "real", "definite", "potential", "exact");
	for (size_t i = 0; i < n; i++)
		print_function(v, out, v->functions[i]);
	print_more(out, v->nfunctions - n);
}

/* --- pairs -------------------------------------------------------------------
 */

static void print_half(const struct overlap_view *v, FILE *out, char mark,
                       const struct overlap_shown *s)
{
	text_print(out, "%14s%c %s  %s  ", "", mark,
	           trace_input_name(v->in, s->function), s->lines);
	for (uint32_t i = 0; i < s->nblocks; i++)
		text_print(out, "%sb%" PRIu32, i ? "." : "", s->blocks[i]);
	text_print(out, "\n");
}

static void print_pair(const struct overlap_view *v, FILE *out,
                       const struct overlap_row *row)
{
	static const char *const kinds[] = {"loop", "call", "return"};
	struct overlap_bound b =
	        overlap_bounds_pair(&v->bounds, row->kind, row->joint);
	struct overlap_shown from, to;

	text_print(out, "%12s  %s [%" PRIu64 ", %" PRIu64 "]\n",
	           number_of(v, row->joint->to.count).text, kinds[row->kind],
	           v->options.tight ? b.tight_lower : b.lower, b.upper);
	overlap_view_halves(v, row, &from, &to);
	print_half(v, out, ' ', &from);
	print_half(v, out, '!', &to);
	overlap_shown_release(&from);
	overlap_shown_release(&to);
}

static void print_pairs(const struct overlap_view *v, FILE *out)
{
	size_t n = least(v->nrows, v->options.top);

	text_print(out, "\n%12s  pair, and its bounds\n", "real");
	for (size_t i = 0; i < n; i++)
		print_pair(v, out, &v->rows[i]);
	print_more(out, v->nrows - n);
}

void overlap_text(const struct overlap_view *v, FILE *out)
{
	const struct overlap_profile *p = v->profile;
	char title[64];

	text_print(out,
	           "%" PRIu64
	           " paths, of which %.1f %% are in pairs across loops",
	           v->npaths, percent(p->nin_loops, v->npaths));
	if (p->knows_in_calls)
		text_print(out, " and %.1f %% more across calls",
		           percent(p->nin_calls, v->npaths));
	text_print(out, "\n");
	text_print(out, "highest degree: %" PRIu32 "\n", v->maximum);
	if (v->nfindings)
		text_print(out,
		           "note: %zu findings of cairn check say that these "
		           "counts are not exact, and bounds need not hold\n",
		           v->nfindings);
	print_excluded(v, out);
	print_sums(v, out, "estimated from paths", &v->plain);
	if (!v->options.plain) {
		snprintf(title, sizeof(title),
		         "estimated from overlapping paths of degree %" PRIu32,
		         v->degree);
		print_sums(v, out, title, &v->bounds);
	}
	print_functions(v, out);
	print_pairs(v, out);
}
