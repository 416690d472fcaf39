/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_READER_H
#define CAIRN_WALK_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "walk/checkpoints.h"
#include "walk/walk.h"

/* Events that are looked at together. */
#define READER_WINDOW 2048

struct reader_event {
	struct walk_event e;
	uint64_t block; /* blocks that were executed before it */
};

/* Reads a walk in both directions, from anywhere. */
struct reader {
	struct walk *walk;                /* borrowed */
	const struct checkpoints *points; /* borrowed */
	struct walk_event *window;
	uint64_t *blocks;        /* executed before each of these */
	size_t n, at;            /* the next one */
	uint64_t first;          /* event that the window begins with */
	struct checkpoints fine; /* where windows before this one begin */
	bool is_lost;            /* a failure left the walk nowhere */
	int status;              /* of the walk at the end of the window */
	struct cairn_err err;    /* what it failed with */
};

/*
 * From the beginning.
 *
 * Requires: the walk has not begun; its source can seek; points are of the same
 *           walk, the first of its beginning, and outlive r.
 */
void reader_init(struct reader *r, struct walk *walk,
                 const struct checkpoints *points);
void reader_release(struct reader *r);

/*
 * Before the event that executes a block, numbered from 0 on; at the end if
 * there are not so many.  walk->frames are then the frames of that moment.
 */
int reader_seek(struct reader *r, uint64_t block, struct cairn_err *err);
/* Before an event, numbered from 0 on; walk->frames as above. */
int reader_seek_event(struct reader *r, uint64_t event, struct cairn_err *err);

/* The number of the event that reader_next gives next. */
uint64_t reader_tell(const struct reader *r);

/*
 * The event behind and before this moment.  Returns 1, or 0 if there is none,
 * and fails as the walk; before the failure are all events up to it.
 */
int reader_next(struct reader *r, struct reader_event *event,
                struct cairn_err *err);
int reader_prev(struct reader *r, struct reader_event *event,
                struct cairn_err *err);

#endif /* CAIRN_WALK_READER_H */
