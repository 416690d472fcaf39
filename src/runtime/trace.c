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
 * Invariant: parts of a stream have ascending numbers, and each is in a buffer
 * or packed, or for an instant both.
 * Cost: a system call per buffer, and what zstd takes.
 */
#include "abi/trace.h"

#include <errno.h>
#include <linux/sched.h>
#include <sys/mman.h>

#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"
#include "runtime/walk.h"

#define BUFFER ((size_t)256 << 10) /* with its header */
#define SLACK ((size_t)256) /* behind the limit: for who looks too late */
#define BOUND ((uint64_t)64 << 20)
#define ROOM 16u /* what a slow call hands out: any item */
#define LEVEL 1
#define STACK ((size_t)256 << 10)

#define HIDDEN __attribute__((visibility("hidden")))

/* zstd, of which the archive has a copy under these names. */
HIDDEN size_t cairn_zstd_compress(void *cctx, void *dst, size_t room,
                                  const void *src, size_t n, int level);
HIDDEN size_t cairn_zstd_bound(size_t n);
HIDDEN size_t cairn_zstd_context_size(int level);
HIDDEN void *cairn_zstd_context(void *memory, size_t n);
HIDDEN unsigned cairn_zstd_is_error(size_t code);

struct buffer {
	struct buffer *next;
	struct chunk *chunk;
	size_t used;
};

struct stream {
	struct buffer *buffer; /* NULL: none yet */
	uint64_t nparts;
	int tid;
};

/* What one who compresses needs. */
struct packer {
	void *context;
	unsigned char *chunk; /* header and payload */
	size_t room;          /* of the payload */
};

static struct {
	struct buffer *free, *queue, **queue_end;
	uint64_t size;     /* of all buffers */
	uint32_t nqueued;  /* since the start: the writer waits for it */
	uint32_t npacked;  /* the same, back in `free` */
	uint32_t npacking; /* taken by the writer, and not in the file yet */
	bool has_writer, is_alone;
	bool is_off; /* the file cannot grow */
	uint64_t start;
	struct packer mine, writers;
	unsigned char *nowhere; /* for threads that are not recorded */
} trace;

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

/* --- packing ------------------------------------------------------------- */

static bool packer_init(struct packer *p)
{
	size_t n = cairn_zstd_context_size(LEVEL);
	void *memory;

	if (p->context)
		return true;
	p->room = cairn_zstd_bound(BUFFER);
	p->chunk = sys_map_zeros(p->room + 2 * RT_PAGE);
	memory = sys_map_zeros(n);
	if (!p->chunk || !memory)
		return false;
	p->context = cairn_zstd_context(memory, n);
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

/* What its header says.  Requires: lock held. */
static void label(struct buffer *b, uint32_t id, uint64_t part)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_STREAM,
	        .id = id,
	        .aux0 = part,
	        .flags = CAIRN_CHUNK_LIVE,
	};

	out_label(b->chunk, &spec);
}

/* Zeros again.  Nobody else knows the buffer. */
static void clear(struct buffer *b)
{
	rt_zero(first_of(b), b->used);
	b->used = 0;
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
		b = take_queued();
		trace.npacking += b != NULL;
		rt_leave(&mask);
		if (!b) {
			sys_futex_wait(&trace.nqueued, seen, 0);
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
	                            CLONE_SYSVSEM | CLONE_SETTLS;
	register long r10 __asm__("r10") = 0;
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
	                 : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(0L),
	                   "r"(r10), "r"(r8), "r"(r12)
	                 : "rcx", "r11", "memory");
	return result;
}

/* Signals are blocked, and stay so in the new thread.  Requires: lock held. */
static void start_writer(void)
{
	unsigned char *memory;

	if (trace.has_writer || trace.is_alone)
		return;
	memory = packer_init(&trace.writers) ? sys_map_zeros(STACK) : NULL;
	if (memory && make_thread(memory + STACK - 4096,
	                          (uint64_t *)(memory + STACK - 2048)) > 0)
		trace.has_writer = true;
	else
		trace.is_alone = true;
}

/* --- buffers ------------------------------------------------------------- */

/* Requires: lock held. */
static struct buffer *new_buffer(void)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_STREAM,
	        .payload = BUFFER - CAIRN_CHUNK_HEADER_SIZE,
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct buffer *b;

	if (trace.size + BUFFER > BOUND)
		return NULL;
	b = out_meta(sizeof(*b));
	if (!b)
		return NULL;
	b->chunk = out_chunk(&spec);
	if (!b->chunk)
		return NULL;
	out_publish(b->chunk);
	trace.size += BUFFER;
	return b;
}

/* Requires: lock held, which it may let go of.  NULL: there is no memory. */
static struct buffer *take_buffer(void)
{
	for (;;) {
		uint32_t seen =
		        __atomic_load_n(&trace.npacked, __ATOMIC_ACQUIRE);
		struct buffer *b = trace.free;

		if (b) {
			trace.free = b->next;
			return b;
		}
		if (!trace.has_writer && (b = take_queued())) {
			pack_here(b);
			continue;
		}
		if ((b = new_buffer()))
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

static void put_time(void)
{
	put(CAIRN_TRACE_TIME, sys_now_ns() - trace.start, 8);
}

/* Makes the calling thread write from `used` on. */
static void attach(const struct stream *s, size_t used)
{
	self()->trace_at = (uintptr_t)first_of(s->buffer) + used;
	self()->trace_limit = limit_of(s->buffer);
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

/* The stream gets a new buffer.  Requires: lock held. */
static bool turn_page(struct thread *t, struct stream *s, uintptr_t at)
{
	struct buffer *b = s->buffer;

	s->buffer = NULL;
	self()->trace_limit = 0;
	if (b) {
		b->used = at - (uintptr_t)first_of(b);
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

/* A thread that has written nothing yet, or not since the end.  Requires: lock
 * held. */
static void go_on(const struct stream *s)
{
	if (self()->trace_limit != limit_of(s->buffer))
		attach(s, find_end(s->buffer));
}

static void begin(struct stream *s)
{
	s->tid = sys_gettid();
	put(CAIRN_TRACE_START, (uint32_t)s->tid, 4);
	put_time();
}

/* For threads that nobody records: always the same bytes. */
static uintptr_t nowhere(void)
{
	if (!trace.nowhere)
		trace.nowhere = sys_map_zeros(2 * BUFFER);
	self()->trace_at = (uintptr_t)trace.nowhere;
	self()->trace_limit = (uintptr_t)trace.nowhere + BUFFER;
	return (uintptr_t)trace.nowhere + BUFFER + SLACK;
}

static const struct trace_hooks hooks;

/* Requires: lock held. */
static uintptr_t room_locked(struct cairn_module *m, uintptr_t at)
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
		trace.start = sys_now_ns();
	}
	if (process.is_sealed)
		out_unseal();
	if ((!s->buffer || is_in(s->buffer, at)) && !turn_page(t, s, at)) {
		stop_tracing(ENOMEM);
		return nowhere();
	}
	go_on(s);
	if (s->tid != sys_gettid())
		begin(s);
	if (self()->trace_at >= self()->trace_limit &&
	    !turn_page(t, s, self()->trace_at))
		return nowhere();
	return take(ROOM);
}

uintptr_t core_trace_room(struct cairn_module *m, uintptr_t at)
{
	uint64_t mask;
	uintptr_t place;

	rt_enter_running(&mask);
	place = room_locked(m, at);
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

static void on_mark(struct thread *t, unsigned mark, uintptr_t address)
{
	unsigned char *p;
	uintptr_t at = take(5);

	(void)t;
	if (at >= self()->trace_limit)
		at = core_trace_room(&cairn_module, at);
	p = (unsigned char *)at;
	p[0] = (unsigned char)mark;
	rt_put32(p + 1, (uint32_t)address);
}

static void on_jump(struct thread *t, const struct unwind *from, uintptr_t sp,
                    uintptr_t pc)
{
	struct unwind u;
	enum unwind_result r;

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

/* The streams so far are complete; who goes on makes a slow call. */
static void on_finish(void)
{
	struct buffer *b;

	while ((b = take_queued()))
		pack_here(b);
	while (trace.npacking)
		rt_pause(&trace.npacked, trace.npacked);
	for (struct thread *t = process.threads; t; t = t->next) {
		struct stream *s = t->stream;

		if (!s || !s->buffer)
			continue;
		b = s->buffer;
		b->used = find_end(b);
		if (b->used > size_of(b))
			b->used = size_of(b);
		s->buffer = NULL;
		pack_here(b);
	}
	self()->trace_limit = 0;
	for (b = trace.free; b; b = b->next)
		out_punch(b->chunk);
}

static void on_fork(struct thread *me, uintptr_t to)
{
	(void)me;
	(void)to;
}

static const struct trace_hooks hooks = {
        .finish = on_finish,
        .fork = on_fork,
        .mark = on_mark,
        .jump = on_jump,
};
