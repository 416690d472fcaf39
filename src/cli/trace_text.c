/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow as text: a line per event, indented by call depth.  A path is
 * shown by its source lines, in the order in which they ran; if a frame takes
 * the same one several times in a row it is shown once, with how often.
 *
 * What a path looks like is kept, as there are few different ones.
 */
#include "cli/trace_view.h"

#include "base/alloc.h"
#include "base/text.h"
#include "format/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INDENT_MAX 40

/* The last part of a path: enough for somebody who knows the program. */
const char *trace_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- lines --------------------------------------------------------------- */

/* Lines on their way into a text: "a.c:4-6,9 b.h:3". */
struct line_writer {
	FILE *out;
	const char *file;
	uint32_t first, last;
};

static void put_range(struct line_writer *w)
{
	if (!w->first)
		return;
	text_print(w->out, "%" PRIu32, w->first);
	if (w->last != w->first)
		text_print(w->out, "-%" PRIu32, w->last);
}

static void put_line(void *context, const char *file,
                     const struct map_line *line)
{
	struct line_writer *w = context;
	bool is_same = w->file && !strcmp(w->file, file);

	if (is_same && (line->line == w->last || line->line == w->last + 1)) {
		w->last = line->line;
		return;
	}
	put_range(w);
	if (!is_same)
		text_print(w->out, "%s%s:", w->file ? " " : "",
		           trace_base(file));
	else
		putc(',', w->out);
	w->file = file;
	w->first = w->last = line->line;
}

void trace_put_lines(const struct trace_view *v, FILE *out, uint32_t function,
                     const block_id *blocks, uint32_t n)
{
	struct line_writer w = {.out = out};

	for (uint32_t i = 0; i < n; i++)
		trace_input_lines(v->in, function, blocks[i], put_line, &w);
	put_range(&w);
	if (!w.file)
		fputs("(no source lines)", out);
}

static char *lines_text(const struct trace_view *v, const struct walk_event *e)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	trace_put_lines(v, out, e->function, e->way->blocks + e->nskipped,
	                walk_nblocks(e));
	fclose(out);
	return text;
}

static struct trace_way_text *find_text(struct trace_view *v,
                                        const struct walk_way *way)
{
	uint64_t h = (uint64_t)(uintptr_t)way * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (v->texts_cap - 1);

	while (v->texts[i].way && v->texts[i].way != way)
		i = (i + 1) & (v->texts_cap - 1);
	return &v->texts[i];
}

static void grow_texts(struct trace_view *v)
{
	struct trace_way_text *old = v->texts;
	size_t n = v->texts_cap;

	v->texts_cap = n ? 2 * n : 1024;
	v->texts = xcalloc(v->texts_cap, sizeof(*v->texts));
	for (size_t i = 0; i < n; i++)
		if (old[i].way)
			*find_text(v, old[i].way) = old[i];
	free(old);
}

/* What a whole path looks like. */
static const char *way_text(struct trace_view *v, const struct walk_event *e)
{
	struct trace_way_text *t;

	if (2 * v->ntexts >= v->texts_cap)
		grow_texts(v);
	t = find_text(v, e->way);
	if (!t->way) {
		v->ntexts++;
		*t = (struct trace_way_text){e->way, lines_text(v, e)};
	}
	return t->text;
}

/* --- events -------------------------------------------------------------- */

/* Where the threads are in one order: whose line this is. */
static void put_thread(const struct trace_view *v)
{
	if (v->o->interleave)
		text_print(v->out, "%6" PRIu32 " ",
		           v->in->streams.threads[v->thread].id);
}

static void put_margin(const struct trace_view *v, uint64_t block, size_t depth)
{
	size_t indent = depth < INDENT_MAX ? depth : INDENT_MAX;

	put_thread(v);
	if (v->o->times)
		text_print(v->out, "%16" PRIu64, trace_view_time(v, block));
	text_print(v->out, "%14" PRIu64 "  %*s", block, (int)(2 * indent), "");
	if (depth > INDENT_MAX)
		text_print(v->out, "[%zu] ", depth);
}

/* Prints the path that was repeated until now. */
static void flush_path(struct trace_view *v)
{
	const struct reader_event *event = &v->first_of_it;

	if (!v->repeated)
		return;
	put_margin(v, event->block, event->e.depth + 1);
	text_put(v->out, way_text(v, &event->e));
	if (v->nrepeated > 1)
		text_print(v->out, "  (%" PRIu64 " times)", v->nrepeated);
	putc('\n', v->out);
	v->repeated = NULL;
}

static void put_blocks(const struct trace_view *v,
                       const struct reader_event *event)
{
	const struct walk_event *e = &event->e;
	const block_id *blocks = e->way->blocks + e->nskipped;
	uint32_t n = walk_nblocks(e);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = v->o->reverse ? n - 1 - k : k;

		put_margin(v, event->block + i, e->depth + 1);
		text_print(v->out, "b%" PRIu32 "  ",
		           trace_input_block(v->in, e->function, blocks[i]));
		trace_put_lines(v, v->out, e->function, &blocks[i], 1);
		putc('\n', v->out);
	}
}

static void put_path(struct trace_view *v, const struct reader_event *event)
{
	const struct walk_event *e = &event->e;

	if (!walk_nblocks(e))
		return;
	if (v->o->blocks) {
		put_blocks(v, event);
		return;
	}
	if (v->repeated == e->way && v->first_of_it.e.depth == e->depth &&
	    !e->nskipped) {
		v->nrepeated++;
		return;
	}
	flush_path(v);
	if (e->nskipped) {
		char *text = lines_text(v, e);

		put_margin(v, event->block, e->depth + 1);
		text_print(v->out, "%s\n", text);
		free(text);
		return;
	}
	v->repeated = e->way;
	v->first_of_it = *event;
	v->nrepeated = 1;
}

static void put_function(const struct trace_view *v, uint32_t function)
{
	uint32_t line;
	const char *file = trace_input_file(v->in, function, &line);

	text_put(v->out, trace_input_name(v->in, function));
	if (file)
		text_print(v->out, "  %s:%" PRIu32, trace_base(file), line);
}

/* Where a frame goes on. */
static void put_place(const struct trace_view *v, const struct walk_event *e)
{
	if (e->block == CFG_OUTSIDE)
		return;
	fputs(", before ", v->out);
	trace_put_lines(v, v->out, e->function, &e->block, 1);
}

/* Does a flight recorder begin here, and not the thread? */
static bool is_dropped(const struct trace_view *v,
                       const struct reader_event *event)
{
	return v->in->streams.threads[v->thread].ndropped && !event->block;
}

static void put_other(struct trace_view *v, const struct reader_event *event)
{
	const struct walk_event *e = &event->e;

	put_margin(v, event->block, e->kind < WALK_START ? e->depth : 0);
	switch (e->kind) {
	case WALK_ENTER:
		put_function(v, e->function);
		break;
	case WALK_FRAME:
		put_function(v, e->function);
		fputs("  was active", v->out);
		put_place(v, e);
		break;
	case WALK_LEAVE:
		text_print(v->out, "%s ends",
		           trace_input_name(v->in, e->function));
		break;
	case WALK_DEATH:
		text_print(v->out, "%s dies",
		           trace_input_name(v->in, e->function));
		break;
	case WALK_LAND:
		text_print(v->out, "%s goes on",
		           trace_input_name(v->in, e->function));
		put_place(v, e);
		break;
	case WALK_START:
		text_print(v->out, "== thread %" PRIu64 "%s", e->value,
		           is_dropped(v, event)
		                   ? ", what it did before is dropped"
		                   : " begins");
		break;
	case WALK_LOST:
		fputs("-- from here on it is not known which frames are open",
		      v->out);
		break;
	case WALK_SYNC:
		text_print(v->out, "-- order %" PRIu64, e->value);
		break;
	default:
		text_print(v->out, "-- time %" PRIu64 " ns", e->value);
		break;
	}
	putc('\n', v->out);
}

static void text_event(struct trace_view *v, const struct reader_event *event)
{
	enum walk_kind kind = event->e.kind;

	if (kind == WALK_PATH) {
		put_path(v, event);
		return;
	}
	if (!v->o->times && (kind == WALK_TIME || kind == WALK_SYNC))
		return;
	flush_path(v);
	put_other(v, event);
}

static void text_begin(struct trace_view *v)
{
	if (v->o->interleave) {
		text_print(v->out, "thread %s%14s\n",
		           v->o->times ? "            time" : "", "block");
		return;
	}
	text_print(v->out, "%sthread %" PRIu32 "\n%s%14s\n",
	           v->thread && !v->o->has_thread ? "\n" : "",
	           v->in->streams.threads[v->thread].id,
	           v->o->times ? "            time" : "", "block");
}

static void text_resume(struct trace_view *v, uint32_t function, size_t depth)
{
	size_t indent = depth < INDENT_MAX ? depth : INDENT_MAX;

	put_thread(v);
	text_print(v->out, "%*s%14s  %*s", v->o->times ? 16 : 0, "", "...",
	           (int)(2 * indent), "");
	put_function(v, function);
	putc('\n', v->out);
}

const struct trace_form trace_text = {
        .begin_thread = text_begin,
        .resume = text_resume,
        .event = text_event,
        .end_thread = flush_path,
};
