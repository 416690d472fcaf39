/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_METER_H
#define CAIRN_REPLAY_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program;
struct recording;
struct recording_context;

/*
 * Says on a terminal how far the work of a session is (base/progress.h).  There
 * is one in a process.  All but meter_open do nothing if it is not open.
 */
void meter_open(const struct recording *r, const struct program *p);
/* Takes the line away, for good.  Also if it is not open. */
void meter_close(void);

/* Ticks of a context that are replayed at once. */
struct meter_part {
	const struct recording_context *context;
	uint64_t first, last; /* UINT64_MAX: its end */
};

/* What will be replayed.  Once after meter_open. */
void meter_plan(const struct meter_part *parts, size_t n);
/* All contexts, one after the other, so many times. */
void meter_plan_all(unsigned ntimes);
/* The next replay of this process is this part; those before it are done. */
void meter_begin(size_t part);
/* In a process that was just forked: it replays this part and no other. */
void meter_begin_apart(size_t part);
/* A part that another process replayed is done. */
void meter_end(size_t part);

/* A unit is being compiled, or no longer. */
void meter_compile(bool is_compiling);

/* Something is written to stdout between these, in whole lines: if that is the
 * terminal, too, no line is in the way. */
void meter_hold(void);
void meter_go_on(void);

#endif /* CAIRN_REPLAY_METER_H */
