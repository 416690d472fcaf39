/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timestamped whole program path, put together again.
 *
 * A stack of activations: the innermost one goes on until it calls or ends.
 * Blocks are collected and handed on in lists.
 *
 * Cost: O(events); memory as in the header.
 */
#include "analysis/twpp_replay.h"

#include "analysis/twpp_graph.h"
#include "base/alloc.h"

#include <stdlib.h>

#define LIST 1024

struct replay {
	struct twpp_graph *graph;
	const struct twpp_sink *sink;
	struct twpp_activation *frames; /* innermost last */
	size_t nframes, frames_cap;
	uint32_t blocks[LIST]; /* not handed on yet */
	size_t nblocks;
};

static int flush(struct replay *r)
{
	size_t n = r->nblocks;

	r->nblocks = 0;
	return n ? r->sink->blocks(r->sink->arg, r->blocks, n) : 0;
}

static int enter(struct replay *r, uint32_t node, struct cairn_err *err)
{
	struct twpp_activation *a;
	int rc = flush(r);

	if (rc)
		return rc;
	VEC_RESERVE(r->frames, r->nframes, r->frames_cap);
	a = &r->frames[r->nframes++];
	rc = twpp_activation_init(a, r->graph, node, err);
	if (rc)
		return rc;
	return r->sink->enter(r->sink->arg, a->held->function.entry->function);
}

static int leave(struct replay *r)
{
	struct twpp_activation *a = &r->frames[r->nframes - 1];
	enum twpp_end end = a->end;
	int rc = flush(r);

	if (rc)
		return rc;
	twpp_activation_release(a);
	r->nframes--;
	return r->sink->leave(r->sink->arg, end);
}

/* All that happens in a call that nobody of us made. */
static int run(struct replay *r, uint32_t root, struct cairn_err *err)
{
	int rc = enter(r, root, err);

	while (!rc && r->nframes) {
		uint32_t what;
		int step = twpp_activation_next(&r->frames[r->nframes - 1],
		                                &what, err);

		if (step < 0) {
			rc = step;
		} else if (step == TWPP_STEP_CALL) {
			rc = enter(r, what, err);
		} else if (step == TWPP_STEP_END) {
			rc = leave(r);
		} else {
			r->blocks[r->nblocks++] = what;
			if (r->nblocks == LIST)
				rc = flush(r);
		}
	}
	return rc;
}

int twpp_replay(struct twpp_graph *g, size_t thread,
                const struct twpp_sink *sink, struct cairn_err *err)
{
	struct replay r = {.graph = g, .sink = sink};
	struct twpp_calls roots;
	uint32_t root;
	int rc = 0;

	twpp_calls_init(&roots, g, &g->threads[thread].roots, g->n);
	while (!rc && (rc = twpp_calls_next(&roots, &root, err)) > 0)
		rc = run(&r, root, err);
	twpp_calls_release(&roots);
	while (r.nframes)
		twpp_activation_release(&r.frames[--r.nframes]);
	free(r.frames);
	return rc;
}
