/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: the streams of threads, and who writes them to the file.
 *
 * A thread writes its stream (abi/trace.h) into a buffer, a chunk of the mapped
 * file: what is in there survives a SIGKILL.  A full buffer gets a number and
 * is queued; a thread of ours compresses it (zstd), appends that to the file,
 * and the buffer, zeros again, is free for anybody.  All buffers together take
 * no more than BOUND: who finds none waits, or, where there is no such thread,
 * does the work himself.
 *
 * Nobody but its thread knows where a stream ends.  Zeros are nothing, so the
 * end of a buffer is behind the last byte that is not zero: that serves threads
 * that no longer exist, and the end of the process.
 *
 * The thread of ours is made by the system call, when the first buffer is full:
 * libc knows nothing of it, it has no thread-local memory to speak of, blocks
 * all signals and calls nothing of the program's.
 *
 * A handler may interrupt code that has taken a place and not filled it yet.
 * If the buffer is full before the handler returns, it stays as it is, a part
 * of the stream that is not packed, until that place is filled: has_hole.
 *
 * The child of a fork begins streams of its own.  What was on the stack of its
 * one thread is marked, frame by frame, outermost first.
 *
 * A flight recorder (trace,last=SIZE) packs nothing.  Buffers are made until
 * they take SIZE, and then the oldest full one is the next: what is in the file
 * are the newest parts, as they were written.  Nothing moves, so a part is made
 * and unmade by one store, of its number in its head, and no moment is a bad
 * one to be killed.  Each part but the first begins with marks of the frames
 * that are on the stack, so that reading can begin there; the place where the
 * innermost one writes is in a nop behind its call.  The head has the history
 * that is not written yet.  Cost: no thread, no compression; zeros and a walk
 * over the stack per buffer.
 *
 * Invariant: parts of a stream have ascending numbers, and each is in a buffer
 * or packed, or for an instant both.  A buffer that is queued or free is
 * written by nobody.
 * Cost: a system call per buffer, and what zstd takes; where the program has
 * signal handlers, a look at every item of a full buffer.
 */
#include "abi/trace.h"

#include <errno.h>
#include <time.h>
#include <linux/sched.h>
#include <sys/mman.h>

#include "runtime/finish.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"
#include "runtime/walk.h"

#define BUFFER ((size_t)256 << 10) /* with its header: the greatest */
#define SLACK ((size_t)256) /* behind the limit: for who looks too late */
#define BOUND ((uint64_t)64 << 20)
#define SMALLEST ((size_t)4 << 10)
#define ROOM 24u /* what a slow call hands out: any item */
#define LEVEL 1
/* Of a flight recorder. */
#define SMALL ((size_t)16 << 10)     /* a buffer beyond the bound */
#define FRAMES_MAX ((size_t)4096)    /* that a part begins with */
#define NEAR 12u                     /* frames of ours, before others */
#define MARKS_ROOM ((uintptr_t)2048) /* for a jump */
#define IS_ASYNC ((uint64_t)1 << 63)
_Static_assert(ROOM >= CAIRN_TRACE_ROOM_MAX, "whatever is taken at a time");
#define TICKS 100000u /* of the processor, between looks at the clock */
#define STACK ((size_t)256 << 10)

#define HIDDEN __attribute__((visibility("hidden")))

/* zstd, of which the archive has a copy under these names. */
HIDDEN size_t cairn_zstd_compress(void *cctx, void *dst, size_t room,
                                  const void *src, size_t n, int level);
HIDDEN size_t cairn_zstd_bound(size_t n);
HIDDEN size_t cairn_zstd_context_size(int level);
HIDDEN void *cairn_zstd_context(void *memory, size_t n);
HIDDEN unsigned cairn_zstd_is_error(size_t code);

#define HANDED 4

struct buffer {
	struct buffer *next; /* free, queued or kept */
	struct buffer *all;  /* of all that there are */
	struct chunk *chunk;
	size_t used;
	/* Where slow calls gave more room than was needed. */
	size_t handed[HANDED];
	unsigned nhanded;
	/* of a flight recorder: this thread was in a handler when it was full,
	 * and the code that it interrupted may still store its history there */
	uint32_t held_by;
};

struct stream {
	struct buffer *buffer; /* NULL: none yet */
	uint64_t nparts;
	uint64_t sync; /* the last number that it has, 0: none */
};

/* What one who compresses needs. */
struct packer {
	void *memory, *context;
	unsigned char *chunk; /* header and payload */
	size_t room;          /* of the payload */
};

static struct {
	struct buffer *all, *free, *queue, **queue_end;
	struct buffer *kept; /* full, but somebody is still to write there */
	uint64_t size;       /* of all buffers */
	uint32_t nqueued;    /* since the start: the writer waits for it */
	uint32_t npacked;    /* the same, back in `free` */
	uint32_t npacking;   /* taken by the writer, and not in the file yet */
	bool has_writer, is_alone;
	bool is_off; /* the file cannot grow */
	uint64_t start;
	uint64_t nsyncs;
	struct packer mine, writers;
	unsigned char *stack;           /* of the writer */
	uint32_t must_stop, writer_tid; /* the kernel clears the latter */
	unsigned char *nowhere;         /* for threads that are not recorded */
	uint64_t last; /* bytes that a flight recorder keeps; 0: all */
	uint64_t *pcs; /* of frames on a stack: FRAMES_MAX of them */
} trace;

/* Generated code has another one, if it asks for a flight recorder. */
HIDDEN extern const uint64_t __cairn_trace_last;
HIDDEN __attribute__((weak)) const uint64_t __cairn_trace_last = 0;

/* A head for who has none: histories that nobody reads. */
static uint64_t no_head[CAIRN_HEAD_SIZE / 8];

/* --- the end of what is written ------------------------------------------ */

static unsigned char *first_of(const struct buffer *b)
{
	return out_payload(b->chunk);
}

static size_t size_of(const struct buffer *b)
{
	return b->chunk->size - CAIRN_CHUNK_HEADER_SIZE;
}

static uintptr_t limit_of(const struct buffer *b)
{
	return (uintptr_t)first_of(b) + size_of(b) - SLACK;
}

/* Behind the last item that is there: an item may end with zeros. */
static size_t find_end(const struct buffer *b)
{
	const unsigned char *p = first_of(b);
	size_t n = size_of(b) & ~(size_t)7;

	while (n && !rt_get64(p + n - 8))
		n -= 8;
	return n ? n + CAIRN_TRACE_ITEM_MAX : 0;
}

/* --- places that nobody has filled ---------------------------------------- */

/* The bytes of an item behind its first. */
static unsigned nbehind(unsigned char first)
{
	if (first <= CAIRN_TRACE_SMALL || first == CAIRN_TRACE_PAD)
		return 0;
	if (first < CAIRN_TRACE_MARK)
		return first & 15;
	switch (first) {
	case CAIRN_TRACE_TIME:
	case CAIRN_TRACE_SYNC:
	case CAIRN_TRACE_COUNT:
	case CAIRN_TRACE_RESUME:
		return 8;
	case CAIRN_TRACE_HELD:
		return 12;
	case CAIRN_TRACE_HEAD:
		return CAIRN_HEAD_SIZE - 1;
	default:
		return 4;
	}
}

/*
 * Is the item whole?  The first byte is written first, the rest by one
 * instruction, or, of a history of another length than 4, so that the last
 * byte, which is not zero, comes last.
 */
static bool is_whole(const unsigned char *p, unsigned n)
{
	if (!n)
		return true;
	if ((p[0] & 0xf0u) == CAIRN_TRACE_WORD && n != 4)
		return p[n] != 0;
	for (unsigned i = 1; i <= n; i++)
		if (p[i])
			return true;
	return false;
}

/* Did a slow call give this place, and more of it than was needed? */
static size_t behind_handed(const struct buffer *b, size_t at)
{
	for (unsigned i = 0; i < b->nhanded; i++)
		if (at > b->handed[i] && at < b->handed[i] + ROOM)
			return b->handed[i] + ROOM;
	return 0;
}

/* Has somebody a place in a full buffer that he has not filled?  Only code that
 * a signal handler interrupted can have. */
static bool has_hole(const struct buffer *b)
{
	const unsigned char *p = first_of(b);
	size_t limit = limit_of(b) - (uintptr_t)p, at = 0;

	if (b->used < limit)
		limit = b->used;
	while (at < limit) {
		size_t next = p[at] ? 0 : behind_handed(b, at);
		unsigned n = nbehind(p[at]);

		if (next) {
			at = next;
			continue;
		}
		if (!p[at] || !is_whole(p + at, n))
			return true;
		at += 1 + (size_t)n;
	}
	return false;
}

static bool may_have_hole(void)
{
	return process.has_handlers || !process.is_executable;
}

/* --- packing ------------------------------------------------------------- */

static bool packer_init(struct packer *p)
{
	size_t n = cairn_zstd_context_size(LEVEL);

	if (p->context)
		return true;
	p->room = cairn_zstd_bound(BUFFER);
	if (!p->chunk)
		p->chunk = sys_map_zeros(p->room + 2 * RT_PAGE);
	if (!p->memory)
		p->memory = sys_map_zeros(n);
	if (!p->chunk || !p->memory)
		return false;
	p->context = cairn_zstd_context(p->memory, n);
	return p->context != NULL;
}

/* Returns the bytes of the frame, 0 if that failed. */
static size_t pack(struct packer *p, const struct buffer *b)
{
	unsigned char *to = p->chunk + CAIRN_CHUNK_HEADER_SIZE;
	size_t n = cairn_zstd_compress(p->context, to, p->room, first_of(b),
	                               b->used, LEVEL);

	if (cairn_zstd_is_error(n))
		return 0;
	rt_zero(to + n, RT_PAGE);
	return n;
}

static void stop_tracing(int error)
{
	if (trace.is_off)
		return;
	trace.is_off = true;
	out_flag(CAIRN_FILE_TRUNCATED, 1);
	out_say("cannot write the trace", "", error,
	        "the rest of it is lost, the program goes on");
}

/* Appends what was packed.  Requires: lock held. */
static void append(struct packer *p, const struct buffer *b, size_t n)
{
	const unsigned char *h = b->chunk->mem;
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_PACKED,
	        .id = rt_get32(h + CAIRN_CHK_ID),
	        .n = b->used,
	        .aux0 = rt_get64(h + CAIRN_CHK_AUX0),
	        .aux1 = n,
	        .payload = n,
	};
	int r = n ? out_append(&spec, p->chunk) : -ENOMEM;

	if (r < 0)
		stop_tracing(-r);
}

/* The same of a flight recorder, which one store makes or unmakes: who is
 * killed leaves a part or none. */
static void label_head(struct buffer *b, uint32_t id, uint64_t part)
{
	unsigned char *h = first_of(b);

	b->chunk->owner = id;
	if (part)
		rt_put32(h + CAIRN_HEAD_THREAD, id);
	__atomic_store_n((uint64_t *)(h + CAIRN_HEAD_NUMBER), part,
	                 __ATOMIC_RELEASE);
}

/* What its header says.  Requires: lock held. */
static void label(struct buffer *b, uint32_t id, uint64_t part)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_STREAM,
	        .id = id,
	        .aux0 = trace.last ? CAIRN_STREAM_HAS_HEAD : part,
	        .flags = CAIRN_CHUNK_LIVE,
	};

	b->chunk->owner = id;
	out_label(b->chunk, &spec);
}

/* Zeros again.  Nobody else knows the buffer. */
static void clear(struct buffer *b)
{
	rt_zero(first_of(b), b->used);
	b->used = 0;
	b->nhanded = 0;
}

/* Requires: lock held. */
static void release(struct buffer *b)
{
	b->next = trace.free;
	trace.free = b;
	__atomic_fetch_add(&trace.npacked, 1, __ATOMIC_RELEASE);
	sys_futex_wake(&trace.npacked);
}

/* Requires: lock held. */
static struct buffer *take_queued(void)
{
	struct buffer *b = trace.queue;

	if (!b)
		return NULL;
	trace.queue = b->next;
	if (!trace.queue)
		trace.queue_end = &trace.queue;
	return b;
}

/* Requires: lock held. */
static void keep(struct buffer *b)
{
	b->next = trace.kept;
	trace.kept = b;
}

/* Those in which all places are filled now go back to the queue.
 * Requires: lock held. */
static void look_at_kept(void)
{
	struct buffer **at = &trace.kept, *b;

	while ((b = *at)) {
		if (has_hole(b)) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		b->next = NULL;
		*trace.queue_end = b;
		trace.queue_end = &b->next;
	}
}

/* With the lock held all the time: where nobody else does it. */
static void pack_here(struct buffer *b)
{
	if (!trace.is_off && packer_init(&trace.mine))
		append(&trace.mine, b, pack(&trace.mine, b));
	label(b, 0, 0);
	clear(b);
	release(b);
}

/* --- the thread that does it --------------------------------------------- */

__attribute__((noreturn)) static void write_forever(void)
{
	uint64_t mask;

	for (;;) {
		uint32_t seen =
		        __atomic_load_n(&trace.nqueued, __ATOMIC_ACQUIRE);
		struct buffer *b;
		size_t n;

		rt_enter(&mask);
		look_at_kept();
		b = take_queued();
		trace.npacking += b != NULL;
		rt_leave(&mask);
		if (!b) {
			if (__atomic_load_n(&trace.must_stop, __ATOMIC_ACQUIRE))
				sys1(SYS_exit, 0);
			sys_futex_wait(&trace.nqueued, seen, 0);
			continue;
		}
		if (may_have_hole() && has_hole(b)) {
			rt_enter(&mask);
			trace.npacking--;
			keep(b);
			rt_leave(&mask);
			continue;
		}
		n = trace.is_off ? 0 : pack(&trace.writers, b);
		rt_enter(&mask);
		if (!trace.is_off)
			append(&trace.writers, b, n);
		label(b, 0, 0);
		rt_leave(&mask);
		clear(b);
		rt_enter(&mask);
		trace.npacking--;
		release(b);
		rt_leave(&mask);
	}
}

/* clone of a thread on this stack, with a thread pointer of its own, all zeros
 * but for the word at 0, as the ABI has it. */
static long make_thread(unsigned char *stack, uint64_t *tls)
{
	const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES |
	                            CLONE_SIGHAND | CLONE_THREAD |
	                            CLONE_SYSVSEM | CLONE_SETTLS |
	                            CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	register long r10 __asm__("r10") = (long)&trace.writer_tid;
	register long r8 __asm__("r8") = (long)tls;
	register long r12 __asm__("r12") = (long)write_forever;
	long result;

	tls[0] = (uint64_t)(uintptr_t)tls;
	__asm__ volatile("syscall\n\t"
	                 "testq %%rax, %%rax\n\t"
	                 "jnz 1f\n\t"
	                 "xorl %%ebp, %%ebp\n\t"
	                 "call *%%r12\n\t"
	                 "ud2\n"
	                 "1:"
	                 : "=a"(result)
	                 : "a"(SYS_clone), "D"(flags), "S"(stack),
	                   "d"(&trace.writer_tid), "r"(r10), "r"(r8), "r"(r12)
	                 : "rcx", "r11", "memory");
	return result;
}

/* The child of a vfork has our memory, but would take its threads with it. */
static bool is_vfork_child(void)
{
	return sys_getpid() != process.pid;
}

/* Signals are blocked, and stay so in the new thread.  Requires: lock held. */
static void start_writer(void)
{
	unsigned char *memory;

	if (trace.has_writer || trace.is_alone || is_vfork_child())
		return;
	if (!trace.stack)
		trace.stack = sys_map_zeros(STACK);
	memory = packer_init(&trace.writers) ? trace.stack : NULL;
	if (memory && make_thread(memory + STACK - 4096,
	                          (uint64_t *)(memory + STACK - 2048)) > 0)
		trace.has_writer = true;
	else
		trace.is_alone = true;
}

/* Requires: lock held, nothing is queued. */
static void stop_writer(void)
{
	uint32_t tid;

	if (!trace.has_writer)
		return;
	__atomic_store_n(&trace.must_stop, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&trace.nqueued, 1, __ATOMIC_RELEASE);
	sys_futex_wake(&trace.nqueued);
	while ((tid = __atomic_load_n(&trace.writer_tid, __ATOMIC_ACQUIRE)))
		rt_pause(&trace.writer_tid, tid);
	trace.has_writer = trace.must_stop = false;
}

/* --- buffers ------------------------------------------------------------- */

/* How great the next one may be, 0: there may be no more.  Where threads hold
 * half of the memory and nothing comes back, `must`, they get smaller, so that
 * many threads have one each. */
static size_t next_size(bool must)
{
	size_t size = BUFFER;
	uint64_t room = BOUND / 2, end = room;

	while (must && size > SMALLEST && trace.size + size > end) {
		room /= 2;
		end += room;
		size /= 4;
	}
	return trace.size + size > (must ? BOUND : end) ? 0 : size;
}

/* Requires: lock held. */
static struct buffer *new_buffer(size_t size)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_STREAM,
	        .aux0 = trace.last ? CAIRN_STREAM_HAS_HEAD : 0,
	        .payload = size - CAIRN_CHUNK_HEADER_SIZE,
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct buffer *b;

	if (!size)
		return NULL;
	b = out_meta(sizeof(*b));
	if (!b)
		return NULL;
	b->chunk = out_chunk(&spec);
	if (!b->chunk)
		return NULL;
	out_publish(b->chunk);
	trace.size += size;
	b->all = trace.all;
	trace.all = b;
	return b;
}

/* The oldest one that is kept and need not be any more, or must not, or NULL.
 */
static struct buffer *take_kept(bool must)
{
	struct buffer **at = &trace.kept, **found = NULL, *b;

	for (; *at; at = &(*at)->next)
		if (must || !(*at)->held_by)
			found = at;
	if (!found)
		return NULL;
	b = *found;
	*found = b->next;
	return b;
}

/*
 * The next buffer of a flight recorder: a new one, or the oldest.  If all are
 * in use, since there are more threads, a small one beyond the bound.  One that
 * was full while a handler ran is spared until its thread is out of it, as long
 * as that does not take twice the bound.  Requires: lock held.
 */
static struct buffer *take_oldest(void)
{
	struct buffer *b = trace.free;

	if (b) {
		trace.free = b->next;
		return b;
	}
	if (trace.size + BUFFER <= trace.last) {
		b = new_buffer(BUFFER);
		if (b && !b->chunk->is_mapped) /* the file cannot grow */
			trace.last = trace.size;
		return b;
	}
	b = take_kept(false);
	while (!b && (b = take_queued()))
		if (b->held_by) {
			keep(b);
			b = NULL;
		}
	if (!b && trace.size > 2 * trace.last)
		b = take_kept(true);
	if (!b)
		return new_buffer(SMALL);
	label_head(b, 0, 0);
	clear(b);
	b->held_by = 0;
	return b;
}

/* Requires: lock held, which it may let go of.  NULL: there is no memory. */
static struct buffer *take_buffer(void)
{
	if (trace.last)
		return take_oldest();
	for (;;) {
		uint32_t seen =
		        __atomic_load_n(&trace.npacked, __ATOMIC_ACQUIRE);
		struct buffer *b = trace.free;

		if (b) {
			trace.free = b->next;
			return b;
		}
		if (!trace.has_writer && (b = take_queued())) {
			if (may_have_hole() && has_hole(b))
				keep(b);
			else
				pack_here(b);
			look_at_kept();
			continue;
		}
		if ((b = new_buffer(
		             next_size(!trace.queue && !trace.npacking))))
			return b;
		if (!trace.queue && !trace.npacking)
			return NULL;
		rt_pause(&trace.npacked, seen);
	}
}

/* Requires: lock held. */
static void queue(struct buffer *b)
{
	b->next = NULL;
	*trace.queue_end = b;
	trace.queue_end = &b->next;
	if (trace.last) {
		if (!b->held_by) /* a child of fork has no use for it */
			b->chunk->owner = 0;
		return;
	}
	start_writer();
	__atomic_fetch_add(&trace.nqueued, 1, __ATOMIC_RELEASE);
	sys_futex_wake(&trace.nqueued);
}

/* --- streams ------------------------------------------------------------- */

static struct rt_thread *self(void)
{
	return &__cairn_thread;
}

/* Takes n bytes of the buffer of the calling thread, wherever that ends. */
static uintptr_t take(uintptr_t n)
{
	uintptr_t at = n;

	__asm__ volatile("xaddq %0, %1"
	                 : "+r"(at), "+m"(self()->trace_at)
	                 :
	                 : "memory", "cc");
	return at;
}

static void put(unsigned mark, uint64_t value, unsigned nbytes)
{
	unsigned char *p = (unsigned char *)take(1 + nbytes);

	p[0] = (unsigned char)mark;
	for (unsigned i = 0; i < nbytes; i++)
		p[1 + i] = (unsigned char)(value >> 8 * i);
}

/* Nobody sets this clock. */
static uint64_t now(void)
{
	struct timespec t = {0, 0};

	sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static void put_time(void)
{
	put(CAIRN_TRACE_TIME, now() - trace.start, 8);
	self()->trace_clock = ticks();
}

/* Makes the calling thread write from `used` on. */
static void attach(const struct stream *s, size_t used)
{
	self()->trace_at = (uintptr_t)first_of(s->buffer) + used;
	self()->trace_limit = limit_of(s->buffer);
	self()->trace_head =
	        trace.last ? first_of(s->buffer) : (unsigned char *)no_head;
}

static struct stream *stream_of(struct thread *t)
{
	if (!t->stream)
		t->stream = out_meta(sizeof(*t->stream));
	return t->stream;
}

/* The place is in the buffer, which is full, then. */
static bool is_in(const struct buffer *b, uintptr_t at)
{
	return b && at >= limit_of(b) && at < limit_of(b) + SLACK;
}

static bool turn_head(struct thread *t, struct stream *s, uintptr_t at,
                      bool is_certain);

/* The stream gets a new buffer.  Of a flight recorder: is every frame on the
 * stack one that its stream knows of?  Requires: lock held. */
static bool turn_page_of(struct thread *t, struct stream *s, uintptr_t at,
                         bool is_certain)
{
	struct buffer *b = s->buffer;

	if (trace.last)
		return turn_head(t, s, at, is_certain);
	s->buffer = NULL;
	self()->trace_limit = 0;
	if (b) {
		b->used = at - (uintptr_t)first_of(b);
		if (b->used > size_of(b))
			b->used = size_of(b);
		queue(b);
	}
	b = take_buffer();
	if (!b)
		return false;
	label(b, t->serial, ++s->nparts);
	s->buffer = b;
	attach(s, 0);
	put_time();
	return true;
}

static bool turn_page(struct thread *t, struct stream *s, uintptr_t at)
{
	return turn_page_of(t, s, at, true);
}

/* What another thread, which is gone, left unfilled nobody will fill. */
static void pad(const struct buffer *b, size_t end)
{
	unsigned char *p = first_of(b);
	size_t at = 0;

	while (at < end) {
		size_t next = p[at] ? 0 : behind_handed(b, at);
		unsigned n = nbehind(p[at]);

		if (next) {
			at = next;
		} else if (p[at] && is_whole(p + at, n)) {
			at += 1 + (size_t)n;
		} else {
			p[at++] = CAIRN_TRACE_PAD;
		}
	}
}

/* A thread that has written nothing yet, or not since the end.  Requires: lock
 * held. */
static void go_on(const struct stream *s)
{
	size_t end;

	if (self()->trace_limit == limit_of(s->buffer))
		return;
	end = find_end(s->buffer);
	if (trace.last && end < CAIRN_HEAD_SIZE)
		end = CAIRN_HEAD_SIZE;
	if (end > size_of(s->buffer))
		end = size_of(s->buffer);
	if (may_have_hole())
		pad(s->buffer, end);
	attach(s, end);
}

/* The next number of what orders threads, as a mark has it. */
static uint64_t next_sync(void)
{
	return 2 * __atomic_add_fetch(&trace.nsyncs, 1, __ATOMIC_ACQ_REL) + 1;
}

/* Requires: lock held, the thread has a buffer.  Whoever made it was before. */
static void begin(struct thread *t)
{
	t->begins = false;
	put(CAIRN_TRACE_START, (uint32_t)t->tid, 4);
	t->stream->sync = next_sync();
	put(CAIRN_TRACE_SYNC, t->stream->sync, 8);
	put_time();
}

/* A place for any item, which the caller fills. */
static uintptr_t hand_out(struct buffer *b)
{
	uintptr_t place = take(ROOM);

	if (b->nhanded < HANDED)
		b->handed[b->nhanded++] = place - (uintptr_t)first_of(b);
	return place;
}

/* For threads that nobody records: always the same bytes. */
static uintptr_t nowhere(void)
{
	if (!trace.nowhere)
		trace.nowhere = sys_map_zeros(2 * BUFFER);
	self()->trace_head = (unsigned char *)no_head;
	self()->trace_at = (uintptr_t)trace.nowhere;
	self()->trace_limit = (uintptr_t)trace.nowhere + BUFFER;
	return (uintptr_t)trace.nowhere + BUFFER + SLACK;
}

static const struct trace_hooks hooks;

/* 1 if the linker was told to mark where threads wait: sync_linked.c. */
extern HIDDEN const char __cairn_waits;
__attribute__((weak)) const char __cairn_waits = 0;

static void say_whether_ordered(void)
{
	if (!*(volatile const char *)&__cairn_waits)
		out_flag(CAIRN_FILE_UNORDERED, 0);
}

/* Requires: lock held. */
static uintptr_t room_locked(struct cairn_module *m, uintptr_t at,
                             bool is_certain)
{
	struct thread *t;
	struct stream *s;

	rt_ensure_module(m);
	t = process.is_off || m->is_off ? NULL : rt_self_locked();
	s = t ? stream_of(t) : NULL;
	if (!s || trace.is_off)
		return nowhere();
	if (!process.trace) {
		process.trace = &hooks;
		trace.queue_end = &trace.queue;
		trace.start = now() - 1;
		say_whether_ordered();
		trace.last = __cairn_trace_last;
		if (trace.last)
			out_flag(CAIRN_FILE_LAST, 0);
	}
	if (process.is_sealed)
		out_unseal();
	if ((!s->buffer || is_in(s->buffer, at)) &&
	    !turn_page_of(t, s, at, is_certain)) {
		stop_tracing(ENOMEM);
		return nowhere();
	}
	go_on(s);
	if (t->begins)
		begin(t);
	if (self()->trace_at >= self()->trace_limit &&
	    !turn_page_of(t, s, self()->trace_at, is_certain))
		return nowhere();
	return hand_out(s->buffer);
}

static void hold(void);

uintptr_t core_trace_room(struct cairn_module *m, uintptr_t at)
{
	uint64_t mask;
	uintptr_t place = at;

	rt_enter_running(&mask);
	if (at == CAIRN_TRACE_HOLD)
		hold();
	else
		place = room_locked(m, at, true);
	rt_leave(&mask);
	return place;
}

/* For marks of frames that are about to go, or are gone already. */
static uintptr_t room_for_mark(uintptr_t at)
{
	uint64_t mask;
	uintptr_t place;

	rt_enter_running(&mask);
	place = room_locked(&cairn_module, at, false);
	rt_leave(&mask);
	return place;
}

/* What trace.S calls. */
HIDDEN uintptr_t cairn_module_trace_room(uintptr_t at);
HIDDEN uintptr_t __cairn_core_trace_room(struct cairn_module *m, uintptr_t at);

uintptr_t cairn_module_trace_room(uintptr_t at)
{
	uintptr_t place = __cairn_core_trace_room(&cairn_module, at);

	return place ? place : nowhere();
}

/* --- what the rest of the runtime tells us ------------------------------- */

/* A mark with eight bytes, which are not zero, at a place that was taken. */
static void put_long_at(uintptr_t at, unsigned mark, uint64_t value)
{
	if (at >= self()->trace_limit)
		at = core_trace_room(&cairn_module, at);
	*(volatile unsigned char *)at = (unsigned char)mark;
	__asm__ volatile("movq %1, %0"
	                 : "=m"(*(char(*)[8])(at + 1))
	                 : "r"(value));
}

static void put_long(unsigned mark, uint64_t value)
{
	put_long_at(take(9), mark, value);
}

/*
 * The time.  What stands before the mark happened before the clock was read,
 * what stands behind it was written later: so if a signal handler wrote
 * something in between, the clock is read again.
 */
static void put_now(void)
{
	uintptr_t at, was;
	uint64_t ns;

	do {
		at = was = *(volatile uintptr_t *)&self()->trace_at;
		ns = now() - trace.start;
		__asm__ volatile("cmpxchgq %2, %1"
		                 : "+a"(was), "+m"(self()->trace_at)
		                 : "r"(at + 9)
		                 : "memory", "cc");
	} while (was != at);
	put_long_at(at, CAIRN_TRACE_TIME, ns);
}

/* Only threads that have a stream: another one has nothing to order yet, and
 * has a mark when it begins. */
void core_trace_sync(void)
{
	struct thread *t = rt_self();

	if (!t || !t->stream || !t->stream->buffer || trace.is_off)
		return;
	t->stream->sync = next_sync();
	put_long(CAIRN_TRACE_SYNC, t->stream->sync);
	if (ticks() - self()->trace_clock > TICKS) {
		self()->trace_clock = ticks();
		put_now();
	}
}

/* --- modules that are gone ------------------------------------------------
 */

/* Nobody else is loaded where its code was.  False if something is there. */
static bool reserve(const struct module *m)
{
	uintptr_t first = m->text & ~(RT_PAGE - 1);
	size_t size = (m->text_end - first + RT_PAGE - 1) & ~(RT_PAGE - 1);
	void *at = (void *)first;
	void *p = sys_map(at, size, PROT_NONE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	                          MAP_FIXED_NOREPLACE,
	                  -1, 0);

	if (p && p != at) /* a kernel that takes it for a hint */
		sys3(SYS_munmap, (long)p, (long)size, 0);
	return p == at;
}

/*
 * An address in a stream must mean one function.  The same module may come back
 * elsewhere, with another record; so that a program which loads one again and
 * again does not run out of these, half of them are left for who is loaded
 * where it was.
 */
void core_trace_closed(void)
{
	uint64_t mask;

	if (!process.trace)
		return;
	rt_enter(&mask);
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		struct module *m = &process.modules[i];

		if (!m->live && !m->is_reserved && m->text_end > m->text &&
		    process.nmodules < RT_MODULES / 2)
			m->is_reserved = reserve(m);
	}
	rt_leave(&mask);
}

static void on_mark(struct thread *t, unsigned mark, uintptr_t address)
{
	unsigned char *p;
	uintptr_t at = take(5);

	(void)t;
	if (at >= self()->trace_limit)
		at = room_for_mark(at);
	p = (unsigned char *)at;
	p[0] = (unsigned char)mark;
	rt_put32(p + 1, (uint32_t)address);
}

/* --- frames on the stack ---------------------------------------------------
 */

/* Frames in our modules, innermost first: the low bits of their return
 * addresses, or of where they were interrupted. */
struct found {
	uint64_t *pc; /* NULL: they are only counted */
	size_t n;
};

#define INTERRUPTED ((uint64_t)1 << 32)

static void add_found(struct found *f, uint64_t pc)
{
	if (f->pc)
		f->pc[f->n] = pc;
	f->n++;
}

/* From a frame to the one that `sp` lies in, and this, or to the outermost.
 * Where the way is lost an interrupted frame at 0 is added. */
static void find_frames(struct thread *t, const struct unwind *from,
                        uintptr_t sp, struct found *f)
{
	struct unwind u;
	enum unwind_result r;

	unwind_copy(&u, from);
	f->n = 0;
	do {
		uintptr_t lo = u.reg[UNWIND_RSP], at = u.pc;
		bool is_async = u.is_async;

		u.module = 0;
		r = unwind_step(&u, t);
		if (u.module)
			add_found(f,
			          (uint32_t)at | (is_async ? INTERRUPTED : 0));
		if (r == UNWIND_LOST)
			add_found(f, INTERRUPTED);
		if (sp >= lo && sp < u.cfa)
			break;
	} while (r == UNWIND_OK);
}

/* The same, in memory that the caller gives back; false if there is none. */
static bool list_frames(struct thread *t, const struct unwind *from,
                        uintptr_t sp, struct found *f)
{
	f->pc = NULL;
	find_frames(t, from, sp, f);
	f->pc = sys_map_zeros((f->n + 1) * sizeof(*f->pc));
	if (f->pc)
		find_frames(t, from, sp, f);
	return f->pc != NULL;
}

static void drop_frames(struct found *f)
{
	sys3(SYS_munmap, (long)f->pc, (long)((f->n + 1) * sizeof(*f->pc)), 0);
}

/* --- where a part of a flight recorder begins ------------------------------
 */

/* Innermost first; false if there are more. */
static bool list_stack(struct thread *t, struct unwind *u, size_t max,
                       size_t *n)
{
	enum unwind_result r = UNWIND_OK;

	*n = 0;
	while (r == UNWIND_OK && *n < max) {
		uintptr_t at = u->pc;
		bool is_async = u->is_async;

		u->module = 0;
		r = unwind_step(u, t);
		if (u->module)
			trace.pcs[(*n)++] = at | (is_async ? IS_ASYNC : 0);
	}
	return r == UNWIND_END;
}

/* The place that the code at a return address says, or 0. */
static uint32_t place_at(uintptr_t pc)
{
	const unsigned char *p = (const unsigned char *)pc;
	uint32_t place;

	if (!rt_module_of(pc + 7) || p[0] != 0x0f || p[1] != 0x1f ||
	    p[2] != 0x80)
		return 0;
	place = rt_get32(p + 3);
	return (place & CAIRN_PLACE_TAG_MASK) == CAIRN_PLACE_TAG ? place : 0;
}

static bool is_kind(uint32_t place, uint32_t kind)
{
	return (place & ~CAIRN_PLACE_TAG_MASK) >> CAIRN_PLACE_KIND_SHIFT ==
	       kind;
}

/* Marks the frames of the stack.  Is one of them interrupted? */
static bool put_stack(struct thread *t, const struct stream *s)
{
	size_t max = size_of(s->buffer) / 4 / 5, n, inner = 0;
	uint32_t place = 0;
	struct unwind u;
	bool is_whole_stack, is_async = false;

	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	is_whole_stack =
	        list_stack(t, &u, max < FRAMES_MAX ? max : FRAMES_MAX, &n);
	for (size_t i = 0; i < n && i < NEAR && !place; i++) {
		if (trace.pcs[i] & IS_ASYNC)
			break;
		place = place_at((uintptr_t)trace.pcs[i]);
		inner = place ? i + 1 : 0;
	}
	if (!is_whole_stack)
		put(CAIRN_TRACE_LOST, 0, 4);
	for (size_t i = n; i-- > inner;) {
		bool is_lost = trace.pcs[i] & IS_ASYNC;

		is_async |= is_lost;
		/* or is it interrupted in a call of ours? */
		is_lost = is_lost || place_at((uintptr_t)trace.pcs[i]);
		put(is_lost ? CAIRN_TRACE_LOST : CAIRN_TRACE_STACK,
		    (uint32_t)trace.pcs[i], 4);
	}
	if (place && !is_kind(place, CAIRN_PLACE_ENTER))
		put(CAIRN_TRACE_RESUME,
		    (uint32_t)trace.pcs[inner - 1] |
		            (uint64_t)(place & ~CAIRN_PLACE_TAG_MASK) << 32,
		    8);
	return is_async;
}

/* What who begins to read here has to know. */
static bool put_part(struct thread *t, const struct stream *s, bool is_certain)
{
	unsigned char *p = (unsigned char *)take(5);
	bool is_async = true;

	put(CAIRN_TRACE_START, (uint32_t)t->tid, 4);
	if (s->sync)
		put(CAIRN_TRACE_SYNC, s->sync, 8);
	if (is_certain)
		is_async = put_stack(t, s);
	else
		put(CAIRN_TRACE_LOST, 0, 4);
	rt_put32(p + 1, (uint32_t)(self()->trace_at - (uintptr_t)p - 5));
	p[0] = CAIRN_TRACE_PART;
	return is_async;
}

/* Nobody who was interrupted will store into the buffers that this thread had.
 */
static void let_go(const struct thread *t)
{
	for (struct buffer *b = trace.all; b; b = b->all)
		if (b->held_by == t->serial)
			b->held_by = 0;
}

static void begin_head(const struct buffer *b, uint64_t history)
{
	unsigned char *h = first_of(b);

	h[0] = CAIRN_TRACE_HEAD;
	rt_put64(h + CAIRN_HEAD_BASE, (uint64_t)(uintptr_t)h);
	rt_put64(h + CAIRN_HEAD_AT, self()->trace_at);
	rt_put64(h + CAIRN_HEAD_HISTORY, history);
}

/* turn_page of a flight recorder.  Until the new part has its number the old
 * one is the last, with the history that is not written yet. */
static bool turn_head(struct thread *t, struct stream *s, uintptr_t at,
                      bool is_certain)
{
	struct buffer *old = s->buffer, *b;
	uint64_t history = 0;
	bool is_async = false;

	if (!trace.pcs)
		trace.pcs = sys_map_zeros(FRAMES_MAX * sizeof(*trace.pcs));
	b = trace.pcs ? take_buffer() : NULL;
	if (!b)
		return false;
	if (old) {
		history = rt_get64(first_of(old) + CAIRN_HEAD_HISTORY);
		old->used = at - (uintptr_t)first_of(old);
		if (old->used > size_of(old))
			old->used = size_of(old);
	}
	b->chunk->owner = t->serial;
	s->buffer = b;
	attach(s, CAIRN_HEAD_SIZE);
	if (s->nparts && !t->begins)
		is_async = put_part(t, s, is_certain);
	put_time();
	begin_head(b, t->begins ? 0 : history);
	label_head(b, t->serial, ++s->nparts);
	if (!is_async)
		let_go(t);
	if (old) {
		old->held_by = is_async ? t->serial : 0;
		queue(old);
	}
	return true;
}

/* Is a history in these bytes of a buffer, or a place that is not filled? */
static void look_since(const struct buffer *b, size_t at, size_t end,
                       bool *has_history, bool *is_open)
{
	const unsigned char *p = first_of(b);

	*has_history = *is_open = false;
	while (at < end) {
		size_t next = p[at] ? 0 : behind_handed(b, at);

		if (!next && !p[at]) {
			*is_open = true;
			next = at + 1;
		} else if (!next) {
			*has_history |= p[at] < CAIRN_TRACE_MARK;
			next = at + 1 + nbehind(p[at]);
		}
		at = next;
	}
}

static void put_held(uint64_t history, uint32_t back)
{
	unsigned char *p = (unsigned char *)take(13);

	p[0] = CAIRN_TRACE_HELD;
	rt_put64(p + 1, history);
	rt_put32(p + 9, back);
}

/*
 * A handler begins, and has interrupted code with a history: writes that.  If
 * the code was just writing it itself, HELD says how far back to look, or,
 * where that is in another part, is not written.  Requires: lock held.
 */
static void hold(void)
{
	struct thread *t = rt_self();
	struct stream *s = t ? t->stream : NULL;
	unsigned char *head = self()->trace_head;
	uint64_t history = rt_get64(head + CAIRN_HEAD_HISTORY), at;
	bool has_history, is_open;

	if (history > 1 && trace.last && s && s->buffer &&
	    head == first_of(s->buffer) && !process.is_sealed) {
		at = rt_get64(head + CAIRN_HEAD_AT);
		look_since(s->buffer, at - (uintptr_t)head,
		           self()->trace_at - (uintptr_t)head, &has_history,
		           &is_open);
		if (self()->trace_at + CAIRN_TRACE_ITEM_MAX >=
		            self()->trace_limit &&
		    !has_history && !is_open &&
		    turn_page(t, s, self()->trace_at))
			put_held(history, 0);
		else if (!has_history &&
		         self()->trace_at + CAIRN_TRACE_ITEM_MAX <
		                 self()->trace_limit)
			put_held(history,
			         is_open ? (uint32_t)(self()->trace_at - at)
			                 : 0);
	}
	rt_put64(self()->trace_head + CAIRN_HEAD_HISTORY, 0);
}

/* A jump marks all frames that die; while these are still there a part could
 * begin. */
static void turn_before_marks(struct thread *t)
{
	struct stream *s = t->stream;
	uint64_t mask;

	if (!trace.last || !s || !s->buffer)
		return;
	rt_enter_running(&mask);
	if (!trace.is_off && s->buffer && !process.is_sealed &&
	    self()->trace_limit == limit_of(s->buffer) &&
	    self()->trace_at + MARKS_ROOM >= self()->trace_limit &&
	    !turn_page(t, s, self()->trace_at))
		stop_tracing(ENOMEM);
	rt_leave(&mask);
}

static void on_jump(struct thread *t, const struct unwind *from, uintptr_t sp,
                    uintptr_t pc)
{
	struct unwind u;
	enum unwind_result r;

	turn_before_marks(t);
	unwind_copy(&u, from);
	do {
		uintptr_t lo = u.reg[UNWIND_RSP], at = u.pc;
		bool is_async = u.is_async;

		u.module = 0;
		r = unwind_step(&u, t);
		if (sp >= lo && sp < u.cfa)
			break;
		if (u.module)
			on_mark(t,
			        is_async ? CAIRN_TRACE_CUT : CAIRN_TRACE_DEATH,
			        at);
	} while (r == UNWIND_OK);
	if (rt_module_of(pc - 1))
		on_mark(t, CAIRN_TRACE_LAND, pc);
}

static void on_jump_back(struct thread *t, const struct unwind *from,
                         uintptr_t sp)
{
	struct found f;

	if (!list_frames(t, from, sp, &f)) {
		stop_tracing(ENOMEM);
		return;
	}
	for (size_t i = f.n; i-- > 0;)
		on_mark(t,
		        i + 1 == f.n            ? CAIRN_TRACE_LAND
		        : f.pc[i] & INTERRUPTED ? CAIRN_TRACE_LOST
		                                : CAIRN_TRACE_FRAME,
		        (uint32_t)f.pc[i]);
	drop_frames(&f);
}

/* --- the end ---------------------------------------------------------------
 */

/* All of what is in the buffer of a thread that does not go on. */
static void pack_last(struct stream *s)
{
	struct buffer *b = s->buffer;

	b->used = find_end(b);
	if (b->used > size_of(b))
		b->used = size_of(b);
	s->buffer = NULL;
	pack_here(b);
}

/*
 * The streams so far are complete; who goes on makes a slow call.  If the
 * program may go on, since an exec can fail, or a thread does, buffers stay
 * where they are: parts that are not packed.
 */
static void on_finish(uint32_t how)
{
	struct buffer *b, *next;

	if (trace.last) { /* all is where it belongs */
		self()->trace_limit = 0;
		self()->trace_head = (unsigned char *)no_head;
		return;
	}
	while ((b = take_queued()))
		if (how == CAIRN_HOW_EXEC && may_have_hole() && has_hole(b))
			keep(b);
		else
			pack_here(b);
	while (trace.npacking)
		rt_pause(&trace.npacked, trace.npacked);
	if (how == CAIRN_HOW_EXEC)
		return;
	for (b = trace.kept; b; b = next) {
		next = b->next;
		pack_here(b);
	}
	trace.kept = NULL;
	for (struct thread *t = process.threads; t; t = t->next)
		if (t->stream && t->stream->buffer && t->park != RT_PARK_LATE)
			pack_last(t->stream);
	self()->trace_limit = 0;
	for (b = trace.free; b; b = b->next)
		out_punch(b->chunk);
	if (how == CAIRN_HOW_UNLOAD)
		stop_writer();
}

/* --- fork ------------------------------------------------------------------
 */

/*
 * Of the parent's buffers the child has those of its thread, empty and in its
 * own file (move_to_new_file).  Code that was interrupted may still write into
 * one: then none of them is used any more.
 */
static void sort_buffers(const struct thread *me, bool was_interrupted)
{
	struct buffer *b = trace.all, *next;

	trace.all = trace.free = trace.queue = trace.kept = NULL;
	trace.queue_end = &trace.queue;
	trace.size = 0;
	for (; b; b = next) {
		next = b->all;
		if (!me || b->chunk->owner != me->serial)
			continue;
		trace.size += b->chunk->size;
		b->all = trace.all;
		trace.all = b;
		b->used = b->nhanded = 0;
		b->held_by = 0;
		if (was_interrupted)
			continue;
		label(b, 0, 0);
		b->next = trace.free;
		trace.free = b;
	}
}

static void begin_child(void)
{
	trace.npacking = 0;
	trace.has_writer = trace.is_alone = trace.is_off = false;
	trace.must_stop = trace.writer_tid = 0;
	trace.nsyncs = 0;
	trace.start = now() - 1;
	trace.mine.context = trace.writers.context = NULL;
	for (struct thread *t = process.threads; t; t = t->next)
		if (t->stream) {
			t->stream->buffer = NULL;
			t->stream->nparts = 0;
			t->stream->sync = 0;
		}
}

/* A mark of the child, with its lock held.  False: there is no room. */
static bool put_in_child(struct thread *t, unsigned mark, uint32_t value)
{
	if (self()->trace_at >= self()->trace_limit &&
	    !turn_page(t, t->stream, self()->trace_at))
		return false;
	put(mark, value, 4);
	return true;
}

static bool put_frames(struct thread *t, const struct found *f)
{
	bool ok = true;

	for (size_t i = f->n; ok && i-- > 0;)
		ok = put_in_child(t,
		                  f->pc[i] & INTERRUPTED ? CAIRN_TRACE_LOST
		                                         : CAIRN_TRACE_FRAME,
		                  (uint32_t)f->pc[i]);
	return ok;
}

static void on_fork(struct thread *me, uintptr_t to)
{
	bool has_stream = me && me->stream && me->stream->buffer, ok;
	struct found f;
	struct unwind u;

	sort_buffers(me, me && finish_was_interrupted(me, to));
	begin_child();
	say_whether_ordered();
	if (trace.last)
		out_flag(CAIRN_FILE_LAST, 0);
	self()->trace_head = (unsigned char *)no_head;
	self()->trace_limit = 0;
	if (!has_stream)
		return;
	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	ok = turn_page(me, me->stream, 0);
	if (ok)
		begin(me);
	if (ok && walk_start(&u, me, to) && list_frames(me, &u, 0, &f)) {
		ok = put_frames(me, &f);
		drop_frames(&f);
	} else if (ok) {
		ok = put_in_child(me, CAIRN_TRACE_LOST, 0);
	}
	if (!ok)
		stop_tracing(ENOMEM);
}

static const struct trace_hooks hooks = {
        .finish = on_finish,
        .fork = on_fork,
        .mark = on_mark,
        .jump = on_jump,
        .jump_back = on_jump_back,
};
