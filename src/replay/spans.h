/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_SPANS_H
#define CAIRN_REPLAY_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "replay/engine.h"
#include "replay/keeper.h"

struct checkpoint;
struct recording_context;
struct session;

/* A part of the replay of a context. */
struct span {
	const struct recording_context *context;
	struct checkpoint *from;     /* NULL: it begins at the beginning */
	const struct checkpoint *to; /* where it must end; NULL: the end */
	uint64_t last;               /* tick; UINT64_MAX: all count */
	bool makes;                  /* checkpoints, since there are none */
};

/* What is to be replayed. */
struct spans_wish {
	uint32_t context;    /* 0: all */
	uint64_t from, last; /* ticks of each; 0 and UINT64_MAX: all */
	uint64_t every;      /* see keeper.h */
	unsigned njobs;      /* parts at a time; 0: as there are processors */
	bool in_order;       /* one after the other, from the beginning */
	bool with_seen, no_checkpoints;
	uint64_t least;    /* work of a part, as spans.c measures it */
	bool is_divisible; /* contexts may be replayed at the same time */
};

/* Of a wish: about 16 seconds of a replay without questions. */
#define SPANS_LEAST ((uint64_t)20000 << 20)

/* In order: of a context one is where the one before it ends. */
struct spans {
	struct session *session;
	struct spans_wish wish;
	struct span *items;
	size_t n, cap;
	struct keeper_list *lists;
	size_t nlists;
};

void spans_plan(struct spans *p, struct session *s,
                const struct spans_wish *wish);
void spans_release(struct spans *p);

/* Replays one of them, in this process.  Fails: as session_run; and it diverges
 * if it does not end as the next begins. */
int spans_replay(const struct spans *p, const struct span *s,
                 struct engine_result *result, struct cairn_err *err);

/* What one process tells another about a span. */
struct span_result {
	bool is_apart; /* in a process of its own */
	int status;    /* as of exit */
	uint64_t nticks;
	enum engine_end end;
	uint64_t counts[4]; /* whatever is counted */
	struct cairn_err err;
};

struct spans_work {
	/* Replays a span, in a process of its own if there are several at a
	 * time: then stdout is another file. */
	void (*replay)(void *context, const struct span *s,
	               struct span_result *r);
	/* In their order: what came of it; out: what it wrote, NULL if that is
	 * on stdout.  Returns an exit status; other than 0 ends all. */
	int (*take)(void *context, const struct span *s,
	            const struct span_result *r, FILE *out);
	void *context;
};

/* Are there several at a time? */
bool spans_are_apart(const struct spans *p);

/* All of them.  Returns an exit status. */
int spans_run(const struct spans *p, const struct spans_work *w);

#endif /* CAIRN_REPLAY_SPANS_H */
