/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a trace to pairs of paths.
 *
 * Every open frame has the sum of the values of the path that it is on, as in
 * trace_counts.c, the path before that one, the call that it is in, and the
 * calls that have come back since its path began.  When a path ends it is the
 * second half of a LOOP pair with the one before; if it is the first of its
 * frame, that of a CALL pair with what the caller had done; and what it did
 * behind each call that came back is that of a RETURN pair.
 *
 * A trace says who is entered, not by whom.  A call by name is of the function
 * that has this name, or an alias, and to which the name led (bindings.c): if
 * another one is entered, code without marks was called, which called back.  So
 * it is with a tail call by name.  Who was called through a pointer is known
 * when the call is over: the first function that is entered is taken for the
 * callee, unless another one is entered: then it was code without marks, too.
 * A function that makes tail calls may be followed by the one that takes its
 * place: that is entered by no call, but comes back to the site.
 *
 * What a frame has under way when it dies, jumps away or is still open at the
 * end is unfinished, also the pair of a loop that its path has left: a build
 * counts pairs where paths end.  A path whose beginning nobody saw, in a child
 * of fork, is no path here.
 *
 * Breaks when: code without marks is called through a pointer, and calls back
 * exactly once.
 * Invariant: the calls that have come back, of all open frames, are a stack.
 * Oracle: tests/overlap/run.py reads the log of all blocks of the same run.
 * Cost: O(1) per event and per pair; memory is the different pairs.
 */
#include "analysis/overlap_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tally.h"
#include "analysis/trace_pieces.h"
#include "analysis/traced.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/bindings.h"
#include "format/map.h"

/* --- counts of pairs --------------------------------------------------------
 */

struct ot_counts {
	struct overlap_count *items; /* hashed; count 0: free */
	size_t n, cap;               /* a power of two, or 0 */
};

static uint64_t ot_mix(uint64_t h, uint64_t v)
{
	h ^= v;
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static size_t ot_hash(const struct overlap_count *c)
{
	uint64_t h = ot_mix((uint64_t)c->kind << 32 | c->from.function,
	                    c->from.number);

	h = ot_mix(h, (uint64_t)c->to.function << 32 | c->to.block);
	h = ot_mix(h, (uint64_t)c->from.site << 32 | c->to.site);
	return (size_t)ot_mix(h, c->to.number);
}

static bool ot_same_end(const struct overlap_end *a,
                        const struct overlap_end *b)
{
	return a->number == b->number && a->function == b->function &&
	       a->site == b->site && a->block == b->block;
}

static struct overlap_count *ot_slot(const struct ot_counts *x,
                                     const struct overlap_count *c)
{
	size_t i = ot_hash(c) & (x->cap - 1);

	while (x->items[i].count && (x->items[i].kind != c->kind ||
	                             !ot_same_end(&x->items[i].to, &c->to) ||
	                             !ot_same_end(&x->items[i].from, &c->from)))
		i = (i + 1) & (x->cap - 1);
	return &x->items[i];
}

static void ot_grow(struct ot_counts *x)
{
	struct ot_counts old = *x;

	x->cap = old.cap ? 2 * old.cap : 1024;
	x->items = xcalloc(x->cap, sizeof(*x->items));
	for (size_t i = 0; i < old.cap; i++)
		if (old.items[i].count)
			*ot_slot(x, &old.items[i]) = old.items[i];
	free(old.items);
}

static void ot_count(struct ot_counts *x, const struct overlap_count *c)
{
	struct overlap_count *slot;

	if (2 * x->n >= x->cap)
		ot_grow(x);
	slot = ot_slot(x, c);
	if (!slot->count) {
		*slot = *c;
		slot->count = 0;
		x->n++;
	}
	slot->count++;
}

/* --- frames ------------------------------------------------------------------
 */

/* The call that a frame is in. */
struct ot_call {
	uint32_t site; /* CFG_NONE: none that is known */
	uint64_t sum;  /* of the path up to it */
	uint32_t nentered;
	uint32_t callee;
	bool has_callee; /* who was entered first may be that */
	bool is_sure;    /* and is: it has the name */
	uint64_t first;  /* the callee's first path, if it is over */
	bool has_first;
	uint32_t left; /* who came back, and its last path */
	uint64_t last;
	bool has_last;
	bool may_tail; /* who left may have another in its place */
};

/* A call that has come back since the path of its frame began. */
struct ot_back {
	uint32_t site, left;
	uint64_t last;
	uint64_t sum; /* of the path up to the call */
};

struct ot_frame {
	uint32_t function;
	uint64_t sum;
	block_id part, behind; /* as in trace_counts.c */
	bool is_in_call, has_left, is_fresh;
	bool is_known;   /* how its path began */
	bool is_first;   /* no path is over */
	bool is_called;  /* by the call that the frame below it is in ... */
	bool is_tail;    /* ... or in the place of one that was */
	bool has_caller; /* `caller` is what it is entered from, by a tail call
	                  */
	struct overlap_end caller;
	block_id exit;       /* where it left, and what its last edge ... */
	uint64_t exit_value; /* ... added */
	block_id before_exit;
	bool has_calls; /* its path is part of a CALL or RETURN pair */
	bool has_prev;
	bool has_last, resumes;
	uint64_t prev; /* the path before this one ... */
	uint64_t last; /* ... and the one that has left */
	struct ot_call call;
	size_t nbacks;
};

/* A function has left that makes tail calls, and nothing has happened since. */
struct ot_tail {
	bool is_left, is_known;
	uint32_t site; /* of from; CFG_NONE: that is not known */
	block_id before;
	struct overlap_end from;
};

/* Whom a site calls. */
struct ot_name {
	const char *name; /* NULL: whatever a pointer says */
	uint32_t module;  /* where the site is */
	bool is_none;     /* of a way out: there is no call */
	uint32_t seen;    /* 1 + a function that has the name; 0: none yet */
};

struct ot {
	struct overlap_trace *x;
	struct traced *t;
	struct bindings bindings;
	struct trace_pieces pieces;
	uint32_t **site_of;          /* per function and edge of its map */
	struct tally *paths;         /* per function: block, number */
	struct tally calls, returns; /* site, callee */
	struct ot_counts counts;
	struct ot_frame *frames;
	size_t nframes, frames_cap;
	struct ot_tail tail;
	struct ot_name *names; /* per site */
	size_t nnames, names_cap;
	struct ot_name **names_before; /* per function and block, or NULL */
	uint32_t **tail_site;  /* per function and block: 1 + site, or 0 */
	struct ot_back *backs; /* of all frames */
	size_t nbacks, backs_cap;
};

static struct ot_frame *ot_top(const struct ot *o)
{
	return o->nframes ? &o->frames[o->nframes - 1] : NULL;
}

/* The frame below, if it is in a call that this one belongs to. */
static struct ot_call *ot_callers(const struct ot *o)
{
	const struct ot_frame *top = ot_top(o);

	return top->is_called || top->is_tail ? &o->frames[o->nframes - 2].call
	                                      : NULL;
}

static struct overlap_excluded *ot_excluded(const struct ot *o)
{
	return &o->x->profile.excluded;
}

static block_id ot_block(const struct ot *o, const struct ot_frame *f)
{
	const struct whole *w = &o->x->wholes[f->function];

	return w->block_of[f->part];
}

/* --- pairs -------------------------------------------------------------------
 */

static void ot_count_loop(struct ot *o, const struct ot_frame *f)
{
	ot_count(&o->counts,
	         &(struct overlap_count){
	                 .kind = OVERLAP_LOOP,
	                 .from = {f->function, CFG_NONE, f->prev, CFG_NONE},
	                 .to = {f->function, CFG_NONE, f->sum, CFG_NONE},
	         });
}

/* The calls that have come back on the path of the innermost frame, which ends,
 * or does not. */
static void ot_end_backs(struct ot *o, struct ot_frame *f, bool is_whole)
{
	for (size_t i = o->nbacks - f->nbacks; i < o->nbacks && is_whole; i++) {
		const struct ot_back *b = &o->backs[i];

		ot_count(&o->counts,
		         &(struct overlap_count){
		                 .kind = OVERLAP_RETURN,
		                 .from = {b->left, CFG_NONE, b->last, CFG_NONE},
		                 .to = {f->function, b->site, f->sum - b->sum,
		                        CFG_NONE},
		         });
	}
	if (!is_whole)
		ot_excluded(o)->nunfinished[OVERLAP_RETURN] += f->nbacks;
	o->nbacks -= f->nbacks;
	f->nbacks = 0;
}

static void ot_note_flow(struct ot *o, const struct ot_frame *f, bool leaves)
{
	struct overlap_profile *p = &o->x->profile;
	bool returns = leaves && (f->is_called || f->is_tail);

	o->x->npaths++;
	if (f->has_prev || !leaves)
		p->nin_loops++;
	else if (f->has_calls || returns ||
	         (f->is_first && (f->is_called || f->has_caller)))
		p->nin_calls++;
}

/* The path of the innermost frame ends; its sum is its number. */
static void ot_end_path(struct ot *o, struct ot_frame *f, bool leaves)
{
	struct ot_call *call =
	        f->is_first && f->is_called ? ot_callers(o) : NULL;

	if (f->is_known) {
		tally_add(&o->paths[f->function], CFG_NONE, f->sum);
		ot_note_flow(o, f, leaves);
	}
	if (f->is_known && f->has_prev)
		ot_count_loop(o, f);
	if (f->is_known && call) {
		call->first = f->sum;
		call->has_first = true;
	}
	if (f->is_first && f->has_caller)
		ot_count(&o->counts, &(struct overlap_count){
		                             .kind = OVERLAP_CALL,
		                             .from = f->caller,
		                             .to = {f->function, CFG_NONE,
		                                    f->sum, CFG_NONE},
		                     });
	ot_end_backs(o, f, f->is_known);
	if (leaves) {
		f->last = f->sum;
		f->has_last = f->is_known;
	}
	f->prev = f->sum;
	f->has_prev = f->is_known;
	f->is_known = true;
	f->is_first = false;
	f->has_calls = false;
}

/* --- names of callees --------------------------------------------------------
 */

static bool ot_has_name(const struct ot *o, uint32_t function, const char *name)
{
	const struct traced_function *t = &o->t->functions[function];
	const struct map_function *f = t->f;

	if (!strcmp(name, map_string(t->map, f->name)))
		return true;
	for (uint32_t i = 0; i < f->naliases; i++)
		if (!strcmp(name,
		            map_string(t->map,
		                       t->map->aliases[f->first_alias + i])))
			return true;
	return false;
}

/* Has the name led there?  A function that others do not know is called in its
 * own file. */
static bool ot_leads(const struct ot *o, const struct ot_name *n,
                     uint32_t function)
{
	const struct traced_function *t = &o->t->functions[function];

	if (t->f->flags & CAIRN_FN_LOCAL)
		return t->module == n->module;
	return bindings_lead(&o->bindings, n->module, n->name, t->module);
}

/* Can the call of this name be of this function? */
static bool ot_may_call(const struct ot *o, struct ot_name *n,
                        uint32_t function)
{
	if (n->is_none)
		return false;
	if (!n->name || n->seen == function + 1)
		return true;
	if (!ot_has_name(o, function, n->name) || !ot_leads(o, n, function))
		return false;
	n->seen = function + 1;
	return true;
}

/* Whom the last call of a block calls, or of those of a map's block. */
static struct ot_name ot_name_of(const struct ot *o, uint32_t function,
                                 block_id block, bool is_part)
{
	const struct traced_function *t = &o->t->functions[function];
	const struct whole *w = &o->x->wholes[function];
	struct ot_name n = {.is_none = true, .module = t->module};

	for (uint32_t i = 0; i < t->f->noutcalls; i++) {
		const struct map_outcall *c =
		        &t->map->outcalls[t->f->first_outcall + i];

		if ((is_part ? c->block : w->block_of[c->block]) != block)
			continue;
		n.is_none = false;
		n.name = c->callee == MAP_NONE
		                 ? NULL
		                 : map_string(t->map,
		                              t->map->callees[c->callee].name);
	}
	if (is_part) /* what it is a site of is in no list: assembly */
		n.is_none = false;
	return n;
}

static void ot_add_name(struct ot *o, struct ot_name n)
{
	VEC_RESERVE(o->names, o->nnames, o->names_cap);
	o->names[o->nnames++] = n;
}

/* The same for a block before a way out that makes no call itself: several tail
 * calls may share a return. */
static struct ot_name *ot_name_before(struct ot *o, uint32_t function,
                                      block_id block)
{
	struct ot_name **all = &o->names_before[function];

	if (!*all) {
		uint32_t n = o->x->wholes[function].g.nblocks;

		*all = xcalloc(n, sizeof(**all));
		for (block_id b = 0; b < n; b++)
			(*all)[b] = ot_name_of(o, function, b, false);
	}
	return &(*all)[block];
}

/* --- calls -------------------------------------------------------------------
 */

static uint64_t ot_pair(uint32_t site, uint32_t callee)
{
	return (uint64_t)site << 32 | callee;
}

static void ot_put_back(struct ot *o, struct ot_frame *f)
{
	const struct ot_call *c = &f->call;

	tally_add(&o->returns, ot_pair(c->site, c->left), 0);
	VEC_RESERVE(o->backs, o->nbacks, o->backs_cap);
	o->backs[o->nbacks++] =
	        (struct ot_back){c->site, c->left, c->last, c->sum};
	f->nbacks++;
}

/* The call of a function with marks is over. */
static void ot_end_known_call(struct ot *o, struct ot_frame *f, bool is_back)
{
	const struct ot_call *c = &f->call;
	struct overlap_count count = {
	        .kind = OVERLAP_CALL,
	        .from = {f->function, c->site, c->sum,
	                 o->x->profile.sites[c->site].block},
	        .to = {c->callee, CFG_NONE, c->first, CFG_NONE},
	};

	f->has_calls = true;
	tally_add(&o->calls, ot_pair(c->site, c->callee), 0);
	if (c->has_first && f->is_known)
		ot_count(&o->counts, &count);
	else
		ot_excluded(o)->nunfinished[OVERLAP_CALL]++;
	if (is_back && c->has_last && f->is_known)
		ot_put_back(o, f);
	else
		ot_excluded(o)->nunfinished[OVERLAP_RETURN]++;
}

/* The call that the innermost frame is in is over. */
static void ot_end_call(struct ot *o, struct ot_frame *f, bool is_back)
{
	uint32_t n = f->call.nentered;

	if (f->call.site != CFG_NONE) {
		if (f->call.has_callee && (n == 1 || f->call.is_sure)) {
			ot_end_known_call(o, f, is_back);
			ot_excluded(o)->nentered += n - 1;
		} else {
			ot_excluded(o)->nunmarked++;
			ot_excluded(o)->nentered += n;
		}
	}
	f->call = (struct ot_call){.site = CFG_NONE};
	f->is_in_call = false;
}

/* --- frames begin and end ----------------------------------------------------
 */

static struct ot_frame *ot_push(struct ot *o, uint32_t function)
{
	VEC_RESERVE(o->frames, o->nframes, o->frames_cap);
	o->frames[o->nframes] = (struct ot_frame){
	        .function = function,
	        .is_fresh = true,
	        .is_known = true,
	        .is_first = true,
	        .call.site = CFG_NONE,
	};
	return &o->frames[o->nframes++];
}

/* May it be in the place of the one that has just left? */
static bool ot_may_follow(struct ot *o, uint32_t function)
{
	const struct ot_tail *t = &o->tail;

	if (t->site == CFG_NONE || ot_may_call(o, &o->names[t->site], function))
		return true;
	return o->names[t->site].is_none && t->before != CFG_NONE &&
	       ot_may_call(o, ot_name_before(o, t->from.function, t->before),
	                   function);
}

/* Is it in the place of one that has just left? */
static void ot_enter_by_tail(struct ot *o, struct ot_frame *f)
{
	if (!o->tail.is_left || !ot_may_follow(o, f->function)) {
		ot_excluded(o)->nentered++;
	} else if (!o->tail.is_known) {
		ot_excluded(o)->nunfinished[OVERLAP_CALL]++;
	} else {
		f->has_caller = true;
		f->caller = o->tail.from;
		tally_add(&o->calls, ot_pair(f->caller.site, f->function), 0);
	}
}

/* A frame is entered while its caller is in a call: is it called, or another in
 * the place of who was? */
static void ot_enter_in_call(struct ot *o, struct ot_call *c, uint32_t function,
                             bool *is_called, bool *is_tail)
{
	*is_tail = c->may_tail && o->tail.is_left && ot_may_follow(o, function);
	*is_called = !*is_tail && c->nentered++ == 0 &&
	             ot_may_call(o, &o->names[c->site], function);
	if (*is_called) {
		c->callee = function;
		c->has_callee = true;
		c->is_sure = o->names[c->site].name != NULL;
	}
	/* who was called for sure has left, or is there: this is a callback */
	if (*is_called || *is_tail || !c->is_sure)
		c->may_tail = c->has_last = false;
}

static void ot_enter(struct ot *o, uint32_t function)
{
	struct ot_frame *caller = ot_top(o), *f;
	bool is_tail = false, is_called = false, is_in_call = false;

	if (caller && caller->is_in_call && caller->call.site != CFG_NONE) {
		is_in_call = true;
		ot_enter_in_call(o, &caller->call, function, &is_called,
		                 &is_tail);
	}
	f = ot_push(o, function);
	f->is_tail = is_tail;
	f->is_called = is_called;
	/* those that a call calls back are counted at its end */
	if (is_tail || !is_in_call)
		ot_enter_by_tail(o, f);
}

/* A frame that was entered and has done nothing yet is in its first block. */
static void ot_settle_fresh(const struct ot *o, struct ot_frame *f)
{
	const struct whole *w = &o->x->wholes[f->function];
	const struct dag *d = &w->paths.dag;
	uint32_t e = d->out_at[DAG_START];

	while (d->edges[e].kind != DAG_STEP)
		e++;
	f->sum = w->paths.value[e];
	f->part = 1;
	while (w->block_of[f->part] != d->edges[e].dst)
		f->part++;
	f->is_fresh = false;
}

/* What the innermost frame has under way comes to nothing. */
static void ot_break_off(struct ot *o, struct ot_frame *f)
{
	if (f->is_in_call)
		ot_end_call(o, f, false);
	if (f->is_fresh)
		ot_settle_fresh(o, f);
	if (f->is_first && f->has_caller)
		ot_excluded(o)->nunfinished[OVERLAP_CALL]++;
	f->has_caller = false;
	if (!f->has_left && f->is_known) {
		tally_add(&o->paths[f->function], ot_block(o, f), f->sum);
		if (f->has_prev &&
		    overlap_turns(&o->x->graphs[f->function], f->prev))
			ot_excluded(o)->nunfinished[OVERLAP_LOOP]++;
	}
	ot_end_backs(o, f, false);
	f->has_prev = false;
}

static void ot_die(struct ot *o, bool was_cut)
{
	struct ot_frame *top = ot_top(o);

	if (was_cut && top->is_in_call) {
		ot_end_call(o, top, true);
		top->part = top->behind;
	}
	ot_break_off(o, top);
	o->nframes--;
}

static void ot_end_frames(struct ot *o)
{
	while (o->nframes)
		ot_die(o, false);
}

/* --- the walk ----------------------------------------------------------------
 */

static void ot_path(struct ot *o, const struct walk_event *event)
{
	struct ot_frame *f = ot_top(o);
	const struct trace_piece *x =
	        trace_pieces_find(&o->pieces, &o->x->wholes[f->function],
	                          &o->t->functions[f->function], event->way);

	if (f->is_in_call)
		ot_end_call(o, f, true);
	if (!event->way->nedges &&
	    !event->way->is_part) { /* in a block without a way out */
		ot_break_off(o, f);
		f->has_left = true;
		return;
	}
	f->sum += x->add;
	if (x->ends) {
		for (uint32_t i = 0; i < x->nwhole; i++) {
			ot_end_path(o, f, false);
			f->sum = x->whole[i];
		}
		ot_end_path(o, f, x->has_left);
		f->sum = x->next;
	}
	f->part = x->part;
	f->behind = x->behind;
	f->is_in_call = x->is_in_call;
	f->has_left = x->has_left;
	f->resumes = x->resumes;
	f->exit = x->exit;
	f->before_exit = x->before_exit;
	f->exit_value = x->exit_value;
	f->is_fresh = false;
	if (x->is_in_call) {
		f->call = (struct ot_call){
		        .site = o->site_of[f->function][x->call],
		        .sum = f->sum,
		};
	}
}

/* The site of tail calls in a block. */
static uint32_t ot_tail_site(struct ot *o, uint32_t function, block_id block)
{
	struct overlap_profile *p = &o->x->profile;
	uint32_t **sites = &o->tail_site[function];

	if (!*sites)
		*sites = xcalloc(o->x->wholes[function].g.nblocks,
		                 sizeof(**sites));
	if (!(*sites)[block]) {
		VEC_RESERVE(p->sites, p->nsites, p->sites_cap);
		p->sites[p->nsites++] = (struct overlap_site){function, block};
		ot_add_name(o, ot_name_of(o, function, block, false));
		(*sites)[block] = p->nsites;
	}
	return (*sites)[block] - 1;
}

/* The innermost frame has left, and may have called when it did. */
static void ot_note_tail(struct ot *o, const struct ot_frame *f)
{
	o->tail = (struct ot_tail){
	        .is_left = true, .is_known = f->has_last, .site = CFG_NONE};
	if (!f->has_last)
		return;
	o->tail.site = ot_tail_site(o, f->function, f->exit);
	o->tail.before = f->before_exit;
	o->tail.from = (struct overlap_end){f->function, o->tail.site,
	                                    f->last - f->exit_value, f->exit};
}

static void ot_leave(struct ot *o, const struct walk *walk)
{
	const struct ot_frame *f = ot_top(o);
	struct ot_call *c = ot_callers(o);
	bool may_tail =
	        o->t->functions[f->function].f->flags & CAIRN_FN_TAILS &&
	        !f->resumes;

	if (may_tail)
		ot_note_tail(o, f);
	if (c) {
		c->left = f->function;
		c->last = f->last;
		c->has_last = f->has_last && !f->resumes;
		c->may_tail = may_tail;
	}
	o->nframes--;
	if (c && walk->frames[walk->nframes - 1].state == WALK_READY) {
		struct ot_frame *top = ot_top(o);

		ot_end_call(o, top, true);
		top->part = top->behind;
	}
}

/* Puts a frame where it was not led to: as tc_arrive in trace_counts.c. */
static int ot_arrive(struct ot *o, struct ot_frame *f, const struct walk *walk,
                     const struct walk_event *event, struct cairn_err *err)
{
	const struct whole *w = &o->x->wholes[f->function];
	const struct dag *d = &w->paths.dag;
	block_id part = event->block, block;

	f->is_fresh = f->is_first = f->has_prev = false;
	f->is_known = false;
	if (!part) {
		f->has_left = true;
		return 0;
	}
	part -= !walk->frames[event->depth].is_inside;
	block = w->block_of[part];
	if (!block || d->in_at[block] == d->in_at[block + 1])
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "a frame of %s goes on in block %" PRIu32
		                  ", where no path leads",
		                  traced_name(o->t, f->function), event->block);
	f->part = part;
	f->behind = event->block;
	f->is_in_call = true;
	f->has_left = false;
	if (event->kind == WALK_LAND && d->begin_of[block] != CFG_NONE) {
		f->sum = w->paths.value[d->begin_of[block]];
		f->is_known = true;
	}
	return 0;
}

static int ot_land(struct ot *o, const struct walk *walk,
                   const struct walk_event *event, struct cairn_err *err)
{
	struct ot_frame *top = ot_top(o);

	if (!top->has_left && top->is_in_call && top->behind == event->block)
		return 0;
	ot_break_off(o, top);
	return ot_arrive(o, top, walk, event, err);
}

static int ot_event(struct ot *o, const struct walk *walk,
                    const struct walk_event *event, struct cairn_err *err)
{
	if (event->kind == WALK_TIME || event->kind == WALK_SYNC)
		return 0;
	if (event->kind == WALK_ENTER)
		ot_enter(o, event->function);
	o->tail = (struct ot_tail){0};
	switch (event->kind) {
	case WALK_PATH:
		ot_path(o, event);
		return 0;
	case WALK_LEAVE:
		ot_leave(o, walk);
		return 0;
	case WALK_DEATH:
		ot_die(o, event->value);
		return 0;
	case WALK_LAND:
		return ot_land(o, walk, event, err);
	case WALK_FRAME:
		return ot_arrive(o, ot_push(o, event->function), walk, event,
		                 err);
	case WALK_START:
	case WALK_LOST:
		ot_end_frames(o);
		return 0;
	case WALK_ENTER:
	case WALK_TIME:
	case WALK_SYNC:
		break;
	}
	return 0;
}

static int ot_walk_thread(struct ot *o, size_t thread, struct cairn_err *err)
{
	struct traced_walk w;
	struct walk_event event;
	int rc = 0, result;

	traced_begin(&w, o->t, thread);
	do {
		result = walk_next(&w.walk, &event, err);
		rc = result == 1 ? ot_event(o, &w.walk, &event, err) : result;
	} while (result == 1 && rc == 0);
	ot_end_frames(o);
	traced_end(&w);
	return rc;
}

/* --- the profile -------------------------------------------------------------
 */

/* Sites are the calls of the map. */
static void ot_make_sites(struct ot *o)
{
	struct overlap_profile *p = &o->x->profile;

	for (uint32_t i = 0; i < o->t->n; i++) {
		const struct traced_function *f = &o->t->functions[i];
		const struct whole *w = &o->x->wholes[i];

		o->site_of[i] =
		        xcalloc((size_t)f->f->nedges + 1, sizeof(**o->site_of));
		for (uint32_t k = 0; k < f->f->ntraced; k++) {
			edge_id e = f->map->traced[f->f->first_traced + k].edge;
			const struct map_edge *edge =
			        &f->map->edges[f->f->first_edge + e];
			block_id part = edge->kind == CAIRN_EDGE_FALL
			                        ? edge->src
			                        : edge->dst;

			o->site_of[i][e] = p->nsites;
			VEC_RESERVE(p->sites, p->nsites, p->sites_cap);
			p->sites[p->nsites++] =
			        (struct overlap_site){i, w->block_of[part]};
			ot_add_name(o, ot_name_of(o, i, part, true));
		}
	}
}

static void ot_put_paths(struct ot *o)
{
	struct overlap_profile *p = &o->x->profile;

	for (uint32_t i = 0; i < o->x->n; i++)
		for (size_t k = 0; k < o->paths[i].cap; k++) {
			const struct tally_item *item = &o->paths[i].items[k];

			if (!item->count)
				continue;
			VEC_RESERVE(p->paths, p->npaths, p->paths_cap);
			p->paths[p->npaths++] = (struct overlap_path){
			        i, (block_id)item->a, item->b, item->count};
		}
}

static int ot_by_site(const void *a, const void *b)
{
	const struct overlap_calls *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void ot_put_some(struct overlap_profile *p, const struct tally *t,
                        bool is_calls)
{
	for (size_t i = 0; i < t->cap; i++) {
		const struct tally_item *item = &t->items[i];

		if (!item->count)
			continue;
		VEC_RESERVE(p->calls, p->ncalls, p->calls_cap);
		p->calls[p->ncalls++] = (struct overlap_calls){
		        .site = (uint32_t)(item->a >> 32),
		        .callee = (uint32_t)item->a,
		        .ncalls = is_calls ? item->count : 0,
		        .nreturns = is_calls ? 0 : item->count,
		};
	}
}

static void ot_put_calls(struct ot *o)
{
	struct overlap_profile *p = &o->x->profile;
	size_t kept = 0;

	ot_put_some(p, &o->calls, true);
	ot_put_some(p, &o->returns, false);
	if (p->ncalls)
		qsort(p->calls, p->ncalls, sizeof(*p->calls), ot_by_site);
	for (size_t i = 0; i < p->ncalls; i++) {
		if (kept && !ot_by_site(&p->calls[kept - 1], &p->calls[i])) {
			p->calls[kept - 1].ncalls += p->calls[i].ncalls;
			p->calls[kept - 1].nreturns += p->calls[i].nreturns;
		} else {
			p->calls[kept++] = p->calls[i];
		}
	}
	p->ncalls = kept;
}

static void ot_put_counts(struct ot *o)
{
	struct overlap_profile *p = &o->x->profile;

	for (size_t i = 0; i < o->counts.cap; i++)
		if (o->counts.items[i].count)
			o->counts.items[p->ncounts++] = o->counts.items[i];
	p->counts = o->counts.items;
	p->counts_cap = o->counts.cap;
	o->counts.items = NULL;
}

static int ot_by_path(const void *a, const void *b)
{
	const struct overlap_path *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int ot_by_end(const struct overlap_end *x, const struct overlap_end *y)
{
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

static int ot_by_halves(const void *a, const void *b)
{
	const struct overlap_count *x = a, *y = b;
	int order;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	order = ot_by_end(&x->from, &y->from);
	return order ? order : ot_by_end(&x->to, &y->to);
}

/* So that what follows depends on what was counted alone. */
static void ot_sort(struct overlap_profile *p)
{
	if (p->npaths)
		qsort(p->paths, p->npaths, sizeof(*p->paths), ot_by_path);
	if (p->ncounts)
		qsort(p->counts, p->ncounts, sizeof(*p->counts), ot_by_halves);
}

static void ot_release(struct ot *o)
{
	for (uint32_t i = 0; i < o->x->n; i++) {
		tally_release(&o->paths[i]);
		free(o->site_of[i]);
		free(o->tail_site[i]);
		free(o->names_before[i]);
	}
	bindings_release(&o->bindings);
	tally_release(&o->calls);
	tally_release(&o->returns);
	trace_pieces_release(&o->pieces);
	free(o->counts.items);
	free(o->paths);
	free(o->site_of);
	free(o->tail_site);
	free(o->names_before);
	free(o->frames);
	free(o->backs);
	free(o->names);
}

static int ot_make_graphs(struct ot *o, struct cairn_err *err)
{
	struct overlap_trace *x = o->x;

	for (uint32_t i = 0; i < o->t->n; i++) {
		CAIRN_TRY(whole_init(&x->wholes[i], o->t->functions[i].map,
		                     o->t->functions[i].f, err));
		overlap_graph_init(&x->graphs[i], &x->wholes[i].paths);
	}
	return 0;
}

int overlap_trace_init(struct overlap_trace *x, struct traced *t,
                       struct cairn_err *err)
{
	struct ot o = {.x = x, .t = t};
	size_t n = (size_t)t->n + 1;
	int rc;

	*x = (struct overlap_trace){.n = t->n};
	x->wholes = xcalloc(n, sizeof(*x->wholes));
	x->graphs = xcalloc(n, sizeof(*x->graphs));
	x->profile.graphs = x->graphs;
	x->profile.nfunctions = t->n;
	x->profile.is_finished = true;
	x->profile.knows_in_calls = true;
	o.paths = xcalloc(n, sizeof(*o.paths));
	o.site_of = xcalloc(n, sizeof(*o.site_of));
	o.tail_site = xcalloc(n, sizeof(*o.tail_site));
	o.names_before = xcalloc(n, sizeof(*o.names_before));
	bindings_init(&o.bindings, t->profile, t->streams);
	rc = ot_make_graphs(&o, err);
	if (rc == 0)
		ot_make_sites(&o);
	for (size_t i = 0; i < t->streams->nthreads && rc == 0; i++)
		rc = ot_walk_thread(&o, i, err);
	if (rc == 0) {
		ot_put_paths(&o);
		ot_put_calls(&o);
		ot_put_counts(&o);
		overlap_note_irreducible(&x->profile);
		overlap_note_cuts(&x->profile);
		ot_sort(&x->profile);
	}
	ot_release(&o);
	if (rc < 0)
		overlap_trace_release(x);
	return rc;
}

void overlap_trace_release(struct overlap_trace *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		overlap_graph_release(&x->graphs[i]);
		whole_release(&x->wholes[i]);
	}
	free(x->wholes);
	free(x->graphs);
	overlap_profile_release(&x->profile);
	*x = (struct overlap_trace){0};
}
