/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blob of a map record: the function's CFG and source lines, in the form
 * that abi/map.h lays down.  Written before any mark goes in, so that it shows
 * the program and not our additions.
 *
 * A line belongs to an instance: the function itself, or one inlined call (a
 * DILocation's inlinedAt).  Readers add up instances and take the maximum
 * within one.  An instance says where it was inlined, so that readers can tell
 * copies apart and draw the tree of them.
 *
 * Outcalls are all calls but of intrinsics and assembly.  Their callees are
 * known by name, and where they are defined in this file by place: two static
 * functions of one name are two callees.
 */
#include "plugin/function.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/plain.h"
#include "base/ptrmap.h"
#include "abi/record.h"
#include "abi/trace.h"
#include "ir/code.h"
#include "ir/flow.h"
#include "ir/unwinding.h"
#include "plugin/before.h"
#include "plugin/places.h"
#include "plugin/shim.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

/* A line of a segment. */
struct line {
	uint32_t instance, file, line, ninstructions;
	uint32_t naside;  /* of its instructions: CAIRN_PLACE_ASIDE */
	uint32_t *places; /* in order, each once */
	size_t nplaces, places_cap;
};

struct segment {
	size_t end; /* of its items: they begin where those before end */
};

struct describer {
	const struct function *fn;
	LLVMModuleRef module;
	struct ptrmap file_of, instance_of, callee_of;
	struct bytes files, instances, blocks, callees, outcalls;
	uint32_t nfiles, ninstances, ncallees, noutcalls;
	struct place_item *items; /* of all segments */
	size_t nitems, items_cap;
	struct segment *segments;
	uint32_t nsegments;
	size_t segments_cap;
	uint32_t *ninstructions; /* of nodes */
	struct line *lines;      /* of the current segment */
	size_t nlines, lines_cap;
	int64_t last_line, last_call;
	uint32_t block;   /* of LLVM */
	uint32_t segment; /* of the current block */
	uint32_t copy;    /* instance that a shared copy is here, or 0 */
	struct before_cursor before;
	struct ptrmap unwinding; /* blocks: ir/unwinding.h */
	bool unwinds;            /* what has been gathered last */
};

char *path_of(LLVMMetadataRef file)
{
	unsigned ndir, nname;
	const char *dir, *name;

	if (!file)
		return NULL;
	dir = LLVMDIFileGetDirectory(file, &ndir);
	name = LLVMDIFileGetFilename(file, &nname);
	if (nname == 0)
		return NULL;
	if (name[0] == '/' || ndir == 0)
		return plain_file(xstrndup(name, nname));
	return plain_file(
	        xasprintf("%.*s/%.*s", (int)ndir, dir, (int)nname, name));
}

char *path_of_function(LLVMValueRef f)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(f);
	LLVMLinkage linkage = LLVMGetLinkage(f);
	const char *name;
	size_t n;

	if (subprogram)
		return path_of(shim_subprogram_file(subprogram));
	if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
		return NULL;
	name = LLVMGetSourceFileName(LLVMGetGlobalParent(f), &n);
	return n && strcmp(name, "ld-temp.o") ? xstrndup(name, n) : NULL;
}

static uint32_t file_index(struct describer *d, LLVMMetadataRef file)
{
	uint32_t index;
	char *path;

	if (!file)
		return PTRMAP_NONE;
	index = ptrmap_get(&d->file_of, file);
	if (index != PTRMAP_NONE)
		return index;
	path = path_of(file);
	if (!path)
		return PTRMAP_NONE;
	bytes_put_str(&d->files, path, strlen(path));
	shim_note_source(d->module, file, path);
	free(path);
	ptrmap_set(&d->file_of, file, d->nfiles);
	return d->nfiles++;
}

/* File and line of a definition; NULL: nobody knows. */
static void put_subprogram(struct describer *d, struct bytes *b,
                           LLVMMetadataRef subprogram)
{
	uint32_t file = PTRMAP_NONE;

	if (subprogram)
		file = file_index(d, shim_subprogram_file(subprogram));
	bytes_put_uv(b, file == PTRMAP_NONE ? 0 : 1 + (uint64_t)file);
	bytes_put_uv(b, subprogram ? LLVMDISubprogramGetLine(subprogram) : 0);
}

/* The recursion is as deep as calls were inlined into each other. */
static uint32_t instance_index(struct describer *d, LLVMMetadataRef location)
{
	LLVMMetadataRef at = LLVMDILocationGetInlinedAt(location);
	LLVMMetadataRef scope;
	uint32_t index, parent;
	const char *name;
	size_t n;

	if (!at)
		return d->copy;
	index = ptrmap_get(&d->instance_of, at);
	if (index != PTRMAP_NONE)
		return index;
	parent = instance_index(d, at);
	scope = LLVMDILocationGetScope(location);
	name = shim_scope_function(scope, &n);
	bytes_put_str(&d->instances, name, n);
	put_subprogram(d, &d->instances, shim_scope_subprogram(scope));
	bytes_put_uv(&d->instances, parent);
	bytes_put_uv(&d->instances, LLVMDILocationGetLine(at));
	ptrmap_set(&d->instance_of, at, ++d->ninstances);
	return d->ninstances;
}

unsigned line_of(LLVMValueRef instruction, LLVMMetadataRef *file)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);

	if (!location || !ir_is_code(instruction))
		return 0;
	*file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
	return LLVMDILocationGetLine(location);
}

static void add_line(struct describer *d, const struct place_key *key)
{
	LLVMMetadataRef at = key->location;
	struct place_item item = {
	        .key = *key,
	        .line = LLVMDILocationGetLine(at),
	        .block = d->block,
	        .segment = d->nsegments,
	};

	if (item.line == 0)
		return;
	item.file =
	        file_index(d, LLVMDIScopeGetFile(LLVMDILocationGetScope(at)));
	if (item.file == PTRMAP_NONE)
		return;
	item.instance = instance_index(d, at);
	VEC_RESERVE(d->items, d->nitems, d->items_cap);
	d->items[d->nitems++] = item;
}

static void add_code(struct describer *d, block_id b,
                     const struct place_key *key)
{
	d->ninstructions[b]++;
	if (key->location)
		add_line(d, key);
}

/* The same of what is no longer there, up to and with the next call, or up to
 * it. */
static void add_before(struct describer *d, block_id b, bool takes_call)
{
	const struct before_item *item;

	while ((item = before_next(&d->before, takes_call))) {
		add_code(d, b, &item->key);
		if (item->is_call)
			return;
	}
}

static void end_segment(struct describer *d)
{
	VEC_RESERVE(d->segments, d->nsegments, d->segments_cap);
	d->segments[d->nsegments++] = (struct segment){.end = d->nitems};
	d->segment++;
}

LLVMValueRef node_first(const struct node *node)
{
	return node->first ? node->first : LLVMGetFirstInstruction(node->block);
}

/* Where what is described of a node ends: the return after a tail call is no
 * code of its own. */
static LLVMValueRef end_of(const struct node *node)
{
	LLVMValueRef tail = ir_last_call(node->block);

	return !node->end && tail ? LLVMGetNextInstruction(tail) : node->end;
}

static LLVMValueRef callee_of(LLVMValueRef callee)
{
	LLVMValueRef external = shim_external(callee);

	if (external)
		callee = external;
	return LLVMIsAFunction(callee) || LLVMIsAGlobalAlias(callee) ? callee
	                                                             : NULL;
}

/* What the source calls where something else is called for it. */
static LLVMAttributeRef source_name(LLVMValueRef call)
{
	return LLVMGetCallSiteStringAttribute(
	        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, SHIM_NAME,
	        sizeof(SHIM_NAME) - 1);
}

/* Without what traces and recordings put before it for other files. */
static const char *without_prefix(const char *name, size_t *n)
{
	static const char *const prefixes[] = {CAIRN_TRACE_IN, CAIRN_LINK_BODY};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t prefix = strlen(prefixes[i]);

		if (*n <= prefix || strncmp(name, prefixes[i], prefix) != 0)
			continue;
		*n -= prefix;
		return name + prefix;
	}
	return name;
}

const char *callee_name(LLVMValueRef call, size_t *n)
{
	LLVMAttributeRef said = source_name(call);
	LLVMValueRef callee = callee_of(LLVMGetCalledValue(call));
	const char *name;
	unsigned length;

	if (said) {
		name = LLVMGetStringAttributeValue(said, &length);
		*n = length;
		return name;
	}
	if (!callee)
		return NULL;
	name = LLVMIsAFunction(callee) ? name_of(callee, n)
	                               : LLVMGetValueName2(callee, n);
	return without_prefix(name, n);
}

/* What a call calls: 1 + its number, 0 if it is a pointer. */
static uint32_t callee_index(struct describer *d, LLVMValueRef call)
{
	LLVMValueRef callee = callee_of(LLVMGetCalledValue(call));
	LLVMAttributeRef said = source_name(call);
	const void *key = said ? (const void *)said : callee;
	uint32_t index;
	const char *name;
	size_t n;

	if (!key)
		return 0;
	index = ptrmap_get(&d->callee_of, key);
	if (index != PTRMAP_NONE)
		return index;
	name = callee_name(call, &n);
	bytes_put_str(&d->callees, name, n);
	put_subprogram(d, &d->callees,
	               !said && LLVMIsAFunction(callee) &&
	                               !LLVMIsDeclaration(callee)
	                       ? LLVMGetSubprogram(callee)
	                       : NULL);
	ptrmap_set(&d->callee_of, key, ++d->ncallees);
	return d->ncallees;
}

static bool is_code(LLVMValueRef callee)
{
	const char *name;
	size_t n;

	if (!LLVMIsAFunction(callee))
		return !LLVMIsAInlineAsm(callee);
	name = LLVMGetValueName2(callee, &n);
	return !LLVMGetIntrinsicID(callee) &&
	       strncmp(name, SHIM_GOTO, sizeof(SHIM_GOTO) - 1) != 0;
}

/* Is it a call of code, known or not? */
static bool is_outcall(LLVMValueRef i)
{
	return (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)) &&
	       is_code(LLVMGetCalledValue(i));
}

static void add_outcall(struct describer *d, block_id b, LLVMValueRef call)
{
	struct bytes *out = &d->outcalls;
	uint32_t file = PTRMAP_NONE, instance = 0;
	LLVMMetadataRef in = NULL;
	unsigned line = line_of(call, &in);

	if (line)
		file = file_index(d, in);
	if (file != PTRMAP_NONE)
		instance = instance_index(d, LLVMInstructionGetDebugLoc(call));
	bytes_put_uv(out, b);
	bytes_put_uv(out, d->segment);
	bytes_put_uv(out, callee_index(d, call));
	bytes_put_uv(out, instance);
	bytes_put_uv(out, file == PTRMAP_NONE ? 0 : 1 + (uint64_t)file);
	if (file != PTRMAP_NONE) {
		bytes_put_sv(out, (int64_t)line - d->last_call);
		d->last_call = line;
	}
	d->noutcalls++;
}

/* `sites` is a cursor over fn->sites, which are in block order. */
static void gather_node(struct describer *d, block_id b, uint32_t *next_site)
{
	const struct function *fn = d->fn;
	const struct node *node = &fn->nodes[b];
	LLVMValueRef end = end_of(node);
	bool is_call = false;

	if (!node->first)
		d->unwinds =
		        ptrmap_get(&d->unwinding, node->block) != PTRMAP_NONE;
	d->segment = 0;
	d->block += !node->first;
	if (fn->before && !node->first)
		d->before = before_at(fn->before, node->block);
	for (LLVMValueRef i = node_first(node); i && i != end;
	     i = LLVMGetNextInstruction(i)) {
		struct place_key key = place_key_of(i);

		key.unwinds = d->unwinds = ir_unwinds(i, d->unwinds);
		is_call = ir_is_call(i);
		if (!fn->before && ir_is_code(i))
			add_code(d, b, &key);
		if (fn->before && is_call)
			add_before(d, b, true);
		if (is_outcall(i) && !node->is_shared)
			add_outcall(d, b, i);
		if (*next_site == fn->nsites || fn->sites[*next_site].call != i)
			continue;
		if (fn->sites[*next_site].segment + 1 < node->nsegments)
			end_segment(d);
		++*next_site;
	}
	if (fn->before && !is_call)
		add_before(d, b, false);
	end_segment(d);
}

/* --- what is written of segments ----------------------------------------- */

static struct line *line_of_item(struct describer *d,
                                 const struct place_item *item)
{
	for (size_t i = d->nlines; i > 0; i--) {
		struct line *same = &d->lines[i - 1];

		if (same->instance == item->instance &&
		    same->file == item->file && same->line == item->line)
			return same;
	}
	if (d->nlines == d->lines_cap) {
		size_t old = d->lines_cap;

		VEC_RESERVE(d->lines, d->nlines, d->lines_cap);
		for (size_t i = old; i < d->lines_cap; i++)
			d->lines[i] = (struct line){0};
	}
	d->lines[d->nlines] = (struct line){
	        .instance = item->instance,
	        .file = item->file,
	        .line = item->line,
	        .places = d->lines[d->nlines].places,
	        .places_cap = d->lines[d->nlines].places_cap,
	};
	return &d->lines[d->nlines++];
}

static void add_place(struct line *l, uint32_t place)
{
	l->naside += place == CAIRN_PLACE_ASIDE;
	if (place == PLACE_NONE || place == CAIRN_PLACE_ASIDE)
		return;
	for (size_t i = 0; i < l->nplaces; i++)
		if (l->places[i] == place)
			return;
	VEC_RESERVE(l->places, l->nplaces, l->places_cap);
	l->places[l->nplaces++] = place;
}

static void put_line(struct describer *d, const struct line *l)
{
	struct bytes *b = &d->blocks;

	bytes_put_uv(b, l->instance);
	bytes_put_uv(b, l->file);
	bytes_put_sv(b, (int64_t)l->line - d->last_line);
	bytes_put_uv(b, l->ninstructions);
	if (l->naside == l->ninstructions) {
		bytes_put_uv(b, 1);
		bytes_put_uv(b, CAIRN_PLACE_ASIDE);
	} else {
		bytes_put_uv(b, l->nplaces);
	}
	for (size_t i = 0; i < l->nplaces; i++)
		bytes_put_uv(b, l->places[i]);
	d->last_line = l->line;
}

/* Leaves the lines in d. */
static void put_segment(struct describer *d, uint32_t segment)
{
	size_t first = segment ? d->segments[segment - 1].end : 0;

	d->nlines = 0;
	for (size_t i = first; i < d->segments[segment].end; i++) {
		struct line *l = line_of_item(d, &d->items[i]);

		l->ninstructions++;
		add_place(l, d->items[i].place);
	}
	bytes_put_uv(&d->blocks, d->nlines);
	for (size_t i = 0; i < d->nlines; i++)
		put_line(d, &d->lines[i]);
}

/* 1 + which line of its last segment the branch of a node is on; 0: it has no
 * branch, or that has no line. */
static uint32_t branch_line(struct describer *d, const struct node *node,
                            uint32_t segment)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(node->block);
	const struct place_item *last;

	if (node->end || !d->nlines || LLVMGetNumSuccessors(end) < 2)
		return 0;
	last = &d->items[d->segments[segment].end - 1];
	if (LLVMInstructionGetDebugLoc(end) != last->key.location ||
	    last->place == CAIRN_PLACE_ASIDE)
		return 0;
	return 1 + (uint32_t)(line_of_item(d, last) - d->lines);
}

static void put_node(struct describer *d, block_id b)
{
	const struct node *node = &d->fn->nodes[b];

	bytes_put_uv(&d->blocks, node->flags);
	bytes_put_uv(&d->blocks, d->ninstructions[b]);
	bytes_put_uv(&d->blocks, node->counter);
	bytes_put_uv(&d->blocks, node->nsegments);
	for (uint32_t s = 0; s < node->nsegments; s++)
		put_segment(d, d->segment++);
	bytes_put_uv(&d->blocks, branch_line(d, node, d->segment - 1));
}

/* A shared copy is an instance for each of its calls, as if it was inlined; so
 * are functions that are inlined into it. */
static void begin_copy(struct describer *d, const struct shared_use *use)
{
	LLVMMetadataRef at = LLVMInstructionGetDebugLoc(use->call);
	LLVMMetadataRef callee = LLVMGetSubprogram(use->body->fn.f);
	uint32_t parent;
	const char *name;
	size_t n;

	d->copy = 0;
	ptrmap_release(&d->instance_of);
	d->instance_of = (struct ptrmap){0};
	if (!at || !callee)
		return;
	parent = instance_index(d, at);
	ptrmap_release(&d->instance_of);
	d->instance_of = (struct ptrmap){0};
	name = shim_scope_function(callee, &n);
	bytes_put_str(&d->instances, name, n);
	put_subprogram(d, &d->instances, callee);
	bytes_put_uv(&d->instances, parent);
	bytes_put_uv(&d->instances, LLVMDILocationGetLine(at));
	d->copy = ++d->ninstances;
}

static void describe_nodes(struct describer *d)
{
	const struct function *fn = d->fn;
	uint32_t next_site = 0, next_use = 0;

	d->ninstructions = xcalloc(fn->g.nblocks, sizeof(*d->ninstructions));
	ir_find_unwinding(fn->f, &d->unwinding);
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		if (next_use < fn->nshared && fn->shared[next_use].first == b)
			begin_copy(d, &fn->shared[next_use++]);
		gather_node(d, b, &next_site);
	}
	ptrmap_release(&d->unwinding);
	places_choose(d->items, d->nitems);
	d->segment = 0;
	for (block_id b = 1; b < fn->g.nblocks; b++)
		put_node(d, b);
}

const char *name_of(LLVMValueRef f, size_t *n)
{
	const char *name = shim_body_of(f, n);

	if (!name)
		name = LLVMGetValueName2(f, n);
	if (*n && name[0] == '\1') {
		name++;
		--*n;
	}
	return name;
}

static void put_name(struct bytes *b, LLVMValueRef f)
{
	size_t n;
	const char *name = name_of(f, &n);

	bytes_put_str(b, name, n);
}

/* Is it an alias of f, by a name that others call? */
static bool is_alias_of(LLVMValueRef alias, LLVMValueRef f)
{
	LLVMValueRef of = LLVMAliasGetAliasee(alias);
	size_t n, nbody;
	const char *name = LLVMGetValueName2(alias, &n), *body;

	if (!strncmp(name, "__cairn", 7) || !LLVMIsAFunction(of))
		return false;
	if (of == f)
		return true;
	body = shim_body_of(f, &nbody);
	name = LLVMGetValueName2(of, &n);
	return body && n == nbody && !memcmp(name, body, n);
}

static void put_alias(struct bytes *b, LLVMValueRef a)
{
	size_t n;
	const char *name = LLVMGetValueName2(a, &n);

	bytes_put_str(b, name, n);
}

/* Returns how many there are; puts their names if b is not NULL. */
static uint32_t put_aliases(struct bytes *b, LLVMValueRef f)
{
	LLVMModuleRef m = LLVMGetGlobalParent(f);
	uint32_t count = 0;

	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(m); a;
	     a = LLVMGetNextGlobalAlias(a))
		if (is_alias_of(a, f)) {
			if (b)
				put_alias(b, a);
			count++;
		}
	return count;
}

static uint64_t flags_of(LLVMValueRef f, const struct mode *mode)
{
	LLVMLinkage linkage = LLVMGetLinkage(f);
	uint64_t flags = 0;
	size_t n;

	if ((linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage) &&
	    !shim_body_of(f, &n))
		flags |= CAIRN_FN_LOCAL;
	if (linkage == LLVMLinkOnceODRLinkage ||
	    linkage == LLVMLinkOnceAnyLinkage ||
	    linkage == LLVMWeakODRLinkage || linkage == LLVMWeakAnyLinkage)
		flags |= CAIRN_FN_SHARED;
	if (mode && mode->strict)
		flags |= CAIRN_FN_STRICT;
	if (mode && mode->slow)
		flags |= CAIRN_FN_SLOW;
	if (mode && mode->source)
		flags |= CAIRN_FN_SOURCE;
	if (mode && mode->sites)
		flags |= CAIRN_FN_SEGMENTS;
	if (mode && mode->probes && !mode->trace && !mode->record)
		flags |= CAIRN_FN_LAST;
	if (mode && mode->trace &&
	    (mode->record ? has_tail_call(f) : trace_has_tails(f)))
		flags |= CAIRN_FN_TAILS;
	return flags;
}

static void put_definition(struct describer *d, LLVMValueRef f, struct bytes *b)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(f);
	char *path = subprogram ? NULL : path_of_function(f);

	if (!path) {
		put_subprogram(d, b, subprogram);
		return;
	}
	bytes_put_str(&d->files, path, strlen(path));
	free(path);
	bytes_put_uv(b, ++d->nfiles);
	bytes_put_uv(b, 0);
}

static void put_edges(const struct function *fn, struct bytes *b)
{
	bytes_put_uv(b, fn->g.nedges);
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		const struct edge_info *info = &fn->edges[e];

		bytes_put_uv(b, fn->g.edges[e].src);
		bytes_put_uv(b, fn->g.edges[e].dst);
		bytes_put_uv(b, info->kind);
		bytes_put_uv(b, info->counter);
		bytes_put_uv(b, info->weight);
	}
}

static void put_sites(const struct function *fn, struct bytes *b)
{
	bytes_put_uv(b, fn->nsites);
	for (uint32_t i = 0; i < fn->nsites; i++) {
		bytes_put_uv(b, fn->sites[i].block);
		bytes_put_uv(b, fn->sites[i].segment);
	}
}

static void describer_release(struct describer *d)
{
	ptrmap_release(&d->file_of);
	ptrmap_release(&d->instance_of);
	ptrmap_release(&d->callee_of);
	bytes_release(&d->files);
	bytes_release(&d->instances);
	bytes_release(&d->blocks);
	bytes_release(&d->callees);
	bytes_release(&d->outcalls);
	for (size_t i = 0; i < d->lines_cap; i++)
		free(d->lines[i].places);
	free(d->lines);
	free(d->items);
	free(d->segments);
	free(d->ninstructions);
}

void describe_function(const struct function *fn, const struct mode *mode,
                       struct bytes *b)
{
	struct describer d = {.fn = fn, .module = LLVMGetGlobalParent(fn->f)};
	struct bytes definition = {0};
	uint32_t naliases;

	put_definition(&d, fn->f, &definition);
	describe_nodes(&d);
	bytes_put_uv(b, CAIRN_BLOB_VERSION);
	naliases = put_aliases(NULL, fn->f);
	bytes_put_uv(b,
	             flags_of(fn->f, mode) | (naliases ? CAIRN_FN_ALIASES : 0));
	put_name(b, fn->f);
	if (naliases) {
		bytes_put_uv(b, naliases);
		put_aliases(b, fn->f);
	}
	bytes_put_str(b, "", 0);
	bytes_put_u64(b, function_hash(fn));
	bytes_put_uv(b, d.nfiles);
	bytes_put(b, d.files.data, d.files.n);
	bytes_put(b, definition.data, definition.n);
	bytes_put_uv(b, d.ninstances);
	bytes_put(b, d.instances.data, d.instances.n);
	bytes_put_uv(b, fn->g.nblocks);
	bytes_put(b, d.blocks.data, d.blocks.n);
	put_edges(fn, b);
	put_sites(fn, b);
	bytes_put_uv(b, d.ncallees);
	bytes_put(b, d.callees.data, d.callees.n);
	bytes_put_uv(b, d.noutcalls);
	bytes_put(b, d.outcalls.data, d.outcalls.n);
	if (!mode->paths && !mode->trace && !mode->record)
		bytes_put_uv(b, CAIRN_PATHS_NONE);
	bytes_release(&definition);
	describer_release(&d);
}

void describe_uncovered(LLVMValueRef f, const char *reason, struct bytes *b)
{
	struct describer d = {.module = LLVMGetGlobalParent(f)};
	struct bytes definition = {0};

	put_definition(&d, f, &definition);
	bytes_put_uv(b, CAIRN_BLOB_VERSION);
	bytes_put_uv(b, flags_of(f, NULL) | CAIRN_FN_NOT_COVERED);
	put_name(b, f);
	bytes_put_str(b, reason, strlen(reason));
	bytes_put_u64(b, 0);
	bytes_put_uv(b, d.nfiles);
	bytes_put(b, d.files.data, d.files.n);
	bytes_put(b, definition.data, definition.n);
	/* instances, blocks, edges, sites, callees, outcalls, paths */
	for (int i = 0; i < 7; i++)
		bytes_put_uv(b, 0);
	bytes_release(&definition);
	describer_release(&d);
}
