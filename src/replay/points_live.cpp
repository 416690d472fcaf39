// SPDX-License-Identifier: Apache-2.0
//
// Which values live across the points of a function: data flow, backwards.
//
// A value that lives behind a setjmp does so at every point, since a longjmp
// may come from there.  One that a debug record names lives wherever it is
// known.
//
// Invariant: the result is a function of canonical IR.
// Cost: a bit per value and block, and a few turns over the function.
#include "replay/points.hpp"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

bool isPrivateAddress(const Value *v)
{
	while (auto *g = dyn_cast<GetElementPtrInst>(v))
		v = g->getPointerOperand();
	return isa<AllocaInst>(v);
}

bool isKept(const Value *v)
{
	Type *t = v->getType();

	return (isa<Instruction>(v) || isa<Argument>(v)) && !t->isVoidTy() &&
	       !t->isTokenTy() && !t->isMetadataTy() && !isPrivateAddress(v);
}

namespace
{

class Liveness
{
	Function &f;
	points &p;
	DominatorTree tree;
	std::vector<Value *> values; // by number
	DenseMap<const Value *, unsigned> numbers;
	std::vector<unsigned> named; // by debug records
	DenseMap<const BasicBlock *, BitVector> in;
	DenseMap<const Instruction *, std::vector<Point *>> points_at;
	std::vector<Instruction *> twice;
	BitVector jumped;

	void number(Value *v)
	{
		if (!isKept(v))
			return;
		numbers[v] = unsigned(values.size());
		values.push_back(v);
	}

	void use(BitVector &live, const Value *v)
	{
		auto at = numbers.find(v);

		if (at != numbers.end())
			live.set(at->second);
	}

	void drop(BitVector &live, const Value *v)
	{
		auto at = numbers.find(v);

		if (at != numbers.end())
			live.reset(at->second);
	}

	void name(const Value *v)
	{
		auto at = numbers.find(v);

		if (at != numbers.end())
			named.push_back(at->second);
	}

	void findNamed()
	{
		for (Instruction &i : instructions(f))
			for (DbgVariableRecord &r :
			     filterDbgVars(i.getDbgRecordRange())) {
				for (Value *v : r.location_ops())
					name(v);
				if (r.isDbgAssign())
					name(r.getAddress());
			}
		sort(named);
		named.erase(llvm::unique(named), named.end());
	}

	void addNamed(BitVector &live, const Instruction *at)
	{
		for (unsigned k : named)
			if (tree.dominates(values[k], at))
				live.set(k);
	}

	BitVector liveOut(const BasicBlock &b)
	{
		BitVector live(unsigned(values.size()));

		for (const BasicBlock *s : successors(&b)) {
			auto at = in.find(s);

			if (at != in.end())
				live |= at->second;
			for (const PHINode &phi : s->phis())
				use(live, phi.getIncomingValueForBlock(&b));
		}
		return live;
	}

	bool isTwice(const Instruction &i)
	{
		return is_contained(twice, &i);
	}

	// Backwards over an instruction; `told` sees what is live at points.
	template <typename Told>
	void step(BitVector &live, Instruction &i, Told told)
	{
		auto at = points_at.find(&i);

		drop(live, &i);
		if (isTwice(i))
			jumped |= live;
		if (at != points_at.end())
			for (Point *point : at->second)
				if (point->isIn)
					told(*point, live);
		for (const Use &u : i.operands())
			use(live, u);
		if (at != points_at.end())
			for (Point *point : at->second)
				if (!point->isIn)
					told(*point, live);
	}

	template <typename Told> BitVector walk(BasicBlock &b, Told told)
	{
		BitVector live = liveOut(b);

		for (Instruction &i : reverse(b))
			if (!isa<PHINode>(i))
				step(live, i, told);
		for (PHINode &phi : b.phis())
			drop(live, &phi);
		return live;
	}

	void solve()
	{
		auto come = [&](Point &, BitVector &live) { live |= jumped; };
		bool changes = true;

		while (changes) {
			changes = false;
			for (BasicBlock *b : post_order(&f)) {
				BitVector before = jumped;
				BitVector live = walk(*b, come);
				auto at = in.find(b);

				changes |= before != jumped;
				if (at != in.end() && at->second == live)
					continue;
				in[b] = live;
				changes = true;
			}
		}
	}

	void keep(Point &point, const BitVector &live)
	{
		BitVector all = live;

		addNamed(all, point.at);
		all.reset(jumped);
		for (unsigned k : all.set_bits())
			point.values.push_back(values[k]);
	}

      public:
	Liveness(Function &f, points &p,
	         const std::vector<Instruction *> &twice)
	    : f(f), p(p), tree(f), twice(twice)
	{
		for (Argument &a : f.args())
			number(&a);
		for (Instruction &i : instructions(f))
			number(&i);
		jumped.resize(unsigned(values.size()));
		findNamed();
		for (auto &[n, point] : p.all)
			points_at[point.at].push_back(&point);
		for (Instruction *i : twice)
			addNamed(jumped, i);
	}

	void run()
	{
		solve();
		for (BasicBlock &b : f)
			if (tree.isReachableFromEntry(&b))
				walk(b, [&](Point &point, BitVector &live) {
					keep(point, live);
				});
		for (unsigned k : jumped.set_bits())
			p.jumped.push_back(values[k]);
	}
};

} // namespace

void findLive(points &p, const std::vector<Instruction *> &twice)
{
	Liveness(*p.f, p, twice).run();
}
