/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_TRACE_H
#define CAIRN_RUNTIME_TRACE_H

/* What the files share that write traces: trace.c, trace_buffers.c,
 * trace_end.c, trace_frames.c and trace_last.c; buffers are those of
 * recordings, too (record.c).  Others have no use for it. */
#include "abi/file.h"
#include "abi/trace.h"
#include "runtime/out.h"
#include "runtime/rt.h"

struct unwind;

#define TRACE_MEMORY ((uint64_t)64 << 20) /* of all buffers, if nobody says */
#define TRACE_BUFFER ((size_t)256 << 10)  /* with its header: the greatest */
/* Behind the limit: for who looks too late. */
#define TRACE_SLACK ((size_t)256)
#define TRACE_ROOM 24u /* what a slow call hands out: any item */
#define TRACE_HANDED 4
_Static_assert(TRACE_ROOM >= CAIRN_TRACE_ROOM_MAX,
               "whatever is taken at a time");

struct buffer {
	struct buffer *next; /* free, queued or kept */
	struct buffer *all;  /* of all that there are */
	struct chunk *chunk;
	size_t used;
	/* Where slow calls gave more room than was needed. */
	size_t handed[TRACE_HANDED];
	unsigned nhanded;
	/* of a flight recorder: this thread was in a handler when it was full,
	 * and the code that it interrupted may still store its history there */
	uint32_t held_by;
};

struct stream {
	struct buffer *buffer; /* NULL: none yet */
	uint64_t nparts;
	uint64_t sync; /* the last number that it has, 0: none */
	bool is_over;  /* some of it is lost: nothing may follow */
	/* Marks of the last jump_for_now, all in one part; empty: unknown. */
	struct {
		uint64_t part;
		unsigned char *from, *to;
	} jump;
};

/* What one who compresses needs. */
struct packer {
	void *memory, *context;
	unsigned char *chunk; /* header and payload */
	size_t room;          /* of the payload */
};

struct trace_state {
	void (*wait)(void); /* before the next buffer is packed; or NULL */
	struct buffer *all, *free, *queue, **queue_end;
	struct buffer *kept; /* full, but somebody is still to write there */
	uint64_t size;       /* of all buffers ... */
	uint64_t bound;      /* ... at most, but for flight recorders */
	uint32_t nqueued;    /* since the start: the writer waits for it */
	uint32_t npacked;    /* the same, back in `free` */
	uint32_t npacking;   /* taken by the writer, and not in the file yet */
	uint64_t nappended;  /* bytes of the file that have packed ones */
	bool has_writer, is_alone;
	bool is_off; /* the file cannot grow */
	uint64_t start;
	uint64_t nsyncs;
	struct packer mine, writers;
	unsigned char *stack;           /* of the writer */
	uint32_t must_stop, writer_tid; /* the kernel clears the latter */
	uint64_t last;   /* bytes that a flight recorder keeps; 0: all */
	bool is_counted; /* a recording: a buffer begins with its length */
	uint64_t *pcs;   /* of frames on a stack: FRAMES_MAX of them */
};

extern struct trace_state trace;

/* A head for who has none: histories that nobody reads. */
extern uint64_t trace_no_head[CAIRN_HEAD_SIZE / 8];

/* --- trace_buffers.c ------------------------------------------------------ */

/* Behind the last item that is there. */
size_t trace_find_end(const struct buffer *b);
/* Is the item whole? */
bool trace_is_whole(const unsigned char *p, unsigned n);
/* Behind the place that a slow call gave, and more of it than was needed, if
 * this is in it; else 0. */
size_t trace_behind_handed(const struct buffer *b, size_t at);
/* Has somebody a place in a full buffer that he has not filled? */
bool trace_has_hole(const struct buffer *b);
bool trace_may_have_hole(void);
/* The rest is lost, for this reason. */
void trace_stop(int error);

/* All of these require that the lock is held. */
/* What the header of a buffer says; of a flight recorder its head. */
void trace_label(struct buffer *b, uint32_t id, uint64_t part);
void trace_label_head(struct buffer *b, uint32_t id, uint64_t part);
/* The next buffer, empty; may let go of the lock.  NULL: there is no memory. */
struct buffer *trace_take_buffer(void);
/* One that is full.  Then it is packed, by whoever takes it. */
void trace_queue(struct buffer *b);
struct buffer *trace_take_queued(void);
void trace_pack_here(struct buffer *b);
void trace_keep(struct buffer *b);
/* Requires: nothing is queued. */
void trace_stop_writer(void);
/* In the child of a fork: they are the parent's. */
void trace_forget_buffers(void);
void trace_say_whether_ordered(void);

/* --- trace.c -------------------------------------------------------------- */

/* Since some moment, in ns; nobody sets this clock. */
uint64_t trace_now(void);
/* A mark of the calling thread, whose buffer has room. */
void trace_put(unsigned mark, uint64_t value, unsigned nbytes);
void trace_put_time(void);
/* The time, wherever its buffer ends and whatever signals come. */
void trace_put_now(void);
/* One with an address, wherever its buffer ends. */
void trace_on_mark(struct thread *t, unsigned mark, uintptr_t address);
/* Makes the calling thread write from `used` on. */
void trace_attach(const struct stream *s, size_t used);
/* The stream gets a new buffer; false if there is none.  Requires: lock held.
 */
bool trace_turn_page(struct thread *t, struct stream *s, uintptr_t at);
/* The stream of a thread begins.  Requires: lock held, it has a buffer. */
void trace_begin(struct thread *t);

/* --- trace_end.c ---------------------------------------------------------- */

/* From now on threads that are watched write the time when they end. */
void trace_watch_ends(void);
/* The code is about to go away. */
void trace_forget_ends(void);
/* Watches the calling thread. */
void trace_watch_end(void);
/* struct trace_hooks. */
void trace_on_stop(const struct thread *t);

/* --- trace_frames.c ------------------------------------------------------- */

/* struct trace_hooks. */
void trace_on_jump(struct thread *t, const struct unwind *from, uintptr_t sp,
                   uintptr_t pc);
void trace_on_jump_for_now(struct thread *t, const struct unwind *from,
                           uintptr_t sp, uintptr_t pc);
void trace_on_jump_back(struct thread *t, const struct unwind *from,
                        uintptr_t sp);
void trace_on_fork(struct thread *me, uintptr_t to);

/* --- trace_last.c --------------------------------------------------------- */

/* trace_turn_page of a flight recorder.  Is every frame on the stack one that
 * its stream knows of? */
bool trace_turn_head(struct thread *t, struct stream *s, uintptr_t at,
                     bool is_certain);
/* A handler begins, and may have interrupted code with a history.  Requires:
 * lock held. */
void trace_hold(void);
/* Turns the page if it has little room for the marks of a jump. */
void trace_make_room_for_jump(struct thread *t);
/* The same before a jump of a flight recorder: while the frames that it marks
 * as dead are still there, a part can begin. */
void trace_turn_before_marks(struct thread *t);

/* --- the calling thread, and its buffer ----------------------------------- */

static inline unsigned char *trace_first_of(const struct buffer *b)
{
	return out_payload(b->chunk);
}

static inline size_t trace_size_of(const struct buffer *b)
{
	return b->chunk->size - CAIRN_CHUNK_HEADER_SIZE;
}

static inline uintptr_t trace_limit_of(const struct buffer *b)
{
	return (uintptr_t)trace_first_of(b) + trace_size_of(b) - TRACE_SLACK;
}

static inline struct rt_thread *trace_self(void)
{
	return &__cairn_thread;
}

/* Takes n bytes of the buffer of the calling thread, wherever that ends. */
static inline uintptr_t trace_take(uintptr_t n)
{
	uintptr_t at = n;

	__asm__ volatile("xaddq %0, %1"
	                 : "+r"(at), "+m"(trace_self()->trace_at)
	                 :
	                 : "memory", "cc");
	return at;
}

#endif /* CAIRN_RUNTIME_TRACE_H */
