/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a trace to counts: how often each path ran, and where frames died.
 *
 * The walk gives pieces of paths, which end at calls.  Here they are put
 * together again: every open frame has the sum of the values (Ball and Larus,
 * "Efficient path profiling", MICRO-29, 1996) along the path it is on, in the
 * graph of whole blocks (whole.c).  Where an edge ends paths the sum is a
 * number, which is counted; trace_pieces.c says what a piece does to it.
 *
 * The result is a profile, as a paths build of the same program leaves it, so
 * that edges, blocks, lines and reports follow from what is there for those.
 * Its map is made of that of the trace, with addresses of its own: all that
 * refers to addresses are frames, which are made here, too.
 *
 * Frames that are open when a stream ends, or that die, are in a call: the path
 * up to there is known.  One that was stopped between calls has gone on from
 * where its last history was written, nobody knows how far, unless that is a
 * recording, which says so.  Of one that was
 * there before the stream began, in a child of fork, the path so far is not
 * known, only that it led there: it is taken to be the first that does, which
 * is counted and taken back; edges and blocks are exact, one path is not.
 *
 * Invariant: at the end of every piece the sum is that of a prefix that leads
 * to the block where the frame is.
 * Second way: flow is conserved at every block (path_counts.c), which wrong
 * sums would break.
 * Cost: O(1) per event, and the length of a piece when it is new.
 */
#include "analysis/trace_counts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tally.h"
#include "analysis/trace_pieces.h"
#include "analysis/traced.h"
#include "analysis/whole.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/record.h"
#include "format/streams.h"
#include "walk/marks.h"

/* Where the things that are counted of a function stand in its tally: paths
 * under 0, frames under what tc_frame_key makes. */
struct tc_function {
	struct whole whole;
	struct tally tally;
	uint64_t address, counters; /* in the new map */
};

struct tc_frame {
	uint32_t function;
	uint64_t sum;
	block_id part, behind;
	bool is_in_call, has_left;
	bool is_fresh;   /* it was entered, and no more is known */
	bool is_stopped; /* it is known in which block it was stopped */
};

struct trace_counter {
	struct profile *p;
	struct traced t;
	struct tc_function *functions; /* as those of t */
	struct trace_pieces pieces;
	struct tc_frame *frames;
	size_t nframes, frames_cap;
	bool has_lost; /* frames died that nobody can place */
};

/* --- frames -------------------------------------------------------------- */

/* A frame that no count misses, since it is known in which part it was stopped:
 * for the lines of that part.  Others that were stopped have no part. */
#define TC_STOPPED 16u /* no enum cairn_frame_kind */

static uint64_t tc_frame_key(block_id part, unsigned kind)
{
	return (uint64_t)kind << 32 | part;
}

static void tc_put_frame(struct trace_counter *c, const struct tc_frame *f,
                         enum cairn_frame_kind kind)
{
	struct tally *tally = &c->functions[f->function].tally;
	bool is_known = kind == CAIRN_FRAME_OUT || kind == CAIRN_FRAME_IN;

	if (is_known)
		tally_add(tally, tc_frame_key(f->part, kind), f->sum);
	else
		tally_add(tally, tc_frame_key(0, kind), 0);
}

/* A frame that goes on no more, where it was last seen. */
static void tc_end_frame(struct trace_counter *c, const struct tc_frame *f)
{
	if (f->has_left)
		return;
	if (!f->is_fresh)
		tc_put_frame(c, f, CAIRN_FRAME_OUT);
	if (!f->is_in_call && !f->is_stopped)
		tc_put_frame(c, f, CAIRN_FRAME_OUT_ASYNC);
	else if (!f->is_in_call && f->part)
		tally_add(&c->functions[f->function].tally,
		          tc_frame_key(f->part, TC_STOPPED), 0);
}

/* The program was killed: a frame that waits may have gone on. */
static void tc_doubt(struct trace_counter *c, const struct tc_frame *f)
{
	if (!f->has_left && f->is_in_call)
		tc_put_frame(c, f, CAIRN_FRAME_OUT_ASYNC);
}

static void tc_end_frames(struct trace_counter *c)
{
	while (c->nframes)
		tc_end_frame(c, &c->frames[--c->nframes]);
}

/* The first prefix that leads to a block. */
static uint64_t tc_any_prefix(const struct whole *w, block_id block)
{
	const struct dag *d = &w->paths.dag;
	uint64_t sum = 0;

	for (uint32_t v = block; v != DAG_START;) {
		uint32_t e = d->in[d->in_at[v]];

		sum += w->paths.value[e];
		v = d->edges[e].src;
	}
	return sum;
}

static bool tc_is_reached(const struct whole *w, block_id block)
{
	const struct dag *d = &w->paths.dag;

	return block && block < w->g.nblocks &&
	       d->in_at[block] < d->in_at[block + 1];
}

/* Puts a frame behind, or into, a call that it did not make. */
static int tc_arrive(struct trace_counter *c, struct tc_frame *f,
                     const struct walk *walk, const struct walk_event *event,
                     struct cairn_err *err)
{
	const struct whole *w = &c->functions[f->function].whole;
	const struct walk_frame *at = &walk->frames[event->depth];
	block_id block, part = event->block;
	uint32_t begin;

	if (!part) { /* in a call that does not come back */
		f->has_left = true;
		f->is_fresh = f->is_stopped = false;
		return 0;
	}
	if (!at->is_inside)
		part--;
	block = w->block_of[part];
	if (!tc_is_reached(w, block))
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "a frame of %s goes on in block %" PRIu32
		                  ", where no path leads",
		                  traced_name(&c->t, f->function),
		                  event->block);
	begin = w->paths.dag.begin_of[block];
	f->part = part;
	f->behind = event->block;
	f->is_in_call = true;
	f->has_left = f->is_stopped = false;
	f->is_fresh = false;
	if (event->kind == WALK_LAND && begin != CFG_NONE)
		f->sum = w->paths.value[begin];
	else
		f->sum = tc_any_prefix(w, block);
	tc_put_frame(c, f, CAIRN_FRAME_IN);
	if (event->kind == WALK_FRAME || begin == CFG_NONE)
		tc_put_frame(c, f, CAIRN_FRAME_IN_ASYNC);
	return 0;
}

/* --- the walk ------------------------------------------------------------ */

static void tc_count_piece(struct trace_counter *c, struct tc_frame *f,
                           const struct trace_piece *x)
{
	struct tally *tally = &c->functions[f->function].tally;

	f->sum += x->add;
	if (x->ends) {
		tally_add(tally, 0, f->sum);
		for (uint32_t i = 0; i < x->nwhole; i++)
			tally_add(tally, 0, x->whole[i]);
		f->sum = x->next;
	}
	f->part = x->part;
	f->behind = x->behind;
	f->is_in_call = x->is_in_call;
	f->has_left = x->has_left;
	f->is_stopped = x->way->is_part;
	f->is_fresh = false;
}

static struct tc_frame *tc_top(const struct trace_counter *c)
{
	return c->nframes ? &c->frames[c->nframes - 1] : NULL;
}

static struct tc_frame *tc_push(struct trace_counter *c, uint32_t function)
{
	VEC_RESERVE(c->frames, c->nframes, c->frames_cap);
	c->frames[c->nframes] = (struct tc_frame){
	        .function = function,
	        .is_fresh = true,
	};
	return &c->frames[c->nframes++];
}

/* A call came back, if it is known to. */
static void tc_come_back(struct trace_counter *c, const struct walk *walk)
{
	struct tc_frame *top = tc_top(c);

	if (!top || walk->frames[walk->nframes - 1].state != WALK_READY)
		return;
	top->part = top->behind;
	top->is_in_call = false;
}

static void tc_die(struct trace_counter *c, enum walk_how how)
{
	struct tc_frame *top = tc_top(c);

	top->is_stopped &= how == WALK_HALTED;
	if (how != WALK_IN_CALL) {
		top->part = top->behind;
		top->is_in_call = false;
	}
	tc_end_frame(c, top);
	c->nframes--;
}

/* Is the part a call that comes back twice? */
static bool tc_is_twice(const struct trace_counter *c, uint32_t function,
                        block_id part)
{
	const struct traced_function *f = &c->t.functions[function];

	for (uint32_t i = f->g.out_at[part]; i < f->g.out_at[part + 1]; i++)
		if (f->map->edges[f->f->first_edge + f->g.out[i]].kind ==
		    CAIRN_EDGE_FALL)
			return true;
	return false;
}

/*
 * Goes on behind a setjmp, or catches: there it is already.  But nobody jumps
 * out of setjmp: who seems to be in that call has come back, and was stopped
 * since, by a handler that jumps to it.
 */
static int tc_land(struct trace_counter *c, const struct walk *walk,
                   const struct walk_event *event, struct cairn_err *err)
{
	struct tc_frame *top = tc_top(c);

	if (!top->has_left && top->is_in_call && top->behind == event->block) {
		if (!tc_is_twice(c, top->function, event->block))
			return 0;
		top->part = top->behind;
		top->is_in_call = false;
	}
	top->is_stopped &= event->value == WALK_HALTED;
	tc_end_frame(c, top);
	return tc_arrive(c, top, walk, event, err);
}

/* The walk has lost sight of all frames. */
static void tc_lose(struct trace_counter *c)
{
	while (c->nframes) {
		tc_doubt(c, tc_top(c));
		tc_end_frame(c, tc_top(c));
		c->nframes--;
	}
}

static int tc_event(struct trace_counter *c, const struct walk *walk,
                    const struct walk_event *event, struct cairn_err *err)
{
	switch (event->kind) {
	case WALK_ENTER:
		tc_push(c, event->function);
		return 0;
	case WALK_PATH:
		tc_count_piece(
		        c, tc_top(c),
		        trace_pieces_find(&c->pieces,
		                          &c->functions[event->function].whole,
		                          &c->t.functions[event->function],
		                          event->way));
		return 0;
	case WALK_LEAVE:
		c->nframes--;
		tc_come_back(c, walk);
		return 0;
	case WALK_DEATH:
		tc_die(c, (enum walk_how)event->value);
		return 0;
	case WALK_LAND:
		return tc_land(c, walk, event, err);
	case WALK_FRAME:
		return tc_arrive(c, tc_push(c, event->function), walk, event,
		                 err);
	case WALK_START:
		tc_end_frames(c);
		return 0;
	case WALK_LOST:
		tc_lose(c);
		return 0;
	case WALK_TIME:
	case WALK_SYNC:
		break;
	}
	return 0;
}

/*
 * The walk takes what is silent before it is told that it happened.  Marks of
 * frames that have left by then are read, and nothing comes of them.  If such a
 * frame was in its last call that is right: nothing was left to do for it.
 * Elsewhere more was counted than it did.
 */
static bool tc_is_lost(const struct trace_counter *c, const struct walk *w,
                       size_t at)
{
	const struct walk_program *p = &c->t.program;
	block_id block = CFG_NONE;
	uint32_t address;
	bool is_inside;

	if (!marks_call(w, at, &address))
		return true;
	p->site_at(p->context, address, &block, &is_inside);
	return block != CFG_NONE;
}

static int tc_step(struct trace_counter *c, struct walk *walk,
                   struct walk_event *event, struct cairn_err *err)
{
	uint64_t nread = walk->nread, part = walk->before;
	size_t at = marks_next(walk, walk->at);
	bool is_mark = marks_is_end(walk, at);
	bool is_lost = is_mark && tc_is_lost(c, walk, at);
	int result = walk_next(walk, event, err);

	if (!is_mark || walk->nread - nread <= (result == 1))
		return result;
	/* nothing came of that mark, nor of those before the last item */
	c->has_lost |= is_lost;
	while (walk->before == part &&
	       (at = marks_next(walk, at + MARKS_SIZE)) + MARKS_SIZE <
	               walk->at &&
	       marks_is_end(walk, at))
		c->has_lost |= tc_is_lost(c, walk, at);
	return result;
}

static int tc_walk_thread(struct trace_counter *c, size_t thread,
                          struct cairn_err *err)
{
	struct traced_walk w;
	struct walk_event event;
	int rc = 0, result;

	traced_begin(&w, &c->t, thread);
	do {
		result = tc_step(c, &w.walk, &event, err);
		rc = result == 1 ? tc_event(c, &w.walk, &event, err) : result;
		assert(rc < 0 || c->nframes == w.walk.nframes);
	} while (result == 1 && rc == 0);
	if (rc == 0 && c->nframes) {
		if (profile_is_open(c->p) && !c->t.program.has_halts)
			tc_doubt(c, tc_top(c));
		tc_top(c)->is_stopped &= walk_is_halted(&w.walk);
	}
	if (rc == 0)
		tc_end_frames(c);
	c->nframes = 0;
	traced_end(&w);
	return rc;
}

/* --- the profile --------------------------------------------------------- */

/* Behind all code that the module's map has. */
static uint64_t tc_first_address(const struct map *m)
{
	uint64_t end = 16;

	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];

		if (f->address + f->code_size > end)
			end = f->address + f->code_size;
	}
	for (uint32_t i = 0; i < m->ncodes; i++)
		if (m->codes[i].address + m->codes[i].size > end)
			end = m->codes[i].address + m->codes[i].size;
	return end + 16;
}

/* Addresses and counters of a module's functions of the trace, behind those of
 * the others. */
static void tc_lay_out(struct trace_counter *c, uint32_t module)
{
	struct profile_module *m = &c->p->modules[module];
	uint64_t address = tc_first_address(m->map), n = 0;

	if (!m->ncounters)
		m->base = 8; /* none so far; 0 is the address of nothing */
	for (uint32_t i = 0; i < c->t.n; i++) {
		struct tc_function *f = &c->functions[i];

		if (c->t.functions[i].module != module)
			continue;
		f->address = address;
		address += whole_code_size(&f->whole);
		f->counters = m->base + 8 * (m->ncounters + n);
		n += record_counters;
	}
	if (m->counts) {
		m->counts = xrealloc(m->counts, (size_t)(m->ncounters + n),
		                     sizeof(*m->counts));
		memset(m->counts + m->ncounters, 0,
		       (size_t)n * sizeof(*m->counts));
	}
	m->ncounters += n;
}

static int tc_by_record(const void *a, const void *b)
{
	const struct map_function *x = *(struct map_function *const *)a;
	const struct map_function *y = *(struct map_function *const *)b;

	return x->record < y->record ? -1 : x->record > y->record;
}

/* All bytes of a map but the records of functions of a trace. */
static void tc_copy_others(const struct profile_module *m, struct bytes *out)
{
	const struct map *map = m->map;
	const struct map_function **traced =
	        xcalloc((size_t)map->nfunctions + 1, sizeof(*traced));
	size_t n = 0, at = 0;

	for (uint32_t i = 0; i < map->nfunctions; i++)
		if (CAIRN_PATHS_ARE_TRACED(map->functions[i].paths))
			traced[n++] = &map->functions[i];
	qsort(traced, n, sizeof(*traced), tc_by_record);
	for (size_t i = 0; i < n; i++) {
		bytes_put(out, m->map_bytes + at, traced[i]->record - at);
		at = traced[i]->record + traced[i]->record_size;
	}
	bytes_put(out, m->map_bytes + at, m->map_size - at);
	free(traced);
}

static int tc_new_map(struct trace_counter *c, uint32_t module,
                      struct cairn_err *err)
{
	struct profile_module *m = &c->p->modules[module];
	struct bytes b = {0};

	tc_copy_others(m, &b);
	for (uint32_t i = 0; i < c->t.n; i++)
		if (c->t.functions[i].module == module)
			whole_record(&c->functions[i].whole,
			             c->functions[i].address,
			             c->functions[i].counters, &b);
	map_free(m->map);
	free(m->map_bytes);
	m->map_bytes = b.data;
	m->map_size = b.n;
	return map_parse(m->map_bytes, m->map_size, m->path, &m->map, err);
}

static void tc_add_item(struct trace_counter *c, uint32_t function,
                        const struct tally_item *item)
{
	struct profile *p = c->p;
	const struct tc_function *f = &c->functions[function];
	uint32_t module = c->t.functions[function].module;
	struct profile_module *m = &p->modules[module];
	uint32_t kind = (uint32_t)(item->a >> 32);
	struct profile_frame frame = {
	        .module = module,
	        .kind = kind,
	        .pc = f->address + (uint32_t)item->a,
	        .has_reg = kind == CAIRN_FRAME_OUT || kind == CAIRN_FRAME_IN,
	        .count = (int64_t)item->count,
	};

	if (item->a == 0) {
		VEC_RESERVE(m->paths, m->npaths, m->paths_cap);
		m->paths[m->npaths++] = (struct profile_path){
		        f->counters, item->b + 1, item->count};
		return;
	}
	if (kind == TC_STOPPED)
		frame.kind = CAIRN_FRAME_OUT_ASYNC;
	frame.reg = frame.has_reg ? item->b + 1 : 0;
	VEC_RESERVE(p->frames, p->nframes, p->frames_cap);
	p->frames[p->nframes++] = frame;
}

static int tc_by_key(const void *a, const void *b)
{
	const struct tally_item *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

static void tc_add_items(struct trace_counter *c, uint32_t function)
{
	struct tally *t = &c->functions[function].tally;

	if (t->cap)
		qsort(t->items, t->cap, sizeof(*t->items), tc_by_key);
	for (size_t i = 0; i < t->cap; i++)
		if (t->items[i].count)
			tc_add_item(c, function, &t->items[i]);
}

/* The function of the trace that has a link-time address, or NULL. */
static struct tc_function *tc_function_at(const struct trace_counter *c,
                                          uint32_t module, uint64_t pc)
{
	for (uint32_t i = 0; i < c->t.n; i++) {
		const struct traced_function *f = &c->t.functions[i];

		if (f->module == module && pc - f->f->address < f->f->code_size)
			return &c->functions[i];
	}
	return NULL;
}

/*
 * Frames that the runtime saw die in functions of the trace.  The walk has seen
 * them as well, but not whether a thread was between calls when another ended
 * the program.
 */
static void tc_drop_frames(struct trace_counter *c)
{
	struct profile *p = c->p;
	size_t kept = 0;

	for (size_t i = 0; i < p->nframes; i++) {
		const struct profile_frame *f = &p->frames[i];
		bool is_call =
		        f->kind == CAIRN_FRAME_OUT || f->kind == CAIRN_FRAME_IN;
		struct tc_function *of =
		        tc_function_at(c, f->module, f->pc - is_call);
		uint64_t *count;

		if (!of) {
			p->frames[kept++] = *f;
			continue;
		}
		if (is_call)
			continue;
		count = tally_find(&of->tally,
		                   tc_frame_key(0, CAIRN_FRAME_OUT_ASYNC), 0);
		if (!*count)
			*count = 1;
	}
	p->nframes = kept;
}

static int tc_make_profile(struct trace_counter *c, struct cairn_err *err)
{
	struct profile *p = c->p;

	tc_drop_frames(c);
	for (uint32_t m = 0; m < p->nmodules; m++)
		if (p->modules[m].map)
			tc_lay_out(c, m);
	for (uint32_t i = 0; i < c->t.n; i++)
		tc_add_items(c, i);
	for (uint32_t m = 0; m < p->nmodules; m++)
		if (p->modules[m].map)
			CAIRN_TRY(tc_new_map(c, m, err));
	if (c->has_lost && p->nfiles)
		p->files[0].flags |= CAIRN_FILE_FRAMES_LOST;
	return 0;
}

/* --- all of it ----------------------------------------------------------- */

static void tc_release(struct trace_counter *c)
{
	for (uint32_t i = 0; i < c->t.n; i++) {
		whole_release(&c->functions[i].whole);
		tally_release(&c->functions[i].tally);
	}
	trace_pieces_release(&c->pieces);
	free(c->frames);
	free(c->functions);
	traced_release(&c->t);
}

int trace_counts(struct profile *p, const struct streams *s,
                 uint64_t *nwitnessed, struct cairn_err *err)
{
	struct trace_counter c = {.p = p};
	int rc;

	CAIRN_TRY(traced_init(&c.t, p, s, err));
	c.functions = xcalloc((size_t)c.t.n + 1, sizeof(*c.functions));
	rc = nwitnessed ? traced_check(&c.t, nwitnessed, err) : 0;
	for (uint32_t i = 0; i < c.t.n && rc == 0; i++)
		rc = whole_init(&c.functions[i].whole, c.t.functions[i].map,
		                c.t.functions[i].f, err);
	for (size_t i = 0; i < s->nthreads && rc == 0; i++)
		rc = tc_walk_thread(&c, i, err);
	if (rc == 0)
		rc = tc_make_profile(&c, err);
	tc_release(&c);
	return rc;
}

int trace_counts_file(const char *path, const struct profile_options *options,
                      struct bytes *out, struct cairn_err *err)
{
	struct profile_options plain = *options;
	struct streams s;
	struct profile *p;
	struct cairn_err e = {0};
	int rc;

	plain.untrace = NULL;
	CAIRN_TRY(profile_open(&p, &path, 1, &plain, err));
	rc = streams_open(&s, path,
	                  plain.partial ? CONTAINER_PARTIAL : CONTAINER_WHOLE,
	                  err);
	if (rc == 0) {
		rc = trace_counts(p, &s, plain.nwitnessed, &e);
		if (rc < 0)
			cairn_fail_in(err, path, &e);
		else
			rc = profile_put(p, path, out, err);
		streams_release(&s);
	}
	profile_free(p);
	return rc;
}
