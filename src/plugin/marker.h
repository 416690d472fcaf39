/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_MARKER_H
#define CAIRN_PLUGIN_MARKER_H

/* What mark.c, which counts edges, shares with path.c, which counts paths. */
#include "plugin/function.h"

#define SEGMENT_SPACE 256 /* what LLVM calls %gs */

struct marker {
	struct function *fn;
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMTypeRef i64, ptr, segment_ptr;
	LLVMValueRef base; /* counters + delta */
	bool is_early;     /* leave placeholders */
	bool probes;       /* say where blocks are */
	uint64_t key;      /* of the module */
	uint32_t before;   /* what to say before the mark in hand ... */
	uint32_t behind;   /* ... and behind it; or SHIM_NOTHING */
	bool by_segment;   /* no base: the delta is in a segment register */
	bool in_common;    /* all threads count in one shard */
	bool keeps_base;   /* over calls, in a register */
	bool is_first;     /* may be the first one of its thread: it looks */
	bool is_far;       /* the place in hand is behind a call */
	uint32_t loop;     /* of the place in hand: node.base */
};

void marker_init(struct marker *m, struct function *fn,
                 const struct mode *mode);
/* Makes the sections' writer define n counters for the function. */
LLVMValueRef marker_declare_counters(struct marker *m, uint32_t n);
/* At the top of the function: the thread's delta, made if there is none; NULL
 * if nobody needs it. */
LLVMValueRef marker_prologue(struct marker *m);
/* Marks an instruction as ours: sanitizers leave it alone. */
LLVMValueRef marker_ours(LLVMValueRef instruction);
/* The address of a word of CAIRN_RT_THREAD, by its offset. */
LLVMValueRef marker_thread_word(struct marker *m, uint64_t offset);
/* The delta, once more. */
LLVMValueRef marker_load_delta(struct marker *m);
/* Adds `by`, an i64, to the word at an address, in one instruction. */
void marker_add_to(struct marker *m, LLVMValueRef at, bool in_segment,
                   LLVMValueRef by);
/* Tail calls and calls that never return have no site: the probes know them,
 * and of the latter each has to keep its own address. */
void marker_keep_last_calls(struct marker *m);
/* Says what the code at the top of a block is; NULL if it may have none. */
LLVMValueRef marker_add_probe(LLVMValueRef top, uint32_t what);
/* The place where what belongs to an edge stands; may make a block for it. */
LLVMValueRef marker_place_of_edge(struct marker *m, edge_id e);
/* The first and the last place of a node where its flow is inside. */
LLVMValueRef marker_top_of(const struct node *node);
LLVMValueRef marker_end_of(LLVMBasicBlockRef block);

#endif /* CAIRN_PLUGIN_MARKER_H */
