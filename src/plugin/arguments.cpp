// SPDX-License-Identifier: Apache-2.0
//
// Structures that are passed by value in memory, before the optimizer.
//
// LLVM follows assignments to variables that are allocas alone (#dbg_assign,
// "Debug Info Assignment Tracking").  Of a store to an argument of kind byval
// that nobody reads nothing is left, and the debug record goes on to say that
// the variable is in memory, where its old value is.  So an argument that has a
// debug record, and that the function writes to or shows to others, becomes a
// variable as any, into which it is copied.
//
// Cost: linear in uses of such arguments; the copy, where the optimizer does
// not see that it is the one that canonical.cpp makes of all of them.
#include "plugin/record.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

// Is nothing but read by this use?
static bool isRead(const Use &U)
{
	const User *I = U.getUser();

	if (isa<LoadInst>(I) || isa<ICmpInst>(I))
		return true;
	if (auto *Copy = dyn_cast<MemTransferInst>(I))
		return U.getOperandNo() == 1 && !Copy->isVolatile();
	if (auto *Call = dyn_cast<CallBase>(I))
		return Call->isArgOperand(&U) &&
		       Call->isByValArgument(Call->getArgOperandNo(&U));
	return false;
}

static bool isOnlyRead(const Value &V)
{
	for (const Use &U : V.uses())
		if (!isRead(U) && !(isa<GetElementPtrInst>(U.getUser()) &&
		                    isOnlyRead(*U.getUser())))
			return false;
	return true;
}

static SmallVector<DbgVariableRecord *, 2> declaresOf(Value &V)
{
	SmallVector<DbgVariableRecord *, 2> All;

	for (DbgVariableRecord *R : findDVRDeclares(&V))
		if (!R->getExpression()->getNumElements())
			All.push_back(R);
	return All;
}

static bool isLeft(const Function &F)
{
	for (const Instruction &I : instructions(F))
		if (auto *Call = dyn_cast<CallInst>(&I))
			if (Call->isMustTailCall())
				return true;
	return F.isDeclaration() || F.hasOptNone();
}

// As clang does for every variable: behind a call nothing is then a tail call
// that was none before.
static void limitLife(IRBuilder<> &B, AllocaInst &Copy, uint64_t Size)
{
	ConstantInt *N =
	        ConstantInt::get(Type::getInt64Ty(Copy.getContext()), Size);

	B.CreateLifetimeStart(&Copy, N);
	for (BasicBlock &Block : *Copy.getFunction()) {
		Instruction *End = Block.getTerminator();

		if (isa<ReturnInst>(End) || isa<ResumeInst>(End))
			IRBuilder<>(End).CreateLifetimeEnd(&Copy, N);
	}
}

static void copyArgument(Argument &A, ArrayRef<DbgVariableRecord *> Declares)
{
	Function &F = *A.getParent();
	const DataLayout &Layout = F.getDataLayout();
	Type *T = A.getParamByValType();
	IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
	auto *Copy =
	        new AllocaInst(T, 0, nullptr, A.getParamAlign().valueOrOne(),
	                       "", F.getEntryBlock().begin());

	B.SetCurrentDebugLocation(DebugLoc());
	A.replaceAllUsesWith(Copy);
	limitLife(B, *Copy, Layout.getTypeAllocSize(T));
	B.CreateMemCpy(Copy, Copy->getAlign(), &A,
	               A.getParamAlign().valueOrOne(),
	               Layout.getTypeAllocSize(T));
	// else clang's own pass comes behind us
	if (isAssignmentTrackingEnabled(*F.getParent())) {
		at::StorageToVarsMap Variables;

		for (DbgVariableRecord *R : Declares)
			Variables[Copy].insert(at::VarRecord(R));
		at::trackAssignments(F.begin(), F.end(), Variables, Layout);
		for (DbgVariableRecord *R : Declares)
			R->eraseFromParent();
	}
}

bool record_copy_arguments(LLVMModuleRef Module)
{
	bool Changed = false;

	for (Function &F : *unwrap(Module)) {
		if (isLeft(F))
			continue;
		for (Argument &A : F.args()) {
			if (!A.hasByValAttr() || isOnlyRead(A))
				continue;
			auto Declares = declaresOf(A);

			if (Declares.empty())
				continue;
			copyArgument(A, Declares);
			Changed = true;
		}
	}
	return Changed;
}
