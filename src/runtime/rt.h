/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_RT_H
#define CAIRN_RUNTIME_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/file.h"
#include "abi/rt.h"

/*
 * What the parts of the runtime share.
 *
 * A process has one core: the copy of core.c, out.c, frames.c, paths.c,
 * unwind.c and finish.c that its modules agree on, the executable's if it has
 * one.  A module (executable or shared object) has a struct cairn_module, in
 * module.c, and reaches the core only through the functions of struct core,
 * which it finds behind CAIRN_RT_THREAD, the one name that the dynamic linker
 * binds (calls.S).  All else is hidden.
 */
#define RT_PAGE ((size_t)4096)
#define RT_VERSION 8u

/* Index 0 selects a delta that is always 0; a frame key has 12 bits. */
#define RT_MODULES CAIRN_RT_MAX_MODULES

/* A chunk of the output, wherever its memory is. */
struct chunk {
	struct chunk *next;    /* all chunks, oldest first */
	struct chunk *sibling; /* frames of one thread, newest first */
	unsigned char *mem;    /* header, then payload */
	uint64_t size;         /* whole pages */
	uint64_t used;         /* of the payload: paths.c */
	uint64_t offset;       /* in the file; 0: has no place in it yet */
	bool is_mapped;        /* mem is the file; else private memory */
	bool is_published;
	bool is_loose; /* its thread still runs: do not seal */
	bool is_busy;  /* a child of fork needs its memory, not what is there */
	/* of a STREAM: serial of its thread, 0: free.  Its header says so, too,
	 * but that is the file's: the parent of a fork goes on changing it. */
	uint32_t owner;
};

/* One module: storage in module.c of each, so its layout is an ABI. */
struct cairn_module {
	uint32_t version; /* RT_VERSION */
	uint32_t index;   /* 0: not registered */
	uint64_t *counters, *counters_end;
	const unsigned char *ehdr; /* NULL: the core has to look for it */
	int64_t *offset;           /* its CAIRN_RT_MODULE_OFFSET */
	/* Its CAIRN_RT_DELTA, if it has one; false if that cannot be done. */
	bool (*set_delta)(int64_t d);
	const unsigned char *regs, *regs_end; /* CAIRN_REGISTERS_SECTION */
	int64_t *(*common_word)(void);        /* its CAIRN_RT_COMMON, or NULL */
	const char *is_executable;
	const char *is_recording;
	struct record_turns **turns; /* its CAIRN_RT_RECORD_TURNS */
	int64_t scratch;             /* delta when not counting, 0: none yet */
	bool is_off;
	bool was_early; /* counted in the section before we could start */
};

/* The module that this copy of the runtime is part of. */
extern struct cairn_module cairn_module __attribute__((visibility("hidden")));

/* The core's view of a module; outlives it. */
struct module {
	struct cairn_module *live; /* NULL after its destructors */
	const unsigned char *ehdr;
	uintptr_t bias, text, text_end;
	const unsigned char *eh_frame_hdr;
	const unsigned char *regs; /* its entries: registers.c */
	uint32_t nregs;
	uint32_t *regs_index; /* NULL: not made yet */
	struct chunk *chunk;
	struct chunk *common; /* the shard of all threads, or NULL */
	bool is_reserved;     /* nobody else gets its addresses: trace.c */
};

/*
 * What a thread knows about one pc: how to step out of the frame (unwind.c),
 * and where that frame's death is counted.
 */
struct unwind_rule {
	uint64_t key;
	uint64_t *slot; /* of the frames table; NULL: not known yet */
	uint64_t path;  /* 1 + path register that slot is for, 0: for none */
	uint32_t generation;
	int32_t cfa_offset;
	uint32_t reg_at;  /* where the path register is, 0: none */
	int16_t saved[6]; /* words from the CFA, 0: not saved */
	uint16_t module;
	uint8_t cfa_reg;
};

#define RT_RULES 1024
#define RT_RULE_WAYS 4
#define RT_ALTSTACK ((size_t)65536)
#define RT_VFORKS 8

/* Where a thread is between asked to stop and stopped: finish.c. */
enum rt_park {
	RT_PARK_NONE = 0,
	RT_PARK_ASKED,
	RT_PARK_WALKING,
	RT_PARK_DONE,
	RT_PARK_LATE, /* did not answer in time: must not record any more */
};

/*
 * One thread, or several one after the other: a new thread takes over the
 * record of one that no longer exists.  CAIRN_RT_THREAD points at delta[].
 */
struct thread {
	int64_t delta[RT_MODULES];
	struct chunk *counts[RT_MODULES];
	struct chunk *paths[RT_MODULES]; /* newest arena: paths.c */
	struct unwind_rule rules[RT_RULES + RT_RULE_WAYS - 1];
	struct thread *next;
	struct chunk *frames[2]; /* without path registers, with: frames.c */
	uint32_t serial;
	int tid;
	uint32_t park;
	bool is_walked;      /* its frames are recorded as dead */
	const void *resumes; /* exception whose next frame was counted */
	uintptr_t walked_to; /* CFA of the youngest recorded frame, 0: none */
	uintptr_t stack_lo, stack_hi; /* known to be readable */
	uint32_t rules_busy, nrules_kept;
	struct stream *stream; /* trace.c */
	bool begins;           /* it has not marked that in its stream yet */
	struct forest *forest; /* forest.c; NULL: it has none yet */
};

/*
 * Buffers that are too big for the stacks we run on and for everybody's .bss:
 * one mapping, made at the start.  Threads: under the lock only.
 */
struct buffers {
	char path[8192];              /* out.c: of the output file */
	char draft[8192];             /* out.c: of a file without its name */
	char sum[8192];               /* add.c: of the sum */
	char line[9216];              /* out.c: what we say */
	char maps[8192];              /* object.c */
	char pattern[4096];           /* name.c */
	char directory[4096];         /* name.c */
	char folder[4096];            /* name.c */
	char program[4096];           /* name.c */
	char identity[4 + 64 + 4096]; /* core.c: payload of a module chunk */
	char about[16384];            /* core.c: payload of the program chunk */
};

struct forest;
struct trace_hooks;
struct unwind;

/* The process. */
struct process {
	uint32_t lock;        /* 0 free, 1 held, 2 held and waited for */
	uintptr_t lock_owner; /* thread pointer */
	int pid;
	bool is_started, is_off, has_said, is_executable, is_sealed;
	bool is_static;
	bool is_added;      /* what was sealed is part of a sum: add.c */
	bool has_registers; /* some module has path registers */
	bool has_counters;  /* some module counts, and is not only traced */
	bool has_handlers;  /* the program handles signals, or did */
	bool is_recording;  /* nothing is counted: record.c */
	uint32_t finishing; /* tid that finishes the process, 0: nobody */
	uint32_t nthreads;
	struct thread *threads, *next_victim;
	struct chunk *chunks, *last_chunk, *free_chunks;
	struct module *modules; /* RT_MODULES of them */
	uint32_t nmodules;      /* greatest index in use */
	uint32_t generation;    /* bumped when code goes away */
	const unsigned char *vdso;
	struct buffers *buffers;
	size_t nabout;
	unsigned char *header; /* the file's header page, or what will be it */
	const struct trace_hooks *trace; /* NULL: there is none */
	struct record_turns *turns;      /* NULL: no two threads are recorded */
};

extern struct process process;

/* What a caller leaves for its callee, and that for its caller: the first words
 * of calls[], and chain[]. */
#define RT_CALL_WORDS 6
#define RT_CHAIN_WORDS 2

/* CAIRN_RT_THREAD. */
struct rt_thread {
	void *deltas; /* that of each module, before a struct thread */
	const struct core *core;
	uintptr_t trace_at, trace_limit; /* abi/trace.h */
	uint64_t trace_clock;            /* trace.c: when it last looked */
	unsigned char *trace_head;       /* abi/trace.h */
	uint64_t calls[8];               /* abi/rt.h: CAIRN_CALLS_TARGET ... */
	uint64_t *forest_starts;         /* abi/rt.h: CAIRN_FOREST_STARTS */
	struct forest *forest;           /* forest.c */
	uint64_t chain[RT_CHAIN_WORDS];  /* abi/rt.h: CAIRN_CHAIN_TARGET ... */
	uint64_t *chain_cache;
	uint64_t chain_mask;
};
extern __thread struct rt_thread __cairn_thread
        __attribute__((visibility("default"), tls_model("initial-exec")));

/*
 * --- what modules call: core.c, frames.c, paths.c, walk.c ------------------
 *
 * __cairn_core_X calls X of the core that the process uses.
 */
struct core {
	/* Returns the delta of this thread and module, makes what is missing.
	 * Threads: any, in signal handlers too. */
	int64_t (*slow)(struct cairn_module *m);
	/* A module was loaded, is about to go. */
	void (*load)(struct cairn_module *m);
	void (*unload)(struct cairn_module *m);
	/*
	 * An unwinder took away a frame of the calling thread that was at pc,
	 * in a call or between calls, for this exception; or, if `lands`, it
	 * entered a cleanup of the frame.  At the end of the cleanup the frame
	 * resumes the exception, which has the unwinder look at the frame once
	 * more: that is no second death, since the way out of the cleanup is an
	 * edge like a return.  `reg` is 1 + the frame's path register, 0 if it
	 * has none.
	 */
	void (*dying)(uintptr_t pc, bool between, const void *exception,
	              bool lands, uint64_t reg);
	/* Where a frame that is in the call which returns to pc has its path
	 * register (abi/map.h), 0 if it has none. */
	uint32_t (*register_at)(uintptr_t pc);
	/*
	 * Counts path r of the function with these words, which are in the
	 * shard of the calling thread; r is 0 if that was done, and its table
	 * is to be looked after.  Threads: any, in signal handlers too.
	 */
	void (*count_path)(struct cairn_module *m, uint64_t *words, uint64_t r);
	/*
	 * A shared object is about to make a call that an executable's hooks
	 * look into.  Without such an executable frames may be lost, and the
	 * file says so.  Threads: any, in signal handlers too.
	 */
	void (*unhooked)(void);
	/* __builtin_longjmp, in whose place the plugin puts it (walk.c). */
	void (*jump)(void *env);
	/* Room in the stream of the calling thread (abi/trace.h), for which
	 * there was none at `at`; NULL in a process whose core has no traces.
	 * Threads: any, in signal handlers too. */
	uintptr_t (*trace_room)(struct cairn_module *m, uintptr_t at);
	/* The calling thread has waited for another; NULL as trace_room.
	 * Threads: any, in signal handlers too. */
	void (*trace_sync)(void);
	/* A module may have been unloaded; NULL as trace_room. */
	void (*trace_closed)(void);
	/* Makes what a recording lacks: the number of the module, a context of
	 * the calling thread, room in its log.  NULL in a process whose core
	 * has no recordings.  Threads: any. */
	bool (*record)(struct cairn_module *m);
	/* Counts a pair of paths across a call, which is not in the table of
	 * the calling thread.  Threads: any, in signal handlers too. */
	void (*count_call)(uint64_t site, uint64_t callee, uint64_t paths);
	/* A step in the forest of the calling thread (forest.c).  The first one
	 * changes no vector register; it returns FOREST_ABSENT if the second
	 * one has to do it.  Threads: any, in signal handlers too. */
	uint64_t (*forest_find)(uint64_t state, uint64_t owner, uint64_t id,
	                        uint64_t how);
	uint64_t (*forest_make)(uint64_t state, uint64_t owner, uint64_t id,
	                        uint64_t how);
	/* An element of a call chain: a path, or a call. */
	uint64_t (*chain_find)(uint64_t state, uint64_t owner, uint64_t id,
	                       uint64_t how);
	uint64_t (*chain_make)(uint64_t state, uint64_t owner, uint64_t id,
	                       uint64_t how);
};

/* What traces and recordings want to be told: trace.c or record.c, which only
 * programs that write one have. */
struct trace_hooks {
	/* The file is about to be sealed, and why: enum cairn_file_how.
	 * Requires: lock held. */
	void (*finish)(uint32_t how);
	/* The process goes on after all: exec has failed.  May be NULL.
	 * Requires: lock held; other threads are still stopped. */
	void (*taken_back)(void);
	/* We are the child of a fork, which returns to `to`; `self` may be
	 * NULL.  Requires: lock held. */
	void (*fork)(struct thread *self, uintptr_t to);
	/* The calling thread is stopped by the end of the process; of
	 * recordings also: it ends.  Requires: signals are blocked. */
	void (*stop)(const struct thread *t);
	/* A mark with an address, of the calling thread. */
	void (*mark)(struct thread *t, unsigned mark, uintptr_t address);
	/* The calling thread jumps from *u, NULL in a recording, to (sp, pc).
	 */
	void (*jump)(struct thread *t, const struct unwind *u, uintptr_t sp,
	             uintptr_t pc);
	/* The same at an exec in a child of vfork, which may fail; then
	 * jump_back: all frames from *u to that of sp are still there. */
	void (*jump_for_now)(struct thread *t, const struct unwind *u,
	                     uintptr_t sp, uintptr_t pc);
	void (*jump_back)(struct thread *t, const struct unwind *u,
	                  uintptr_t sp);
	/* Of recordings only: the calling thread has waited for another; it is
	 * about to fork, with the lock held. */
	void (*sync)(void);
	void (*fork_prepare)(void);
	/* A signal ends the process; it does so at once if that is our fault.
	 */
	void (*fault)(int sig, const void *info, const void *context);
	/* Calls the program's handler of a signal. */
	void (*handle)(uintptr_t handler, int sig, void *info, void *context);
	/* The calling thread has unmapped n bytes at p, or made them zeros. */
	void (*gone)(uintptr_t p, size_t n);
};

int64_t __cairn_core_slow(struct cairn_module *m);
void __cairn_core_load(struct cairn_module *m);
void __cairn_core_unload(struct cairn_module *m);
void __cairn_core_dying(uintptr_t pc, bool between, const void *exception,
                        bool lands, uint64_t reg);
uint32_t __cairn_core_register(uintptr_t pc);
void __cairn_core_count_path(struct cairn_module *m, uint64_t *words,
                             uint64_t r);
void __cairn_core_unhooked(void);

/* Those of this core. */
int64_t core_slow(struct cairn_module *m);
void core_load(struct cairn_module *m);
void core_unload(struct cairn_module *m);
void core_unhooked(void);
void core_dying(uintptr_t pc, bool between, const void *exception, bool lands,
                uint64_t reg);
uint32_t core_register(uintptr_t pc);
void core_count_path(struct cairn_module *m, uint64_t *words, uint64_t r);
void __cairn_core_count_call(uint64_t site, uint64_t callee, uint64_t paths);
void core_count_call(uint64_t site, uint64_t callee, uint64_t paths);
uint64_t core_forest_find(uint64_t state, uint64_t owner, uint64_t id,
                          uint64_t how);
uint64_t core_forest_make(uint64_t state, uint64_t owner, uint64_t id,
                          uint64_t how);
uint64_t core_chain_find(uint64_t state, uint64_t owner, uint64_t id,
                         uint64_t how);
uint64_t core_chain_make(uint64_t state, uint64_t owner, uint64_t id,
                         uint64_t how);
void core_jump(void *env);
uintptr_t core_trace_room(struct cairn_module *m, uintptr_t at);
void __cairn_core_trace_sync(void);
void core_trace_sync(void);
void __cairn_core_trace_closed(void);
void core_trace_closed(void);
bool core_record(struct cairn_module *m);

/* --- core.c --------------------------------------------------------------- */

/* Blocks all signals, then takes the lock. */
void rt_enter(uint64_t *mask);
void rt_leave(const uint64_t *mask);
/* The same as rt_enter, when nobody else ends the process. */
void rt_enter_running(uint64_t *mask);

/* Lets go of the lock for a while, signals still blocked, until the word is no
 * longer `value`, or for a millisecond. */
void rt_pause(const uint32_t *word, uint32_t value);

/* Makes the module known.  Requires: lock held. */
void rt_ensure_module(struct cairn_module *m);

/* The ELF header of a module. */
const unsigned char *rt_ehdr(struct cairn_module *m);

/* Starts the process record; `env` may be NULL.  Requires: lock held. */
void rt_start(char **env);

/* The record of the calling thread, NULL if it has none. */
struct thread *rt_self(void);
/* The same, made if need be; NULL if we are off.  Requires: lock held. */
struct thread *rt_self_locked(void);

/*
 * Makes the calling thread take the slow call again.  Only functions that
 * others than instrumented ones call look: code that runs already goes on
 * without, and what it calls too.
 */
void rt_reset_deltas(struct thread *t);
/* Takes that back, before such code goes on.  Requires: lock held. */
void rt_restore_deltas(struct thread *t);

/* Brings home what was counted in the sections of counters themselves.
 * Requires: lock held. */
void rt_harvest(void);

/* Stops counting for good.  Requires: lock held. */
void rt_turn_off(void);
/*
 * The file of this process is part of a sum and gone, and the program counts
 * after all: the same chunks, of zeros, in a new file of no run.
 *
 * Requires: lock held; no other thread counts.
 */
void rt_start_again(void);

/* Ends the process: it cannot be recorded, for this reason. */
_Noreturn void rt_refuse(const char *why, const char *remedy);

/* The module whose text contains pc, 0 if none.  Lock-free. */
uint32_t rt_module_of(uintptr_t pc);

/* Does the calling thread hold the lock?  Only a fault can ask so. */
bool rt_is_inside(void);

/* The handlers of fork. */
void rt_fork_prepare(void);
void rt_fork_parent(void);
void rt_fork_child(void);
void rt_fork_register(void);

#endif /* CAIRN_RUNTIME_RT_H */
