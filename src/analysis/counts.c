/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of every block, segment and edge from the few counters of a profile.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 3: flow is conserved at every block, so the counts of
 * the chords of a spanning tree determine all others.  Frames that never
 * returned (exit, longjmp, throw) enter the equations as extra ways out of the
 * block they died in (figure 4), frames that began in the middle (fork, the
 * second return of setjmp) as extra ways in.
 *
 * A block's segments are what calls that may not return split it into.  The
 * first runs as often as edges enter the block; each later one as often as the
 * one before it, less the frames that died in the call between them, plus
 * those that began behind it.
 *
 * A function that counts paths gives its edges directly: path_counts.c.
 *
 * Invariant: known[] is false for every number that is not determined or came
 * out negative; a function whose equations contradict each other says so.
 * Breaks when: a frame died and nobody saw it (SIGKILL, a frame without unwind
 * information, a fiber): then counts may miss one per such frame.
 * Cost: O(V + E) per function, plus sorting the frames.
 */
#include "analysis/counts.h"

#include "analysis/frames.h"
#include "analysis/path_counts.h"
#include "analysis/slow.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/cfg.h"
#include "graph/blocks.h"

#include <stdlib.h>
#include <string.h>

/* One function while its counts are recovered. */
struct job {
	const struct profile_module *module;
	const struct frame_places *all; /* of the module */
	uint32_t index;                 /* of the function */
	const struct map *map;
	const struct map_function *f;
	struct counts_module *cm;
	struct counts_function *out;
	const struct frame_place *places; /* of this function, sorted */
	size_t nplaces;
	const struct frame_late *late; /* of this function */
	size_t nlate;
	uint64_t *extra_in, *extra_out; /* per block */
	/* the slices of the module's vectors that are this function's */
	uint64_t *edge, *block;
	bool *edge_known, *block_known;
};

bool counts_is_inconsistent(enum counts_doubt doubt)
{
	return doubt >= COUNTS_UNLOCATED;
}

const char *counts_reason(enum counts_doubt doubt)
{
	switch (doubt) {
	case COUNTS_EXACT:
		return NULL;
	case COUNTS_INCOMPLETE:
		return "part of the counts is missing, because the file could "
		       "not grow while the program ran or was cut";
	case COUNTS_OPEN:
		return "the program was killed or still runs: derived counts "
		       "may miss one per active frame, and those of a loop "
		       "that it was in up to 65536 turns; build with strict "
		       "to have them";
	case COUNTS_TRACE_OPEN:
		return "the program was killed or still runs: what each thread "
		       "did since it last wrote to the trace is missing";
	case COUNTS_TRACE_LAST:
		return "the program was killed or still runs: what each thread "
		       "did behind its last branch is missing";
	case COUNTS_LOST:
		return "frames died that could not be recorded: derived counts "
		       "may miss one per such frame";
	case COUNTS_UNWALKED:
		return "threads or frames could not be looked at when the "
		       "program ended: derived counts may miss one per such "
		       "frame";
	case COUNTS_UNLOCATED:
		return "a signal, or the end of the program in another thread, "
		       "stopped a frame in code that does not say which block "
		       "it is in: derived counts may miss one";
	case COUNTS_TRACE_BEGUN:
		return "frames of it were there before the trace began: of one "
		       "path each nobody knows how it began; counts of edges "
		       "and blocks are exact";
	case COUNTS_TRACE_CUT:
		return "a signal, or the end of the program or of the trace, "
		       "stopped frames of it between calls: what they did "
		       "since they last wrote to the trace, with last=SIZE "
		       "since their last branch, is missing";
	case COUNTS_HELD:
		return "a signal, or the end of the program in another thread, "
		       "stopped frames in a loop that held its counts in a "
		       "register: up to 65536 turns of that loop are missing "
		       "per such frame; build with strict to have them";
	case COUNTS_PATH_PARTIAL:
		return "only some of its paths are counted one by one, as the "
		       "build asked for";
	case COUNTS_PATH_UNKNOWN:
		return "a signal, or the end of the program in another thread, "
		       "stopped it, or its registers could not be read, and "
		       "the path so far is not known: counts along this path "
		       "may miss one";
	case COUNTS_PATH_LOST:
		return "paths were counted in a place that belongs to no path: "
		       "counts along them are too low";
	case COUNTS_NEGATIVE:
		return "a derived count came out below zero";
	case COUNTS_UNBALANCED:
		return "the flow into and out of a block differ";
	case COUNTS_UNSOLVABLE:
		return "the counters do not determine the counts of the edges";
	case COUNTS_PATH_IMPOSSIBLE:
		return "a path was counted, or left unfinished, that the "
		       "function does not have";
	case COUNTS_PATH_MAP:
		return "the number of paths in its map is not that of its "
		       "control-flow graph";
	}
	return NULL;
}

/* Every count that cannot be negative but is has no known value. */
static void hide_negatives(const uint64_t *value, bool *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((int64_t)value[i] < 0)
			known[i] = false;
}

static uint64_t counter_of(const struct job *j, uint32_t counter)
{
	uint64_t first = (j->f->counters - j->module->base) / 8;

	return profile_count(j->module, first + counter);
}

static void build_cfg(struct cfg *g, const struct job *j)
{
	const struct map_edge *e = j->map->edges + j->f->first_edge;

	cfg_init(g, j->f->nblocks);
	for (uint32_t i = 0; i < j->f->nedges; i++)
		cfg_add_edge(g, e[i].src, e[i].dst);
	cfg_link(g);
}

static void load_counters(struct job *j)
{
	const struct map_edge *e = j->map->edges + j->f->first_edge;
	const struct map_block *b = j->map->blocks + j->f->first_block;

	for (uint32_t i = 0; i < j->f->nedges; i++) {
		j->edge_known[i] = e[i].counter != MAP_NONE;
		j->edge[i] = j->edge_known[i] ? counter_of(j, e[i].counter) : 0;
	}
	for (uint32_t i = 0; i < j->f->nblocks; i++) {
		j->block_known[i] = b[i].counter != MAP_NONE;
		j->block[i] =
		        j->block_known[i] ? counter_of(j, b[i].counter) : 0;
	}
	for (size_t i = 0; i < j->nlate; i++) {
		const struct frame_late *late = &j->late[i];

		if (late->edge != MAP_NONE && j->edge_known[late->edge])
			j->edge[late->edge] += late->by;
		if (j->block_known[late->block])
			j->block[late->block] += late->by;
	}
}

/*
 * In a strict build the way out of a call that did not come back is what went
 * in less what fell through.  It is below zero where calls came back more often
 * than they were made (setjmp, fork in the child), which is no fault.  Any
 * other edge below zero is one.
 */
static void judge_negatives(struct job *j)
{
	const struct map_edge *e = j->map->edges + j->f->first_edge;

	for (uint32_t i = 0; i < j->f->nedges; i++) {
		if (!j->edge_known[i] || (int64_t)j->edge[i] >= 0)
			continue;
		if (e[i].kind == CAIRN_EDGE_ABNORMAL) {
			j->edge[i] = 0;
			continue;
		}
		j->out->doubt = COUNTS_NEGATIVE;
		j->out->bad_edge = i;
		return;
	}
}

/* A build that counts edges. */
static void recover_edges(struct job *j, const struct cfg *g)
{
	uint32_t bad = UINT32_MAX;
	enum recover_result r;

	r = blocks_recover(g, j->edge_known, j->block_known, j->extra_in,
	                   j->extra_out, j->edge, j->block, &bad);
	if (r == RECOVER_UNSOLVABLE) {
		/* edges with a counter keep their count, no block has one */
		memset(j->block_known, 0, g->nblocks);
		j->out->doubt = COUNTS_UNSOLVABLE;
		return;
	}
	memset(j->edge_known, 1, g->nedges);
	memset(j->block_known, 1, g->nblocks);
	if (r == RECOVER_NEGATIVE) {
		judge_negatives(j);
	} else if (r == RECOVER_UNBALANCED) {
		j->out->doubt = COUNTS_UNBALANCED;
		j->out->bad_block = bad;
	}
}

/* Has every edge a counter, but for at most one way out of each block? */
static bool counts_all_edges(const struct job *j, const struct cfg *g)
{
	bool *has_left = xcalloc(g->nblocks, sizeof(*has_left));
	bool all = true;

	for (edge_id e = 0; e < g->nedges && all; e++) {
		const struct cfg_edge *edge = &g->edges[e];

		if (j->edge_known[e])
			continue;
		all = edge->src != CFG_OUTSIDE && edge->dst == CFG_OUTSIDE &&
		      !has_left[edge->src];
		has_left[edge->src] = true;
	}
	free(has_left);
	return all;
}

/*
 * A strict build counts every edge that code fits on, so that no count depends
 * on where frames are: what entered a block and did not leave it is in there,
 * or died there.  `allowed` is how much that may be.  The other edges lead out
 * of the function, and have what is left.
 */
static void recover_strict(struct job *j, const struct cfg *g, uint64_t allowed)
{
	for (block_id b = 1; b < g->nblocks; b++) {
		edge_id left = CFG_NONE;
		uint64_t rest = 0;

		for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++)
			rest += j->edge[g->in[i]];
		if (!j->block_known[b])
			j->block[b] = rest;
		else if (rest - j->block[b] <= allowed)
			allowed -= rest - j->block[b];
		else if (!j->out->doubt) {
			j->out->doubt = COUNTS_UNBALANCED;
			j->out->bad_block = b;
		}
		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
			if (j->edge_known[g->out[i]])
				rest -= j->edge[g->out[i]];
			else
				left = g->out[i];
		if (left != CFG_NONE) {
			j->edge[left] = rest;
		} else if (rest <= allowed) {
			allowed -= rest;
		} else if (!j->out->doubt) {
			j->out->doubt = COUNTS_UNBALANCED;
			j->out->bad_block = b;
		}
	}
	memset(j->edge_known, 1, g->nedges);
	memset(j->block_known, 1, g->nblocks);
	j->block[0] = j->edge[0];
	judge_negatives(j);
}

/* How many frames may have been stopped in the function: anywhere, or between
 * calls. */
static uint64_t count_stopped(const struct job *j, const struct counts *c,
                              bool in_calls)
{
	uint64_t n = 0;

	if (c->doubt != COUNTS_EXACT)
		return INT64_MAX;
	for (size_t i = 0; i < j->nplaces; i++)
		if (!j->places[i].block && (in_calls || !j->places[i].segment))
			n += j->places[i].in + j->places[i].out;
	return n;
}

/* A function that is strict on its own account: frames that were stopped in it
 * between calls, or that nobody looked at, are not known. */
static void recover_partly_strict(struct job *j, const struct cfg *g,
                                  const struct counts *c)
{
	uint64_t stopped = count_stopped(j, c, false);

	j->out->doubt = c->doubt;
	recover_edges(j, g);
	if (stopped && c->doubt == COUNTS_EXACT)
		j->out->doubt = COUNTS_UNLOCATED;
}

/* A build that counts blocks: a block's counter says how often edges entered
 * it; the block's count has the frames that began in it as well. */
static void recover_blocks(struct job *j, const struct cfg *g)
{
	uint32_t bad = slow_derive(g, j->extra_in, j->extra_out, j->block,
	                           j->block_known, j->edge, j->edge_known);

	if (bad) {
		j->out->doubt = COUNTS_UNBALANCED;
		j->out->bad_block = bad;
	}
	for (uint32_t b = 1; b < g->nblocks; b++)
		j->block[b] += j->extra_in[b];
	j->block[0] = j->edge[0];
	j->block_known[0] = j->edge_known[0];
	judge_negatives(j);
}

/* The places of the frames whose paths are known, as count_segments wants
 * them. */
static void place_prefixes(struct job *j, const struct path_counts *pc,
                           struct frame_place *places)
{
	size_t n = 0;

	for (size_t i = 0; i < pc->nprefixes; i++) {
		const struct path_prefix *x = &pc->prefixes[i];

		j->extra_in[x->block] += x->in;
		if (!n || places[n - 1].block != x->block ||
		    places[n - 1].segment != x->segment)
			places[n++] = (struct frame_place){
			        .function = j->index,
			        .block = x->block,
			        .segment = x->segment,
			};
		places[n - 1].in += x->in;
		places[n - 1].out += x->out;
	}
	j->places = places;
	j->nplaces = n;
}

/*
 * A build that counts paths.  If paths of frames are missing, flow does not add
 * up where they began, and that is no news.
 */
static void recover_paths(struct job *j, const struct path_counts *pc)
{
	uint32_t bad = path_counts_edges(pc, j->map, j->f, j->edge, j->block);
	enum counts_doubt doubt;

	memset(j->edge_known, pc->doubt != COUNTS_PATH_PARTIAL, j->f->nedges);
	memset(j->block_known, pc->doubt != COUNTS_PATH_PARTIAL, j->f->nblocks);
	if (pc->doubt > j->out->doubt)
		j->out->doubt = pc->doubt;
	j->out->bad_path = pc->bad_number;
	j->out->nlost = pc->nlost;
	doubt = j->out->doubt;
	judge_negatives(j);
	if (doubt != COUNTS_EXACT) {
		j->out->doubt = doubt;
	} else if (bad) {
		j->out->doubt = COUNTS_UNBALANCED;
		j->out->bad_block = bad;
	}
}

/* Counts of the segments of one block; *next is the first place not before
 * it. */
static void count_segments(struct job *j, uint32_t b, size_t *next)
{
	const struct map_block *mb = &j->map->blocks[j->f->first_block + b];
	uint64_t count = j->block[b] - j->extra_in[b];

	for (uint32_t s = 0; s < mb->nsegments; s++) {
		uint32_t at = mb->first_segment + s;

		j->cm->segment[at] = count;
		j->cm->segment_known[at] =
		        j->block_known[b] && (int64_t)count >= 0;
		if (*next < j->nplaces && j->places[*next].block == b &&
		    j->places[*next].segment == s) {
			count += j->places[*next].in - j->places[*next].out;
			++*next;
		}
	}
}

static void count_all_segments(struct job *j)
{
	size_t next = 0;

	while (next < j->nplaces && !j->places[next].block)
		next++;
	for (uint32_t b = 1; b < j->f->nblocks; b++)
		count_segments(j, b, &next);
}

static void sum_up(struct job *j)
{
	const struct map_block *mb = j->map->blocks + j->f->first_block;

	j->out->entries_known = j->edge_known[0];
	j->out->entries = j->edge_known[0] ? j->edge[0] : 0;
	for (uint32_t b = 1; b < j->f->nblocks; b++) {
		if (!j->block_known[b])
			continue;
		j->out->executions += j->block[b];
		j->out->instructions += j->block[b] * mb[b].ninstructions;
	}
}

static void recover_path_function(struct job *j)
{
	struct frame_place *places;
	struct path_counts pc;

	if (!path_counts_init(&pc, j->module, j->index, j->all)) {
		j->out->doubt = pc.doubt;
		return;
	}
	j->extra_in = xcalloc(j->f->nblocks, sizeof(*j->extra_in));
	places = xcalloc(pc.nprefixes, sizeof(*places));
	place_prefixes(j, &pc, places);
	recover_paths(j, &pc);
	hide_negatives(j->edge, j->edge_known, j->f->nedges);
	hide_negatives(j->block, j->block_known, j->f->nblocks);
	count_all_segments(j);
	sum_up(j);
	free(places);
	free(j->extra_in);
	path_counts_release(&pc);
}

static void recover_function(struct job *j, const struct counts *c)
{
	uint32_t nblocks = j->f->nblocks;
	struct cfg g;

	j->extra_in = xcalloc(nblocks, sizeof(*j->extra_in));
	j->extra_out = xcalloc(nblocks, sizeof(*j->extra_out));
	for (size_t i = 0; i < j->nplaces; i++) {
		j->extra_in[j->places[i].block] += j->places[i].in;
		j->extra_out[j->places[i].block] += j->places[i].out;
	}
	build_cfg(&g, j);
	load_counters(j);
	if (j->f->flags & CAIRN_FN_SLOW)
		recover_blocks(j, &g);
	else if (!(j->f->flags & CAIRN_FN_STRICT))
		recover_edges(j, &g);
	else if (counts_all_edges(j, &g))
		recover_strict(j, &g, count_stopped(j, c, true));
	else
		recover_partly_strict(j, &g, c);
	hide_negatives(j->edge, j->edge_known, j->f->nedges);
	hide_negatives(j->block, j->block_known, nblocks);
	count_all_segments(j);
	sum_up(j);
	cfg_release(&g);
	free(j->extra_in);
	free(j->extra_out);
}

static void count_function(struct job *j, const struct counts *c,
                           enum frame_trouble trouble)
{
	static const enum counts_doubt doubt_of[] = {
	        [FRAME_BEGUN] = COUNTS_TRACE_BEGUN,
	        [FRAME_CUT] = COUNTS_TRACE_CUT,
	        [FRAME_UNLOCATED] = COUNTS_UNLOCATED,
	        [FRAME_HELD] = COUNTS_HELD,
	};
	uint32_t flags = j->f->flags;

	j->out->bad_edge = j->out->bad_block = UINT32_MAX;
	j->out->covered = !(flags & CAIRN_FN_NOT_COVERED) && j->f->nblocks;
	if (!j->out->covered)
		return;
	j->edge = j->cm->edge + j->f->first_edge;
	j->edge_known = j->cm->edge_known + j->f->first_edge;
	j->block = j->cm->block + j->f->first_block;
	j->block_known = j->cm->block_known + j->f->first_block;
	if (!(flags & CAIRN_FN_STRICT) || c->doubt == COUNTS_INCOMPLETE ||
	    j->f->paths != CAIRN_PATHS_NONE)
		j->out->doubt = c->doubt;
	/* without its frames the flow of paths does not add up anyway */
	if (trouble && j->f->paths != CAIRN_PATHS_NONE)
		j->out->doubt = doubt_of[trouble];
	if (j->f->paths != CAIRN_PATHS_NONE)
		recover_path_function(j);
	else
		recover_function(j, c);
	/* a loop that held its count explains what does not add up, and so does
	 * a frame in a place that nobody knows */
	if (trouble == FRAME_HELD || trouble == FRAME_UNLOCATED ||
	    (trouble && !counts_is_inconsistent(j->out->doubt)))
		j->out->doubt = doubt_of[trouble];
}

static void add_totals(struct counts_totals *t, const struct job *j)
{
	const struct counts_function *f = j->out;

	t->functions++;
	t->uncovered += !f->covered;
	t->executed += f->executions > 0;
	t->inconsistent += counts_is_inconsistent(f->doubt);
	t->executions += f->executions;
	t->partial += f->doubt == COUNTS_PATH_PARTIAL;
	if (!f->covered || f->doubt == COUNTS_PATH_PARTIAL)
		return;
	for (uint32_t b = 1; b < j->f->nblocks; b++) {
		t->blocks++;
		t->blocks_executed += j->block_known[b] && j->block[b];
	}
}

static void alloc_module(struct counts_module *cm, const struct map *m)
{
	cm->edge = xcalloc(m->nedges, sizeof(*cm->edge));
	cm->block = xcalloc(m->nblocks, sizeof(*cm->block));
	cm->segment = xcalloc(m->nsegments, sizeof(*cm->segment));
	cm->edge_known = xcalloc(m->nedges, sizeof(bool));
	cm->block_known = xcalloc(m->nblocks, sizeof(bool));
	cm->segment_known = xcalloc(m->nsegments, sizeof(bool));
	cm->functions = xcalloc(m->nfunctions, sizeof(*cm->functions));
}

static void count_module(struct counts *c, uint32_t module)
{
	const struct profile_module *pm = &c->profile->modules[module];
	struct counts_module *cm = &c->modules[module];
	struct frame_places places;
	size_t at = 0, late = 0;

	alloc_module(cm, pm->map);
	frames_place(&places, c->profile, module);
	c->stray_frames += places.nstray;
	for (uint32_t i = 0; i < pm->map->nfunctions; i++) {
		struct job j = {
		        .module = pm,
		        .all = &places,
		        .index = i,
		        .map = pm->map,
		        .f = &pm->map->functions[i],
		        .cm = cm,
		        .out = &cm->functions[i],
		};

		if (at < places.n)
			j.places = places.items + at;
		for (; at < places.n && places.items[at].function == i; at++)
			j.nplaces++;
		if (late < places.nlate)
			j.late = places.late + late;
		for (; late < places.nlate && places.late[late].function == i;
		     late++)
			j.nlate++;
		count_function(&j, c, places.trouble[i]);
		add_totals(&c->totals, &j);
	}
	cm->stops = places.stops;
	for (uint32_t i = 0; i < pm->map->nsegments; i++)
		c->totals.stops += cm->stops[i] != FRAME_STOP_NONE;
	places.stops = NULL;
	frames_release(&places);
}

/* Were all counts made of traces? */
static bool is_of_trace(const struct profile *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++) {
			uint32_t flags = m->functions[f].flags;

			if (!(flags & (CAIRN_FN_TRACED | CAIRN_FN_NOT_COVERED)))
				return false;
			any |= flags & CAIRN_FN_TRACED;
		}
	}
	return any;
}

/* Are all files that were not closed those of flight recorders? */
static bool is_of_recorders(const struct profile *p)
{
	for (size_t i = 0; i < p->nfiles; i++) {
		const struct profile_file *f = &p->files[i];

		if (!(f->flags & CAIRN_FILE_LAST) &&
		    (f->state == CAIRN_STATE_OPEN ||
		     f->flags & CAIRN_FILE_UNFINISHED))
			return false;
	}
	return true;
}

static enum counts_doubt common_doubt(const struct profile *p)
{
	if (profile_is_incomplete(p))
		return COUNTS_INCOMPLETE;
	if (profile_is_open(p))
		return !is_of_trace(p)      ? COUNTS_OPEN
		       : is_of_recorders(p) ? COUNTS_TRACE_LAST
		                            : COUNTS_TRACE_OPEN;
	if (profile_flags(p) & CAIRN_FILE_FRAMES_LOST)
		return COUNTS_LOST;
	return profile_unwalked(p) ? COUNTS_UNWALKED : COUNTS_EXACT;
}

struct counts *counts_new(const struct profile *p)
{
	struct counts *c = xcalloc(1, sizeof(*c));

	c->profile = p;
	c->doubt = common_doubt(p);
	c->modules = xcalloc(p->nmodules, sizeof(*c->modules));
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].map)
			count_module(c, i);
	return c;
}

void counts_free(struct counts *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->profile->nmodules; i++) {
		struct counts_module *cm = &c->modules[i];

		free(cm->edge);
		free(cm->block);
		free(cm->segment);
		free(cm->edge_known);
		free(cm->block_known);
		free(cm->segment_known);
		free(cm->stops);
		free(cm->functions);
	}
	free(c->modules);
	free(c);
}
