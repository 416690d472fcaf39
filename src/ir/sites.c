/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of a function that a recording is about, their cells, and
 * where its tick goes on.
 *
 * Whatever is not known to follow from its operands is an input: an intrinsic
 * is executed again only if it touches no memory and is not in the list of
 * those whose result depends on where the code or the frame is, or on a library
 * that computes it.
 *
 * Ticks: a moment is named by the tick and a site, so every cycle of the CFG
 * has to go through a tick: retreating edges of one depth-first search are in
 * every cycle.  So has every way that leaves a frame and comes to the same site
 * in another one of the function, which called it: such calls have a tick when
 * they have returned (CAIRN_IR_AFTER, plugin/returns.cpp).  A fault that a
 * handler jumps away from is replayed at the next tick: a frame that calls
 * setjmp has one before it returns, and is gone.
 *
 * Cost: linear in instructions and edges.
 */
#include "ir/sites.h"

#include "abi/record.h"
#include "base/alloc.h"
#include "base/ptrmap.h"

#include <stdlib.h>
#include <string.h>

static bool has_text_attribute(LLVMValueRef f, const char *name)
{
	return LLVMGetStringAttributeAtIndex(
	        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
	        (unsigned)strlen(name));
}

bool ir_has_marks(LLVMValueRef f)
{
	return !LLVMIsDeclaration(f) &&
	       LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage &&
	       !has_text_attribute(f, CAIRN_IR_LEFT_OUT);
}

uint32_t ir_ncells(LLVMTypeRef type, LLVMTargetDataRef layout)
{
	uint32_t n = 0;

	switch (LLVMGetTypeKind(type)) {
	case LLVMVoidTypeKind:
		return 0;
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			n += ir_ncells(LLVMStructGetTypeAtIndex(type, i),
			               layout);
		return n;
	case LLVMArrayTypeKind:
		return (uint32_t)LLVMGetArrayLength2(type) *
		       ir_ncells(LLVMGetElementType(type), layout);
	default:
		return (uint32_t)((LLVMStoreSizeOfType(layout, type) + 7) / 8);
	}
}

/* --- kinds --------------------------------------------------------------- */

/* What a pointer points into, as far as one can see. */
static LLVMValueRef object_of(LLVMValueRef pointer)
{
	for (;;) {
		if (LLVMIsAGetElementPtrInst(pointer) ||
		    (LLVMIsAConstantExpr(pointer) &&
		     LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
			pointer = LLVMGetOperand(pointer, 0);
		else
			return pointer;
	}
}

/* Memory that no one else can reach. */
static bool is_private(LLVMValueRef pointer)
{
	LLVMValueRef object = object_of(pointer);
	size_t n;

	if (LLVMIsAAllocaInst(object))
		return true;
	if (!LLVMIsAGlobalVariable(object))
		return false;
	return !strcmp(LLVMGetValueName2(object, &n), CAIRN_RT_RECORD);
}

static bool has_attribute(LLVMValueRef f, const char *name, uint64_t value)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(
	        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);

	return a && LLVMGetEnumAttributeValue(a) == value;
}

/* Names of intrinsics, to the first point behind "llvm." or whole. */
static bool is_among(const char *name, const char *const *list)
{
	for (; *list; list++) {
		size_t n = strlen(*list);

		if (!strncmp(name, *list, n) &&
		    (name[n] == '\0' || name[n] == '.'))
			return true;
	}
	return false;
}

/* --- how floating-point arithmetic rounds -------------------------------- */

static bool changes_env_by_name(const char *name)
{
	static const char *const functions[] = {
	        "fesetround", "fesetenv",   "feholdexcept", "feupdateenv",
	        "fesetmode",  "__setfpucw", NULL,
	};
	static const char *const intrinsics[] = {
	        "x86.sse.ldmxcsr", "set.rounding", "set.fpenv", "reset.fpenv",
	        "set.fpmode",      "reset.fpmode", NULL,
	};

	if (!strncmp(name, "llvm.", 5))
		return is_among(name + 5, intrinsics);
	for (const char *const *f = functions; *f; f++)
		if (!strcmp(*f, name))
			return true;
	return false;
}

static bool changes_env_by_text(LLVMValueRef assembly)
{
	static const char *const words[] = {"ldmxcsr", "fldcw",  "fldenv",
	                                    "frstor",  "xrstor", "fninit",
	                                    "finit",   NULL};
	size_t n;
	const char *text = LLVMGetInlineAsmAsmString(assembly, &n);

	for (const char *const *w = words; *w; w++)
		if (memmem(text, n, *w, strlen(*w)))
			return true;
	return false;
}

/* The same of an asm goto, which is alone in a function (canonical.cpp). */
static bool changes_env_outside(LLVMValueRef f)
{
	LLVMBasicBlockRef first =
	        LLVMIsDeclaration(f) ? NULL : LLVMGetEntryBasicBlock(f);
	LLVMValueRef end = first ? LLVMGetBasicBlockTerminator(first) : NULL;

	return end && LLVMGetInstructionOpcode(end) == LLVMCallBr &&
	       changes_env_by_text(LLVMGetCalledValue(end));
}

bool ir_function_changes_env(LLVMValueRef f)
{
	size_t n;

	return changes_env_by_name(LLVMGetValueName2(f, &n)) ||
	       changes_env_outside(f);
}

bool ir_changes_env(LLVMValueRef i)
{
	LLVMValueRef f;

	if (!LLVMIsACallInst(i) && !LLVMIsAInvokeInst(i))
		return false;
	if (LLVMGetCallSiteStringAttribute(
	            i, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	            CAIRN_IR_ROUNDS, sizeof(CAIRN_IR_ROUNDS) - 1))
		return true;
	f = LLVMGetCalledValue(i);
	if (LLVMIsAInlineAsm(f))
		return changes_env_by_text(f);
	return LLVMIsAFunction(f) && ir_function_changes_env(f);
}

/* --- kinds of calls ------------------------------------------------------ */

/* Arithmetic that the processor does as it is told by its registers. */
static bool is_arithmetic(const char *name)
{
	static const char *const list[] = {
	        "fadd",   "fsub",    "fmul",  "fdiv",   "sqrt",
	        "fma",    "fptrunc", "fpext", "sitofp", "uitofp",
	        "fptosi", "fptoui",  "fcmp",  "fcmps",  NULL};
	const char *prefix = "experimental.constrained.";
	size_t n = strlen(prefix);

	return !strncmp(name, prefix, n) && is_among(name + n, list);
}

static enum ir_kind kind_of_intrinsic(LLVMValueRef f)
{
	static const char *const copies[] = {"memcpy", "memmove", NULL};
	static const char *const sets[] = {"memset", NULL};
	static const char *const stops[] = {"trap", "ubsantrap", NULL};
	/* no effect on what is computed */
	static const char *const idle[] = {"dbg",
	                                   "lifetime",
	                                   "invariant",
	                                   "assume",
	                                   "prefetch",
	                                   "sideeffect",
	                                   "donothing",
	                                   "pseudoprobe",
	                                   "annotation",
	                                   "var.annotation",
	                                   "ptr.annotation",
	                                   "experimental.noalias.scope.decl",
	                                   NULL};
	/* what they return depends on the code around, on the frame, or on a
	 * library that need not be the same */
	static const char *const inputs[] = {"returnaddress",
	                                     "frameaddress",
	                                     "addressofreturnaddress",
	                                     "sponentry",
	                                     "threadlocal",
	                                     "eh",
	                                     "thread",
	                                     "localaddress",
	                                     "sin",
	                                     "cos",
	                                     "tan",
	                                     "asin",
	                                     "acos",
	                                     "atan",
	                                     "sinh",
	                                     "cosh",
	                                     "tanh",
	                                     "exp",
	                                     "exp2",
	                                     "exp10",
	                                     "log",
	                                     "log2",
	                                     "log10",
	                                     "pow",
	                                     "powi",
	                                     "ldexp",
	                                     "frexp",
	                                     "sincos",
	                                     "get",
	                                     "set",
	                                     "reset",
	                                     "stacksave",
	                                     "stackrestore",
	                                     NULL};
	size_t n;
	const char *name = LLVMGetValueName2(f, &n) + strlen("llvm.");

	if (is_among(name, copies))
		return IR_COPY;
	if (is_among(name, sets))
		return IR_SET;
	if (is_among(name, stops))
		return IR_STOP;
	if (is_among(name, idle) || is_arithmetic(name))
		return IR_PLAIN;
	if (is_among(name, inputs) || !has_attribute(f, "memory", 0))
		return IR_INPUT;
	return IR_PLAIN;
}

/* Can a call by name only reach this definition? */
static bool is_final(LLVMValueRef f)
{
	LLVMLinkage linkage = LLVMGetLinkage(f);

	return linkage == LLVMInternalLinkage ||
	       linkage == LLVMPrivateLinkage ||
	       has_text_attribute(f, CAIRN_IR_FINAL);
}

/*
 * Functions that only read memory, by name and type: "p" a pointer, "i" an int,
 * "l" a long, first what they return.
 */
static const struct {
	const char *name, *type;
	int read;
} readers[] = {
        {"strcmp", "ipp", CAIRN_READ_STRCMP},
        {"strncmp", "ippl", CAIRN_READ_STRNCMP},
        {"memcmp", "ippl", CAIRN_READ_MEMCMP},
        {"bcmp", "ippl", CAIRN_READ_MEMCMP},
        {"strlen", "lp", CAIRN_READ_STRLEN},
        {"strchr", "ppi", CAIRN_READ_STRCHR},
        {"memchr", "ppil", CAIRN_READ_MEMCHR},
};

static bool is_type(LLVMTypeRef t, char letter)
{
	if (letter == 'p')
		return LLVMGetTypeKind(t) == LLVMPointerTypeKind;
	return LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
	       LLVMGetIntTypeWidth(t) == (letter == 'i' ? 32 : 64);
}

static bool is_typed(LLVMTypeRef f, const char *letters)
{
	LLVMTypeRef params[3];
	unsigned n = (unsigned)strlen(letters) - 1;

	if (LLVMIsFunctionVarArg(f) || LLVMCountParamTypes(f) != n ||
	    !is_type(LLVMGetReturnType(f), letters[0]))
		return false;
	LLVMGetParamTypes(f, params);
	for (unsigned i = 0; i < n; i++)
		if (!is_type(params[i], letters[i + 1]))
			return false;
	return true;
}

int ir_read(LLVMValueRef call)
{
	LLVMValueRef f =
	        LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
	const char *name;
	size_t n;

	if (!f || !LLVMIsAFunction(f) || !LLVMIsDeclaration(f) ||
	    has_attribute(f, "nobuiltin", 0))
		return -1;
	name = LLVMGetValueName2(f, &n);
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
		if (!strcmp(name, readers[i].name) &&
		    is_typed(LLVMGetCalledFunctionType(call), readers[i].type))
			return readers[i].read;
	return -1;
}

int ir_linked_function(LLVMValueRef f)
{
	const char *name = CAIRN_IR_LINKED;
	LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(
	        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
	        (unsigned)strlen(name));
	unsigned n;
	const char *text = a ? LLVMGetStringAttributeValue(a, &n) : NULL;
	int number = 0;

	if (!text)
		return -1;
	for (unsigned i = 0; i < n && i < 9; i++)
		number = 10 * number + (text[i] - '0');
	return number;
}

int ir_linked(LLVMValueRef call)
{
	LLVMValueRef f = LLVMGetCalledValue(call);

	return LLVMIsAFunction(f) ? ir_linked_function(f) : -1;
}

static enum ir_kind kind_of_call(LLVMValueRef call)
{
	LLVMValueRef f = LLVMGetCalledValue(call);
	unsigned twice = LLVMGetEnumAttributeKindForName("returns_twice", 13);

	if (LLVMIsACallInst(call) && ir_changes_env(call) &&
	    (LLVMIsAInlineAsm(f) || LLVMGetIntrinsicID(f)))
		return IR_ENV;
	if (LLVMIsAInlineAsm(f))
		return IR_INPUT;
	if (!LLVMIsAFunction(f))
		return IR_CALL;
	if (LLVMGetIntrinsicID(f))
		return kind_of_intrinsic(f);
	if (ir_read(call) >= 0)
		return IR_READ;
	if (LLVMGetCallSiteEnumAttribute(
	            call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	            twice) ||
	    has_attribute(f, "returns_twice", 0))
		return IR_TWICE;
	if (ir_linked_function(f) >= 0)
		return IR_LINKED;
	if (ir_has_marks(f) && is_final(f) &&
	    !LLVMIsFunctionVarArg(LLVMGlobalGetValueType(f)) &&
	    LLVMGlobalGetValueType(f) == LLVMGetCalledFunctionType(call))
		return IR_KNOWN;
	return IR_CALL;
}

static bool is_followed(enum ir_kind kind)
{
	return kind == IR_KNOWN || kind == IR_LINKED || kind == IR_CALL;
}

bool ir_can_be_tail(LLVMValueRef call)
{
	return is_followed(kind_of_call(call)) && !ir_changes_env(call);
}

bool ir_hands_on(LLVMValueRef call)
{
	return kind_of_call(call) != IR_KNOWN ||
	       has_text_attribute(LLVMGetCalledValue(call), CAIRN_IR_HANDS_ON);
}

static bool has_metadata(LLVMValueRef i, const char *name)
{
	unsigned kind = LLVMGetMDKindIDInContext(
	        LLVMGetModuleContext(LLVMGetGlobalParent(
	                LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)))),
	        name, (unsigned)strlen(name));

	return LLVMGetMetadata(i, kind) != NULL;
}

bool ir_is_tail(LLVMValueRef call)
{
	return LLVMIsACallInst(call) && has_metadata(call, CAIRN_IR_TAIL);
}

bool ir_was_goto(LLVMValueRef end)
{
	return LLVMIsASwitchInst(end) && has_metadata(end, CAIRN_IR_GOTO);
}

static enum ir_kind kind_of_load(LLVMValueRef i)
{
	if (is_private(LLVMGetOperand(i, 0)))
		return IR_PLAIN;
	return has_metadata(i, CAIRN_IR_SEEN) ? IR_SEEN : IR_LOAD;
}

static enum ir_kind kind_of(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		return kind_of_load(i);
	case LLVMStore:
		return is_private(LLVMGetOperand(i, 1)) ? IR_PLAIN : IR_STORE;
	case LLVMAtomicRMW:
		return IR_RMW;
	case LLVMAtomicCmpXchg:
		return IR_CMPXCHG;
	case LLVMCall:
	case LLVMInvoke:
		return kind_of_call(i);
	case LLVMLandingPad:
		return IR_PAD;
	case LLVMResume:
		return IR_RESUME;
	default:
		return IR_PLAIN;
	}
}

static uint32_t cells_of(const struct ir_site *s, LLVMTargetDataRef layout)
{
	LLVMValueRef i = s->at;
	uint32_t n;

	switch (s->kind) {
	case IR_LOAD:
	case IR_RMW:
	case IR_CMPXCHG:
	case IR_COPY:
		return 1;
	case IR_STORE:
		return has_metadata(i, CAIRN_IR_TURN);
	case IR_READ:
		return 2;
	case IR_KNOWN:
		if (!s->looks)
			return 0;
		/* fall through */
	case IR_LINKED:
	case IR_CALL:
	case IR_TWICE:
	case IR_ENV:
	case IR_PAD:
		n = ir_ncells(LLVMTypeOf(i), layout);
		return (n ? n : 1) + (s->kind == IR_LINKED);
	case IR_INPUT:
		return ir_ncells(LLVMTypeOf(i), layout);
	default:
		return 0;
	}
}

/* --- ticks --------------------------------------------------------------- */

static bool ticks_after(LLVMValueRef i, enum ir_kind kind)
{
	return (kind == IR_KNOWN || kind == IR_CALL || kind == IR_LINKED) &&
	       has_metadata(i, CAIRN_IR_AFTER);
}

struct search {
	struct ptrmap number; /* of a block */
	LLVMBasicBlockRef *blocks;
	unsigned n;
	uint8_t *state; /* 0: new, 1: on the way, 2: done */
	bool *is_head;
	struct step {
		unsigned block, next;
	} * steps;
	size_t nsteps;
};

static void search_enter(struct search *s, unsigned block)
{
	s->state[block] = 1;
	s->steps[s->nsteps++] = (struct step){block, 0};
}

/* Depth first, without recursion: functions can have many blocks. */
static void search_run(struct search *s)
{
	search_enter(s, 0);
	while (s->nsteps) {
		struct step *top = &s->steps[s->nsteps - 1];
		LLVMValueRef end =
		        LLVMGetBasicBlockTerminator(s->blocks[top->block]);
		unsigned to;

		if (top->next == LLVMGetNumSuccessors(end)) {
			s->state[top->block] = 2;
			s->nsteps--;
			continue;
		}
		to = ptrmap_get(&s->number, LLVMGetSuccessor(end, top->next++));
		if (s->state[to] == 1)
			s->is_head[to] = true;
		else if (s->state[to] == 0)
			search_enter(s, to);
	}
}

static void find_heads(struct ir_function *fn)
{
	struct search s = {.n = LLVMCountBasicBlocks(fn->f)};

	s.blocks = xcalloc(s.n, sizeof(*s.blocks));
	s.state = xcalloc(s.n, sizeof(*s.state));
	s.is_head = xcalloc(s.n, sizeof(*s.is_head));
	s.steps = xcalloc(s.n, sizeof(*s.steps));
	LLVMGetBasicBlocks(fn->f, s.blocks);
	for (unsigned i = 0; i < s.n; i++)
		ptrmap_set(&s.number, s.blocks[i], i);
	search_run(&s);
	fn->heads = xcalloc((size_t)s.n + 1, sizeof(*fn->heads));
	for (unsigned i = 0; i < s.n; i++)
		if (s.is_head[i])
			fn->heads[fn->nheads++] = s.blocks[i];
	ptrmap_release(&s.number);
	free(s.blocks);
	free(s.state);
	free(s.is_head);
	free(s.steps);
}

/* --- all of it ----------------------------------------------------------- */

static void add_args(struct ir_function *fn, LLVMTargetDataRef layout)
{
	fn->nargs = LLVMCountParams(fn->f);
	fn->args = xcalloc((size_t)fn->nargs + 1, sizeof(*fn->args));
	for (uint32_t i = 0; i < fn->nargs; i++) {
		fn->args[i] = fn->ncells;
		fn->ncells +=
		        ir_ncells(LLVMTypeOf(LLVMGetParam(fn->f, i)), layout);
	}
}

static void look_at_call(struct ir_site *s)
{
	s->is_tail = ir_is_tail(s->at);
	s->looks = !s->is_tail && ir_hands_on(s->at);
}

/* Behind all others, where they do not change the number of any. */
static void add_returns(struct ir_function *fn, size_t n, size_t cap)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn->f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (!end || !LLVMIsAReturnInst(end))
			continue;
		VEC_RESERVE(fn->sites, n, cap);
		fn->sites[n++] = (struct ir_site){.at = end, .kind = IR_RETURN};
	}
	fn->nsites = (uint32_t)n;
}

static void add_sites(struct ir_function *fn, LLVMTargetDataRef layout)
{
	size_t cap = 0, n = 0;
	bool is_twice = false;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn->f); b;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
		     i = LLVMGetNextInstruction(i)) {
			struct ir_site site = {.at = i, .kind = kind_of(i)};

			if (site.kind == IR_PLAIN)
				continue;
			if (is_followed(site.kind))
				look_at_call(&site);
			site.ncells = cells_of(&site, layout);
			site.ticks_after = ticks_after(i, site.kind);
			site.cell = site.ncells ? fn->ncells : 0;
			fn->ncells += site.ncells;
			VEC_RESERVE(fn->sites, n, cap);
			fn->sites[n++] = site;
			is_twice |= site.kind == IR_TWICE;
		}
	fn->nsites = (uint32_t)n;
	if (is_twice)
		add_returns(fn, n, cap);
}

/* Of its name (FNV). */
static uint32_t seed_of(LLVMValueRef f)
{
	uint32_t seed = 2166136261u;
	size_t n;
	const char *name = LLVMGetValueName2(f, &n);

	for (size_t i = 0; i < n; i++)
		seed = (seed ^ (unsigned char)name[i]) * 16777619u;
	return seed;
}

void ir_function_init(struct ir_function *fn, LLVMValueRef f)
{
	LLVMTargetDataRef layout =
	        LLVMGetModuleDataLayout(LLVMGetGlobalParent(f));

	*fn = (struct ir_function){.f = f, .ncells = 1};
	add_args(fn, layout);
	add_sites(fn, layout);
	find_heads(fn);
	fn->seed = seed_of(f);
}

void ir_function_release(struct ir_function *fn)
{
	free(fn->args);
	free(fn->sites);
	free(fn->heads);
}
