/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process: its modules, its threads, and the slow call that brings a
 * thread and a module together.
 *
 * A shard is the chunk of one (thread, module).  Shards add up, so nobody
 * cares which thread filled one: a new thread takes over, without zeroing, the
 * record of one that no longer exists, and a hundred thousand short threads
 * need as many shards as ever lived at a time.  There is no hook in thread
 * creation or exit: whether a thread exists the kernel knows.
 *
 * A module that is unloaded keeps its record and its chunks; if the same build
 * is loaded again, wherever, it gets them back.
 *
 * Code that runs while the program is loaded counts in a shard of the module,
 * not of a thread, and before there is one in the section of counters, from
 * which counts are brought home.  That shard is never sealed: what libc calls
 * after our end (a program's own memcpy) goes on counting in it.
 *
 * Invariant: the lock is only held with all signals blocked, so no handler can
 * wait for its own thread; what a handler may read without the lock (threads,
 * modules, chunks) is published complete and never freed.
 * Cost: one slow call per (thread, module); a new thread looks at PROBES old
 * ones.
 */
#include "runtime/rt.h"

#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "abi/map.h"
#include "runtime/bindings.h"
#include "runtime/finish.h"
#include "runtime/forest.h"
#include "runtime/frames.h"
#include "runtime/name.h"
#include "runtime/object.h"
#include "runtime/call_pairs.h"
#include "runtime/order.h"
#include "runtime/out.h"
#include "runtime/paths.h"
#include "runtime/sys.h"

#define PROBES 8
#define REFUSED 125 /* exit status */

struct process process;

/* What CAIRN_RT_THREAD points at before the thread has a record. */
static int64_t zeros[RT_MODULES];

#pragma weak core_trace_room /* only in programs that write traces */
#pragma weak core_trace_sync
#pragma weak core_trace_closed
#pragma weak core_record /* only in programs that are recorded */

static const struct core core = {
        .slow = core_slow,
        .load = core_load,
        .unload = core_unload,
        .dying = core_dying,
        .register_at = core_register,
        .count_path = core_count_path,
        .unhooked = core_unhooked,
        .jump = core_jump,
        .trace_room = core_trace_room,
        .trace_sync = core_trace_sync,
        .trace_closed = core_trace_closed,
        .record = core_record,
        .count_call = core_count_call,
        .forest_find = core_forest_find,
        .forest_make = core_forest_make,
        .chain_find = core_chain_find,
        .chain_make = core_chain_make,
};

__thread struct rt_thread __cairn_thread = {.deltas = zeros,
                                            .core = &core,
                                            .forest_starts = (uint64_t *)zeros,
                                            .chain_cache = (uint64_t *)zeros};

extern char **__environ __attribute__((weak));

/* --- the lock ------------------------------------------------------------- */

static void lock(void)
{
	uint32_t free_word = 0;

	if (!__atomic_compare_exchange_n(&process.lock, &free_word, 1, false,
	                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&process.lock, 2, __ATOMIC_ACQUIRE))
			sys_futex_wait(&process.lock, 2, 0);
}

static void unlock(void)
{
	if (__atomic_exchange_n(&process.lock, 0, __ATOMIC_RELEASE) == 2)
		sys_futex_wake(&process.lock);
}

static uintptr_t thread_pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

void rt_enter(uint64_t *mask)
{
	sys_block_signals(mask);
	lock();
	process.lock_owner = thread_pointer();
}

bool rt_is_inside(void)
{
	return process.lock_owner == thread_pointer();
}

void rt_leave(const uint64_t *mask)
{
	out_idle();
	process.lock_owner = 0;
	unlock();
	sys_restore_signals(mask);
}

void rt_pause(const uint32_t *word, uint32_t value)
{
	out_idle();
	process.lock_owner = 0;
	unlock();
	sys_futex_wait(word, value, 1000000);
	lock();
	process.lock_owner = thread_pointer();
}

void rt_enter_running(uint64_t *mask)
{
	for (;;) {
		finish_wait_others();
		rt_enter(mask);
		if (!finish_by_others())
			return;
		rt_leave(mask);
	}
}

/* --- the process ---------------------------------------------------------- */

static const char *find_env(char **env, const char *name)
{
	size_t n = rt_strlen(name);

	for (; env && *env; env++)
		if (rt_same(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static size_t read_command(char *to, size_t size)
{
	size_t n = 0;
	long r;
	int fd = (int)sys3(SYS_open, (long)"/proc/self/cmdline",
	                   O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	while (n < size &&
	       (r = sys3(SYS_read, fd, (long)(to + n), (long)(size - n))) > 0)
		n += (size_t)r;
	sys1(SYS_close, fd);
	while (n && !to[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!to[i])
			to[i] = ' ';
	return n;
}

/* The payload of the program chunk; the command line is cut to what fits. */
static void describe_program(void)
{
	char *to = process.buffers->about;
	size_t n1 = rt_strlen(name_program()) + 1;
	size_t n2 = rt_strlen(name_directory()) + 1;
	size_t room = sizeof(process.buffers->about) - n1 - n2 - 1;

	rt_copy(to, name_program(), n1);
	rt_copy(to + n1, name_directory(), n2);
	process.nabout = n1 + n2 + read_command(to + n1 + n2, room) + 1;
}

static void emit_program(void)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_PROGRAM,
	        .payload = process.nabout,
	};
	struct chunk *c = out_chunk(&spec);

	if (!c)
		return;
	rt_copy(out_payload(c), process.buffers->about, process.nabout);
	out_publish(c);
}

void rt_turn_off(void)
{
	process.is_off = true;
}

_Noreturn void rt_refuse(const char *why, const char *remedy)
{
	const char *const part[] = {"cairn: the program cannot be recorded: ",
	                            why, "; ", remedy, "\n"};
	char line[512];
	size_t n = 0;

	for (unsigned i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		size_t k = rt_strlen(part[i]);

		if (k > sizeof(line) - n)
			k = sizeof(line) - n;
		rt_copy(line + n, part[i], k);
		n += k;
	}
	sys_say(line, n);
	for (;;)
		sys1(SYS_exit_group, REFUSED);
}

/* Opens the output of this process; off if that fails. */
static void open_output(uint32_t flags)
{
	process.pid = sys_getpid();
	if (out_open(flags) < 0)
		rt_turn_off();
	else
		emit_program();
}

void rt_start(char **env)
{
	if (process.is_started)
		return;
	process.is_started = true;
	process.generation = 1;
	if (!env && &__environ)
		env = __environ;
	process.modules = sys_map_zeros(RT_MODULES * sizeof(struct module));
	process.buffers = sys_map_zeros(sizeof(struct buffers));
	if (!process.modules || !process.buffers) {
		rt_turn_off();
		return;
	}
	if (name_init(find_env(env, "CAIRN_OUT")) < 0) {
		rt_turn_off();
		return;
	}
	describe_program();
	open_output(0);
	rt_fork_register();
}

/* --- modules -------------------------------------------------------------- */

/*
 * Is the module where it was?  At exit the dynamic linker runs destructors of
 * objects that have frames on the stack and stay mapped: ask the memory.
 */
static bool is_present(const struct module *m)
{
	const unsigned char *id;
	struct object o;

	if (__atomic_load_n(&m->live, __ATOMIC_ACQUIRE))
		return true;
	if (!m->ehdr || !sys_readable((uintptr_t)m->ehdr) ||
	    !rt_same(m->ehdr, "\177ELF", 4))
		return false;
	object_read(&o, m->ehdr);
	id = out_payload(m->chunk);
	return o.nbuild_id && o.nbuild_id == rt_get32(id) &&
	       sys_readable((uintptr_t)o.build_id) &&
	       rt_same(o.build_id, id + 4, o.nbuild_id);
}

uint32_t rt_module_of(uintptr_t pc)
{
	uint32_t n = __atomic_load_n(&process.nmodules, __ATOMIC_ACQUIRE);

	for (uint32_t i = 1; i <= n; i++) {
		const struct module *m = &process.modules[i];

		if (pc >= m->text && pc < m->text_end && is_present(m))
			return i;
	}
	return 0;
}

static uint64_t ncounters(const struct cairn_module *m)
{
	return (uint64_t)(m->counters_end - m->counters);
}

static int64_t delta_of(const struct chunk *c, const struct cairn_module *m)
{
	return (int64_t)((uintptr_t)out_payload(c) - (uintptr_t)m->counters);
}

/* The payload of a module chunk: size of the build id, build id, path. */
struct identity {
	char *bytes;
	size_t n;
};

static void identify(struct identity *id, const struct cairn_module *m,
                     const struct object *o)
{
	uint32_t n = o->nbuild_id <= 64 ? o->nbuild_id : 0;
	size_t size = sizeof(process.buffers->identity);

	id->bytes = process.buffers->identity;
	rt_copy(id->bytes, &n, 4);
	rt_copy(id->bytes + 4, o->build_id, n);
	id->n = 4 + n;
	id->n += object_path((uintptr_t)m->ehdr, id->bytes + id->n,
	                     size - id->n - 1);
	id->bytes[id->n++] = 0;
}

static struct chunk *emit_module(uint32_t index, const struct out_spec *spec,
                                 const void *payload)
{
	struct chunk *c = out_chunk(spec);

	if (!c)
		return NULL;
	rt_copy(out_payload(c), payload, spec->payload);
	out_publish(c);
	process.modules[index].chunk = c;
	return c;
}

/*
 * The record of the same build, unloaded before; 0 if there is none.  A path
 * register may be an address, and a trace has addresses, which the reader can
 * tell only if all of a record's have one load bias.
 */
static uint32_t find_unloaded(const struct cairn_module *m, uint64_t bias,
                              const struct identity *id)
{
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		const struct module *old = &process.modules[i];

		if (!old->live && old->chunk &&
		    rt_get64(old->chunk->mem + CAIRN_CHK_N) == ncounters(m) &&
		    ((m->regs == m->regs_end && ncounters(m) &&
		      !*m->is_recording) ||
		     rt_get64(old->chunk->mem + CAIRN_CHK_AUX1) == bias) &&
		    rt_same(out_payload(old->chunk), id->bytes, id->n))
			return i;
	}
	return 0;
}

/* Returns the index, 0 if there is no room or no memory. */
static uint32_t new_module(const struct cairn_module *m, const struct object *o,
                           const struct identity *id)
{
	uint32_t index = process.nmodules + 1;
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_MODULE,
	        .module = index,
	        .n = ncounters(m),
	        .aux0 = ncounters(m) ? (uintptr_t)m->counters - o->bias : 0,
	        .aux1 = o->bias,
	        .payload = id->n,
	};

	if (index >= RT_MODULES) {
		out_say("too many modules: ",
		        id->bytes + 4 + rt_get32(id->bytes), ENOMEM,
		        "this one is not counted");
		return 0;
	}
	return emit_module(index, &spec, id->bytes) ? index : 0;
}

/* A module that was here before has another address now. */
static void forget_deltas(uint32_t index)
{
	for (struct thread *t = process.threads; t; t = t->next)
		t->delta[index] = 0;
}

const unsigned char *rt_ehdr(struct cairn_module *m)
{
	if (!m->ehdr)
		m->ehdr = object_around((uintptr_t)m);
	return m->ehdr;
}

/* What was counted in the section goes to the common shard, or nowhere. */
static void take_from_section(const struct cairn_module *m,
                              const struct chunk *to)
{
	uint64_t *count = to ? (uint64_t *)out_payload(to) : NULL;
	uint64_t n = ncounters(m);

	for (uint64_t i = 0; i < n; i++) {
		if (!__atomic_load_n(&m->counters[i], __ATOMIC_RELAXED))
			continue;
		uint64_t by = __atomic_exchange_n(&m->counters[i], 0,
		                                  __ATOMIC_RELAXED);
		if (to)
			__atomic_fetch_add(&count[i], by, __ATOMIC_RELAXED);
	}
}

static struct chunk *new_common(const struct cairn_module *m)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_COUNTS,
	        .module = m->index,
	        .n = ncounters(m),
	        .payload = ncounters(m) * sizeof(uint64_t),
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = out_chunk(&spec);

	if (!c)
		return NULL;
	c->is_loose = true;
	out_publish(c);
	return c;
}

/* The shard of all threads, for modules with code that counts there, or did. */
static void share_counts(struct cairn_module *m)
{
	struct module *record = &process.modules[m->index];
	int64_t *word = m->common_word();

	if (!word && !m->was_early)
		return;
	if (!record->common)
		record->common = new_common(m);
	if (!record->common)
		return;
	if (word)
		__atomic_store_n(word, delta_of(record->common, m),
		                 __ATOMIC_RELEASE);
	take_from_section(m, record->common);
}

void rt_harvest(void)
{
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		const struct module *record = &process.modules[i];

		if (record->live && record->common)
			take_from_section(record->live, record->common);
	}
}

/* Does a MODULE chunk have counters between these addresses? */
static bool says_to_be(const unsigned char *c, uint64_t first, uint64_t end)
{
	uint64_t its =
	        rt_get64(c + CAIRN_CHK_AUX0) + rt_get64(c + CAIRN_CHK_AUX1);

	return its < end && first < its + 8 * rt_get64(c + CAIRN_CHK_N);
}

/*
 * Forests have addresses of counters, which a reader takes for those of the
 * first module that says to be there.  Is that somebody else, unloaded before,
 * or the same build where it was the last time?
 */
static void check_addresses(const struct cairn_module *m, uint32_t index,
                            uint64_t bias)
{
	uint64_t first = (uintptr_t)m->counters;
	uint64_t end = first + 8 * ncounters(m);

	for (uint32_t i = 1; i <= process.nmodules || i == index; i++) {
		const struct chunk *c = process.modules[i].chunk;

		if (c && first < end &&
		    (i == index ? rt_get64(c->mem + CAIRN_CHK_AUX1) != bias
		                : says_to_be(c->mem, first, end))) {
			forest_refuse(first, end);
			return;
		}
	}
}

static void register_module(struct cairn_module *m)
{
	struct object o;
	struct identity id;
	struct module *record;
	uint32_t index;

	object_read(&o, rt_ehdr(m));
	identify(&id, m, &o);
	index = find_unloaded(m, o.bias, &id);
	if (index)
		forget_deltas(index);
	else
		index = new_module(m, &o, &id);
	if (!index) {
		m->is_off = true;
		return;
	}
	check_addresses(m, index, o.bias);
	record = &process.modules[index];
	record->ehdr = m->ehdr;
	record->bias = o.bias;
	record->text = o.text;
	record->text_end = o.text_end;
	record->eh_frame_hdr = o.eh_frame_hdr;
	record->regs = m->regs;
	record->nregs = (uint32_t)((m->regs_end - m->regs) / CAIRN_REG_ENTRY);
	if (record->nregs)
		process.has_registers = true;
	if (ncounters(m) && !*m->is_recording)
		process.has_counters = true;
	*m->turns = process.turns;
	__atomic_store_n(&record->live, m, __ATOMIC_RELEASE);
	if (index > process.nmodules)
		__atomic_store_n(&process.nmodules, index, __ATOMIC_RELEASE);
	m->index = index;
	*m->offset = (int64_t)(index * sizeof(int64_t));
	share_counts(m);
}

void rt_ensure_module(struct cairn_module *m)
{
	rt_start(NULL);
	if (m->version != RT_VERSION || !rt_ehdr(m))
		m->is_off = true;
	if (!process.is_off && !m->is_off && !m->index)
		register_module(m);
}

void core_load(struct cairn_module *m)
{
	uint64_t mask;

	rt_enter(&mask);
	rt_ensure_module(m);
	rt_leave(&mask);
}

void core_unload(struct cairn_module *m)
{
	uint64_t mask;

	if (m == &cairn_module && process.is_started && !process.is_off)
		finish_core((uintptr_t)__builtin_return_address(0));
	/* when the process exits its threads may still run in this module:
	 * their deltas stay */
	rt_enter(&mask);
	if (m->index) {
		rt_harvest();
		bindings_write(m->index);
		__atomic_store_n(&process.modules[m->index].live, NULL,
		                 __ATOMIC_RELEASE);
		__atomic_fetch_add(&process.generation, 1, __ATOMIC_RELEASE);
	}
	rt_leave(&mask);
}

void core_unhooked(void)
{
	if (!process.is_executable)
		out_flag(CAIRN_FILE_FRAMES_LOST, 0);
}

/* --- threads -------------------------------------------------------------- */

struct thread *rt_self(void)
{
	void *t = __cairn_thread.deltas;

	return t == zeros ? NULL : t;
}

static bool thread_exists(int tid)
{
	return sys3(SYS_tgkill, process.pid, tid, 0) != -ESRCH;
}

/* A record whose thread is gone, NULL if the few we look at all live. */
static struct thread *find_abandoned(int tid)
{
	struct thread *t = process.next_victim;

	for (int i = 0; i < PROBES; i++) {
		if (!t)
			t = process.threads;
		if (!t)
			return NULL;
		/* our own number, but not our record: its owner is gone */
		if (!t->tid || t->tid == tid || !thread_exists(t->tid)) {
			process.next_victim = t->next;
			return t;
		}
		t = t->next;
	}
	process.next_victim = t;
	return NULL;
}

static struct thread *new_thread(void)
{
	size_t size = (sizeof(struct thread) + RT_PAGE - 1) & ~(RT_PAGE - 1);
	struct thread *t = sys_map_zeros(size + RT_ALTSTACK);

	if (!t)
		return NULL;
	t->serial = ++process.nthreads;
	t->next = process.threads;
	__atomic_store_n(&process.threads, t, __ATOMIC_RELEASE);
	return t;
}

/* A fatal signal wants a stack to stand on; a stack the program set stays. */
static void give_altstack(struct thread *t)
{
	size_t size = (sizeof(struct thread) + RT_PAGE - 1) & ~(RT_PAGE - 1);
	stack_t now, ours = {.ss_sp = (char *)t + size, .ss_size = RT_ALTSTACK};

	if (!process.is_executable)
		return;
	if (sys3(SYS_sigaltstack, 0, (long)&now, 0) == 0 &&
	    now.ss_flags == SS_DISABLE)
		sys3(SYS_sigaltstack, (long)&ours, 0, 0);
}

struct thread *rt_self_locked(void)
{
	struct thread *t = rt_self();
	int tid;

	if (t || process.is_off)
		return t;
	tid = sys_gettid();
	t = find_abandoned(tid);
	if (!t)
		t = new_thread();
	if (!t || !frames_ensure(t))
		return NULL;
	t->tid = tid;
	t->begins = true;
	t->park = RT_PARK_NONE;
	t->is_walked = false;
	t->walked_to = t->stack_lo = t->stack_hi = 0;
	give_altstack(t);
	__cairn_thread.deltas = t->delta;
	return t;
}

void rt_reset_deltas(struct thread *t)
{
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		struct cairn_module *m = process.modules[i].live;

		if (!m)
			continue;
		t->delta[i] = 0;
		m->set_delta(0);
	}
}

void rt_restore_deltas(struct thread *t)
{
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		struct cairn_module *m = process.modules[i].live;

		if (!m || !t->counts[i])
			continue;
		t->delta[i] = delta_of(t->counts[i], m);
		m->set_delta(t->delta[i]);
	}
}

/* --- the slow call -------------------------------------------------------- */

/* Memory that nobody will read; 0, the counters' own section, if none. */
static int64_t scratch_delta(struct cairn_module *m)
{
	size_t size = (size_t)ncounters(m) * sizeof(uint64_t);
	void *p;

	if (!m->scratch) {
		p = sys_map_zeros(size ? size : 1);
		if (p)
			m->scratch = (int64_t)((uintptr_t)p -
			                       (uintptr_t)m->counters);
	}
	if (m->scratch)
		m->set_delta(m->scratch);
	return m->scratch;
}

/* The shard of this thread and module; NULL if there is no memory. */
static struct chunk *ensure_counts(struct thread *t,
                                   const struct cairn_module *m)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_COUNTS,
	        .id = t->serial,
	        .module = m->index,
	        .n = ncounters(m),
	        .payload = ncounters(m) * sizeof(uint64_t),
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = t->counts[m->index];

	if (c)
		return c;
	c = out_chunk(&spec);
	if (!c)
		return NULL;
	out_publish(c);
	t->counts[m->index] = c;
	return c;
}

/* What the thread counts from here on goes to another's shard, or nowhere. */
static void give_up_segment(void)
{
	out_flag(CAIRN_FILE_TRUNCATED, 1);
	out_say("cannot count in ", "%gs", EPERM,
	        "counts are lost: compile with --cairn=edges,nogs");
	rt_turn_off();
}

/* Requires: lock held. */
static int64_t slow_locked(struct cairn_module *m)
{
	struct thread *t;
	struct chunk *c;
	int64_t delta;

	rt_ensure_module(m);
	t = process.is_off || m->is_off ? NULL : rt_self_locked();
	c = t ? ensure_counts(t, m) : NULL;
	if (!c && !process.is_off && !m->is_off)
		out_lose();
	if (!c)
		return scratch_delta(m);
	if (process.is_sealed)
		out_unseal();
	delta = delta_of(c, m);
	t->delta[m->index] = delta;
	if (!m->set_delta(delta))
		give_up_segment();
	return delta;
}

/*
 * Does the dynamic linker still work on an executable?  Then we were called by
 * what a resolver of an ifunc called, in another file than that, and may not
 * start: there is no environment yet.
 */
static bool is_too_early(const struct cairn_module *m)
{
	return !process.is_started && m == &cairn_module && *m->is_executable &&
	       (!&__environ || !__environ);
}

int64_t core_slow(struct cairn_module *m)
{
	uint64_t mask;
	int64_t delta;

	if (is_too_early(m)) {
		m->was_early = true;
		return 0;
	}
	if (process.is_recording)
		rt_refuse("a part of it was compiled with another --cairn",
		          "compile all with --cairn=record");
	rt_enter_running(&mask);
	delta = slow_locked(m);
	rt_leave(&mask);
	return delta;
}

/* --- fork ----------------------------------------------------------------- */

/*
 * The child counts in a file of its own.  The memory of its one thread keeps
 * its addresses, since code on its stack holds deltas in registers; the
 * parent's mapping is taken away from under them.  All frames on that stack
 * begin in the middle, as far as the child's file is concerned.
 */
static uint64_t fork_mask;

int __register_atfork(void (*prepare)(void), void (*parent)(void),
                      void (*child)(void), void *dso);
extern void *__dso_handle __attribute__((visibility("hidden")));

void rt_fork_register(void)
{
	__register_atfork(rt_fork_prepare, rt_fork_parent, rt_fork_child,
	                  &__dso_handle);
}

void rt_fork_prepare(void)
{
	uint64_t mask;

	rt_enter(&mask);
	fork_mask = mask;
	if (process.is_recording)
		process.trace->fork_prepare();
}

void rt_fork_parent(void)
{
	uint64_t mask = fork_mask;

	rt_leave(&mask);
}

static void copy_module_chunk(uint32_t index)
{
	const struct chunk *old = process.modules[index].chunk;
	const unsigned char *h;
	struct out_spec spec;

	if (!old)
		return;
	h = old->mem;
	spec = (struct out_spec){
	        .type = CAIRN_CHUNK_MODULE,
	        .module = index,
	        .n = rt_get64(h + CAIRN_CHK_N),
	        .aux0 = rt_get64(h + CAIRN_CHK_AUX0),
	        .aux1 = rt_get64(h + CAIRN_CHK_AUX1),
	        .payload = old->size - CAIRN_CHUNK_HEADER_SIZE,
	};
	emit_module(index, &spec, out_payload(old));
}

/* Gives up the shards of a thread that only the parent has. */
static void forget_thread(struct thread *t)
{
	t->tid = 0;
	t->frames[0] = t->frames[1] = NULL;
	t->park = RT_PARK_NONE;
	for (uint32_t i = 0; i <= process.nmodules; i++) {
		t->delta[i] = 0;
		t->counts[i] = t->paths[i] = NULL;
	}
}

/* Shards of the child's thread, and those of no thread. */
static bool goes_on(const struct chunk *c, const struct thread *self)
{
	uint32_t type = rt_get32(c->mem + CAIRN_CHK_TYPE);
	uint32_t serial = type == CAIRN_CHUNK_STREAM
	                          ? c->owner
	                          : rt_get32(c->mem + CAIRN_CHK_ID);

	if (type == CAIRN_CHUNK_COUNTS && !serial)
		return true;
	return self && serial == self->serial;
}

/* What the parent's threads had in the section the parent has, too. */
static void clear_sections(void)
{
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		const struct module *record = &process.modules[i];

		if (record->live && record->common)
			take_from_section(record->live, NULL);
	}
}

static bool is_paths(const struct chunk *c)
{
	return rt_get32(c->mem + CAIRN_CHK_TYPE) == CAIRN_CHUNK_PATHS;
}

/* Whoever was at work there goes on with zeros. */
static void leave_to_parent(struct chunk *c)
{
	out_abandon(c);
	c->next = process.free_chunks;
	process.free_chunks = c;
}

/*
 * Tables of paths.  Code that a handler interrupted may be looking for a slot
 * right now: if the handler forks, the child keeps all tables, with counts of
 * zero.  Else it makes new ones as it needs them.
 */
static void move_paths(struct chunk *c, bool keeps)
{
	if (keeps)
		paths_renew(c);
	else
		leave_to_parent(c);
}

/* `old` are the parent's chunks, still readable. */
static void move_to_new_file(struct chunk *old, struct thread *self,
                             bool keeps_paths)
{
	struct chunk *next;

	for (uint32_t i = 1; i <= process.nmodules; i++)
		copy_module_chunk(i);
	for (struct chunk *c = old; c; c = next) {
		next = c->next;
		if (order_is_part(c) || call_pairs_is_table(c) ||
		    forest_is_part(c) || c->is_busy)
			leave_to_parent(c);
		else if (!goes_on(c, self))
			out_drop(c);
		else if (is_paths(c))
			move_paths(c, keeps_paths);
		else
			out_renew(c);
	}
	if (keeps_paths)
		paths_adopt(self, process.chunks);
	for (uint32_t i = 1; self && !keeps_paths && i <= process.nmodules; i++)
		self->paths[i] = NULL;
	for (struct thread *t = process.threads; t; t = t->next)
		if (t != self)
			forget_thread(t);
	clear_sections();
	call_pairs_fork();
	forest_fork((uint64_t *)zeros);
}

/* No file for the child: its counts go where nobody reads them. */
static void abandon_chunks(struct chunk *old, struct thread *self)
{
	for (struct chunk *c = old; c; c = c->next)
		if (is_paths(c) && goes_on(c, self))
			paths_hold(c);
		else
			out_abandon(c);
	if (self)
		paths_adopt(self, old);
}

static void start_child(struct thread *self, uintptr_t to)
{
	struct chunk *old = process.chunks;
	bool keeps_paths;

	process.finishing = 0;
	process.is_sealed = process.is_added = false;
	process.chunks = process.last_chunk = NULL;
	process.generation++; /* slots of the frames tables are remembered */
	if (self) {
		self->tid = sys_gettid();
		self->park = RT_PARK_NONE;
		self->is_walked = false;
		self->walked_to = 0;
	}
	out_forget();
	open_output(CAIRN_FILE_FORKED);
	if (process.is_off) {
		abandon_chunks(old, self);
		return;
	}
	keeps_paths =
	        self && paths_any(self) && finish_was_interrupted(self, to);
	order_fork(keeps_paths);
	move_to_new_file(old, self, keeps_paths);
	if (self && !process.is_recording)
		finish_inherited(self, to);
	if (process.trace)
		process.trace->fork(self, to);
}

void rt_start_again(void)
{
	struct chunk *old = process.chunks;
	struct thread *self = rt_self();
	bool keeps_paths = self && paths_any(self);

	process.is_sealed = false;
	process.chunks = process.last_chunk = NULL;
	process.generation++;
	out_forget();
	open_output(0);
	process.is_added = false;
	if (process.is_off) {
		abandon_chunks(old, self);
		return;
	}
	order_fork(keeps_paths);
	move_to_new_file(old, self, keeps_paths);
}

void rt_fork_child(void)
{
	uint64_t mask = fork_mask;

	process.lock = 1; /* nobody waits in a process that has one thread */
	if (!process.is_off)
		start_child(rt_self(), (uintptr_t)__builtin_return_address(0));
	rt_leave(&mask);
}
