/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_FLOW_H
#define CAIRN_REPLAY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct cairn_err;
struct program;
struct traced;

struct flow_function;
struct flow_frame;

/* From the steps of replayed contexts (steps.h) to the streams of a trace, as
 * if the program had been built with --cairn=trace. */
struct flow {
	const struct traced *traced;
	struct flow_function *functions; /* by their number in the trace */
	uint32_t *function_of;           /* per node */
	uint32_t nnodes;
	struct flow_frame *frames; /* innermost last */
	size_t nframes, frames_cap;
	bool is_again;  /* the next word is the node of a call */
	uint32_t *path; /* edges that the innermost took since one ended */
	size_t npath, path_cap;
	size_t nunknown;      /* outermost frames that no reader knows */
	struct bytes stream;  /* of the context, since it was last taken */
	const char *nonsense; /* NULL, or what no replay code says */
};

/*
 * Numbers the nodes of all functions of the program.
 *
 * Requires: traced outlives f and was made of the maps of the same modules.
 * Fails:    CAIRN_E_LIMIT if there are too many nodes.
 */
int flow_init(struct flow *f, struct program *p, const struct traced *traced,
              struct cairn_err *err);
void flow_release(struct flow *f);

/* A context of a thread begins, with no frames. */
void flow_begin(struct flow *f, uint32_t tid);
void flow_take(struct flow *f, const uint32_t *words, size_t n);
/* Words of a tick of which nobody knows how much was done: the context was
 * stopped in it, or left it.  is_past: nothing of it, but replay code went on.
 */
void flow_doubt(struct flow *f, const uint32_t *words, size_t n, bool is_past);
/* It was stopped here, between calls, in this line; 0: not known. */
void flow_halt(struct flow *f, uint32_t line);
/* It ends in a call of foreign code: its frames stay there.  That of a handler
 * that does not come back is marked as left: it jumped, and the walk may be
 * cut, whose readers believe only what is written. */
void flow_end(struct flow *f, bool is_handler);
/* It was forked here: what it was before is dropped, and the frames that it has
 * are marked.  Unless it is in a call, nobody knows where the innermost is. */
void flow_fork(struct flow *f, uint32_t tid, bool is_in_call);
/* It had to wait for another one. */
void flow_sync(struct flow *f, uint64_t number);

#endif /* CAIRN_REPLAY_FLOW_H */
