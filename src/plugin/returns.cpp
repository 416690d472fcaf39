// SPDX-License-Identifier: Apache-2.0
//
// Calls after which the tick goes on.
//
// A moment of a recording is named by its tick and a site.  Entries of
// functions and heads of cycles have ticks, but a way can also come to a site
// once more by leaving its frame: into another frame of the same function, from
// which it was called, directly or not.  An input of the second time would then
// be taken for one of the first.
//
// Such a way ends one activation at the site, and goes on after a call in
// another one.  So the tick goes on after a call from which the function can be
// called again, if there is a way without a tick from there to an event and
// then out of the function.  Who calls what: calls by name, and one node for
// all code that is not of this unit, which calls whatever it can reach.
//
// Invariant: no site is come to twice in one tick.
// Requires: canonical IR; loads that need no check are known (seen.cpp).
// Cost: linear in instructions and calls; blocks are looked at until nothing
// changes, which is twice if no cycle has two entries.
#include "abi/record.h"
#include "ir/sites.h"
#include "plugin/record.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <vector>

using namespace llvm;

#define OUTSIDE 0u

namespace
{

using Edges = std::vector<SmallVector<unsigned, 4>>;

// Functions by number, and who calls whom.
class Calls
{
	DenseMap<const Function *, unsigned> Number;
	Edges To, From;
	std::vector<unsigned> Group; // of functions that call each other

	void add(unsigned Caller, unsigned Callee)
	{
		To[Caller].push_back(Callee);
		From[Callee].push_back(Caller);
	}

	// Calls whatever it can; returns how many of its calls are known ones
	// of functions of the unit.
	void look(Function &F, DenseMap<const Function *, unsigned> &NKnown)
	{
		struct ir_function Ir;

		ir_function_init(&Ir, wrap(&F));
		for (uint32_t I = 0; I < Ir.nsites; I++) {
			ir_kind Kind = Ir.sites[I].kind;

			if (Kind == IR_CALL || Kind == IR_LINKED ||
			    Kind == IR_TWICE)
				add(Number[&F], OUTSIDE);
			if (Kind != IR_KNOWN)
				continue;
			const Function *Callee =
			        unwrap<CallBase>(Ir.sites[I].at)
			                ->getCalledFunction();
			add(Number[&F], Number[Callee]);
			NKnown[Callee]++;
		}
		ir_function_release(&Ir);
	}

	// All from a node on that have no group yet, each after those that it
	// leads to.
	static void visit(unsigned First, const Edges &Next,
	                  std::vector<bool> &Done, std::vector<unsigned> &Out)
	{
		std::vector<std::pair<unsigned, size_t>> Stack;

		if (Done[First])
			return;
		Done[First] = true;
		Stack.push_back({First, 0});
		while (!Stack.empty()) {
			auto &[At, I] = Stack.back();

			if (I == Next[At].size()) {
				Out.push_back(At);
				Stack.pop_back();
				continue;
			}
			unsigned Then = Next[At][I++];
			if (Done[Then])
				continue;
			Done[Then] = true;
			Stack.push_back({Then, 0});
		}
	}

	// S. R. Kosaraju's algorithm.
	void findGroups()
	{
		std::vector<bool> Done(To.size()), Grouped(To.size());
		std::vector<unsigned> Order, Members;

		Group.resize(To.size());
		for (unsigned I = 0; I < To.size(); I++)
			visit(I, To, Done, Order);
		for (size_t I = Order.size(); I-- > 0;) {
			Members.clear();
			visit(Order[I], From, Grouped, Members);
			for (unsigned Member : Members)
				Group[Member] = Order[I];
		}
	}

      public:
	explicit Calls(Module &M)
	{
		DenseMap<const Function *, unsigned> NKnown;

		for (Function &F : M)
			if (ir_has_marks(wrap(&F)))
				Number.insert({&F, Number.size() + 1});
		To.resize(Number.size() + 1);
		From.resize(Number.size() + 1);
		for (Function &F : M)
			if (Number.count(&F))
				look(F, NKnown);
		for (auto [F, I] : Number)
			if (!F->hasLocalLinkage() ||
			    F->getNumUses() != NKnown[F])
				add(OUTSIDE, I);
		findGroups();
	}

	// Can the function be called again from this call?
	bool comeBack(const Function *F, const ir_site &Site) const
	{
		const auto *Call = unwrap<CallBase>(Site.at);
		unsigned To = Site.kind == IR_KNOWN
		                      ? Number.lookup(Call->getCalledFunction())
		                      : OUTSIDE;

		return Group[Number.lookup(F)] == Group[To];
	}
};

// What can follow without a tick.
struct Rest {
	bool Leaves = false;           // the function returns
	bool LeavesAfterEvent = false; // there is an event, then it returns

	bool add(const Rest &R)
	{
		bool IsNew = (R.Leaves && !Leaves) ||
		             (R.LeavesAfterEvent && !LeavesAfterEvent);

		Leaves |= R.Leaves;
		LeavesAfterEvent |= R.LeavesAfterEvent;
		return IsNew;
	}
};

class Returns
{
	Function &F;
	struct ir_function Ir;
	SmallPtrSet<const BasicBlock *, 16> Heads;
	DenseMap<const Instruction *, const ir_site *> Sites;
	DenseMap<const BasicBlock *, Rest> AtBegin;

	static bool isCall(ir_kind Kind)
	{
		return Kind == IR_KNOWN || Kind == IR_LINKED || Kind == IR_CALL;
	}

	// All calls have a tick: before they are made, or at the entry.
	static void before(const ir_site &Site, Rest &R)
	{
		if (isCall(Site.kind) || ir_ticks_before(Site.kind) ||
		    ir_ticks_behind(Site.kind))
			R = Rest();
		else if (Site.ncells)
			R.LeavesAfterEvent |= R.Leaves;
	}

	Rest atEnd(const BasicBlock &B) const
	{
		Rest R;

		R.Leaves = isa<ReturnInst>(B.getTerminator());
		for (const BasicBlock *Next : successors(&B))
			if (!Heads.contains(Next))
				R.add(AtBegin.lookup(Next));
		return R;
	}

	// Tells of each call, from the last one on, what can follow it.
	template <typename Told> Rest goUp(BasicBlock &B, Told Tell)
	{
		Rest R = atEnd(B);

		for (Instruction &I : reverse(B)) {
			auto Found = Sites.find(&I);

			if (Found == Sites.end())
				continue;
			if (isCall(Found->second->kind))
				Tell(*Found->second, R);
			before(*Found->second, R);
		}
		return R;
	}

      public:
	explicit Returns(Function &F) : F(F)
	{
		ir_function_init(&Ir, wrap(&F));
		for (uint32_t I = 0; I < Ir.nheads; I++)
			Heads.insert(unwrap(Ir.heads[I]));
		for (uint32_t I = 0; I < Ir.nsites; I++)
			Sites[unwrap<Instruction>(Ir.sites[I].at)] =
			        &Ir.sites[I];
	}

	~Returns()
	{
		ir_function_release(&Ir);
	}

	void run(const Calls &All)
	{
		bool IsNew = true;

		while (IsNew) {
			IsNew = false;
			for (BasicBlock *B : post_order(&F))
				IsNew |= AtBegin[B].add(
				        goUp(*B, [](const ir_site &,
				                    const Rest &) {}));
		}
		for (BasicBlock &B : F)
			goUp(B, [&](const ir_site &Site, const Rest &R) {
				if (R.LeavesAfterEvent &&
				    All.comeBack(&F, Site))
					mark(Site);
			});
	}

	void mark(const ir_site &Site)
	{
		unwrap<Instruction>(Site.at)->setMetadata(
		        CAIRN_IR_AFTER, MDNode::get(F.getContext(), {}));
	}
};

} // namespace

void record_find_returns(LLVMModuleRef Module)
{
	auto &M = *unwrap(Module);
	Calls All(M);

	for (Function &F : M)
		if (ir_has_marks(wrap(&F)))
			Returns(F).run(All);
}
