// SPDX-License-Identifier: Apache-2.0
//
// Two entries for functions of a recording: known calls (ir/sites.h) go to the
// body, all others to an entry that looks who comes.  As entries.cpp does for
// traces, but every function can have one that others may reach, also inline
// functions (both are in one group) and those that take copies of structures
// (which are handed on by an ordinary call).  Those with a variable number of
// arguments have one entry, and no call of them is a known one.
//
// The symbol of a function may be another's: of a strong definition, if it is
// weak, or of a program that comes before its library.  It is known by its own
// address, for which there is a local symbol then.
#include "plugin/record.h"
#include "plugin/shim.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

using namespace llvm;

static bool isKnownCall(const Use &U, const Function &F)
{
	const auto *Call = dyn_cast<CallBase>(U.getUser());

	return Call && Call->isCallee(&U) &&
	       Call->getFunctionType() == F.getFunctionType() &&
	       !F.isVarArg() && !Call->hasFnAttr(Attribute::ReturnsTwice) &&
	       (F.hasLocalLinkage() || F.hasFnAttribute(CAIRN_IR_FINAL)) &&
	       ir_has_marks(wrap(const_cast<Function *>(Call->getFunction())));
}

// Constants are shared, and have to be made anew.
static void replaceUses(ArrayRef<Use *> Uses, Function &From, Function &To)
{
	SmallPtrSet<Use *, 16> Set(Uses.begin(), Uses.end());

	From.replaceUsesWithIf(&To, [&](Use &U) { return Set.contains(&U); });
}

// Can other files know, by the linker, that a call by name reaches F?
static bool mayBeLinked(const Function &F)
{
	return F.hasExternalLinkage() && !F.hasComdat() &&
	       F.hasFnAttribute(CAIRN_IR_FINAL) && F.getName() != "main" &&
	       !F.getName().starts_with("\1");
}

static void addSymbol(const Twine &Name, Function &F)
{
	GlobalAlias *A = GlobalAlias::create(
	        F.getValueType(), F.getAddressSpace(),
	        GlobalValue::ExternalLinkage, Name, &F, F.getParent());

	A->setVisibility(GlobalValue::HiddenVisibility);
	A->setDSOLocal(true);
}

enum record_entries record_split(LLVMValueRef f, LLVMValueRef *entry)
{
	Function &F = *unwrap<Function>(f);
	bool IsKnown = F.hasLocalLinkage() && all_of(F.uses(), [&](Use &U) {
		               return isKnownCall(U, F);
	               });

	if (IsKnown)
		return RECORD_KNOWN;
	if (F.isVarArg())
		return RECORD_ONE;
	SmallVector<Use *, 16> Others; // before its linkage is another
	for (Use &U : F.uses())
		if (!isa<BlockAddress>(U.getUser()) && !isKnownCall(U, F))
			Others.push_back(&U);
	bool IsLinked = mayBeLinked(F);
	Function *W = makeEntry(F);
	replaceUses(Others, F, *W);
	if (IsLinked) {
		addSymbol(CAIRN_LINK_BODY + W->getName(), F);
		addSymbol(CAIRN_LINK_ENTRY + W->getName(), *W);
	}
	*entry = wrap(W);
	return RECORD_TWO;
}

// A tail call before its return, and another one that returns, too.
static void forkTail(CallInst &Call, CallInst &Twin, BasicBlock &Other)
{
	Instruction *Return = Call.getParent()->getTerminator()->clone();

	Return->insertInto(&Other, Other.end());
	if (Return->getNumOperands())
		Return->setOperand(0, &Twin);
}

// Another call, which comes to `Rest`, too.
static void forkInto(CallBase &Call, CallBase &Twin, BasicBlock *Other,
                     BasicBlock *Rest, struct record_fork *Fork)
{
	auto *Invoke = dyn_cast<InvokeInst>(&Call);
	BasicBlock *Mine = Call.getParent();

	if (!Invoke)
		BranchInst::Create(Rest, Other);
	else
		for (PHINode &Phi : Invoke->getUnwindDest()->phis())
			Phi.addIncoming(Phi.getIncomingValueForBlock(Mine),
			                Other);
	Fork->result = wrap(&Call);
	if (!Call.getType()->isVoidTy()) {
		PHINode *Phi =
		        PHINode::Create(Call.getType(), 2, "", Rest->begin());

		Call.replaceAllUsesWith(Phi);
		Phi->addIncoming(&Call, Mine);
		Phi->addIncoming(&Twin, Other);
		Fork->result = wrap(Phi);
	}
	Instruction *Place = &*Rest->getFirstInsertionPt();
	Fork->rest = isa<UnreachableInst>(Place) ? nullptr : wrap(Place);
}

void record_fork(LLVMBuilderRef builder, LLVMValueRef call,
                 struct record_fork *fork)
{
	CallBase &Call = *unwrap<CallBase>(call);
	IRBuilder<> &B = *unwrap(builder);
	auto *Invoke = dyn_cast<InvokeInst>(&Call);
	bool IsTail = ir_is_tail(call);
	BasicBlock *Head = Call.getParent(), *Rest = nullptr;

	if (Invoke)
		Rest = unwrap(shim_split_edge(wrap(Head),
		                              wrap(Invoke->getNormalDest())));
	else if (!IsTail)
		Rest = SplitBlock(Head, Call.getNextNode());
	SplitBlock(Head, &Call);
	BasicBlock *Other = BasicBlock::Create(B.getContext(), "cairn.other",
	                                       Head->getParent());
	auto *Twin = cast<CallBase>(Call.clone());

	Twin->insertInto(Other, Other->end());
	*fork = {wrap(Twin), nullptr, nullptr};
	if (IsTail)
		forkTail(cast<CallInst>(Call), cast<CallInst>(*Twin), *Other);
	else
		forkInto(Call, *Twin, Other, Rest, fork);
	Head->getTerminator()->eraseFromParent();
	B.SetInsertPoint(Head);
	B.SetCurrentDebugLocation(Call.getDebugLoc());
	Value *IsNone = B.CreateIsNull(Call.getCalledOperand());
	shim_set_unlikely(
	        wrap(B.CreateCondBr(IsNone, Other, Call.getParent())));
}

LLVMValueRef record_hand_on(LLVMBuilderRef builder, LLVMValueRef entry,
                            LLVMValueRef body, bool is_last)
{
	IRBuilder<> &B = *unwrap(builder);
	Function *From = unwrap<Function>(entry), *To = unwrap<Function>(body);
	SmallVector<Value *, 8> Args;

	for (Argument &A : From->args()) {
		Args.push_back(&A);
		is_last &= !A.hasPassPointeeByValueCopyAttr();
	}
	CallInst *Call = B.CreateCall(To->getFunctionType(), To, Args);
	Call->setTailCallKind(is_last ? CallInst::TCK_MustTail
	                              : CallInst::TCK_None);
	Call->setCallingConv(To->getCallingConv());
	Call->setAttributes(
	        To->getAttributes().removeFnAttributes(From->getContext()));
	if (From->getReturnType()->isVoidTy())
		return wrap(B.CreateRetVoid());
	return wrap(B.CreateRet(Call));
}

static void needPersonality(Function &F)
{
	auto *Type = FunctionType::get(Type::getInt32Ty(F.getContext()), true);

	if (!F.hasPersonalityFn())
		F.setPersonalityFn(cast<Constant>(
		        F.getParent()
		                ->getOrInsertFunction("__gcc_personality_v0",
		                                      Type)
		                .getCallee()));
	F.setUWTableKind(UWTableKind::Async);
}

// A pad that lets exceptions go on.
static Instruction *makePad(Function &F)
{
	LLVMContext &C = F.getContext();
	IRBuilder<> B(BasicBlock::Create(C, "", &F));
	auto *What =
	        StructType::get(PointerType::get(C, 0), Type::getInt32Ty(C));
	LandingPadInst *L = B.CreateLandingPad(What, 0);

	L->setCleanup(true);
	return B.CreateResume(L);
}

static bool mayThrowHere(const Instruction &I)
{
	auto *Call = dyn_cast<CallInst>(&I);

	if (!Call || Call->doesNotThrow() || Call->isInlineAsm() ||
	    isa<IntrinsicInst>(Call))
		return false;
	auto *F = Call->getCalledFunction();
	return !F || !F->getName().starts_with("__cairn_") ||
	       F->getName().starts_with(CAIRN_LINK_BODY);
}

void record_catch_here(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);
	SmallVector<CallInst *, 16> Calls;

	if (F.doesNotThrow())
		return;
	for (Instruction &I : instructions(F))
		if (mayThrowHere(I))
			Calls.push_back(cast<CallInst>(&I));
	if (Calls.empty())
		return;
	needPersonality(F);
	BasicBlock *Pad = makePad(F)->getParent();
	for (CallInst *Call : Calls)
		changeToInvokeAndSplitBasicBlock(Call, Pad);
}

LLVMValueRef record_catch(LLVMValueRef body, LLVMValueRef entry)
{
	Function &Body = *unwrap<Function>(body);
	Function &W = *unwrap<Function>(entry);
	CallInst *Call = nullptr;

	if (Body.doesNotThrow())
		return nullptr;
	for (BasicBlock &B : W)
		for (Instruction &I : B)
			if (auto *To = dyn_cast<CallInst>(&I))
				if (To->getCalledOperand() == &Body &&
				    !To->isMustTailCall())
					Call = To;
	needPersonality(W);
	Instruction *End = makePad(W);
	changeToInvokeAndSplitBasicBlock(Call, End->getParent());
	return wrap(End);
}

void record_lower_atomic(LLVMValueRef atomic, unsigned alignment)
{
	auto *I = unwrap<Instruction>(atomic);
	BasicBlock &B = *I->getParent();
	Instruction *Last = I->getPrevNode(), *Next = I->getNextNode();

	if (auto *RMW = dyn_cast<AtomicRMWInst>(I))
		lowerAtomicRMWInst(RMW);
	else
		lowerAtomicCmpXchgInst(cast<AtomicCmpXchgInst>(I));
	for (I = Last ? Last->getNextNode() : &B.front(); I != Next;
	     I = I->getNextNode()) {
		if (auto *L = dyn_cast<LoadInst>(I)) {
			L->setVolatile(true);
			L->setAlignment(Align(alignment));
		} else if (auto *S = dyn_cast<StoreInst>(I)) {
			S->setVolatile(true);
			S->setAlignment(Align(alignment));
		}
	}
}
