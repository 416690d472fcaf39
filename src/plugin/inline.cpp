// SPDX-License-Identifier: Apache-2.0
//
// Inlining of single call sites, by the core of LLVM's own inliner: what its
// passes share (isInlineViable, InlineFunction), without their cost model and
// without their order, since which sites are inlined into which copy is known.
//
// What is inlined is a clone of the function, made before anything is inlined
// into it.  That way sites can be inlined in any order, recursive ones too.
#include "ir/flow.h"
#include "plugin/shim.h"
#include "plugin/shim.hpp"

#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

LLVMValueRef shim_clone(LLVMValueRef f)
{
	ValueToValueMapTy Map;
	Function *Clone = CloneFunction(unwrap<Function>(f), Map);

	Clone->setLinkage(GlobalValue::InternalLinkage);
	Clone->setVisibility(GlobalValue::DefaultVisibility);
	Clone->setDLLStorageClass(GlobalValue::DefaultStorageClass);
	Clone->setComdat(nullptr);
	Clone->setName("cairn.clone");
	return wrap(Clone);
}

void shim_delete(LLVMValueRef f)
{
	unwrap<Function>(f)->eraseFromParent();
}

bool shim_is_unused(LLVMValueRef f)
{
	const auto *F = unwrap<Function>(f);

	return F->hasLocalLinkage() && F->use_empty() && !F->hasComdat();
}

uint64_t shim_size(LLVMValueRef f)
{
	return unwrap<Function>(f)->getInstructionCount();
}

static bool hasLandingPads(const Function &F)
{
	for (const BasicBlock &B : F)
		if (B.isLandingPad())
			return true;
	return false;
}

const char *shim_why_not_inlined(LLVMValueRef call, LLVMValueRef callee,
                                 LLVMValueRef clone)
{
	auto *Call = unwrap<CallBase>(call);
	auto *Callee = unwrap<Function>(callee);
	Function *Caller = Call->getFunction();

	if (Callee->isInterposable())
		return "another definition of it may be linked";
	if (Call->isMustTailCall())
		return "the call has to be a tail call";
	// Its landing pads would catch for those of the caller, and run where
	// the unwinder now passes by.
	if (isa<InvokeInst>(Call) && hasLandingPads(*Callee))
		return "it catches exceptions, and so does its caller there";
	if (Callee->isVarArg())
		return "it takes a variable number of arguments";
	if (!AttributeFuncs::areInlineCompatible(*Caller, *Callee) ||
	    Caller->getFnAttribute("target-cpu") !=
	            Callee->getFnAttribute("target-cpu") ||
	    Caller->getFnAttribute("target-features") !=
	            Callee->getFnAttribute("target-features"))
		return "it is compiled for another processor, or in another "
		       "way";
	InlineResult Viable = isInlineViable(*unwrap<Function>(clone));

	return Viable.isSuccess() ? nullptr : Viable.getFailureReason();
}

// The copy has a table for each of its contexts, and nobody sees its frames.
const char *shim_why_not_shared(LLVMValueRef call, LLVMValueRef callee)
{
	auto *Call = unwrap<CallBase>(call);
	auto *Callee = unwrap<Function>(callee);

	if (isa<InvokeInst>(Call))
		return "its caller catches exceptions there";
	if (hasLandingPads(*Callee))
		return "it catches exceptions";
	if (Callee->doesNotReturn())
		return "it does not return";
	for (const BasicBlock &B : *Callee) {
		if (isa<IndirectBrInst>(B.getTerminator()) ||
		    isa<CallBrInst>(B.getTerminator()))
			return "it has computed gotos";
		for (const Instruction &I : B) {
			const auto *Inner = dyn_cast<CallBase>(&I);

			if (!Inner)
				continue;
			if (Inner->hasFnAttr(Attribute::ReturnsTwice))
				return "it calls what may come back twice";
			if (Inner->isMustTailCall())
				return "it makes calls that have to be tail "
				       "calls";
		}
	}
	return nullptr;
}

LLVMValueRef shim_share(LLVMValueRef clone, const char *name)
{
	auto *F = unwrap<Function>(clone);
	Type *Pointer = PointerType::get(F->getContext(), 0);
	SmallVector<Type *, 8> Types(F->getFunctionType()->params());
	SmallVector<ReturnInst *, 8> Returns;
	ValueToValueMapTy Map;

	Types.append({Pointer, Pointer});
	Function *Copy = Function::Create(
	        FunctionType::get(F->getReturnType(), Types, false),
	        GlobalValue::InternalLinkage, F->getAddressSpace(),
	        StringRef(name) + ".cairn", F->getParent());
	for (unsigned I = 0; I < F->arg_size(); I++)
		Map[F->getArg(I)] = Copy->getArg(I);
	CloneFunctionInto(Copy, F, Map,
	                  CloneFunctionChangeType::LocalChangesOnly, Returns);
	Copy->setLinkage(GlobalValue::InternalLinkage);
	Copy->setVisibility(GlobalValue::DefaultVisibility);
	Copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
	Copy->setComdat(nullptr);
	// it writes to its caller's variable, and to counters
	Copy->removeFnAttr(Attribute::Memory);
	Copy->removeFnAttr(Attribute::AlwaysInline);
	for (BasicBlock &B : *Copy)
		if (LLVMValueRef call = ir_tail_call(wrap(&B)))
			ir_keep_frame(call);
	for (Instruction &I : instructions(*Copy))
		if (auto *Call = dyn_cast<CallInst>(&I))
			if (Call->isTailCall())
				Call->setTailCallKind(CallInst::TCK_None);
	return wrap(Copy);
}

LLVMValueRef shim_call_shared(LLVMValueRef call, LLVMValueRef copy)
{
	auto *Call = unwrap<CallInst>(call);
	auto *Copy = unwrap<Function>(copy);
	Type *Pointer = PointerType::get(Copy->getContext(), 0);
	SmallVector<Value *, 8> Args(Call->args());
	SmallVector<OperandBundleDef, 1> Bundles;

	Call->getOperandBundlesAsDefs(Bundles);
	for (int I = 0; I < 2; I++)
		Args.push_back(Constant::getNullValue(Pointer));
	CallInst *New =
	        CallInst::Create(Copy, Args, Bundles, "", Call->getIterator());
	New->setAttributes(Call->getAttributes());
	New->removeFnAttr(Attribute::Memory);
	New->removeFnAttr(Attribute::AlwaysInline);
	New->setCallingConv(Call->getCallingConv());
	New->copyMetadata(*Call);
	New->setDebugLoc(Call->getDebugLoc());
	New->takeName(Call);
	Call->replaceAllUsesWith(New);
	Call->eraseFromParent();
	return wrap(New);
}

void shim_hand_over(LLVMValueRef call, LLVMValueRef state, LLVMValueRef table)
{
	auto *Call = unwrap<CallInst>(call);

	Call->setArgOperand(Call->arg_size() - 2, unwrap(state));
	Call->setArgOperand(Call->arg_size() - 1, unwrap(table));
}

bool shim_calls_directly(LLVMValueRef call, LLVMValueRef callee)
{
	return unwrap<CallBase>(call)->getCalledFunction() ==
	       unwrap<Function>(callee);
}

bool shim_calls_pointer(LLVMValueRef call)
{
	auto *Call = unwrap<CallBase>(call);

	return !isa<Function>(Call->getCalledOperand()->stripPointerCasts()) &&
	       !Call->isInlineAsm();
}

LLVMValueRef shim_check_target(LLVMValueRef call, LLVMValueRef callee,
                               const char **reason)
{
	auto *Call = unwrap<CallBase>(call);
	auto *Callee = unwrap<Function>(callee);

	*reason = nullptr;
	if (!isLegalToPromote(*Call, Callee, reason)) {
		if (!*reason)
			*reason = "the pointer is of another type";
		return nullptr;
	}
	return wrap(&promoteCallWithIfThenElse(*Call, Callee));
}

const char *shim_inline(LLVMValueRef call, LLVMValueRef clone)
{
	auto *Call = unwrap<CallBase>(call);
	InlineFunctionInfo Info;

	Call->setCalledFunction(unwrap<Function>(clone));
	InlineResult Result =
	        InlineFunction(*Call, Info, /*MergeAttributes=*/true);
	return Result.isSuccess() ? nullptr : Result.getFailureReason();
}

void shim_uninline(LLVMValueRef call, LLVMValueRef callee)
{
	unwrap<CallBase>(call)->setCalledFunction(unwrap<Function>(callee));
}

void shim_forget(struct shim *s, LLVMValueRef f)
{
	s->Analyses.invalidate(*unwrap<Function>(f), PreservedAnalyses::none());
}

LLVMValueRef shim_origin_marker(LLVMModuleRef module)
{
	Module &M = *unwrap(module);
	LLVMContext &C = M.getContext();
	Type *I32 = Type::getInt32Ty(C);
	auto *F = cast<Function>(M.getOrInsertFunction("cairn.origin",
	                                               Type::getVoidTy(C), I32,
	                                               I32, I32)
	                                 .getCallee());

	F->setDoesNotThrow();
	F->setWillReturn();
	F->addFnAttr(Attribute::NoCallback);
	F->addFnAttr(Attribute::NoMerge);
	F->setOnlyAccessesInaccessibleMemory();
	return wrap(F);
}
