/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_FUNCTION_H
#define CAIRN_PLUGIN_FUNCTION_H

#include "abi/map.h"
#include "base/ptrmap.h"
#include "graph/cfg.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct dag;
struct function_paths;
struct function_trace;
struct shim;

/* What the command line asked for. */
struct mode {
	bool paths;       /* count paths, not edges */
	bool residual;    /* paths: only those that no test had */
	bool trace;       /* write down which way it goes */
	bool record;      /* log inputs, for replay */
	bool witness;     /* trace: witnesses, not histories */
	bool path_ids;    /* trace: histories of one path each */
	bool log;         /* trace: and every block, for the proof */
	bool others;      /* paths: those not preferred one by one, too */
	bool overlap;     /* paths: and which one came before */
	bool in_loops;    /* overlap: not across calls */
	uint32_t degree;  /* overlap: enum cairn_degree */
	uint32_t windows; /* paths: of up to so many; 0: none */
	uint32_t chains;  /* paths: with so many callers; 0: none */
	bool slow;        /* a counter in every block */
	bool strict;      /* a call's fall-through is an edge of its own */
	bool apart;       /* strict: and each call is a block, as with paths */
	bool all;         /* a counter on every edge */
	bool heuristic;   /* weights of 1994 instead of the compiler's */
	bool probes;      /* note where blocks start, for interrupted frames */
	bool source;      /* count the CFG before optimization */
	bool remarks;     /* say what the sets of prefer= have found */
	bool segment;     /* the delta is in %gs */
	bool calls; /* paths: they end at calls, or go into inlined ones */
	bool is_inlining; /* inline calls, and count nothing */
	uint32_t depth;   /* calls: up to here */
	uint32_t grow;    /* calls: percent, MODE_GROW_AUTO: not said */
	uint64_t key;     /* of the module, for names */
	uint64_t last;    /* trace: keep so many bytes of it, 0: all */
	uint64_t memory;  /* trace: bytes of buffers, 0: as the runtime says */
	/* calls: those that end paths, by instruction */
	const struct ptrmap *sites;
	/* calls: those of copies that many share, and paths go into */
	const struct shared_call *shared;
	uint32_t nshared;
	bool is_shared; /* this is such a copy: nobody sees its frames */
	struct callees
	        *callees; /* overlap: those that calls are known to be of */
};

/* Pairs across calls: what is known of a function that is called. */
struct callee {
	LLVMValueRef f;
	uint64_t npaths;
	bool ends_early; /* may a path, before it returns? */
	/* does some call look who has come back, not only by which path? */
	bool must_say_who;
};

/* Functions of this module that are in nobody's place, and have marks. */
struct callees {
	struct ptrmap index;
	struct callee *items;
	uint32_t n, cap;
};

#define MODE_GROW_AUTO UINT32_MAX

struct shared_body;
struct shared_call {
	LLVMValueRef call;
	struct shared_body *body;
};

/*
 * A node of our CFG: a basic block, or a part of one: in strict mode up to and
 * with a call, and with paths a call that ends them is a part of its own.
 * Calls that may not come back end segments.
 */
struct node {
	LLVMBasicBlockRef block;
	LLVMValueRef first;     /* its first instruction; NULL: the block's */
	LLVMValueRef end;       /* where the next part begins; NULL: nowhere */
	LLVMValueRef last_call; /* strict: the call that ends this part */
	uint32_t nsegments;
	uint32_t flags; /* CAIRN_BLOCK_* */
	bool is_chord;
	bool is_call;        /* a call that is a block; paths end there */
	bool is_shared;      /* paths: a call of a shared copy, alone */
	bool is_elsewhere;   /* paths: in a shared copy, not in this function */
	bool has_call;       /* one that a register has to survive */
	bool is_behind_call; /* on some path from the entry */
	uint32_t counter;    /* 0, or 1 + counter of this block */
	uint32_t base;       /* 0, or 1 + index of its loop's base */
	LLVMValueRef probe;  /* at its top, or NULL */
};

enum edge_where {
	AT_NOWHERE, /* a call that does not come back: cannot carry a mark */
	AT_ENTRY,   /* top of the first block */
	AT_END,     /* end of the source */
	AT_TOP,     /* top of the target */
	AT_SPLIT,   /* a new block between them */
	AT_PAD,     /* a landing pad of its own before the target */
	AT_TRIP,    /* nowhere: the loop counts its own turns (trip.c) */
	AT_COMPARE, /* before the indirect jump, if it goes there */
	AT_FALL,    /* strict: right after the call */
	AT_CALL,    /* right before the call that is the target */
	AT_BEFORE,  /* trace: right before the call that ends the source */
	AT_SHARED,  /* paths: in a shared copy, which has a table of them */
};

struct edge_info {
	enum cairn_edge_kind kind;
	enum edge_where where;
	unsigned successor; /* first successor index of the terminator */
	uint64_t frequency; /* the compiler's estimate */
	uint64_t weight;    /* what placement used */
	bool is_chord;
	LLVMBasicBlockRef block; /* one that was put on it, or NULL */
	LLVMValueRef probe;      /* at the top of that block, or NULL */
	uint32_t trip;           /* index, if where is AT_TRIP */
	uint32_t counter;        /* 0, or 1 + index */
	bool is_call;            /* trace: histories end before it */
	LLVMValueRef callee;     /* trace: unless it may be anything */
	bool is_maybe;           /* trace: the linker decides whether it is */
};

/* A loop that counts itself; see trip.c. */
struct trip {
	block_id head, latch;
	edge_id back, enter;
	LLVMBasicBlockRef before; /* runs once per entry of the loop */
	edge_id *exits;
	block_id *blocks;
	uint32_t nexits, exits_cap, nblocks, blocks_cap;
	LLVMValueRef phi;     /* induction variable */
	LLVMValueRef compare; /* of it with what it runs to */
	unsigned bound_at;    /* which operand that is */
	int64_t step;
	LLVMIntPredicate predicate; /* goes on while variable pred bound */
	bool compares_phi;          /* not phi + step */
	bool goes_on_if_true;
	bool is_open;   /* no bound: looks after itself every turn */
	bool is_closed; /* the bound alone says how many turns there are */
};

/* The register that marks in a loop count from; see base.c. */
struct loop_base {
	edge_id enter;      /* the one way into the loop */
	LLVMValueRef value; /* once somebody has asked for it */
};

/* Instructions per entry of such a loop, for placement. */
#define TRIP_COST 8
#define TRIP_COST_CLOSED 5

struct site {
	LLVMValueRef call;
	block_id block;
	uint32_t segment;
	enum cairn_pending pending; /* paths: see abi/map.h */
	uint64_t value;
};

/*
 * A call of a copy of a function that many calls share, and the part of the
 * graph that stands for it: node `at` leads to the node that block 1 of the
 * copy is, and its ways back lead to node at + 1.
 */
struct shared_use {
	LLVMValueRef call;
	struct shared_body *body;
	block_id at;
	uint32_t site;
	block_id first; /* what block 1 of the body is, and so on */
	edge_id edge;   /* what edge 0 of the body is, and so on */
};

/* A function, imported: the CFG, and where its parts are in the IR. */
struct function {
	LLVMValueRef f;
	struct cfg g;
	struct node *nodes; /* [0] is the outside */
	struct edge_info *edges;
	struct site *sites;
	struct trip *trips;
	struct loop_base *bases;
	uint32_t ntrips, trips_cap;
	uint32_t nbases, bases_cap;
	uint32_t nsites, sites_cap;
	uint32_t ncounters;
	uint32_t edges_cap, nodes_cap;
	struct shared_use *shared;
	uint32_t nshared, shared_cap;
	struct function_paths *paths; /* or NULL: see path.c */
	struct function_trace *trace; /* or NULL: see trace.c */
	/* what the code was that it has been made of, or NULL: it was not */
	const struct before *before;
	LLVMValueRef counters; /* the global */
	uint64_t key;          /* names it after inlining; 0 if marked late */
};

/* What the contexts of a shared copy do on an edge of it: path_shared.c. */
struct shared_edge {
	bool keeps, sets;      /* some keep the register, some do not */
	bool counts, passes;   /* some paths end there, some do not */
	LLVMValueRef add, set; /* constants, or NULL: they differ */
};

/* A copy of a function that many calls share. */
struct shared_body {
	struct function fn;
	struct shared_edge *edges; /* per edge, once there is a context */
	uint32_t ncontexts;
	bool has_direct, has_table, has_tested;
};

/* Before function_import: returns of tail calls are where these are, nothing
 * else becomes one, and it is known how often what is expected to run. */
void function_prepare(LLVMValueRef f, struct shim *s);
/* Imports f.  Reads the IR, changes nothing. */
void function_import(struct function *fn, LLVMValueRef f,
                     const struct mode *mode, struct shim *s);
void function_release(struct function *fn);
/* A hash of the shape of the CFG: same source and flags, same hash. */
uint64_t function_hash(const struct function *fn);

/* What paths_choose goes by, and what it has to say. */
struct interest_function;
struct pair_flow_function;
struct paths_request {
	const uint64_t *weight; /* per edge: how often it is taken */
	/* interesting paths, or those that are tested, or NULL */
	const struct interest_function *known;
	/* per block: all paths through it are interesting, too; or NULL */
	const bool *wanted;
	bool pairs; /* count which path came before */
	/* pairs: how many an earlier run had, to count only where there were
	 * enough; NULL: everywhere */
	const struct pair_flow_function *flow;
	uint32_t windows; /* count windows of up to so many, or 0 */
	uint32_t chains;  /* count chains of up to so many calls, or 0 */
	/* finds interesting paths once they are numbered, or NULL: then `known`
	 * is what it returns */
	const struct interest_function *(*find)(void *context,
	                                        const struct function *fn);
	/* with `find`: marks edges that are not to be cut, on a graph in which
	 * nothing else is; and adds those that are */
	void (*keep)(void *context, const struct function *fn,
	             const struct dag *d, bool *keep);
	uint32_t (*cut)(void *context, const struct function *fn,
	                uint32_t *cuts);
	void *context;
	/* UINT64_MAX, or one of the known paths that there is not */
	uint64_t absent;
	/* 0, or how many paths through wanted blocks were too many */
	uint64_t nrefused;
};

/* Numbers the paths and chooses what to do where; see path.c. */
void paths_choose(struct function *fn, const struct mode *mode,
                  struct paths_request *r);
/* Pairs across calls: what is counted of them, once paths_choose is done for
 * all functions; behind it for all of them. */
void paths_choose_calls(struct function *fn, const struct mode *mode);
uint64_t paths_possible(const struct function *fn);
/* Pairs across calls: whom a site calls, if rows of counters or a digit of the
 * tag are for that. */
LLVMValueRef paths_row_callee(const struct function *fn, uint32_t site);
/* Residual, few paths: is the register the address of the byte that says
 * whether the path is tested? */
bool paths_register_is_byte(const struct function *fn);
void paths_release_of(struct function *fn);
/* Writes the operations on the path register. */
void mark_paths(struct function *fn, const struct mode *mode);
/* Writes what a shared copy does, once all its callers are marked. */
void mark_shared(struct shared_body *body, const struct mode *mode);
/* What the map says of the paths, once they are marked. */
void describe_paths(const struct function *fn, struct bytes *b);

/* Chooses what to write where, writes it, and says what the map says of it:
 * trace.c, the code trace_code.c. */
void trace_choose(struct function *fn, const struct mode *mode,
                  const uint64_t *weight);
/* A constant of the runtime that this program has another one of. */
void trace_say(LLVMModuleRef module, const char *name, uint64_t value);
void mark_trace(struct function *fn, const struct mode *mode);
void describe_trace(const struct function *fn, struct bytes *b);
/* The same but for the kind, which is another one in a recording. */
void describe_ways(const struct function *fn, struct bytes *b);
void trace_release_of(struct function *fn);
/* Does a function mark that it was entered, because others than known calls
 * may do that? */
bool trace_is_announced(LLVMValueRef f);
/* Gives functions two entries, where that can be: before the others. */
void trace_split(LLVMModuleRef module);
/* Writes the code of an entry that marks. */
void mark_entry(LLVMValueRef f, const struct mode *mode);
/* Does it make calls from which it does not come back to its caller itself? */
bool trace_has_tails(LLVMValueRef f);
/* The same, of one that has no marks yet. */
bool has_tail_call(LLVMValueRef f);
/* Notes which ones do, before any is changed. */
void trace_announce(LLVMModuleRef module);
/* Does control come back into a function by a jump that nobody can see? */
bool is_jumped_into(LLVMValueRef f);
/* Why a function cannot be part of a trace, or NULL. */
const char *trace_why_not(LLVMValueRef f);
/* Why neither traces nor recordings can follow it, or NULL. */
const char *follow_why_not(LLVMValueRef f);

/* Finds the loops that can count themselves: where becomes AT_TRIP. */
void trips_find(struct function *fn);
void trips_release(struct function *fn);
struct marker;
/* v, but how it was made is hidden from the code generator: loop strength
 * reduction otherwise takes it apart and rewrites loops in terms of the parts,
 * for an instruction or a register more (measured). */
LLVMValueRef opaque(LLVMBuilderRef b, LLVMValueRef v);
/* Marks the loop of a back edge; trip_prepare first, for all of them. */
void trip_prepare(struct function *fn, edge_id back);
void trip_mark(struct function *fn, edge_id back, struct marker *m);
/* Adds `by`, an i64, to a counter at the place of builder b. */
void marker_add(struct marker *m, LLVMBuilderRef b, uint32_t counter,
                LLVMValueRef by);
/* The same in a loop that nobody has marked: finds a base in `before` it. */
void marker_add_in_loop(struct marker *m, LLVMBasicBlockRef before,
                        LLVMBuilderRef b, uint32_t counter, LLVMValueRef by);

/* Finds the loops whose marks count from a register. */
void bases_find(struct function *fn);

/* What a probe says behind the mark of an edge, or of a way out of a loop. */
uint32_t marker_behind_edge(const struct function *fn, edge_id e);
/* The same for marks that marker_add will write. */
void marker_set_behind(struct marker *m, uint32_t what);

/* Writes the marks that fn->edges[] and fn->nodes[] ask for. */
void mark_function(struct function *fn, const struct mode *mode);
/* The same before optimization: placeholders instead of code. */
void mark_function_early(struct function *fn, const struct mode *mode);
/* Turns the placeholders in f into code. */
void mark_placeholders(LLVMValueRef f, const struct mode *mode);

/* The first instruction of a node. */
LLVMValueRef node_first(const struct node *node);
/* The linkage name of a function, before it had two entries. */
const char *name_of(LLVMValueRef f, size_t *n);
/* The name of what is called, as users know it: traces and recordings have
 * entries and bodies of their own for other files, and pointers from a table.
 * NULL: any function may be called. */
const char *callee_name(LLVMValueRef call, size_t *n);
/* The source line that the map has for an instruction, and its DIFile; 0 if it
 * has none. */
unsigned line_of(LLVMValueRef instruction, LLVMMetadataRef *file);
/* The path of a DIFile, absolute where known, the same for all ways to name the
 * file; the caller frees it.  NULL if it has none. */
char *path_of(LLVMMetadataRef file);
/* The file of a function.  Of a local one it is known without line information,
 * too, but with LTO: another file may have a function of the same name.  NULL
 * if it is not known; the caller frees it. */
char *path_of_function(LLVMValueRef f);

/* Describes the function for the map; the caller frees b. */
void describe_function(const struct function *fn, const struct mode *mode,
                       struct bytes *b);
void describe_uncovered(LLVMValueRef f, const char *reason, struct bytes *b);

#endif /* CAIRN_PLUGIN_FUNCTION_H */
