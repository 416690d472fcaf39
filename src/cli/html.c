/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page for a browser.  It is one file that loads nothing: its
 * own policy forbids it to.  The data are JSON in script elements that no
 * browser runs, one for each function and source file, so that opening a page
 * about a large program parses only the index; the rest is parsed when it is
 * looked at.
 *
 * Whatever text comes from the program, its source or its names, is inside
 * JSON strings, where every '<' is written as \u003c: nothing in it can end
 * the element.  The page's own code puts it on the screen as text, never as
 * markup.  A page about lists has them as tables, markup that is there without
 * any code; the code makes their rows ones that can be selected.
 */
#include "cli/html.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/report.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define POLICY                                                 \
	"default-src 'none'; style-src 'unsafe-inline'; "      \
	"script-src 'unsafe-inline'; img-src data:; base-uri " \
	"'none'; form-action 'none'"

uint32_t html_source_of(struct html *h, const char *path, uint32_t module)
{
	uint32_t n = h->names.n;
	uint32_t source = strtab_add(&h->names, path, strlen(path));

	if (source < n)
		return source;
	VEC_RESERVE(h->sources, n, h->sources_cap);
	h->sources[source] = (struct html_source){module};
	return source;
}

static const char *escape_of(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

void html_text(FILE *out, const char *s)
{
	while (*s) {
		const char *escape = escape_of(*s);
		size_t n = text_character(s);

		if (escape)
			fputs(escape, out);
		else if (!n)
			fputs("\xef\xbf\xbd", out); /* U+FFFD */
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
}

struct json *html_element_begin(struct html_element *e)
{
	*e = (struct html_element){.json = {.flat_below = 0}};
	e->json.out = open_memstream(&e->data, &e->size);
	if (!e->json.out) {
		fprintf(stderr, "cairn: out of memory\n");
		exit(2);
	}
	return &e->json;
}

void html_element_end(struct html_element *e, FILE *out, char kind,
                      size_t number)
{
	const char *at, *next;

	fclose(e->json.out);
	fprintf(out, "<script type=\"application/json\" id=\"%c%zu\">", kind,
	        number);
	for (at = e->data; (next = strchr(at, '<')); at = next + 1) {
		fwrite(at, 1, (size_t)(next - at), out);
		fputs("\\u003c", out);
	}
	fputs(at, out);
	fputs("</script>\n", out);
	free(e->data);
}

/* What the page is about. */
static void put_title(const struct html *h, FILE *out)
{
	const char *program = h->report->profile->program;
	const char *slash = program ? strrchr(program, '/') : NULL;

	if (program) {
		html_text(out, slash ? slash + 1 : program);
		fputs(" - ", out);
	}
	if (h->lists)
		fprintf(out, "%s - ", h->lists->title);
	fputs("cairn", out);
}

void html_head_begin(FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY
	      "\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<meta name=\"generator\" content=\"cairn " CAIRN_VERSION "\">\n"
	      "<title>",
	      out);
}

void html_head_end(FILE *out, const unsigned char *more,
                   const unsigned char *body)
{
	fputs("</title>\n<style>\n", out);
	fputs((const char *)html_css, out);
	if (more)
		fputs((const char *)more, out);
	fputs("</style>\n</head>\n<body>\n", out);
	fputs((const char *)body, out);
}

void html_end(FILE *out, const unsigned char *const *scripts)
{
	fputs("<script>\n\"use strict\";\n", out);
	for (size_t i = 0; scripts[i]; i++)
		fputs((const char *)scripts[i], out);
	fputs("</script>\n</body>\n</html>\n", out);
}

static void put_data(struct html *h, FILE *out)
{
	struct html_element e;
	struct progress p;

	progress_begin(&p, "writing the functions of the page", false);
	for (size_t i = 0; i < h->report->nrows; i++) {
		html_put_function(h, html_element_begin(&e), i);
		html_element_end(&e, out, 'f', i);
		progress_tell(&p, i + 1, h->report->nrows);
	}
	progress_end(&p);
	progress_begin(&p, "writing the sources of the page", false);
	for (uint32_t i = 0; i < h->names.n; i++) {
		html_put_source(h, html_element_begin(&e), i);
		html_element_end(&e, out, 's', i);
		progress_tell(&p, i + 1, h->names.n);
	}
	progress_end(&p);
	html_put_index(h, html_element_begin(&e));
	html_element_end(&e, out, 'i', 0);
}

void html_page(const struct report *r, const struct hot *h,
               const struct html_lists *lists, FILE *out)
{
	struct html page = {.report = r, .hot = h, .lists = lists};

	html_paths_begin(&page);
	html_head_begin(out);
	put_title(&page, out);
	html_head_end(out, NULL, html_body);
	put_data(&page, out);
	if (lists) {
		fputs("<div id=\"tables\">\n<h1>", out);
		put_title(&page, out);
		fputs("</h1>\n", out);
		lists->put_tables(&page, out);
		fputs("</div>\n", out);
	}
	html_end(out, html_scripts);
	html_paths_end(&page);
	strtab_release(&page.names);
	free(page.sources);
}

void html_report(const struct report *r, const struct hot *h, FILE *out)
{
	html_page(r, h, NULL, out);
}
