// SPDX-License-Identifier: Apache-2.0
//
// Lines of code that a coroutine has besides that of its source.
//
// Before its body a coroutine copies its parameters into its frame.  The front
// end gives these copies the line of the first co_await, co_yield or co_return.
// LLVM makes of it a function that begins, and clones that go on and clean up;
// all of them address the frame, at the line of what follows the making of the
// frame: of these copies again.  So that line would count when a coroutine is
// made and destroyed, too.  Where it is suspended, clones come by the line once
// on their way out and once on their way on, and await_suspend is called by a
// function that the front end has made.
//
// The copies get the line of the function, which declares the parameters; what
// addresses the frame, suspends, and is in that function gets none.  That is
// done to what the front end made.
//
// Breaks when: the front end does not begin the copies with the beginning of a
// variable's life: then they keep their line.
#include "plugin/shim.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static Instruction *findFrame(Function &F)
{
	for (Instruction &I : instructions(F)) {
		auto *Call = dyn_cast<IntrinsicInst>(&I);

		if (Call && Call->getIntrinsicID() == Intrinsic::coro_begin)
			return Call;
	}
	return nullptr;
}

// What runs next, unless something throws; null where the way forks.
static Instruction *nextOf(Instruction &I)
{
	if (!I.isTerminator())
		return I.getNextNode();
	if (auto *Invoke = dyn_cast<InvokeInst>(&I))
		return &Invoke->getNormalDest()->front();
	return I.getNumSuccessors() == 1 ? &I.getSuccessor(0)->front()
	                                 : nullptr;
}

// What follows the frame up to another place of the source: the promise is
// made at the name of the function.
static void moveCopies(Instruction &First, DISubprogram &Function)
{
	const DILocation *Copies = First.getDebugLoc();
	auto *Line = DILocation::get(Function.getContext(), Function.getLine(),
	                             0, &Function);

	if (Copies->getLine() == Function.getLine())
		return;
	for (Instruction *I = &First; I; I = nextOf(*I)) {
		if (!I->getDebugLoc() && !I->isTerminator())
			continue;
		if (I->getDebugLoc().get() != Copies)
			return;
		I->setDebugLoc(Line);
	}
}

static void removeLine(Instruction &I)
{
	const DILocation *Old = I.getDebugLoc();

	if (Old)
		I.setDebugLoc(DILocation::get(I.getContext(), 0, 0,
		                              Old->getScope(),
		                              Old->getInlinedAt()));
}

static void placeFrame(Function &F, Instruction &Frame)
{
	auto *Next = dyn_cast_or_null<LifetimeIntrinsic>(Frame.getNextNode());

	if (!Next || !Next->getDebugLoc())
		return;
	moveCopies(*Next, *F.getSubprogram());
	removeLine(*Next);
}

// The suspension and the switch over how it ends.
static void placeSuspensions(Function &F)
{
	for (Instruction &I : instructions(F)) {
		auto *Call = dyn_cast<IntrinsicInst>(&I);

		if (!Call || Call->getIntrinsicID() != Intrinsic::coro_suspend)
			continue;
		removeLine(I);
		for (User *U : I.users())
			removeLine(*cast<Instruction>(U));
	}
}

bool shim_place_coroutines(LLVMModuleRef module)
{
	bool HasChanged = false;

	for (Function &F : *unwrap(module)) {
		Instruction *Frame = F.getSubprogram() ? findFrame(F) : nullptr;

		if (Frame) {
			placeFrame(F, *Frame);
			placeSuspensions(F);
		} else if (F.getName().contains(".__await_suspend_wrapper__")) {
			for (Instruction &I : instructions(F))
				removeLine(I);
		} else {
			continue;
		}
		HasChanged = true;
	}
	return HasChanged;
}
