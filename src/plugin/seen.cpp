// SPDX-License-Identifier: Apache-2.0
//
// Loads that need no check.
//
// A check asks whether somebody else has written what is loaded.  If the same
// was loaded or stored just before, the program could as well have kept it: no
// other thread may count on being seen before the next synchronisation.  Such a
// load takes what the shadow has, which is what was loaded or stored, or what
// the program itself has stored there since, by whatever pointer: that is why
// the optimizer had left the load.  The replay has the same in its memory.
//
// Known is what all ways to a place have in common.  Calls, atomics and
// whatever else may synchronise end that, and so do the heads of cycles: who
// waits for another thread in a loop, as the language does not allow, goes on
// seeing it. Only calls of functions of the unit that have none of these do
// not.
//
// Requires: canonical IR; no memory has two addresses (hook_map.c).
// Cost: linear in instructions, for at most MOST addresses that are known at a
// time.
#include "abi/record.h"
#include "ir/sites.h"
#include "plugin/record.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

#define MOST 64

namespace
{

// So many bytes from an address on.
struct Place {
	const Value *Base;
	int64_t Offset;
	uint64_t Size;

	bool holds(const Place &P) const
	{
		return Base == P.Base && Offset <= P.Offset &&
		       P.Offset + int64_t(P.Size) <= Offset + int64_t(Size);
	}
};

using Places = SmallVector<Place, 16>;

// Functions without cycles, and without anything that may synchronise.
class Quiet
{
	SmallPtrSet<const Function *, 32> Noisy;
	DenseMap<const Function *, SmallVector<const Function *, 4>> Callers;

	static bool isNoisy(const Instruction &I, ir_kind Kind)
	{
		switch (Kind) {
		case IR_LOAD:
			return !cast<LoadInst>(I).isSimple();
		case IR_STORE:
			return !cast<StoreInst>(I).isSimple();
		case IR_COPY:
		case IR_SET:
		case IR_READ:
		case IR_KNOWN:
			return false;
		default:
			return true;
		}
	}

	void look(Function &F)
	{
		struct ir_function Ir;

		ir_function_init(&Ir, wrap(&F));
		bool IsNoisy = Ir.nheads > 0;
		for (uint32_t I = 0; I < Ir.nsites; I++) {
			auto &At = *unwrap<Instruction>(Ir.sites[I].at);

			IsNoisy |= isNoisy(At, Ir.sites[I].kind);
			if (Ir.sites[I].kind == IR_KNOWN)
				Callers[cast<CallBase>(At).getCalledFunction()]
				        .push_back(&F);
		}
		ir_function_release(&Ir);
		for (Instruction &I : instructions(F))
			IsNoisy |= isa<FenceInst>(I);
		if (IsNoisy)
			Noisy.insert(&F);
	}

      public:
	explicit Quiet(Module &M)
	{
		SmallVector<const Function *, 32> Work;

		for (Function &F : M)
			if (ir_has_marks(wrap(&F)))
				look(F);
		Work.append(Noisy.begin(), Noisy.end());
		while (!Work.empty())
			for (const Function *F : Callers[Work.pop_back_val()])
				if (Noisy.insert(F).second)
					Work.push_back(F);
	}

	bool has(const Function *F) const
	{
		return !Noisy.contains(F);
	}
};

class Seen
{
	Function &F;
	const Quiet &Silent;
	const DataLayout &Layout;
	SmallPtrSet<const BasicBlock *, 16> Heads;
	DenseMap<const Instruction *, ir_kind> Kinds;
	DenseMap<const BasicBlock *, Places> AtEnd;

	static bool isKnown(const Places &Known, const Place &P)
	{
		return any_of(Known,
		              [&](const Place &K) { return K.holds(P); });
	}

	static void learn(Places &Known, const Place &P)
	{
		if (isKnown(Known, P))
			return;
		if (Known.size() == MOST)
			Known.erase(Known.begin());
		Known.push_back(P);
	}

	// What is known at the end of all blocks before.  They were all seen to
	// before this one, since it is no head.
	Places atBegin(const BasicBlock &B)
	{
		Places Known;
		bool IsFirst = true;

		if (Heads.contains(&B))
			return Known;
		for (const BasicBlock *P : predecessors(&B)) {
			const Places &There = AtEnd[P];

			if (IsFirst)
				Known = There;
			else
				erase_if(Known, [&](const Place &K) {
					return !isKnown(There, K);
				});
			IsFirst = false;
		}
		return Known;
	}

	Place placeOf(const Value *Pointer, Type *T)
	{
		APInt Offset(64, 0);
		const Value *Base = Pointer->stripAndAccumulateConstantOffsets(
		        Layout, Offset, true);

		return {Base, Offset.getSExtValue(),
		        Layout.getTypeStoreSize(T).getFixedValue()};
	}

	void takeLoad(LoadInst &L, Places &Known)
	{
		Place P = placeOf(L.getPointerOperand(), L.getType());

		if (!L.isSimple())
			Known.clear();
		else if (isKnown(Known, P))
			L.setMetadata(CAIRN_IR_SEEN,
			              MDNode::get(F.getContext(), {}));
		else
			learn(Known, P);
	}

	void takeStore(StoreInst &S, Places &Known)
	{
		if (!S.isSimple())
			Known.clear();
		else
			learn(Known, placeOf(S.getPointerOperand(),
			                     S.getValueOperand()->getType()));
	}

	void take(Instruction &I, Places &Known)
	{
		auto Found = Kinds.find(&I);

		if (isa<FenceInst>(I))
			Known.clear();
		if (Found == Kinds.end())
			return;
		switch (Found->second) {
		case IR_LOAD:
			takeLoad(cast<LoadInst>(I), Known);
			break;
		case IR_STORE:
			takeStore(cast<StoreInst>(I), Known);
			break;
		case IR_COPY:
		case IR_SET:
		case IR_READ:
			break;
		case IR_KNOWN:
			if (!Silent.has(cast<CallBase>(I).getCalledFunction()))
				Known.clear();
			break;
		default:
			Known.clear();
		}
	}

	void look()
	{
		struct ir_function Ir;

		ir_function_init(&Ir, wrap(&F));
		for (uint32_t I = 0; I < Ir.nheads; I++)
			Heads.insert(unwrap(Ir.heads[I]));
		for (uint32_t I = 0; I < Ir.nsites; I++)
			Kinds[unwrap<Instruction>(Ir.sites[I].at)] =
			        Ir.sites[I].kind;
		ir_function_release(&Ir);
	}

      public:
	Seen(Function &F, const Quiet &Silent)
	    : F(F), Silent(Silent), Layout(F.getDataLayout())
	{
	}

	void run()
	{
		look();
		for (BasicBlock *B :
		     ReversePostOrderTraversal<Function *>(&F)) {
			Places Known = atBegin(*B);

			for (Instruction &I : *B)
				take(I, Known);
			AtEnd[B] = std::move(Known);
		}
	}
};

} // namespace

void record_find_seen(LLVMModuleRef Module)
{
	auto &M = *unwrap(Module);
	Quiet Silent(M);

	for (Function &F : M)
		if (ir_has_marks(wrap(&F)))
			Seen(F, Silent).run();
}
