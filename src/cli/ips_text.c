/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path segments as text: a row each, hottest first, with the functions and
 * lines it runs through below it.
 */
#include "cli/ips.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* All that were seen, in a row or not. */
static uint64_t all_executions(const struct ips *x)
{
	return x->executions + x->nother + x->nlost;
}

static void print_row(struct ips *x, FILE *out, const struct ips_row *row)
{
	struct segments_one one;
	char *text;

	ips_read(x, row, &one);
	text_print(out, "%14" PRIu64 " %6.2f %% %5" PRIu32 "  %-8s  ",
	           row->count, percent(row->count, all_executions(x)),
	           row->depth, ips_end_name(x, &one));
	text = ips_path(x, &one, true);
	text_print(out, "%s\n", text);
	free(text);
	text = ips_lines(x, &one);
	text_print(out, "%47s%s\n", "", text);
	free(text);
}

static uint32_t count_sites(const struct ips *x)
{
	return x->s.ncopies - x->nfunctions;
}

void ips_text(struct ips *x, FILE *out)
{
	size_t n = x->nrows < x->options.shown ? x->nrows : x->options.shown;

	text_print(out, "%s: %zu path segments%s, executed %" PRIu64 " times\n",
	           x->program, x->nrows,
	           x->options.every ? "" : " that go into calls",
	           x->executions);
	if (x->s.is_planned)
		text_print(out,
		           "counted as one with %" PRIu32 " inlined calls\n",
		           count_sites(x));
	else
		text_print(out,
		           "depth %" PRIu32 ": they go into %" PRIu32
		           " calls, of different functions or at different "
		           "places\n",
		           x->options.depth, count_sites(x));
	if (x->nother)
		text_print(
		        out,
		        "other: %" PRIu64
		        " executions, %.2f %%, of segments that prefer= does "
		        "not name, counted together\n",
		        x->nother, percent(x->nother, all_executions(x)));
	if (x->nlost)
		text_print(out,
		           "lost: %" PRIu64 " executions, %.2f %%, of segments "
		           "that nobody can name\n",
		           x->nlost, percent(x->nlost, all_executions(x)));
	if (x->nchosen < x->nrows)
		text_print(out, "%zu of them are chosen\n", x->nchosen);
	if (n)
		text_print(out, "\n%14s %8s %5s  %-8s  blocks, (calls)\n",
		           "count", "share", "depth", "end");
	for (size_t i = 0; i < n; i++)
		print_row(x, out, &x->rows[i]);
	if (n < x->nrows)
		text_print(out, "%14s %zu more; --rows 0 shows all\n", "...",
		           x->nrows - n);
}
