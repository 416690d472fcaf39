/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_PATH_WRITER_H
#define CAIRN_PLUGIN_PATH_WRITER_H

/*
 * What the files that write the marks of paths share: path_code.c, which begins
 * and ends the work, path_count.c, path_turns.c and path_writer.c.  Others have
 * no use for it.
 */
#include "plugin/marker.h"

struct increment;
struct turns;

enum path_what {
	DO_OPERATION, /* of the function's register */
	DO_ENTER,     /* a loop that counts its turns */
	DO_STEP,      /* within it */
	DO_TURN,      /* back to its head */
	DO_EXIT,      /* out of it */
	DO_BEGIN,     /* calls: who has called us? */
	DO_BACK,      /* calls: a callee has come back */
};

/* Something to do and the instruction that keeps its place. */
struct path_deed {
	LLVMValueRef at;
	enum path_what what;
	const struct increment *op;      /* may be NULL */
	const struct increment *slot_op; /* the same for the slots' register */
	struct turns *turns;
	edge_id edge;
	uint32_t site; /* of DO_BACK */
};

/* A call that hands a chain over. */
struct path_link {
	LLVMValueRef call;
	block_id block;
	uint32_t number; /* abi/file.h: its link */
};

struct path_writer {
	struct marker m;
	LLVMValueRef r, q;   /* the registers, in memory */
	LLVMValueRef s;      /* the third register: 8 times the slot */
	LLVMValueRef o;      /* pairs: what the path before adds to the first */
	LLVMValueRef last;   /* pairs: 0, or 8 * (1 + the turn before) */
	LLVMValueRef caller; /* calls: what SITE was, 0: it is not known */
	LLVMValueRef first;  /* the same until the first path has ended */
	LLVMValueRef prefix; /* what it had done before */
	LLVMValueRef early;  /* CALLS_EARLY once the first path has ended */
	LLVMValueRef list, top; /* who came back, or NULL; bytes of it */
	LLVMValueRef tag;   /* by which path, in units of the first register */
	LLVMValueRef state; /* windows: of the stream of paths; chains: node */
	struct path_link *links;
	size_t nlinks, links_cap;
	LLVMValueRef held;   /* of the loop that it is in: turns until then */
	LLVMValueRef owner;  /* per slot: 1 + the number of its path */
	LLVMValueRef tested; /* per path, a byte */
	LLVMValueRef delta;  /* or NULL: to be loaded where it is needed */
	LLVMValueRef base;   /* shared: address of the counters, or NULL */
	LLVMValueRef busy;   /* shared: has a copy something unfinished? */
	bool is_direct;
	struct path_deed *placed;
	size_t nplaced, placed_cap;
	uint32_t before; /* what the code before a count is: m.behind behind */
};

/* --- path_writer.c: values, registers, flow ------------------------------ */

LLVMValueRef pw_constant(struct path_writer *w, uint64_t v);
/* The address of byte `at` of a global. */
LLVMValueRef pw_address_in(struct path_writer *w, LLVMValueRef global,
                           uint64_t at);
/* The address of byte `at` of the counters, before the delta. */
LLVMValueRef pw_symbol(struct path_writer *w, uint64_t at);
/* The address of the function, whatever has its name. */
LLVMValueRef pw_own_address(struct path_writer *w);
/* A table that never changes, of n values, or of n bytes. */
LLVMValueRef pw_add_table(struct path_writer *w, const char *name,
                          LLVMTypeRef type, LLVMValueRef *values, uint64_t n);
LLVMValueRef pw_add_bytes(struct path_writer *w, const char *name,
                          const uint8_t *bytes, uint64_t n);

/* A sum, or a part of one, as it is in the first register. */
uint64_t pw_in_units(const struct path_writer *w, uint64_t v);
/* The first register when the sum so far is v. */
LLVMValueRef pw_register_at(struct path_writer *w, uint64_t v);
LLVMValueRef pw_sum(struct path_writer *w, LLVMValueRef a, LLVMValueRef b);
/* 1 + the number that a value of the first register stands for. */
LLVMValueRef pw_id(struct path_writer *w, LLVMValueRef r);
/* The first register with the whole sum, in a block. */
LLVMValueRef pw_sum_in(struct path_writer *w, block_id b);
/* Code that reads or writes a register. */
LLVMValueRef pw_get(struct path_writer *w, LLVMValueRef variable);
void pw_set(struct path_writer *w, LLVMValueRef variable, LLVMValueRef v);
/* The same of a word of the thread, which callees change as well. */
LLVMValueRef pw_get_word(struct path_writer *w, uint64_t offset);
void pw_set_word(struct path_writer *w, uint64_t offset, LLVMValueRef v);
/* As the prologue found it, where it may be kept. */
LLVMValueRef pw_delta(struct path_writer *w);
/* A pointer to what is at `address` in the thread's shard. */
LLVMValueRef pw_pointer(struct path_writer *w, LLVMValueRef address);

/* Two ways from the builder's place to `place`, which comes to stand in another
 * block. */
struct path_fork {
	LLVMBasicBlockRef common, rare, rest;
};

/* Makes them, empty, and leaves the builder where the branch has to be. */
struct path_fork pw_fork_before(struct path_writer *w, LLVMValueRef place);
/* Says what a block is, if anybody wants to know. */
void pw_add_probe_to(struct path_writer *w, LLVMBasicBlockRef block,
                     uint32_t what);

/* --- path_count.c -------------------------------------------------------- */

/*
 * All write at the builder's place, which must be before `place` and in its
 * block, and leave the builder at `place`.
 */

/* Adds 1 to the counter at an address, before the delta. */
void path_count_at(struct path_writer *w, LLVMValueRef address);
/* Counts the path that the registers r and s say; s is NULL if there are no
 * slots. */
void path_count(struct path_writer *w, LLVMValueRef r, LLVMValueRef s,
                LLVMValueRef place);
/* Counts a path that is known here. */
void path_count_known(struct path_writer *w, uint64_t number,
                      LLVMValueRef place);
/* Counts a path that is not preferred, or not tested; `number` is 1 + its
 * number. */
void path_count_other(struct path_writer *w, LLVMValueRef number,
                      LLVMValueRef place);
/* Counts in the table, always. */
void path_count_in_table(struct path_writer *w, LLVMValueRef number,
                         LLVMValueRef place);
/* What that is for the path that the register r says. */
LLVMValueRef path_key(struct path_writer *w, LLVMValueRef r);
/* Pairs: the path that the register r says is the one before the next; NULL:
 * there is none before it. */
void path_comes_before(struct path_writer *w, LLVMValueRef r);
/* The table of w->owner. */
LLVMValueRef path_count_owners(struct path_writer *w);

/* --- path_code.c --------------------------------------------------------- */

/* Pairs: is the path that ends here, and is followed by another, to be counted
 * with it? */
bool path_is_before(const struct function *fn, const struct path_deed *p);

/* --- path_calls.c -------------------------------------------------------- */

/* Before any code is written: the list of what came back, if anything can. */
void path_calls_prepare(struct path_writer *w, const struct mode *mode);
/* Hands DO_BACK of all calls that are no invokes to `place`. */
void path_calls_place(struct path_writer *w,
                      void place(struct path_writer *w, LLVMValueRef at,
                                 struct path_deed what));
/* Is it the way on behind a marked invoke? */
bool path_calls_is_back(const struct function *fn, edge_id e, uint32_t *site);
/* At the entry; before a call; behind it. */
void path_calls_enter(struct path_writer *w, LLVMValueRef place);
void path_calls_before(struct path_writer *w, uint32_t site);
void path_calls_back(struct path_writer *w, const struct path_deed *p);
/* What a site has for the runtime to find: the first register, with the tag. */
LLVMValueRef path_calls_register(struct path_writer *w, uint32_t site);
/* Behind a call that has come back twice. */
void path_calls_forget(struct path_writer *w);
/* Where a path ends that may have begun at the entry, before it is counted;
 * leaves the builder at `place`. */
void path_calls_end(struct path_writer *w, const struct path_deed *p,
                    LLVMValueRef r, LLVMValueRef place);

/* --- path_shared.c ------------------------------------------------------- */

/* Hands the register to the shared copies that are called, and takes it
 * back. */
void path_shared_call(struct path_writer *w);

/* --- path_stream.c ------------------------------------------------------- */

/* At the entry. */
void path_stream_enter(struct path_writer *w);
/* A stream begins in the middle: nothing is before the next path. */
void path_stream_begin(struct path_writer *w);
/* A path has ended, and is counted; leaves the builder at `place`. */
void path_stream_end(struct path_writer *w, LLVMValueRef r, LLVMValueRef place);

/* --- path_chain.c -------------------------------------------------------- */

/* Finds the calls; before any code is written. */
void path_chain_find(struct path_writer *w);
/* At the entry. */
void path_chain_enter(struct path_writer *w);
/* Before all calls, behind what else stands there. */
void path_chain_calls(struct path_writer *w);
/* A path has ended, and is counted. */
void path_chain_end(struct path_writer *w, LLVMValueRef r);

/* --- path_turns.c -------------------------------------------------------- */

/* The deeds of a loop that counts its turns, at the builder's place. */
void path_turns_enter(struct path_writer *w, const struct path_deed *p);
void path_turns_step(struct path_writer *w, const struct path_deed *p);
void path_turns_back(struct path_writer *w, const struct path_deed *p);
void path_turns_exit(struct path_writer *w, const struct path_deed *p);

#endif /* CAIRN_PLUGIN_PATH_WRITER_H */
