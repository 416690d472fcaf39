/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From addresses of frames to places in CFGs.
 *
 * A frame that died in a call is known by its return address, which the map
 * lists for every call that may not return, with block and segment.  A frame
 * that died between calls (a fault, a signal) is known by where it was: the
 * last probe at or before that address names the block, and the last call of
 * that block before it the segment.  Marks that it was stopped before are still
 * to come, as the probe says: the frame is placed behind them, and `late` lists
 * the counters that lack it.
 *
 * Not every return address is a site.  The map leaves out calls behind which
 * nothing follows (a tail call, a call that never returns): the flow has left
 * through the edge behind such a call already, and the frame is no loss.  Calls
 * that the code generator makes of something else (memcpy of an assignment)
 * have none either: those are placed by the probes.  An address in the code
 * before the first probe is in the prologue, before any counter: nothing was
 * counted, so nothing is missing.  A function is in trouble if a frame of it
 * was interrupted where nobody can say which block it was in, or in a loop that
 * holds its count in a register.
 *
 * A function that counts paths needs more: the path that the frame was on.  The
 * map says for each site whether that is over, known, or in the register that
 * the runtime has read (abi/map.h, enum cairn_pending); between calls nobody
 * knows.  A frame that died in a call of a shared copy has left by a way that
 * follows from the flow, unless it was between calls of the copy: then nobody
 * knows either.  What follows for the counts is for path_counts.c to say.
 *
 * Invariant: the places are sorted and each occurs once, and so are the paths.
 * Cost: O((sites + frames) log sites).
 */
#include "analysis/frames.h"

#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>

struct site_address {
	uint64_t pc;
	uint32_t function, block, segment, pending;
	uint64_t value;
};

struct index {
	const struct map *map;
	struct site_address *sites; /* by pc */
	uint32_t *functions;        /* by address */
	size_t nsites;
};

static int by_pc(const void *a, const void *b)
{
	const struct site_address *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int by_address(const void *a, const void *b, void *context)
{
	const struct map *m = context;
	uint64_t x = m->functions[*(const uint32_t *)a].address;
	uint64_t y = m->functions[*(const uint32_t *)b].address;

	return x < y ? -1 : x > y;
}

static void index_init(struct index *ix, const struct map *m)
{
	*ix = (struct index){.map = m};
	ix->sites = xmalloc((m->nsites + (size_t)m->nfar_sites) *
	                    sizeof(*ix->sites));
	ix->functions = xmalloc(m->nfunctions * sizeof(*ix->functions));
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];

		ix->functions[i] = i;
		for (uint32_t s = 0; s < f->nsites; s++) {
			const struct map_site *at =
			        &m->sites[f->first_site + s];

			ix->sites[ix->nsites++] =
			        (struct site_address){f->address + at->offset,
			                              i,
			                              at->block,
			                              at->segment,
			                              at->pending,
			                              at->value};
		}
	}
	for (uint32_t i = 0; i < m->nfar_sites; i++) {
		const struct map_far_site *s = &m->far_sites[i];

		ix->sites[ix->nsites++] = (struct site_address){
		        s->pc,      s->function, s->block,
		        s->segment, s->pending,  s->value};
	}
	qsort(ix->sites, ix->nsites, sizeof(*ix->sites), by_pc);
	qsort_r(ix->functions, m->nfunctions, sizeof(*ix->functions),
	        by_address, (void *)(uintptr_t)m);
}

static const struct site_address *find_site(const struct index *ix, uint64_t pc)
{
	size_t lo = 0, hi = ix->nsites;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ix->sites[mid].pc < pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ix->nsites && ix->sites[lo].pc == pc ? &ix->sites[lo]
	                                                 : NULL;
}

/* The function whose code contains the address, MAP_NONE if none does. */
static uint32_t find_function(const struct index *ix, uint64_t pc)
{
	uint32_t lo = 0, hi = ix->map->nfunctions;
	const struct map_function *f;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ix->map->functions[ix->functions[mid]].address <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return MAP_NONE;
	f = &ix->map->functions[ix->functions[lo - 1]];
	return pc - f->address < f->code_size ? ix->functions[lo - 1]
	                                      : MAP_NONE;
}

/* Where in a function an address is, as far as counting goes. */
struct spot {
	uint32_t block;  /* 0: not in it yet, or no more */
	uint32_t probe;  /* offset of the probe that says so */
	bool before_top; /* the counter of the block is still to come */
	uint32_t edge;   /* one whose counter is still to come, or MAP_NONE */
	bool is_unknown; /* all else is not */
};

/* The edge behind a call that is a block of its own, or MAP_NONE. */
static uint32_t find_fall(const struct map *m, const struct map_function *f,
                          uint32_t block)
{
	for (uint32_t i = 0; i < f->nedges; i++) {
		const struct map_edge *e = &m->edges[f->first_edge + i];

		if (e->src == block && e->kind == CAIRN_EDGE_FALL)
			return i;
	}
	return MAP_NONE;
}

/* A call that is a block of its own came back behind the last probe: no mark
 * was passed since. */
static void go_behind_call(struct spot *s, const struct map *m,
                           const struct map_function *f, uint64_t offset)
{
	for (uint32_t i = 0; i < f->nsites; i++) {
		const struct map_site *at = &m->sites[f->first_site + i];
		const struct map_edge *e;
		uint32_t fall;

		if (at->offset <= s->probe || at->offset > offset)
			continue;
		fall = find_fall(m, f, at->block);
		if (fall == MAP_NONE)
			continue;
		e = &m->edges[f->first_edge + fall];
		*s = (struct spot){
		        .block = e->dst,
		        .probe = at->offset,
		        .before_top =
		                e->counter != MAP_NONE ||
		                m->blocks[f->first_block + e->dst].counter !=
		                        MAP_NONE,
		        .edge = e->counter == MAP_NONE ? MAP_NONE : fall,
		};
	}
}

static struct spot find_spot(const struct map *m, const struct map_function *f,
                             uint64_t offset)
{
	struct spot s = {.edge = MAP_NONE};
	uint32_t what = 0;

	for (uint32_t i = 0; i < f->nprobes; i++) {
		const struct map_probe *p = &m->probes[f->first_probe + i];

		if (p->offset > offset)
			break;
		what = p->what;
		s.probe = p->offset;
	}
	s.is_unknown = what == CAIRN_PROBE_UNKNOWN;
	if (s.is_unknown)
		return s;
	s.before_top = what >= f->nblocks;
	if (what >= 2 * f->nblocks) {
		s.edge = what - 2 * f->nblocks;
		s.block = m->edges[f->first_edge + s.edge].dst;
	} else {
		s.block = what % f->nblocks;
	}
	if (f->paths == CAIRN_PATHS_NONE && s.block)
		go_behind_call(&s, m, f, offset);
	return s;
}

/* The segment of a block that an address behind a probe is in. */
static uint32_t find_segment(const struct map *m, const struct map_function *f,
                             const struct spot *at, uint64_t offset)
{
	uint32_t last = m->blocks[f->first_block + at->block].nsegments - 1;
	uint32_t segment = 0;

	if (at->before_top)
		return 0;

	for (uint32_t i = 0; i < f->nsites; i++) {
		const struct map_site *s = &m->sites[f->first_site + i];

		if (s->block == at->block && s->offset >= at->probe &&
		    s->offset <= offset && s->segment >= segment)
			segment = s->segment + 1;
	}
	return segment < last ? segment : last;
}

static void add_place(struct frame_places *out, struct frame_place place)
{
	VEC_RESERVE(out->items, out->n, out->cap);
	out->items[out->n++] = place;
}

static void add_late(struct frame_places *out, struct frame_late late)
{
	VEC_RESERVE(out->late, out->nlate, out->late_cap);
	out->late[out->nlate++] = late;
}

static void add_path(struct frame_places *out, struct frame_path path)
{
	VEC_RESERVE(out->paths, out->npaths, out->paths_cap);
	out->paths[out->npaths++] = path;
}

static void trouble(struct frame_places *out, uint32_t function,
                    enum frame_trouble what)
{
	if (out->trouble[function] < what)
		out->trouble[function] = what;
}

/* Is there no more of the activation to come once this block is entered? */
static bool ends_activation(const struct map *m, const struct map_function *f,
                            uint32_t block)
{
	bool jumps_to_end = true;
	uint32_t n = 0, next = 0;

	for (uint32_t i = 0; i < f->nedges; i++) {
		const struct map_edge *e = &m->edges[f->first_edge + i];

		if (e->src != block)
			continue;
		n++;
		next = e->dst;
	}
	if (n != 1 || !next)
		return n == 1;
	for (uint32_t i = 0; i < f->nedges; i++) {
		const struct map_edge *e = &m->edges[f->first_edge + i];

		if (e->src == next && e->dst)
			jumps_to_end = false;
	}
	return jumps_to_end;
}

/* Strict functions are exact without, but for the paths of those that were
 * stopped between calls. */
static bool needs_frames(const struct map_function *f)
{
	return !(f->flags & CAIRN_FN_NOT_COVERED) &&
	       (!(f->flags & CAIRN_FN_STRICT) || f->paths != CAIRN_PATHS_NONE);
}

/*
 * The same in a function that counts paths.  Blocks have no counters there:
 * what is on the way into one is behind an operation that has ended a path.
 */
static void place_path(struct frame_places *out, const struct map *m,
                       uint32_t function, const struct spot *at,
                       uint64_t offset, bool is_out, uint64_t count)
{
	bool begins = at->before_top && at->edge == MAP_NONE;

	add_path(out,
	         (struct frame_path){
	                 .function = function,
	                 .block = at->block,
	                 .segment = find_segment(m, &m->functions[function], at,
	                                         offset),
	                 .edge = at->edge,
	                 .kind = begins ? FRAME_PATH_BEGIN : FRAME_PATH_UNKNOWN,
	                 .in = is_out ? 0 : count,
	                 .out = is_out ? count : 0,
	         });
}

/* Is the spot in a loop that holds its count, or where a path build is about to
 * add it, out of the loop? */
static bool is_held(const struct map *m, const struct map_function *f,
                    const struct spot *at)
{
	uint32_t block = at->block;

	if (f->paths != CAIRN_PATHS_NONE && at->edge != MAP_NONE &&
	    m->edges[f->first_edge + at->edge].src)
		block = m->edges[f->first_edge + at->edge].src;
	return m->blocks[f->first_block + block].flags & CAIRN_BLOCK_HELD ||
	       m->blocks[f->first_block + at->block].flags & CAIRN_BLOCK_HELD;
}

/* A frame in a strict function that counts edges. */
static void place_anywhere(struct frame_places *out, const struct map *m,
                           uint32_t function, bool is_call, bool is_out,
                           uint64_t count)
{
	const struct map_function *f = &m->functions[function];

	if (!(f->flags & CAIRN_FN_NOT_COVERED) && f->paths == CAIRN_PATHS_NONE)
		add_place(out, (struct frame_place){
		                       .function = function,
		                       .segment = is_call,
		                       .in = is_out ? 0 : count,
		                       .out = is_out ? count : 0,
		               });
}

/* The worst stays. */
static void stop_in(struct frame_places *out, uint32_t segment,
                    enum frame_stop how)
{
	if (out->stops[segment] < how)
		out->stops[segment] = how;
}

/* Lines of the function are uncertain: those of a segment if it is known where
 * the frame was. */
static void note_stop(struct frame_places *out, const struct index *ix,
                      const struct map_function *f, uint64_t pc)
{
	const struct map *m = ix->map;
	const struct map_block *b = m->blocks + f->first_block;
	uint64_t offset = pc - f->address;
	struct spot at = find_spot(m, f, offset);
	const struct site_address *part;
	if (f->flags & CAIRN_FN_TRACED) {
		part = find_site(ix, pc);
		if (part)
			stop_in(out,
			        b[part->block].first_segment + part->segment,
			        FRAME_STOP_WITHIN);
		return;
	}
	if (f->nprobes && !at.is_unknown) {
		if (at.block)
			stop_in(out,
			        b[at.block].first_segment +
			                find_segment(m, f, &at, offset),
			        at.before_top ? FRAME_STOP_BEFORE
			                      : FRAME_STOP_WITHIN);
		return;
	}
	for (uint32_t i = 1; i < f->nblocks; i++)
		for (uint32_t s = 0; s < b[i].nsegments; s++)
			stop_in(out, b[i].first_segment + s, FRAME_STOP_WITHIN);
}

/* A frame that was interrupted at an address that is no site. */
static void place_between(struct frame_places *out, const struct index *ix,
                          uint32_t function, uint64_t pc, bool is_out,
                          uint64_t count)
{
	const struct map_function *f = &ix->map->functions[function];
	uint64_t offset = pc - f->address;
	struct spot at;

	note_stop(out, ix, f, pc);
	if (f->flags & CAIRN_FN_TRACED && offset)
		return; /* a trace knows the part: no count misses it */
	if (!needs_frames(f)) {
		place_anywhere(out, ix->map, function, false, is_out, count);
		return;
	}
	at = find_spot(ix->map, f, offset);
	if (f->flags & CAIRN_FN_TRACED) {
		trouble(out, function, is_out ? FRAME_CUT : FRAME_BEGUN);
		out->nblind[function] += count;
		return;
	}
	if (!f->nprobes || at.is_unknown) {
		trouble(out, function, FRAME_UNLOCATED);
		return;
	}
	if (!at.block)
		return;
	if (is_held(ix->map, f, &at))
		trouble(out, function, FRAME_HELD);
	if (f->paths != CAIRN_PATHS_NONE) {
		place_path(out, ix->map, function, &at, offset, is_out, count);
		return;
	}
	if (at.before_top)
		add_late(out, (struct frame_late){
		                      .function = function,
		                      .block = at.block,
		                      .edge = at.edge,
		                      .by = is_out ? count : 0 - count,
		              });
	add_place(out, (struct frame_place){
	                       .function = function,
	                       .block = at.block,
	                       .segment = find_segment(ix->map, f, &at, offset),
	                       .in = is_out ? 0 : count,
	                       .out = is_out ? count : 0,
	               });
}

/*
 * A call that has no site: one after which nothing follows, whose flow has left
 * the function already; or one that the compiler made of something else
 * (memcpy of an assignment), which is as good as any other place.  In maps that
 * do not say which it is the former where there is nothing else to come.
 */
static bool is_last_call(const struct map *m, uint32_t function, uint64_t pc)
{
	const struct map_function *f = &m->functions[function];
	struct spot at = find_spot(m, f, pc - f->address);

	if (f->flags & CAIRN_FN_LAST && f->nprobes)
		return !at.is_unknown && !at.block;
	return !at.block || ends_activation(m, f, at.block);
}

/* The sum of the values up to a site, as the map says to find it. */
static void find_sum(struct frame_path *path, const struct map_function *f,
                     const struct site_address *s,
                     const struct profile_frame *fr)
{
	uint64_t reg = fr->reg;

	if (s->pending == CAIRN_PENDING_NOTHING) {
		path->kind = FRAME_PATH_NONE;
		return;
	}
	path->kind = FRAME_PATH_SUM;
	path->sum = s->value;
	if (s->pending == CAIRN_PENDING_KNOWN)
		return;
	if (s->pending == CAIRN_PENDING_ADDRESS) {
		path->sum += reg;
		path->sum &= cairn_path_modulus(f->npaths) - 1;
	} else if (f->paths == CAIRN_PATHS_DIRECT) {
		/* the register may point before the first counter */
		int64_t offset = (int64_t)(reg - f->counters);

		path->sum += (uint64_t)(offset / 8);
		if (offset % 8)
			path->sum = UINT64_MAX; /* no path has this */
	} else {
		path->sum += reg - 1;
	}
	if (!fr->has_reg) {
		path->kind = FRAME_PATH_UNKNOWN;
		path->sum = 0;
	}
}

/* A tail call that the build has made one as any: its caller has left.  Of a
 * trace frames that are not there any more are not listed. */
static bool is_tail_call(const struct map *m, const struct site_address *s)
{
	const struct map_function *f = &m->functions[s->function];
	const struct map_block *b = &m->blocks[f->first_block + s->block];

	return !(f->flags & CAIRN_FN_TRACED) && b->flags & CAIRN_BLOCK_TAIL &&
	       s->segment + 1 == b->nsegments;
}

static void place_at_site(struct frame_places *out, const struct index *ix,
                          const struct site_address *s,
                          const struct profile_frame *fr)
{
	const struct map_function *f = &ix->map->functions[s->function];
	uint64_t count = (uint64_t)fr->count;
	bool is_out = fr->kind == CAIRN_FRAME_OUT;
	struct frame_path path = {
	        .function = s->function,
	        .block = s->block,
	        .segment = s->segment,
	        .edge = MAP_NONE,
	        .in = is_out ? 0 : count,
	        .out = is_out ? count : 0,
	};

	if (is_tail_call(ix->map, s) && (f->paths == CAIRN_PATHS_NONE ||
	                                 s->pending == CAIRN_PENDING_NOTHING))
		return;
	if (f->paths == CAIRN_PATHS_NONE) {
		add_place(out, (struct frame_place){
		                       .function = path.function,
		                       .block = path.block,
		                       .segment = path.segment,
		                       .in = path.in,
		                       .out = path.out,
		               });
		return;
	}
	if (s->pending == CAIRN_PENDING_SHARED) {
		path.kind = FRAME_PATH_LOST;
		if (!fr->has_reg || fr->reg)
			add_path(out, path);
		return;
	}
	find_sum(&path, f, s, fr);
	if (path.kind == FRAME_PATH_SUM && is_tail_call(ix->map, s))
		path.kind = FRAME_PATH_DONE;
	add_path(out, path);
}

/* Does the flow show that a frame went on, or not?  In strict functions, but
 * where they count paths not that it died in a call that the compiler made. */
static bool is_seen_in_flow(const struct map *m, uint32_t function, uint64_t pc,
                            bool is_out)
{
	const struct map_function *f = &m->functions[function];
	uint32_t block;

	if (!(f->flags & CAIRN_FN_STRICT))
		return false;
	if (f->paths == CAIRN_PATHS_NONE || !(f->flags & CAIRN_FN_LAST) ||
	    !is_out)
		return true;
	block = find_spot(m, f, pc - f->address).block;
	for (uint32_t i = 0; i < f->nedges; i++)
		if (m->edges[f->first_edge + i].src == block &&
		    m->edges[f->first_edge + i].kind == CAIRN_EDGE_ABNORMAL)
			return true;
	return false;
}

static void place_call(struct frame_places *out, const struct index *ix,
                       const struct profile_frame *fr)
{
	const struct site_address *s = find_site(ix, fr->pc);
	uint64_t count = (uint64_t)fr->count;
	bool is_out = fr->kind == CAIRN_FRAME_OUT, found = false;
	uint32_t function;

	/* several functions at once, where marks went in before inlining */
	for (; s && s < ix->sites + ix->nsites && s->pc == fr->pc; s++) {
		place_at_site(out, ix, s, fr);
		found = true;
	}
	if (found)
		return;
	/* the call itself, since nothing of the function may follow it */
	function = find_function(ix, fr->pc - 1);
	if (function == MAP_NONE)
		out->nstray++;
	else if (is_seen_in_flow(ix->map, function, fr->pc - 1, is_out))
		place_anywhere(out, ix->map, function, true, is_out, count);
	else if (!is_last_call(ix->map, function, fr->pc - 1))
		place_between(out, ix, function, fr->pc - 1, is_out, count);
}

static bool is_in_far_code(const struct map *m, uint64_t pc)
{
	for (uint32_t i = 0; i < m->ncodes; i++)
		if (pc - m->codes[i].address < m->codes[i].size)
			return true;
	return false;
}

/*
 * Code that was marked before inlining has no probes: a frame that a signal
 * interrupted there was in some function of the module that was so marked.
 */
static void place_far(struct frame_places *out, const struct map *m)
{
	for (uint32_t i = 0; i < m->nfunctions; i++)
		if ((m->functions[i].flags & CAIRN_FN_SOURCE) &&
		    needs_frames(&m->functions[i]))
			trouble(out, i, FRAME_UNLOCATED);
}

static void place_async(struct frame_places *out, const struct index *ix,
                        const struct profile_frame *fr)
{
	uint32_t function = find_function(ix, fr->pc);

	if (function == MAP_NONE && is_in_far_code(ix->map, fr->pc)) {
		place_far(out, ix->map);
		return;
	}
	if (function == MAP_NONE) {
		out->nstray++;
		return;
	}
	place_between(out, ix, function, fr->pc,
	              fr->kind == CAIRN_FRAME_OUT_ASYNC, (uint64_t)fr->count);
}

static int by_place(const void *a, const void *b)
{
	const struct frame_place *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->segment < y->segment ? -1 : x->segment > y->segment;
}

static int by_function(const void *a, const void *b)
{
	const struct frame_late *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

static int by_path(const void *a, const void *b)
{
	const struct frame_path *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	if (x->edge != y->edge)
		return x->edge < y->edge ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->sum < y->sum ? -1 : x->sum > y->sum;
}

static void sum_paths(struct frame_places *out)
{
	size_t kept = 0;

	if (out->npaths)
		qsort(out->paths, out->npaths, sizeof(*out->paths), by_path);
	for (size_t i = 0; i < out->npaths; i++) {
		if (kept && !by_path(&out->paths[kept - 1], &out->paths[i])) {
			out->paths[kept - 1].in += out->paths[i].in;
			out->paths[kept - 1].out += out->paths[i].out;
		} else {
			out->paths[kept++] = out->paths[i];
		}
	}
	out->npaths = kept;
}

static void sum_places(struct frame_places *out)
{
	size_t kept = 0;

	if (out->nlate)
		qsort(out->late, out->nlate, sizeof(*out->late), by_function);
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), by_place);
	for (size_t i = 0; i < out->n; i++) {
		if (kept && !by_place(&out->items[kept - 1], &out->items[i])) {
			out->items[kept - 1].in += out->items[i].in;
			out->items[kept - 1].out += out->items[i].out;
		} else {
			out->items[kept++] = out->items[i];
		}
	}
	out->n = kept;
}

void frames_place(struct frame_places *out, const struct profile *p,
                  uint32_t module)
{
	const struct map *m = p->modules[module].map;
	struct index ix;

	*out = (struct frame_places){0};
	out->trouble = xcalloc(m->nfunctions, sizeof(*out->trouble));
	out->nblind = xcalloc(m->nfunctions, sizeof(*out->nblind));
	out->stops = xcalloc(m->nsegments, sizeof(*out->stops));
	if (!p->nframes)
		return;
	index_init(&ix, m);
	for (size_t i = 0; i < p->nframes; i++) {
		const struct profile_frame *fr = &p->frames[i];

		if (fr->module != module)
			continue;
		if (fr->kind == CAIRN_FRAME_OUT || fr->kind == CAIRN_FRAME_IN)
			place_call(out, &ix, fr);
		else
			place_async(out, &ix, fr);
	}
	sum_places(out);
	sum_paths(out);
	free(ix.sites);
	free(ix.functions);
}

void frames_release(struct frame_places *places)
{
	free(places->items);
	free(places->late);
	free(places->paths);
	free(places->trouble);
	free(places->nblind);
	free(places->stops);
	*places = (struct frame_places){0};
}
