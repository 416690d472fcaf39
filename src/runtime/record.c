/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: contexts, and what becomes of their logs.
 *
 * A context is a thread, or what handlers of signals do in one.  It is made
 * when foreign code first calls the program in it: a shadow, a second stack, a
 * log that begins.  Its log is a stream as those of traces are, in buffers of
 * the mapped file which a thread of ours packs (trace_buffers.c); each buffer
 * begins with its length, which is right after every instruction.  When a
 * thread is gone its log is completed by whoever makes the next context, or
 * ends the process.
 *
 * There is no way to go on without a recording that would not be a wrong one:
 * what cannot be recorded ends the process, with one sentence.  Only a disk
 * that is full ends the recording alone.
 *
 * Invariant: a log is written by its thread, or, with the lock held, by others
 * when that thread stands still or is gone.
 * Cost: of a context about twenty system calls; a system call per buffer.
 */
#include "runtime/record.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "runtime/finish.h"
#include "runtime/sys.h"

#define PROBES 8
#define NPREFIXES 4u /* of an instruction */
#define STACK_MIN ((size_t)1 << 20)
#define STACK_MAX ((size_t)64 << 20) /* of one without limit */
#define TOP_ROOM 128u                /* above the top of the second stack */
#define NGONE 64u
#define GONE_MIN ((size_t)64 << 10) /* what others are told of */

#define HIDDEN __attribute__((visibility("hidden")))

__thread uint64_t __cairn_record[CAIRN_RECORD_WORDS];

/* module.c has a weak one that is 0. */
extern HIDDEN const char __cairn_recording;
HIDDEN const char __cairn_recording = 1;

/* A handler of the program's that runs, in our frame below its. */
struct frame {
	struct frame *before;
	struct context *outer;              /* NULL: the thread has none */
	uint64_t words[CAIRN_RECORD_WORDS]; /* of the code it interrupted */
	uint64_t gs;
	uint64_t fault[2]; /* what that did, as HALT has it; 0: somewhere */
	bool has_come;     /* and the log says where */
};

static struct {
	struct context *contexts;
	uint32_t ncontexts; /* so far */
	uint32_t nthreads;  /* of them, threads */
	bool is_finished;   /* the file is complete */
	int forking;        /* the process that has called fork last */
} record;

/*
 * What threads unmapped last.  Nobody can say where another thread is, so each
 * context gives back its own shadow: that of the thread at once, others when
 * they next come by (record_order, on_gone).  One that misses more than
 * NGONE ranges keeps its shadow of the older ones, which is no mistake.
 */
static struct {
	struct range {
		uintptr_t p;
		size_t n;
	} last[NGONE];
	uint64_t n; /* so far */
} gone;

static struct record_turns turns;

static const struct trace_hooks hooks;

/* Of the C library.  Weak: a static program may do without. */
int __cxa_thread_atexit_impl(void (*f)(void *), void *arg, void *dso)
        __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static uint64_t tick_now(void)
{
	return __cairn_record[CAIRN_RECORD_TICK / 8];
}

/* NULL: the calling thread is in no handler. */
static struct frame *handler_frame(void)
{
	return (struct frame *)__cairn_record[CAIRN_RECORD_FRAME / 8];
}

/* Is sp in a frame that the handler called? */
static bool is_within(uintptr_t sp, const struct frame *f)
{
	uintptr_t at = (uintptr_t)f, lo;
	stack_t alt = {.ss_size = 0};

	sys3(SYS_sigaltstack, 0, (long)&alt, 0);
	lo = (uintptr_t)alt.ss_sp;
	return sp < at && (sp - lo < alt.ss_size) == (at - lo < alt.ss_size);
}

/* --- logs -------------------------------------------------------------------
 */

/* What the last event of the log was at. */
static struct record_last last_of(const struct context *c)
{
	return c->last[*(const uint64_t *)c->bytes & 1];
}

/* Takes the buffer away from the context; its log goes on in the next. */
static struct buffer *leave_buffer(struct context *c)
{
	struct buffer *b = c->stream.buffer;

	if (!b)
		return NULL;
	b->used = CAIRN_STREAM_COUNT_SIZE + record_used(c);
	c->total += record_used(c);
	c->last[0] = last_of(c);
	c->bytes = NULL;
	c->stream.buffer = NULL;
	return b;
}

/* Gives the context a new buffer; false if there is none.  Requires: lock held,
 * which it may let go of. */
static bool turn_page(struct context *c)
{
	struct buffer *b = leave_buffer(c);

	if (b)
		trace_queue(b);
	if (trace.is_off)
		return false;
	b = trace_take_buffer();
	if (!b)
		return false;
	trace_label(b, c->id, ++c->stream.nparts);
	c->room = trace_size_of(b) - CAIRN_STREAM_COUNT_SIZE - RECORD_SLACK;
	c->stream.buffer = b;
	c->bytes = trace_first_of(b);
	return true;
}

static void lose_rest(struct context *c)
{
	c->is_over = true;
	if (process.is_off || trace.is_off)
		return; /* somebody has said so */
	out_flag(CAIRN_FILE_TRUNCATED, 1);
	out_say("cannot write the recording of a thread", "", ENOMEM,
	        "the rest of it is lost, the program goes on");
}

/* An event of the calling thread's, wherever there is room.  Requires: lock
 * held. */
static void note_here(struct context *c, unsigned what, const uint64_t *values,
                      unsigned nvalues)
{
	if (c->is_over)
		return;
	if ((!c->bytes || record_used(c) + RECORD_HEAD > c->room) &&
	    !turn_page(c)) {
		lose_rest(c);
		return;
	}
	record_note(c, tick_now(), what, values, nvalues);
}

/* The next place in the order of all.  Requires: there is room. */
static void note_sync(struct context *c)
{
	uint64_t number = record_next_turn(&turns);

	if (!c->bytes)
		return;
	record_note(c, tick_now(), CAIRN_OTHER_SYNC, &number, 1);
	c->last_turn = number;
}

/* Its shadow is zeros again: all that it reads is an input.  fault: where it
 * was interrupted, as HALT has it. */
static void forget(struct context *c, const uint64_t *fault)
{
	record_shadow_clear(c);
	if (fault[0])
		note_here(c, CAIRN_OTHER_LEFT, fault, 2);
	note_here(c, CAIRN_OTHER_FORGET, NULL, 0);
}

static void note_begin(struct context *c, uint64_t tick)
{
	const struct context *thread = c;
	uint64_t about[3] = {c->kind, 0, (uint32_t)c->tid};

	while (thread->outer)
		thread = thread->outer;
	about[1] = thread->id;
	record_note(c, tick, CAIRN_OTHER_BEGIN, about, 3);
}

/* Does foreign code run, or is it about to?  words: CAIRN_RECORD_WORDS. */
static bool is_abroad(const uint64_t *words)
{
	return words[CAIRN_RECORD_EXPECT / 8] != 0;
}

/* --- the end of a context ---------------------------------------------------
 */

static bool is_gone(const struct context *c)
{
	return c->has_left || (c->thread && c->thread->tid != c->tid) ||
	       sys3(SYS_tgkill, process.pid, c->tid, 0) == -ESRCH;
}

/*
 * The first thread of a process may end before the others, without destructors:
 * main calls pthread_exit.  It stays a zombie until the process ends, and its
 * words stay where they are.
 */
static void learn_end(struct context *c)
{
	if (c->has_ended || c->is_stopped || c->tid != process.pid ||
	    !sys_readable((uintptr_t)c->live) ||
	    c->live[CAIRN_RECORD_SELF / 8] != (uint64_t)(uintptr_t)c ||
	    !finish_is_zombie(c->tid))
		return;
	c->tick = c->live[CAIRN_RECORD_TICK / 8];
	c->was_cut = !is_abroad(c->live);
	c->has_ended = c->has_left = true;
}

/* How far it came, if that is known. */
static void note_end(struct context *c, unsigned what, uint64_t tick)
{
	if (c->bytes)
		record_note(c, tick, what, NULL, 0);
}

/* In the middle of something. */
static void note_stop(struct context *c, bool is_in_call, uint64_t tick)
{
	uint64_t about[2] = {c->fault[0] | is_in_call, c->fault[1]};

	if (!about[0])
		note_end(c, CAIRN_OTHER_STOP, tick);
	else if (c->bytes)
		record_note(c, tick, CAIRN_OTHER_HALT, about, 2);
}

/* Its thread came to an end. */
static void note_thread_end(struct context *c)
{
	note_end(c, c->was_cut ? CAIRN_OTHER_STOP : CAIRN_OTHER_END, c->tick);
}

static void drop(struct context *c)
{
	record_shadow_drop(c);
	if (c->stack)
		sys3(SYS_munmap, (long)c->stack, (long)c->nstack, 0);
	c->stack = NULL;
	c->id = 0;
	if (c->outer && c->outer->inner == c)
		c->outer->inner = NULL;
}

/* Its thread is gone.  Requires: lock held. */
static void end_context(struct context *c)
{
	struct buffer *b;

	if (c->has_ended || c->is_idle)
		note_thread_end(c);
	b = leave_buffer(c);
	if (b)
		trace_queue(b);
	drop(c);
}

/* Looks at a few contexts, beginning with the oldest that nobody looked at. */
static void end_some(struct thread *me)
{
	static struct context *next;

	for (struct context *c = record.contexts; c; c = c->next)
		if (c->id && me && me->begins && c->thread == me)
			end_context(c); /* another thread had this record before
			                   us */
	if (me)
		me->begins = false;
	for (int i = 0; i < PROBES; i++) {
		if (!next)
			next = record.contexts;
		if (!next)
			return;
		if (next->id && is_gone(next))
			end_context(next);
		next = next->next;
	}
}

/* Threads run nothing but destructors after this.  If nobody is expected, code
 * with marks ran last: the thread was cancelled there, asynchronously. */
static void on_thread_end(void *arg)
{
	struct context *c = arg;

	if (c != record_self())
		return;
	record_drop_turn(c); /* if it was cancelled in there */
	c->tick = tick_now();
	c->was_cut = !is_abroad(__cairn_record);
	if (!c->was_cut && __cairn_record_turns)
		record_order(); /* who joins it is behind all that it did */
	c->has_ended = true;
}

/* --- memory that is gone ----------------------------------------------------
 */

/* The shadow of a range is zeros again, and so says the log: whatever is mapped
 * there next is then an input where it is not zeros. */
static void give_back(struct context *c, const struct range *r)
{
	uint64_t zeros[2];

	if (record_shadow_zero(c, r->p, r->n, zeros))
		note_here(c, CAIRN_OTHER_ZERO, zeros, 2);
}

/* Requires: lock held; foreign code runs in the context, which is the calling
 * thread's. */
static void catch_up(struct context *c)
{
	if (gone.n - c->ngone > NGONE)
		c->ngone = gone.n - NGONE;
	while (c->ngone < gone.n)
		give_back(c, &gone.last[c->ngone++ % NGONE]);
}

static void on_gone(uintptr_t p, size_t n)
{
	struct context *c = record_self();
	const struct range r = {p, n};
	uint64_t mask;

	if (!c)
		return;
	rt_enter_running(&mask);
	catch_up(c);
	give_back(c, &r);
	if (n >= GONE_MIN) {
		gone.last[gone.n % NGONE] = r;
		__atomic_store_n(&gone.n, gone.n + 1, __ATOMIC_RELAXED);
		c->ngone = gone.n;
	}
	rt_leave(&mask);
}

/* --- a new context ----------------------------------------------------------
 */

static struct context *new_context(void)
{
	struct context *c = record.contexts, *next;

	while (c && c->id)
		c = c->next;
	if (!c) {
		c = out_meta(sizeof(*c));
		if (!c)
			rt_refuse("out of memory", "give it more");
		c->next = record.contexts;
		record.contexts = c;
	}
	next = c->next;
	rt_zero(c, sizeof(*c));
	c->next = next;
	c->id = ++record.ncontexts;
	c->ngone = gone.n;
	c->env = CAIRN_ENV_DEFAULT;
	return c;
}

/* As large as a stack may be, with a page below that nobody may touch. */
static void make_stack(struct context *c)
{
	struct rlimit limit = {STACK_MAX, 0};
	size_t size;

	sys4(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit);
	size = limit.rlim_cur < STACK_MAX ? limit.rlim_cur : STACK_MAX;
	if (size < STACK_MIN)
		size = STACK_MIN;
	c->nstack = (size + 2 * RT_PAGE) & ~(RT_PAGE - 1);
	c->stack = sys_map(
	        NULL, c->nstack, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (!c->stack)
		rt_refuse("there is no memory for a second stack",
		          "lift ulimit -v");
	sys3(SYS_mprotect, (long)c->stack, RT_PAGE, PROT_NONE);
	c->top = (uintptr_t)c->stack + c->nstack - TOP_ROOM;
}

static bool counts_something(void)
{
	for (struct thread *t = process.threads; t; t = t->next)
		for (uint32_t i = 1; i <= process.nmodules; i++)
			if (t->counts[i] || t->stream)
				return true;
	return false;
}

/* Once. */
static void start(void)
{
	if (process.is_recording)
		return;
	if (process.trace || counts_something())
		rt_refuse("a part of it was compiled with another --cairn",
		          "compile all with --cairn=record");
	process.is_recording = true;
	process.trace = &hooks;
	trace.queue_end = &trace.queue;
	trace.is_counted = true;
	trace.bound = TRACE_MEMORY;
	out_flag(CAIRN_FILE_RECORDING, 0);
	trace_say_whether_ordered();
	record_follow();
}

/* Makes the calling thread go on in a context that was left. */
static void resume(struct context *c)
{
	uint64_t frame = __cairn_record[CAIRN_RECORD_FRAME / 8];

	rt_copy_words(__cairn_record, c->words, sizeof(c->words));
	__cairn_record[CAIRN_RECORD_FRAME / 8] = frame;
	record_shadow_use(c);
}

/* The context of an earlier handler, for one that interrupted the same. */
static struct context *find_idle(const struct thread *t, struct context *outer)
{
	for (struct context *c = record.contexts; c; c = c->next)
		if (c->id && c->thread == t && c->outer == outer &&
		    __atomic_exchange_n(&c->is_idle, false, __ATOMIC_RELAXED))
			return c;
	return NULL;
}

/* What is atomic takes turns from the second thread on. */
static void take_turns(struct record_turns *t)
{
	process.turns = t;
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		struct cairn_module *m = process.modules[i].live;

		if (m)
			__atomic_store_n(m->turns, t, __ATOMIC_RELEASE);
	}
}

/* Whoever made the thread did so behind all that it had done. */
static void note_thread(struct context *c)
{
	if (c->kind != CAIRN_CONTEXT_THREAD || ++record.nthreads == 1)
		return;
	if (record.nthreads == 2)
		take_turns(&turns);
	note_sync(c);
}

/* Where a handler came, which has just begun; all that it does is behind what
 * others have done so far.  Requires: there is room. */
static void note_came(struct context *c, struct frame *f)
{
	const struct context *outer = f->outer;
	uint64_t where[3];

	if (f->has_come)
		return;
	f->has_come = true;
	if (outer) {
		where[0] = outer->id;
		where[1] = outer->tick << 1 | is_abroad(f->words);
		where[2] =
		        outer->total + (outer->bytes ? record_used(outer) : 0);
		record_note(c, tick_now(), CAIRN_OTHER_CAME, where, 3);
	}
	note_sync(c);
}

/* Requires: lock held. */
static struct context *begin(void)
{
	struct frame *frame = handler_frame();
	struct thread *t;
	struct context *c;

	start();
	t = process.is_off ? NULL : rt_self_locked();
	end_some(t);
	c = frame && t ? find_idle(t, frame->outer) : NULL;
	if (c) {
		resume(c);
		return c;
	}
	c = new_context();
	c->thread = t;
	c->tid = sys_gettid();
	c->live = __cairn_record;
	c->kind = frame ? CAIRN_CONTEXT_SIGNAL : CAIRN_CONTEXT_THREAD;
	c->outer = frame ? frame->outer : NULL;
	if (c->outer)
		c->outer->inner = c;
	record_shadow_make(c);
	make_stack(c);
	__cairn_record[CAIRN_RECORD_TICK / 8] = 0;
	__cairn_record[CAIRN_RECORD_STACK / 8] = c->top;
	record_set_self(c);
	c->is_over = record.is_finished;
	if (c->is_over)
		return c;
	if (!t || !turn_page(c)) {
		lose_rest(c);
		return c;
	}
	note_begin(c, 0);
	record_note(c, 0, CAIRN_OTHER_STACK, &c->top, 1);
	note_thread(c);
	return c;
}

/* Has the end of the calling thread told.  libc calls the program's calloc,
 * maybe: after all else, as one calls who has begun nothing yet. */
static void tell_end(struct context *c)
{
	uint64_t *expect = &__cairn_record[CAIRN_RECORD_EXPECT / 8];
	uint64_t expected = *expect;

	*(volatile uint64_t *)expect = CAIRN_RECORD_BASE;
	__cxa_thread_atexit_impl(on_thread_end, c, &__dso_handle);
	*(volatile uint64_t *)expect = expected;
}

bool core_record(struct cairn_module *m)
{
	struct context *c = record_self();
	bool is_new = !c;
	uint64_t mask;

	rt_enter_running(&mask);
	rt_ensure_module(m);
	if (m->is_off && !process.is_off)
		rt_refuse("there are too many modules, or one of another "
		          "version of Cairn",
		          "link all with the same");
	if (__cairn_record[CAIRN_RECORD_WRONG / 8])
		rt_refuse("a handler of a signal that Cairn does not know of "
		          "interrupts it, and calls it or jumps away, a "
		          "thread with handlers is cancelled asynchronously, "
		          "or inline assembly calls it by other means than a "
		          "call instruction",
		          "link the program with cairn-cc --cairn=record, "
		          "cancel threads where they wait, and compile files "
		          "with such assembly with --cairn=none");
	if (handler_frame() && !is_within((uintptr_t)&mask, handler_frame()))
		rt_refuse("an exception left the handler of a signal",
		          "catch it there, or use siglongjmp");
	if (is_new)
		c = begin();
	if (process.is_sealed && !c->is_over)
		out_unseal();
	if (!c->is_over &&
	    (!c->bytes ||
	     record_used(c) + RECORD_PIECE + RECORD_HEAD > c->room) &&
	    !turn_page(c))
		lose_rest(c);
	if (handler_frame() && !c->is_over)
		note_came(c, handler_frame());
	rt_leave(&mask);
	if (is_new && !handler_frame() && __cxa_thread_atexit_impl)
		tell_end(c);
	return true;
}

/* What record.S calls. */
HIDDEN void cairn_module_record_slow(void);
HIDDEN bool __cairn_core_record(struct cairn_module *m);

void cairn_module_record_slow(void)
{
	if (!__cairn_core_record(&cairn_module))
		rt_refuse("the program itself was not compiled with "
		          "--cairn=record",
		          "compile it so, or without Cairn");
}

/* --- handlers of signals ----------------------------------------------------
 */

/* A byte of the instruction at which a signal came; 0 if it cannot be read. */
static unsigned char code_at(const ucontext_t *u, unsigned i)
{
	const unsigned char *pc =
	        (const unsigned char *)u->uc_mcontext.gregs[REG_RIP];

	return sys_readable((uintptr_t)(pc + i)) ? pc[i] : 0;
}

/* Has it a prefix for %gs? */
static bool is_of_shadow(const ucontext_t *u)
{
	for (unsigned i = 0; i < NPREFIXES; i++)
		switch (code_at(u, i)) {
		case 0x65:
			return true;
		case 0x66:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			break;
		default:
			return false;
		}
	return false;
}

/*
 * The address that an access faults at.  If it is a shadow, which may be looked
 * at first, that of the memory; and if that is there only the shadow is not:
 * whoever maps memory by a bare system call gets past hook_map.c.
 */
static uintptr_t own_address(const siginfo_t *info, const ucontext_t *u)
{
	const struct context *c = record_self();
	uintptr_t at = (uintptr_t)info->si_addr;

	if (!c || !is_of_shadow(u))
		return at;
	at += c->shift;
	if (sys_readable(at))
		rt_refuse("it uses memory at an address that a recording "
		          "cannot follow",
		          "let the kernel choose addresses");
	return at;
}

#define CODE_HLT 0xf4 /* of inline assembly, as other privileged ones are */

/* Does an instruction of the thread's own raise it, and that of a replay, too?
 * One of inline assembly is in no replay. */
static bool is_raised_here(int sig, const siginfo_t *info, const ucontext_t *u)
{
	switch (sig) {
	case SIGSEGV:
	case SIGBUS:
		return info->si_code > 0 && code_at(u, 0) != CODE_HLT;
	case SIGILL:
		return info->si_code > 0;
	case SIGFPE:
		return info->si_code == FPE_INTDIV ||
		       info->si_code == FPE_INTOVF;
	default:
		return false;
	}
}

/* A call of no address is one of foreign code, but no word says so. */
static bool is_at(const siginfo_t *info, const ucontext_t *u)
{
	return (uintptr_t)info->si_addr ==
	       (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
}

/* Did the access that faults write?  The processor says so. */
static bool context_writes(const void *context)
{
	const ucontext_t *u = context;

	return u->uc_mcontext.gregs[REG_ERR] & 2;
}

/* What HALT says of a signal that the context of the thread raises itself. */
static void learn_fault(int sig, const siginfo_t *info, const void *context,
                        uint64_t *fault)
{
	bool is_access = sig == SIGSEGV || sig == SIGBUS;
	uintptr_t at = sig == SIGSEGV ? own_address(info, context)
	                              : (uintptr_t)info->si_addr;

	if (!is_raised_here(sig, info, context))
		return;
	fault[0] = (uint64_t)sig << 1 | (is_access && is_at(info, context));
	if (is_access && context_writes(context))
		fault[0] |= CAIRN_HALT_WRITES;
	fault[1] = is_access ? at : 0;
}

static uint64_t pc_of(const void *context)
{
	const ucontext_t *u = context;

	return (uint64_t)u->uc_mcontext.gregs[REG_RIP];
}

/* A handler that raises its signal once more gets it when it has returned, at
 * the instruction that raised it first: the context was nowhere else since. */
static void on_fault(int sig, const void *about, const void *context)
{
	struct context *c = record_self();

	if (!c)
		return;
	learn_fault(sig, about, context, c->fault);
	if (!c->fault[0] && c->last_fault[0] && c->fault_tick == tick_now() &&
	    c->fault_pc == pc_of(context))
		rt_copy_words(c->fault, c->last_fault, sizeof(c->fault));
}

/* The process may end in the handler. */
static void keep_fault(struct context *c, const uint64_t *fault, uint64_t pc)
{
	rt_copy_words(c->fault, fault, sizeof(c->fault));
	rt_copy_words(c->last_fault, fault, sizeof(c->last_fault));
	c->fault_tick = c->tick;
	c->fault_pc = pc;
}

/*
 * A handler is not part of what it interrupts: it has a context of its own, in
 * which it is as if a thread of its own were called.  It may interrupt anything
 * but what holds the lock; another handler may interrupt this code, and leaves
 * all as it was.
 */
static void enter_handler(struct frame *f)
{
	struct context *inner;

	rt_copy_words(f->words, __cairn_record, sizeof(f->words));
	__asm__ volatile("rdgsbase %0" : "=r"(f->gs));
	f->before = handler_frame();
	f->outer = record_self();
	f->has_come = false;
	if (f->outer) {
		record_drop_turn(f->outer);
		f->outer->tick = tick_now();
		f->outer->is_abroad = is_abroad(f->words);
		f->outer->is_suspended = true;
	}
	__cairn_record[CAIRN_RECORD_FRAME / 8] = (uint64_t)(uintptr_t)f;
	__cairn_record[CAIRN_RECORD_EXPECT / 8] = CAIRN_RECORD_BASE;
	__cairn_record[CAIRN_RECORD_BUSY / 8] = 0;
	record_set_self(NULL); /* unless it runs code of ours: no context */
	inner = f->outer ? f->outer->inner : NULL;
	if (inner &&
	    __atomic_exchange_n(&inner->is_idle, false, __ATOMIC_RELAXED))
		resume(inner);
}

/* Back to what was interrupted. */
static void leave_handler(const struct frame *f)
{
	if (f->outer) {
		f->outer->is_suspended = false;
		f->outer->fault[0] = f->outer->fault[1] = 0;
	}
	rt_copy_words(__cairn_record, f->words, sizeof(f->words));
	__asm__ volatile("wrgsbase %0" : : "r"(f->gs) : "memory");
}

static void on_handle(uintptr_t handler, int sig, void *info, void *context)
{
	struct context *c;
	struct frame f;

	f.fault[0] = f.fault[1] = 0;
	learn_fault(sig, info, context, f.fault);
	enter_handler(&f);
	f.fault[0] |= is_abroad(f.words);
	if (f.outer)
		keep_fault(f.outer, f.fault, pc_of(context));
	((void (*)(int, void *, void *))handler)(sig, info, context);
	c = record_self();
	if (c) {
		c->tick = tick_now();
		rt_copy_words(c->words, __cairn_record, sizeof(c->words));
	}
	leave_handler(&f);
	if (c)
		__atomic_store_n(&c->is_idle, true, __ATOMIC_RELEASE);
}

/*
 * A jump out of handlers ends their contexts.  What was interrupted may have
 * been just about to log what its shadow has already: so all of that is
 * forgotten, and the log says so.
 */
static void on_jump(struct thread *t, const struct unwind *u, uintptr_t sp,
                    uintptr_t pc)
{
	struct frame *f;
	struct context *c;
	uint64_t mask;

	(void)t;
	(void)u;
	(void)pc;
	while ((f = handler_frame()) && !is_within(sp, f)) {
		c = record_self();
		rt_enter_running(&mask);
		if (c) {
			note_stop(c, is_abroad(__cairn_record), tick_now());
			c->has_ended = c->is_idle = false;
			end_context(c);
		}
		leave_handler(f);
		__cairn_record[CAIRN_RECORD_BUSY / 8] = 0;
		if (f->outer)
			forget(f->outer, f->fault);
		__cairn_record[CAIRN_RECORD_EXPECT / 8] = CAIRN_RECORD_BASE;
		rt_leave(&mask);
	}
}

/* --- what the rest of the runtime tells us ----------------------------------
 */

static void notice_gone(struct context *c)
{
	uint64_t mask;

	rt_enter_running(&mask);
	catch_up(c);
	rt_leave(&mask);
}

void record_order(void)
{
	struct context *c = record_self();

	if (!c || c->is_over)
		return;
	if (c->ngone != __atomic_load_n(&gone.n, __ATOMIC_RELAXED))
		notice_gone(c);
	if (!c->bytes || record_used(c) + RECORD_HEAD > c->room)
		core_record(&cairn_module);
	if (!c->bytes)
		return;
	note_sync(c);
}

/* The calling thread does not go on, or not before the process does. */
static void on_stop(const struct thread *t)
{
	struct context *c = record_self();

	(void)t;
	if (!c)
		return;
	c->tick = tick_now();
	c->is_abroad = is_abroad(__cairn_record);
	c->is_stopped = true;
}

/* Of the context that ends the process. */
static void note_own_end(struct context *c, uint32_t how)
{
	if (how != CAIRN_HOW_SIGNAL)
		note_end(c, CAIRN_OTHER_END, tick_now());
	else
		note_stop(c, is_abroad(__cairn_record), tick_now());
}

/* The log of a context is complete; false if it may go on being written. */
static bool is_complete(struct context *c, uint32_t how)
{
	if (c == record_self()) {
		note_own_end(c, how);
		return true;
	}
	if (c->thread && c->thread->park == RT_PARK_LATE)
		return false;
	learn_end(c);
	if (c->is_stopped || c->is_suspended)
		note_stop(c, c->is_abroad, c->tick);
	else if (c->has_ended || c->is_idle)
		note_thread_end(c);
	return c->is_stopped || c->is_suspended || c->is_idle || is_gone(c);
}

/* Is it the calling thread's: what runs, what that interrupted, what earlier
 * handlers left? */
static bool is_mine(const struct context *c)
{
	return c->id && (c == record_self() || c->tid == sys_gettid());
}

/* Where the log goes on. */
static unsigned char *end_of_log(const struct context *c)
{
	return c->bytes + CAIRN_STREAM_COUNT_SIZE + record_used(c);
}

/*
 * Exec ends all contexts, if it does not fail; then what is noted here is taken
 * back, so that a log that was interrupted at any instruction, also in the
 * middle of an event, goes on as if nothing had been.  Those of threads that
 * did not stop have no end.
 */
static void note_exec(struct context *c)
{
	bool is_parked = c->thread && c->thread->park == RT_PARK_DONE;

	if (!is_mine(c))
		learn_end(c);
	if (!c->bytes || (!is_mine(c) && !is_parked && !c->has_ended))
		return;
	c->before_exec.is_set = true;
	c->before_exec.word = *(const uint64_t *)c->bytes;
	rt_copy(c->before_exec.bytes, end_of_log(c), RECORD_SLACK);
	rt_copy(c->before_exec.last, c->last, sizeof(c->last));
	is_complete(c, CAIRN_HOW_EXEC);
}

static void take_back(struct context *c)
{
	c->before_exec.is_set = false;
	rt_copy(c->last, c->before_exec.last, sizeof(c->last));
	__atomic_store_n((uint64_t *)c->bytes, c->before_exec.word,
	                 __ATOMIC_RELEASE);
	rt_copy(end_of_log(c), c->before_exec.bytes, RECORD_SLACK);
}

static void on_taken_back(void)
{
	for (struct context *c = record.contexts; c; c = c->next) {
		c->is_stopped = false;
		if (c->before_exec.is_set)
			take_back(c);
	}
}

/* What libc, or a signal, calls after the end is no part of it. */
static void pack_last(struct context *c)
{
	struct buffer *b = leave_buffer(c);

	if (b)
		trace_pack_here(b);
	c->is_over = true;
}

static void on_finish(uint32_t how)
{
	struct buffer *b;

	while ((b = trace_take_queued()))
		trace_pack_here(b);
	while (trace.npacking)
		rt_pause(&trace.npacked, trace.npacked);
	for (struct context *c = record.contexts; c; c = c->next)
		if (c->id && how == CAIRN_HOW_EXEC)
			note_exec(c);
		else if (c->id && is_complete(c, how))
			pack_last(c);
	if (how == CAIRN_HOW_EXEC)
		return;
	record.is_finished = true;
	for (b = trace.free; b; b = b->next)
		out_punch(b->chunk);
	if (how == CAIRN_HOW_UNLOAD)
		trace_stop_writer();
}

/* Did the handler that forks interrupt it while it wrote an event? */
static bool is_cut(const struct context *c)
{
	return c->is_suspended && c->is_writing;
}

static void on_fork_prepare(void)
{
	record.forking = sys_getpid();
	out_count_fork();
	for (struct context *c = record.contexts; c; c = c->next) {
		c->is_forking = is_mine(c);
		if (c->stream.buffer)
			c->stream.buffer->chunk->is_busy = is_cut(c);
		c->at_fork = c->total + (c->bytes ? record_used(c) : 0);
	}
}

/* Of an event that is half written nothing is left: what the context does from
 * here on goes to memory that nobody reads. */
static void end_at_fork(struct context *c, unsigned char *bytes, uint64_t room)
{
	trace_queue(leave_buffer(c));
	c->bytes = bytes;
	c->room = room;
	c->is_over = true;
	out_flag(CAIRN_FILE_TRUNCATED, 1);
}

/*
 * The child goes on in memory, shadow and second stack of its parent, with a
 * log of its own that says where the parent's was.  All buffers are the
 * parent's, and not mapped any more; but where `bytes` are, of a context that
 * is writing there, are zeros.
 */
static void go_on_in_child(struct context *c, struct thread *me,
                           unsigned char *bytes)
{
	const uint64_t room = c->room;
	const uint64_t tick = c == record_self() ? tick_now() : c->tick;
	/* not getppid: the parent may be gone */
	const uint64_t parent[] = {(uint64_t)record.forking, c->id, c->at_fork};

	c->thread = me;
	c->tid = sys_gettid();
	c->total = 0;
	c->last[0] = (struct record_last){0, 0};
	if (!c->is_over && (!me || !turn_page(c)))
		lose_rest(c);
	if (c->is_over) {
		c->bytes = bytes;
		return;
	}
	note_begin(c, tick);
	record_note(c, tick, CAIRN_OTHER_FORK, parent, 3);
	if (bytes)
		end_at_fork(c, bytes, room);
}

static void on_fork(struct thread *me, uintptr_t to)
{
	(void)to;
	trace_forget_buffers();
	out_flag(CAIRN_FILE_RECORDING, 0);
	trace_say_whether_ordered();
	for (struct context *c = record.contexts; c; c = c->next) {
		unsigned char *bytes = is_cut(c) ? c->bytes : NULL;

		c->bytes = NULL;
		c->stream = (struct stream){.buffer = NULL};
		if (c->id && c->is_forking)
			go_on_in_child(c, me, bytes);
		else if (c->id)
			drop(c);
	}
	record.nthreads = 1;
	take_turns(NULL);
	rt_zero(turns.locks, sizeof(turns.locks));
	record_follow();
}

static void on_mark(struct thread *t, unsigned mark, uintptr_t address)
{
	(void)t;
	(void)mark;
	(void)address;
}

static const struct trace_hooks hooks = {
        .fault = on_fault,
        .finish = on_finish,
        .taken_back = on_taken_back,
        .fork = on_fork,
        .mark = on_mark,
        .jump = on_jump,
        .handle = on_handle,
        .stop = on_stop,
        .sync = record_order,
        .fork_prepare = on_fork_prepare,
        .gone = on_gone,
};
