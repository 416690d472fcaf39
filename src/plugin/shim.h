/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_PLUGIN_SHIM_H
#define CAIRN_PLUGIN_SHIM_H

/*
 * What LLVM-C lacks, wrapped in C by entry.cpp, and the one call that entry.cpp
 * makes into C.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shim; /* the analyses of the module being compiled */

/* Estimated frequency of the k-th edge out of a block, in the units of
 * shim_entry_frequency. */
uint64_t shim_edge_frequency(struct shim *s, LLVMBasicBlockRef block,
                             unsigned k);
/* Makes the estimates for f current.  Call it before changing f. */
void shim_prepare(struct shim *s, LLVMValueRef f);

/* Puts a new block on the edges from -> to (all of them, if a switch has
 * several) and returns it. */
LLVMBasicBlockRef shim_split_edge(LLVMBasicBlockRef from, LLVMBasicBlockRef to);
/* Gives the invoke that ends a block a landing pad of its own, before the one
 * it has, and returns it. */
LLVMBasicBlockRef shim_split_pad(LLVMBasicBlockRef from);
/* Splits a block before an instruction and returns the second part. */
LLVMBasicBlockRef shim_split_before(LLVMValueRef instruction);
/* The first place in a block where ordinary code may stand. */
LLVMValueRef shim_insertion_point(LLVMBasicBlockRef block);
/* Moves all fixed-size allocas to the top of f; returns what follows them. */
LLVMValueRef shim_after_allocas(LLVMValueRef f);

/* What is being worked on, for sentences about mistakes of ours; f: NULL, all
 * of the module. */
void shim_work_on(LLVMModuleRef module, LLVMValueRef f);
/* From now on LLVM's fatal errors are said to be of the marks. */
void shim_catch_errors(void);

/* Calls are not dropped behind the marks: functions that get some write memory,
 * whatever their source says (`pure`), and of others the code generator drops
 * calls at -O0 whose result is not used. */
void shim_keep_calls(LLVMModuleRef module);

/* Notes inline assembly that control may leave other than at its end
 * (ir/assembly.h).  Call it before the module has any of ours. */
void shim_note_assembly(LLVMModuleRef module);
/* True for calls that make a frame, for __builtin_setjmp, which comes back as
 * they do, and for inline assembly that is so noted; not for other intrinsics
 * and assembly. */
bool shim_is_call(LLVMValueRef instruction);
/* True if nothing that an instruction does can end the activation, other than
 * a fault: no call, no volatile or atomic access, no inline assembly. */
bool shim_is_quiet(LLVMValueRef instruction);
bool shim_has_address_taken(LLVMBasicBlockRef block);
/* By what constant a phi, an i32, i64 or pointer, changes from turn to turn of
 * the loop with this latch; 0 if it does not. */
int64_t shim_step_of(LLVMValueRef phi, LLVMBasicBlockRef latch);
/* A place that runs exactly when the k-th way out of a block is taken; splits
 * the edge if need be. */
LLVMValueRef shim_edge_place(LLVMBasicBlockRef from, unsigned k);
/*
 * Copies the loop of head and latch; the copy runs if `choose` holds, which is
 * computed in the one block before the loop.  Returns the block before the
 * copy, its head and its latch.
 */
void shim_copy_loop(LLVMBasicBlockRef head, LLVMBasicBlockRef latch,
                    LLVMValueRef choose, LLVMBasicBlockRef *copied_before,
                    LLVMBasicBlockRef *copied_head,
                    LLVMBasicBlockRef *copied_latch);
/* True if a call comes back, and nothing that has marks runs in it: of what
 * libc computes by itself. */
bool shim_calls_nothing(LLVMValueRef call);
/* True if a call neither throws nor fails to return. */
bool shim_always_returns(LLVMValueRef call);
/* Records the call's return address as site `id` of its function, and where
 * `value` is then (or the variable, if it is an alloca; NULL: nothing).
 * Replaces what a site had before.  Returns the call, which is another one
 * then. */
LLVMValueRef shim_add_site(LLVMValueRef call, uint32_t id, LLVMValueRef value);
/* True if the value of a site is a constant: *value is it, or its distance from
 * the symbol. */
bool shim_site_constant(LLVMValueRef call, LLVMValueRef symbol,
                        uint64_t *value);
/* Keeps the code generator from making one call of this and others alike: the
 * probes around it tell where it is. */
void shim_keep_apart(LLVMValueRef call);
/* Gives functions that may come back more than once the attribute that says so
 * if the front end has not (-fno-builtin): setjmp, vfork and the like, known by
 * name.  Returns true if it changed anything. */
bool shim_find_returns_twice(LLVMModuleRef module);
/* Gives what is not of the source of a coroutine other lines: coroutines.cpp.
 * Returns true if it changed anything. */
bool shim_place_coroutines(LLVMModuleRef module);
/* True if a call may come back more than once: setjmp, vfork. */
bool shim_returns_twice(LLVMValueRef call);
/* An instruction that does nothing, to keep a place. */
LLVMValueRef shim_place(LLVMValueRef before);
/* True of such an instruction. */
bool shim_is_place(LLVMValueRef instruction);
/* Has the code generator not merge the same code at the ends of blocks, which
 * would make one probe stand for several. */
void shim_keep_tails_apart(void);
/* Turns a local variable into values. */
void shim_promote(LLVMValueRef variable);
/* Gives every target of a computed goto that is reached in other ways, too, a
 * block of its own for the goto.  Done in all modes but the source stage, so
 * that blocks have the same numbers in all. */
void shim_land_gotos(struct shim *s, LLVMValueRef f);
/* The same before optimization: the site is known by its function's key, too,
 * since calls come to stand in other functions. */
void shim_add_early_site(LLVMValueRef call, uint64_t key, uint32_t id);
/* As id: no site of that function, but those it is inlined into have one. */
#define SHIM_NO_SITE 0x7fffffffu
/* Defines an array of n counters for f, for marks before optimization. */
LLVMValueRef shim_define_counters(LLVMValueRef f, uint32_t n, uint64_t key);
/* A number that other source files have not. */
uint64_t shim_module_key(LLVMModuleRef module);
/* A key for f that no other function of the program has. */
uint64_t shim_key(LLVMValueRef f);
/* Declares the placeholder of a mark. */
LLVMValueRef shim_placeholder(LLVMModuleRef module);
/* Records the address of a block's first code: `what` as in abi/map.h.
 * Wherever it stands in its block, it is about the top of it. */
LLVMValueRef shim_add_probe(LLVMValueRef before, uint32_t what);
/* The same for a block that has only this jump in it, and may lose even that;
 * or for its end, which may become one with others' ends. */
#define SHIM_AT_TOP "cairn.top"
#define SHIM_AT_END "cairn.end"
void shim_note_jump(LLVMValueRef jump, const char *where, uint32_t what);
/* The same for a call after which nothing follows: what it says is that nothing
 * is left to count. */
void shim_note_last_call(LLVMValueRef call);
uint32_t shim_probed(LLVMValueRef probe);
void shim_set_probed(LLVMValueRef probe, uint32_t what);
/* The same for the addresses of a mark (a store, or inline assembly) and behind
 * it. */
#define SHIM_NOTHING 0xfffffffeu /* not CAIRN_PROBE_UNKNOWN */
void shim_set_around(LLVMValueRef instruction, uint32_t before,
                     uint32_t behind);
/* False if the module uses LLVM's probes for something else. */
bool shim_may_add_probes(LLVMModuleRef module);
/* Marks a function for the writer of map sections and for the unwinder. */
void shim_prepare_function(LLVMValueRef f, bool needs_personality);
/* The same of code that is in no map: the unwinder has to get through it. */
void shim_see_through(LLVMValueRef f);
/* True if an unwinder takes frames of f away without telling us. */
bool shim_has_foreign_personality(LLVMValueRef f);
/* Reason to leave a function out, or NULL. */
const char *shim_why_not(LLVMValueRef f);
/*
 * unseen.cpp: the code generator makes calls of intrinsics.  Where the unit has
 * the function that is called, these become ordinary calls of it.  May a
 * function be called so, by any unit?
 */
void shim_call_seen(LLVMModuleRef module);
bool shim_is_called_unseen(LLVMValueRef f);
/* True if f may run before the process has thread-local memory: resolvers of
 * ifuncs, what libc.a needs that early, and what these call in this module. */
bool shim_runs_while_loading(LLVMValueRef f);
bool shim_is_not_optimized(LLVMValueRef f);
/* Does f call __builtin_setjmp, or will it, once what must be is inlined? */
bool shim_has_builtin_setjmp(LLVMValueRef f);
/* The same of inline assembly that control may leave, as noted. */
bool shim_leaves_in_assembly(LLVMValueRef f);
/* Puts a call of the runtime in place of every __builtin_longjmp. */
void shim_hook_jumps(LLVMModuleRef module);
/* The same of calls that are checked or hardened in ways that LLVM does not
 * know of those that are sites. */
bool shim_has_calls_without_sites(LLVMValueRef f);
/* Is it code for the address, memory or thread sanitizer? */
bool shim_is_sanitized(LLVMModuleRef module);
/* The map says where the marks of f are: nobody may inline it any more. */
void shim_pin(LLVMValueRef f);
/* Nobody may inline f unless the program says so. */
void shim_keep_out_of_line(LLVMValueRef f);
/* Keeps the optimizer off functions that are marked already, and lets it again:
 * their marks are where the map says. */
void shim_freeze(LLVMModuleRef module);
void shim_thaw(LLVMModuleRef module);
/* True if somebody other than instrumented code of this module can call f. */
bool shim_has_outside_callers(LLVMValueRef f);
/* What entries.cpp wants to know of functions. */
struct shim_entries {
	bool (*why_not)(LLVMValueRef f);    /* is it left out? */
	bool (*is_last)(LLVMValueRef call); /* does nobody see its end? */
};
/* Gives functions of a trace two entries: entries.cpp. */
void shim_split_entries(LLVMModuleRef module, const struct shim_entries *e);
/* Is f the entry that marks, or one that is taken if there is no better? */
bool shim_is_entry(LLVMValueRef f);
bool shim_is_thunk(LLVMValueRef f);
/* The name of the function that f is the body of, NULL if it has one entry. */
const char *shim_body_of(LLVMValueRef f, size_t *n);
/* The function behind the entry that marks. */
LLVMValueRef shim_entry_of(LLVMValueRef f);
/* True if assembly in the module hands over to another stack. */
bool shim_hands_over(LLVMModuleRef module);
/* True if the module reads or sets the %gs segment. */
bool shim_uses_gs(LLVMModuleRef module);
/* True if the module can only end up in an executable. */
bool shim_is_executable_only(LLVMModuleRef module);
/* Marks an instruction as ours: sanitizers leave it alone. */
void shim_no_sanitize(LLVMValueRef instruction);
/* Says what the pointer that is the first argument of inline assembly is to. */
void shim_set_element_type(LLVMValueRef call, LLVMTypeRef type);
void shim_set_unlikely(LLVMValueRef branch);
/* Which of the blocks on its line code was in before the optimizer. */
uint32_t shim_discriminator(LLVMMetadataRef location);
/* Name of the function that a debug scope belongs to; borrowed. */
const char *shim_scope_function(LLVMMetadataRef scope, size_t *n);
/* What a recorded call loads from the table of what other files define
 * (canonical.cpp); NULL if it is something else. */
LLVMValueRef shim_external(LLVMValueRef callee);
/* The function itself. */
LLVMMetadataRef shim_scope_subprogram(LLVMMetadataRef scope);
LLVMMetadataRef shim_subprogram_file(LLVMMetadataRef subprogram);
/* Notes the MD5 of a DIFile, if it has one, for the map of the module: under
 * the path that its records have. */
void shim_note_source(LLVMModuleRef module, LLVMMetadataRef file,
                      const char *path);

/* Inlining of single calls: inline.cpp.  A private copy of f as it is now, to
 * be inlined; the caller deletes it. */
LLVMValueRef shim_clone(LLVMValueRef f);
void shim_delete(LLVMValueRef f);
/* Can nobody call it any more? */
bool shim_is_unused(LLVMValueRef f);
/* In instructions. */
uint64_t shim_size(LLVMValueRef f);
/* Why a call of this function cannot be inlined, or NULL. */
const char *shim_why_not_inlined(LLVMValueRef call, LLVMValueRef callee,
                                 LLVMValueRef clone);
/* The same for calls of a shared copy: why there can be none, or NULL. */
const char *shim_why_not_shared(LLVMValueRef call, LLVMValueRef callee);
/* A copy of the clone with two more arguments, both pointers: to the path
 * register, and to a table. */
LLVMValueRef shim_share(LLVMValueRef clone, const char *name);
/* Calls the copy instead; returns the call, which is another one then. */
LLVMValueRef shim_call_shared(LLVMValueRef call, LLVMValueRef copy);
void shim_hand_over(LLVMValueRef call, LLVMValueRef state, LLVMValueRef table);
bool shim_calls_directly(LLVMValueRef call, LLVMValueRef callee);
bool shim_calls_pointer(LLVMValueRef call);
/* if (pointer == callee) callee(...); else the call as it is.  Returns the
 * first one, or NULL with the reason why not. */
LLVMValueRef shim_check_target(LLVMValueRef call, LLVMValueRef callee,
                               const char **reason);
/* Puts the body of a clone in place of a call.  NULL, or the reason why not;
 * then shim_uninline makes the call what it was. */
const char *shim_inline(LLVMValueRef call, LLVMValueRef clone);
void shim_uninline(LLVMValueRef call, LLVMValueRef callee);
/* The estimates for f are no longer true. */
void shim_forget(struct shim *s, LLVMValueRef f);
/* Declares what says where code came from, until it is imported: see
 * segments.c. */
LLVMValueRef shim_origin_marker(LLVMModuleRef module);

/* Counts for the optimizer: weights.cpp.  One count for each way out of a
 * block; some are not 0. */
void shim_set_weights(LLVMValueRef terminator, const uint64_t *counts,
                      unsigned n);
/* How often f was entered. */
void shim_set_entries(LLVMValueRef f, uint64_t count);
/* What the optimizer takes for the count of a block; shim_prepare first. */
uint64_t shim_estimate(struct shim *s, LLVMBasicBlockRef block);
/* Hot functions are inlined sooner, cold ones are kept small. */
void shim_set_temperature(LLVMValueRef f, bool is_hot);

/* The counts of all blocks of a program, those of a function together and its
 * entry first. */
struct shim_summary;
struct shim_summary *shim_summary_new(void);
void shim_summary_add(struct shim_summary *s, uint64_t count, bool is_entry);
/* Leaves it in a module; *hot is from which count on code is hot there, *cold
 * up to which it is cold.  False, and nothing is done, if all counts are 0. */
bool shim_summary_set(struct shim_summary *s, LLVMModuleRef module,
                      uint64_t *hot, uint64_t *cold);
void shim_summary_free(struct shim_summary *s);
bool shim_has_summary(LLVMModuleRef module);

/* Tells the user, as the compiler does: a warning, or a remark. */
void shim_say(LLVMModuleRef module, bool is_warning, const char *text);

struct plugin_options {
	const char *mode;     /* "edges,slow" */
	const char *feedback; /* file, or "" */
	const char *stage;    /* "late", "source" */
	const char *interest; /* file, or "" */
};

enum plugin_moment {
	PLUGIN_BEGIN, /* before anything changed what the front end made */
	PLUGIN_EARLY, /* before the optimizer */
	PLUGIN_LATE,  /* after it */
};

/* Instruments a module.  Returns true if it changed anything; on an error
 * stores a sentence in message (at most n bytes). */
bool cairn_plugin_run(LLVMModuleRef module, struct shim *s,
                      const struct plugin_options *options,
                      enum plugin_moment moment, char *message, size_t n);

/* --cairn-use: gives the optimizer the counts in a profile.  As above. */
bool cairn_plugin_use(LLVMModuleRef module, struct shim *s, const char *path,
                      char *message, size_t n);

/* May the call be one of a function with marks of this kind?  Calls of library
 * functions, intrinsics and assembly are not, nor is what returns twice. */
bool shim_may_call_marked(LLVMValueRef call);

/* The address of a function, also if its symbol may be that of another. */
LLVMValueRef shim_own_address(LLVMValueRef f);
/* The map names a weak one by where it is, not by what took its place. */
void shim_keep_own_address(LLVMValueRef f);
/* From now on the code of a module asks the dynamic linker for addresses of
 * functions that it declares, also in an executable with fixed addresses: there
 * the linker would make up one for those of shared objects. */
void shim_ask_for_addresses(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

/* Names shared by the marks in the IR and the writer of sections. */
#define PLUGIN_GC "cairn"
#define PLUGIN_FUNCTIONS "cairn.functions"
#define PLUGIN_OPTIONS "cairn.options"
#define PLUGIN_SOURCES "cairn.sources" /* checksums of source files */
#define PLUGIN_DONE "cairn.done"       /* nothing is left to do */
#define PLUGIN_MARKED "cairn.marked"   /* placeholders wait for the late step */
#define PLUGIN_PLACEHOLDER "cairn.count"
#define PLUGIN_NOTE "cairn.note"
#define SHIM_ENTRY "cairn-entry"
#define SHIM_THUNK "cairn-thunk"
#define SHIM_BODY "cairn-body"
/* attribute of a call: what the source calls */
#define SHIM_NAME "cairn-name"
/* what names of functions begin with that an asm goto is alone in */
#define SHIM_GOTO "cairn.goto"
/* what the name of a function's local symbol ends with */
#define SHIM_OWN ".own"

#endif /* CAIRN_PLUGIN_SHIM_H */
