// SPDX-License-Identifier: Apache-2.0
//
// Where a variable is when a place is reached: the debug records that reach it
// on all ways, as for any data flow (what two ways do not agree on is not
// known).  A record may be for some bits of a variable only.
//
// A record that says that a variable was assigned (#dbg_assign) names a value
// and a store: memory is meant if the store was made by then, the value if
// there is none any more.
//
// Invariant: a value that is named at a place dominates it.
// Cost: per variable, linear in blocks, times the nesting of loops.
#include "replay/debug.hpp"

#include "abi/record.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

Whereabouts::Whereabouts(Function &f, Lines &lines)
    : f(f), lines(lines), tree(f)
{
	for (Instruction &i : instructions(f))
		for (DbgVariableRecord &r :
		     filterDbgVars(i.getDbgRecordRange()))
			if (r.getDebugLoc())
				records[{r.getVariable(),
				         r.getDebugLoc()->getInlinedAt()}]
				        .push_back(&r);
}

// --- records -----------------------------------------------------------------

// Operations that we can do ourselves; src/replay/location.c does them.
static bool isKnownOp(uint64_t op)
{
	switch (op) {
	case dwarf::DW_OP_LLVM_arg:
	case dwarf::DW_OP_LLVM_convert:
	case dwarf::DW_OP_deref:
	case dwarf::DW_OP_constu:
	case dwarf::DW_OP_consts:
	case dwarf::DW_OP_plus_uconst:
	case dwarf::DW_OP_plus:
	case dwarf::DW_OP_minus:
	case dwarf::DW_OP_mul:
	case dwarf::DW_OP_div:
	case dwarf::DW_OP_mod:
	case dwarf::DW_OP_and:
	case dwarf::DW_OP_or:
	case dwarf::DW_OP_xor:
	case dwarf::DW_OP_shl:
	case dwarf::DW_OP_shr:
	case dwarf::DW_OP_shra:
	case dwarf::DW_OP_neg:
	case dwarf::DW_OP_not:
		return true;
	default:
		return op >= dwarf::DW_OP_lit0 && op <= dwarf::DW_OP_lit31;
	}
}

// A value that can be stored for us to see.
static bool isStorable(const Value *v)
{
	Type *t = v->getType();

	if (auto *c = dyn_cast<Constant>(v)) {
		auto *g = dyn_cast<GlobalValue>(c->stripPointerCasts());

		if (isa<UndefValue>(c) || isa<ConstantExpr>(c) ||
		    (g && g->isDeclaration()) || isa<BlockAddress>(c))
			return false;
	}
	if (t->isVectorTy())
		t = t->getScalarType();
	else if (t->isX86_FP80Ty())
		return true;
	return t->isPointerTy() || t->isFloatTy() || t->isDoubleTy() ||
	       (t->isIntegerTy() &&
	        (t->getIntegerBitWidth() % 8 == 0 ||
	         (t == v->getType() && t->getIntegerBitWidth() == 1)));
}

const Location *Whereabouts::intern(void *where, const DIExpression *e,
                                    bool isMemory,
                                    const std::vector<Value *> &values)
{
	const DIExpression *all = DIExpression::convertToVariadicExpression(e);
	auto key = std::make_tuple(where, (void *)e, isMemory);
	auto found = known.find(key);
	Location l{values, {}, isMemory};
	bool isValue = false;
	size_t last = 0;

	if (found != known.end())
		return found->second;
	for (const Value *v : values)
		if (!v || !isStorable(v))
			return known[key] = nullptr;
	for (const auto &op : all->expr_ops()) {
		if (op.getOp() == dwarf::DW_OP_LLVM_fragment ||
		    op.getOp() == dwarf::DW_OP_LLVM_tag_offset)
			continue;
		if (op.getOp() == dwarf::DW_OP_stack_value) {
			isValue = true;
			continue;
		}
		if (!isKnownOp(op.getOp()))
			return known[key] = nullptr;
		last = l.ops.size();
		for (unsigned i = 0; i < op.getSize(); i++)
			l.ops.push_back(op.get()[i]);
	}
	if (!isMemory && !isValue && l.ops.size() > 2) {
		l.isMemory = true;
		if (l.ops[last] == dwarf::DW_OP_deref)
			l.ops.pop_back();
	}
	made.push_back(std::move(l));
	return known[key] = &made.back();
}

// Is memory up to date where the record is?  It is if the store was made; if
// there is none any more, it is not.  If it is elsewhere, nobody knows.
enum class Stored { Yes, No, Maybe };

static Stored isStored(const DbgVariableRecord &r, const DominatorTree &tree)
{
	Stored s = Stored::No;

	if (r.isKillAddress() || !r.getAddress())
		return s;
	for (Instruction *i : at::getAssignmentInsts(&r)) {
		if (tree.dominates(i->getParent(), r.getParent()))
			return Stored::Yes;
		s = Stored::Maybe;
	}
	return s;
}

// Of a vectorized loop, a vector may stand where the variable was: it has what
// several turns computed, and no turn's value.
static bool isOfSeveralTurns(const DbgVariableRecord &r, const Value &v)
{
	auto *t = dyn_cast<FixedVectorType>(v.getType());
	auto fragment = r.getFragment();
	auto bits = fragment ? std::optional(fragment->SizeInBits)
	                     : r.getVariable()->getSizeInBits();

	return t && bits && t->getPrimitiveSizeInBits() != *bits;
}

const Location *Whereabouts::locationOf(DbgVariableRecord &r)
{
	std::vector<Value *> values;

	Stored stored = r.isDbgAssign() ? isStored(r, tree) : Stored::No;

	if (stored == Stored::Yes)
		return intern(r.getAddress(), r.getAddressExpression(), true,
		              {r.getAddress()});
	if (r.isKillLocation() || stored == Stored::Maybe)
		return nullptr;
	for (Value *v : r.location_ops()) {
		if (isOfSeveralTurns(r, *v))
			return nullptr;
		values.push_back(v);
	}
	return intern(r.getRawLocation(), r.getExpression(), r.isDbgDeclare(),
	              values);
}

// What a record says takes the place of what was known of the same bits.
void Whereabouts::apply(DbgVariableRecord &r, Pieces &p)
{
	const Location *l = locationOf(r);
	auto fragment = r.getFragment();
	uint64_t size = r.getVariable()->getSizeInBits().value_or(64);
	uint64_t from = fragment ? fragment->OffsetInBits : 0;
	uint64_t to = fragment ? from + fragment->SizeInBits : size;
	Pieces rest;

	for (const Piece &old : p) {
		uint64_t end = old.bit + old.nbits;

		if (old.bit < from)
			rest.push_back({old.bit, std::min(end, from) - old.bit,
			                old.location, old.own});
		if (end > to) {
			uint64_t begin = std::max(old.bit, to);

			rest.push_back(
			        {begin, end - begin, old.location, old.own});
		}
	}
	if (l)
		rest.push_back({from, to - from, l, from});
	p = std::move(rest);
}

// --- data flow ---------------------------------------------------------------

static Pieces join(const Pieces &a, const Pieces &b)
{
	Pieces both;

	for (const Piece &x : a)
		for (const Piece &y : b) {
			uint64_t from = std::max(x.bit, y.bit);
			uint64_t to =
			        std::min(x.bit + x.nbits, y.bit + y.nbits);

			if (x.location == y.location && x.own == y.own &&
			    from < to)
				both.push_back(
				        {from, to - from, x.location, x.own});
		}
	return both;
}

static bool
isSame(const DbgVariableRecord &r,
       const std::pair<const DILocalVariable *, const DILocation *> &v)
{
	return r.getVariable() == v.first && r.getDebugLoc() &&
	       r.getDebugLoc()->getInlinedAt() == v.second;
}

Pieces Whereabouts::transfer(BasicBlock &b, const Variable &v, Pieces p)
{
	for (Instruction &i : b)
		for (DbgVariableRecord &r :
		     filterDbgVars(i.getDbgRecordRange()))
			if (isSame(r, v))
				apply(r, p);
	return p;
}

// What is known at the top of each block that can be reached.
const DenseMap<BasicBlock *, Pieces> &Whereabouts::entriesOf(const Variable &v)
{
	auto found = entries.find(v);

	if (found != entries.end())
		return found->second;
	DenseMap<BasicBlock *, Pieces> &in = entries[v], out;
	ReversePostOrderTraversal<Function *> order(&f);
	bool changes = true;

	while (changes) {
		changes = false;
		for (BasicBlock *b : order) {
			Pieces now;
			bool isFirst = true;

			for (BasicBlock *p : predecessors(b)) {
				auto from = out.find(p);

				if (from == out.end())
					continue;
				now = isFirst ? from->second
				              : join(now, from->second);
				isFirst = false;
			}
			if (b == &f.getEntryBlock())
				now.clear();
			Pieces end = transfer(*b, v, now);
			in[b] = now;
			auto [at, isNew] = out.insert({b, end});
			if (isNew || at->second != end) {
				at->second = end;
				changes = true;
			}
		}
	}
	return in;
}

// --- questions ---------------------------------------------------------------

std::vector<const DILocalVariable *>
Whereabouts::inScope(const DILocalScope *s, const DILocation *inlinedAt)
{
	std::vector<const DILocalVariable *> list;

	for (auto &[v, rs] : records)
		if (v.second == inlinedAt &&
		    v.first->getScope()->getNonLexicalBlockFileScope() == s)
			list.push_back(v.first);
	for (const DINode *n : s->getSubprogram()->getRetainedNodes()) {
		auto *v = dyn_cast_or_null<DILocalVariable>(n);

		if (v && v->getScope()->getNonLexicalBlockFileScope() == s &&
		    !is_contained(list, v))
			list.push_back(v);
	}
	return list;
}

bool Whereabouts::isUsable(const Location &l, Instruction *at)
{
	for (Value *v : l.values) {
		auto *i = dyn_cast<Instruction>(v);

		if (i && !tree.dominates(i, at))
			return false;
	}
	return true;
}

// Did this line compute what the record says?  At its end, a value where ways
// meet, which has no line, may be what it computed, too.
bool Whereabouts::isOf(DbgVariableRecord &r, unsigned group, bool isAtEnd)
{
	auto isHere = [&](const Value *v) {
		auto *i = dyn_cast_or_null<Instruction>(v);

		return i && ((isAtEnd && !i->getDebugLoc()) ||
		             lines.groupOf(*i) == int(group));
	};

	if (r.isDbgDeclare())
		return false;
	if (r.isDbgAssign())
		for (Instruction *i : at::getAssignmentInsts(&r))
			if (lines.groupOf(*i) == int(group))
				return true;
	return !r.isKillLocation() && any_of(r.location_ops(), isHere);
}

Pieces Whereabouts::at(const Event &e, const DILocalVariable *variable,
                       const DILocation *inlinedAt)
{
	Variable v{variable, inlinedAt};
	auto found = records.find(v);
	Pieces p, usable;

	if (found == records.end())
		return {};
	if (found->second.front()->isDbgDeclare()) {
		for (DbgVariableRecord *r : found->second)
			apply(*r, p);
	} else {
		p = entriesOf(v).lookup(e.at->getParent());
		for (Instruction &i : *e.at->getParent()) {
			for (DbgVariableRecord &r :
			     filterDbgVars(i.getDbgRecordRange()))
				if (isSame(r, v) && (&i != e.at || !e.isEnd ||
				                     isOf(r, e.group, true)))
					apply(r, p);
			if (&i == e.at)
				break;
		}
	}
	for (const Piece &piece : p)
		if (isUsable(*piece.location, e.at))
			usable.push_back(piece);
	return usable;
}

bool Whereabouts::reaches(const Event &e, const DILocalVariable *variable,
                          const DILocation *inlinedAt)
{
	auto found = records.find({variable, inlinedAt});

	return found == records.end() ||
	       any_of(found->second, [&](DbgVariableRecord *r) {
		       return tree.dominates(r->getParent(), e.at->getParent());
	       });
}

bool Whereabouts::isDeclared(const DILocalVariable *variable,
                             const DILocation *inlinedAt)
{
	auto found = records.find({variable, inlinedAt});

	return found != records.end() && found->second.front()->isDbgDeclare();
}

static const Value *addressOf(const DbgVariableRecord &r)
{
	const Value *a =
	        r.isDbgAssign() && !r.isKillAddress() ? r.getAddress()
	        : r.getType() == DbgVariableRecord::LocationType::Declare &&
	                        !r.isKillLocation()
	                ? r.getValue()
	                : nullptr;

	return a ? getUnderlyingObject(a) : nullptr;
}

// What an instruction writes to, if it is known.
static const Value *targetOf(const Instruction &i)
{
	const Value *p = nullptr;

	if (auto *s = dyn_cast<StoreInst>(&i))
		p = s->getPointerOperand();
	else if (auto *m = dyn_cast<MemIntrinsic>(&i))
		p = m->getRawDest();
	else if (auto *r = dyn_cast<AtomicRMWInst>(&i))
		p = r->getPointerOperand();
	else if (auto *c = dyn_cast<AtomicCmpXchgInst>(&i))
		p = c->getPointerOperand();
	else if (auto *c = dyn_cast<CallBase>(&i))
		p = c->arg_size() && c->hasStructRetAttr()
		            ? c->getArgOperand(
		                      c->paramHasAttr(0, Attribute::StructRet)
		                              ? 0
		                              : 1)
		            : nullptr;
	return p ? getUnderlyingObject(p) : nullptr;
}

bool Whereabouts::isWritten(unsigned group, const Value *object)
{
	for (const Instruction &i : instructions(f))
		if (targetOf(i) == object && lines.groupOf(i) == int(group))
			return true;
	return false;
}

// A global variable that an address is of: by its name, by what says where it
// is in this thread, or by the table of what other files have.
static const GlobalValue *globalOf(const Value *v)
{
	if (auto *c = dyn_cast<IntrinsicInst>(v))
		if (c->getIntrinsicID() == Intrinsic::threadlocal_address)
			v = c->getArgOperand(0);
	if (auto *l = dyn_cast<LoadInst>(v)) {
		const DataLayout &layout = l->getDataLayout();
		APInt at(64, 0);
		auto *table = dyn_cast<GlobalVariable>(
		        l->getPointerOperand()
		                ->stripAndAccumulateConstantOffsets(layout, at,
		                                                    true));

		if (!table || table->getName() != CAIRN_IR_EXTERNS)
			return nullptr;
		v = table->getInitializer()->getAggregateElement(
		        unsigned(at.getZExtValue() / 8));
	}
	return dyn_cast_or_null<GlobalValue>(v);
}

std::vector<StringRef> Whereabouts::written(unsigned group)
{
	std::vector<StringRef> list;

	for (const Instruction &i : instructions(f)) {
		const Value *p = targetOf(i);
		const GlobalValue *g = p ? globalOf(p) : nullptr;

		if (g && lines.groupOf(i) == int(group))
			list.push_back(g->getName());
	}
	return list;
}

bool Whereabouts::isAssigned(unsigned group, const DILocalVariable *variable,
                             const DILocation *inlinedAt)
{
	auto found = records.find({variable, inlinedAt});

	if (found == records.end())
		return false;
	for (DbgVariableRecord *r : found->second) {
		const Value *a = addressOf(*r);

		if (isOf(*r, group, false) || (a && isWritten(group, a)))
			return true;
	}
	return false;
}
