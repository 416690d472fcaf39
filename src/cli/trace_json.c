/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow as JSON, one object per line; docs/FORMAT.md has the keys.  It
 * is written by hand: one buffer and no state, as there are millions.
 */
#include "cli/trace_view.h"

#include "base/json.h"
#include "format/map.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_key(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_u64(j, value);
}

static void put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_string(j, text);
}

static const char *kind_name(enum walk_kind kind)
{
	static const char *const names[] = {
	        [WALK_ENTER] = "enter", [WALK_PATH] = "path",
	        [WALK_LEAVE] = "leave", [WALK_DEATH] = "death",
	        [WALK_LAND] = "land",   [WALK_FRAME] = "frame",
	        [WALK_START] = "start", [WALK_TIME] = "time",
	        [WALK_SYNC] = "sync",   [WALK_LOST] = "lost",
	};

	return names[kind];
}

/* The keys that all objects have; the object is open then. */
static void begin_object(const struct trace_view *v, struct json *j,
                         const char *kind, uint64_t block)
{
	*j = (struct json){.out = v->out};
	json_begin(j, '{');
	put_key(j, "thread", v->in->streams.threads[v->thread].id);
	put_text(j, "event", kind);
	put_key(j, "block", block);
	if (v->o->times)
		put_key(j, "ns", trace_view_time(v, block));
}

static void end_object(const struct trace_view *v, struct json *j)
{
	json_end(j, '}');
	if (j->depth)
		abort();
	(void)v;
}

static void put_function(const struct trace_view *v, struct json *j,
                         uint32_t function, size_t depth)
{
	put_key(j, "depth", depth);
	put_text(j, "function", trace_input_name(v->in, function));
}

static void put_source(const struct trace_view *v, struct json *j,
                       uint32_t function)
{
	uint32_t line;
	const char *file = trace_input_file(v->in, function, &line);

	if (!file)
		return;
	put_text(j, "file", file);
	put_key(j, "line", line);
}

/* Lines as pairs: ["a.c",4],["a.c",5] */
static void put_line(void *context, const char *file,
                     const struct map_line *line)
{
	struct json *j = context;

	json_begin(j, '[');
	json_string(j, file);
	json_u64(j, line->line);
	json_end(j, ']');
}

static void put_lines(const struct trace_view *v, struct json *j,
                      uint32_t function, const block_id *blocks, uint32_t n)
{
	json_key(j, "lines");
	json_begin(j, '[');
	for (uint32_t i = 0; i < n; i++)
		trace_input_lines(v->in, function, blocks[i], put_line, j);
	json_end(j, ']');
}

/* Is it the rest of the block before it, after a call? */
static bool is_part(const struct trace_view *v, uint32_t function, block_id b)
{
	return b > 1 && trace_input_block(v->in, function, b) ==
	                        trace_input_block(v->in, function, b - 1);
}

static void put_blocks(const struct trace_view *v,
                       const struct reader_event *event)
{
	const struct walk_event *e = &event->e;
	const block_id *blocks = e->way->blocks + e->nskipped;
	uint32_t n = walk_nblocks(e);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = v->o->reverse ? n - 1 - k : k;
		struct json j;

		begin_object(v, &j, "block", event->block + i);
		put_function(v, &j, e->function, e->depth);
		put_key(&j, "id",
		        trace_input_block(v->in, e->function, blocks[i]));
		if (is_part(v, e->function, blocks[i])) {
			json_key(&j, "part");
			json_bool(&j, true);
		}
		put_lines(v, &j, e->function, &blocks[i], 1);
		end_object(v, &j);
	}
}

static void put_path(const struct trace_view *v, struct json *j,
                     const struct walk_event *e)
{
	const block_id *blocks = e->way->blocks + e->nskipped;
	uint32_t n = walk_nblocks(e);

	json_key(j, "ids");
	json_begin(j, '[');
	for (uint32_t i = 0; i < n; i++)
		json_u64(j, trace_input_block(v->in, e->function, blocks[i]));
	json_end(j, ']');
	put_lines(v, j, e->function, blocks, n);
}

static void json_event(struct trace_view *v, const struct reader_event *event)
{
	const struct walk_event *e = &event->e;
	struct json j;

	if (e->kind == WALK_PATH && v->o->blocks) {
		put_blocks(v, event);
		return;
	}
	begin_object(v, &j, kind_name(e->kind), event->block);
	if (e->kind >= WALK_START)
		put_key(&j, "value", e->value);
	else
		put_function(v, &j, e->function, e->depth);
	if (e->kind == WALK_PATH)
		put_path(v, &j, e);
	if (e->kind == WALK_ENTER || e->kind == WALK_FRAME)
		put_source(v, &j, e->function);
	if ((e->kind == WALK_LAND || e->kind == WALK_FRAME) &&
	    e->block != CFG_OUTSIDE)
		put_key(&j, "id",
		        trace_input_block(v->in, e->function, e->block));
	end_object(v, &j);
}

static void json_begin_thread(struct trace_view *v)
{
	(void)v;
}

static void json_resume(struct trace_view *v, uint32_t function, size_t depth)
{
	struct json j;

	begin_object(v, &j, "open", 0);
	put_function(v, &j, function, depth);
	put_source(v, &j, function);
	end_object(v, &j);
}

const struct trace_form trace_json = {
        .begin_thread = json_begin_thread,
        .resume = json_resume,
        .event = json_event,
        .end_thread = json_begin_thread,
};
