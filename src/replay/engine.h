/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_ENGINE_H
#define CAIRN_REPLAY_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/record.h"

struct cairn_err;
struct program;
struct program_function;
struct recording_event;

/* A place in a log, before an event. */
struct engine_mark {
	uint64_t link, part, offset, tick, cell, position;
};

/* A log: gives the next event; returns 1, 0 if there is none, or fails.  What
 * an event points at is there until the next call. */
struct engine_log {
	const char *name; /* of the file */
	int (*next)(void *context, struct recording_event *e,
	            struct cairn_err *err);
	void *context;
	/* where it is, and there again */
	void (*where)(void *context, struct engine_mark *m);
	int (*seek)(void *context, const struct engine_mark *m,
	            struct cairn_err *err);
};

enum engine_end {
	ENGINE_ENDED,   /* the context ended as it should, and here too */
	ENGINE_STOPPED, /* the process ended while the context was at this
	                   tick, and the replay came there */
	ENGINE_STOPPED_IN_CALL, /* ... of foreign code */
	ENGINE_HALTED,   /* by a signal that the context raised here itself */
	ENGINE_LOG_ENDS, /* identical up to the last event of a log that breaks
	                    off: the program was killed */
	ENGINE_PAUSED,   /* somebody has seen enough */
	ENGINE_DIVERGED, /* *err says where */
};

struct engine_result {
	enum engine_end end;
	uint64_t nticks, nevents;
	uint64_t first; /* tick where it began */
};

/* Code that makes frames of a function again, for callers of either kind. */
struct engine_again {
	void *body;
	void (*entry)(void);
};

/* About where the replay is: for other threads, which may look at any time.  0:
 * nothing is replayed. */
uint64_t engine_tick(void);

/* What the engine asks of the compiler. */
struct engine_compiler {
	/* Loads the unit of a function: its body and entry are there
	 * afterwards. */
	int (*load)(struct program *p, uint32_t unit, struct cairn_err *err);
	/* A function whose unit is loaded makes its frames at some points
	 * (points.h), ascending. */
	int (*again)(struct program *p, const struct program_function *f,
	             const uint32_t *points, uint32_t n,
	             struct engine_again *to, struct cairn_err *err);
	/* The line of a cell of a function; 0: not known. */
	uint32_t (*line)(const struct program *p,
	                 const struct program_function *f, uint32_t cell);
};

/* Requires: an open arena.  There is one engine in a process. */
int engine_open(struct program *p, const struct engine_compiler *compiler,
                struct cairn_err *err);
void engine_close(void);

/* What a context has at a moment, but for memory (shadow.h) and cells. */
struct engine_moment {
	uint64_t tick;
	uint64_t nevents; /* that were taken */
	struct engine_mark mark;
	uint64_t env, order;
	bool has_forgotten, has_seen; /* the latter: as engine_note_seen */
	uint64_t record[CAIRN_RECORD_WORDS];
	/* frames, innermost first; each: u32 number of the function, u32 is it
	 * for a foreign caller, u64 n, n bytes, rounded up to 8, of which the
	 * first word is a point; the former without anything */
	const unsigned char *frames;
	size_t nframes; /* bytes */
};

/* Where a replay begins, if not at the beginning. */
struct engine_start {
	const struct engine_moment *moment;
	int (*fill)(void *context, struct cairn_err *err); /* memory, cells */
	void *context;
};

/*
 * Replays a context, from its beginning if start is NULL.
 *
 * Fails:  CAIRN_E_CORRUPT if the log makes no sense, or as the log and the
 *         loader do.  A divergence is no failure, but a result; *err has the
 *         sentence for it.
 */
int engine_run(const struct engine_log *log, const struct engine_start *start,
               struct engine_result *result, struct cairn_err *err);

/*
 * Who wants to be asked at a moment: at the first tick from `tick` on that has
 * no event, and whether frames can be written there.  Returns the next such;
 * UINT64_MAX: none.  For all that is replayed from now on.
 */
void engine_attend(uint64_t (*reached)(void *context, uint64_t tick,
                                       bool can_save),
                   uint64_t tick, void *context);
/* In there: what the context has, without frames. */
void engine_now(struct engine_moment *m);
/* For who listens: the replay ends here, ENGINE_PAUSED, or as a divergence. */
_Noreturn void engine_pause(void);
_Noreturn void engine_differ(const char *what);
/*
 * In there: a child of this process leaves all frames, has the moment with them
 * written, and ends with status 0 if that returns 0; with 1 if it cannot be
 * here.  Requires: replay code that saves frames (rewrite.h).  Returns its
 * number; -1: it could not be made.
 */
pid_t engine_save(int (*write)(void *context, const struct engine_moment *m),
                  void *context);

/* Who wants to know of calls of foreign code, if the compiler shows them: the
 * tick, what is called, numbers and pointers that it gets. */
void engine_watch(void (*call)(uint64_t tick, uint64_t callee,
                               const uint64_t *args, unsigned nargs));

/* Who asked something in replay code (rewrite.h): the id that they gave it, the
 * tick, and what they put into the args of the state. */
void engine_listen(void (*tell)(void *context, uint64_t id, uint64_t tick,
                                const uint64_t *args),
                   void *context);

/* Who follows which way the context goes, if replay code says so (steps.h). */
struct engine_follower {
	void (*steps)(void *context, const uint32_t *words, size_t n);
	/* the same of a tick in which the context was stopped, or which it
	 * left, nobody knows how far in; or is_past: it had left it before */
	void (*doubt)(void *context, const uint32_t *words, size_t n,
	              bool is_past);
	/* it raised a signal here, in a line; 0: not known */
	void (*halted)(void *context, uint32_t line);
	/* a place in the order of all contexts */
	void (*sync)(void *context, uint64_t number);
	/* the process of the recording was forked: in a call of foreign code,
	 * or somewhere in the tick that ends here */
	void (*forked)(void *context, bool is_in_call);
	void *context;
};

/* Requires: *follower outlives the engine. */
void engine_follow(const struct engine_follower *follower);

/* Memory that is seen is noted (shadow.h); for code that does the same. */
void engine_note_seen(void);
/* Was a tick left of which nobody knows how much was done? */
bool engine_has_doubts(void);
/* Was all memory forgotten in this context? */
bool engine_has_forgotten(void);
/* How often the listener was not told, so far, of what may have been done
 * before the context was left or stopped in that tick. */
uint64_t engine_untold(void);

/*
 * The place of what is done now in the order of all contexts: the number of the
 * last SYNC or TURN, and behind that how many handlers, one in the other, have
 * returned to the context since.  0: there was none.
 */
uint64_t engine_order(void);
#define ENGINE_ORDER_BITS 8
#define ENGINE_ORDER(number) ((uint64_t)(number) << ENGINE_ORDER_BITS)

/* Where a handler interrupted a context, and the order of what the context did
 * afterwards. */
struct engine_came {
	uint64_t tick;
	bool is_in_call; /* foreign code ran, in the call of that tick */
	/* how far its log was, as in struct engine_mark */
	uint64_t link, position;
	uint64_t order;
};

/* All of a context that is replayed next, in its order; they outlive that. */
void engine_interrupt(const struct engine_came *came, size_t n);

/* A piece of what the program wrote; bytes until the listener returns. */
struct engine_output {
	uint64_t tick;
	uint64_t cell;     /* of the foreign call that wrote it, or of its
	                      function; 0: no code with marks called anybody */
	uint32_t site;     /* of that call, by its index in the function */
	uint64_t order;    /* engine_order */
	bool is_inherited; /* an ancestor wrote it, before a fork */
	unsigned how;      /* enum cairn_out */
	uint64_t pending;
	const unsigned char *bytes;
	size_t n;
};

/* Who wants to know of these. */
void engine_listen_output(void (*output)(void *context,
                                         const struct engine_output *o),
                          void *context);

/* A store to memory that is watched, or something of it that came from
 * outside; what is there now is in the shadow (replay/shadow.h). */
struct engine_write {
	uint64_t tick, order; /* as in struct engine_output */
	uint64_t cell;        /* of the function that stores, or of the site
	                         that found it; 0: none did */
	uint32_t site;   /* of the store, by its index; ENGINE_NO_SITE: the cell
	                    tells */
	bool is_outside; /* somebody else has written, at some time */
	bool is_copy;    /* by memcpy, memset or the like */
	bool is_only_a_change; /* it stored nothing if nothing changed */
	bool is_doubtful; /* a handler jumped out of the tick, maybe before:
	                     what is stored is not known */
	uint64_t at;      /* within what is watched */
	size_t n;
};

#define ENGINE_NO_SITE UINT32_MAX

/* Who watches n bytes of memory, in all that is replayed from now on.
 * Requires: the compiler shows stores. */
void engine_listen_writes(uint64_t at, uint64_t n,
                          void (*told)(void *context,
                                       const struct engine_write *w),
                          void *context);

/* Who wants to know of each number that a context gets, as an order; own: that
 * of what was found just before; 0: nothing was.  NULL: nobody does. */
void engine_listen_numbers(void (*numbered)(void *context, uint64_t number,
                                            uint64_t own),
                           void *context);

/* The functions that replay code calls, and the state, by the names that
 * replay/state.h has. */
struct engine_symbol {
	const char *name;
	uint64_t address;
};

const struct engine_symbol *engine_symbols(size_t *n);

#endif /* CAIRN_REPLAY_ENGINE_H */
