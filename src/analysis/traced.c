/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a profile and its streams to something that can be walked: the graphs of
 * all functions with their codes or witnesses, and what addresses in the
 * streams mean.
 *
 * Addresses have 32 bits, the low ones.  Those of two modules can be the same,
 * and a linker may fold functions of one; an address that means two functions,
 * or two calls, cannot be read, which is found here, not when it occurs.
 *
 * Cost: O(size of the maps); an address is looked up by bisection.
 */
#include "analysis/traced.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/path_counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/witness_check.h"

struct traced_place {
	uint32_t first, last; /* addresses */
	uint32_t function;
	block_id block; /* of a site: where the frame goes on */
	bool is_inside; /* ... in the middle of it */
};

/* --- functions ----------------------------------------------------------- */

static const struct map_call *traced_calls(const struct traced_function *f)
{
	return f->map->traced + f->f->first_traced;
}

static bool has_tails(const struct traced *t, uint32_t function)
{
	return t->functions[function].f->flags & CAIRN_FN_TAILS;
}

/* What is known of a function, for codes and for witnesses. */
struct traced_known {
	enum dag_how *asked;
	bool *is_call, *loud, *is_call_block;
};

static void traced_know(struct traced_known *k, const struct traced *t,
                        const struct traced_function *f)
{
	const struct map_edge *edges = f->map->edges + f->f->first_edge;
	size_t nedges = (size_t)f->f->nedges + 1;
	size_t nblocks = (size_t)f->f->nblocks + 1;

	k->asked = xcalloc(nedges, sizeof(*k->asked));
	k->is_call = xcalloc(nedges, sizeof(*k->is_call));
	k->loud = xcalloc(nblocks, sizeof(*k->loud));
	k->is_call_block = xcalloc(nblocks, sizeof(*k->is_call_block));
	for (uint32_t e = 0; e < f->f->nedges; e++) {
		k->asked[e] = path_counts_ask(edges[e].kind);
		k->is_call_block[edges[e].dst] |=
		        edges[e].kind == CAIRN_EDGE_CALL;
	}
	for (uint32_t i = 0; i < f->f->ntraced; i++) {
		const struct map_call *call = &traced_calls(f)[i];

		k->asked[call->edge] = DAG_CUT;
		k->is_call[call->edge] = true;
		k->loud[edges[call->edge].dst] |=
		        call->kind != CAIRN_CALLS_KNOWN ||
		        f->callee[call->edge] == WALK_ANYTHING ||
		        has_tails(t, f->callee[call->edge]);
	}
}

static void traced_forget(struct traced_known *k)
{
	free(k->asked);
	free(k->is_call);
	free(k->loud);
	free(k->is_call_block);
}

static int traced_corrupt(const struct traced_function *f, const char *what,
                          struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT, "the map of %s: %s",
	                  map_string(f->map, f->f->name), what);
}

static struct witness_options
traced_witness_options(const struct traced_function *f,
                       const struct traced_known *k)
{
	return (struct witness_options){
	        .slots = {.asked = k->asked,
	                  .is_call = k->is_call,
	                  .loud = k->loud,
	                  .is_call_block = k->is_call_block},
	        .is_placed = true,
	        .places = f->map->witnesses + f->f->first_witness,
	        .nplaces = f->f->nwitnesses,
	};
}

static int traced_witness(struct traced_function *f,
                          const struct traced_known *k, struct cairn_err *err)
{
	struct witness_options options = traced_witness_options(f, k);
	struct cairn_err why = {0};

	if (witness_init(&f->witness, &f->g, &options, &why) < 0)
		return traced_corrupt(f, why.text, err);
	return 0;
}

static int traced_codes(struct traced_function *f, const struct traced_known *k,
                        struct cairn_err *err)
{
	struct codes_options options = {
	        .asked = k->asked,
	        .is_call = k->is_call,
	        .loud = k->loud,
	        .one_by_one = f->f->paths == CAIRN_PATHS_TRACE_PATHS,
	        .is_cut = true,
	        .cuts = f->map->cuts + f->f->first_cut,
	        .ncuts = f->f->ncuts,
	        .heads = f->map->turns + f->f->first_turn,
	        .nheads = f->f->nturns,
	};
	int rc;

	if (options.one_by_one && options.nheads)
		return traced_corrupt(f, "loops count that may not", err);
	rc = codes_init(&f->codes, &f->g, &options, err);
	if (rc == 0 && f->codes.paths.n != f->f->npaths)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "the map of %s: its paths are not as many as "
		                  "it says",
		                  map_string(f->map, f->f->name));
	return rc;
}

static bool traced_has_witness(const struct traced_function *f)
{
	return f->f->paths == CAIRN_PATHS_WITNESS;
}

static int traced_learn(const struct traced *t, struct traced_function *f,
                        struct cairn_err *err)
{
	struct traced_known k;
	enum dag_how *asked;
	int rc;

	path_counts_graph(&f->g, &asked, f->map, f->f);
	free(asked);
	traced_know(&k, t, f);
	rc = traced_has_witness(f) ? traced_witness(f, &k, err)
	                           : traced_codes(f, &k, err);
	traced_forget(&k);
	return rc;
}

int traced_check(const struct traced *t, uint64_t *n, struct cairn_err *err)
{
	struct cairn_err why = {0};

	*n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct traced_function *f = &t->functions[i];
		struct witness_options options;
		struct traced_known k;
		int rc;

		if (!traced_has_witness(f))
			continue;
		traced_know(&k, t, f);
		options = traced_witness_options(f, &k);
		rc = witness_check(&f->witness, &options, &why);
		traced_forget(&k);
		if (rc < 0)
			return traced_corrupt(f, why.text, err);
		++*n;
	}
	return 0;
}

/* Of a conditional branch, a switch, a computed goto. */
static bool traced_is_branch(uint32_t kind)
{
	return kind == CAIRN_EDGE_TRUE || kind == CAIRN_EDGE_FALSE ||
	       kind == CAIRN_EDGE_CASE || kind == CAIRN_EDGE_DEFAULT ||
	       kind == CAIRN_EDGE_INDIRECT;
}

static void traced_add(struct traced *t, uint32_t module, uint32_t index)
{
	const struct map *map = t->profile->modules[module].map;
	struct traced_function *f;

	VEC_RESERVE(t->functions, t->n, t->cap);
	f = &t->functions[t->n++];
	*f = (struct traced_function){
	        .module = module,
	        .index = index,
	        .map = map,
	        .f = &map->functions[index],
	};
	f->callee = xcalloc((size_t)f->f->nedges + 1, sizeof(*f->callee));
	f->is_final = xcalloc((size_t)f->f->nedges + 1, sizeof(*f->is_final));
	f->is_branch = xcalloc((size_t)f->f->nedges + 1, sizeof(*f->is_branch));
	f->is_resumed =
	        xcalloc((size_t)f->f->nedges + 1, sizeof(*f->is_resumed));
	for (uint32_t e = 0; e < f->f->nedges; e++) {
		f->callee[e] = WALK_NOTHING;
		f->is_branch[e] =
		        traced_is_branch(map->edges[f->f->first_edge + e].kind);
		f->is_final[e] = map->edges[f->f->first_edge + e].kind ==
		                 CAIRN_EDGE_NORETURN;
		f->is_resumed[e] = map->edges[f->f->first_edge + e].kind ==
		                   CAIRN_EDGE_RESUME;
	}
}

/* --- addresses ----------------------------------------------------------- */

static int traced_by_address(const void *a, const void *b)
{
	const struct traced_place *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static const struct traced_place *traced_find(const struct traced_place *places,
                                              size_t n, uint32_t address)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;

		if (places[middle].first <= address)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo && address <= places[lo - 1].last ? &places[lo - 1] : NULL;
}

static uint32_t traced_function_at(void *context, uint32_t address)
{
	const struct traced *t = context;
	const struct traced_place *p = traced_find(t->code, t->ncode, address);

	return p ? p->function : WALK_NOTHING;
}

static uint32_t traced_site_at(void *context, uint32_t address, block_id *block,
                               bool *is_inside)
{
	const struct traced *t = context;
	const struct traced_place *p =
	        traced_find(t->sites, t->nsites, address);

	if (!p) /* a call behind which nothing is */
		return traced_function_at(context, address - 1);
	*block = p->block;
	*is_inside = p->is_inside;
	return p->function;
}

/* Two places are one.  In one module the linker made it so. */
static int traced_ambiguous(const struct traced *t,
                            const struct traced_place *x,
                            const struct traced_place *y, struct cairn_err *err)
{
	const struct traced_function *f = &t->functions[x->function];
	const struct traced_function *g = &t->functions[y->function];
	const struct profile_module *modules = t->profile->modules;

	if (f->module == g->module)
		return cairn_fail(
		        err, CAIRN_E_LIMIT,
		        "%s: %s and %s have the same code, so that what a "
		        "trace "
		        "says of one cannot be told from the other; link "
		        "without folding of identical code (--icf=none)",
		        modules[f->module].path, map_string(f->map, f->f->name),
		        map_string(g->map, g->f->name));
	return cairn_fail(
	        err, CAIRN_E_LIMIT,
	        "%s and %s were at addresses with the same low 32 bits "
	        "(%#" PRIx32
	        "), so that what the trace says of one cannot be told from the "
	        "other; where they are is chance, unless the program runs "
	        "without it (setarch -R): run it again",
	        modules[f->module].path, modules[g->module].path, y->first);
}

static int traced_sort(const struct traced *t, struct traced_place *places,
                       size_t n, struct cairn_err *err)
{
	if (n)
		qsort(places, n, sizeof(*places), traced_by_address);
	for (size_t i = 1; i < n; i++)
		if (places[i].first <= places[i - 1].last)
			return traced_ambiguous(t, &places[i - 1], &places[i],
			                        err);
	return 0;
}

/* Where a frame goes on that is in the call of a site. */
static block_id traced_next(const struct traced_function *f, block_id block)
{
	const struct map_edge *edges = f->map->edges + f->f->first_edge;

	for (uint32_t i = 0; i < f->f->ntraced; i++) {
		const struct map_edge *e = &edges[traced_calls(f)[i].edge];

		if (e->src == block && e->kind == CAIRN_EDGE_FALL)
			return e->dst;
	}
	return block;
}

/*
 * The code of a function: two places if the low 32 bits wrap around in it; none
 * if it is empty, as one that nobody may call: its address is that of what
 * happens to be behind it.
 */
static size_t traced_put_code(struct traced_place *places, uint64_t at,
                              uint64_t size, uint32_t function)
{
	uint32_t first = (uint32_t)at, last = (uint32_t)(at + size - 1);

	if (!size)
		return 0;
	if (first <= last) {
		places[0] = (struct traced_place){
		        .first = first, .last = last, .function = function};
		return 1;
	}
	places[0] = (struct traced_place){
	        .first = first, .last = UINT32_MAX, .function = function};
	places[1] = (struct traced_place){.last = last, .function = function};
	return 2;
}

/* A recorded function, which the one who replayed it calls by a number. */
static void traced_make_up(struct traced *t, uint32_t function, uint32_t *next)
{
	struct traced_function *f = &t->functions[function];

	f->made_up = *next;
	*next += f->f->ncalls + 3;
	t->ncode += traced_put_code(t->code + t->ncode, f->made_up,
	                            *next - f->made_up, function);
	for (uint32_t k = 0; k < f->f->ncalls; k++) {
		const struct map_site *s = &f->map->calls[f->f->first_call + k];
		block_id after = traced_next(f, s->block);

		t->sites[t->nsites++] = (struct traced_place){
		        f->made_up + 1 + k, f->made_up + 1 + k, function, after,
		        after == s->block};
	}
}

/* Where a function was, and the calls that it makes, with this load bias. */
static void traced_place_at(struct traced *t, uint32_t function, uint64_t bias)
{
	const struct traced_function *f = &t->functions[function];
	uint64_t at = f->f->address + bias;

	t->ncode += traced_put_code(t->code + t->ncode, at, f->f->code_size,
	                            function);
	for (uint32_t k = 0; k < f->f->nsites; k++) {
		const struct map_site *s = &f->map->sites[f->f->first_site + k];
		uint32_t pc = (uint32_t)(at + s->offset);
		block_id next = traced_next(f, s->block);

		t->sites[t->nsites++] = (struct traced_place){
		        pc, pc, function, next, next == s->block};
	}
}

/* A module that was loaded several times has several addresses. */
static int traced_index(struct traced *t, struct cairn_err *err)
{
	const struct profile_module *modules = t->profile->modules;
	size_t ncode = 0, nsites = 0;
	uint32_t next = 1;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct traced_function *f = &t->functions[i];

		if (f->f->paths == CAIRN_PATHS_RECORD) {
			ncode++;
			nsites += f->f->ncalls;
			continue;
		}
		ncode += 2 * (size_t)modules[f->module].nbiases;
		nsites += (size_t)modules[f->module].nbiases * f->f->nsites;
	}
	t->code = xcalloc(ncode + 1, sizeof(*t->code));
	t->sites = xcalloc(nsites + 1, sizeof(*t->sites));
	for (uint32_t i = 0; i < t->n; i++) {
		const struct profile_module *m =
		        &modules[t->functions[i].module];

		if (t->functions[i].f->paths == CAIRN_PATHS_RECORD) {
			traced_make_up(t, i, &next);
			continue;
		}
		for (uint32_t k = 0; k < m->nbiases; k++)
			traced_place_at(t, i, m->biases[k]);
	}
	CAIRN_TRY(traced_sort(t, t->code, t->ncode, err));
	return traced_sort(t, t->sites, t->nsites, err);
}

/* --- all of it ----------------------------------------------------------- */

static int traced_resolve(struct traced *t, struct cairn_err *err)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct traced_function *f = &t->functions[i];
		uint64_t bias = t->profile->modules[f->module].bias;

		for (uint32_t k = 0; k < f->f->ntraced; k++) {
			const struct map_call *call = &traced_calls(f)[k];
			uint32_t callee = WALK_ANYTHING;

			if (call->kind != CAIRN_CALLS_ANYTHING)
				callee = traced_function_at(
				        t, (uint32_t)(call->callee + bias));
			if (callee == WALK_NOTHING &&
			    call->kind == CAIRN_CALLS_MAYBE)
				callee = WALK_ANYTHING;
			if (callee == WALK_NOTHING)
				return cairn_fail(
				        err, CAIRN_E_CORRUPT,
				        "the map of %s: it calls a function at "
				        "%#" PRIx64 " that is not in the map",
				        map_string(f->map, f->f->name),
				        call->callee);
			f->callee[call->edge] = callee;
		}
		CAIRN_TRY(traced_learn(t, f, err));
		t->walked[i] = (struct walk_function){
		        .codes = traced_has_witness(f) ? NULL : &f->codes,
		        .witness = traced_has_witness(f) ? &f->witness : NULL,
		        .callee = f->callee,
		        .is_final = f->is_final,
		        .is_resumed = f->is_resumed,
		        .is_branch = f->is_branch,
		        .has_tails = has_tails(t, i),
		};
	}
	return 0;
}

/* Is it the walk over a recording? */
static bool traced_has_recorded(const struct traced *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->functions[i].f->paths == CAIRN_PATHS_RECORD)
			return true;
	return false;
}

/* Nobody knows which bytes of a stream are of functions without a map, so all
 * behind them would be read wrongly. */
static int traced_need_maps(const struct profile *p, struct cairn_err *err)
{
	for (uint32_t m = 0; m < p->nmodules; m++)
		if (!p->modules[m].map)
			return cairn_fail(err, CAIRN_E_ABSENT,
			                  "a trace cannot be read without "
			                  "the maps of all its modules: %s",
			                  p->modules[m].missing);
	return 0;
}

int traced_init(struct traced *t, const struct profile *profile,
                const struct streams *streams, struct cairn_err *err)
{
	int rc;

	*t = (struct traced){0};
	CAIRN_TRY(traced_need_maps(profile, err));
	*t = (struct traced){.profile = profile, .streams = streams};
	for (uint32_t m = 0; m < profile->nmodules; m++) {
		const struct map *map = profile->modules[m].map;

		for (uint32_t i = 0; map && i < map->nfunctions; i++)
			if (CAIRN_PATHS_ARE_TRACED(map->functions[i].paths))
				traced_add(t, m, i);
	}
	t->walked = xcalloc((size_t)t->n + 1, sizeof(*t->walked));
	t->program = (struct walk_program){
	        .functions = t->walked,
	        .nfunctions = t->n,
	        .was_killed = profile_was_killed(profile),
	        .has_halts = traced_has_recorded(t),
	        .context = t,
	        .function_at = traced_function_at,
	        .site_at = traced_site_at,
	};
	rc = traced_index(t, err);
	if (rc == 0)
		rc = traced_resolve(t, err);
	if (rc < 0)
		traced_release(t);
	return rc;
}

void traced_release(struct traced *t)
{
	if (t->walked)
		walk_program_release(&t->program);
	for (uint32_t i = 0; i < t->n; i++) {
		codes_release(&t->functions[i].codes);
		witness_release(&t->functions[i].witness);
		cfg_release(&t->functions[i].g);
		free(t->functions[i].callee);
		free(t->functions[i].is_final);
		free(t->functions[i].is_resumed);
		free(t->functions[i].is_branch);
	}
	free(t->functions);
	free(t->walked);
	free(t->code);
	free(t->sites);
	*t = (struct traced){0};
}

static int traced_next_part(void *context, const uint8_t **bytes, size_t *n,
                            struct cairn_err *err)
{
	struct traced_walk *w = context;

	if (w->part == w->thread->nparts)
		return 0;
	CAIRN_TRY(streams_load(w->streams, &w->thread->parts[w->part++],
	                       &w->memory, &w->capacity, bytes, n, err));
	return 1;
}

static void traced_seek_part(void *context, uint64_t part)
{
	struct traced_walk *w = context;

	w->part = part < w->thread->nparts ? (size_t)part : w->thread->nparts;
}

void traced_begin(struct traced_walk *w, struct traced *t, size_t thread)
{
	*w = (struct traced_walk){
	        .streams = t->streams,
	        .thread = &t->streams->threads[thread],
	};
	walk_init(&w->walk, &t->program,
	          (struct walk_source){w, traced_next_part, traced_seek_part});
}

void traced_end(struct traced_walk *w)
{
	walk_release(&w->walk);
	free(w->memory);
	*w = (struct traced_walk){0};
}

const char *traced_name(const struct traced *t, uint32_t function)
{
	const struct traced_function *f = &t->functions[function];

	return map_string(f->map, f->f->name);
}
