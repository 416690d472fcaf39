/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inter-procedural path segments of a run (K. Vaswani, "Efficient online path
 * profiling", thesis, 2007, section 3.4).
 *
 * A subpath ends at calls, back edges and returns.  A segment is a sequence of
 * subpaths that begins in its root, an activation, goes into calls, up to a
 * depth, and comes back from them; it ends at a back edge in any of its frames,
 * at a call that it does not go into, and when its root returns.
 *
 * There are two ways to tell them apart:
 *
 *     every activation is a root, as the thesis lists them: what is executed
 *     belongs to up to depth + 1 segments, of as many frames.  One that ended
 *     in a callee begins again when its root goes on.
 *     planned: calls of a given set of sites are gone into, and such an
 *     activation has no segments of its own.  What is executed belongs to one
 *     segment, which may begin in a callee as well.  A build that has inlined
 *     the same sites counts just these.
 *
 * A frame has a view for every segment that it can be part of: which root that
 * is, and as which copy of its function.  Segments under way are nodes of a
 * tree of prefixes, so that a step is one look-up, and a count is one addition.
 *
 * Invariant: a frame that is in a call has the edge in `pending`; the block
 * behind it is not part of any segment before it comes back.
 * Cost: O(1) per edge and view; memory is one node per different prefix.
 */
#include "analysis/segments.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>

#define END_CALL UINT64_MAX
#define END_LEAVE (UINT64_MAX - 1)
#define BACK_BIT ((uint64_t)1 << 63)

struct segments_view {
	size_t root; /* frame */
	uint32_t copy;
};

struct segments_frame {
	uint32_t function;
	size_t first_view;
	edge_id pending; /* the call that it is in, or CFG_NONE */
	bool is_entered; /* something was called there ... */
	bool is_through; /* ... and is part of a segment */
	bool has_left;   /* its last edge led outside */
	/* of the segment that it is the root of */
	bool is_live;
	bool is_begun;   /* it may begin behind a call that is not in it */
	bool is_unknown; /* until the next one begins */
	bool is_final;   /* it is complete, unless somebody catches */
	uint32_t at;     /* node */
};

/* --- tables -------------------------------------------------------------- */

static uint64_t hash_of(uint64_t a, uint64_t b)
{
	uint64_t h = (a + 1) * 0x9e3779b97f4a7c15u ^ b;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

static void put_node(struct segments *s, uint32_t node)
{
	const struct segments_node *n = &s->nodes[node];
	size_t i = hash_of(n->parent, n->token) & (s->table_size - 1);

	while (s->table[i])
		i = (i + 1) & (s->table_size - 1);
	s->table[i] = node;
}

static void grow_table(struct segments *s)
{
	if (s->table_size > 2 * (size_t)s->nnodes)
		return;
	free(s->table);
	s->table_size = s->table_size ? 4 * s->table_size : 1024;
	s->table = xcalloc(s->table_size, sizeof(*s->table));
	for (uint32_t i = 1; i < s->nnodes; i++)
		put_node(s, i);
}

/* The prefix with one more token. */
static uint32_t child_of(struct segments *s, uint32_t parent, uint64_t token)
{
	size_t i = hash_of(parent, token) & (s->table_size - 1);

	for (; s->table[i]; i = (i + 1) & (s->table_size - 1)) {
		const struct segments_node *n = &s->nodes[s->table[i]];

		if (n->parent == parent && n->token == token)
			return s->table[i];
	}
	VEC_RESERVE(s->nodes, s->nnodes, s->nodes_cap);
	s->nodes[s->nnodes] =
	        (struct segments_node){.token = token, .parent = parent};
	s->table[i] = s->nnodes++;
	grow_table(s);
	return s->nnodes - 1;
}

static uint64_t copy_hash(uint32_t parent, block_id site, uint32_t function)
{
	return hash_of(hash_of(parent, site), function);
}

static void grow_copies(struct segments *s)
{
	if (s->copy_table_size > 2 * (size_t)s->ncopies)
		return;
	free(s->copy_table);
	s->copy_table_size = s->copy_table_size ? 4 * s->copy_table_size : 256;
	while (s->copy_table_size <= 2 * (size_t)s->ncopies)
		s->copy_table_size *= 2;
	s->copy_table = xcalloc(s->copy_table_size, sizeof(*s->copy_table));
	for (uint32_t c = s->nfunctions; c < s->ncopies; c++) {
		const struct segments_copy *x = &s->copies[c];
		size_t i = copy_hash(x->parent, x->site, x->function) &
		           (s->copy_table_size - 1);

		while (s->copy_table[i])
			i = (i + 1) & (s->copy_table_size - 1);
		s->copy_table[i] = c + 1;
	}
}

/* The copy, or SEGMENTS_NONE; *slot is where it would be. */
static uint32_t find_copy(const struct segments *s, uint32_t parent,
                          block_id site, uint32_t function, size_t *slot)
{
	size_t i = copy_hash(parent, site, function) & (s->copy_table_size - 1);

	for (; s->copy_table[i]; i = (i + 1) & (s->copy_table_size - 1)) {
		const struct segments_copy *x =
		        &s->copies[s->copy_table[i] - 1];

		if (x->parent == parent && x->site == site &&
		    x->function == function)
			return s->copy_table[i] - 1;
	}
	*slot = i;
	return SEGMENTS_NONE;
}

uint32_t segments_add_copy(struct segments *s, uint32_t parent, block_id site,
                           uint32_t function)
{
	size_t slot;
	uint32_t copy = find_copy(s, parent, site, function, &slot);

	if (copy != SEGMENTS_NONE)
		return copy;
	assert(s->copies[parent].depth < s->depth);
	VEC_RESERVE(s->copies, s->ncopies, s->copies_cap);
	s->copies[s->ncopies] = (struct segments_copy){
	        .function = function,
	        .root = s->copies[parent].root,
	        .parent = parent,
	        .site = site,
	        .depth = s->copies[parent].depth + 1,
	};
	s->copy_table[slot] = ++s->ncopies;
	copy = s->ncopies - 1;
	grow_copies(s);
	return copy;
}

static void init(struct segments *s, const struct segments_graph *graphs,
                 uint32_t nfunctions, uint32_t depth)
{
	assert(depth <= SEGMENTS_DEPTH_MAX);
	*s = (struct segments){
	        .graphs = graphs, .nfunctions = nfunctions, .depth = depth};
	for (uint32_t i = 0; i < nfunctions; i++) {
		VEC_RESERVE(s->copies, s->ncopies, s->copies_cap);
		s->copies[s->ncopies++] = (struct segments_copy){
		        .function = i, .root = i, .parent = SEGMENTS_NONE};
	}
	VEC_RESERVE(s->nodes, s->nnodes, s->nodes_cap);
	s->nodes[s->nnodes++] = (struct segments_node){0};
	grow_table(s);
	grow_copies(s);
}

void segments_init(struct segments *s, const struct segments_graph *graphs,
                   uint32_t nfunctions, uint32_t depth)
{
	init(s, graphs, nfunctions, depth);
}

void segments_init_planned(struct segments *s,
                           const struct segments_graph *graphs,
                           uint32_t nfunctions)
{
	init(s, graphs, nfunctions, SEGMENTS_DEPTH_MAX);
	s->is_planned = true;
}

void segments_release(struct segments *s)
{
	free(s->copies);
	free(s->frames);
	free(s->views);
	free(s->nodes);
	free(s->table);
	free(s->copy_table);
	free(s->cuts);
	free(s->steps);
	*s = (struct segments){0};
}

/* --- segments under way -------------------------------------------------- */

static size_t end_of_views(const struct segments *s, size_t frame)
{
	return frame + 1 < s->nframes ? s->frames[frame + 1].first_view
	                              : s->nviews;
}

static void end_view(struct segments *s, const struct segments_view *v,
                     uint64_t token)
{
	struct segments_frame *root = &s->frames[v->root];

	if (root->is_live) {
		uint32_t node = child_of(s, root->at, token); /* moves them */

		s->nodes[node].count++;
	}
	root->is_live = root->is_begun = false;
	root->is_unknown = root->is_final = false;
}

static uint64_t token_of(uint32_t copy, block_id block)
{
	return (uint64_t)copy << 32 | block;
}

void segments_add_cut(struct segments *s, struct segments_cut cut)
{
	VEC_RESERVE(s->cuts, s->ncuts, s->cuts_cap);
	s->cuts[s->ncuts++] = cut;
	s->copies[cut.from.copy].has_cuts = true;
}

/* Is the segment cut before this step of it? */
static bool is_cut(const struct segments *s, const struct segments_frame *root,
                   uint64_t to)
{
	uint64_t from = s->nodes[root->at].token;

	if (!root->at || !s->copies[from >> 32].has_cuts)
		return false;
	for (uint32_t i = 0; i < s->ncuts; i++)
		if (token_of(s->cuts[i].from.copy, s->cuts[i].from.block) ==
		            from &&
		    token_of(s->cuts[i].to.copy, s->cuts[i].to.block) == to)
			return true;
	return false;
}

static void cut_view(struct segments *s, const struct segments_view *v,
                     uint64_t to)
{
	struct segments_frame *root = &s->frames[v->root];

	if (!root->is_live || !is_cut(s, root, to))
		return;
	end_view(s, v, BACK_BIT | to);
	root->is_live = true;
	root->at = 0;
}

/* The frame comes to a block. */
static void arrive(struct segments *s, size_t frame, block_id block,
                   bool is_part)
{
	for (size_t i = s->frames[frame].first_view; i < end_of_views(s, frame);
	     i++) {
		const struct segments_view *v = &s->views[i];
		struct segments_frame *root = &s->frames[v->root];

		if (!root->is_live && !root->is_unknown &&
		    (v->root == frame || s->is_planned)) {
			root->is_live = true;
			root->at = 0;
		}
		root->is_final = false;
		if (s->ncuts)
			cut_view(s, v, token_of(v->copy, block));
		/* that a call in the middle came back says nothing */
		if (root->is_live && !(is_part && (root->at || root->is_begun)))
			root->at =
			        child_of(s, root->at, token_of(v->copy, block));
	}
}

static void end_all(struct segments *s, size_t frame, uint64_t token)
{
	for (size_t i = s->frames[frame].first_view; i < end_of_views(s, frame);
	     i++)
		end_view(s, &s->views[i], token);
}

static void go_back(struct segments *s, size_t frame, block_id to)
{
	for (size_t i = s->frames[frame].first_view; i < end_of_views(s, frame);
	     i++) {
		const struct segments_view *v = &s->views[i];

		end_view(s, v, BACK_BIT | token_of(v->copy, to));
	}
}

/* The call comes back, or never will: was it gone into? */
static void end_call(struct segments *s, size_t frame)
{
	struct segments_frame *f = &s->frames[frame];

	if (f->pending != CFG_NONE && !f->is_entered)
		end_all(s, frame, END_CALL);
	f->is_entered = true;
}

static void resume(struct segments *s, size_t frame)
{
	struct segments_frame *f = &s->frames[frame];
	const struct segments_edge *e;

	if (f->pending == CFG_NONE)
		return;
	end_call(s, frame);
	e = &s->graphs[f->function].edges[f->pending];
	f->pending = CFG_NONE;
	arrive(s, frame, e->dst, e->is_part);
}

/* --- frames -------------------------------------------------------------- */

static void pop_to(struct segments *s, size_t n)
{
	if (n >= s->nframes)
		return;
	s->nviews = s->frames[n].first_view;
	s->nframes = n;
}

static void add_view(struct segments *s, size_t root, uint32_t copy)
{
	VEC_RESERVE(s->views, s->nviews, s->views_cap);
	s->views[s->nviews++] = (struct segments_view){root, copy};
}

static struct segments_frame *push(struct segments *s, uint32_t function,
                                   size_t depth)
{
	pop_to(s, depth);
	VEC_RESERVE(s->frames, s->nframes, s->frames_cap);
	s->frames[s->nframes] = (struct segments_frame){
	        .function = function,
	        .first_view = s->nviews,
	        .pending = CFG_NONE,
	};
	return &s->frames[s->nframes++];
}

/* The copy of a function that a view goes into, or SEGMENTS_NONE. */
static uint32_t go_into(struct segments *s, const struct segments_view *v,
                        block_id site, uint32_t function)
{
	size_t slot;

	if (s->is_planned)
		return find_copy(s, v->copy, site, function, &slot);
	if (s->copies[v->copy].depth == s->depth)
		return SEGMENTS_NONE;
	return segments_add_copy(s, v->copy, site, function);
}

/* The first function that a call enters.  Is it part of segments of the
 * caller? */
static bool follow(struct segments *s, size_t caller, uint32_t function)
{
	struct segments_frame *f = &s->frames[caller];
	block_id site = s->graphs[f->function].edges[f->pending].src;
	/* the new frame has no view yet */
	size_t first = f->first_view, end = s->nviews;
	bool is_part = false;

	for (size_t i = first; i < end; i++) {
		struct segments_view v = s->views[i];
		uint32_t copy = go_into(s, &v, site, function);

		if (copy == SEGMENTS_NONE) {
			end_view(s, &v, END_CALL);
			continue;
		}
		add_view(s, v.root, copy);
		is_part = true;
	}
	s->frames[caller].is_entered = true;
	s->frames[caller].is_through = is_part;
	return is_part;
}

void segments_begin_thread(struct segments *s)
{
	s->nframes = s->nviews = 0;
}

void segments_enter(struct segments *s, uint32_t function, size_t depth)
{
	size_t frame, caller;
	bool is_part = false;

	push(s, function, depth);
	frame = s->nframes - 1;
	caller = frame - 1;
	/* else it is a handler's, or a second one of the same call */
	if (frame && s->frames[caller].pending != CFG_NONE &&
	    !s->frames[caller].is_entered)
		is_part = follow(s, caller, function);
	if (!s->is_planned || !is_part)
		add_view(s, frame, function);
}

void segments_find_frame(struct segments *s, uint32_t function, size_t depth)
{
	push(s, function, depth)->is_unknown = true;
	add_view(s, s->nframes - 1, function);
}

void segments_take(struct segments *s, const edge_id *edges, uint32_t nedges)
{
	size_t frame = s->nframes - 1;
	const struct segments_graph *g = &s->graphs[s->frames[frame].function];

	resume(s, frame);
	for (uint32_t i = 0; i < nedges; i++) {
		const struct segments_edge *e = &g->edges[edges[i]];

		if (e->dst == CFG_OUTSIDE) {
			s->frames[frame].has_left = true;
		} else if (e->is_call) {
			s->frames[frame].pending = edges[i];
			s->frames[frame].is_entered = false;
			s->frames[frame].is_through = false;
		} else {
			if (e->ends)
				go_back(s, frame, e->dst);
			arrive(s, frame, e->dst, e->is_part);
		}
	}
}

static void end_own(struct segments *s, size_t frame)
{
	for (size_t i = s->frames[frame].first_view; i < end_of_views(s, frame);
	     i++)
		if (s->views[i].root == frame)
			end_view(s, &s->views[i], END_LEAVE);
}

void segments_leave(struct segments *s)
{
	size_t frame = s->nframes - 1;

	end_call(s, frame);
	end_own(s, frame);
	pop_to(s, frame);
}

/*
 * What a frame that dies had begun is not finished.  If it had left already, by
 * a call that does not come back, its path was complete; as a copy it goes on
 * where its caller catches.  One that dies in a call that is in no segment has
 * ended it before, and a new one begins behind that.
 */
void segments_die(struct segments *s)
{
	size_t frame = s->nframes - 1;
	struct segments_frame f;

	end_call(s, frame);
	f = s->frames[frame];
	if (f.has_left || f.is_final)
		end_own(s, frame);
	for (size_t i = f.first_view; i < s->nviews; i++) {
		struct segments_frame *root = &s->frames[s->views[i].root];

		if (s->views[i].root == frame)
			continue;
		if (!s->is_planned) {
			root->is_live = false;
		} else if (f.pending != CFG_NONE && !f.is_through) {
			root->is_live = root->is_begun = true;
			root->at = 0;
		} else if (f.has_left) {
			root->is_final = true;
		} else if (f.pending == CFG_NONE) {
			root->is_live = false;
		}
	}
	pop_to(s, frame);
}

void segments_land(struct segments *s, block_id block)
{
	size_t frame = s->nframes - 1;

	end_call(s, frame);
	s->frames[frame].pending = CFG_NONE;
	for (size_t i = s->frames[frame].first_view; i < s->nviews; i++) {
		struct segments_frame *root = &s->frames[s->views[i].root];

		if (root->is_final)
			end_view(s, &s->views[i], END_LEAVE);
		root->is_live = root->is_begun = false;
	}
	arrive(s, frame, block, true);
}

void segments_end_thread(struct segments *s)
{
	while (s->nframes) {
		size_t frame = s->nframes - 1;

		end_call(s, frame);
		if (s->frames[frame].has_left || s->frames[frame].is_final)
			end_all(s, frame, END_LEAVE);
		pop_to(s, frame);
	}
}

static uint32_t node_of(struct segments *s, const struct segments_one *one)
{
	uint64_t end =
	        one->end == SEGMENTS_CALLS ? END_CALL
	        : one->end == SEGMENTS_LEAVES
	                ? END_LEAVE
	                : BACK_BIT | token_of(one->to.copy, one->to.block);
	uint32_t node = 0;

	for (uint32_t i = 0; i < one->nsteps; i++)
		node = child_of(
		        s, node,
		        token_of(one->steps[i].copy, one->steps[i].block));
	return child_of(s, node, end);
}

void segments_count(struct segments *s, const struct segments_one *one)
{
	uint32_t node = node_of(s, one);

	s->nodes[node].count += one->count;
}

bool segments_has(struct segments *s, const struct segments_one *one)
{
	uint32_t node = node_of(s, one);

	return s->nodes[node].count > 0;
}

/* --- results ------------------------------------------------------------- */

static void read_end(struct segments_one *one, uint64_t token)
{
	one->end = token == END_CALL    ? SEGMENTS_CALLS
	           : token == END_LEAVE ? SEGMENTS_LEAVES
	                                : SEGMENTS_BACK;
	if (one->end == SEGMENTS_BACK)
		one->to = (struct segments_step){
		        (uint32_t)((token & ~BACK_BIT) >> 32), (block_id)token};
}

static void read_steps(struct segments *s, struct segments_one *one,
                       uint32_t node)
{
	uint32_t n = 0, k;

	for (k = node; k; k = s->nodes[k].parent)
		n++;
	while (s->steps_cap < n)
		VEC_RESERVE(s->steps, s->steps_cap, s->steps_cap);
	one->steps = s->steps;
	one->nsteps = n;
	for (k = node; k; k = s->nodes[k].parent) {
		uint64_t token = s->nodes[k].token;
		struct segments_step step = {(uint32_t)(token >> 32),
		                             (block_id)token};

		s->steps[--n] = step;
		if (s->copies[step.copy].depth > one->depth)
			one->depth = s->copies[step.copy].depth;
	}
}

bool segments_next(struct segments *s, uint32_t *at, struct segments_one *one)
{
	while (++*at < s->nnodes) {
		const struct segments_node *n = &s->nodes[*at];

		if (!n->count)
			continue;
		*one = (struct segments_one){.count = n->count};
		read_end(one, n->token);
		read_steps(s, one, n->parent);
		return true;
	}
	return false;
}
