/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames that are open where a trace ends: where each is, and which way it
 * came.  With a flight recorder (trace,last=SIZE) that is known up to the last
 * branch of the innermost frame, however the program ended; else up to its last
 * call.  A recording knows it up to where the program was, if it raised the
 * signal itself that ended it.
 *
 * The last paths of every open frame are kept while the thread is walked, so
 * that of outer frames those are shown that led to the call they are in.
 *
 * Cost: a walk over each thread; memory is the depth of its stack.
 */
#include "cli/trace_view.h"

#include "abi/file.h"
#include "abi/trace.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#define WAYS 8u /* that are kept of a frame */
#define BATCH 256

struct open_way {
	const struct walk_way *way;
	unsigned nskipped;
};

struct open_frame {
	uint32_t function;
	uint64_t nways; /* so far; the last WAYS are here */
	struct open_way ways[WAYS];
};

struct open_thread {
	struct open_frame *frames; /* innermost last */
	size_t n, cap;
	uint64_t tid;
};

static void take_event(struct open_thread *t, const struct walk_event *e)
{
	struct open_frame *top = t->n ? &t->frames[t->n - 1] : NULL;

	switch (e->kind) {
	case WALK_START:
		t->tid = e->value;
		t->n = 0;
		break;
	case WALK_LOST:
		t->n = 0;
		break;
	case WALK_ENTER:
	case WALK_FRAME:
		t->n = e->depth; /* more were lost */
		VEC_RESERVE(t->frames, t->n, t->cap);
		t->frames[t->n++] =
		        (struct open_frame){.function = e->function};
		break;
	case WALK_LEAVE:
	case WALK_DEATH:
		t->n--;
		break;
	case WALK_LAND:
		top->nways = 0;
		break;
	case WALK_PATH:
		top->ways[top->nways++ % WAYS] =
		        (struct open_way){e->way, e->nskipped};
		break;
	case WALK_TIME:
	case WALK_SYNC:
		break;
	}
}

/* Only frames that the walk still has, should it have lost some at the end. */
static int walk_thread(struct open_thread *t, struct traced_walk *w,
                       struct cairn_err *err)
{
	struct walk_event events[BATCH];
	int result = 1;

	while (result == 1) {
		size_t n;

		result = walk_run(&w->walk, events, BATCH, &n, err);
		for (size_t i = 0; i < n; i++)
			take_event(t, &events[i]);
	}
	if (t->n > w->walk.nframes)
		t->n = w->walk.nframes;
	return result;
}

/* --- where a frame is ---------------------------------------------------- */

/* The straight line of blocks that a frame which is not in a call is on: up to
 * the next branch or call.  The caller frees it. */
static uint32_t *straight_on(const struct traced_function *f, block_id b,
                             uint32_t *n)
{
	uint32_t *blocks = xcalloc(f->g.nblocks, sizeof(*blocks));

	*n = 0;
	while (b != CFG_OUTSIDE && *n < f->g.nblocks) {
		edge_id e;

		blocks[(*n)++] = b;
		if (f->g.out_at[b] + 1 != f->g.out_at[b + 1])
			break;
		e = f->g.out[f->g.out_at[b]];
		b = f->callee[e] == WALK_NOTHING ? f->g.edges[e].dst
		                                 : CFG_OUTSIDE;
	}
	return blocks;
}

/* The innermost frame of a thread that is not away is between two calls, if it
 * has not begun one whose end nobody knows. */
static bool is_moving(const struct walk *w, size_t i)
{
	return i + 1 == w->nframes && w->frames[i].state == WALK_READY;
}

/* Was it stopped in a block that is known? */
static bool is_halted(const struct walk_frame *f)
{
	return f->state == WALK_STOPPED && f->next != CFG_OUTSIDE;
}

/* The line in which it was stopped, or NULL: not known. */
static const struct map_line *line_of(const struct trace_view *v,
                                      const struct walk_frame *f)
{
	const struct traced_function *t = &v->in->traced.functions[f->function];
	const struct map_block *b =
	        &t->map->blocks[t->f->first_block + f->next];
	uint32_t n = f->nsilent;

	if (!is_halted(f) || !n)
		return NULL;
	for (uint32_t s = 0; s < b->nsegments; s++) {
		const struct map_segment *segment =
		        &t->map->segments[b->first_segment + s];

		if (n <= segment->nlines)
			return &t->map->lines[segment->first_line + n - 1];
		n -= segment->nlines;
	}
	return NULL; /* CAIRN_LINE_SOMEWHERE */
}

static const char *file_of(const struct trace_view *v,
                           const struct walk_frame *f,
                           const struct map_line *line)
{
	return map_string(v->in->traced.functions[f->function].map, line->file);
}

/* Where it goes on; one with witnesses may be behind the head of the block. */
static block_id next_of(const struct trace_view *v, const struct walk_frame *f)
{
	return f->next % v->in->traced.functions[f->function].g.nblocks;
}

/* --- text ---------------------------------------------------------------- */

static void put_ways(struct trace_view *v, const struct open_frame *f)
{
	uint64_t first = f->nways > WAYS ? f->nways - WAYS : 0;
	bool any = false;

	for (uint64_t i = first; i < f->nways; i++) {
		const struct open_way *o = &f->ways[i % WAYS];

		if (o->way->nblocks <= o->nskipped)
			continue;
		text_print(v->out, "%s",
		           any               ? " > "
		           : f->nways > WAYS ? "      came by ... > "
		                             : "      came by ");
		trace_put_lines(v, v->out, f->function,
		                o->way->blocks + o->nskipped,
		                o->way->nblocks - o->nskipped);
		any = true;
	}
	if (any)
		putc('\n', v->out);
}

static bool is_recorder(const struct trace_view *v)
{
	return profile_flags(v->in->profile) & CAIRN_FILE_LAST;
}

/* Was a frame of some thread between calls when the program ended? */
static bool was_between_calls(const struct trace_view *v)
{
	const struct profile *p = v->in->profile;

	for (size_t i = 0; i < p->nframes; i++)
		if (p->frames[i].kind == CAIRN_FRAME_OUT_ASYNC)
			return true;
	return false;
}

/*
 * May it have gone on from there?  The program was stopped, and who writes no
 * branch at once has not said so.
 */
static bool may_be_further(const struct trace_view *v, const struct walk *w,
                           size_t i)
{
	const struct walk_frame *f = &w->frames[i];

	if (i + 1 < w->nframes || f->state == WALK_AWAY)
		return false;
	if (is_halted(f))
		return f->nsilent == CAIRN_LINE_SOMEWHERE;
	if (f->state == WALK_WAITING)
		return !w->program->has_halts &&
		       (w->program->was_killed || was_between_calls(v));
	return !is_recorder(v);
}

static void put_halt(struct trace_view *v, const struct walk_frame *f)
{
	const struct map_line *line = line_of(v, f);

	fputs("in ", v->out);
	if (line)
		text_print(v->out, "%s:%" PRIu32,
		           trace_base(file_of(v, f, line)), line->line);
	else
		trace_put_lines(v, v->out, f->function, &f->next, 1);
}

static void put_place(struct trace_view *v, const struct walk *w, size_t i)
{
	const struct walk_frame *f = &w->frames[i];
	block_id next = next_of(v, f);
	uint32_t *blocks, n;

	fputs("      ", v->out);
	if (f->state == WALK_AWAY) {
		fputs("in a call that does not come back", v->out);
	} else if (is_halted(f)) {
		put_halt(v, f);
	} else if (next == CFG_OUTSIDE) {
		fputs("at its beginning", v->out);
	} else if (!is_moving(w, i)) {
		fputs("in a call, before ", v->out);
		trace_put_lines(v, v->out, f->function, &next, 1);
	} else {
		blocks = straight_on(&v->in->traced.functions[f->function],
		                     next, &n);
		fputs("in ", v->out);
		trace_put_lines(v, v->out, f->function, blocks, n);
		free(blocks);
	}
	fputs(may_be_further(v, w, i)
	              ? ", or further on, nobody knows how far\n"
	              : "\n",
	      v->out);
}

static void put_thread(struct trace_view *v, const struct open_thread *t,
                       const struct walk *w)
{
	text_print(v->out, "== thread %" PRIu64 ": %zu open frames\n", t->tid,
	           t->n);
	for (size_t i = t->n; i-- > 0;) {
		uint32_t line;
		const char *file =
		        trace_input_file(v->in, t->frames[i].function, &line);

		text_print(v->out, "#%-4zu %s", t->n - 1 - i,
		           trace_input_name(v->in, t->frames[i].function));
		if (file)
			text_print(v->out, "  %s:%" PRIu32, trace_base(file),
			           line);
		putc('\n', v->out);
		put_place(v, w, i);
		put_ways(v, &t->frames[i]);
	}
	if (w->is_lost)
		fputs("      and outer ones, which are not known\n", v->out);
}

/* --- JSON ---------------------------------------------------------------- */

static void put_ids(const struct trace_view *v, struct json *j, const char *key,
                    uint32_t function, const uint32_t *blocks, uint32_t n)
{
	if (key)
		json_key(j, key);
	json_begin(j, '[');
	for (uint32_t i = 0; i < n; i++)
		json_u64(j, trace_input_block(v->in, function, blocks[i]));
	json_end(j, ']');
}

static void put_json_frame(const struct trace_view *v,
                           const struct open_thread *t, const struct walk *w,
                           size_t i)
{
	const struct open_frame *f = &t->frames[i];
	const struct walk_frame *at = &w->frames[i];
	uint64_t first = f->nways > WAYS ? f->nways - WAYS : 0;
	bool is_in = is_moving(w, i) || is_halted(at);
	const struct map_line *line = line_of(v, at);
	struct json j = {.out = v->out};
	uint32_t *blocks, n = 0;

	json_begin(&j, '{');
	json_key(&j, "thread");
	json_u64(&j, v->in->streams.threads[v->thread].id);
	json_key(&j, "depth");
	json_u64(&j, i);
	json_key(&j, "function");
	json_string(&j, trace_input_name(v->in, f->function));
	json_key(&j, "in_call");
	json_bool(&j, !is_in);
	json_key(&j, "may_be_further");
	json_bool(&j, may_be_further(v, w, i));
	blocks = straight_on(&v->in->traced.functions[f->function],
	                     is_in ? next_of(v, at) : CFG_OUTSIDE, &n);
	put_ids(v, &j, "in", f->function, blocks, is_halted(at) ? 1 : n);
	free(blocks);
	if (line) {
		json_key(&j, "file");
		json_string(&j, file_of(v, at, line));
		json_key(&j, "line");
		json_u64(&j, line->line);
	}
	json_key(&j, "came_by");
	json_begin(&j, '[');
	for (uint64_t k = first; k < f->nways; k++) {
		const struct open_way *o = &f->ways[k % WAYS];

		put_ids(v, &j, NULL, f->function, o->way->blocks + o->nskipped,
		        o->way->nblocks - o->nskipped);
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

int trace_open(struct trace_view *v, struct cairn_err *err)
{
	const struct streams *s = &v->in->streams;
	int result = 0;

	for (v->thread = 0; v->thread < s->nthreads && result == 0;
	     v->thread++) {
		struct open_thread t = {.tid = s->threads[v->thread].id};
		struct traced_walk w;

		if (v->o->has_thread &&
		    v->o->thread != s->threads[v->thread].id)
			continue;
		traced_begin(&w, &v->in->traced, v->thread);
		result = walk_thread(&t, &w, err);
		if (v->o->json)
			for (size_t i = t.n; i-- > 0;)
				put_json_frame(v, &t, &w.walk, i);
		else
			put_thread(v, &t, &w.walk);
		traced_end(&w);
		free(t.frames);
	}
	return result;
}
