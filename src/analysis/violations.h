/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_VIOLATIONS_H
#define CAIRN_ANALYSIS_VIOLATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/expression.h"

struct alphabet;
struct alphabet_line;
struct automaton;
struct cairn_err;

#define VIOLATIONS_NOBODY UINT32_MAX
#define VIOLATIONS_NONE SIZE_MAX
/* Of the events before a violation: so many of the first and of the last. */
#define VIOLATIONS_FIRST 4
#define VIOLATIONS_LAST 12

/* Something that the expression names has happened. */
struct violations_event {
	enum expression_what what;
	bool died; /* of a LEAVE: not by a return */
	uint32_t letter;
	uint32_t function; /* entered, left, or that of the line */
	/* of a LINE, NULL otherwise */
	const struct alphabet_line *line;
	/* where from: of an ENTER and a LEAVE the frame below, with the block
	 * that it ran last; VIOLATIONS_NOBODY if there is none */
	uint32_t caller, block;
	uint64_t time;
	uint32_t thread; /* id */
};

enum violation_kind {
	VIOLATION_UNEXPECTED, /* nothing that begins so conforms */
	VIOLATION_UNFINISHED  /* the thread ended in the middle */
};

struct violation {
	enum violation_kind kind;
	uint32_t thread;
	struct violations_event event; /* of UNEXPECTED */
	uint64_t time;                 /* when */
	uint64_t *expected;            /* a set of symbols */
	bool may_end;                  /* it was complete before the event */
	/* what led there: since it was last complete, or began */
	struct violations_event *history; /* the first ones and the last ones */
	size_t nhistory;
	uint64_t nhidden;  /* between the first VIOLATIONS_FIRST and the rest */
	uint64_t nskipped; /* events after it that could begin nothing */
};

/* What a run did against an expression. */
struct violations {
	struct automaton *automaton;
	const struct alphabet *alphabet;
	uint32_t start;          /* state */
	struct violation *items; /* the first `keep` */
	size_t n, cap, keep;
	uint64_t count;     /* of all */
	uint64_t nevents;   /* that the expression names */
	uint64_t ncomplete; /* events after which it was complete */
	uint32_t nthreads;  /* with such events */
	bool is_cut; /* of some thread the beginning or the end is unknown */
};

struct violations_frame {
	uint32_t function;
	uint32_t block;                   /* that it ran last, or NOBODY */
	const struct alphabet_line *line; /* where it is, NULL: unknown */
	uint32_t visit; /* how often it came to a line, or round on one */
	/* per block that has lines: its last visit of the frame; NULL: none */
	uint32_t *visits;
};

/* One thread of it. */
struct violations_thread {
	struct violations *v;
	uint32_t id;
	uint64_t time; /* of what is told next; the caller sets it */
	uint32_t state;
	bool is_lost; /* until something can begin */
	size_t last;  /* violation in v->items, VIOLATIONS_NONE if it is
	               * not kept */
	uint64_t nevents;
	struct violations_frame *frames; /* innermost last */
	size_t nframes, frames_cap;
	struct violations_event first[VIOLATIONS_FIRST];
	struct violations_event recent[VIOLATIONS_LAST]; /* a ring */
	uint64_t nhistory;
};

/*
 * Every thread is to do what the expression says, again and again (the
 * automaton is that of the repetition), or once (is_once): its whole run is one
 * word.
 *
 * Requires: the alphabet is finished; both outlive v.  Violations after the
 *           first `keep` are only counted.
 */
void violations_init(struct violations *v, struct automaton *a,
                     const struct alphabet *l, size_t keep);
/* After the last thread.  If nothing happened in any, an expression that is to
 * be done once is unfinished. */
void violations_finish(struct violations *v);
void violations_release(struct violations *v);

/* A thread begins; is_cut: what it did before is not known.  Memory: until
 * violations_end, which is due after a failure, too. */
void violations_begin(struct violations_thread *t, struct violations *v,
                      uint32_t id, bool is_cut);
/* A frame that was open then, outermost first; `block` is what it ran last. */
void violations_resume(struct violations_thread *t, uint32_t function,
                       uint32_t block);

/* Gives back what n frames hold, for who keeps some aside. */
void violations_drop(struct violations_frame *frames, size_t n);

/*
 * What the thread does.  Blocks are those of the innermost frame; they need not
 * be told unless alphabet->has_lines, but say where calls come from.
 *
 * Fails: CAIRN_E_LIMIT if the automaton grows too large.
 */
int violations_enter(struct violations_thread *t, uint32_t function,
                     struct cairn_err *err);
int violations_blocks(struct violations_thread *t, const uint32_t *blocks,
                      size_t n, struct cairn_err *err);
/* Requires: a frame is open. */
int violations_leave(struct violations_thread *t, bool died,
                     struct cairn_err *err);
/* The thread ends; is_cut: what it did afterwards is not known. */
void violations_end(struct violations_thread *t, bool is_cut);

#endif /* CAIRN_ANALYSIS_VIOLATIONS_H */
