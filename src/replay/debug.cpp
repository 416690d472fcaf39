// SPDX-License-Identifier: Apache-2.0
//
// The debug information of a unit, for C.
//
// A unit is looked at twice: first to find out what can be asked at a line, and
// again, in the copy of its IR that is compiled, to put the questions there.
// Both times the same code finds the same places, variables and words in the
// same order.
//
// Invariant: what C sees is a function of the IR and the line alone.
// Cost: linear in the IR of the unit, and in what is asked.
#include "replay/debug.hpp"

#include "ir/sites.h"
#include "replay/bitcode.h"
#include "replay/state.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"

#include <cstdlib>

using namespace llvm;

// --- what is found, in either copy -------------------------------------------

namespace
{

struct FoundVariable {
	const DILocalVariable *local = nullptr; // or:
	const DIGlobalVariableExpression *global = nullptr;
	GlobalVariable *memory = nullptr; // of a global; it may have none
	Pieces pieces;
	std::vector<std::vector<uint32_t>> words; // of each operand of a piece
	bool isAssigned = false;
	bool isPassed = false; // its memory is declared on some ways only
	unsigned rival = 0;    // line of another that may be meant as well
};

struct FoundPlace {
	Event event;
	Group group;
	std::vector<FoundVariable> variables;
	std::vector<StringRef> written;
	uint32_t nwords;
};

} // namespace

static unsigned bytesOf(const Value *v, const Module &m)
{
	return unsigned(m.getDataLayout().getTypeStoreSize(v->getType()));
}

static StringRef nameOf(const FoundVariable &v)
{
	return v.local ? v.local->getName()
	               : v.global->getVariable()->getName();
}

static unsigned depthOf(const DILocalScope *s)
{
	unsigned n = 0;

	for (; !isa<DISubprogram>(s); n++)
		s = cast<DILexicalBlockBase>(s)->getScope();
	return n;
}

// All scopes around the instructions of a line, innermost first.
static std::vector<const DILocalScope *> scopesOf(const Group &g)
{
	std::vector<const DILocalScope *> list;

	for (const DILocalScope *s : g.scopes)
		for (;;) {
			s = s->getNonLexicalBlockFileScope();
			if (!is_contained(list, s))
				list.push_back(s);
			if (isa<DISubprogram>(s))
				break;
			s = cast<DILexicalBlockBase>(s)->getScope();
		}
	std::vector<const DILocalScope *> sorted;
	unsigned deepest = 0;
	for (const DILocalScope *s : list)
		deepest = std::max(deepest, depthOf(s));
	for (unsigned d = deepest + 1; d--;)
		for (const DILocalScope *s : list)
			if (depthOf(s) == d)
				sorted.push_back(s);
	return sorted;
}

// Static variables of functions; also those that are in no memory any more.
using Statics = std::vector<
        std::pair<const DIGlobalVariableExpression *, GlobalVariable *>>;

static Statics staticsOf(Module &m)
{
	Statics list;
	DenseSet<const DIGlobalVariable *> seen;
	auto add = [&](auto *e, GlobalVariable *g) {
		if (seen.insert(e->getVariable()).second)
			list.push_back({e, g});
	};

	for (GlobalVariable &g : m.globals()) {
		SmallVector<DIGlobalVariableExpression *, 1> all;

		g.getDebugInfo(all);
		for (auto *e : all)
			if (isa_and_nonnull<DILocalScope>(
			            e->getVariable()->getScope()))
				add(e, &g);
	}
	for (DICompileUnit *cu : m.debug_compile_units())
		for (auto *e : cu->getGlobalVariables())
			if (isa_and_nonnull<DILocalScope>(
			            e->getVariable()->getScope()))
				add(e, nullptr);
	return list;
}

static unsigned lineOf(const FoundVariable &v)
{
	return v.local ? v.local->getLine()
	               : v.global->getVariable()->getLine();
}

// --- variables of one name in one scope --------------------------------------
//
// Clang says of what catch, while and switch declare that it is in the block
// around them, and of a static variable that it is in the function.  The plugin
// mends the former (plugin/heads.cpp), but for a few.  So several of a name may
// be in one scope, and where the blocks of a function begin is all that tells
// which is meant.

// A block with code that a scope has, as a child or deeper.
static std::vector<const DILexicalBlock *> blocksOf(const Function &f,
                                                    const DILocalScope *in)
{
	std::vector<const DILexicalBlock *> list;
	DenseSet<const DILocalScope *> seen;

	for (const Instruction &i : instructions(f))
		for (const DILocation *l = i.getDebugLoc(); l;
		     l = l->getInlinedAt()) {
			std::vector<const DILexicalBlock *> way;
			const DILocalScope *s = l->getScope();

			for (; s != in && !isa<DISubprogram>(s);
			     s = cast<DILexicalBlockBase>(s)->getScope())
				if (auto *b = dyn_cast<DILexicalBlock>(s))
					way.push_back(b);
			for (const DILexicalBlock *b : way)
				if (s == in && seen.insert(b).second)
					list.push_back(b);
		}
	return list;
}

static const DILocalScope *parentOf(const DILexicalBlock *b)
{
	return b->getScope()->getNonLexicalBlockFileScope();
}

static std::pair<unsigned, unsigned> beginOf(const DILexicalBlock *b)
{
	return {b->getLine(), b->getColumn()};
}

// Is it certain that code in `from` sees what the scope has declared in a line?
// If another block of the scope has begun since, it may have ended with that.
static bool seesLocal(const DILocalScope *from, const DILocalScope *scope,
                      unsigned declared, unsigned line,
                      ArrayRef<const DILexicalBlock *> blocks)
{
	const DILexicalBlock *own = nullptr;

	for (const DILocalScope *s = from->getNonLexicalBlockFileScope();
	     s != scope; s = parentOf(own)) {
		if (isa<DISubprogram>(s))
			return true; // it is not in the scope
		own = cast<DILexicalBlock>(s);
	}
	if (own && own->getLine() < declared)
		return false;
	for (const DILexicalBlock *b : blocks)
		if (b != own && parentOf(b) == scope &&
		    b->getLine() >= declared &&
		    (own ? own->getLine() > declared &&
		                     beginOf(b) < beginOf(own)
		         : b->getLine() < line))
			return false;
	return true;
}

// The same of a static variable: it is in the block that began last before it,
// or in one around that.
static bool seesStatic(ArrayRef<const DILocalScope *> around, unsigned declared,
                       ArrayRef<const DILexicalBlock *> blocks)
{
	unsigned last = 0;

	for (const DILexicalBlock *b : blocks)
		if (b->getLine() <= declared)
			last = std::max(last, b->getLine());
	const DILexicalBlock *inner = nullptr;
	for (const DILexicalBlock *b : blocks) {
		if (b->getLine() != last)
			continue;
		if (last == declared && !is_contained(around, b))
			return false;
		if (!inner || beginOf(b) >= beginOf(inner))
			inner = b;
	}
	return !inner || is_contained(around, inner);
}

static bool isSeen(const FoundPlace &p, const FoundVariable &v,
                   const DILocalScope *scope, unsigned line)
{
	auto blocks = blocksOf(*p.event.at->getFunction(), scope);

	if (v.global)
		return seesStatic(scopesOf(p.group), lineOf(v), blocks);
	return all_of(p.group.scopes, [&](const DILocalScope *from) {
		return seesLocal(from, scope, lineOf(v), line, blocks);
	});
}

// Of those with one name in a scope, the last one declared.  One that has no
// record on all ways to the place is not meant there.
static FoundVariable choose(const FoundPlace &p, Whereabouts &w,
                            const std::vector<FoundVariable> &all,
                            const DILocalScope *scope, unsigned line)
{
	std::vector<FoundVariable> reached;
	auto isEarlier = [](const FoundVariable &a, const FoundVariable &b) {
		return lineOf(a) < lineOf(b);
	};

	for (const FoundVariable &v : all)
		if (v.global || w.reaches(p.event, v.local, p.group.inlinedAt))
			reached.push_back(v);
	if (reached.size() == 1)
		return reached[0];
	bool isNone = reached.empty();
	if (isNone)
		reached = all;
	auto at = std::max_element(reached.begin(), reached.end(), isEarlier);
	FoundVariable last = *at;
	reached.erase(at);
	unsigned before = lineOf(
	        *std::max_element(reached.begin(), reached.end(), isEarlier));
	if (isNone || before == lineOf(last) || !isSeen(p, last, scope, line))
		last.rival = before;
	return last;
}

// What a scope declares, but for what inner ones have.
static void addScope(FoundPlace &p, Whereabouts &w,
                     const std::vector<FoundVariable> &declared,
                     const DILocalScope *scope, const spot &line)
{
	MapVector<StringRef, std::vector<FoundVariable>> names;

	for (const FoundVariable &v : declared) {
		if (nameOf(v).empty() || lineOf(v) > line.line)
			continue;
		auto inner = find_if(p.variables, [&](FoundVariable &i) {
			return nameOf(i) == nameOf(v);
		});
		if (inner == p.variables.end())
			names[nameOf(v)].push_back(v);
		else if (inner->isPassed && !inner->rival)
			inner->rival = lineOf(v);
	}
	for (auto &[name, all] : names)
		p.variables.push_back(
		        all.size() == 1 ? all[0]
		                        : choose(p, w, all, scope, line.line));
}

static void addVariables(FoundPlace &p, Whereabouts &w, const spot &line,
                         const Statics &statics)
{
	for (const DILocalScope *s : scopesOf(p.group)) {
		std::vector<FoundVariable> declared;

		for (const DILocalVariable *l :
		     w.inScope(s, p.group.inlinedAt)) {
			FoundVariable v;

			v.local = l;
			v.pieces = w.at(p.event, l, p.group.inlinedAt);
			v.isAssigned = w.isAssigned(p.event.group, l,
			                            p.group.inlinedAt);
			v.isPassed = w.isDeclared(l, p.group.inlinedAt) &&
			             !w.reaches(p.event, l, p.group.inlinedAt);
			declared.push_back(std::move(v));
		}
		for (auto &[e, g] : statics) {
			FoundVariable v;

			if (cast<DILocalScope>(e->getVariable()->getScope())
			            ->getNonLexicalBlockFileScope() != s)
				continue;
			v.global = e;
			v.memory = g;
			v.isAssigned = g && w.isWritten(p.event.group, g);
			declared.push_back(std::move(v));
		}
		addScope(p, w, declared, s, line);
	}
}

static void numberWords(FoundPlace &p, const Module &m)
{
	uint32_t n = 1;

	for (FoundVariable &v : p.variables)
		for (const Piece &piece : v.pieces) {
			v.words.push_back({});
			for (const Value *value : piece.location->values) {
				v.words.back().push_back(n);
				n += (bytesOf(value, m) + 7) / 8;
			}
		}
	p.nwords = n;
}

// Functions have to stay for as long as what was found.
struct Found {
	std::deque<Lines> lines;
	std::deque<Whereabouts> whereabouts;
	std::vector<FoundPlace> places;
};

static void findPlaces(Module &m, const spot &line, Found &found)
{
	Statics statics = staticsOf(m);

	for (Function &f : m) {
		if (f.isDeclaration() || !ir_has_marks(wrap(&f)))
			continue;
		Lines lines(line);
		std::vector<Event> events = lines.find(f);

		if (events.empty())
			continue;
		found.lines.push_back(std::move(lines));
		found.whereabouts.emplace_back(f, found.lines.back());
		for (Event &e : events) {
			FoundPlace p{e,
			             found.lines.back().groups[e.group - 1],
			             {},
			             found.whereabouts.back().written(e.group),
			             0};

			addVariables(p, found.whereabouts.back(), line,
			             statics);
			numberWords(p, m);
			found.places.push_back(std::move(p));
		}
	}
}

// --- for C -------------------------------------------------------------------

struct debug {
	LLVMContext context;
	std::unique_ptr<Module> module;
	uint32_t unit;
	bool isThere = false, isCxx = false;
	Names names;
	std::unique_ptr<Types> types;
	DenseMap<const Value *, uint32_t> table;
	std::vector<debug_place> places;
	std::vector<debug_variable> globals;
	std::deque<std::vector<debug_variable>> variables;
	std::deque<std::vector<debug_piece>> pieces;
	std::deque<std::vector<debug_operand>> operands;
	std::deque<std::vector<uint64_t>> ops;
	std::deque<std::vector<const char *>> written;
	bool hasGlobals = false, hasTypes = false;
	std::vector<const DIType *> allTypes;
};

namespace
{

// LLVM would print what it thinks of a damaged module.
struct Silent : DiagnosticHandler {
	bool handleDiagnostics(const DiagnosticInfo &) override
	{
		return true;
	}
};

} // namespace

struct debug *debug_open(const unsigned char *bitcode, size_t n, uint32_t unit)
{
	auto d = std::make_unique<debug>();

	d->context.setDiagnosticHandler(std::make_unique<Silent>());
	d->module.reset(unwrap(bitcode_parse(wrap(&d->context), bitcode, n)));
	if (!d->module)
		return nullptr;
	d->module->setIsNewDbgInfoFormat(true);
	d->unit = unit;
	for (DICompileUnit *cu : d->module->debug_compile_units()) {
		d->isThere |= cu->getEmissionKind() == DICompileUnit::FullDebug;
		d->isCxx |= dwarf::isCPlusPlus(
		        dwarf::SourceLanguage(cu->getSourceLanguage()));
	}
	d->types = std::make_unique<Types>(d->names, d->isCxx);

	LLVMValueRef *values;
	uint32_t nvalues = rewrite_table(wrap(d->module.get()), &values);
	for (uint32_t i = 0; i < nvalues; i++)
		d->table[unwrap(values[i])] = i;
	free(values);
	return d.release();
}

void debug_close(struct debug *d)
{
	delete d;
}

bool debug_is_there(const struct debug *d)
{
	return d->isThere;
}

static void exportPieces(debug *d, const FoundVariable &v, debug_variable *to)
{
	std::vector<debug_piece> list;

	for (size_t i = 0; i < v.pieces.size(); i++) {
		const Piece &p = v.pieces[i];
		std::vector<debug_operand> operands;

		for (size_t k = 0; k < p.location->values.size(); k++) {
			Value *value = p.location->values[k];

			operands.push_back(
			        {v.words[i][k], bytesOf(value, *d->module),
			         isa<AllocaInst>(getUnderlyingObject(value))});
		}
		d->operands.push_back(std::move(operands));
		d->ops.push_back(p.location->ops);
		list.push_back({p.bit, p.nbits, p.bit - p.own,
		                p.location->isMemory, d->ops.back().data(),
		                d->ops.back().size(), d->operands.back().data(),
		                d->operands.back().size()});
	}
	d->pieces.push_back(std::move(list));
	to->pieces = d->pieces.back().data();
	to->npieces = d->pieces.back().size();
}

// A variable with an address; also one that is a constant by now.
static void exportGlobal(debug *d, const DIGlobalVariableExpression *e,
                         const GlobalVariable *g, debug_variable *to)
{
	const DIExpression *x = e->getExpression();

	to->unit = to->index = DEBUG_NONE;
	to->home = d->unit;
	to->is_static = !g || g->hasLocalLinkage();
	if (g && x->getNumElements() == 0) {
		to->is_thread_local = g->isThreadLocal();
		to->symbol = d->names.keep(g->getName().str());
		auto at = d->table.find(g);
		if (at != d->table.end()) {
			to->unit = d->unit;
			to->index = at->second;
		}
	} else if (!g && x->getNumElements() == 3 &&
	           x->getElement(0) == dwarf::DW_OP_constu &&
	           x->getElement(2) == dwarf::DW_OP_stack_value) {
		d->ops.push_back({dwarf::DW_OP_constu, x->getElement(1)});
		d->pieces.push_back({{0, 8 * to->type->size, 0, false,
		                      d->ops.back().data(), 2, nullptr, 0}});
		to->pieces = d->pieces.back().data();
		to->npieces = 1;
	}
}

static debug_variable exportVariable(debug *d, const FoundVariable &v)
{
	debug_variable to = {};

	to.name = d->names.keep(nameOf(v).str());
	to.unit = to.index = DEBUG_NONE;
	to.is_assigned = v.isAssigned;
	to.rival = v.rival;
	if (v.local) {
		to.type = d->types->get(v.local->getType());
		to.line = v.local->getLine();
		to.arg = v.local->getArg();
		to.is_artificial = v.local->isArtificial();
		exportPieces(d, v, &to);
	} else {
		to.type = d->types->get(v.global->getVariable()->getType());
		to.line = v.global->getVariable()->getLine();
		exportGlobal(d, v.global, v.memory, &to);
	}
	return to;
}

static std::string pathOf(const DIFile *f)
{
	return f ? f->getFilename().str() : "";
}

const struct debug_place *debug_places(struct debug *d, const struct spot *s,
                                       size_t *n)
{
	Found found;

	findPlaces(*d->module, *s, found);
	d->places.clear();
	for (const FoundPlace &p : found.places) {
		const DISubprogram *f = p.group.function;
		std::vector<debug_variable> list;
		debug_place to = {};

		for (const FoundVariable &v : p.variables)
			list.push_back(exportVariable(d, v));
		d->variables.push_back(std::move(list));
		to.is_end = p.event.isEnd;
		to.group = p.event.group;
		to.function =
		        d->names.keep(qualifiedName(scopeOf(f), f->getName()));
		to.scope = d->names.keep(qualifiedScope(scopeOf(f)));
		to.file = d->names.keep(pathOf(f->getFile()));
		to.variables = d->variables.back().data();
		to.nvariables = d->variables.back().size();
		d->written.push_back({});
		for (StringRef name : p.written)
			d->written.back().push_back(d->names.keep(name.str()));
		to.written = d->written.back().data();
		to.nwritten = d->written.back().size();
		to.nwords = p.nwords;
		d->places.push_back(to);
	}
	*n = d->places.size();
	return d->places.data();
}

bool debug_near(struct debug *d, const struct spot *s, uint32_t *below,
                uint32_t *above)
{
	Lines lines(*s);
	bool found = false;

	*below = *above = 0;
	for (Function &f : *d->module) {
		if (f.isDeclaration() || !ir_has_marks(wrap(&f)))
			continue;
		for (Instruction &i : instructions(f))
			for (const DILocation *l = i.getDebugLoc(); l;
			     l = l->getInlinedAt()) {
				uint32_t k = l->getLine();

				if (!k || !lines.isFile(l->getFile()))
					continue;
				found = true;
				if (k < s->line && k > *below)
					*below = k;
				if (k > s->line && (!*above || k < *above))
					*above = k;
			}
	}
	return found;
}

// --- names of a unit ---------------------------------------------------------

static void addGlobal(debug *d, const DIGlobalVariableExpression *e,
                      const GlobalVariable *g)
{
	const DIGlobalVariable *v = e->getVariable();
	const DIScope *scope = v->getScope();
	debug_variable to = {};

	if (v->getName().empty() || isa_and_nonnull<DILocalScope>(scope))
		return;
	if (v->getStaticDataMemberDeclaration())
		scope = v->getStaticDataMemberDeclaration()->getScope();
	to.name = d->names.keep(qualifiedName(scope, v->getName()));
	to.type = d->types->get(v->getType());
	to.line = v->getLine();
	to.file = d->names.keep(v->getFilename().str());
	exportGlobal(d, e, g, &to);
	d->globals.push_back(to);
}

const struct debug_variable *debug_globals(struct debug *d, size_t *n)
{
	DenseMap<const DIGlobalVariableExpression *, GlobalVariable *> where;

	if (!d->hasGlobals) {
		for (GlobalVariable &g : d->module->globals()) {
			SmallVector<DIGlobalVariableExpression *, 1> all;

			g.getDebugInfo(all);
			for (auto *e : all)
				where[e] = &g;
		}
		for (DICompileUnit *cu : d->module->debug_compile_units())
			for (auto *e : cu->getGlobalVariables())
				addGlobal(d, e, where.lookup(e));
	}
	d->hasGlobals = true;
	*n = d->globals.size();
	return d->globals.data();
}

static const std::vector<const DIType *> &typesOf(debug *d)
{
	DebugInfoFinder finder;

	if (d->hasTypes)
		return d->allTypes;
	d->hasTypes = true;
	finder.processModule(*d->module);
	for (const DIType *t : finder.types())
		if (!t->getName().empty())
			d->allTypes.push_back(t);
	for (DICompileUnit *cu : d->module->debug_compile_units())
		for (const DICompositeType *t : cu->getEnumTypes())
			if (!is_contained(d->allTypes, t))
				d->allTypes.push_back(t);
	return d->allTypes;
}

static bool hasTag(const DIType *t, StringRef tag, bool isCxx)
{
	switch (t->getTag()) {
	case dwarf::DW_TAG_structure_type:
	case dwarf::DW_TAG_class_type:
		return tag == "struct" || (tag.empty() && isCxx);
	case dwarf::DW_TAG_union_type:
		return tag == "union" || (tag.empty() && isCxx);
	case dwarf::DW_TAG_enumeration_type:
		return tag == "enum" || (tag.empty() && isCxx);
	case dwarf::DW_TAG_typedef:
	case dwarf::DW_TAG_base_type:
		return tag.empty();
	default:
		return false;
	}
}

// Blanks in the arguments of a template may be anywhere.
static std::string withoutBlanks(StringRef s)
{
	std::string r;

	for (char c : s)
		if (c != ' ')
			r += c;
	return r;
}

// How near `name` in a scope is to a type: 0 if it is none at all, 1 if it is
// in a scope that is not around.
static size_t nearness(const std::string &type, const std::string &name,
                       StringRef scope)
{
	for (;;) {
		if (type == (scope.empty() ? "" : scope.str() + "::") + name)
			return scope.size() + 2;
		if (scope.empty())
			break;
		size_t end = scope.rfind("::");
		scope = scope.take_front(end == StringRef::npos ? 0 : end);
	}
	return StringRef(type).ends_with("::" + name);
}

const struct type *debug_type(struct debug *d, const char *tag,
                              const char *name, const char *scope)
{
	bool isTop = StringRef(name).starts_with("::");
	std::string wanted = withoutBlanks(isTop ? name + 2 : name), bestName;
	const DIType *best = nullptr;
	size_t bestNear = 0;
	bool isAmbiguous = false;

	for (const DIType *t : typesOf(d)) {
		if (!hasTag(t, tag, d->isCxx))
			continue;
		std::string full = withoutBlanks(
		        qualifiedName(t->getScope(), t->getName()));
		size_t near =
		        isTop ? full == wanted
		              : nearness(full, wanted, withoutBlanks(scope));

		if (!near || near < bestNear)
			continue;
		if (near > bestNear || full != bestName)
			isAmbiguous = near == bestNear;
		if (near > bestNear || best->isForwardDecl()) {
			best = t;
			bestName = full;
		}
		bestNear = near;
	}
	return best && !isAmbiguous ? d->types->get(best) : nullptr;
}

const struct type *debug_record(struct debug *d, const char *name)
{
	for (const DIType *t : typesOf(d)) {
		auto *c = dyn_cast<DICompositeType>(t);

		if (!c || c->isForwardDecl() ||
		    c->getTag() == dwarf::DW_TAG_enumeration_type ||
		    !StringRef(name).ends_with(c->getName()))
			continue;
		const struct type *found = d->types->get(c);
		if (found->kind == TYPE_RECORD && !strcmp(found->name, name))
			return found;
	}
	return nullptr;
}

// All types are made by Types, which nobody else changes.
void debug_complete(const struct type *t,
                    const struct type *(*find)(void *, const char *),
                    void *context)
{
	auto *mine = const_cast<struct type *>(t);

	if (t->is_completed ||
	    (t->kind != TYPE_RECORD && t->kind != TYPE_ARRAY &&
	     t->kind != TYPE_REFERENCE))
		return; // others may be constants
	mine->is_completed = true;
	if (t->kind == TYPE_RECORD && t->is_incomplete) {
		const struct type *whole =
		        find(context, (t->record ? t->record : t)->name);

		if (whole && !whole->is_incomplete) {
			mine->size = whole->size;
			mine->members = whole->members;
			mine->nmembers = whole->nmembers;
			mine->is_incomplete = false;
		}
	}
	if (t->kind != TYPE_RECORD)
		debug_complete(t->target, find, context);
	if (t->kind == TYPE_ARRAY && !t->is_incomplete)
		mine->size = t->n * t->target->size;
	for (size_t i = 0; i < t->nmembers; i++)
		debug_complete(t->members[i].type, find, context);
}

size_t debug_constant(struct debug *d, const char *name, const char *scope,
                      const struct type **type, int64_t *value)
{
	bool isTop = StringRef(name).starts_with("::");
	std::string wanted = withoutBlanks(isTop ? name + 2 : name);
	std::string from = isTop ? "" : withoutBlanks(scope);
	size_t best = 0;

	for (const DIType *t : typesOf(d)) {
		auto *c = dyn_cast<DICompositeType>(t);

		if (!c || c->getTag() != dwarf::DW_TAG_enumeration_type)
			continue;
		const struct type *e = d->types->get(c);
		std::string own = withoutBlanks(
		        qualifiedName(c->getScope(), c->getName()));

		for (size_t i = 0; i < e->nconstants; i++) {
			std::string k = e->constants[i].name;
			size_t near = nearness(own + "::" + k, wanted, from);

			if (!(c->getFlags() & DINode::FlagEnumClass))
				near = std::max(
				        near,
				        nearness(withoutBlanks(qualifiedName(
				                         c->getScope(), k)),
				                 wanted, from));
			else if (near == 1 && !StringRef(wanted).contains("::"))
				near = 0; // not without the name of the class
			if (near <= best || (isTop && near < 2))
				continue;
			best = near;
			*type = e;
			*value = e->constants[i].value;
		}
	}
	return best;
}

// --- asking ------------------------------------------------------------------

namespace
{

class Asker
{
	Module &m;
	const debug_request &r;
	FunctionCallee tell;

	Value *wordAt(IRBuilder<> &b, uint32_t word)
	{
		uint64_t at = uint64_t(uintptr_t(r.words + word));

		return b.CreateIntToPtr(b.getInt64(at), b.getPtrTy());
	}

	// Does control come from where it counts?
	Value *flag(const FoundPlace &p, IRBuilder<> &b)
	{
		BasicBlock *block = p.event.at->getParent();
		IRBuilder<> top(block, block->begin());
		size_t i = 0;

		if (p.event.counts.empty())
			return b.getInt64(1);
		PHINode *phi = top.CreatePHI(top.getInt64Ty(),
		                             unsigned(p.event.counts.size()));
		for (BasicBlock *from : predecessors(block))
			phi->addIncoming(top.getInt64(p.event.counts[i++]),
			                 from);
		return phi;
	}

	void call(IRBuilder<> &b, uint64_t id)
	{
		b.CreateCall(tell, {b.getInt64(id)});
	}

      public:
	Asker(Module &m, const debug_request &r)
	    : m(m), r(r), tell(m.getFunction(REPLAY_TELL))
	{
	}

	void ask(const FoundPlace &p, size_t number)
	{
		IRBuilder<> b(p.event.at);

		b.SetCurrentDebugLocation(DebugLoc());
		b.CreateAlignedStore(flag(p, b), wordAt(b, 0), Align(8));
		for (size_t i = 0; i < p.variables.size(); i++) {
			const FoundVariable &v = p.variables[i];

			if (!r.wants(r.context, number, i))
				continue;
			for (size_t k = 0; k < v.pieces.size(); k++) {
				auto &values = v.pieces[k].location->values;

				for (size_t o = 0; o < values.size(); o++)
					b.CreateAlignedStore(
					        values[o],
					        wordAt(b, v.words[k][o]),
					        Align(8));
			}
		}
		call(b, r.first + number);
	}

	// Wherever somebody learns the address of a thread-local variable.
	void askLocals()
	{
		std::vector<IntrinsicInst *> calls;

		for (Function &f : m)
			if (!f.isDeclaration() && ir_has_marks(wrap(&f)))
				for (Instruction &i : instructions(f))
					if (auto *c =
					            dyn_cast<IntrinsicInst>(&i))
						calls.push_back(c);
		for (IntrinsicInst *c : calls) {
			if (c->getIntrinsicID() !=
			    Intrinsic::threadlocal_address)
				continue;
			Value *v = c->getArgOperand(0);
			auto *g = dyn_cast<GlobalValue>(v);
			uint64_t id =
			        r.local(r.context, v->getName().str().c_str(),
			                g && g->hasLocalLinkage());
			if (!id)
				continue;
			IRBuilder<> b(c->getNextNode());

			b.CreateAlignedStore(c, wordAt(b, 1), Align(8));
			call(b, id);
		}
	}
};

} // namespace

void debug_ask(LLVMModuleRef module, const struct debug_request *r)
{
	Module &m = *unwrap(module);
	Found found;

	m.setIsNewDbgInfoFormat(true);
	if (r->spot)
		findPlaces(m, *r->spot, found);

	Asker asker(m, *r);
	for (size_t i = 0; i < found.places.size(); i++)
		if (r->wants_place(r->context, i))
			asker.ask(found.places[i], i);
	asker.askLocals();
}
