// SPDX-License-Identifier: Apache-2.0
//
// Two entries for functions of a trace.
//
// A function that anybody may call marks that it was entered, which costs seven
// instructions and five bytes of the stream.  Most calls are direct ones from
// code with marks, which need no mark if it is known that they are.  But in
// another file, nobody knows whether a callee has marks.  So the linker
// decides:
//
//     foo               marks, then goes on at the next
//     foo.body          the function itself
//     __cairn_in_foo    the same, for other files
//
// Who has the definition of foo has all three, and calls the second by name.
// Who has only its declaration calls the third, of which it has a weak one that
// jumps to foo: it is taken if there is no better.  The map has the address
// that a call goes to, which tells the reader what the linker chose.
//
// Only code of an executable does so (in a shared object foo may be another's),
// and only strong definitions; libc's functions are called as they are, and so
// are those that return twice, take a variable number of arguments or a copy of
// something in memory: a jump that hands it on would write over its own return
// address (LLVM 19).  Calls behind which nothing follows go to foo: there
// nobody is left to see the end.
//
// Breaks when: the linker renames single symbols, as --wrap does; the driver
// renames the third as well.
#include "abi/trace.h"
#include "plugin/shim.h"
#include "plugin/shim.hpp"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

static bool isInstrumented(const Function *F, const struct shim_entries &E)
{
	return !E.why_not(wrap(const_cast<Function *>(F)));
}

// Does a call by name end, as far as its caller can see?
static bool isPlainCall(const Use &U, const Function &F,
                        const struct shim_entries &E)
{
	const auto *Call = dyn_cast<CallBase>(U.getUser());

	return Call && Call->isCallee(&U) && !Call->isMustTailCall() &&
	       Call->getFunctionType() == F.getFunctionType() &&
	       !Call->hasFnAttr(Attribute::ReturnsTwice) &&
	       isInstrumented(Call->getFunction(), E) &&
	       !E.is_last(wrap(const_cast<CallBase *>(Call)));
}

// Can a jump hand on all that it takes?
static bool canHandOn(const Function &F)
{
	for (const Argument &A : F.args())
		if (A.hasPassPointeeByValueCopyAttr())
			return false;
	return !F.isVarArg();
}

static bool canBeSplit(const Function &F, const struct shim_entries &E)
{
	return !F.isDeclaration() && F.hasExternalLinkage() && canHandOn(F) &&
	       !F.hasComdat() && F.getName() != "main" &&
	       !F.hasFnAttribute(Attribute::ReturnsTwice) &&
	       !F.getName().starts_with("__cairn") && isInstrumented(&F, E);
}

// A body of nothing but a jump.
static void jumpTo(Function *From, Function *To)
{
	BasicBlock *B = BasicBlock::Create(From->getContext(), "", From);
	IRBuilder<> Builder(B);
	SmallVector<Value *, 8> Args;

	for (Argument &A : From->args())
		Args.push_back(&A);
	CallInst *Call = Builder.CreateCall(To->getFunctionType(), To, Args);
	Call->setTailCallKind(CallInst::TCK_MustTail);
	Call->setCallingConv(To->getCallingConv());
	Call->setAttributes(
	        To->getAttributes().removeFnAttributes(From->getContext()));
	if (From->getReturnType()->isVoidTy())
		Builder.CreateRetVoid();
	else
		Builder.CreateRet(Call);
}

Function *makeEntry(Function &F)
{
	std::string Name = F.getName().str();
	Function *W = Function::Create(F.getFunctionType(), F.getLinkage(),
	                               F.getAddressSpace(), "", F.getParent());

	W->copyAttributesFrom(&F);
	W->setComdat(F.getComdat());
	// what stands in front of it, for those who call it by a pointer
	for (unsigned Kind :
	     {LLVMContext::MD_func_sanitize, LLVMContext::MD_kcfi_type})
		W->setMetadata(Kind, F.getMetadata(Kind));
	W->setPersonalityFn(nullptr);
	W->clearGC();
	W->addFnAttr(SHIM_ENTRY);
	F.setName(Name + ".body");
	F.addFnAttr(SHIM_BODY, Name);
	W->setName(Name);
	F.setLinkage(GlobalValue::InternalLinkage);
	F.setVisibility(GlobalValue::DefaultVisibility);
	return W;
}

static void splitEntries(Function &F, const struct shim_entries &E)
{
	Module &M = *F.getParent();
	std::string Name = F.getName().str();
	Function *W = makeEntry(F);

	F.replaceUsesWithIf(W, [&](Use &U) {
		return !isa<BlockAddress>(U.getUser()) && !isPlainCall(U, F, E);
	});
	jumpTo(W, &F);
	GlobalAlias *A = GlobalAlias::create(
	        F.getValueType(), F.getAddressSpace(),
	        GlobalValue::ExternalLinkage, CAIRN_TRACE_IN + Name, &F, &M);
	A->setVisibility(GlobalValue::HiddenVisibility);
	A->setDSOLocal(true);
}

// What is called if there is no better one.
static Function *weakEntry(Function &D)
{
	Module &M = *D.getParent();
	std::string Name = (CAIRN_TRACE_IN + D.getName()).str();
	Function *T = Function::Create(D.getFunctionType(),
	                               GlobalValue::WeakAnyLinkage,
	                               D.getAddressSpace(), Name, &M);

	T->copyAttributesFrom(&D);
	T->setLinkage(GlobalValue::WeakAnyLinkage);
	T->setVisibility(GlobalValue::HiddenVisibility);
	T->setDSOLocal(true);
	T->setComdat(M.getOrInsertComdat(Name));
	T->addFnAttr(SHIM_THUNK);
	T->addFnAttr(Attribute::NoInline);
	jumpTo(T, &D);
	return T;
}

static void redirectCalls(Function &D, const TargetLibraryInfoImpl &Library,
                          const struct shim_entries &E)
{
	SmallVector<Use *, 8> Calls;
	LibFunc Known;

	if (!D.isDeclaration() || D.isIntrinsic() || !canHandOn(D) ||
	    D.hasExternalWeakLinkage() || D.getName().starts_with("__cairn") ||
	    D.getName().starts_with("\1") ||
	    Library.getLibFunc(D.getName(), Known))
		return;
	// What calls nothing ends no history, and needs no other entry.
	for (Use &U : D.uses())
		if (isPlainCall(U, D, E) &&
		    !shim_calls_nothing(wrap(U.getUser())))
			Calls.push_back(&U);
	if (Calls.empty())
		return;
	Function *T = weakEntry(D);
	for (Use *U : Calls)
		U->set(T);
}

void shim_split_entries(LLVMModuleRef module, const struct shim_entries *e)
{
	Module &M = *unwrap(module);
	TargetLibraryInfoImpl Library{Triple(M.getTargetTriple())};
	SmallVector<Function *, 64> Defined, Declared;

	for (Function &F : M) {
		if (canBeSplit(F, *e))
			Defined.push_back(&F);
		else if (F.isDeclaration())
			Declared.push_back(&F);
	}
	for (Function *F : Defined)
		splitEntries(*F, *e);
	for (Function *F : Declared)
		redirectCalls(*F, Library, *e);
}

bool shim_is_entry(LLVMValueRef f)
{
	return unwrap<Function>(f)->hasFnAttribute(SHIM_ENTRY);
}

const char *shim_body_of(LLVMValueRef f, size_t *n)
{
	Attribute A = unwrap<Function>(f)->getFnAttribute(SHIM_BODY);

	*n = A.isValid() ? A.getValueAsString().size() : 0;
	return A.isValid() ? A.getValueAsString().data() : nullptr;
}

bool shim_is_thunk(LLVMValueRef f)
{
	return unwrap<Function>(f)->hasFnAttribute(SHIM_THUNK);
}

LLVMValueRef shim_entry_of(LLVMValueRef f)
{
	auto *Call = cast<CallInst>(unwrap<Function>(f)
	                                    ->getEntryBlock()
	                                    .getTerminator()
	                                    ->getPrevNode());

	return wrap(Call->getCalledFunction());
}

LLVMValueRef shim_own_address(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);
	std::string Name = (F.getName() + SHIM_OWN).str();

	if (F.hasLocalLinkage() || (F.isDSOLocal() && !F.isWeakForLinker()))
		return f;
	if (GlobalAlias *Old = F.getParent()->getNamedAlias(Name))
		return wrap(Old);
	return wrap(GlobalAlias::create(F.getValueType(), F.getAddressSpace(),
	                                GlobalValue::PrivateLinkage, Name, &F,
	                                F.getParent()));
}

void shim_keep_own_address(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);

	if (F.isWeakForLinker() && !F.hasComdat())
		appendToCompilerUsed(
		        *F.getParent(),
		        {unwrap<GlobalValue>(shim_own_address(f))});
}

void shim_ask_for_addresses(LLVMModuleRef module)
{
	for (Function &F : *unwrap(module))
		if (F.isDeclaration() && !F.isIntrinsic() &&
		    F.hasDefaultVisibility())
			F.setDSOLocal(false);
}
