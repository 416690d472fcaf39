/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ABI_RT_H
#define CAIRN_ABI_RT_H

/*
 * Names that generated code and the runtime share.
 *
 * Counters are symbols in a NOBITS section, CAIRN_COUNTERS_SECTION, that is
 * only a layout: the memory a thread counts in is symbol + delta, where delta
 * belongs to the pair (thread, module).  A thread that has no shard for this
 * module yet makes the slow call, which makes one and returns its delta.
 *
 * In an executable (compiled as PIE or not PIC at all) the delta is the base
 * of %gs, and also the hidden thread-local word DELTA, local-exec: %gs is
 * inherited by new threads, the word is not.
 *
 * In code that may end up in a shared object it is
 *     *(int64_t *)((char *)THREAD + MODULE_OFFSET)
 * where THREAD is a thread-local pointer, initial-exec, default visibility,
 * shared by all modules of the process and never NULL (it starts out pointing
 * at zeros), and MODULE_OFFSET is a hidden int64_t of the module, at first 0,
 * which selects a delta that is always 0.
 *
 * In both, 0 says: no shard yet.
 *
 * Code that runs while the program is loaded can use neither: there may be no
 * thread-local memory yet.  It counts in a shard of the module that all threads
 * share, at symbol + COMMON, with locked instructions.  COMMON is a hidden
 * int64_t of the module, 0 until the runtime has made that shard: until then
 * counts go to the section itself, which is memory after all.
 */
#define CAIRN_RT_DELTA "__cairn_delta"
#define CAIRN_RT_THREAD "__cairn_thread"
#define CAIRN_RT_MODULE_OFFSET "__cairn_module_offset"
#define CAIRN_RT_COMMON "__cairn_common"

/* int64_t SLOW(void): returns the delta of this thread and the calling module;
 * changes no register but rax and the flags.  Called by inline assembly, which
 * steps over the red zone, so that a leaf function stays one.  Hidden: one per
 * module.  Its name is what a link without the driver complains about. */
#define CAIRN_RT_SLOW "__cairn_link_with_cairn_cc"

/*
 * Paths that have no counter of their own are counted in a table that each
 * thread has for each such function.  The function's counters are the words
 * below, in the thread's shard; generated code looks at one slot,
 *     slot = (char *)&words->key + words->offset
 *            + (r * words->multiplier >> CAIRN_TABLE_SHIFT & words->mask)
 * where r is 1 + the number of the path, and if slot[0] == r adds 1 to
 * slot[1].  Otherwise it makes the call below.  At first all words are 0, and
 * the slot is the one here, whose key is 0: the call makes a table.
 * The words are read in this order.  A table of greater mask may take the place
 * of one at any time, in a signal handler too: a mixture of old and new words
 * still finds a slot of one of them, and any slot with the right key will do.
 */
#define CAIRN_TABLE_SHIFT 36
#define CAIRN_TABLE_WORDS 5 /* multiplier, mask, offset, key, count */
#define CAIRN_TABLE_MULTIPLIER 0
#define CAIRN_TABLE_MASK 1
#define CAIRN_TABLE_OFFSET 2
#define CAIRN_TABLE_KEY 3

/* void COUNT(rdi: the words, in this thread's shard; rsi: r): counts one path;
 * changes no register but the flags.  Called by inline assembly, as SLOW is.
 * Hidden: one per module. */
#define CAIRN_RT_COUNT_PATH "__cairn_count_path"

/*
 * Pairs of paths across calls (--cairn=paths,overlap): words of
 * CAIRN_RT_THREAD, at these offsets.  Before a call its site says who it is
 * (SITE): the address of the number of a row of counters for the callee's first
 * path, which belongs to this site and the sum of its path so far; before the
 * number of row 0 are RECORD words: whom it calls, and the address of that row.
 * Or the address of its cell plus CAIRN_CALLS_NO_ROW; then it has said whom it
 * calls (TARGET), and says the sum times 2^32 (PREFIX).  That is for a function
 * whose first path may end before it returns: it clears SITE, and if it is whom
 * the site calls it counts the pair.  Where a function returns it says who it
 * is (BACK_TARGET, its address; BACK_FUNCTION, that of its counters, with EARLY
 * if its first path was another one), and 8 times 1 + the number of its last
 * path (BACK_PATH): with BACK_TABLE if no tag can have it.  If all that call it
 * are certain of it, and have all of its paths in tags, it says the latter
 * only. The site takes that if it is from whom it has called: into the tag of
 * its own path, or to the table, where it counts the pair of the first path as
 * well if it is not EARLY, and so this one.
 *
 * Handlers may make calls between any two instructions.  TARGET and BACK_TARGET
 * are written before the words that belong to them, and read behind them, so
 * that they say if these are from somebody else.
 */
#define CAIRN_CALLS_BACK_TABLE ((uint64_t)1 << 63)
#define CAIRN_CALLS_EARLY ((uint64_t)1)
#define CAIRN_CALLS_NO_ROW 1
#define CAIRN_CALLS_RECORD 2 /* words before the numbers of rows */
#define CAIRN_CALLS_TARGET 48
#define CAIRN_CALLS_SITE 56
#define CAIRN_CALLS_PREFIX 64
#define CAIRN_CALLS_BACK_TARGET 72
#define CAIRN_CALLS_BACK_FUNCTION 80
#define CAIRN_CALLS_BACK_PATH 88
#define CAIRN_CALLS_TABLE 96 /* of the runtime: slots, 0: none, 1: no more */
#define CAIRN_CALLS_MASK 104
#define CAIRN_FOREST_STARTS 112 /* see below */
#define CAIRN_FOREST 120        /* of the runtime */
#define CAIRN_CHAIN_TARGET 128  /* see below, as the next three */
#define CAIRN_CHAIN_STATE 136
#define CAIRN_CHAIN_CACHE 144
#define CAIRN_CHAIN_MASK 152
#define CAIRN_THREAD_WORDS 20

/* void COUNT_CALL(rsi: cell of the site, or a row; rdx: counters of the callee;
 * rcx: PREFIX, or 0 with a row, + number of the callee's first path): counts a
 * pair; changes no register but the flags. Hidden: one per module. */
#define CAIRN_RT_COUNT_CALL "__cairn_count_call"

/* void COUNT_FIRST(rdi: address of a function; rsi: SITE as it was at its
 * entry, not 0; rdx: its counters; rcx: number of its first path; r8: PREFIX):
 * counts the pair of that path and its caller, if the site calls the function;
 * changes no register but the flags.  ANYWHERE: the same of a function that
 * does not count in rows.  Hidden: one per module. */
#define CAIRN_RT_COUNT_FIRST "__cairn_count_first"
#define CAIRN_RT_COUNT_FIRST_ANYWHERE "__cairn_count_first_anywhere"
/* void COUNT_RETURNS(rdi: the first of several; rsi: behind the last; rdx: sum
 * of the path that ends, rcx: shifted left by this): counts what came back
 * since the path began.  Each has four words: site + 1, counters of the callee,
 * the number of its last path times 2^32, sum of the path at the site.  Hidden:
 * one per module. */
#define CAIRN_RT_COUNT_RETURNS "__cairn_count_returns"

/*
 * Windows of streams (--cairn=paths,iterations=K).  The state of a
 * stream is a word: the address of the slot (abi/file.h) of its last window; 0
 * at the beginning, 1 if nobody knows what was before.  A step takes an element
 * of the stream's owner: unless the state is one of these, generated code looks
 * at the slot that came next the last time,
 *     slot = state + state->SUCC
 * and if its KEY is state->NEXT + id adds 1 to its COUNT: it is the next state.
 * Otherwise it makes the call below.
 *
 * At the beginning of a stream there may be a slot, too: word i of the thread's
 * STARTS, i from FIRST on below N, is how far from STARTS one is, whose OWNER
 * says for whom; who finds himself takes it as the state.  STARTS is never 0.
 *
 * uint64_t STEP(rdi: state; rsi: owner; rdx: id; rcx: K, plus 2^16 times
 * the number of the word in STARTS): makes the step, returns the next state;
 * changes no register but rax and the flags.  Hidden: one per module.
 */
#define CAIRN_STARTS_FIRST 8u
#define CAIRN_STARTS_N 1024u
#define CAIRN_STARTS_SHIFT 16
#define CAIRN_RT_FOREST_STEP "__cairn_forest_step"

/*
 * Call chains (--cairn=paths,chains=D).  The state of a frame is a word, the
 * node of the calls that led to it, times 2^32; 0 if no call is known.  Before
 * a call the caller says whom it calls (TARGET), and then what its state is to
 * be (STATE): TARGET is first, so that a signal handler that comes in between,
 * and makes calls, leaves a TARGET that the callee does not find.  A function
 * that finds itself in TARGET takes STATE, and clears TARGET in any case.
 *
 * void PATH(rdi: state; rsi: owner; rdx: id; rcx: CAIRN_CHAINS + D): counts a
 * path.
 * uint64_t CALL(the same of a call, see abi/file.h): returns the state of the
 * callee.  Both change no register but rax, r8, r9 and the flags.  Hidden: one
 * per module.
 *
 * Both look for a slot at CACHE: a word, 1 + some bits of a hash of key and
 * owner, says how far from CACHE one is; word 0 is 0, so that a slot which is
 * not there has no key.  MASK is read before CACHE: with an older mask any
 * newer cache will do.
 */
#define CAIRN_CHAIN_UNKNOWN ((uint64_t)1 << 32) /* a state */
#define CAIRN_RT_CHAIN_PATH "__cairn_chain_path"
#define CAIRN_RT_CHAIN_CALL "__cairn_chain_call"

/* uint64_t: bytes that all forests of the process may take. */
#define CAIRN_RT_FOREST_MEMORY "__cairn_forest_memory"

/* Personality routines: note a dying frame, then continue, or do what C++
 * wants. */
#define CAIRN_RT_PERSONALITY "__cairn_personality"
#define CAIRN_RT_GXX_PERSONALITY "__cairn_gxx_personality"
#define CAIRN_RT_GCC_PERSONALITY "__cairn_gcc_personality"

/* void JUMP(void *buffer): __builtin_longjmp, which leaves frames. */
#define CAIRN_RT_JUMP "__cairn_core_jump"

/* Most modules a process can have loaded at one time. */
#define CAIRN_RT_MAX_MODULES 1024

#endif /* CAIRN_ABI_RT_H */
