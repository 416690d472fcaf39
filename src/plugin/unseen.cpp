// SPDX-License-Identifier: Apache-2.0
//
// Functions of libm that the code generator calls where no IR says so.
//
// Most processors round, take remainders and fuse products by instructions;
// where the target has none for an intrinsic (or for frem), it becomes a call.
// If the program has a function of that name itself, the call reaches that: so
// such intrinsics are made ordinary calls first, of the function in the unit.
//
// Another unit, which does not know of the function, still calls it unseen.
// Counts do not mind.  A recording does: for it code with marks would be called
// from nowhere, so these functions have none there.
//
// Not handled: frexp, whose intrinsic returns a structure; types of 16 bits;
// and sincos, which the code generator makes of both others.
//
// Cost: linear in instructions.
#include "plugin/shim.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/RuntimeLibcalls.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace
{

// For which values there is a call: of long double and __float128 always.
enum class When {
	Always,
	WithoutSse41,
	WithoutFma,
	Never, // but for those
};

struct Operation {
	Intrinsic::ID Plain, Constrained;
	RTLIB::Libcall First; // of float; double and the others follow
	When Of;
};

#define BOTH(name) Intrinsic::name, Intrinsic::experimental_constrained_##name
#define PLAIN(name) Intrinsic::name, Intrinsic::not_intrinsic

const Operation Operations[] = {
        {BOTH(floor), RTLIB::FLOOR_F32, When::WithoutSse41},
        {BOTH(ceil), RTLIB::CEIL_F32, When::WithoutSse41},
        {BOTH(trunc), RTLIB::TRUNC_F32, When::WithoutSse41},
        {BOTH(rint), RTLIB::RINT_F32, When::WithoutSse41},
        {BOTH(nearbyint), RTLIB::NEARBYINT_F32, When::WithoutSse41},
        {BOTH(round), RTLIB::ROUND_F32, When::WithoutSse41},
        {BOTH(roundeven), RTLIB::ROUNDEVEN_F32, When::WithoutSse41},
        {BOTH(fma), RTLIB::FMA_F32, When::WithoutFma},
        {Intrinsic::not_intrinsic, Intrinsic::experimental_constrained_frem,
         RTLIB::REM_F32, When::Always},
        {BOTH(lround), RTLIB::LROUND_F32, When::Always},
        {BOTH(llround), RTLIB::LLROUND_F32, When::Always},
        {BOTH(ldexp), RTLIB::LDEXP_F32, When::Always},
        {BOTH(pow), RTLIB::POW_F32, When::Always},
        {BOTH(sin), RTLIB::SIN_F32, When::Always},
        {BOTH(cos), RTLIB::COS_F32, When::Always},
        {BOTH(tan), RTLIB::TAN_F32, When::Always},
        {BOTH(asin), RTLIB::ASIN_F32, When::Always},
        {BOTH(acos), RTLIB::ACOS_F32, When::Always},
        {BOTH(atan), RTLIB::ATAN_F32, When::Always},
        {BOTH(sinh), RTLIB::SINH_F32, When::Always},
        {BOTH(cosh), RTLIB::COSH_F32, When::Always},
        {BOTH(tanh), RTLIB::TANH_F32, When::Always},
        {BOTH(exp), RTLIB::EXP_F32, When::Always},
        {BOTH(exp2), RTLIB::EXP2_F32, When::Always},
        {PLAIN(exp10), RTLIB::EXP10_F32, When::Always},
        {BOTH(log), RTLIB::LOG_F32, When::Always},
        {BOTH(log2), RTLIB::LOG2_F32, When::Always},
        {BOTH(log10), RTLIB::LOG10_F32, When::Always},
        {BOTH(minnum), RTLIB::FMIN_F32, When::Never},
        {BOTH(maxnum), RTLIB::FMAX_F32, When::Never},
        {BOTH(sqrt), RTLIB::SQRT_F32, When::Never},
};

// Kinds of values, in the order of RTLIB.
enum Kind { Single, Double, X87, Quad, NKinds, None = NKinds };

Kind kindOf(const Type *T)
{
	return T->isFloatTy()      ? Single
	       : T->isDoubleTy()   ? Double
	       : T->isX86_FP80Ty() ? X87
	       : T->isFP128Ty()    ? Quad
	                           : None;
}

RTLIB::RuntimeLibcallsInfo &library()
{
	static RTLIB::RuntimeLibcallsInfo Info(
	        Triple("x86_64-unknown-linux-gnu"));

	return Info;
}

const char *nameOf(const Operation &O, Kind K)
{
	return library().getLibcallName(RTLIB::Libcall(O.First + K));
}

const Operation *operationOf(const Instruction &I)
{
	auto *Call = dyn_cast<IntrinsicInst>(&I);
	Intrinsic::ID ID = Call ? Call->getIntrinsicID()
	                   : I.getOpcode() == Instruction::FRem
	                           ? Intrinsic::experimental_constrained_frem
	                           : Intrinsic::not_intrinsic;

	for (const Operation &O : Operations)
		if (ID != Intrinsic::not_intrinsic &&
		    (ID == O.Plain || ID == O.Constrained))
			return &O;
	return nullptr;
}

bool hasFeature(const Function &F, StringRef Name)
{
	StringRef All = F.getFnAttribute("target-features").getValueAsString();

	return All.contains(Name);
}

bool becomesCall(const Function &F, const Operation &O, Kind K)
{
	if (K == X87 || K == Quad)
		return true;
	switch (O.Of) {
	case When::Always:
		return true;
	case When::WithoutSse41:
		return !hasFeature(F, "+sse4.1");
	case When::WithoutFma:
		return !hasFeature(F, "+fma");
	default:
		return false;
	}
}

unsigned operandsOf(const Instruction &I)
{
	if (auto *Call = dyn_cast<ConstrainedFPIntrinsic>(&I))
		return Call->getNonMetadataArgCount();
	auto *Call = dyn_cast<CallBase>(&I);
	return Call ? Call->arg_size() : I.getNumOperands();
}

// The function of the unit that the code generator will call for I, or for
// each element of it.
Function *calledFor(const Instruction &I)
{
	const Operation *O = operationOf(I);

	if (!O || isa<ScalableVectorType>(I.getType()))
		return nullptr;
	Kind K = kindOf(I.getOperand(0)->getType()->getScalarType());
	if (K == None || !becomesCall(*I.getFunction(), *O, K))
		return nullptr;
	const char *Name = nameOf(*O, K);
	Function *To = Name ? I.getModule()->getFunction(Name) : nullptr;
	if (!To || To->isDeclarationForLinker())
		return nullptr;
	SmallVector<Type *, 3> Types;
	for (unsigned N = 0; N < operandsOf(I); N++)
		Types.push_back(I.getOperand(N)->getType()->getScalarType());
	return To->getFunctionType() ==
	                       FunctionType::get(I.getType()->getScalarType(),
	                                         Types, false)
	               ? To
	               : nullptr;
}

Value *callOnce(IRBuilder<> &B, Function &To, ArrayRef<Value *> Args)
{
	CallInst *Call = B.CreateCall(&To, Args);

	Call->addFnAttr(Attribute::NoBuiltin);
	Call->setDoesNotThrow();
	Call->setCallingConv(To.getCallingConv());
	return Call;
}

// With element N of those that are vectors.
Value *callElement(IRBuilder<> &B, Function &To, ArrayRef<Value *> Args,
                   unsigned N)
{
	SmallVector<Value *, 3> Parts;

	for (Value *A : Args)
		Parts.push_back(A->getType()->isVectorTy()
		                        ? B.CreateExtractElement(A, N)
		                        : A);
	return callOnce(B, To, Parts);
}

void callInstead(Instruction &I, Function &To)
{
	IRBuilder<> B(&I);
	SmallVector<Value *, 3> Args;
	auto *Vector = dyn_cast<FixedVectorType>(I.getType());
	Value *Result = Vector ? Constant::getNullValue(Vector) : nullptr;

	for (unsigned N = 0; N < operandsOf(I); N++)
		Args.push_back(I.getOperand(N));
	if (!Vector)
		Result = callOnce(B, To, Args);
	for (unsigned N = 0; Vector && N < Vector->getNumElements(); N++)
		Result = B.CreateInsertElement(Result,
		                               callElement(B, To, Args, N), N);
	I.replaceAllUsesWith(Result);
	I.eraseFromParent();
}

} // namespace

void shim_call_seen(LLVMModuleRef module)
{
	for (Function &F : *unwrap(module))
		for (Instruction &I : make_early_inc_range(instructions(F)))
			if (Function *To = calledFor(I))
				callInstead(I, *To);
}

static StringSet<> namesCalledUnseen()
{
	StringSet<> Names;

	for (const char *Name : library().getLibcallNames())
		if (Name && StringRef(Name).starts_with("__"))
			Names.insert(Name);
	for (const Operation &O : Operations)
		for (unsigned K = O.Of == When::Never ? X87 : Single;
		     K < NKinds; K++)
			if (const char *Name = nameOf(O, Kind(K)))
				Names.insert(Name);
	for (RTLIB::Libcall First : {RTLIB::FREXP_F32, RTLIB::SINCOS_F32})
		for (unsigned K = 0; K < NKinds; K++)
			if (const char *Name = library().getLibcallName(
			            RTLIB::Libcall(First + K)))
				Names.insert(Name);
	return Names;
}

bool shim_is_called_unseen(LLVMValueRef f)
{
	static const StringSet<> Names = namesCalledUnseen();
	const Function &F = *unwrap<Function>(f);

	return !F.hasLocalLinkage() && Names.contains(F.getName());
}
