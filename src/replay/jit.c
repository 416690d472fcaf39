/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the bitcode of a unit to code that runs: parse, rewrite, generate an
 * object, link it (ORC, with LLVM's older linker, whose memory we give).
 *
 * Objects have no addresses in them, only symbols (replay/state.h), so they can
 * be kept.  Each unit is linked into a dynamic library of its own, of ORC's,
 * where those symbols have the values that they had in the recorded program.
 * Code, constants and its table of addresses are below 2 GiB, as is all that
 * it refers to without that table.
 *
 * Invariant: a unit is loaded at most once.
 * Cost: that of the code generator; of a unit in the cache, that of linking.
 */
#include "replay/jit.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "ir/digest.h"
#include "ir/said.h"
#include "replay/arena.h"
#include "replay/bitcode.h"
#include "replay/cache.h"
#include "replay/compiler.h"
#include "replay/engine.h"
#include "replay/fatal.h"
#include "replay/meter.h"
#include "replay/program.h"
#include "replay/rewrite.h"
#include "replay/state.h"

#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Config/llvm-config.h>

struct section {
	void *at;
	size_t size;
	bool is_code; /* or constants */
};

static struct {
	LLVMOrcLLJITRef lljit;
	LLVMTargetMachineRef machine;
	char *features; /* of this processor */
	bool use_cache;
	struct rewrite_options options;
	struct section *sections; /* not yet sealed */
	size_t nsections, sections_cap;
	char *said;      /* LLVM's first error in what is being done, or NULL */
	unsigned nagain; /* libraries with functions that make frames */
} jit;

/* What is compiled: a unit, or, if `again` is not NULL, one of its functions,
 * so that it makes its frames again. */
struct job {
	struct program *p;
	const struct program_unit *u;
	uint32_t unit;
	const char *name; /* of its module */
	const struct rewrite_again *again;
};

/* --- memory for the linker ----------------------------------------------- */

static void *make_context(void *context)
{
	return context;
}

static void forget(void *context)
{
	(void)context;
}

/* Pages that are sealed when they have been filled. */
static uint8_t *take_section(size_t size, bool is_code)
{
	void *p = arena_take(size);

	if (p) {
		VEC_RESERVE(jit.sections, jit.nsections, jit.sections_cap);
		jit.sections[jit.nsections++] =
		        (struct section){p, size, is_code};
	}
	return p;
}

static uint8_t *take_code(void *context, uintptr_t size, unsigned alignment,
                          unsigned id, const char *name)
{
	(void)context;
	(void)alignment; /* pages are */
	(void)id;
	(void)name;
	return take_section(size, true);
}

static uint8_t *take_data(void *context, uintptr_t size, unsigned alignment,
                          unsigned id, const char *name, LLVMBool is_constant)
{
	(void)context;
	(void)alignment;
	(void)id;
	(void)name;
	return is_constant ? take_section(size, false) : arena_take(size);
}

static LLVMBool seal(void *context, char **message)
{
	struct cairn_err err;

	(void)context;
	for (; jit.nsections; jit.nsections--) {
		struct section *s = &jit.sections[jit.nsections - 1];

		if (arena_seal(s->at, s->size, s->is_code, &err) < 0) {
			*message = strdup(err.text);
			return 1;
		}
	}
	return 0;
}

static LLVMOrcObjectLayerRef make_layer(void *context,
                                        LLVMOrcExecutionSessionRef session,
                                        const char *triple)
{
	(void)triple;
	return LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
	        session, context, make_context, forget, take_code, take_data,
	        seal, forget);
}

/* --- opening ------------------------------------------------------------- */

static int fail_llvm(struct cairn_err *err, const char *what, LLVMErrorRef e)
{
	char *text = LLVMGetErrorMessage(e);
	int rc = cairn_fail(err, CAIRN_E_SYSTEM, "%s: %.*s", what,
	                    (int)ir_said(text), text);

	LLVMDisposeErrorMessage(text);
	return rc;
}

/* What came first is the cause of the rest. */
static void keep_text(const char *text)
{
	if (!jit.said)
		jit.said = xstrndup(text, ir_said(text));
}

static void forget_text(void)
{
	free(jit.said);
	jit.said = NULL;
}

/* ORC says here what is wrong, and to who asked only that something is. */
static void keep_error(void *context, LLVMErrorRef e)
{
	char *text = LLVMGetErrorMessage(e);

	(void)context;
	keep_text(text);
	LLVMDisposeErrorMessage(text);
}

/* Warnings are about code that the user has compiled before. */
static void keep_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
	char *text;

	(void)context;
	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
		return;
	text = LLVMGetDiagInfoDescription(info);
	keep_text(text);
	LLVMDisposeMessage(text);
}

static int make_machine(struct cairn_err *err)
{
	static const char triple[] = "x86_64-pc-linux-gnu";
	LLVMTargetRef target;
	char *text;

	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
	if (LLVMGetTargetFromTriple(triple, &target, &text)) {
		int rc = cairn_fail(err, CAIRN_E_SYSTEM, "%.*s",
		                    (int)ir_said(text), text);

		LLVMDisposeMessage(text);
		return rc;
	}
	jit.machine = LLVMCreateTargetMachine(
	        target, triple, "x86-64", "", LLVMCodeGenLevelDefault,
	        LLVMRelocStatic, LLVMCodeModelSmall);
	return 0;
}

/* --- compiling ----------------------------------------------------------- */

/* Does this processor lack the feature "+name"? */
static bool is_lacking(const char *feature, size_t n)
{
	const char *at = jit.features;

	while (*at) {
		size_t length = strcspn(at, ",");

		if (*at == '-' && length == n &&
		    !strncmp(at + 1, feature + 1, n - 1))
			return true;
		at += length + (at[length] == ',');
	}
	return false;
}

static int check_features(LLVMModuleRef m, const char *name,
                          struct cairn_err *err)
{
	static const char kind[] = "target-features";

	for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
	     f = LLVMGetNextFunction(f)) {
		LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(
		        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind,
		        sizeof(kind) - 1);
		unsigned n = 0;
		const char *at = a ? LLVMGetStringAttributeValue(a, &n) : "",
		           *end;

		for (end = at + n; at < end;) {
			size_t length = strcspn(at, ",");

			if (*at == '+' && is_lacking(at, length))
				return cairn_fail(
				        err, CAIRN_E_MISMATCH,
				        "%s: was built for processors with "
				        "%.*s, which this one lacks; replay "
				        "it where it was recorded",
				        name, (int)length - 1, at + 1);
			at += length + 1;
		}
	}
	return 0;
}

static int rewrite(LLVMModuleRef m, const struct job *j, struct cairn_err *err)
{
	if (j->again)
		return rewrite_again(m, j->unit, j->name, &jit.options,
		                     j->again, err);
	return rewrite_module(m, j->unit, j->name, &jit.options, err);
}

/* A sentence about what is made of a unit. */
static int fail_unit(const struct job *j, const char *source, const char *text,
                     struct cairn_err *err)
{
	return cairn_fail(
	        err, CAIRN_E_SYSTEM,
	        "%s: the replay code of %s cannot be made: LLVM says: "
	        "%.*s; compile that source with clang instead of "
	        "cairn-cc, and report this as a mistake of Cairn",
	        j->name, source, (int)ir_said(text), text);
}

static int generate(LLVMModuleRef m, const struct job *j,
                    LLVMMemoryBufferRef *object, struct cairn_err *err)
{
	const char *source;
	char *text = NULL;
	size_t n;
	int rc = 0;

	CAIRN_TRY(check_features(m, j->name, err));
	CAIRN_TRY(rewrite(m, j, err));
	source = LLVMGetSourceFileName(m, &n);
	if (LLVMTargetMachineEmitToMemoryBuffer(jit.machine, m, LLVMObjectFile,
	                                        &text, object)) {
		rc = fail_unit(j, source, text, err);
		LLVMDisposeMessage(text);
	} else if (jit.said) {
		rc = fail_unit(j, source, jit.said, err);
		LLVMDisposeMemoryBuffer(*object);
	}
	return rc;
}

static int compile_bitcode(const unsigned char *bitcode, size_t n,
                           const struct job *j, LLVMMemoryBufferRef *object,
                           struct cairn_err *err)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef m;
	size_t length;
	int rc;

	LLVMContextSetDiagnosticHandler(context, keep_diagnostic, NULL);
	fatal_compile(j->name, NULL);
	m = bitcode_parse(context, bitcode, n);
	forget_text();
	if (m) {
		fatal_compile(j->name, LLVMGetSourceFileName(m, &length));
		rc = generate(m, j, object, err);
	} else {
		rc = cairn_fail(err, CAIRN_E_CORRUPT,
		                "%s: LLVM cannot read its IR; build the "
		                "program again",
		                j->name);
	}
	if (m)
		LLVMDisposeModule(m);
	LLVMContextDispose(context);
	fatal_compile(NULL, NULL);
	return rc;
}

static int compile(const struct job *j, LLVMMemoryBufferRef *object,
                   struct cairn_err *err)
{
	unsigned char *bitcode;
	size_t n;
	int rc;

	CAIRN_TRY(program_bitcode(j->p, j->u, &bitcode, &n, err));
	rc = compile_bitcode(bitcode, n, j, object, err);
	free(bitcode);
	return rc;
}

static int find_build_id(struct dl_phdr_info *program, size_t size, void *out)
{
	(void)size;
	for (unsigned i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_NOTE)
			bytes_put(out,
			          (const void *)(program->dlpi_addr +
			                         program->dlpi_phdr[i].p_vaddr),
			          program->dlpi_phdr[i].p_memsz);
	return 1; /* the first is the program itself */
}

/* The name of an object in the cache: a digest of the IR, and of all that
 * decides what is made of it: this program, LLVM, the processor, the options.
 */
static void name_object(char name[2 * DIGEST_SIZE + 1], const struct job *j)
{
	const uint32_t own[] = {REWRITE_VERSION, LLVM_VERSION_MAJOR,
	                        LLVM_VERSION_MINOR, LLVM_VERSION_PATCH};
	const bool options[] = {
	        jit.options.shows_calls, jit.options.shows_steps,
	        jit.options.notes_seen,  jit.options.shows_stores,
	        jit.options.saves,       j->again != NULL};
	struct bytes all = {0};
	uint8_t hash[DIGEST_SIZE];

	bytes_put(&all, j->u->id, sizeof(j->u->id));
	bytes_put(&all, own, sizeof(own));
	bytes_put(&all, options, sizeof(options));
	if (j->again) {
		bytes_put(&all, &j->again->function, sizeof(uint32_t));
		bytes_put(&all, j->again->points,
		          j->again->n * sizeof(*j->again->points));
	}
	bytes_put(&all, jit.features, strlen(jit.features));
	dl_iterate_phdr(find_build_id, &all);
	digest(all.data, all.n, hash);
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		sprintf(name + 2 * i, "%02x", hash[i]);
	bytes_release(&all);
}

/* Is what is made of a unit the same whenever it is made? */
static bool is_usual(uint32_t unit)
{
	return !jit.options.ask ||
	       !jit.options.wants(jit.options.context, unit);
}

static struct job job_of(struct program *p, uint32_t unit,
                         const struct rewrite_again *again)
{
	const struct program_unit *u = &p->units[unit];

	return (struct job){p, u, unit, p->modules[u->module].path, again};
}

/* In the compiler: what another one may have put into the cache just now. */
static int make_object(void *program, const struct compiler_order *o,
                       unsigned char **object, size_t *size,
                       struct cairn_err *err)
{
	struct program *p = program;
	const struct rewrite_again again = {o->function, o->points, o->n};
	struct job j;
	char key[2 * DIGEST_SIZE + 1];
	LLVMMemoryBufferRef made;

	if (o->unit >= p->nunits)
		return cairn_fail(err, CAIRN_E_CORRUPT, "no unit %" PRIu32,
		                  o->unit);
	j = job_of(p, o->unit, o->n ? &again : NULL);
	name_object(key, &j);
	*object = cache_get(key, size);
	if (*object)
		return 0;
	CAIRN_TRY(compile(&j, &made, err));
	*size = LLVMGetBufferSize(made);
	*object = xmalloc(*size + 1);
	memcpy(*object, LLVMGetBufferStart(made), *size);
	LLVMDisposeMemoryBuffer(made);
	cache_put(key, *object, *size);
	return 0;
}

static int get_object(const struct job *j, LLVMMemoryBufferRef *object,
                      struct cairn_err *err)
{
	struct compiler_order o = {.unit = j->unit};
	char key[2 * DIGEST_SIZE + 1];
	unsigned char *data;
	size_t size;

	if (!jit.use_cache || !is_usual(j->unit))
		return compile(j, object, err);
	if (j->again) {
		o.function = j->again->function;
		o.n = j->again->n;
		o.points = j->again->points;
	}
	name_object(key, j);
	data = cache_get(key, &size);
	if (!data)
		CAIRN_TRY(compiler_ask(&o, &data, &size, err));
	*object = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)data,
	                                                    size, key);
	free(data);
	return 0;
}

/* --- linking ------------------------------------------------------------- */

struct symbols {
	LLVMOrcCSymbolMapPair *items;
	size_t n, cap;
};

static void add_symbol(struct symbols *s, const char *name, uint64_t address)
{
	LLVMJITSymbolFlags flags = {LLVMJITSymbolGenericFlagsExported, 0};

	VEC_RESERVE(s->items, s->n, s->cap);
	s->items[s->n].Name = LLVMOrcLLJITMangleAndIntern(jit.lljit, name);
	s->items[s->n].Sym.Address = address;
	s->items[s->n++].Sym.Flags = flags;
}

/* A function that is not in the program has no cells, no nodes, and never runs:
 * the linker took another copy, or the compiler found after the IR was put away
 * that it is not needed.  One that makes its frames again calls the others of
 * its unit.  No symbol is 0: LLVM takes that for one that is not there. */
static void add_function(struct symbols *s, const struct job *j, uint32_t i)
{
	const struct program_unit *u = j->u;
	uint64_t cells = j->p->modules[u->module].cells, nodes = 0;
	const void *body = NULL;
	char name[32];

	if (i < u->nfunctions && u->functions[i] != PROGRAM_NONE) {
		const struct program_function *f =
		        &j->p->functions[u->functions[i]];

		cells = f->cells;
		nodes = f->nodes;
		body = f->body;
	}
	snprintf(name, sizeof(name), REPLAY_CELLS "%u", i);
	add_symbol(s, name, cells);
	snprintf(name, sizeof(name), REPLAY_NODES "%u", i);
	add_symbol(s, name, nodes ? nodes : REPLAY_NOWHERE);
	if (!j->again || !body)
		return;
	snprintf(name, sizeof(name), REPLAY_BODY "%u", i);
	add_symbol(s, name, (uintptr_t)body);
}

static LLVMErrorRef define_symbols(LLVMOrcJITDylibRef library,
                                   const struct job *j)
{
	struct symbols s = {0};
	size_t n;
	const struct engine_symbol *known = engine_symbols(&n);
	LLVMErrorRef e;
	char name[32];

	for (size_t i = 0; i < n; i++)
		add_symbol(&s, known[i].name, known[i].address);
	for (uint32_t i = 0; i < j->u->ntable; i++) {
		snprintf(name, sizeof(name), REPLAY_ADDRESS "%u", i);
		add_symbol(&s, name,
		           j->u->table[i] ? j->u->table[i] : REPLAY_NOWHERE);
		add_function(&s, j, i);
	}
	e = LLVMOrcJITDylibDefine(library,
	                          LLVMOrcAbsoluteSymbols(s.items, s.n));
	free(s.items);
	return e;
}

struct lookup {
	const struct job *j;
	void *bodies[2]; /* of one that makes its frames again */
	LLVMErrorRef error;
};

/* Bodies and entries, as place_functions asked for them. */
static void handle_result(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result,
                          size_t n, void *context)
{
	struct lookup *l = context;

	l->error = error;
	for (size_t i = 0; !error && i < n; i++) {
		const char *name =
		        LLVMOrcSymbolStringPoolEntryStr(result[i].Name);
		unsigned long k = strtoul(name + 2, NULL, 10);
		uintptr_t at = (uintptr_t)result[i].Sym.Address;
		struct program_function *f =
		        &l->j->p->functions[l->j->u->functions[k]];

		if (!strncmp(name, REPLAY_BODY, 2))
			f->body = (void *)at;
		else if (!strncmp(name, REPLAY_ENTRY, 2))
			f->entry = (void (*)(void))at;
		else
			l->bodies[!strncmp(name, REPLAY_AGAIN_ENTRY, 2)] =
			        (void *)at;
	}
}

static bool is_made(const struct job *j, uint32_t i)
{
	return j->u->functions[i] != PROGRAM_NONE &&
	       (!j->again || j->again->function == i);
}

static LLVMErrorRef place_functions(LLVMOrcJITDylibRef library,
                                    struct lookup *l)
{
	static const char *const kinds[2][2] = {
	        {REPLAY_BODY, REPLAY_ENTRY},
	        {REPLAY_AGAIN_BODY, REPLAY_AGAIN_ENTRY}};
	LLVMOrcCJITDylibSearchOrderElement order = {
	        library, LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
	const struct job *j = l->j;
	LLVMOrcCLookupSet wanted =
	        xcalloc(2 * (size_t)j->u->nfunctions + 1, sizeof(*wanted));
	size_t n = 0;
	char name[32];

	for (uint32_t i = 0; i < j->u->nfunctions; i++) {
		if (!is_made(j, i))
			continue;
		for (int k = 0; k < 2; k++) {
			snprintf(name, sizeof(name), "%s%u",
			         kinds[j->again != NULL][k], i);
			wanted[n].Name =
			        LLVMOrcLLJITMangleAndIntern(jit.lljit, name);
			wanted[n++].LookupFlags =
			        LLVMOrcSymbolLookupFlagsRequiredSymbol;
		}
	}
	LLVMOrcExecutionSessionLookup(
	        LLVMOrcLLJITGetExecutionSession(jit.lljit),
	        LLVMOrcLookupKindStatic, &order, 1, wanted, n, handle_result,
	        l);
	free(wanted);
	return l->error;
}

static LLVMErrorRef link_object(LLVMMemoryBufferRef object, struct lookup *l)
{
	LLVMOrcExecutionSessionRef session =
	        LLVMOrcLLJITGetExecutionSession(jit.lljit);
	LLVMOrcDefinitionGeneratorRef process;
	LLVMOrcJITDylibRef library;
	LLVMErrorRef e;
	char name[32];

	if (l->j->again)
		snprintf(name, sizeof(name), "again%u", jit.nagain++);
	else
		snprintf(name, sizeof(name), "unit%u", l->j->unit);
	library = LLVMOrcExecutionSessionCreateBareJITDylib(session, name);
	/* what the code generator calls: memcpy, fmod, __udivti3 ... */
	e = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
	        &process, LLVMOrcLLJITGetGlobalPrefix(jit.lljit), NULL, NULL);
	if (e) {
		LLVMDisposeMemoryBuffer(object);
		return e;
	}
	LLVMOrcJITDylibAddGenerator(library, process);
	e = define_symbols(library, l->j);
	if (e) {
		LLVMDisposeMemoryBuffer(object);
		return e;
	}
	e = LLVMOrcLLJITAddObjectFile(jit.lljit, library, object);
	if (e)
		return e;
	return place_functions(library, l);
}

/* Names the source of a unit whose code is there, but cannot be linked. */
static int fail_link(const struct job *j, LLVMErrorRef e, struct cairn_err *err)
{
	char *text = LLVMGetErrorMessage(e);
	LLVMContextRef context = LLVMContextCreate();
	unsigned char *bitcode = NULL;
	LLVMModuleRef m = NULL;
	size_t n;
	int rc;

	keep_text(text); /* unless there is a better one */
	LLVMDisposeErrorMessage(text);
	text = jit.said;
	jit.said = NULL;
	LLVMContextSetDiagnosticHandler(context, keep_diagnostic, NULL);
	if (program_bitcode(j->p, j->u, &bitcode, &n, NULL) == 0)
		m = bitcode_parse(context, bitcode, n);
	rc = fail_unit(j, m ? LLVMGetSourceFileName(m, &n) : "a unit", text,
	               err);
	if (m)
		LLVMDisposeModule(m);
	LLVMContextDispose(context);
	free(bitcode);
	free(text);
	return rc;
}

static int make(struct lookup *l, struct cairn_err *err)
{
	LLVMMemoryBufferRef object;
	LLVMErrorRef e;
	int rc;

	forget_text();
	CAIRN_TRY(get_object(l->j, &object, err));
	fatal_compile(l->j->name, NULL);
	e = link_object(object, l);
	rc = e ? fail_link(l->j, e, err) : 0;
	fatal_compile(NULL, NULL);
	return rc;
}

static int load(struct program *p, uint32_t unit, struct cairn_err *err)
{
	struct program_unit *u = &p->units[unit];
	const struct job j = job_of(p, unit, NULL);
	struct lookup l = {.j = &j};
	int rc;

	if (u->is_loaded)
		return cairn_fail(
		        err, CAIRN_E_CORRUPT,
		        "%s: its IR lacks a function; build it again "
		        "with this version of Cairn, and report it if "
		        "that does not help",
		        p->modules[u->module].path);
	meter_compile(true);
	rc = make(&l, err);
	meter_compile(false);
	u->is_loaded = rc == 0;
	return rc;
}

static int load_again(struct program *p, const struct program_function *f,
                      const uint32_t *points, uint32_t n,
                      struct engine_again *to, struct cairn_err *err)
{
	const struct rewrite_again again = {f->index, points, n};
	const struct job j = job_of(p, f->unit, &again);
	struct lookup l = {.j = &j};

	CAIRN_TRY(make(&l, err));
	to->body = l.bodies[0];
	to->entry = (void (*)(void))l.bodies[1];
	return 0;
}

/* --- all of it ----------------------------------------------------------- */

int jit_open(struct program *p, bool use_cache,
             const struct rewrite_options *options, struct cairn_err *err)
{
	LLVMOrcLLJITBuilderRef builder;
	LLVMErrorRef e;

	memset(&jit, 0, sizeof(jit));
	jit.use_cache = use_cache;
	jit.options = *options;
	jit.features = LLVMGetHostCPUFeatures();
	CAIRN_TRY(make_machine(err));
	if (use_cache)
		CAIRN_TRY(compiler_open(make_object, p, err));
	builder = LLVMOrcCreateLLJITBuilder();
	LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_layer,
	                                                &jit);
	e = LLVMOrcCreateLLJIT(&jit.lljit, builder);
	if (e)
		return fail_llvm(err, "cannot make a compiler", e);
	LLVMOrcExecutionSessionSetErrorReporter(
	        LLVMOrcLLJITGetExecutionSession(jit.lljit), keep_error, NULL);
	return 0;
}

void jit_close(void)
{
	compiler_close();
	if (jit.lljit)
		LLVMConsumeError(LLVMOrcDisposeLLJIT(jit.lljit));
	if (jit.machine)
		LLVMDisposeTargetMachine(jit.machine);
	if (jit.features)
		LLVMDisposeMessage(jit.features);
	free(jit.sections);
	forget_text();
	memset(&jit, 0, sizeof(jit));
}

/* --- lines --------------------------------------------------------------- */

static uint32_t find_line(const struct program *p,
                          const struct program_function *f, uint32_t cell)
{
	const struct program_unit *u = &p->units[f->unit];
	LLVMContextRef context;
	LLVMModuleRef m;
	unsigned char *bitcode;
	uint32_t line = 0;
	size_t n;

	if (program_bitcode(p, u, &bitcode, &n, NULL) < 0)
		return 0;
	context = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(context, keep_diagnostic, NULL);
	m = bitcode_parse(context, bitcode, n);
	if (m) {
		line = rewrite_line(m, f->index, cell);
		LLVMDisposeModule(m);
	}
	LLVMContextDispose(context);
	free(bitcode);
	return line;
}

const struct engine_compiler jit_compiler = {load, load_again, find_line};
