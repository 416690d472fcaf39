/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of paths that are asked for by name: all of a function, or all through a
 * line.  Here they become blocks: a path belongs to a set if it runs through
 * one of them (graph/through.h).
 *
 * A block has the lines that the map will have for it (line_of), so that
 * `cairn paths --line` shows what was preferred.
 *
 * That a set finds nothing in a module is the rule, for it is meant for another
 * one.  What no other module can find is said: a line of the module's own
 * source file without code, and lines without debug information.
 *
 * Cost: O(instructions log sets), and O(blocks) per set that a function has.
 */
#include "plugin/wanted.h"

#include "analysis/interest.h"
#include "base/alloc.h"
#include "base/spot.h"
#include "graph/through.h"
#include "plugin/function.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <inttypes.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

/* What a set has found. */
struct hit {
	uint64_t nfunctions, npaths;
	bool *blocks; /* of the current function, or NULL */
};

struct wanted {
	const struct interest *interest;
	const struct interest_set *sets;
	size_t nsets;
	LLVMModuleRef module;
	struct hit *hits; /* per set */
	size_t *found;    /* sets that the current function has */
	size_t nfound;
	bool *blocks; /* of any of them */
	char *source; /* path of the module's own source file, or NULL */
};

struct wanted *wanted_new(const struct interest *in, LLVMModuleRef module)
{
	struct wanted *w;
	size_t n;

	if (!in)
		return NULL;
	interest_sets(in, &n);
	if (!n)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->interest = in;
	w->sets = interest_sets(in, &w->nsets);
	w->module = module;
	w->hits = xcalloc(n, sizeof(*w->hits));
	w->found = xcalloc(n, sizeof(*w->found));
	return w;
}

/* Forgets the last function. */
static void forget(struct wanted *w)
{
	for (size_t i = 0; i < w->nfound; i++) {
		free(w->hits[w->found[i]].blocks);
		w->hits[w->found[i]].blocks = NULL;
	}
	w->nfound = 0;
	free(w->blocks);
	w->blocks = NULL;
}

void wanted_free(struct wanted *w)
{
	if (!w)
		return;
	forget(w);
	free(w->hits);
	free(w->found);
	free(w->source);
	free(w);
}

/* The blocks of a set, to be marked. */
static bool *blocks_of(struct wanted *w, const struct function *fn, size_t set)
{
	struct hit *hit = &w->hits[set];

	if (!hit->blocks) {
		hit->blocks = xcalloc(fn->g.nblocks, sizeof(*hit->blocks));
		hit->nfunctions++;
		w->found[w->nfound++] = set;
	}
	return hit->blocks;
}

static void find_by_name(struct wanted *w, const struct function *fn)
{
	size_t n;
	const char *name = LLVMGetValueName2(fn->f, &n);
	struct interest_range r = interest_of_function(
	        w->interest, name[0] == '\1' ? name + 1 : name);

	for (size_t i = r.first; i < r.end; i++)
		memset(blocks_of(w, fn, i), true, fn->g.nblocks);
}

static void find_by_line(struct wanted *w, const struct function *fn,
                         block_id b, LLVMValueRef instruction)
{
	LLVMMetadataRef file = NULL;
	unsigned line = line_of(instruction, &file);
	struct interest_range r;
	char *path;

	r = interest_of_line(w->interest, line);
	if (!line || r.first == r.end)
		return;
	path = path_of(file);
	for (size_t i = r.first; path && i < r.end; i++)
		if (spot_is_file(path, w->sets[i].spot.file))
			blocks_of(w, fn, i)[b] = true;
	free(path);
}

/* Is it a function of the file that is compiled, and no header's? */
static void note_source(struct wanted *w, const struct function *fn)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(fn->f);
	size_t n;
	char *path;

	if (w->source || !subprogram)
		return;
	path = path_of(shim_subprogram_file(subprogram));
	if (path && spot_is_file(path, LLVMGetSourceFileName(w->module, &n)))
		w->source = path;
	else
		free(path);
}

const bool *wanted_blocks(struct wanted *w, const struct function *fn)
{
	forget(w);
	note_source(w, fn);
	find_by_name(w, fn);
	for (block_id b = 1; b < fn->g.nblocks; b++)
		for (LLVMValueRef i = node_first(&fn->nodes[b]);
		     i && i != fn->nodes[b].end; i = LLVMGetNextInstruction(i))
			find_by_line(w, fn, b, i);
	if (!w->nfound)
		return NULL;
	w->blocks = xcalloc(fn->g.nblocks, sizeof(*w->blocks));
	for (size_t i = 0; i < w->nfound; i++)
		for (block_id b = 0; b < fn->g.nblocks; b++)
			w->blocks[b] |= w->hits[w->found[i]].blocks[b];
	return w->blocks;
}

void wanted_count(struct wanted *w, const struct function *fn)
{
	for (size_t i = 0; i < w->nfound; i++) {
		struct hit *hit = &w->hits[w->found[i]];

		hit->npaths +=
		        through_count(&fn->paths->paths, hit->blocks, NULL);
	}
}

/* As the command line has it; the caller frees it. */
static char *text_of(const struct interest_set *s)
{
	return s->function ? xasprintf("prefer=function:%s", s->function)
	                   : xasprintf("prefer=line:%s:%" PRIu32, s->spot.file,
	                               s->spot.line);
}

static void say(const struct wanted *w, bool is_warning, char *text)
{
	shim_say(w->module, is_warning, text);
	free(text);
}

static void say_remark(const struct wanted *w, size_t set)
{
	const struct hit *hit = &w->hits[set];
	char *text = text_of(&w->sets[set]);
	size_t n;
	const char *file = LLVMGetSourceFileName(w->module, &n);

	if (hit->nfunctions)
		say(w, false,
		    xasprintf("cairn: %s: %" PRIu64 " path%s of %" PRIu64
		              " function%s in %s",
		              text, hit->npaths, hit->npaths == 1 ? "" : "s",
		              hit->nfunctions, hit->nfunctions == 1 ? "" : "s",
		              file));
	else
		say(w, false,
		    xasprintf("cairn: %s: nothing in %s", text, file));
	free(text);
}

static void warn_of_line(const struct wanted *w, const struct interest_set *s)
{
	char *text;

	if (!w->source || !spot_is_file(w->source, s->spot.file))
		return;
	text = text_of(s);
	say(w, true,
	    xasprintf("cairn: %s: no path of %s runs through this line; it "
	              "has no code after optimization, or none that is "
	              "counted",
	              text, w->source));
	free(text);
}

void wanted_say(const struct wanted *w, bool remarks)
{
	bool asks_for_lines = !w->sets[0].function; /* they come first */
	size_t n;

	if (asks_for_lines &&
	    !LLVMGetNamedMetadataNumOperands(w->module, "llvm.dbg.cu"))
		say(w, true,
		    xasprintf("cairn: prefer: %s has no line information, so "
		              "that no path of it is preferred by its lines; "
		              "compile it with -g",
		              LLVMGetSourceFileName(w->module, &n)));
	for (size_t i = 0; i < w->nsets; i++) {
		if (!w->sets[i].function && !w->hits[i].nfunctions)
			warn_of_line(w, &w->sets[i]);
		if (remarks)
			say_remark(w, i);
	}
}
