// SPDX-License-Identifier: Apache-2.0
//
// Two entries for functions of a recording: known calls (ir/sites.h) go to the
// body, all others to an entry that looks who comes.  As entries.cpp does for
// traces, but every function can have one that others may reach, also inline
// functions (both are in one group) and those that take copies of structures
// (which are handed on by an ordinary call).  Those with a variable number of
// arguments have one entry, and no call of them is a known one.
#include "plugin/record.h"
#include "plugin/shim.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/xxhash.h"

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
	std::string Name = F.getName().str();
	Function *W = Function::Create(F.getFunctionType(), F.getLinkage(),
	                               F.getAddressSpace(), "", F.getParent());
	W->copyAttributesFrom(&F);
	W->setComdat(F.getComdat());
	W->setPersonalityFn(nullptr);
	W->clearGC();
	W->addFnAttr(SHIM_ENTRY);
	F.setName(Name + ".body");
	F.addFnAttr(SHIM_BODY, Name);
	W->setName(Name);
	F.setLinkage(GlobalValue::InternalLinkage);
	F.setVisibility(GlobalValue::DefaultVisibility);
	F.replaceUsesWithIf(W, [&](Use &U) {
		return !isa<BlockAddress>(U.getUser()) && !isKnownCall(U, F);
	});
	*entry = wrap(W);
	return RECORD_TWO;
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

void record_hash(const void *data, size_t n, uint8_t id[CAIRN_UNIT_ID])
{
	XXH128_hash_t H = xxh3_128bits(
	        ArrayRef<uint8_t>(static_cast<const uint8_t *>(data), n));

	for (unsigned I = 0; I < 8; I++) {
		id[I] = uint8_t(H.low64 >> 8 * I);
		id[8 + I] = uint8_t(H.high64 >> 8 * I);
	}
}
