/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regeneration: from the stream of a thread to what it executed.
 *
 * Figure 7 of Ball and Larus (1994) regenerates a trace from witnesses with a
 * stack for calls.  Here a stream has histories (graph/codes.h), which end at
 * calls, too.  So the walk always knows who writes next, the innermost frame,
 * and where its paths begin.  Three things it has to be told.  A function that
 * anybody may call marks that it was entered; one that a throw or a jump takes
 * away is marked by whoever sees that; and so is where a setjmp comes back.
 *
 * Behind a call of anything nobody knows whether a function with marks was
 * called: the history that begins there is always written, so that what comes
 * next is either this one, and the call came back, or a mark.  Functions that
 * are entered in the middle of a history, signal handlers, are marked as well:
 * they stand before the history that they interrupted.
 *
 * A path is looked up once, and then remembered with its blocks (walk_ways), by
 * where it begins and its code.
 *
 * A flight recorder forgets the beginning.  Every part of its stream begins
 * with marks of the frames that are there (PART); who comes from the part
 * before, and knows them, skips these.  What a frame had done when it was
 * interrupted, or when the program was killed, is a history that is not
 * complete (HELD, HEAD): it is taken, and left out of the complete one, if that
 * comes.
 *
 * Invariant: a frame that is not in a call is the innermost one.  What the walk
 * does without reading, silent paths, their calls and returns, ends: a cycle of
 * the graph has a path with an alternative, which is not silent, unless the
 * program cannot leave it.
 * Breaks when: a program is in a loop without a way out, or in a recursion that
 * cannot end, all of it silent: the walk stops before a frame repeats itself.
 * Oracle: proof_trace runs random programs.
 * Cost: O(1) per event, and the length of a path when it is new; memory is the
 * depth of the stack, and the paths.
 */
#include "walk/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

#define WALK_AGAIN 2
#define WALK_REPEAT 3 /* an event, and the mark is taken once more */

/* --- paths, remembered --------------------------------------------------- */

/* The paths that begin in a block: a table by code, or if codes are too wide
 * for that, by hash. */
struct walk_start {
	struct walk_way *table; /* NULL: not asked for yet, or hashed */
	uint32_t size;          /* of the table; 0: hashed */
	uint8_t width;
	uint8_t exits; /* bits, of a loop that counts its turns */
};

/* Paths of wide codes, each of its own; hashed, a power of two of slots. */
struct walk_wide {
	struct walk_wide_slot {
		struct walk_way *way; /* NULL: free */
		block_id first;
		uint64_t code;
	} * slots;
	size_t n, cap;
};

/* Of one function. */
struct walk_ways {
	struct walk_start *starts; /* per block */
	struct walk_wide wide;
	struct path path;
};

#define WALK_TABLE_BITS 16u /* wider ones have no table */
#define WALK_COUNTED 255u   /* as width: a loop that counts its turns */
/* As nbits, of a history that is but a number of turns, and an exit. */
#define WALK_MANY_TURNS 63u

static void walk_free_way(struct walk_way *way)
{
	free((void *)way->blocks);
	free((void *)way->edges);
}

static void walk_free_start(struct walk_start *s)
{
	for (size_t i = 0; s->table && i < s->size; i++)
		walk_free_way(&s->table[i]);
	free(s->table);
}

static void walk_free_wide(struct walk_wide *wide)
{
	for (size_t i = 0; i < wide->cap; i++) {
		if (!wide->slots[i].way)
			continue;
		walk_free_way(wide->slots[i].way);
		free(wide->slots[i].way);
	}
	free(wide->slots);
}

void walk_program_release(struct walk_program *p)
{
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		struct walk_function *f = &p->functions[i];

		if (!f->ways)
			continue;
		for (block_id b = 0; b < f->codes->paths.dag.g->nblocks; b++)
			walk_free_start(&f->ways->starts[b]);
		walk_free_wide(&f->ways->wide);
		path_release(&f->ways->path);
		free(f->ways->starts);
		free(f->ways);
		f->ways = NULL;
	}
}

static struct walk_wide_slot *walk_wide_slot(const struct walk_wide *wide,
                                             block_id first, uint64_t code)
{
	uint64_t h = (code ^ (uint64_t)first << 32) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (wide->cap - 1);

	while (wide->slots[i].way &&
	       (wide->slots[i].first != first || wide->slots[i].code != code))
		i = (i + 1) & (wide->cap - 1);
	return &wide->slots[i];
}

static void walk_grow_wide(struct walk_wide *wide)
{
	struct walk_wide old = *wide;

	wide->cap = old.cap ? 2 * old.cap : 64;
	wide->slots = xcalloc(wide->cap, sizeof(*wide->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].way)
			*walk_wide_slot(wide, old.slots[i].first,
			                old.slots[i].code) = old.slots[i];
	free(old.slots);
}

/* The entry of a path, which may not be known yet. */
static struct walk_way *walk_entry(struct walk_ways *ways, block_id first,
                                   uint64_t code)
{
	struct walk_start *s = &ways->starts[first];
	struct walk_wide_slot *slot;

	if (s->size) {
		if (!s->table)
			s->table = xcalloc(s->size, sizeof(*s->table));
		return &s->table[code];
	}
	if (2 * ways->wide.n >= ways->wide.cap)
		walk_grow_wide(&ways->wide);
	slot = walk_wide_slot(&ways->wide, first, code);
	if (!slot->way) {
		ways->wide.n++;
		*slot = (struct walk_wide_slot){xcalloc(1, sizeof(*slot->way)),
		                                first, code};
	}
	return slot->way;
}

static void walk_list_blocks(struct walk_way *way, const struct path *path,
                             const struct cfg *g)
{
	block_id *blocks = xcalloc((size_t)path->nedges + 1, sizeof(*blocks));
	uint32_t i = 0, n = path->nedges;

	if (!path->enters)
		blocks[way->nblocks++] = path->first;
	if (path->end != PATH_STOPS)
		n--; /* leads to where the next one begins, or out */
	for (; i < n; i++)
		blocks[way->nblocks++] = g->edges[path->edges[i]].dst;
	way->blocks = blocks;
}

static void walk_learn(struct walk_way *way, const struct walk_function *f,
                       const struct path *path)
{
	const struct cfg *g = f->codes->paths.dag.g;
	edge_id *edges = xcalloc((size_t)path->nedges + 1, sizeof(*edges));

	*way = (struct walk_way){
	        .is_known = true,
	        .enters = path->enters,
	        .leaves = path->end == PATH_LEAVES,
	        .stops = path->end == PATH_STOPS,
	        .end = codes_end_of(f->codes, path),
	        .callee = WALK_NOTHING,
	        .nedges = path->nedges,
	        .edges = edges,
	};
	if (path->nedges)
		memcpy(edges, path->edges, path->nedges * sizeof(*edges));
	for (uint32_t i = 0; f->is_branch && i < path->nedges; i++)
		way->nbranches += f->is_branch[path->edges[i]];
	walk_list_blocks(way, path, g);
	if (path->nedges) {
		edge_id last = path->edges[path->nedges - 1];

		way->next = g->edges[last].dst;
		way->callee = f->callee[last];
		way->stops |= way->leaves && f->is_final[last];
		way->leaves &= !way->stops;
	}
	way->is_plain = !way->leaves && !way->stops &&
	                way->end == CODES_GOES_ON &&
	                way->callee == WALK_NOTHING;
}

static void walk_begin_ways(struct walk_function *f)
{
	const struct codes *c = f->codes;
	block_id n = c->paths.dag.g->nblocks;

	f->ways = xcalloc(1, sizeof(*f->ways));
	f->ways->starts = xcalloc(n, sizeof(*f->ways->starts));
	for (block_id b = 0; b < n; b++) {
		struct walk_start *s = &f->ways->starts[b];
		unsigned bits = c->width[b];

		s->width = c->width[b];
		if (c->loop_of[b]) { /* a turn, or one of its exits */
			bits = c->loops[c->loop_of[b] - 1].bits;
			s->width = WALK_COUNTED;
			s->exits = (uint8_t)bits;
		}
		if (bits <= WALK_TABLE_BITS)
			s->size = (1u << bits) + (c->loop_of[b] != 0);
	}
}

/* The path with this code that begins in a block. */
static int walk_find(struct walk_function *f, block_id first, uint64_t code,
                     const struct walk_way **out, struct cairn_err *err)
{
	struct walk_way *way;

	if (!f->ways)
		walk_begin_ways(f);
	way = walk_entry(f->ways, first, code);
	if (!way->is_known) {
		CAIRN_TRY(codes_decode(f->codes, first, code, &f->ways->path,
		                       err));
		walk_learn(way, f, &f->ways->path);
	}
	*out = way;
	return 0;
}

/* As a code, of a path that is one edge, or none. */
#define WALK_PLACE_CODE (UINT64_C(1) << 63)

/* Is there an operation that ends a path at this place? */
static bool walk_is_place(const struct walk_function *f, uint32_t place)
{
	const struct dag *d = &f->codes->paths.dag;
	uint32_t where = place & CAIRN_PLACE_WHERE;

	switch (place >> CAIRN_PLACE_KIND_SHIFT) {
	case CAIRN_PLACE_EDGE:
		return where < d->g->nedges &&
		       d->g->edges[where].src != CFG_OUTSIDE &&
		       d->edge_of[where] != CFG_NONE &&
		       (d->g->edges[where].dst == CFG_OUTSIDE ||
		        dag_is_ended(d, where));
	case CAIRN_PLACE_END:
		return where && where < d->g->nblocks &&
		       d->g->out_at[where] == d->g->out_at[where + 1] &&
		       d->out_at[where] < d->out_at[where + 1];
	case CAIRN_PLACE_TOP:
		return where && where < d->g->nblocks &&
		       d->begin_of[where] != CFG_NONE;
	default:
		return false;
	}
}

/* The block that such a place is in. */
static block_id walk_block_of(const struct walk_function *f, uint32_t place)
{
	uint32_t where = place & CAIRN_PLACE_WHERE;

	return place >> CAIRN_PLACE_KIND_SHIFT == CAIRN_PLACE_EDGE
	               ? f->codes->paths.dag.g->edges[where].src
	               : where;
}

/* The rest of a path from an edge on, or from the end of a last block. */
static const struct walk_way *walk_find_rest(struct walk_function *f,
                                             uint32_t place)
{
	block_id first = walk_block_of(f, place);
	edge_id e = place & CAIRN_PLACE_WHERE;
	struct path path = {.first = first, .end = PATH_STOPS};
	struct walk_wide *wide;
	struct walk_wide_slot *slot;

	if (!f->ways)
		walk_begin_ways(f);
	wide = &f->ways->wide;
	if (2 * wide->n >= wide->cap)
		walk_grow_wide(wide);
	slot = walk_wide_slot(wide, first, WALK_PLACE_CODE | place);
	if (slot->way)
		return slot->way;
	wide->n++;
	*slot = (struct walk_wide_slot){xcalloc(1, sizeof(*slot->way)), first,
	                                WALK_PLACE_CODE | place};
	if (place >> CAIRN_PLACE_KIND_SHIFT == CAIRN_PLACE_EDGE) {
		path.nedges = 1;
		path.edges = &e;
		path.end = f->codes->paths.dag.g->edges[e].dst == CFG_OUTSIDE
		                   ? PATH_LEAVES
		                   : PATH_ENDED;
	}
	walk_learn(slot->way, f, &path);
	return slot->way;
}

/* --- the stream ---------------------------------------------------------- */

void walk_init(struct walk *w, struct walk_program *program,
               struct walk_source source)
{
	*w = (struct walk){
	        .program = program,
	        .source = source,
	        .calls = WALK_NOTHING,
	};
}

static int walk_no_more(void *context, const uint8_t **bytes, size_t *n,
                        struct cairn_err *err)
{
	(void)context;
	(void)bytes;
	(void)n;
	(void)err;
	return 0;
}

void walk_init_bytes(struct walk *w, struct walk_program *program,
                     const uint8_t *bytes, size_t nbytes)
{
	walk_init(w, program, (struct walk_source){.next = walk_no_more});
	w->bytes = bytes;
	w->nbytes = nbytes;
	w->nparts = 1;
}

void walk_release(struct walk *w)
{
	free(w->frames);
	*w = (struct walk){0};
}

static struct walk_frame *walk_top(const struct walk *w)
{
	return w->nframes ? &w->frames[w->nframes - 1] : NULL;
}

static int walk_corrupt(const struct walk *w, const char *what,
                        struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s at byte %" PRIu64 " of a trace", what,
	                  w->before + w->at);
}

/* How long the item is that begins with this byte. */
static size_t walk_size(uint8_t byte)
{
	if (byte <= CAIRN_TRACE_SMALL || byte == CAIRN_TRACE_PAD)
		return 1;
	if (byte < CAIRN_TRACE_MARK)
		return 1 + (byte & 15u);
	switch (byte) {
	case CAIRN_TRACE_TIME:
	case CAIRN_TRACE_SYNC:
	case CAIRN_TRACE_COUNT:
	case CAIRN_TRACE_RESUME:
		return 9;
	case CAIRN_TRACE_HELD:
		return 13;
	case CAIRN_TRACE_HEAD:
		return CAIRN_HEAD_SIZE;
	default:
		return 5;
	}
}

/* Is a history among these items? */
static bool walk_has_history(const uint8_t *p, size_t at, size_t end)
{
	while (at < end) {
		if (p[at] && p[at] < CAIRN_TRACE_MARK)
			return true;
		at += walk_size(p[at]);
	}
	return false;
}

/* The history that the last head of a part has, not written yet; or 0. */
static uint64_t walk_open_history(const uint8_t *p, size_t n)
{
	const uint8_t *head = NULL;
	uint64_t history, back;

	for (size_t at = 0; at < n; at += walk_size(p[at]))
		if (p[at] == CAIRN_TRACE_HEAD && n - at >= CAIRN_HEAD_SIZE)
			head = p + at;
	if (!head)
		return 0;
	history = get_le64(head + CAIRN_HEAD_HISTORY);
	back = get_le64(head + CAIRN_HEAD_AT) -
	       get_le64(head + CAIRN_HEAD_BASE);
	n -= (size_t)(head - p);
	if (back < n && walk_has_history(head, (size_t)back, n))
		return 0;
	return history;
}

/* The innermost frame has come so far on its history.  1 if there is something
 * new in it, else 0. */
static int walk_take_held(struct walk *w, uint64_t history)
{
	struct walk_frame *top = walk_top(w);
	unsigned nbits;

	if (history < 2 || history >> WALK_MANY_TURNS || !top ||
	    top->state == WALK_AWAY || top->state == WALK_RESUMES)
		return 0;
	nbits = 63 - (unsigned)__builtin_clzll(history);
	if (nbits <= top->nahead)
		return 0;
	w->word = history;
	w->nbits = nbits - top->nahead;
	w->nidle = 0;
	w->is_full = w->has_history = true;
	top->nahead = nbits;
	return 1;
}

/* The next item's first byte, without taking it: 1, 0 at the end. */
static int walk_peek(struct walk *w, uint8_t *byte, struct cairn_err *err)
{
	int result;

	for (;;) {
		const uint8_t *bytes;
		size_t n;

		while (w->at < w->nbytes &&
		       (w->bytes[w->at] == 0 ||
		        w->bytes[w->at] == CAIRN_TRACE_PAD))
			w->at++;
		if (w->at < w->nbytes) {
			*byte = w->bytes[w->at];
			return 1;
		}
		if (w->is_over)
			return 0;
		result = w->source.next(w->source.context, &bytes, &n, err);
		if (result < 0)
			return result;
		w->is_over = result == 0;
		if (result == 0) /* the last part stays in hand */
			return 0;
		w->before += w->nbytes;
		w->bytes = bytes;
		w->nbytes = n;
		w->at = 0;
		w->nparts++;
	}
}

/* The stream ends in the middle of an item: nothing may follow.  0, or
 * negative. */
static int walk_end_in_item(struct walk *w, struct cairn_err *err)
{
	const uint8_t *bytes;
	size_t n;
	int result = w->source.next(w->source.context, &bytes, &n, err);

	w->is_over = true;
	if (result > 0)
		return walk_corrupt(w, "an item that is cut off", err);
	w->at = w->nbytes;
	return result;
}

/* An item of one byte and n more, of which the first 8 are `value`.  1, 0 at
 * the end. */
static int walk_take(struct walk *w, unsigned n, uint64_t *value,
                     struct cairn_err *err)
{
	if (w->nbytes - w->at < 1 + (size_t)n)
		return walk_end_in_item(w, err);
	*value = 0;
	for (unsigned i = 0; i < n && i < 8; i++)
		*value |= (uint64_t)w->bytes[w->at + 1 + i] << 8 * i;
	w->at += 1 + (size_t)n;
	w->nread++;
	w->nsilent = 0;
	return 1;
}

/* Takes the next item, whose first byte this is, as a history. */
static int walk_take_history(struct walk *w, uint8_t byte,
                             struct cairn_err *err)
{
	uint64_t value = byte;
	unsigned n = byte & 15;

	w->is_full = (byte & 0xf0u) == CAIRN_TRACE_FULL;
	if (byte <= CAIRN_TRACE_SMALL) {
		w->at++;
		w->nread++;
		w->nsilent = 0;
	} else if (n < 1 || n > 8 ||
	           (!w->is_full && (byte & 0xf0u) != CAIRN_TRACE_WORD)) {
		return walk_corrupt(w, "an impossible item", err);
	} else {
		int result = walk_take(w, n, &value, err);

		if (result <= 0)
			return result;
	}
	if (value == 0) /* interrupted there, and never went on */
		return WALK_AGAIN;
	if (value >> WALK_MANY_TURNS)
		return walk_corrupt(w, "a history that is too long", err);
	w->nbits = 63 - (unsigned)__builtin_clzll(value);
	w->word = value;
	w->nidle = 0;
	w->has_history = true;
	if (walk_top(w) && walk_top(w)->nahead) {
		if (walk_top(w)->nahead > w->nbits)
			return walk_corrupt(w,
			                    "a history that is shorter than "
			                    "it was",
			                    err);
		w->nbits -= walk_top(w)->nahead;
		walk_top(w)->nahead = 0;
		w->has_history = !w->is_full || w->nbits;
	}
	return 1;
}

/* --- events -------------------------------------------------------------- */

static int walk_say(const struct walk *w, struct walk_event *event,
                    enum walk_kind kind)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = walk_top(w)->function,
	        .depth = w->nframes - 1,
	};
	return 1;
}

static int walk_tell(struct walk_event *event, enum walk_kind kind,
                     uint64_t value)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = WALK_NOTHING,
	        .value = value,
	};
	return 1;
}

static void walk_pop(struct walk *w)
{
	w->nframes--;
	if (w->nkept > w->nframes)
		w->nkept = w->nframes;
}

static void walk_push(struct walk *w, uint32_t function)
{
	VEC_RESERVE(w->frames, w->nframes, w->frames_cap);
	w->frames[w->nframes++] = (struct walk_frame){
	        .function = function,
	        .next = CFG_OUTSIDE,
	};
	w->calls = WALK_NOTHING;
}

static int walk_enter(struct walk *w, uint32_t function,
                      struct walk_event *event)
{
	walk_push(w, function);
	return walk_say(w, event, WALK_ENTER);
}

static int walk_leave(struct walk *w, struct walk_event *event)
{
	bool has_tails = w->program->functions[walk_top(w)->function].has_tails;

	walk_say(w, event, WALK_LEAVE);
	walk_pop(w);
	if (has_tails && w->nframes && walk_top(w)->state == WALK_READY)
		walk_top(w)->state = WALK_WAITING;
	w->nsilent -= w->nsilent > 0;
	w->is_leaving = false;
	return 1;
}

/* --- marks --------------------------------------------------------------- */

static void walk_kill(struct walk *w, struct walk_event *event)
{
	walk_say(w, event, WALK_DEATH);
	walk_pop(w);
	if (w->nframes) /* goes on elsewhere, or dies as well */
		walk_top(w)->state = WALK_WAITING;
}

/*
 * A frame that dies in the middle of a silent path, in a signal handler's jump,
 * has taken it already: the mark of its death is of a frame that is gone.
 */
static int walk_die(struct walk *w, uint32_t function, struct walk_event *event)
{
	if (!w->nframes)
		return w->is_lost ? WALK_AGAIN : -1;
	if (walk_top(w)->function != function) {
		walk_top(w)->state = WALK_WAITING;
		return WALK_AGAIN;
	}
	walk_kill(w, event);
	return 1;
}

static bool walk_has(const struct walk *w, uint32_t function)
{
	for (size_t i = w->nframes; i-- > 0;)
		if (w->frames[i].function == function)
			return true;
	return false;
}

static int walk_land(struct walk *w, block_id block, bool is_inside,
                     struct walk_event *event)
{
	walk_top(w)->is_inside = is_inside;
	walk_top(w)->next = block;
	walk_top(w)->state = WALK_WAITING;
	walk_top(w)->nahead = 0;
	walk_say(w, event, WALK_LAND);
	event->block = block;
	return 1;
}

static int walk_found_frame(struct walk *w, uint32_t function, block_id block,
                            bool is_inside, struct walk_event *event)
{
	walk_push(w, function);
	walk_top(w)->is_inside = is_inside;
	walk_top(w)->next = block;
	walk_top(w)->state = WALK_WAITING;
	walk_say(w, event, WALK_FRAME);
	event->block = block;
	return 1;
}

/* The edge by which a frame is in a call; CFG_NONE: none. */
static edge_id walk_call_of(const struct walk_function *f, block_id next)
{
	const struct cfg *g = f->codes->paths.dag.g;

	for (uint32_t i = g->in_at[next]; i < g->in_at[next + 1]; i++)
		if (f->callee[g->in[i]] != WALK_NOTHING)
			return g->in[i];
	return CFG_NONE;
}

/* One that was found is the callee of the next one, if that is known: then it
 * goes on as behind any known call. */
static void walk_found_callee(struct walk *w, uint32_t function)
{
	struct walk_frame *top = walk_top(w);
	const struct walk_function *f;
	edge_id e;

	if (!top || top->next == CFG_OUTSIDE)
		return;
	f = &w->program->functions[top->function];
	e = walk_call_of(f, top->next);
	if (e != CFG_NONE && f->callee[e] == function)
		top->state = WALK_READY;
}

/* A frame is somewhere, or in a call at which no history ended. */
static void walk_lose(struct walk *w)
{
	w->nframes = w->nkept = 0;
	w->is_lost = true;
}

/* A frame was interrupted, if it is one of the program. */
static void walk_take_lost(struct walk *w, uint32_t address)
{
	const struct walk_program *p = w->program;

	if (!address || p->function_at(p->context, address) < p->nfunctions)
		walk_lose(w);
}

/* Can a function end in a call that does not come back? */
static bool walk_has_final(const struct walk_function *f)
{
	const struct cfg *g = f->codes->paths.dag.g;

	for (edge_id e = 0; e < g->nedges; e++)
		if (f->is_final[e])
			return true;
	for (block_id b = 1; b < g->nblocks; b++)
		if (g->out_at[b] == g->out_at[b + 1])
			return true;
	return false;
}

/*
 * A frame of a flight recorder's stack.  Where it does not go on, it is in a
 * call that does not come back, or in one in tail position, for which the
 * compiler left the frame there: then it has left.  If the function has both
 * nobody knows.
 */
static int walk_take_stack(struct walk *w, uint32_t function, block_id block,
                           bool is_inside, struct walk_event *event)
{
	const struct walk_function *f = &w->program->functions[function];

	if (block == CFG_OUTSIDE && f->has_tails) {
		if (walk_has_final(f))
			walk_lose(w);
		return WALK_AGAIN;
	}
	walk_found_callee(w, function);
	walk_found_frame(w, function, block, is_inside, event);
	if (block == CFG_OUTSIDE)
		walk_top(w)->state = WALK_AWAY;
	return 1;
}

/*
 * A mark about a place: 1 if it is an event, WALK_AGAIN if nothing happens,
 * negative if there is no such place.  One that is interrupted just before a
 * known call has made it already, as far as the walk knows; so frames inside
 * the one that lands may be there that nobody marked as dead.
 */
static int walk_take_place(struct walk *w, uint8_t mark, uint32_t address,
                           struct walk_event *event)
{
	const struct walk_program *p = w->program;
	block_id block = CFG_OUTSIDE;
	bool is_inside = false;
	uint32_t function;

	if (!address) /* interrupted there, and never went on */
		return WALK_AGAIN;
	if (mark == CAIRN_TRACE_ENTER || mark == CAIRN_TRACE_CUT)
		function = p->function_at(p->context, address);
	else
		function = p->site_at(p->context, address, &block, &is_inside);
	if (function >= p->nfunctions) /* of our modules, but without marks */
		return mark == CAIRN_TRACE_ENTER ? -1 : WALK_AGAIN;
	/* that of one whose history does not follow: the part ends before */
	if (walk_top(w) && walk_top(w)->state == WALK_RESUMES)
		walk_lose(w);
	switch (mark) {
	case CAIRN_TRACE_ENTER:
		return walk_enter(w, function, event);
	case CAIRN_TRACE_STACK:
		return walk_take_stack(w, function, block, is_inside, event);
	case CAIRN_TRACE_FRAME:
		if (block == CFG_OUTSIDE) {
			walk_lose(w);
			return WALK_AGAIN;
		}
		walk_found_callee(w, function);
		return walk_found_frame(w, function, block, is_inside, event);
	case CAIRN_TRACE_LAND:
		if (!w->nframes && w->is_lost && block != CFG_OUTSIDE)
			return walk_found_frame(w, function, block, is_inside,
			                        event);
		if (!walk_has(w, function) || block == CFG_OUTSIDE)
			return -1;
		if (walk_top(w)->function != function) {
			walk_kill(w, event);
			return WALK_REPEAT;
		}
		return walk_land(w, block, is_inside, event);
	default:
		return walk_die(w, function, event);
	}
}

static int walk_take_path(struct walk *w, const struct walk_way *way,
                          struct walk_event *event, struct cairn_err *err);

/* What who begins here has to know; who has read what was before skips it. */
static int walk_take_part(struct walk *w, struct cairn_err *err)
{
	uint64_t n;
	int result = walk_take(w, 4, &n, err);

	if (result <= 0)
		return result;
	if (n > w->nbytes - w->at)
		return walk_corrupt(w, "a part that begins too far", err);
	if (w->nparts > 1 && !(w->is_lost && !w->nframes)) {
		w->at += (size_t)n;
	} else if (w->nparts > 1) { /* it is the same thread */
		while (w->at < w->nbytes &&
		       (w->bytes[w->at] == CAIRN_TRACE_START ||
		        w->bytes[w->at] == CAIRN_TRACE_SYNC))
			w->at += walk_size(w->bytes[w->at]);
		w->is_lost = false;
	}
	return WALK_AGAIN;
}

/* The innermost frame, at the end of a path whose beginning is not known. */
static int walk_take_resume(struct walk *w, struct walk_event *event,
                            struct cairn_err *err)
{
	const struct walk_program *p = w->program;
	struct walk_function *f;
	uint32_t function, place;
	uint64_t value;
	int result = walk_take(w, 8, &value, err);

	if (result <= 0)
		return result;
	place = (uint32_t)(value >> 32);
	function = p->function_at(p->context, (uint32_t)value - 1);
	if (function >= p->nfunctions ||
	    !walk_is_place(&p->functions[function], place)) {
		walk_lose(w);
		return WALK_AGAIN;
	}
	f = &p->functions[function];
	walk_found_callee(w, function);
	walk_found_frame(w, function, walk_block_of(f, place), true, event);
	walk_top(w)->state = WALK_RESUMES;
	walk_top(w)->nsilent = place;
	return 1;
}

/* The history that a frame began before the part: it is over. */
static int walk_resume(struct walk *w, uint8_t byte, struct walk_event *event,
                       struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	uint32_t place = top->nsilent;
	int result = walk_take_history(w, byte, err);

	if (result != 1)
		return result;
	if (!walk_is_place(&w->program->functions[top->function], place))
		return walk_corrupt(w, "no such place", err);
	top->state = WALK_READY;
	top->nsilent = 0;
	top->nahead = 0;
	w->nbits = 0;
	w->has_history = true;
	if (place >> CAIRN_PLACE_KIND_SHIFT == CAIRN_PLACE_TOP) {
		if (!w->is_full)
			return walk_corrupt(w, "a history of another kind",
			                    err);
		w->has_history = false;
		return WALK_AGAIN;
	}
	return walk_take_path(
	        w, walk_find_rest(&w->program->functions[top->function], place),
	        event, err);
}

static int walk_take_interrupted(struct walk *w, struct cairn_err *err)
{
	size_t at = w->at;
	uint64_t back, value;
	int result = walk_take(w, 12, &value, err);

	if (result <= 0)
		return result;
	back = get_le32(w->bytes + at + 9);
	if (back <= at && !walk_has_history(w->bytes, at - (size_t)back, at))
		walk_take_held(w, value);
	return WALK_AGAIN;
}

/* Marks of a flight recorder. */
static int walk_take_recorder(struct walk *w, uint8_t mark,
                              struct walk_event *event, struct cairn_err *err)
{
	uint64_t value;
	int result;

	switch (mark) {
	case CAIRN_TRACE_PART:
		return walk_take_part(w, err);
	case CAIRN_TRACE_RESUME:
		return walk_take_resume(w, event, err);
	case CAIRN_TRACE_HELD:
		return walk_take_interrupted(w, err);
	case CAIRN_TRACE_HEAD:
		result = walk_take(w, CAIRN_HEAD_SIZE - 1, &value, err);
		return result <= 0 ? result : WALK_AGAIN;
	default:
		return walk_corrupt(w, "an unknown mark", err);
	}
}

/* 1 if it is an event, 0 at the end, WALK_AGAIN if nothing happens. */
static int walk_take_mark(struct walk *w, uint8_t mark,
                          struct walk_event *event, struct cairn_err *err)
{
	bool is_long = mark == CAIRN_TRACE_TIME || mark == CAIRN_TRACE_SYNC;
	size_t at = w->at;
	uint64_t value;
	int result;

	if (mark > CAIRN_TRACE_LOST && mark != CAIRN_TRACE_STACK)
		return walk_take_recorder(w, mark, event, err);
	result = walk_take(w, is_long ? 8 : 4, &value, err);
	if (result <= 0)
		return result;
	result = -1;
	switch (mark) {
	case CAIRN_TRACE_TIME:
		return walk_tell(event, WALK_TIME, value);
	case CAIRN_TRACE_SYNC:
		return walk_tell(event, WALK_SYNC, value);
	case CAIRN_TRACE_START:
		w->nframes = w->nkept = 0;
		w->has_history = w->is_lost = false;
		return walk_tell(event, WALK_START, value);
	case CAIRN_TRACE_LOST:
		walk_take_lost(w, (uint32_t)value);
		return WALK_AGAIN;
	default:
		if (!w->has_history)
			result = walk_take_place(w, mark, (uint32_t)value,
			                         event);
	}
	if (result >= 0 && result != WALK_REPEAT)
		return result;
	w->at = at;
	if (result == WALK_REPEAT)
		return 1;
	return walk_corrupt(w, "an impossible mark", err);
}

/* --- paths --------------------------------------------------------------- */

/* The history ends here: it must be all used up.  1, 0 at the end of the
 * stream. */
static int walk_finish_history(struct walk *w, const struct walk_way *way,
                               struct cairn_err *err)
{
	if (way->end == CODES_GOES_ON) {
		if (w->has_history && w->is_full && w->nbits == 0)
			w->has_history = false;
		return 1;
	}
	if (w->has_history != (way->end == CODES_WRITES) ||
	    (w->has_history && (w->is_full || w->nbits)))
		return walk_corrupt(w, "a history of another length", err);
	w->has_history = false;
	return 1;
}

/* Where its frame is now. */
static void walk_advance(struct walk *w, const struct walk_way *way)
{
	struct walk_frame *top = walk_top(w);

	if (way->stops) {
		top->state = WALK_AWAY;
		return;
	}
	top->next = way->next;
	w->is_leaving = way->leaves;
	if (way->callee == WALK_ANYTHING)
		top->state = WALK_WAITING;
	else
		w->calls = way->callee;
}

static int walk_take_path(struct walk *w, const struct walk_way *way,
                          struct walk_event *event, struct cairn_err *err)
{
	int result;

	walk_say(w, event, WALK_PATH);
	event->way = way;
	event->nskipped = walk_top(w)->is_inside && way->nblocks;
	walk_top(w)->is_inside = false;
	result = walk_finish_history(w, way, err);
	if (result < 0)
		return result;
	w->nblocks += walk_nblocks(event);
	walk_advance(w, way);
	return 1;
}

/* May a frame go on without reading, or does it turn in a circle? */
static bool walk_may_go_on(struct walk *w)
{
	struct walk_frame *top = walk_top(w);
	const struct codes *c = w->program->functions[top->function].codes;

	if (top->read != w->nread)
		top->nsilent = 0;
	top->read = w->nread;
	return top->nsilent++ <= c->paths.dag.g->nblocks &&
	       w->nsilent <= w->program->nfunctions;
}

/* Does the innermost frame need a history before it can go on?  If not, *way is
 * its next path. */
static int walk_needs_history(struct walk *w, const struct walk_way **way,
                              struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	struct walk_function *f = &w->program->functions[top->function];
	int result;

	if (top->state == WALK_WAITING)
		return 1;
	if (f->codes->width[top->next])
		return 1;
	result = walk_find(f, top->next, 0, way, err);
	if (result < 0)
		return result;
	return (*way)->end == CODES_WRITES || !walk_may_go_on(w);
}

/*
 * The turns of a loop are many: how many is behind the history, which becomes
 * that number.  1, or 0 at the end of the stream.
 */
static int walk_read_turns(struct walk *w, unsigned bits, uint64_t leaves,
                           struct cairn_err *err)
{
	uint64_t n;
	uint8_t byte;
	int result;

	if (!w->is_full || w->nbits)
		return walk_corrupt(w, "too many turns in a history", err);
	result = walk_peek(w, &byte, err);
	if (result <= 0)
		return result;
	if (byte != CAIRN_TRACE_COUNT)
		return walk_corrupt(w, "no number of turns", err);
	result = walk_take(w, 8, &n, err);
	if (result <= 0)
		return result;
	if (n < CODES_COUNT_MAX || n >> (63 - bits))
		return walk_corrupt(w, "an impossible number of turns", err);
	w->word = n << bits | leaves;
	w->nbits = WALK_MANY_TURNS;
	return 1;
}

/*
 * Where a loop that counts its turns stands: at another turn, 0, or behind the
 * last, 1 + exit.  What is left of the number stays in the history.  1, or 0 at
 * the end of the stream.
 */
static int walk_next_turn(struct walk *w, const struct codes_loop *l,
                          uint64_t *code, struct cairn_err *err)
{
	unsigned width = CODES_COUNT_BITS + l->bits, low = 0;
	uint64_t mask = ((uint64_t)1 << l->bits) - 1, count;
	int result;

	if (w->nbits != WALK_MANY_TURNS) {
		if (width > w->nbits)
			return walk_corrupt(w, "a history that is too short",
			                    err);
		low = w->nbits - width;
		count = w->word >> (low + l->bits) & CODES_COUNT_MAX;
		if (count == CODES_COUNT_MAX) {
			uint64_t leaves = w->word >> low & mask;

			w->nbits = low;
			result = walk_read_turns(w, l->bits, leaves, err);
			if (result == 0)
				w->has_history = false;
			if (result <= 0)
				return result;
			low = 0;
		}
	}
	if (w->nbits == WALK_MANY_TURNS)
		count = w->word >> l->bits;
	*code = 0;
	if (count) {
		w->word -= (uint64_t)1 << (low + l->bits);
		return 1;
	}
	*code = 1 + (w->word >> low & mask);
	w->nbits = low;
	return 1;
}

/* The next path of the innermost frame, whose history is in hand. */
static int walk_next_path(struct walk *w, struct walk_event *event,
                          struct cairn_err *err)
{
	struct walk_frame *top = walk_top(w);
	struct walk_function *f = &w->program->functions[top->function];
	unsigned width = f->codes->width[top->next];
	const struct walk_way *way;
	uint64_t code;
	int result;

	if (f->codes->loop_of[top->next]) {
		result = walk_next_turn(
		        w, &f->codes->loops[f->codes->loop_of[top->next] - 1],
		        &code, err);
		if (result <= 0)
			return result;
		w->nidle = 0;
		result = walk_find(f, top->next, code, &way, err);
		if (result < 0)
			return result;
		top->state = WALK_READY;
		return walk_take_path(w, way, event, err);
	}
	if (width > w->nbits)
		return walk_corrupt(w, "a history that is too short", err);
	w->nidle = width ? 0 : w->nidle + 1;
	if (w->nidle > f->codes->paths.dag.g->nblocks)
		return walk_corrupt(w, "a history of an endless loop", err);
	w->nbits -= width;
	result = walk_find(f, top->next,
	                   w->word >> w->nbits & (((uint64_t)1 << width) - 1),
	                   &way, err);
	if (result < 0)
		return result;
	top->state = WALK_READY;
	return walk_take_path(w, way, event, err);
}

static int walk_step(struct walk *w, struct walk_event *event,
                     struct cairn_err *err)
{
	struct walk_frame *top;
	const struct walk_way *way;
	uint8_t byte;
	int result;

	if (w->is_leaving)
		return walk_leave(w, event);
	if (w->calls != WALK_NOTHING) {
		w->nsilent++;
		return walk_enter(w, w->calls, event);
	}
	if (w->has_history)
		return walk_next_path(w, event, err);
	top = walk_top(w);
	if (top && top->state != WALK_AWAY && top->state != WALK_RESUMES) {
		result = walk_needs_history(w, &way, err);
		if (result < 0)
			return result;
		if (result == 0)
			return walk_take_path(w, way, event, err);
	}
	result = walk_peek(w, &byte, err);
	if (result == 0 &&
	    walk_take_held(w, walk_open_history(w->bytes, w->nbytes)))
		return WALK_AGAIN;
	if (result <= 0)
		return result;
	if (byte >= CAIRN_TRACE_MARK)
		return walk_take_mark(w, byte, event, err);
	if (top && top->state == WALK_RESUMES)
		return walk_resume(w, byte, event, err);
	if (!w->is_lost && (!top || top->state == WALK_AWAY))
		return walk_corrupt(w, "a history of nobody", err);
	result = walk_take_history(w, byte, err);
	if (!top || top->state == WALK_AWAY) /* of a frame that is not known */
		w->has_history = false;
	return result == 1 ? WALK_AGAIN : result;
}

int walk_next(struct walk *w, struct walk_event *event, struct cairn_err *err)
{
	int result;

	do
		result = walk_step(w, event, err);
	while (result == WALK_AGAIN);
	w->nevents += result == 1;
	return result;
}

/*
 * The next path of the innermost frame, if that is known, its history lasts and
 * nothing else happens behind it.  NULL: walk_step has to look.
 */
static inline const struct walk_way *
walk_plain_path(const struct walk_start *s, uint64_t *word, unsigned *nbits)
{
	unsigned width = s->width, low = 0;
	const struct walk_way *way = s->table;
	uint64_t count;

	if (!way)
		return NULL;
	if (width != WALK_COUNTED) {
		if (width > *nbits)
			return NULL;
		way += *word >> (*nbits - width) & (((uint64_t)1 << width) - 1);
		*nbits -= width;
		return way->is_plain ? way : NULL;
	}
	width = CODES_COUNT_BITS + s->exits;
	count = *word >> s->exits;
	if (*nbits != WALK_MANY_TURNS) {
		if (width > *nbits)
			return NULL;
		low = *nbits - width;
		count = *word >> (low + s->exits) & CODES_COUNT_MAX;
		if (count == CODES_COUNT_MAX)
			return NULL;
	}
	if (count) {
		*word -= (uint64_t)1 << (low + s->exits);
		return way->is_plain ? way : NULL;
	}
	way += 1 + (*word >> low & (((uint64_t)1 << s->exits) - 1));
	*nbits = low;
	return way->is_plain ? way : NULL;
}

/* Takes paths as long as there are such: most of a trace. */
static size_t walk_take_plain(struct walk *w, struct walk_event *events,
                              size_t cap)
{
	struct walk_frame *top = walk_top(w);
	const struct walk_function *f = &w->program->functions[top->function];
	uint64_t word = w->word, nblocks = 0;
	unsigned nbits = w->nbits, nidle = w->nidle;
	block_id next = top->next;
	size_t n = 0;

	if (!f->ways || top->is_inside)
		return 0;
	while (n < cap && (nbits || !w->is_full)) {
		const struct walk_start *s = &f->ways->starts[next];
		const struct walk_way *way = walk_plain_path(s, &word, &nbits);

		nidle = s->width ? 0 : nidle + 1;
		if (!way || nidle > f->codes->paths.dag.g->nblocks)
			break;
		w->word = word;
		w->nbits = nbits;
		w->nidle = nidle;
		events[n++] = (struct walk_event){
		        .kind = WALK_PATH,
		        .function = top->function,
		        .depth = w->nframes - 1,
		        .way = way,
		};
		nblocks += way->nblocks;
		next = way->next;
	}
	if (!n)
		return 0;
	top->next = next;
	top->state = WALK_READY;
	w->nblocks += nblocks;
	w->has_history = w->nbits || !w->is_full;
	return n;
}

int walk_run(struct walk *w, struct walk_event *events, size_t cap, size_t *n,
             struct cairn_err *err)
{
	int result = 1;

	*n = 0;
	while (result > 0 && *n < cap) {
		if (w->has_history)
			*n += walk_take_plain(w, events + *n, cap - *n);
		if (*n == cap)
			break;
		result = walk_step(w, &events[*n], err);
		*n += result == 1;
	}
	w->nevents += *n;
	return result < 0 ? result : result > 0;
}
