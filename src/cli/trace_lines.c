/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a path as "words.c:70-74,80". */
#include "cli/trace_input.h"

#include "base/alloc.h"
#include "format/map.h"

#include <stdio.h>
#include <string.h>

struct line_list {
	FILE *out;
	const char *file;
	uint32_t first, last;
	bool is_begun;
};

static void end_range(struct line_list *l)
{
	if (!l->is_begun)
		return;
	if (l->last > l->first)
		fprintf(l->out, "-%u", l->last);
	l->is_begun = false;
}

static void visit_line(void *context, const char *file,
                       const struct map_line *line)
{
	struct line_list *l = context;
	const char *slash = strrchr(file, '/');

	file = slash ? slash + 1 : file;
	if (l->is_begun && strcmp(file, l->file) == 0 &&
	    (line->line == l->last || line->line == l->last + 1)) {
		l->last = line->line;
		return;
	}
	end_range(l);
	if (l->file && strcmp(file, l->file) == 0)
		fprintf(l->out, ",%u", line->line);
	else
		fprintf(l->out, "%s%s:%u", l->file ? " " : "", file,
		        line->line);
	l->file = file;
	l->first = l->last = line->line;
	l->is_begun = true;
}

char *trace_lines(const struct trace_input *in, uint32_t function,
                  const uint32_t *blocks, uint32_t nblocks)
{
	char *text;
	size_t n;
	struct line_list l = {.out = open_memstream(&text, &n)};

	if (!l.out)
		return xstrdup("");
	for (uint32_t i = 0; i < nblocks; i++)
		trace_input_lines(in, function, blocks[i], visit_line, &l);
	end_range(&l);
	fclose(l.out);
	return text;
}
