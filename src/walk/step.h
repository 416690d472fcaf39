/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_STEP_H
#define CAIRN_WALK_STEP_H

/* What walk.c shares with walk_marks.c; others have no use for it. */
#include "base/alloc.h"
#include "walk/walk.h"

#define WALK_AGAIN 2 /* nothing happened: on to the next item */

/* As nbits, of a history that is but a number of turns, and an exit. */
#define WALK_MANY_TURNS 63u

/* --- walk.c -------------------------------------------------------------- */

/* Fails: with what is wrong, and where. */
int walk_corrupt(const struct walk *w, const char *what, struct cairn_err *err);
/* Is a history among these items? */
bool walk_has_history(const uint8_t *p, size_t at, size_t end);
/* The innermost frame has come so far on its history.  1 if there is something
 * new in it, else 0. */
int walk_take_held(struct walk *w, uint64_t history);
/* An item of one byte and n more, of which the first 8 are `value`.  1, 0 at
 * the end. */
int walk_take(struct walk *w, unsigned n, uint64_t *value,
              struct cairn_err *err);
/* Takes the next item, whose first byte this is, as a history. */
int walk_take_history(struct walk *w, uint8_t byte, struct cairn_err *err);
int walk_enter(struct walk *w, uint32_t function, struct walk_event *event);
/* The innermost frame takes a path. */
int walk_take_path(struct walk *w, const struct walk_way *way,
                   struct walk_event *event, struct cairn_err *err);

/* --- walk_marks.c -------------------------------------------------------- */

/* Takes the next item, a mark that begins with this byte.  1 if it is an event,
 * 0 at the end, WALK_AGAIN if nothing happens. */
int walk_take_mark(struct walk *w, uint8_t mark, struct walk_event *event,
                   struct cairn_err *err);
/* Requires: HALT is the next item.  Was a frame below the innermost stopped? */
bool walk_halts_below(const struct walk *w);
/* Takes the next item, the history that the innermost frame began before the
 * part: it is over. */
int walk_resume(struct walk *w, uint8_t byte, struct walk_event *event,
                struct cairn_err *err);

/* --- frames and events ---------------------------------------------------- */

static inline struct walk_frame *walk_top(const struct walk *w)
{
	return w->nframes ? &w->frames[w->nframes - 1] : NULL;
}

static inline int walk_say(const struct walk *w, struct walk_event *event,
                           enum walk_kind kind)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = walk_top(w)->function,
	        .depth = w->nframes - 1,
	};
	return 1;
}

static inline int walk_tell(struct walk_event *event, enum walk_kind kind,
                            uint64_t value)
{
	*event = (struct walk_event){
	        .kind = kind,
	        .function = WALK_NOTHING,
	        .value = value,
	};
	return 1;
}

static inline void walk_pop(struct walk *w)
{
	w->nframes--;
	if (w->nkept > w->nframes)
		w->nkept = w->nframes;
}

static inline void walk_push(struct walk *w, uint32_t function)
{
	VEC_RESERVE(w->frames, w->nframes, w->frames_cap);
	w->frames[w->nframes++] = (struct walk_frame){
	        .function = function,
	        .next = CFG_OUTSIDE,
	};
	w->calls = WALK_NOTHING;
}

#endif /* CAIRN_WALK_STEP_H */
