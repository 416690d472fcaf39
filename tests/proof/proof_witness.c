/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of witnesses: proof_witness N SEED [FIRST]
 *
 * N random programs: functions with random control-flow graphs that call each
 * other, themselves and code without marks, which may call back; branch
 * indirectly; jump out of calls and land in some frame; are interrupted by
 * handlers; and end in the middle of it all.  Each is run, and its edges and
 * heads of blocks write the witnesses that witness_init gave them.  The walk
 * must find the same events again: who was entered, left or died, and which
 * edges every path took, and what is read must be the same from anywhere
 * (reading.h).  witness_check must find nothing, and a reader who is told the
 * places alone must have the same codes.
 *
 * The same checks then judge wrong versions.  A version counts as found if it
 * is rejected for some program that is right.
 *
 * Program number i depends on SEED and i only: FIRST = i runs it again.
 * The last line is RESULT.  Status 0: no mismatch, all bugs found, and the
 * programs as varied as promised; 1 otherwise; 2 for bad arguments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "graph/witness.h"
#include "graph/witness_check.h"
#include "walk/walk.h"
#include "../unit/graphs.h"
#include "proof.h"
#include "reading.h"

enum { FUNCTIONS_MAX = 6, DEPTH_MAX = 30, FUEL = 400 };

enum version {
	RIGHT,
	/* writers and readers that are wrong in the same way */
	NOTHING_LOUD, /* behind a call of anything nothing need be heard */
	OPEN_EXIT,    /* witnesses as for a function that runs alone */
	/* wrong writers */
	ONE_LESS,  /* one does not write */
	ONE_CODE,  /* all have the same code */
	LATE,      /* those of calls are written behind the call */
	NO_DEATHS, /* nobody says that frames die */
	/* wrong placements, which the check has to refuse */
	PLACED_QUIET,   /* nothing is loud */
	PLACED_CALLING, /* as if there were no calls */
	PLACED_ALONE,   /* as if it ran alone */
	PLACED_LESS,    /* one less */
	NVERSIONS
};

static const char *const version_name[NVERSIONS] = {
        "right",           "nothing is loud",    "open exit",
        "one less",        "one code for all",   "late",
        "no deaths said",  "placed as quiet",    "placed without calls",
        "placed as alone", "placed without one",
};

enum feature {
	WITH_SILENCE,
	WITH_HEADS,
	WITH_CALL_BLOCKS,
	WITH_INDIRECT_BRANCHES,
	WITH_WIDE_CODES,
	WITH_DEATHS,
	WITH_CATCHERS_BETWEEN,
	WITH_HANDLERS,
	WITH_CALL_BACKS,
	WITH_RECURSION,
	WITH_TAIL_CALLS,
	WITH_FINAL_CALLS,
	NFEATURES
};

static const char *const feature_name[NFEATURES] = {
        "silent paths",      "witnesses at heads", "call blocks",
        "indirect branches", "wide codes",         "deaths",
        "catchers between",  "handlers",           "call-backs",
        "recursion",         "tail calls",         "final calls",
};

/* --- programs ------------------------------------------------------------ */

struct function {
	struct cfg g;
	enum dag_how *asked;
	uint64_t *weight;
	uint32_t *callee;
	bool *loud, *is_call, *is_final, *is_call_block;
	bool has_tails; /* calls anything when it is left */
	struct witness witness;
	/* what is written: as the witness has it, or not */
	uint32_t *on_edge, *at_head;
};

struct program {
	struct function f[FUNCTIONS_MAX];
	struct walk_function walked[FUNCTIONS_MAX];
	struct walk_program walk;
	uint32_t n;
	const char *why; /* it is refused */
	bool has[NFEATURES];
	struct rng rng;
};

/* A block with so many ways out that codes are wide; the rest is random. */
static void random_graph(struct cfg *g, struct rng *r)
{
	struct graph_taste t = graph_random_taste(r, 2 + rng_below(r, 30));
	uint32_t nways = 200 + rng_below(r, 300);

	if (!rng_percent(r, 5)) {
		graph_random(g, &t, r);
		return;
	}
	cfg_init(g, nways + 3);
	cfg_add_edge(g, CFG_OUTSIDE, 1);
	for (uint32_t i = 0; i < nways; i++) {
		cfg_add_edge(g, 1, 2 + i);
		cfg_add_edge(g, 2 + i, nways + 2);
	}
	cfg_add_edge(g, nways + 2, rng_percent(r, 80) ? CFG_OUTSIDE : 1);
	cfg_add_edge(g, nways + 2, CFG_OUTSIDE);
	cfg_link(g);
}

/* Makes an edge a call, the end of one, or nothing of the kind. */
static void choose_edge(struct function *f, struct program *p, edge_id e,
                        uint32_t calls, struct rng *r)
{
	const struct cfg_edge *edge = &f->g.edges[e];

	f->callee[e] = WALK_NOTHING;
	f->weight[e] = rng_below(r, 1000);
	if (edge->src == CFG_OUTSIDE)
		return;
	if (edge->dst == CFG_OUTSIDE) {
		f->is_final[e] = rng_percent(r, 10);
	} else if (rng_percent(r, calls)) {
		f->is_call[e] = true;
		f->callee[e] =
		        rng_percent(r, 50) ? WALK_ANYTHING : rng_below(r, p->n);
		f->loud[edge->dst] |= f->callee[e] == WALK_ANYTHING ||
		                      p->f[f->callee[e]].has_tails;
	} else if (rng_percent(r, 2)) {
		f->asked[e] = DAG_IGNORED;
	}
}

/* Makes the branch at the end of a block indirect, if nothing speaks against
 * it. */
static void choose_branch(struct function *f, struct program *p, block_id b)
{
	const struct cfg *g = &f->g;

	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
		if (g->edges[g->out[i]].dst == CFG_OUTSIDE ||
		    f->is_call[g->out[i]] || f->asked[g->out[i]])
			return;
	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
		f->asked[g->out[i]] = DAG_INDIRECT;
		p->has[WITH_INDIRECT_BRANCHES] = true;
	}
}

/* Makes a block the call itself that leads to it, if nothing else does. */
static void choose_call_block(struct function *f, struct program *p, block_id b)
{
	const struct cfg *g = &f->g;
	uint32_t nways = g->out_at[b + 1] - g->out_at[b];

	if (nways == 0)
		return;
	for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++)
		if (!f->is_call[g->in[i]])
			return;
	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
		if (f->asked[g->out[i]])
			return;
	f->is_call_block[b] = true;
	p->has[WITH_CALL_BLOCKS] |= f->loud[b];
}

static void choose_edges(struct function *f, struct program *p, struct rng *r)
{
	uint32_t calls = rng_below(r, 30);
	uint32_t branches = rng_percent(r, 30) ? rng_below(r, 60) : 0;
	size_t n = (size_t)f->g.nedges + 1;

	f->asked = xcalloc(n, sizeof(*f->asked));
	f->weight = xcalloc(n, sizeof(*f->weight));
	f->callee = xcalloc(n, sizeof(*f->callee));
	f->is_call = xcalloc(n, sizeof(*f->is_call));
	f->is_final = xcalloc(n, sizeof(*f->is_final));
	f->loud = xcalloc(f->g.nblocks, sizeof(*f->loud));
	f->is_call_block = xcalloc(f->g.nblocks, sizeof(*f->is_call_block));
	for (edge_id e = 0; e < f->g.nedges; e++)
		choose_edge(f, p, e, calls, r);
	for (block_id b = 1; b < f->g.nblocks; b++)
		if (rng_percent(r, branches))
			choose_branch(f, p, b);
	for (block_id b = 1; b < f->g.nblocks; b++)
		if (rng_percent(r, 50))
			choose_call_block(f, p, b);
}

static struct witness_options options_of(const struct function *f)
{
	return (struct witness_options){
	        .slots = {.asked = f->asked,
	                  .is_call = f->is_call,
	                  .loud = f->loud,
	                  .is_call_block = f->is_call_block},
	        .weight = f->weight,
	};
}

static uint32_t *copy(const uint32_t *from, uint32_t n)
{
	uint32_t *to = xcalloc((size_t)n + 1, sizeof(*to));

	memcpy(to, from, n * sizeof(*to));
	return to;
}

/* What is written, and by whom. */
static void write_as(struct function *f, enum version v, struct rng *r)
{
	uint32_t nedges = f->g.nedges;

	f->on_edge = copy(f->witness.on_edge, nedges);
	f->at_head = copy(f->witness.at_head, f->g.nblocks);
	for (edge_id e = 0; e < nedges && v == ONE_CODE; e++)
		if (f->on_edge[e] != WITNESS_NONE)
			f->on_edge[e] = WITNESS_FIRST;
	if (v == ONE_LESS && f->witness.nslots) {
		uint32_t slot =
		        f->witness.slots[rng_below(r, f->witness.nslots)];

		if (slot < nedges)
			f->on_edge[slot] = WITNESS_NONE;
		else
			f->at_head[slot - nedges] = WITNESS_NONE;
	}
}

/* One who is told where they are. */
static bool place_again(const struct function *f, const uint32_t *places,
                        uint32_t nplaces, struct witness *again)
{
	struct witness_options options = options_of(f);
	struct cairn_err err;

	options.weight = NULL;
	options.is_placed = true;
	options.places = places;
	options.nplaces = nplaces;
	return witness_init(again, &f->g, &options, &err) == 0;
}

/* Would he give them the same codes? */
static bool is_reproduced(const struct function *f)
{
	const struct witness *w = &f->witness;
	struct witness again;
	bool same;

	if (!place_again(f, w->slots, w->nslots, &again))
		return false;
	same = again.width == w->width && again.nslots == w->nslots &&
	       memcmp(again.on_edge, w->on_edge,
	              f->g.nedges * sizeof(*w->on_edge)) == 0 &&
	       memcmp(again.at_head, w->at_head,
	              f->g.nblocks * sizeof(*w->at_head)) == 0;
	witness_release(&again);
	return same;
}

/* Are these refused?  Without one of them if it is PLACED_LESS. */
static bool is_refused(const struct function *f, enum version v, struct rng *r)
{
	uint32_t n = f->witness.nslots, left = 0;
	uint32_t *places = copy(f->witness.slots, n);
	struct witness again;
	bool refused;

	if (v == PLACED_LESS && n) {
		uint32_t less = rng_below(r, n);

		for (uint32_t i = 0; i < n; i++)
			if (i != less)
				places[left++] = places[i];
		n = left;
	}
	refused = !place_again(f, places, n, &again);
	if (!refused)
		witness_release(&again);
	free(places);
	return refused;
}

static void function_init(struct function *f, struct program *p, enum version v,
                          struct rng *r)
{
	struct witness_options options = options_of(f), wrong = options;
	struct cairn_err err;

	if (v == NOTHING_LOUD || v == PLACED_QUIET)
		wrong.slots.loud = NULL;
	if (v == PLACED_CALLING)
		wrong.slots.is_call = NULL;
	wrong.is_alone = v == OPEN_EXIT || v == PLACED_ALONE;
	if (witness_init(&f->witness, &f->g, &wrong, &err) < 0)
		abort();
	write_as(f, v, r);
	if (v == RIGHT && witness_check(&f->witness, &options, &err) < 0)
		p->why = "the check fails";
	if (v == RIGHT && !is_reproduced(f))
		p->why = "other codes the second time";
	if (v >= PLACED_QUIET && is_refused(f, v, r))
		p->why = "refused";
	for (uint32_t i = 0; i < f->witness.nslots; i++)
		p->has[WITH_HEADS] |= f->witness.slots[i] >= f->g.nedges;
	p->has[WITH_WIDE_CODES] |= f->witness.width > 1;
}

static uint32_t function_at(void *context, uint32_t address)
{
	(void)context;
	return address - 1;
}

/* In a run the address of a place is its function, from 1 on, and its block. */
static uint32_t site_at(void *context, uint32_t address, block_id *block,
                        bool *is_inside)
{
	const struct program *p = context;
	uint32_t function = (address & 255) - 1;

	(void)is_inside;
	*block = address >> 8;
	return function < p->n && *block < p->f[function].g.nblocks
	               ? function
	               : WALK_NOTHING;
}

static void program_init(struct program *p, uint64_t seed, uint64_t number,
                         enum version v)
{
	struct rng r = {seed};

	r.state = rng_next(&r) ^ number;
	rng_next(&r);
	*p = (struct program){.n = 1 + rng_below(&r, FUNCTIONS_MAX)};
	for (uint32_t i = 0; i < p->n; i++)
		p->f[i].has_tails = rng_percent(&r, 20);
	for (uint32_t i = 0; i < p->n; i++) {
		random_graph(&p->f[i].g, &r);
		choose_edges(&p->f[i], p, &r);
		function_init(&p->f[i], p, v, &r);
		p->walked[i] = (struct walk_function){
		        .witness = &p->f[i].witness,
		        .callee = p->f[i].callee,
		        .is_final = p->f[i].is_final,
		        .has_tails = p->f[i].has_tails,
		};
	}
	p->walk = (struct walk_program){
	        .functions = p->walked,
	        .nfunctions = p->n,
	        .context = p,
	        .function_at = function_at,
	        .site_at = site_at,
	};
	p->rng = r;
}

static void program_release(struct program *p)
{
	walk_program_release(&p->walk);
	for (uint32_t i = 0; i < p->n; i++) {
		struct function *f = &p->f[i];

		witness_release(&f->witness);
		cfg_release(&f->g);
		free(f->asked);
		free(f->weight);
		free(f->callee);
		free(f->loud);
		free(f->is_call);
		free(f->is_final);
		free(f->is_call_block);
		free(f->on_edge);
		free(f->at_head);
	}
}

/* --- running ------------------------------------------------------------- */

struct run {
	struct program *p;
	enum version v;
	struct bytes stream, log;
	size_t told;    /* the log when something was last written */
	uint32_t depth; /* frames */
	uint32_t running[DEPTH_MAX + 1]; /* their functions */
	uint32_t catcher; /* depth of the frame that an exception goes to */
	uint32_t fuel;
	bool is_cut; /* ended in the middle of a path */
};

enum outcome { RETURNED, THROWN, ENDED };

struct activation {
	uint32_t function;
	block_id at;
	bool is_open; /* the walk reads before it takes its path */
	edge_id *edges;
	block_id *blocks;
	uint32_t nedges, edges_cap, nblocks, blocks_cap;
};

static void put_mark(struct run *r, uint8_t mark, uint32_t value)
{
	bytes_put(&r->stream, &mark, 1);
	bytes_put_u32(&r->stream, value);
	r->told = r->log.n;
}

/* Writes a witness, if there is one; says whether there is. */
static bool put_witness(struct run *r, const struct activation *a,
                        uint32_t code)
{
	if (code == WITNESS_NONE)
		return false;
	(void)a;
	if (code <= CAIRN_TRACE_SMALL) {
		bytes_put(&r->stream, &(uint8_t){(uint8_t)code}, 1);
	} else {
		bytes_put(&r->stream, &(uint8_t){CAIRN_TRACE_WORD + 4}, 1);
		bytes_put_u32(&r->stream, code);
	}
	r->told = r->log.n;
	return true;
}

static void log_event(struct bytes *log, const struct walk_event *e)
{
	bytes_put_uv(log, e->kind);
	bytes_put_uv(log, e->function);
	bytes_put_uv(log, e->depth);
	bytes_put_uv(log, e->block);
	if (e->kind != WALK_PATH)
		return;
	bytes_put_uv(log, e->way->nedges);
	for (uint32_t i = 0; i < e->way->nedges; i++)
		bytes_put_uv(log, e->way->edges[i]);
	bytes_put_uv(log, e->way->nblocks);
	for (uint32_t i = 0; i < e->way->nblocks; i++)
		bytes_put_uv(log, e->way->blocks[i]);
}

static void say(struct run *r, const struct activation *a, enum walk_kind kind,
                block_id block)
{
	struct walk_way way = {
	        .edges = a->edges,
	        .nedges = a->nedges,
	        .blocks = a->blocks,
	        .nblocks = a->nblocks,
	};

	log_event(&r->log, &(struct walk_event){
	                           .kind = kind,
	                           .function = a->function,
	                           .depth = r->depth - 1,
	                           .way = &way,
	                           .block = block,
	                   });
}

static void pass_block(struct activation *a, block_id b)
{
	VEC_RESERVE(a->blocks, a->nblocks, a->blocks_cap);
	a->blocks[a->nblocks++] = b;
}

static void begin_path(struct run *r, struct activation *a, uint32_t place,
                       block_id block)
{
	const struct witness *w = &r->p->f[a->function].witness;

	a->at = block;
	a->nedges = a->nblocks = 0;
	a->is_open = !witness_is_silent(w, place);
	r->p->has[WITH_SILENCE] |= !a->is_open;
	if (block != CFG_OUTSIDE)
		pass_block(a, block);
}

static enum outcome run_function(struct run *r, uint32_t function);

static enum outcome enter(struct run *r, uint32_t function)
{
	if (r->depth == DEPTH_MAX) {
		r->is_cut = true;
		return ENDED;
	}
	put_mark(r, CAIRN_TRACE_ENTER, function + 1);
	return run_function(r, function);
}

/* A signal, where the trace says when: not in a silent path. */
static enum outcome interrupt(struct run *r, const struct activation *a)
{
	struct rng *rng = &r->p->rng;

	if (!rng_percent(rng, 2) || r->depth == DEPTH_MAX || !a->is_open)
		return RETURNED;
	r->p->has[WITH_HANDLERS] = true;
	return enter(r, rng_below(rng, r->p->n));
}

/* Comes to a block, in front of its head, and passes that. */
static enum outcome come(struct run *r, struct activation *a, block_id b,
                         bool begins)
{
	const struct function *f = &r->p->f[a->function];
	enum outcome how;

	if (begins)
		begin_path(r, a, witness_at(&f->witness, b), b);
	how = interrupt(r, a);
	if (how != RETURNED)
		return how;
	if (f->at_head[b] == WITNESS_NONE) {
		if (!begins)
			pass_block(a, b);
		a->at = b;
		return RETURNED;
	}
	if (!begins)
		say(r, a, WALK_PATH, 0);
	put_witness(r, a, f->at_head[b]);
	begin_path(r, a, b, b);
	return RETURNED;
}

/* Where the frame can go on: behind a call of anything; CFG_OUTSIDE: it makes
 * none. */
static block_id find_landing(struct run *r, const struct activation *a)
{
	const struct function *f = &r->p->f[a->function];
	edge_id start = rng_below(&r->p->rng, f->g.nedges);

	for (edge_id i = 0; i < f->g.nedges; i++) {
		edge_id e = (start + i) % f->g.nedges;

		if (f->callee[e] == WALK_ANYTHING)
			return f->g.edges[e].dst;
	}
	return CFG_OUTSIDE;
}

static enum outcome land(struct run *r, struct activation *a, block_id b)
{
	put_mark(r, CAIRN_TRACE_LAND, b << 8 | (a->function + 1));
	say(r, a, WALK_LAND, b);
	r->told = r->log.n;
	return come(r, a, b, true);
}

/* Code without marks: may call back, catch, throw, or end the program. */
static enum outcome run_anything(struct run *r)
{
	struct rng *rng = &r->p->rng;
	enum outcome how = RETURNED;

	for (int i = 0; i < 2 && how == RETURNED && rng_percent(rng, 40); i++) {
		r->p->has[WITH_CALL_BACKS] = true;
		how = enter(r, rng_below(rng, r->p->n));
		if (how == THROWN && rng_percent(rng, 30)) {
			r->p->has[WITH_CATCHERS_BETWEEN] = true;
			how = RETURNED;
		}
	}
	if (how != RETURNED)
		return how;
	if (rng_percent(rng, 2))
		return ENDED;
	if (!rng_percent(rng, 10) || r->depth == 0)
		return RETURNED;
	r->catcher = rng_below(rng, r->depth);
	return THROWN;
}

static enum outcome run_call(struct run *r, uint32_t callee)
{
	if (callee == WALK_ANYTHING)
		return run_anything(r);
	if (r->depth == DEPTH_MAX) {
		r->is_cut = true;
		return ENDED;
	}
	return run_function(r, callee);
}

/* An exception or a jump takes the frame away. */
static void die(struct run *r, const struct activation *a)
{
	if (r->v != NO_DEATHS)
		put_mark(r, CAIRN_TRACE_DEATH, a->function + 1);
	say(r, a, WALK_DEATH, 0);
	r->told = r->log.n;
	r->p->has[WITH_DEATHS] = true;
}

/* In a call that does not return, of anything. */
static enum outcome stop(struct run *r)
{
	enum outcome how = run_anything(r);

	if (how != RETURNED || rng_percent(&r->p->rng, 50))
		return how == RETURNED ? ENDED : how;
	r->catcher = rng_below(&r->p->rng, r->depth);
	return THROWN;
}

/* Calls, on an edge between blocks. */
static enum outcome call(struct run *r, struct activation *a, edge_id e)
{
	const struct function *f = &r->p->f[a->function];
	enum outcome how;

	say(r, a, WALK_PATH, 0);
	if (r->v != LATE)
		put_witness(r, a, f->on_edge[e]);
	how = run_call(r, f->callee[e]);
	if (how != RETURNED)
		return how;
	if (r->v == LATE)
		put_witness(r, a, f->on_edge[e]);
	return come(r, a, f->g.edges[e].dst, true);
}

/* Takes an edge, with all that happens there; *left if it leaves. */
static enum outcome take(struct run *r, struct activation *a, edge_id e,
                         bool *left)
{
	const struct function *f = &r->p->f[a->function];
	block_id dst = f->g.edges[e].dst;
	bool writes = f->on_edge[e] != WITNESS_NONE;

	VEC_RESERVE(a->edges, a->nedges, a->edges_cap);
	a->edges[a->nedges++] = e;
	if (f->is_call[e])
		return call(r, a, e);
	if (writes || dst == CFG_OUTSIDE)
		say(r, a, WALK_PATH, 0);
	put_witness(r, a, f->on_edge[e]);
	if (dst != CFG_OUTSIDE)
		return come(r, a, dst, writes);
	if (f->is_final[e]) {
		r->p->has[WITH_FINAL_CALLS] = true;
		return stop(r);
	}
	*left = true;
	return RETURNED;
}

/* The edge that stands for one: others of an indirect branch with the same
 * target cannot be told from it.  CFG_NONE if it is never taken. */
static edge_id stand_in(const struct function *f, edge_id e)
{
	const struct cfg *g = &f->g;
	uint32_t i = g->out_at[g->edges[e].src];

	if (f->asked[e] == DAG_IGNORED)
		return CFG_NONE;
	while (f->asked[e] == DAG_INDIRECT &&
	       (f->asked[g->out[i]] != DAG_INDIRECT ||
	        g->edges[g->out[i]].dst != g->edges[e].dst))
		i++;
	return f->asked[e] == DAG_INDIRECT ? g->out[i] : e;
}

static edge_id choose_way(struct run *r, const struct activation *a)
{
	const struct function *f = &r->p->f[a->function];
	const struct cfg *g = &f->g;
	uint32_t at = g->out_at[a->at], n = g->out_at[a->at + 1] - at;
	uint32_t start = n ? rng_below(&r->p->rng, n) : 0;

	for (uint32_t i = 0; i < n; i++) {
		edge_id e = stand_in(f, g->out[at + (start + i) % n]);

		if (e != CFG_NONE)
			return e;
	}
	return CFG_NONE;
}

static enum outcome step(struct run *r, struct activation *a, bool *left)
{
	enum outcome how;
	edge_id e;

	if (r->fuel-- == 0) {
		r->is_cut = true;
		return ENDED;
	}
	how = interrupt(r, a);
	if (how != RETURNED)
		return how;
	e = choose_way(r, a);
	if (e != CFG_NONE)
		return take(r, a, e, left);
	say(r, a, WALK_PATH, 0);
	return stop(r);
}

/* Runs from where it is until it is left; RETURNED if it leaves by itself. */
static enum outcome run_frame(struct run *r, struct activation *a)
{
	bool left = false;
	enum outcome how = take(r, a, 0, &left);

	while (how != ENDED && !left) {
		block_id b = CFG_OUTSIDE;

		if (how == RETURNED) {
			how = step(r, a, &left);
			continue;
		}
		if (r->depth - 1 == r->catcher)
			b = find_landing(r, a);
		if (b != CFG_OUTSIDE) {
			how = land(r, a, b);
			continue;
		}
		if (r->depth - 1 == r->catcher && r->catcher)
			r->catcher--;
		die(r, a);
		return r->depth == 1 ? ENDED : how;
	}
	return how;
}

static enum outcome run_function(struct run *r, uint32_t function)
{
	struct activation a = {.function = function};
	enum outcome how;

	for (uint32_t i = 0; i < r->depth; i++)
		r->p->has[WITH_RECURSION] |= r->running[i] == function;
	r->running[r->depth++] = function;
	say(r, &a, WALK_ENTER, 0);
	begin_path(r, &a, CFG_OUTSIDE, CFG_OUTSIDE);
	how = run_frame(r, &a);
	if (how == RETURNED)
		say(r, &a, WALK_LEAVE, 0);
	r->depth--;
	free(a.edges);
	free(a.blocks);
	if (how != RETURNED || !r->p->f[function].has_tails)
		return how;
	r->p->has[WITH_TAIL_CALLS] = true;
	return run_anything(r);
}

/* --- judging ------------------------------------------------------------- */

static const char *judge_stream(struct run *r)
{
	struct walk_event event;
	struct cairn_err err;
	struct bytes found = {0};
	const char *why = NULL;
	struct walk w;
	size_t n;
	int got;

	walk_init_bytes(&w, &r->p->walk, r->stream.data, r->stream.n);
	while ((got = walk_next(&w, &event, &err)) == 1 &&
	       found.n < 2 * r->log.n + 100000)
		log_event(&found, &event);
	n = found.n < r->log.n ? found.n : r->log.n;
	if (got < 0)
		why = "the walk fails";
	else if (n && memcmp(found.data, r->log.data, n) != 0)
		why = "other events";
	else if (found.n < r->told)
		why = "events are missing";
	else if (!r->is_cut && found.n != r->log.n)
		why = "not as many events";
	walk_release(&w);
	bytes_release(&found);
	return why;
}

static const char *judge(uint64_t seed, uint64_t number, enum version v,
                         bool *has)
{
	struct program p;
	struct run r = {.p = &p, .v = v, .fuel = FUEL};
	const char *why;

	program_init(&p, seed, number, v);
	why = p.why;
	if (v < PLACED_QUIET) {
		for (int i = 0; i < 3 && enter(&r, 0) == RETURNED; i++) {
		}
		why = why ? why : judge_stream(&r);
		if (!why && v == RIGHT)
			why = reading_judge(&p.walk, r.stream.data, r.stream.n,
			                    &p.rng);
	}
	if (has)
		memcpy(has, p.has, sizeof(p.has));
	bytes_release(&r.stream);
	bytes_release(&r.log);
	program_release(&p);
	return why;
}

struct proof {
	uint64_t n, seed, first, nmismatches;
	uint64_t nwith[NFEATURES];
	bool found[NVERSIONS];
};

static void prove(struct proof *p, uint64_t number)
{
	bool has[NFEATURES];
	const char *wrong = judge(p->seed, number, RIGHT, has);

	if (wrong) {
		p->nmismatches++;
		printf("MISMATCH: program %" PRIu64 ": %s\n", number, wrong);
		return;
	}
	for (int f = 0; f < NFEATURES; f++)
		p->nwith[f] += has[f];
	for (enum version v = RIGHT + 1; v < NVERSIONS; v++) {
		const char *why =
		        p->found[v] ? NULL : judge(p->seed, number, v, NULL);

		if (!why)
			continue;
		p->found[v] = true;
		printf("planted: %s: found by program %" PRIu64 ": %s\n",
		       version_name[v], number, why);
	}
}

int main(int argc, char **argv)
{
	struct proof p = {0};
	uint32_t nfound = 0;
	bool varied = true;

	if (!proof_arguments(argc, argv, "proof_witness", &p.n, &p.seed,
	                     &p.first))
		return 2;
	for (uint64_t i = 0; i < p.n; i++)
		prove(&p, p.first + i);
	for (int f = 0; f < NFEATURES; f++) {
		printf("%-20s %5.1f %% of the programs\n", feature_name[f],
		       100.0 * (double)p.nwith[f] / (double)p.n);
		varied &= p.nwith[f] > 0;
	}
	for (enum version v = RIGHT + 1; v < NVERSIONS; v++)
		nfound += p.found[v];
	printf("RESULT proof_witness programs=%" PRIu64 " mismatches=%" PRIu64
	       " planted_bugs_found=%" PRIu32 "\n",
	       p.n, p.nmismatches, nfound);
	return p.nmismatches || nfound < NVERSIONS - 1 || !varied;
}
