/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inter-procedural path segments (K. Vaswani, "Efficient online path
 * profiling", thesis, 2007, section 3.4): calls that interesting segments go
 * into are inlined, and what is left are paths of one function, which end at
 * all other calls.
 *
 * Where code came from is noted before, by calls of a function that nobody has:
 *
 *     BLOCK copy, n    here begins block n, as a trace of the program has it
 *     CALL copy, n     the call that ends block n follows
 *     PART copy, n     the call that follows is block n itself
 *
 * They are copied with the code that they are in, and the inliner drops only
 * what cannot be reached.  A clone that is inlined has `copy` open; behind the
 * inlining it gets the number of the copy.  When a function is imported they
 * are taken out again, and its blocks have a list of what they were.  So
 * nothing has to be known of what the inliner does with blocks.
 *
 * Copies are inlined from the root inwards: the call of an inner one is found
 * in the copy that it is in.  Where the code would grow too much, the call is
 * one of a copy of the callee that is there once, for all its calls; it is
 * imported as if it was inlined, and path_shared.c does the rest.
 *
 * Invariant: a call that is not inlined, and ends a block of the trace, has a
 * CALL before it.
 * Cost: O(size of the root) for each copy.
 */
#include "plugin/segments.h"

#include "analysis/interest.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/ptrmap.h"
#include "plugin/function.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <inttypes.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

enum note_kind { NOTE_BLOCK, NOTE_CALL, NOTE_PART };

#define OPEN_COPY UINT32_MAX
/* How many instructions a function may grow to, and all of them together: so
 * many, or so many times what they had. */
#define GROWTH_FUNCTION 20000u
#define GROWTH_MODULE 100000u
#define GROWTH_FACTOR 4u

struct note {
	enum note_kind kind;
	uint32_t copy, block;
};

/* A copy that is inlined into a function. */
struct seg_copy {
	uint32_t parent; /* 0: the function itself, or 1 + index */
	block_id site;
	uint32_t function; /* in segs->functions */
	uint32_t listed;   /* in the list */
};

/* A copy of it that many calls share, and what it was: as of the current
 * function. */
struct seg_shared {
	struct shared_body body;
	uint32_t *first_origin;
	struct segments_step *origins;
	struct seg_note *notes;
	size_t nnotes;
};

/* A call of such a copy. */
struct seg_use {
	LLVMValueRef call;
	uint32_t function; /* in segs->functions */
	uint32_t copy;     /* 1 + index */
};

struct seg_function {
	LLVMValueRef f;     /* NULL: it was deleted */
	LLVMValueRef clone; /* as it was, or NULL */
	char *name, *file;  /* file: "" unless it is local */
	uint64_t hash;
	uint32_t listed; /* in the list, or SEGMENTS_NONE */
	struct seg_copy *copies;
	uint32_t ncopies, copies_cap;
	bool is_inlined;       /* into some other one */
	bool is_shared;        /* some call has a shared copy of it */
	LLVMValueRef shared_f; /* or NULL */
	struct seg_shared *shared;
	struct seg_use *uses;
	uint32_t nuses, uses_cap;
};

/* A note that was taken out, and what follows it. */
struct seg_note {
	struct note note;
	LLVMValueRef before;
};

struct segs {
	LLVMModuleRef module;
	struct shim *shim;
	const struct segment_list *list; /* or NULL */
	struct seg_function *functions;
	uint32_t nfunctions, functions_cap;
	uint32_t depth;    /* of copies that are inlined */
	uint32_t *of_list; /* per function of the list */
	uint64_t size, size_max;
	bool is_inlining; /* and nothing else: shared copies are left alone */
	struct shared_call *calls; /* of the current function */
	uint32_t ncalls, calls_cap;
	char **said; /* warnings, each once */
	size_t nsaid, said_cap;
	/* of the current function */
	struct seg_function *current;
	struct ptrmap sites; /* calls that end paths */
	struct ptrmap notes_of;
	struct seg_note *notes;
	size_t nnotes, notes_cap;
	uint32_t *first_origin; /* per node, and one more */
	struct segments_step *origins;
	uint32_t norigins, origins_cap;
	struct interest_function found;
};

/* --- notes --------------------------------------------------------------- */

static LLVMValueRef note_function(LLVMModuleRef module)
{
	return shim_origin_marker(module);
}

static void put_note(LLVMModuleRef module, LLVMValueRef before, struct note n)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
	LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
	LLVMValueRef f = note_function(module);
	LLVMValueRef args[3] = {
	        LLVMConstInt(i32, n.kind, false),
	        LLVMConstInt(i32, n.copy, false),
	        LLVMConstInt(i32, n.block, false),
	};

	LLVMPositionBuilderBefore(b, before);
	LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(before));
	LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, 3, "");
	LLVMDisposeBuilder(b);
}

static uint32_t argument(LLVMValueRef call, unsigned i)
{
	return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, i));
}

/* Is it a note? */
static bool read_note(LLVMValueRef i, LLVMValueRef f, struct note *n)
{
	if (!LLVMIsACallInst(i) || LLVMGetCalledValue(i) != f)
		return false;
	*n = (struct note){(enum note_kind)argument(i, 0), argument(i, 1),
	                   argument(i, 2)};
	return true;
}

/* The instruction behind notes. */
static LLVMValueRef behind_notes(LLVMValueRef i, LLVMValueRef f)
{
	struct note n;

	while (read_note(i, f, &n))
		i = LLVMGetNextInstruction(i);
	return i;
}

static void put_notes(LLVMModuleRef module, const struct function *fn)
{
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		const struct node *node = &fn->nodes[b];

		put_note(module,
		         node->first ? node->first
		                     : shim_insertion_point(node->block),
		         (struct note){node->is_call ? NOTE_PART : NOTE_BLOCK,
		                       0, b});
	}
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		const struct node *node = &fn->nodes[b];

		if (node->last_call)
			put_note(module, node->last_call,
			         (struct note){NOTE_CALL, 0, b});
		if (node->is_call)
			put_note(module, node->first,
			         (struct note){NOTE_CALL, 0, b - 1});
	}
}

/* Calls visit for every note of f; what it does to the note is all right. */
static void each_note(struct segs *g, LLVMValueRef f,
                      void (*visit)(struct segs *g, LLVMValueRef i,
                                    struct note n, uint32_t value),
                      uint32_t value)
{
	LLVMValueRef marker = note_function(g->module);
	struct note n;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i;
		     i = next) {
			next = LLVMGetNextInstruction(i);
			if (read_note(i, marker, &n))
				visit(g, i, n, value);
		}
}

static void set_copy(LLVMValueRef i, uint32_t copy)
{
	LLVMTypeRef i32 = LLVMTypeOf(LLVMGetOperand(i, 1));

	LLVMSetOperand(i, 1, LLVMConstInt(i32, copy, false));
}

static void open_note(struct segs *g, LLVMValueRef i, struct note n,
                      uint32_t value)
{
	(void)g;
	(void)n;
	set_copy(i, value);
}

static void close_note(struct segs *g, LLVMValueRef i, struct note n,
                       uint32_t value)
{
	(void)g;
	if (n.copy == OPEN_COPY)
		set_copy(i, value);
}

/* --- functions ----------------------------------------------------------- */

static bool is_local(LLVMValueRef f)
{
	LLVMLinkage linkage = LLVMGetLinkage(f);

	return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static bool has_body(LLVMValueRef f)
{
	return !LLVMIsDeclaration(f) &&
	       LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage;
}

/* The one of the list with this key. */
static uint32_t find_listed(const struct segs *g, const struct seg_function *x)
{
	uint32_t n = g->list ? g->list->nfunctions : 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct key *k = &g->list->functions[i].key;

		if (k->hash == x->hash && !strcmp(k->name, x->name) &&
		    !strcmp(k->file, x->file))
			return i;
	}
	return SEGMENTS_NONE;
}

/* Reads the graph that a trace has, and notes it in the code. */
static void note_one(struct segs *g, LLVMValueRef f)
{
	const struct mode traced = {.trace = true};
	struct seg_function x = {.f = f};
	struct function fn;
	const char *name;
	size_t n;

	shim_land_gotos(g->shim, f);
	function_prepare(f, g->shim);
	function_import(&fn, f, &traced, g->shim);
	x.hash = function_hash(&fn);
	name = name_of(f, &n);
	x.name = xstrndup(name, n);
	x.file = is_local(f) ? path_of_function(f) : NULL;
	if (!x.file)
		x.file = xstrdup("");
	x.listed = find_listed(g, &x);
	put_notes(g->module, &fn);
	function_release(&fn);
	if (x.listed != SEGMENTS_NONE)
		g->of_list[x.listed] = g->nfunctions;
	g->size += shim_size(f);
	VEC_RESERVE(g->functions, g->nfunctions, g->functions_cap);
	g->functions[g->nfunctions++] = x;
}

static struct seg_function *function_of(struct segs *g, LLVMValueRef f)
{
	for (uint32_t i = 0; i < g->nfunctions; i++)
		if (g->functions[i].f == f)
			return &g->functions[i];
	return NULL;
}

/* --- what is refused ----------------------------------------------------- */

static void warn(struct segs *g, char *text)
{
	for (size_t i = 0; i < g->nsaid; i++)
		if (!strcmp(g->said[i], text)) {
			free(text);
			return;
		}
	VEC_RESERVE(g->said, g->nsaid, g->said_cap);
	g->said[g->nsaid++] = text;
	shim_say(g->module, true, text);
}

static void refuse(struct segs *g, LLVMValueRef call, const char *caller,
                   const char *callee, const char *reason)
{
	LLVMMetadataRef file = NULL;
	unsigned line = call ? line_of(call, &file) : 0;
	char *path = line ? path_of(file) : NULL;
	char *place = path ? xasprintf("%s:%u: ", path, line) : xstrdup("");

	warn(g,
	     xasprintf("cairn: calls: %sthe call of %s in %s is not inlined, "
	               "and segments end there: %s",
	               place, callee, caller, reason));
	free(place);
	free(path);
}

/* Before anything is inlined into it. */
static void clone_listed(struct segs *g, uint32_t listed)
{
	uint32_t i = g->of_list[listed];
	struct seg_function *x = i == SEGMENTS_NONE ? NULL : &g->functions[i];

	if (!x || x->clone)
		return;
	x->clone = shim_clone(x->f);
	each_note(g, x->clone, open_note, OPEN_COPY);
}

/* Why a function cannot be part of another one, or NULL. */
static const char *why_not_part(LLVMValueRef f)
{
	if (shim_has_foreign_personality(f) || shim_has_calls_without_sites(f))
		return "its calls are counted strictly";
	return NULL;
}

/* The clone calls the function itself, so that it is never recursive. */
static const char *why_not(LLVMValueRef call, struct seg_function *callee)
{
	const char *reason = why_not_part(callee->f);

	if (!reason)
		reason = shim_why_not_inlined(call, callee->f, callee->clone);
	return reason;
}

/* Would the code grow too much by one more copy? */
static bool is_too_large(const struct segs *g, LLVMValueRef root,
                         const struct seg_function *callee)
{
	uint64_t size = shim_size(callee->clone);

	return shim_size(root) + size > GROWTH_FUNCTION ||
	       g->size + size > g->size_max;
}

/* Why its code cannot be shared, or NULL. */
static const char *why_not_shared(LLVMValueRef root, LLVMValueRef call,
                                  const struct seg_function *callee)
{
	if (why_not_part(root) || is_jumped_into(root) ||
	    shim_has_builtin_setjmp(root) || shim_leaves_in_assembly(root))
		return "calls of its caller are counted strictly";
	if (shim_runs_while_loading(root))
		return "its caller may run while the program is loaded";
	if (shim_why_not(root))
		return "its caller is not covered";
	return shim_why_not_shared(call, callee->clone);
}

static void refuse_shared(struct segs *g, LLVMValueRef call, const char *caller,
                          const char *callee, const char *reason)
{
	char *text = xasprintf("the code would grow too much, and no copy can "
	                       "be shared: %s",
	                       reason);

	refuse(g, call, caller, callee, text);
	free(text);
}

/* --- inlining ------------------------------------------------------------ */

/* The notes before a call: those that go when it is inlined. */
struct site_notes {
	LLVMValueRef call, part; /* part: NULL unless it is one */
	struct note call_note, part_note;
};

/* The call at the end of a block of a copy, or NULL: it cannot be reached. */
static LLVMValueRef find_site(struct segs *g, LLVMValueRef f, uint32_t copy,
                              block_id site, struct site_notes *notes)
{
	LLVMValueRef marker = note_function(g->module), call;
	struct note n;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
		     i = LLVMGetNextInstruction(i)) {
			if (!read_note(i, marker, &n) || n.kind != NOTE_CALL ||
			    n.copy != copy || n.block != site)
				continue;
			*notes = (struct site_notes){.call = i, .call_note = n};
			call = behind_notes(i, marker);
			i = LLVMGetPreviousInstruction(i);
			if (i && read_note(i, marker, &n) &&
			    n.kind == NOTE_PART) {
				notes->part = i;
				notes->part_note = n;
			}
			return call;
		}
	return NULL;
}

static void drop_notes(struct site_notes *notes)
{
	LLVMInstructionEraseFromParent(notes->call);
	if (notes->part)
		LLVMInstructionEraseFromParent(notes->part);
}

static void put_site_notes(struct segs *g, const struct site_notes *notes,
                           LLVMValueRef call)
{
	if (notes->part)
		put_note(g->module, call, notes->part_note);
	put_note(g->module, call, notes->call_note);
}

/*
 * The call that is to be inlined: the one that is there, or one of a function
 * pointer that turns out to be this function.  NULL with a reason.
 */
static LLVMValueRef prepare_call(struct segs *g, LLVMValueRef call,
                                 LLVMValueRef callee, struct site_notes *notes,
                                 const char **reason)
{
	LLVMValueRef direct;

	if (shim_calls_directly(call, callee)) {
		drop_notes(notes);
		return call;
	}
	if (!shim_calls_pointer(call)) {
		*reason = "another function is called there, which calls it";
		return NULL;
	}
	direct = shim_check_target(call, callee, reason);
	if (!direct)
		return NULL;
	drop_notes(notes);
	put_site_notes(g, notes, call);
	return direct;
}

/* Calls the shared copy of a function, which is made if there is none. */
static void share_copy(struct segs *g, struct seg_function *root,
                       LLVMValueRef call, struct seg_function *callee)
{
	if (!callee->is_shared)
		g->size += shim_size(callee->clone);
	callee->is_shared = true;
	if (g->is_inlining)
		return;
	if (!callee->shared_f)
		callee->shared_f = shim_share(callee->clone, callee->name);
	callee->is_inlined = true;
	VEC_RESERVE(root->uses, root->nuses, root->uses_cap);
	root->uses[root->nuses++] = (struct seg_use){
	        .call = shim_call_shared(call, callee->shared_f),
	        .function = (uint32_t)(callee - g->functions),
	        .copy = root->ncopies + 1,
	};
}

enum how_copied { NOT_COPIED, INLINED, SHARED };

/* Inlines one copy, or shares it; what was possible. */
static enum how_copied inline_copy(struct segs *g, struct seg_function *root,
                                   uint32_t parent, block_id site,
                                   struct seg_function *callee)
{
	struct site_notes notes;
	LLVMValueRef call = find_site(g, root->f, parent, site, &notes);
	LLVMValueRef clone, there;
	bool is_shared;
	const char *reason;

	if (!call)
		return NOT_COPIED;
	reason = why_not(call, callee);
	is_shared = !reason && is_too_large(g, root->f, callee);
	if (is_shared && (reason = why_not_shared(root->f, call, callee))) {
		refuse_shared(g, call, root->name, callee->name, reason);
		return NOT_COPIED;
	}
	there = call;
	if (!reason)
		call = prepare_call(g, call, callee->f, &notes, &reason);
	if (reason) {
		refuse(g, there, root->name, callee->name, reason);
		return NOT_COPIED;
	}
	if (is_shared) {
		share_copy(g, root, call, callee);
		return SHARED;
	}
	clone = callee->clone;
	g->size += shim_size(clone);
	reason = shim_inline(call, clone);
	if (reason) {
		shim_uninline(call, callee->f);
		put_site_notes(g, &notes, call);
		refuse(g, call, root->name, callee->name, reason);
		return NOT_COPIED;
	}
	callee->is_inlined = true;
	each_note(g, root->f, close_note, root->ncopies + 1);
	return INLINED;
}

/* What is called at a copy of the list, if it is here. */
static struct seg_function *callee_of(struct segs *g,
                                      const struct seg_function *root,
                                      const struct segments_copy *c)
{
	uint32_t i = g->of_list[c->function];

	if (i != SEGMENTS_NONE)
		return &g->functions[i];
	refuse(g, NULL, root->name, g->list->functions[c->function].key.name,
	       "it is in another file, or has changed since the list was made; "
	       "with -flto files are one");
	return NULL;
}

static void inline_into(struct segs *g, struct seg_function *root)
{
	const struct segment_list *l = g->list;
	/* per copy of the list: OPEN_COPY, or the number in the root */
	uint32_t *number = xcalloc(l->ncopies, sizeof(*number));
	bool *is_shared = xcalloc(l->ncopies, sizeof(*is_shared));

	for (uint32_t i = 0; i < l->ncopies; i++) {
		const struct segments_copy *c = &l->copies[i];
		struct seg_function *callee;
		enum how_copied how;

		number[i] = i == root->listed ? 0 : OPEN_COPY;
		if (c->parent == SEGMENTS_NONE || c->root != root->listed ||
		    c->depth > g->depth || number[c->parent] == OPEN_COPY)
			continue;
		callee = callee_of(g, root, c);
		if (callee && is_shared[c->parent]) {
			refuse(g, NULL, root->name, callee->name,
			       "it is made in a copy that several calls share");
			continue;
		}
		how = callee ? inline_copy(g, root, number[c->parent], c->site,
		                           callee)
		             : NOT_COPIED;
		if (how == NOT_COPIED)
			continue;
		is_shared[i] = how == SHARED;
		VEC_RESERVE(root->copies, root->ncopies, root->copies_cap);
		root->copies[root->ncopies++] =
		        (struct seg_copy){number[c->parent], c->site,
		                          (uint32_t)(callee - g->functions), i};
		number[i] = root->ncopies;
	}
	if (root->ncopies)
		shim_forget(g->shim, root->f);
	free(number);
	free(is_shared);
}

/* Functions that were inlined and that nobody calls any more. */
static void drop_unused(struct segs *g)
{
	bool again = true;

	for (uint32_t i = 0; i < g->nfunctions; i++)
		if (g->functions[i].clone)
			shim_delete(g->functions[i].clone);
	while (again) {
		again = false;
		for (uint32_t i = 0; i < g->nfunctions; i++) {
			struct seg_function *x = &g->functions[i];

			if (!x->f || !x->is_inlined || !shim_is_unused(x->f))
				continue;
			shim_delete(x->f);
			x->f = NULL;
			again = true;
		}
	}
}

static void take_notes(struct segs *g, LLVMValueRef f);

/* Reads the graph of a shared copy; what it was is kept, too. */
static void import_shared(struct segs *g, struct seg_function *x)
{
	struct seg_shared *shared = xcalloc(1, sizeof(*shared));
	const struct mode mode = {
	        .paths = true, .is_shared = true, .sites = &g->sites};

	x->shared = shared;
	take_notes(g, x->shared_f);
	function_prepare(x->shared_f, g->shim);
	function_import(&shared->body.fn, x->shared_f, &mode, g->shim);
	segs_import(g, &shared->body.fn);
	shared->first_origin = g->first_origin;
	shared->origins = g->origins;
	shared->notes = g->notes;
	shared->nnotes = g->nnotes;
	g->first_origin = NULL;
	g->origins = NULL;
	g->norigins = g->origins_cap = 0;
	g->notes = NULL;
	g->nnotes = g->notes_cap = 0;
}

/* How large all functions together may become. */
static uint64_t find_size_max(const struct segs *g, uint32_t grow)
{
	if (grow == MODE_GROW_AUTO)
		return g->size * GROWTH_FACTOR + GROWTH_MODULE;
	return g->size + g->size / 100 * grow + g->size % 100 * grow / 100;
}

struct segs *segs_new(LLVMModuleRef module, struct shim *s,
                      const struct segment_list *list, const struct mode *mode)
{
	struct segs *g = xcalloc(1, sizeof(*g));

	g->module = module;
	g->shim = s;
	g->list = list;
	g->depth = mode->depth;
	g->is_inlining = mode->is_inlining;
	if (list) {
		g->of_list = xcalloc((size_t)list->nfunctions + 1,
		                     sizeof(*g->of_list));
		memset(g->of_list, 0xff,
		       list->nfunctions * sizeof(*g->of_list));
	}
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		if (has_body(f) && !trace_why_not(f))
			note_one(g, f);
	g->size_max = find_size_max(g, mode->grow);
	for (uint32_t i = list ? list->nfunctions : 0;
	     list && i < list->ncopies; i++)
		clone_listed(g, list->copies[i].function);
	for (uint32_t i = 0; list && i < g->nfunctions; i++)
		if (g->functions[i].listed != SEGMENTS_NONE)
			inline_into(g, &g->functions[i]);
	drop_unused(g);
	for (uint32_t i = 0; i < g->nfunctions; i++)
		if (g->functions[i].shared_f)
			import_shared(g, &g->functions[i]);
	return g;
}

bool segs_is_shared(const struct segs *g, LLVMValueRef f)
{
	for (uint32_t i = 0; i < g->nfunctions; i++)
		if (g->functions[i].shared_f == f)
			return true;
	return false;
}

void segs_mark_shared(struct segs *g, const struct mode *mode)
{
	for (uint32_t i = 0; i < g->nfunctions; i++) {
		struct seg_function *x = &g->functions[i];

		if (x->shared && x->shared->body.ncontexts)
			mark_shared(&x->shared->body, mode);
		else if (x->shared_f && shim_is_unused(x->shared_f))
			shim_delete(x->shared_f);
	}
}

static void free_shared(struct seg_shared *s)
{
	if (!s)
		return;
	function_release(&s->body.fn);
	free(s->body.edges);
	free(s->first_origin);
	free(s->origins);
	free(s->notes);
	free(s);
}

void segs_free(struct segs *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->nfunctions; i++) {
		free(g->functions[i].name);
		free(g->functions[i].file);
		free(g->functions[i].copies);
		free(g->functions[i].uses);
		free_shared(g->functions[i].shared);
	}
	for (size_t i = 0; i < g->nsaid; i++)
		free(g->said[i]);
	ptrmap_release(&g->sites);
	ptrmap_release(&g->notes_of);
	free(g->said);
	free(g->calls);
	free(g->functions);
	free(g->of_list);
	free(g->notes);
	free(g->first_origin);
	free(g->origins);
	free(g->found.numbers);
	free(g);
}

/* --- one function -------------------------------------------------------- */

static void take_note(struct segs *g, LLVMValueRef i, struct note n,
                      uint32_t value)
{
	LLVMValueRef before = behind_notes(i, note_function(g->module));

	(void)value;
	if (n.kind == NOTE_CALL)
		ptrmap_set(&g->sites, before, n.block);
	VEC_RESERVE(g->notes, g->nnotes, g->notes_cap);
	g->notes[g->nnotes] = (struct seg_note){n, before};
	if (ptrmap_get(&g->notes_of, before) == PTRMAP_NONE)
		ptrmap_set(&g->notes_of, before, (uint32_t)g->nnotes);
	g->nnotes++;
}

static void erase_note(struct segs *g, LLVMValueRef i, struct note n,
                       uint32_t value)
{
	(void)g;
	(void)n;
	(void)value;
	LLVMInstructionEraseFromParent(i);
}

static void take_notes(struct segs *g, LLVMValueRef f)
{
	ptrmap_release(&g->sites);
	ptrmap_release(&g->notes_of);
	g->sites = g->notes_of = (struct ptrmap){0};
	g->nnotes = 0;
	each_note(g, f, take_note, 0);
	each_note(g, f, erase_note, 0);
}

static void list_calls(struct segs *g)
{
	g->ncalls = 0;
	for (uint32_t i = 0; i < g->current->nuses; i++) {
		const struct seg_use *use = &g->current->uses[i];

		VEC_RESERVE(g->calls, g->ncalls, g->calls_cap);
		g->calls[g->ncalls++] = (struct shared_call){
		        use->call, &g->functions[use->function].shared->body};
	}
}

bool segs_begin(struct segs *g, LLVMValueRef f, struct mode *mode)
{
	g->current = function_of(g, f);
	if (!g->current)
		return false;
	take_notes(g, f);
	list_calls(g);
	mode->sites = &g->sites;
	mode->shared = g->calls;
	mode->nshared = g->ncalls;
	return true;
}

static void add_origins(struct segs *g, LLVMValueRef at, bool is_part)
{
	uint32_t i = ptrmap_get(&g->notes_of, at);

	for (; i < g->nnotes && g->notes[i].before == at; i++) {
		const struct note *n = &g->notes[i].note;

		if (n->kind != (is_part ? NOTE_PART : NOTE_BLOCK))
			continue;
		VEC_RESERVE(g->origins, g->norigins, g->origins_cap);
		g->origins[g->norigins++] =
		        (struct segments_step){n->copy, n->block};
	}
}

static const struct seg_use *find_use(const struct segs *g, LLVMValueRef call)
{
	const struct seg_use *use = g->current->uses;

	while (use->call != call)
		use++;
	return use;
}

/* What the nodes of a shared copy were, which they are here for one call. */
static void add_shared_origins(struct segs *g, const struct shared_use *at)
{
	const struct seg_use *use = find_use(g, at->call);
	const struct seg_shared *s = g->functions[use->function].shared;

	for (block_id b = 1; b < s->body.fn.g.nblocks; b++) {
		g->first_origin[at->first + b - 1] = g->norigins;
		for (uint32_t i = s->first_origin[b];
		     i < s->first_origin[b + 1]; i++) {
			VEC_RESERVE(g->origins, g->norigins, g->origins_cap);
			g->origins[g->norigins++] = (struct segments_step){
			        use->copy, s->origins[i].block};
		}
	}
}

/* Blocks that end right before a call that is a node are of the one before. */
void segs_import(struct segs *g, const struct function *fn)
{
	free(g->first_origin);
	g->first_origin =
	        xcalloc((size_t)fn->g.nblocks + 1, sizeof(*g->first_origin));
	g->norigins = 0;
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		const struct node *node = &fn->nodes[b];

		if (node->is_elsewhere)
			break;
		g->first_origin[b] = g->norigins;
		if (node->is_call || node->is_shared) {
			add_origins(g, node->first, true);
			continue;
		}
		for (LLVMValueRef i = node_first(node); i && i != node->end;
		     i = LLVMGetNextInstruction(i))
			add_origins(g, i, false);
		if (node->end && b + 1 < fn->g.nblocks &&
		    (fn->nodes[b + 1].is_call || fn->nodes[b + 1].is_shared))
			add_origins(g, node->end, false);
	}
	for (uint32_t i = 0; i < fn->nshared; i++)
		add_shared_origins(g, &fn->shared[i]);
	g->first_origin[fn->g.nblocks] = g->norigins;
}

/* --- the map ------------------------------------------------------------- */

static void put_function(const struct seg_function *x, struct bytes *b)
{
	bytes_put_str(b, x->name, strlen(x->name));
	bytes_put_str(b, x->file, strlen(x->file));
}

/* The calls of known functions among notes, in `copy` if that is open; returns
 * how many. */
static uint64_t put_calls(struct segs *g, const struct seg_note *notes,
                          size_t nnotes, uint32_t copy, struct bytes *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < nnotes; i++) {
		const struct note *note = &notes[i].note;
		const struct seg_function *x;

		if (note->kind != NOTE_CALL)
			continue;
		x = function_of(g, LLVMGetCalledValue(notes[i].before));
		if (!x)
			continue;
		bytes_put_uv(b, note->copy == OPEN_COPY ? copy : note->copy);
		bytes_put_uv(b, note->block);
		put_function(x, b);
		n++;
	}
	return n;
}

/* Calls of functions that are known, and could have been inlined. */
static void put_callees(struct segs *g, struct bytes *b)
{
	struct bytes calls = {0};
	uint64_t n = put_calls(g, g->notes, g->nnotes, 0, &calls);

	for (uint32_t i = 0; i < g->current->nuses; i++) {
		const struct seg_use *use = &g->current->uses[i];
		const struct seg_shared *s = g->functions[use->function].shared;

		n += put_calls(g, s->notes, s->nnotes, use->copy, &calls);
	}
	bytes_put_uv(b, n);
	bytes_put(b, calls.data, calls.n);
	bytes_release(&calls);
}

void segs_describe(struct segs *g, const struct function *fn, struct bytes *b)
{
	const struct seg_function *x = g->current;

	bytes_put_u64(b, x->hash);
	bytes_put_uv(b, x->ncopies);
	for (uint32_t i = 0; i < x->ncopies; i++) {
		const struct seg_function *callee =
		        &g->functions[x->copies[i].function];

		bytes_put_uv(b, x->copies[i].parent);
		bytes_put_uv(b, x->copies[i].site);
		put_function(callee, b);
		bytes_put_u64(b, callee->hash);
	}
	put_callees(g, b);
	for (block_id n = 1; n < fn->g.nblocks; n++) {
		bytes_put_uv(b, g->first_origin[n + 1] - g->first_origin[n]);
		for (uint32_t i = g->first_origin[n];
		     i < g->first_origin[n + 1]; i++) {
			bytes_put_uv(b, g->origins[i].copy);
			bytes_put_uv(b, g->origins[i].block);
		}
	}
}

/* --- segments of the list as paths --------------------------------------- */

/* A segment with the copies that it has in this function. */
struct wanted_segment {
	const struct segs *g;
	const struct function *fn;
	const struct dag *d;
	struct segments_step *steps;
	uint32_t n;
	enum segments_end end;
	struct segments_step to;
	struct path path; /* so far */
	bool *keep;       /* edges to mark, or NULL: numbers are wanted */
	uint64_t *numbers;
	uint32_t nnumbers, numbers_cap;
};

static bool is_step(const struct segments_step *a,
                    const struct segments_step *b)
{
	return a->copy == b->copy && a->block == b->block;
}

/* What a node was at first, and last, or NULL. */
static const struct segments_step *first_of(const struct segs *g, block_id b)
{
	return g->first_origin[b] < g->first_origin[b + 1]
	               ? &g->origins[g->first_origin[b]]
	               : NULL;
}

static const struct segments_step *last_of(const struct segs *g, block_id b)
{
	return g->first_origin[b] < g->first_origin[b + 1]
	               ? &g->origins[g->first_origin[b + 1] - 1]
	               : NULL;
}

static bool ends_with(const struct wanted_segment *w, edge_id e)
{
	block_id dst = w->fn->g.edges[e].dst;
	uint32_t kind = w->fn->edges[e].kind;

	if (w->end == SEGMENTS_LEAVES)
		return dst == CFG_OUTSIDE && kind != CAIRN_EDGE_ABNORMAL;
	if (dst == CFG_OUTSIDE || !dag_is_ended(w->d, e))
		return false;
	if (kind == CAIRN_EDGE_SITE || kind == CAIRN_EDGE_CALL)
		return w->end == SEGMENTS_CALLS;
	return w->end == SEGMENTS_BACK && first_of(w->g, dst) &&
	       is_step(first_of(w->g, dst), &w->to);
}

static void push_edge(struct path *p, edge_id e)
{
	VEC_RESERVE(p->edges, p->nedges, p->edges_cap);
	p->edges[p->nedges++] = e;
}

static void take_path(struct wanted_segment *w)
{
	uint64_t number;

	for (uint32_t i = 0; w->keep && i < w->path.nedges; i++)
		w->keep[w->path.edges[i]] = true;
	if (w->keep ||
	    paths_encode(&w->fn->paths->paths, &w->path, &number, NULL) < 0)
		return;
	VEC_RESERVE(w->numbers, w->nnumbers, w->numbers_cap);
	w->numbers[w->nnumbers++] = number;
}

/* Goes on from a node, behind the first `at` steps.  Nodes that were nothing
 * before lie on any way. */
static void follow(struct wanted_segment *w, block_id b, uint32_t at)
{
	const struct cfg *g = &w->fn->g;

	for (uint32_t i = w->g->first_origin[b]; i < w->g->first_origin[b + 1];
	     i++)
		if (at == w->n || !is_step(&w->g->origins[i], &w->steps[at++]))
			return;
	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
		edge_id e = g->out[i];

		push_edge(&w->path, e);
		if (at == w->n && ends_with(w, e))
			take_path(w);
		else if (w->d->how[e] == DAG_THROUGH &&
		         g->edges[e].dst != CFG_OUTSIDE)
			follow(w, g->edges[e].dst, at);
		w->path.nedges--;
	}
}

static void search(struct wanted_segment *w)
{
	for (block_id b = 1; b < w->fn->g.nblocks; b++) {
		if (w->d->begin_of[b] == CFG_NONE &&
		    w->d->scatter_of[b] == CFG_NONE)
			continue;
		w->path.enters = false;
		w->path.first = b;
		w->path.nedges = 0;
		follow(w, b, 0);
	}
	w->path.enters = true;
	w->path.first = 1;
	w->path.nedges = 0;
	push_edge(&w->path, 0);
	follow(w, 1, 0);
	w->path.nedges = 0;
}

/* The copy of the list in the current function, or OPEN_COPY. */
static uint32_t local_copy(const struct segs *g, uint32_t copy)
{
	if (copy == g->current->listed)
		return 0;
	for (uint32_t i = 0; i < g->current->ncopies; i++)
		if (g->current->copies[i].listed == copy)
			return i + 1;
	return OPEN_COPY;
}

/* False if it runs through a call that was not inlined. */
static bool search_item(struct wanted_segment *w,
                        const struct segment_list_item *item)
{
	const struct segment_list *l = w->g->list;
	bool is_here = true;

	w->n = item->nsteps;
	w->end = item->end;
	w->steps = xcalloc(w->n, sizeof(*w->steps));
	for (uint32_t i = 0; i < w->n; i++) {
		w->steps[i] = l->steps[item->first_step + i];
		w->steps[i].copy = local_copy(w->g, w->steps[i].copy);
		is_here = is_here && w->steps[i].copy != OPEN_COPY;
	}
	w->to = item->to;
	if (w->end == SEGMENTS_BACK)
		w->to.copy = local_copy(w->g, w->to.copy);
	if (is_here)
		search(w);
	free(w->steps);
	return is_here;
}

/* All that are wanted; returns how many of them are no paths. */
static uint32_t search_all(struct wanted_segment *w, bool wants_all,
                           uint32_t *n)
{
	const struct segment_list *l = w->g->list;
	uint32_t nlost = 0;

	*n = 0;
	for (uint32_t i = 0; i < l->nitems; i++) {
		const struct segment_list_item *item = &l->items[i];
		uint32_t copy = l->steps[item->first_step].copy;
		uint32_t before = w->nnumbers;

		if (l->copies[copy].root != w->g->current->listed ||
		    (!item->is_chosen && !wants_all))
			continue;
		++*n;
		if (search_item(w, item))
			nlost += w->nnumbers == before;
	}
	path_release(&w->path);
	return nlost;
}

static bool has_segments(const struct segs *g)
{
	return g->current && g->current->listed != SEGMENTS_NONE && g->list &&
	       g->list->kind != SEGMENT_LIST_PLAN;
}

void segs_keep(void *context, const struct function *fn, const struct dag *d,
               bool *keep)
{
	const struct segs_search *q = context;
	struct wanted_segment w = {
	        .g = q->segs, .fn = fn, .d = d, .keep = keep};
	uint32_t n;

	if (has_segments(q->segs))
		search_all(&w, q->wants_all, &n);
}

static bool is_cut(const struct segs *g, block_id src, block_id dst)
{
	const struct segments_step *from = last_of(g, src);
	const struct segments_step *to = first_of(g, dst);

	for (uint32_t i = 0; from && to && i < g->list->ncuts; i++) {
		struct segments_cut cut = g->list->cuts[i];

		cut.from.copy = local_copy(g, cut.from.copy);
		cut.to.copy = local_copy(g, cut.to.copy);
		if (is_step(&cut.from, from) && is_step(&cut.to, to))
			return true;
	}
	return false;
}

uint32_t segs_cut(void *context, const struct function *fn, uint32_t *cuts)
{
	const struct segs_search *q = context;
	uint32_t n = 0;

	if (!has_segments(q->segs))
		return 0;
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		const struct cfg_edge *x = &fn->g.edges[e];

		if (x->src != CFG_OUTSIDE && x->dst != CFG_OUTSIDE &&
		    fn->edges[e].kind != CAIRN_EDGE_SITE &&
		    is_cut(q->segs, x->src, x->dst))
			cuts[n++] = e;
	}
	return n;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void say_lost(struct segs *g, uint32_t nlost, uint32_t n)
{
	warn(g, xasprintf("cairn: calls: %" PRIu32 " of %" PRIu32
	                  " segments of %s run over edges at which its paths "
	                  "had to be cut, so that parts of them are counted; "
	                  "choose fewer of them (cairn segments --list --top)",
	                  nlost, n, g->current->name));
}

const struct interest_function *segs_find(void *context,
                                          const struct function *fn)
{
	const struct segs_search *q = context;
	struct segs *g = q->segs;
	struct wanted_segment w = {
	        .g = g, .fn = fn, .d = &fn->paths->paths.dag};
	uint32_t n, nlost;

	free(g->found.numbers);
	g->found = (struct interest_function){0};
	if (!g->current || !g->list || g->list->kind == SEGMENT_LIST_PLAN)
		return NULL;
	nlost = has_segments(g) ? search_all(&w, q->wants_all, &n) : 0;
	if (nlost)
		say_lost(g, nlost, n);
	if (w.nnumbers)
		qsort(w.numbers, w.nnumbers, sizeof(*w.numbers), by_number);
	g->found.numbers = w.numbers;
	for (uint32_t i = 0; i < w.nnumbers; i++)
		if (!g->found.n || w.numbers[g->found.n - 1] != w.numbers[i])
			w.numbers[g->found.n++] = w.numbers[i];
	return g->found.n || q->wants_all ? &g->found : NULL;
}

/* --- nothing but inlining ------------------------------------------------ */

void segs_strip(LLVMModuleRef module)
{
	struct segs g = {.module = module};
	LLVMValueRef marker = note_function(module);

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		each_note(&g, f, erase_note, 0);
	if (!LLVMGetFirstUse(marker))
		LLVMDeleteFunction(marker);
}
