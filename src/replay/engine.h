/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_ENGINE_H
#define CAIRN_REPLAY_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct program;
struct program_function;
struct recording_event;

/* A log: gives the next event; returns 1, 0 if there is none, or fails.  What
 * an event points at is there until the next call. */
struct engine_log {
	const char *name; /* of the file */
	int (*next)(void *context, struct recording_event *e,
	            struct cairn_err *err);
	void *context;
};

enum engine_end {
	ENGINE_ENDED,    /* the context ended as it should, and here too */
	ENGINE_STOPPED,  /* the process ended while the context was at this
	                    tick, and the replay came there */
	ENGINE_LOG_ENDS, /* identical up to the last event of a log that breaks
	                    off: the program was killed */
	ENGINE_DIVERGED, /* *err says where */
};

struct engine_result {
	enum engine_end end;
	uint64_t nticks, nevents;
};

/* What the engine asks of the compiler. */
struct engine_compiler {
	/* Loads the unit of a function: its body and entry are there
	 * afterwards. */
	int (*load)(struct program *p, uint32_t unit, struct cairn_err *err);
	/* The line of a cell of a function; 0: not known. */
	uint32_t (*line)(const struct program *p,
	                 const struct program_function *f, uint32_t cell);
};

/* Requires: an open arena.  There is one engine in a process. */
int engine_open(struct program *p, const struct engine_compiler *compiler,
                struct cairn_err *err);
void engine_close(void);

/*
 * Replays a context from its beginning.
 *
 * Fails:  CAIRN_E_CORRUPT if the log makes no sense, or as the log and the
 *         loader do.  A divergence is no failure, but a result; *err has the
 *         sentence for it.
 */
int engine_run(const struct engine_log *log, struct engine_result *result,
               struct cairn_err *err);

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
/* Was all memory forgotten in this context? */
bool engine_has_forgotten(void);

/* The number of the last SYNC that was taken; 0: there was none. */
uint64_t engine_order(void);

/* Ends the replay here, as if the process had been stopped; for who listens. */
_Noreturn void engine_stop(void);

/* A piece of what the program wrote; bytes until the listener returns. */
struct engine_output {
	uint64_t tick;
	uint64_t cell;     /* of the foreign call that wrote it, or of its
	                      function; 0: no code with marks called anybody */
	uint32_t site;     /* of that call, by its index in the function */
	uint64_t order;    /* number of the last SYNC; 0: there was none */
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
	uint64_t at;           /* within what is watched */
	size_t n;
};

#define ENGINE_NO_SITE UINT32_MAX

/* Who watches n bytes of memory, in all that is replayed from now on.
 * Requires: the compiler shows stores. */
void engine_listen_writes(uint64_t at, uint64_t n,
                          void (*told)(void *context,
                                       const struct engine_write *w),
                          void *context);

/* The functions that replay code calls, and the state, by the names that
 * replay/state.h has. */
struct engine_symbol {
	const char *name;
	uint64_t address;
};

const struct engine_symbol *engine_symbols(size_t *n);

#endif /* CAIRN_REPLAY_ENGINE_H */
