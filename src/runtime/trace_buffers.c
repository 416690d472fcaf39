/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: the buffers of streams, and who packs them.  See trace.c.  Those of
 * recordings are the same, but begin with their length (record.c): nobody has
 * to look for their end, and nothing in them is missing.
 *
 * The thread of ours is made by the system call, when the first buffer is full:
 * libc knows nothing of it, it has no thread-local memory to speak of, blocks
 * all signals and calls nothing of the program's.
 *
 * A handler may interrupt code that has taken a place and not filled it yet.
 * If the buffer is full before the handler returns, it stays as it is, a part
 * of the stream that is not packed, until that place is filled: has_hole.
 *
 * Invariant: a buffer that is queued or free is written by nobody.
 * Cost: a system call per buffer, and what zstd takes; where the program has
 * signal handlers, a look at every item of a full buffer.
 */
#include "runtime/trace.h"

#include <errno.h>
#include <linux/sched.h>
#include <sys/mman.h>

#include "runtime/sys.h"

#define SMALLEST ((size_t)4 << 10)
#define SMALL ((size_t)16 << 10) /* of a flight recorder, beyond its bound */
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

struct trace_state trace;

/* --- the end of what is written ------------------------------------------ */

/* Behind the last item that is there: an item may end with zeros. */
size_t trace_find_end(const struct buffer *b)
{
	const unsigned char *p = trace_first_of(b);
	size_t n = trace_size_of(b) & ~(size_t)7;

	while (n && !rt_get64(p + n - 8))
		n -= 8;
	return n ? n + CAIRN_TRACE_ITEM_MAX : 0;
}

/* --- places that nobody has filled ---------------------------------------- */

/*
 * Is the item whole?  The first byte is written first, the rest by one
 * instruction, or, of a history of another length than 4, so that the last
 * byte, which is not zero, comes last.
 */
bool trace_is_whole(const unsigned char *p, unsigned n)
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
size_t trace_behind_handed(const struct buffer *b, size_t at)
{
	for (unsigned i = 0; i < b->nhanded; i++)
		if (at > b->handed[i] && at < b->handed[i] + TRACE_ROOM)
			return b->handed[i] + TRACE_ROOM;
	return 0;
}

/* Has somebody a place in a full buffer that he has not filled?  Only code that
 * a signal handler interrupted can have. */
bool trace_has_hole(const struct buffer *b)
{
	const unsigned char *p = trace_first_of(b);
	size_t limit = trace_limit_of(b) - (uintptr_t)p, at = 0;

	if (b->used < limit)
		limit = b->used;
	while (at < limit) {
		size_t next = p[at] ? 0 : trace_behind_handed(b, at);
		unsigned n = cairn_trace_behind(p[at]);

		if (next) {
			at = next;
			continue;
		}
		if (!p[at] || !trace_is_whole(p + at, n))
			return true;
		at += 1 + (size_t)n;
	}
	return false;
}

bool trace_may_have_hole(void)
{
	return !trace.is_counted &&
	       (process.has_handlers || !process.is_executable);
}

/* --- packing ------------------------------------------------------------- */

/* Bytes of a buffer before its stream. */
static size_t skip(void)
{
	return trace.is_counted ? CAIRN_STREAM_COUNT_SIZE : 0;
}

static bool packer_init(struct packer *p)
{
	size_t n = cairn_zstd_context_size(LEVEL);

	if (p->context)
		return true;
	p->room = cairn_zstd_bound(TRACE_BUFFER);
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
	size_t n = cairn_zstd_compress(p->context, to, p->room,
	                               trace_first_of(b) + skip(),
	                               b->used - skip(), LEVEL);

	if (cairn_zstd_is_error(n))
		return 0;
	rt_zero(to + n, RT_PAGE);
	return n;
}

void trace_stop(int error)
{
	if (trace.is_off)
		return;
	trace.is_off = true;
	out_flag(CAIRN_FILE_TRUNCATED, 0);
	out_say(trace.is_counted ? "cannot write the recording"
	                         : "cannot write the trace",
	        "", error, "the rest of it is lost, the program goes on");
}

/* Appends what was packed; false if there is no room.  Requires: lock held. */
static bool append(struct packer *p, const struct buffer *b, size_t n)
{
	const unsigned char *h = b->chunk->mem;
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_PACKED,
	        .id = rt_get32(h + CAIRN_CHK_ID),
	        .n = b->used - skip(),
	        .aux0 = rt_get64(h + CAIRN_CHK_AUX0),
	        .aux1 = n,
	        .payload = n,
	};
	int r = out_append(&spec, p->chunk);

	if (r < 0)
		trace_stop(-r);
	else
		trace.nappended += (CAIRN_CHUNK_HEADER_SIZE + n + RT_PAGE - 1) &
		                   ~(uint64_t)(RT_PAGE - 1);
	return r >= 0;
}

/* The same of a flight recorder, which one store makes or unmakes: who is
 * killed leaves a part or none. */
void trace_label_head(struct buffer *b, uint32_t id, uint64_t part)
{
	unsigned char *h = trace_first_of(b);

	b->chunk->owner = id;
	if (part)
		rt_put32(h + CAIRN_HEAD_THREAD, id);
	__atomic_store_n((uint64_t *)(h + CAIRN_HEAD_NUMBER), part,
	                 __ATOMIC_RELEASE);
}

/* What its header says.  Requires: lock held. */
void trace_label(struct buffer *b, uint32_t id, uint64_t part)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_STREAM,
	        .id = id,
	        .aux0 = trace.last ? CAIRN_STREAM_HAS_HEAD : part,
	        .aux1 = trace.is_counted ? CAIRN_STREAM_COUNTED : 0,
	        .flags = CAIRN_CHUNK_LIVE,
	};

	/* a child of fork has no use for those of recordings */
	b->chunk->owner = trace.is_counted ? 0 : id;
	out_label(b->chunk, &spec);
}

/* Zeros again.  Nobody else knows the buffer. */
static void clear(struct buffer *b)
{
	if (trace.is_counted)
		rt_put64(trace_first_of(b), 0);
	else
		rt_zero(trace_first_of(b), b->used);
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
struct buffer *trace_take_queued(void)
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
void trace_keep(struct buffer *b)
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
		if (trace_has_hole(b)) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		b->next = NULL;
		*trace.queue_end = b;
		trace.queue_end = &b->next;
	}
}

/* With the lock held all the time: where nobody else does it.  What cannot be
 * packed stays where it is, a part as it was written. */
void trace_pack_here(struct buffer *b)
{
	size_t n = 0;

	if (!trace.is_off && packer_init(&trace.mine))
		n = pack(&trace.mine, b);
	if (!n || !append(&trace.mine, b, n))
		return;
	trace_label(b, 0, 0);
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
		bool is_packed;
		size_t n;

		if (trace.wait && trace.queue)
			trace.wait();
		rt_enter(&mask);
		look_at_kept();
		b = trace_take_queued();
		trace.npacking += b != NULL;
		rt_leave(&mask);
		if (!b) {
			if (__atomic_load_n(&trace.must_stop, __ATOMIC_ACQUIRE))
				sys1(SYS_exit, 0);
			sys_futex_wait(&trace.nqueued, seen, 0);
			continue;
		}
		if (trace_may_have_hole() && trace_has_hole(b)) {
			rt_enter(&mask);
			trace.npacking--;
			trace_keep(b);
			rt_leave(&mask);
			continue;
		}
		n = trace.is_off ? 0 : pack(&trace.writers, b);
		rt_enter(&mask);
		is_packed = n && append(&trace.writers, b, n);
		if (is_packed)
			trace_label(b, 0, 0);
		rt_leave(&mask);
		if (is_packed)
			clear(b);
		rt_enter(&mask);
		trace.npacking--;
		if (is_packed)
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
void trace_stop_writer(void)
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

void trace_forget_buffers(void)
{
	trace.all = trace.free = trace.queue = trace.kept = NULL;
	trace.queue_end = &trace.queue;
	trace.size = 0;
	trace.npacking = 0;
	trace.nappended = 0;
	trace.has_writer = trace.is_alone = trace.is_off = false;
	trace.must_stop = trace.writer_tid = 0;
	trace.mine.context = trace.writers.context = NULL;
}

/* 1 if the linker was told to mark where threads wait: sync_linked.c. */
extern HIDDEN const char __cairn_waits;
__attribute__((weak)) const char __cairn_waits = 0;

void trace_say_whether_ordered(void)
{
	if (!*(volatile const char *)&__cairn_waits)
		out_flag(CAIRN_FILE_UNORDERED, 0);
}

/* --- buffers ------------------------------------------------------------- */

/* How great the next one may be, 0: there may be no more.  Where threads hold
 * half of the memory and nothing comes back, `must`, they get smaller, so that
 * many threads have one each. */
static size_t next_size(bool must)
{
	size_t size = TRACE_BUFFER;
	uint64_t room = trace.bound / 2, end = room;

	while (must && size > SMALLEST && trace.size + size > end) {
		room /= 2;
		end += room;
		size /= 4;
	}
	return trace.size + size > (must ? trace.bound : end) ? 0 : size;
}

/* Requires: lock held. */
static struct buffer *new_buffer(size_t size)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_STREAM,
	        .aux0 = trace.last ? CAIRN_STREAM_HAS_HEAD : 0,
	        .aux1 = trace.is_counted ? CAIRN_STREAM_COUNTED : 0,
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
	if (trace.size + TRACE_BUFFER <= trace.last) {
		b = new_buffer(TRACE_BUFFER);
		if (b && !b->chunk->is_mapped) /* the file cannot grow */
			trace.last = trace.size;
		return b;
	}
	b = take_kept(false);
	while (!b && (b = trace_take_queued()))
		if (b->held_by) {
			trace_keep(b);
			b = NULL;
		}
	if (!b && trace.size > 2 * trace.last)
		b = take_kept(true);
	if (!b)
		return new_buffer(SMALL);
	trace_label_head(b, 0, 0);
	clear(b);
	b->held_by = 0;
	return b;
}

/* Requires: lock held, which it may let go of.  NULL: there is no memory. */
struct buffer *trace_take_buffer(void)
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
		if (!trace.has_writer && (b = trace_take_queued())) {
			if (trace_may_have_hole() && trace_has_hole(b))
				trace_keep(b);
			else
				trace_pack_here(b);
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
void trace_queue(struct buffer *b)
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
