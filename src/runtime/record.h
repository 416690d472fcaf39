/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_RECORD_H
#define CAIRN_RUNTIME_RECORD_H

/* What the files share that write recordings: record.c, record_log.c,
 * record_turns.c, record_copy.c and record_shadow.c.  Others have no use for
 * it. */
#include "abi/record.h"
#include "runtime/rt.h"
#include "runtime/trace.h"

/* The most bytes of memory in one event, and of an event without these; both
 * fit into the smallest buffer. */
#define RECORD_PIECE 2048u
#define RECORD_HEAD 48u
/* Behind the room of a buffer: for END or STOP, and for who stores words. */
#define RECORD_SLACK 64u

/* Where a log is: the next event is relative to the one before. */
struct record_last {
	uint64_t tick, id;
};

/*
 * One context.  Lives as long as the process; a new one takes the memory of one
 * whose log is complete.
 *
 * `bytes` is the payload of its buffer: a word, twice the number of bytes that
 * follow plus the index of the `last` that belongs to it.  One store of this
 * word makes an event part of the log, so that whoever stops the thread at any
 * instruction finds a log of whole events, and knows how to go on.
 */
struct context {
	unsigned char *bytes; /* NULL: it has no buffer */
	uint64_t room;        /* of the buffer, for whole events */
	struct record_last last[2];
	bool is_over;    /* nothing is recorded any more: there is no room */
	bool is_writing; /* an event, or looks for room for one */
	uint64_t tick;   /* when it was last seen outside of the program */

	struct context *next; /* all */
	uint32_t id;          /* from 1 on, in the file; 0: free */
	uint32_t kind;        /* enum cairn_context */
	struct thread *thread;
	int tid;
	bool is_idle;      /* of handlers: none runs; `words` are kept */
	bool is_suspended; /* a handler interrupted it */
	struct context *outer, *inner; /* whom a handler interrupts */
	uint64_t words[CAIRN_RECORD_WORDS];
	const uint64_t *live; /* __cairn_record of its thread */
	bool has_ended;       /* its thread runs no more than callbacks */
	bool was_cut;    /* ... and code with marks ran when it was cancelled */
	bool has_left;   /* its thread is gone, and keeps its number */
	bool is_stopped; /* `tick` is where it is */
	bool is_abroad;  /* and foreign code ran; if is_suspended, too */
	struct stream stream;
	uint64_t total;   /* bytes of the log before those in the buffer */
	uint64_t at_fork; /* all of them, when the child of a fork was made */
	bool is_forking;  /* which has this context */
	uintptr_t shift;  /* the shadow of p is at p - shift; 0: it has none */
	struct context *next_shadow; /* record_shadow.c */
	unsigned char *stack;        /* the second stack, with its guard */
	size_t nstack;
	uint64_t top;   /* its address */
	uint32_t env;   /* CAIRN_ENV_*, as its log says */
	uint64_t ngone; /* of the ranges that are gone: it has noticed */
	/* of the log before exec, which may fail, has put an end to it; bytes
	 * there may be those of half an event */
	struct {
		bool is_set;
		uint64_t word;
		unsigned char bytes[RECORD_SLACK];
		struct record_last last[2];
	} before_exec;
	uint64_t fault[2]; /* what ends the process, as HALT has it, or 0 */
	uint64_t last_fault[2];        /* the last that a handler got ... */
	uint64_t fault_tick, fault_pc; /* ... and where that was */
	uint64_t *turn; /* record_turns.c: the lock that it asked for last */
	uint64_t turn_from, turn_to; /* numbers: of the store, behind it */
	/* the last one that its log has, or would have if others had got one in
	 * between */
	uint64_t last_turn;
};

#define RECORD_LOCKS 64u

/* One for all modules: record_turns.c. */
struct record_turns {
	uint64_t last; /* number that was given out */
	struct {
		uint64_t owner; /* a struct context; 0: nobody */
	} __attribute__((aligned(64))) locks[RECORD_LOCKS];
};

/* CAIRN_RT_RECORD_TURNS. */
extern struct record_turns *__cairn_record_turns
        __attribute__((visibility("hidden")));

static inline uint64_t record_next_turn(struct record_turns *t)
{
	return __atomic_add_fetch(&t->last, 1, __ATOMIC_ACQ_REL);
}

/* record_turns.c: if it has a turn, that is over.  Threads: that of the
 * context, also in a handler that interrupts it. */
void record_drop_turn(const struct context *c);

/* CAIRN_RT_RECORD. */
extern __thread uint64_t __cairn_record[CAIRN_RECORD_WORDS]
        __attribute__((visibility("default"), tls_model("initial-exec")));

static inline struct context *record_self(void)
{
	return (struct context *)__cairn_record[CAIRN_RECORD_SELF / 8];
}

static inline void record_set_self(struct context *c)
{
	__cairn_record[CAIRN_RECORD_SELF / 8] = (uint64_t)(uintptr_t)c;
}

/* The shadow of an address, in the context of the calling thread. */
#define RECORD_GS __attribute__((address_space(256)))

struct record_word {
	uint64_t v;
} __attribute__((packed, may_alias));

static inline uint64_t record_get(const void *p)
{
	return ((const RECORD_GS struct record_word *)(uintptr_t)p)->v;
}

static inline void record_put(const void *p, uint64_t v)
{
	((RECORD_GS struct record_word *)(uintptr_t)p)->v = v;
}

static inline unsigned char record_get1(const void *p)
{
	return *(const RECORD_GS unsigned char *)(uintptr_t)p;
}

static inline void record_put1(const void *p, unsigned char v)
{
	*(RECORD_GS unsigned char *)(uintptr_t)p = v;
}

static inline uint64_t record_load(const void *p)
{
	return ((const volatile struct record_word *)p)->v;
}

/* --- record_log.c: of each module ----------------------------------------- */

/* n bytes of the shadow of p + offset are an input of the site. */
void record_bytes(const void *cell, const unsigned char *p, uint64_t offset,
                  uint64_t n);

/* The site goes on behind what others have done: the number of that, and how
 * far before it is that of what the site did itself. */
void record_turn(const void *cell, uint64_t number, uint64_t back);

/* An event of the core's own, in a buffer that has room for it or is about to
 * be left.  Requires: the context is the caller's, or stands still. */
void record_note(struct context *c, uint64_t tick, unsigned what,
                 const uint64_t *values, unsigned nvalues);

/*
 * A piece that went out, of up to RECORD_PIECE bytes: text, or memory of the
 * program, which is not logged if the context has it; `how` is some of enum
 * cairn_out.  Requires: the calling thread has a context.
 */
void record_text(unsigned how, uint64_t pending, const void *text, uint64_t n);
void record_memory(unsigned how, uint64_t pending, const void *p, uint64_t n);

static inline uint64_t record_used(const struct context *c)
{
	return *(const uint64_t *)c->bytes >> 1;
}

/* record_copy.c: lets the shadow of n bytes have what they are; false: it had
 * that. */
bool record_correct(const unsigned char *p, size_t n);

/* record.c: the calling context goes on behind what others have done so far. */
void record_order(void);

/* record_follow.c: has only the newest part of this process's file kept, if the
 * program was compiled so.  Requires: the lock; signals are blocked. */
void record_follow(void);

/* record.S: makes what the calling thread lacks: the module's number, a
 * context, room for an event.  Keeps all registers. */
void cairn_record_slow(void);

/* --- record_shadow.c: require the lock ------------------------------------ */

/* Gives the calling context a shadow, all zeros, and lets %gs say where.
 * What is in the way ends the process, with one sentence. */
void record_shadow_make(struct context *c);
void record_shadow_drop(struct context *c);
/* All zeros again. */
void record_shadow_clear(const struct context *c);
/* Lets %gs say where it is. */
void record_shadow_use(const struct context *c);
/* Gives back what of the shadow of n bytes at p is whole pages: zeros again.
 * *range: of which addresses.  False: there is none.  Needs no lock. */
bool record_shadow_zero(const struct context *c, uintptr_t p, size_t n,
                        uint64_t range[2]);
/* Is an address one whose shadow is followed? */
bool record_shadow_follows(uintptr_t p, size_t n);

#endif /* CAIRN_RUNTIME_RECORD_H */
