/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a page about lists.  They are markup, to be read in any browser,
 * with or without the page's code; whatever text is put into them goes through
 * html_text.  What selecting a row means is in attributes that are numbers:
 * data-f, the function, data-p, its path, data-s and data-l, a line.
 */
#include "cli/html_list.h"

#include "cli/html.h"
#include "cli/side.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void html_section(FILE *out, const char *id, const char *heading)
{
	fprintf(out, "<section id=\"%s\">\n<h2>", id);
	html_text(out, heading);
	fputs("</h2>\n", out);
}

void html_section_end(FILE *out)
{
	fputs("</section>\n", out);
}

void html_table(FILE *out, const char *caption, const struct html_column *c,
                size_t n)
{
	fputs("<table>\n", out);
	if (caption) {
		fputs("<caption>", out);
		html_text(out, caption);
		fputs("</caption>\n", out);
	}
	fputs("<thead><tr>", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "<th scope=\"col\"%s",
		        c[i].is_number ? " class=\"num\"" : "");
		if (c[i].meaning) {
			fputs(" title=\"", out);
			html_text(out, c[i].meaning);
			fputs("\"", out);
		}
		fputs(">", out);
		html_text(out, c[i].name);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
}

void html_table_end(FILE *out)
{
	fputs("</tbody>\n</table>\n", out);
}

void html_more(FILE *out, size_t shown, size_t n)
{
	if (shown < n)
		fprintf(out,
		        "<p class=\"more\">%zu more are not on this page; "
		        "--top 0 shows all.</p>\n",
		        n - shown);
}

void html_row_of(FILE *out, const struct html_place *place, uint32_t source,
                 uint32_t line)
{
	fprintf(out, "<tr data-f=\"%" PRIu32 "\" data-p=\"%zu\"", place->row,
	        place->path);
	if (source != UINT32_MAX)
		fprintf(out, " data-s=\"%" PRIu32 "\" data-l=\"%" PRIu32 "\"",
		        source, line);
	fputs(">", out);
}

void html_row(FILE *out)
{
	fputs("<tr>", out);
}

void html_row_end(FILE *out)
{
	fputs("</tr>\n", out);
}

void html_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	html_text(out, text);
	fputs("</td>", out);
}

/* Groups of three digits have a narrow space between them, as everywhere on
 * the page. */
void html_cell_number(FILE *out, uint64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRIu64, v);

	fputs("<td class=\"num\">", out);
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			fputs("\xe2\x80\xaf", out); /* U+202F */
		putc(text[i], out);
	}
	fputs("</td>", out);
}

void html_cell_score(FILE *out, double v)
{
	fprintf(out, "<td class=\"num\">%.4f</td>", v);
}

void html_cell_share(FILE *out, uint64_t part, uint64_t whole, bool is_known)
{
	if (is_known)
		fprintf(out, "<td class=\"num\">%.1f %%</td>",
		        side_percent(part, whole));
	else
		fputs("<td class=\"num\">-</td>", out);
}

void html_cell_function(FILE *out, const struct side *s, uint32_t function)
{
	fputs("<td class=\"name\">", out);
	html_text(out, side_function(s, function));
	fputs("</td>", out);
}

/* A stream whose text goes through html_text. */
struct spool {
	FILE *stream;
	char *text;
	size_t size;
};

static void spool_begin(struct spool *s)
{
	*s = (struct spool){0};
	s->stream = open_memstream(&s->text, &s->size);
	if (!s->stream) {
		fprintf(stderr, "cairn: out of memory\n");
		exit(2);
	}
}

void html_cell_lines(FILE *out, const struct hot *view,
                     const struct hot_path *p)
{
	struct spool s;

	spool_begin(&s);
	hot_text_summary(view, s.stream, p);
	fclose(s.stream);
	fputs("<td class=\"name\">", out);
	html_text(out, s.text);
	fputs("</td>", out);
	free(s.text);
}

void html_notes(FILE *out, const struct side *side)
{
	struct spool s;
	char *next, *line;

	spool_begin(&s);
	side_text_notes(side, s.stream);
	fclose(s.stream);
	next = s.text;
	while ((line = next) && *line) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		fputs("<p class=\"note\">", out);
		html_text(out, line);
		fputs("</p>\n", out);
	}
	free(s.text);
}
