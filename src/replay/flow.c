/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the marks of a trace would have written, from the steps of a replay.
 *
 * The map of a recorded function has its graph with parts, as that of a trace
 * has, and what ends histories; graph/codes.c says what is done with the
 * history on which edge.  Marks do it in registers, this does it with a struct
 * per frame.  All calls are calls of anything: every function marks its entry.
 *
 * An edge is taken when its target begins, but for calls: that of a call is
 * taken when a function is entered there, or the frame dies there, before what
 * these write.  A frame that makes a call in tail position, or one that does
 * not come back, leaves before it.
 *
 * Where a context stops between calls the stream says so, block by block: the
 * history up to the last path that ended, and the edges since then.
 *
 * Invariant: frames are those of the replay; `node` is where a frame is. `path`
 * has the edges of the innermost one's path, which began in block `begin`.
 * Oracle: a build with --cairn=trace of the same source has the same blocks.
 * Cost: some 20 ns for a step.
 */
#include "replay/flow.h"

#include "abi/map.h"
#include "abi/trace.h"
#include "analysis/traced.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/codes.h"
#include "replay/program.h"
#include "replay/steps.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct flow_function {
	const struct traced_function *t;
	uint32_t nodes; /* number of its first node, less 1 */
	struct codes_ops ops;
	const struct codes_op **on_edge; /* per edge, or NULL */
	uint32_t *call; /* per node: the edge of the call at its end, or NONE */
	uint32_t *into; /* per node: that edge, if the node is only a call */
	uint32_t *site; /* per node: that of its call, or NONE */
};

struct flow_frame {
	uint32_t function;
	block_id node;
	uint32_t site;  /* of the call that it is in, if is_behind */
	bool is_behind; /* node is the part behind the call that it is in */
	bool has_left;  /* by a call in tail position */
	bool is_away;   /* in a call that does not come back */
	bool is_halted; /* stopped between calls, or nobody knows where */
	bool is_ghost;  /* nobody knows whether it was entered */
	uint64_t h, n;  /* history, and turns of a loop that counts them */
	/* Where its path began, 0: it entered; the history up to there, and how
	 * many paths since the last one of which that tells. */
	block_id begin;
	uint64_t sofar, nsilent;
};

/* --- functions ----------------------------------------------------------- */

static void index_calls(struct flow_function *f)
{
	const struct map *map = f->t->map;
	const struct map_function *m = f->t->f;

	f->call = xmalloc(m->nblocks * sizeof(*f->call));
	f->into = xmalloc(m->nblocks * sizeof(*f->into));
	f->site = xmalloc(m->nblocks * sizeof(*f->site));
	for (block_id b = 0; b < m->nblocks; b++)
		f->call[b] = f->into[b] = f->site[b] = NONE;
	for (uint32_t i = 0; i < m->ntraced; i++) {
		edge_id e = map->traced[m->first_traced + i].edge;
		const struct map_edge *edge = &map->edges[m->first_edge + e];

		if (edge->kind == CAIRN_EDGE_CALL)
			f->into[edge->dst] = e;
		else
			f->call[edge->src] = e;
	}
	for (uint32_t i = 0; i < m->ncalls; i++)
		f->site[map->calls[m->first_call + i].block] = i;
}

static void learn(struct flow_function *f)
{
	uint64_t *cost = xcalloc((size_t)f->t->g.nedges + 1, sizeof(*cost));

	codes_place(&f->t->codes, cost, &f->ops);
	free(cost);
	f->on_edge = xcalloc((size_t)f->t->g.nedges + 1, sizeof(*f->on_edge));
	for (uint32_t i = 0; i < f->ops.n; i++)
		if (f->ops.ops[i].place == INCREMENT_ON_EDGE)
			f->on_edge[f->ops.ops[i].where] = &f->ops.ops[i];
	index_calls(f);
}

/* Gives the replayed function at each of its addresses its nodes. */
static void name_nodes(struct program *p, const struct profile_module *m,
                       const struct flow_function *f)
{
	for (uint32_t k = 0; k < m->nbiases; k++) {
		struct program_function *g =
		        program_find(p, f->t->f->address + m->biases[k]);

		if (g)
			g->nodes = f->nodes;
	}
}

int flow_init(struct flow *f, struct program *p, const struct traced *traced,
              struct cairn_err *err)
{
	uint64_t n = STEP_NODES;

	*f = (struct flow){.traced = traced};
	for (uint32_t i = 0; i < traced->n; i++)
		n += traced->functions[i].f->nblocks;
	if (n > INT32_MAX)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "the program has too many blocks for a walk; "
		                  "record less of it");
	f->nnodes = (uint32_t)n;
	f->function_of = xcalloc(n, sizeof(*f->function_of));
	f->functions = xcalloc((size_t)traced->n + 1, sizeof(*f->functions));
	n = STEP_NODES;
	for (uint32_t i = 0; i < traced->n; i++) {
		struct flow_function *g = &f->functions[i];

		g->t = &traced->functions[i];
		g->nodes = (uint32_t)n;
		for (uint32_t b = 0; b < g->t->f->nblocks; b++)
			f->function_of[n++] = i;
		name_nodes(p, &traced->profile->modules[g->t->module], g);
	}
	return 0;
}

void flow_release(struct flow *f)
{
	for (uint32_t i = 0; f->functions && i < f->traced->n; i++) {
		struct flow_function *g = &f->functions[i];

		codes_ops_release(&g->ops);
		free(g->on_edge);
		free(g->call);
		free(g->into);
		free(g->site);
	}
	free(f->functions);
	free(f->function_of);
	free(f->frames);
	free(f->path);
	bytes_release(&f->stream);
	*f = (struct flow){0};
}

/* --- what is written ----------------------------------------------------- */

static void put_history(struct flow *f, uint64_t h, bool is_full)
{
	unsigned n = (unsigned)(64 - __builtin_clzll(h) + 7) / 8;

	if (!is_full && h <= CAIRN_TRACE_SMALL) {
		bytes_put_u8(&f->stream, (uint8_t)h);
		return;
	}
	bytes_put_u8(
	        &f->stream,
	        (uint8_t)((is_full ? CAIRN_TRACE_FULL : CAIRN_TRACE_WORD) + n));
	for (unsigned i = 0; i < n; i++)
		bytes_put_u8(&f->stream, (uint8_t)(h >> 8 * i));
}

static void put_mark(struct flow *f, unsigned mark, uint32_t value)
{
	bytes_put_u8(&f->stream, (uint8_t)mark);
	bytes_put_u32(&f->stream, value);
}

/* The loop that is left made n turns. */
static void put_turns(struct flow *f, const struct flow_function *g,
                      struct flow_frame *top, const struct codes_op *op)
{
	uint64_t n = top->n < CODES_COUNT_MAX ? top->n : CODES_COUNT_MAX;

	top->h += n << g->t->codes.loops[op->leaves_loop - 1].bits;
	if (n < CODES_COUNT_MAX)
		return;
	put_history(f, top->h, true);
	bytes_put_u8(&f->stream, CAIRN_TRACE_COUNT);
	bytes_put_u64(&f->stream, top->n);
	top->h = 1;
}

/* A path ended: what one who reads the history knows then. */
static void note_end(struct flow *f, const struct flow_function *g,
                     struct flow_frame *top, const struct codes_op *op)
{
	f->npath = 0;
	if (op->turns_loop || op->end == CODES_IS_SILENT ||
	    (op->end == CODES_GOES_ON && !g->t->codes.width[top->begin]))
		top->nsilent++;
	else
		top->nsilent = 0;
	if (!op->turns_loop)
		top->sofar = top->h;
	top->begin = g->t->g.edges[op->where].dst;
}

static void operate(struct flow *f, const struct flow_function *g,
                    struct flow_frame *top, const struct codes_op *op)
{
	if (op->turns_loop) {
		top->n++;
		note_end(f, g, top, op);
		return;
	}
	top->h = (top->h << op->shift) + op->add;
	if (op->leaves_loop)
		put_turns(f, g, top, op);
	if (op->enters_loop)
		top->n = 0;
	if (!op->ends)
		return;
	if (op->end == CODES_WRITES) {
		put_history(f, top->h, false);
	} else if (op->end == CODES_GOES_ON && top->h >= g->t->codes.full) {
		put_history(f, top->h, true);
		top->h = 1;
	}
	if (op->end != CODES_GOES_ON)
		top->h = 1;
	note_end(f, g, top, op);
	top->h = (top->h << op->next_shift) + op->next_add;
}

/* --- steps --------------------------------------------------------------- */

static struct flow_frame *top_of(struct flow *f)
{
	return f->nframes ? &f->frames[f->nframes - 1] : NULL;
}

static void take_edge(struct flow *f, struct flow_frame *top, edge_id e)
{
	struct flow_function *g = &f->functions[top->function];

	VEC_RESERVE(f->path, f->npath, f->path_cap);
	f->path[f->npath++] = e;
	if (g->on_edge[e])
		operate(f, g, top, g->on_edge[e]);
	top->node = g->t->g.edges[e].dst;
}

/* The edge from a node to another, or NONE. */
static edge_id find_edge(const struct flow_function *g, block_id from,
                         block_id to)
{
	const struct cfg *c = &g->t->g;

	for (uint32_t i = c->out_at[from]; i < c->out_at[from + 1]; i++)
		if (c->edges[c->out[i]].dst == to)
			return c->out[i];
	return NONE;
}

/* The frame makes the call at the end of its node, if it has one. */
static void make_call(struct flow *f, struct flow_frame *top)
{
	const struct flow_function *g = &f->functions[top->function];
	edge_id e;

	if (top->is_behind || top->has_left || top->is_away || top->is_halted ||
	    top->is_ghost)
		return;
	e = g->call[top->node];
	if (e == NONE)
		return;
	top->site = g->site[top->node];
	take_edge(f, top, e);
	top->is_behind = true;
}

static void enter(struct flow *f, uint32_t function)
{
	struct flow_function *g = &f->functions[function];
	struct flow_frame *top = top_of(f);

	if (top) {
		make_call(f, top);
		top->nsilent = 0; /* a reader takes them before the mark */
	}
	if (!g->on_edge)
		learn(g);
	VEC_RESERVE(f->frames, f->nframes, f->frames_cap);
	top = &f->frames[f->nframes++];
	*top = (struct flow_frame){.function = function, .h = 1, .sofar = 1};
	f->npath = 0;
	put_mark(f, CAIRN_TRACE_ENTER, g->t->made_up);
	take_edge(f, top, 0);
}

static void go_on(struct flow *f, uint32_t function, block_id node)
{
	struct flow_frame *top = top_of(f);
	edge_id e;

	if (!top || top->function != function) {
		f->nonsense = "a node of another function";
		return;
	}
	if (top->is_halted || top->is_ghost) {
		f->nonsense = "that a frame goes on which was stopped";
		return;
	}
	if (top->has_left)
		return;
	if (top->is_behind && top->node == node) {
		top->is_behind = false;
		return;
	}
	e = find_edge(&f->functions[function], top->node, node);
	if (e == NONE)
		f->nonsense = "a node that no edge leads to";
	else
		take_edge(f, top, e);
}

/* Takes the edges to the outside, which there is only one way to. */
static void leave(struct flow *f, struct flow_frame *top)
{
	const struct flow_function *g = &f->functions[top->function];
	const struct cfg *c = &g->t->g;

	while (top->node != CFG_OUTSIDE) {
		uint32_t first = c->out_at[top->node];
		edge_id e = c->out[first];

		if (c->out_at[top->node + 1] != first + 1) {
			f->nonsense = "a way out of a branch";
			return;
		}
		top->is_away = g->t->is_final[e];
		take_edge(f, top, e);
	}
	top->has_left = !top->is_away;
}

static void die(struct flow *f, struct flow_frame *top)
{
	const struct flow_function *g = &f->functions[top->function];
	uint32_t address = g->t->made_up, site;
	edge_id out;

	if (top->has_left || top->is_ghost)
		return;
	if (top->is_halted) {
		put_mark(f, CAIRN_TRACE_CUT, address);
		return;
	}
	if (top->is_away) {
		put_mark(f, CAIRN_TRACE_DEATH, address + g->t->f->ncalls + 2);
		return;
	}
	out = find_edge(g, top->node, CFG_OUTSIDE);
	if (!top->is_behind && out != NONE && g->t->is_resumed[out]) {
		take_edge(f, top, out);
		return;
	}
	make_call(f, top);
	site = top->is_behind ? top->site : g->site[top->node];
	if (site == NONE)
		put_mark(f, CAIRN_TRACE_CUT, address);
	else
		put_mark(f, CAIRN_TRACE_DEATH, address + 1 + site);
}

/* A call of the innermost frame returns once more. */
static void land(struct flow *f, uint32_t function, block_id node)
{
	const struct flow_function *g = &f->functions[function];
	struct flow_frame *top = top_of(f);
	const struct codes_op *op;

	if (!top || top->function != function || top->is_ghost ||
	    g->into[node] == NONE) {
		f->nonsense = "a second return of no call";
		return;
	}
	make_call(f, top); /* that it jumps out of */
	op = g->on_edge[g->into[node]];
	*top = (struct flow_frame){.function = function,
	                           .node = node,
	                           .begin = node,
	                           .h = 1,
	                           .sofar = 1};
	f->npath = 0;
	if (f->nunknown >= f->nframes)
		f->nunknown = f->nframes - 1;
	if (op)
		top->h = (top->h << op->next_shift) + op->next_add;
	put_mark(f, CAIRN_TRACE_LAND, g->t->made_up + 1 + g->site[node]);
}

static void take_node(struct flow *f, uint32_t word)
{
	uint32_t function = word < f->nnodes ? f->function_of[word] : 0;
	uint32_t node = word - f->functions[function].nodes;

	if (word >= f->nnodes || word < STEP_NODES || !node)
		f->nonsense = "a node that is none";
	else if (f->is_again)
		land(f, function, node);
	else if (node == 1)
		enter(f, function);
	else
		go_on(f, function, node);
	f->is_again = false;
}

static void pop(struct flow *f)
{
	f->nframes--;
	f->npath = 0;
	if (f->nunknown > f->nframes)
		f->nunknown = f->nframes;
}

static void end_frame(struct flow *f, uint32_t word)
{
	struct flow_frame *top = top_of(f);

	if (!top) {
		f->nonsense = "the end of no frame";
	} else if (word == STEP_LEAVE) {
		if (!top->has_left)
			leave(f, top);
	} else {
		if (word == STEP_OUT)
			die(f, top);
		else if (!top->has_left)
			leave(f, top);
		pop(f);
	}
}

void flow_take(struct flow *f, const uint32_t *words, size_t n)
{
	for (size_t i = 0; i < n && !f->nonsense; i++) {
		if (words[i] == STEP_AGAIN)
			f->is_again = true;
		else if (words[i] >= STEP_NODES)
			take_node(f, words[i]);
		else
			end_frame(f, words[i]);
	}
}

/* --- where a context stops ----------------------------------------------- */

/* How many frames a reader has. */
static uint32_t count_known(const struct flow *f)
{
	uint32_t n = 0;

	for (size_t i = f->nunknown; i < f->nframes; i++)
		n += !f->frames[i].has_left && !f->frames[i].is_ghost;
	return n;
}

/* Which of the lines that the map has for a block has this number, from 1 on;
 * 0: none, or several files have one. */
static uint32_t find_line(const struct traced_function *t, block_id b,
                          uint32_t line)
{
	const struct map *map = t->map;
	const struct map_block *block = &map->blocks[t->f->first_block + b];
	uint32_t n = 0, found = 0, file = 0;

	for (uint32_t s = 0; s < block->nsegments; s++) {
		const struct map_segment *segment =
		        &map->segments[block->first_segment + s];

		for (uint32_t i = 0; i < segment->nlines; i++) {
			const struct map_line *l =
			        &map->lines[segment->first_line + i];

			n++;
			if (l->line != line)
				continue;
			if (found && l->file != file)
				return 0;
			file = l->file;
			found = found ? found : n;
		}
	}
	return found;
}

/* Where the innermost frame is, which is in no call. */
static void put_halt(struct flow *f, const struct flow_frame *top,
                     uint32_t line)
{
	put_mark(f, CAIRN_TRACE_HALT, count_known(f));
	bytes_put_u64(&f->stream, top->sofar);
	bytes_put_u64(&f->stream, top->nsilent);
	for (size_t i = 0; i < f->npath; i++)
		put_mark(f, CAIRN_TRACE_STEP, f->path[i]);
	if (line != CAIRN_LINE_SOMEWHERE)
		line = find_line(f->functions[top->function].t, top->node,
		                 line);
	if (line)
		put_mark(f, CAIRN_TRACE_LINE, line);
}

void flow_halt(struct flow *f, uint32_t line)
{
	struct flow_frame *top = top_of(f);

	if (!top || f->nonsense || top->has_left || top->is_away ||
	    top->is_halted || top->is_ghost)
		return;
	if (!top->is_behind && f->nframes > f->nunknown)
		put_halt(f, top, line);
	top->is_halted = true;
}

/* Replay code leaves a frame that may have gone on, or not.  So may have who
 * called it; unless it is past: who called it was in that call. */
static void doubt_end(struct flow *f, bool is_past)
{
	struct flow_frame *top = top_of(f);

	if (!top) {
		f->nonsense = "the end of no frame";
		return;
	}
	if (!is_past)
		flow_halt(f, CAIRN_LINE_SOMEWHERE);
	die(f, top);
	pop(f);
	top = top_of(f);
	if (!is_past && top && !top->has_left && !top->is_away)
		top->is_halted = true;
}

/* Only that a frame is there matters. */
static void doubt_node(struct flow *f, uint32_t word, bool is_past)
{
	uint32_t function = word < f->nnodes ? f->function_of[word] : 0;

	if (word >= f->nnodes || word - f->functions[function].nodes != 1)
		return;
	if (!is_past)
		flow_halt(f, CAIRN_LINE_SOMEWHERE);
	VEC_RESERVE(f->frames, f->nframes, f->frames_cap);
	f->frames[f->nframes++] =
	        (struct flow_frame){.function = function, .is_ghost = true};
}

void flow_doubt(struct flow *f, const uint32_t *words, size_t n, bool is_past)
{
	for (size_t i = 0; i < n && !f->nonsense; i++) {
		if (words[i] == STEP_RETURN || words[i] == STEP_OUT)
			doubt_end(f, is_past);
		else if (words[i] >= STEP_NODES)
			doubt_node(f, words[i], is_past);
	}
	if (!is_past)
		flow_halt(f, CAIRN_LINE_SOMEWHERE);
}

void flow_begin(struct flow *f, uint32_t tid)
{
	f->nframes = f->npath = f->nunknown = 0;
	f->is_again = false;
	put_mark(f, CAIRN_TRACE_START, tid);
}

void flow_end(struct flow *f, bool is_handler)
{
	struct flow_frame *top = top_of(f);

	if (top && top->is_away && is_handler)
		die(f, top);
	else if (top)
		make_call(f, top);
}

/* An outer frame is in its call; one that does not come back has no site. */
static void mark_frame(struct flow *f, size_t i)
{
	const struct flow_frame *frame = &f->frames[i];
	const struct flow_function *g = &f->functions[frame->function];
	uint32_t address = g->t->made_up;
	uint32_t site = frame->is_behind ? frame->site : g->site[frame->node];

	if (frame->has_left)
		return;
	if (frame->is_away)
		put_mark(f, CAIRN_TRACE_STACK, address + g->t->f->ncalls + 2);
	else if (site != NONE)
		put_mark(f, CAIRN_TRACE_FRAME, address + 1 + site);
	else {
		put_mark(f, CAIRN_TRACE_LOST, address);
		f->nunknown = i + 1;
	}
}

void flow_fork(struct flow *f, uint32_t tid, bool is_in_call)
{
	struct flow_frame *top = top_of(f);

	if (top && is_in_call)
		make_call(f, top);
	f->stream.n = 0;
	put_mark(f, CAIRN_TRACE_START, tid);
	for (size_t i = 0; i < f->nframes; i++)
		if (&f->frames[i] != top || is_in_call)
			mark_frame(f, i);
	if (top && !is_in_call) {
		put_mark(f, CAIRN_TRACE_LOST,
		         f->functions[top->function].t->made_up);
		f->nunknown = f->nframes;
	}
}

void flow_sync(struct flow *f, uint64_t number)
{
	struct flow_frame *top = top_of(f);

	if (top) {
		make_call(f, top);
		top->nsilent = 0;
	}
	bytes_put_u8(&f->stream, CAIRN_TRACE_SYNC);
	bytes_put_u64(&f->stream, 1 + 2 * number);
}
