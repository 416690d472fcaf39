// SPDX-License-Identifier: Apache-2.0
//
// Makes IR definite, so that two compilations of it compute the same.
//
// A recording is replayed by compiling the program's IR a second time.  What
// the language leaves open, each compilation may decide differently: undef and
// poison, flags that promise (nsw, inbounds, fast-math), facts about arguments,
// shifts by too much, an fmuladd, zeros whose bits are counted, conversions
// that do not fit, elements that no vector has.  All that goes.  A computed
// goto becomes a switch over small numbers, since addresses of code are not the
// same.  Loads and stores of whole structures become those of their parts.
//
// An asm goto moves into a function of its own, without marks, which returns
// where it went: to its caller that is an input, and a switch.
// __builtin_setjmp becomes a call of setjmp.  vfork becomes fork: a child that
// runs in its parent's memory would be part of its parent's recording.
//
// Two kinds of addresses would have to be inputs whenever they are computed,
// and are made to follow from what is known:
//
//   The second stack: variables whose address somebody may see live there, at
//   addresses that follow from the calls made so far and the sizes in the IR
//   (V. Kuznetsov et al., "Code-pointer integrity", OSDI 2014, has such a stack
//   for another reason).  What is left of allocas is private: only loads and
//   stores at constant places in it.
//
//   Globals of other files are taken from a table in memory, by ordinary loads:
//   those are inputs, once.  Functions of other files that are called by name
//   may be in the same link, and have marks, which the linker will know: such a
//   call is one of a weak symbol, which says which one of the table it is.
//
// Cost: linear in instructions and uses.
#include "abi/record.h"
#include "ir/flow.h"
#include "ir/sites.h"
#include "plugin/record.h"
#include "plugin/shim.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

// --- what is left open -------------------------------------------------------

static Constant *definite(Constant *C);

static Constant *definiteParts(Constant *C)
{
	SmallVector<Constant *, 8> Parts;
	bool Changed = false;

	for (Value *Part : C->operands()) {
		Parts.push_back(definite(cast<Constant>(Part)));
		Changed |= Parts.back() != Part;
	}
	if (!Changed)
		return C;
	if (auto *S = dyn_cast<ConstantStruct>(C))
		return ConstantStruct::get(S->getType(), Parts);
	if (auto *A = dyn_cast<ConstantArray>(C))
		return ConstantArray::get(A->getType(), Parts);
	return ConstantVector::get(Parts);
}

// With zeros for what is undefined.
static Constant *definite(Constant *C)
{
	if (isa<UndefValue>(C))
		return C->getType()->isTokenTy() || C->getType()->isMetadataTy()
		               ? C
		               : Constant::getNullValue(C->getType());
	if (isa<ConstantAggregate>(C))
		return definiteParts(C);
	return C;
}

static void dropFacts(AttributeList &List, LLVMContext &Context, unsigned Index)
{
	AttributeMask Mask;

	for (auto Kind : {Attribute::NonNull,
	                  Attribute::NoUndef,
	                  Attribute::Dereferenceable,
	                  Attribute::DereferenceableOrNull,
	                  Attribute::Range,
	                  Attribute::NoAlias,
	                  Attribute::NoCapture,
	                  Attribute::ReadOnly,
	                  Attribute::ReadNone,
	                  Attribute::WriteOnly,
	                  Attribute::Writable,
	                  Attribute::NoFree,
	                  Attribute::NoSync,
	                  Attribute::WillReturn,
	                  Attribute::MustProgress,
	                  Attribute::Memory,
	                  Attribute::Speculatable,
	                  Attribute::Returned,
	                  Attribute::NoFPClass,
	                  Attribute::AllocSize,
	                  Attribute::AllocKind,
	                  Attribute::AllocAlign,
	                  Attribute::AllocatedPointer,
	                  Attribute::DeadOnUnwind,
	                  Attribute::NoRecurse})
		Mask.addAttribute(Kind);
	List = List.removeAttributesAtIndex(Context, Index, Mask);
}

static AttributeList withoutFacts(AttributeList List, LLVMContext &Context)
{
	for (unsigned Index : List.indexes())
		dropFacts(List, Context, Index);
	return List;
}

// Attributes of what it calls, unless they belong to an intrinsic.
static void dropFactsOfCall(CallBase &Call)
{
	if (!isa<IntrinsicInst>(Call))
		Call.setAttributes(
		        withoutFacts(Call.getAttributes(), Call.getContext()));
	else
		Call.dropPoisonGeneratingReturnAttributes();
}

static void boundShift(Instruction &I)
{
	Type *T = I.getType();
	unsigned Width = T->getScalarSizeInBits();
	Constant *C =
	        ConstantInt::get(T, isPowerOf2_32(Width) ? Width - 1 : Width);
	IRBuilder<> B(&I);
	Value *By = I.getOperand(1);

	I.setOperand(1, isPowerOf2_32(Width) ? B.CreateAnd(By, C)
	                                     : B.CreateURem(By, C));
}

static bool hasFma(const Function &F)
{
	return F.getFnAttribute("target-features")
	        .getValueAsString()
	        .contains("+fma");
}

// As the code generator would have done.
static void decideMulAdd(IntrinsicInst &I)
{
	IRBuilder<> B(&I);
	Value *A = I.getArgOperand(0), *M = I.getArgOperand(1),
	      *S = I.getArgOperand(2), *R;

	if (hasFma(*I.getFunction()))
		R = B.CreateIntrinsic(Intrinsic::fma, {I.getType()}, {A, M, S});
	else
		R = B.CreateFAdd(B.CreateFMul(A, M), S);
	I.replaceAllUsesWith(R);
	I.eraseFromParent();
}

// Products that may be fused with a sum, if the target can, as the code
// generator would have done; products that are left are kept from that: it may
// have been told to fuse whatever it finds (-ffp-contract=fast).
static bool mayFuse(const Value *V)
{
	auto *Mul = dyn_cast<BinaryOperator>(V);

	return Mul && Mul->getOpcode() == Instruction::FMul &&
	       Mul->hasAllowContract() && Mul->hasOneUse();
}

static void fuse(BinaryOperator &Sum)
{
	IRBuilder<> B(&Sum);
	bool IsSub = Sum.getOpcode() == Instruction::FSub;
	unsigned At = mayFuse(Sum.getOperand(0)) ? 0 : 1;
	auto *Mul = dyn_cast<BinaryOperator>(Sum.getOperand(At));
	Value *Other = Sum.getOperand(1 - At);

	if (!Sum.hasAllowContract() || !mayFuse(Sum.getOperand(At)))
		return;
	Value *Factor = Mul->getOperand(0);
	if (IsSub && At == 0)
		Other = B.CreateFNeg(Other);
	else if (IsSub)
		Factor = B.CreateFNeg(Factor);
	Sum.replaceAllUsesWith(
	        B.CreateIntrinsic(Intrinsic::fma, {Sum.getType()},
	                          {Factor, Mul->getOperand(1), Other}));
	Sum.eraseFromParent();
	Mul->eraseFromParent();
}

static void fence(BinaryOperator &Mul)
{
	IRBuilder<> B(Mul.getNextNode());
	auto *Fence = B.CreateArithmeticFence(&Mul, Mul.getType());

	Mul.replaceUsesWithIf(Fence,
	                      [&](Use &U) { return U.getUser() != Fence; });
}

static void decideFusion(Function &F)
{
	SmallVector<BinaryOperator *, 16> Sums, Products;

	if (!hasFma(F))
		return;
	for (Instruction &I : instructions(F))
		if (I.getOpcode() == Instruction::FAdd ||
		    I.getOpcode() == Instruction::FSub)
			Sums.push_back(cast<BinaryOperator>(&I));
	for (BinaryOperator *Sum : Sums)
		fuse(*Sum);
	for (Instruction &I : instructions(F))
		if (I.getOpcode() == Instruction::FMul)
			Products.push_back(cast<BinaryOperator>(&I));
	for (BinaryOperator *Mul : Products)
		fence(*Mul);
}

// What the code generator may do with arithmetic in all of a function.
static void dropFastMath(Function &F)
{
	for (const char *Name : {"unsafe-fp-math", "no-infs-fp-math",
	                         "no-nans-fp-math", "no-signed-zeros-fp-math",
	                         "approx-func-fp-math", "reciprocal-estimates"})
		F.removeFnAttr(Name);
}

// Numbers of less than 32 bits by way of those that the processor has: the code
// generator trusts that they fit.
static void widenConversion(CastInst &I)
{
	Type *T = I.getType();
	IRBuilder<> B(&I);

	if (T->getScalarSizeInBits() >= 32)
		return;
	I.replaceAllUsesWith(B.CreateTrunc(
	        B.CreateFPToSI(I.getOperand(0), T->getWithNewBitWidth(32)), T));
	I.eraseFromParent();
}

// Of extractelement and insertelement: the index.
static void boundElement(Instruction &I, unsigned Operand)
{
	auto *T = dyn_cast<FixedVectorType>(I.getOperand(0)->getType());
	Value *Index = I.getOperand(Operand);
	IRBuilder<> B(&I);

	if (T)
		I.setOperand(Operand,
		             B.CreateURem(Index, ConstantInt::get(
		                                         Index->getType(),
		                                         T->getNumElements())));
}

static bool isIdle(const IntrinsicInst &I)
{
	switch (I.getIntrinsicID()) {
	case Intrinsic::assume:
	case Intrinsic::lifetime_start:
	case Intrinsic::lifetime_end:
	case Intrinsic::invariant_end:
	case Intrinsic::experimental_noalias_scope_decl:
		return true;
	default:
		return false;
	}
}

// Those that promise something of their operands.
static void decideIntrinsic(IntrinsicInst &I)
{
	switch (I.getIntrinsicID()) {
	case Intrinsic::fmuladd:
		decideMulAdd(I);
		break;
	case Intrinsic::ctlz:
	case Intrinsic::cttz:
	case Intrinsic::abs:
		I.setArgOperand(1, ConstantInt::getFalse(I.getContext()));
		break;
	default:
		if (isIdle(I))
			I.eraseFromParent();
	}
}

static void decideInstruction(Instruction &I)
{
	I.dropPoisonGeneratingFlags();
	I.dropUnknownNonDebugMetadata({LLVMContext::MD_prof});
	if (isa<FPMathOperator>(I))
		I.copyFastMathFlags(FastMathFlags());
	if (auto *Call = dyn_cast<CallBase>(&I))
		dropFactsOfCall(*Call);
	if (auto *Call = dyn_cast<CallInst>(&I))
		if (Call->isMustTailCall() && !ir_can_be_tail(wrap(Call)))
			Call->setTailCallKind(CallInst::TCK_Tail);
	if (!isa<LandingPadInst>(I))
		for (Use &U : I.operands())
			if (auto *C = dyn_cast<Constant>(U))
				U = definite(C);
	if (I.isShift())
		boundShift(I);
	if (auto *Freeze = dyn_cast<FreezeInst>(&I)) {
		Freeze->replaceAllUsesWith(Freeze->getOperand(0));
		Freeze->eraseFromParent();
		return;
	}
	if (isa<FPToSIInst>(I) || isa<FPToUIInst>(I))
		widenConversion(cast<CastInst>(I));
	else if (isa<ExtractElementInst>(I))
		boundElement(I, 1);
	else if (isa<InsertElementInst>(I))
		boundElement(I, 2);
	else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
		decideIntrinsic(*Intrinsic);
}

static void decide(Function &F)
{
	for (BasicBlock &B : F)
		if (auto *I = dyn_cast<InvokeInst>(B.getTerminator()))
			if (I->hasFnAttr(Attribute::ReturnsTwice))
				changeToCall(I); // it does not throw
	EliminateUnreachableBlocks(F);
	decideFusion(F);
	dropFastMath(F);
	for (Instruction &I : make_early_inc_range(instructions(F)))
		decideInstruction(I);
}

// --- whole structures
// ----------------------------------------------------------

// Calls Do for every scalar or vector in a type, with its indices.
static void eachLeaf(Type *T, SmallVectorImpl<unsigned> &Path,
                     function_ref<void(ArrayRef<unsigned>)> Do)
{
	unsigned N = T->isStructTy()  ? T->getStructNumElements()
	             : T->isArrayTy() ? unsigned(T->getArrayNumElements())
	                              : 0;

	if (!T->isAggregateType()) {
		Do(Path);
		return;
	}
	for (unsigned I = 0; I < N; I++) {
		Path.push_back(I);
		eachLeaf(T->isStructTy() ? T->getStructElementType(I)
		                         : T->getArrayElementType(),
		         Path, Do);
		Path.pop_back();
	}
}

static Value *leafPointer(IRBuilder<> &B, Type *T, Value *Pointer,
                          ArrayRef<unsigned> Path)
{
	SmallVector<Value *, 4> Indices{B.getInt32(0)};

	for (unsigned I : Path)
		Indices.push_back(B.getInt32(I));
	return B.CreateGEP(T, Pointer, Indices);
}

// Debug records name the store that they are about: it is now the last of
// several.
static void replaceStore(Instruction &Old, Instruction *Last)
{
	if (Last)
		Last->copyMetadata(Old, {LLVMContext::MD_DIAssignID});
	Old.eraseFromParent();
}

static void splitStore(StoreInst &S)
{
	Value *V = S.getValueOperand();
	SmallVector<unsigned, 4> Path;
	IRBuilder<> B(&S);
	Instruction *Last = nullptr;

	eachLeaf(V->getType(), Path, [&](ArrayRef<unsigned> At) {
		Last = B.CreateAlignedStore(
		        B.CreateExtractValue(V, At),
		        leafPointer(B, V->getType(), S.getPointerOperand(), At),
		        Align(1), S.isVolatile());
	});
	replaceStore(S, Last);
}

static void splitLoad(LoadInst &L)
{
	Type *T = L.getType();
	Value *V = Constant::getNullValue(T);
	SmallVector<unsigned, 4> Path;
	IRBuilder<> B(&L);

	eachLeaf(T, Path, [&](ArrayRef<unsigned> At) {
		Value *Pointer = leafPointer(B, T, L.getPointerOperand(), At);
		Value *Leaf = B.CreateAlignedLoad(
		        ExtractValueInst::getIndexedType(T, At), Pointer,
		        Align(1), L.isVolatile());
		V = B.CreateInsertValue(V, Leaf, At);
	});
	L.replaceAllUsesWith(V);
	L.eraseFromParent();
}

static void splitStructures(Function &F)
{
	for (Instruction &I : make_early_inc_range(instructions(F))) {
		if (auto *S = dyn_cast<StoreInst>(&I))
			if (S->getValueOperand()->getType()->isAggregateType())
				splitStore(*S);
		if (auto *L = dyn_cast<LoadInst>(&I))
			if (L->getType()->isAggregateType())
				splitLoad(*L);
	}
}

// What the caller has put on its own stack for us, at an address that nobody
// knows: that is an input, and a copy of it is a variable as any.  The copy has
// no line: where the function's first line is entered, it has been made.
static void copyArguments(Function &F)
{
	const DataLayout &Layout = F.getDataLayout();
	IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());

	B.SetCurrentDebugLocation(DebugLoc());
	for (Argument &A : F.args()) {
		if (!A.hasByValAttr() || A.use_empty())
			continue;
		Type *T = A.getParamByValType();
		auto *Copy = new AllocaInst(T, 0, nullptr,
		                            A.getParamAlign().valueOrOne(), "",
		                            F.getEntryBlock().begin());
		A.replaceAllUsesWith(Copy);
		auto *Type =
		        FunctionType::get(A.getType(), {A.getType()}, false);
		Value *From = B.CreateCall(
		        Type, InlineAsm::get(Type, "", "=r,0", false), {&A});
		B.CreateMemCpy(Copy, Copy->getAlign(), From,
		               A.getParamAlign().valueOrOne(),
		               Layout.getTypeAllocSize(T));
	}
}

// --- short copies
// ----------------------------------------------------------------

#define SHORT 64u

// Calls Do for pieces of a row of bytes, as large as possible.
static void eachPiece(LLVMContext &C, uint64_t N,
                      function_ref<void(Type *, uint64_t)> Do)
{
	uint64_t At = 0;

	for (unsigned Size : {16, 8, 4, 2, 1})
		for (; N - At >= Size; At += Size)
			Do(Size == 16 ? (Type *)FixedVectorType::get(
			                        Type::getInt64Ty(C), 2)
			              : Type::getIntNTy(C, 8 * Size),
			   At);
}

static void expandCopy(MemTransferInst &I, uint64_t N)
{
	IRBuilder<> B(&I);
	SmallVector<std::pair<Value *, uint64_t>, 8> Pieces;

	eachPiece(I.getContext(), N, [&](Type *T, uint64_t At) {
		Value *From = B.CreateConstGEP1_64(B.getInt8Ty(),
		                                   I.getRawSource(), At);
		Pieces.push_back(
		        {B.CreateAlignedLoad(
		                 T, From,
		                 commonAlignment(
		                         I.getSourceAlign().valueOrOne(), At)),
		         At});
	});
	Instruction *Last = nullptr;
	for (auto &[V, At] : Pieces)
		Last = B.CreateAlignedStore(
		        V,
		        B.CreateConstGEP1_64(B.getInt8Ty(), I.getRawDest(), At),
		        commonAlignment(I.getDestAlign().valueOrOne(), At));
	replaceStore(I, Last);
}

static void expandSet(MemSetInst &I, uint64_t N)
{
	IRBuilder<> B(&I);
	Value *Byte = I.getValue();
	Value *Word = B.CreateMul(B.CreateZExt(Byte, B.getInt64Ty()),
	                          B.getInt64(0x0101010101010101));

	Instruction *Last = nullptr;
	eachPiece(I.getContext(), N, [&](Type *T, uint64_t At) {
		Value *V = T->isVectorTy() ? B.CreateVectorSplat(2, Word)
		                           : B.CreateTrunc(Word, T);
		Last = B.CreateAlignedStore(
		        V,
		        B.CreateConstGEP1_64(B.getInt8Ty(), I.getRawDest(), At),
		        commonAlignment(I.getDestAlign().valueOrOne(), At));
	});
	replaceStore(I, Last);
}

static void expandCopies(Function &F)
{
	for (Instruction &I : make_early_inc_range(instructions(F))) {
		auto *Move = dyn_cast<MemIntrinsic>(&I);
		auto *N = Move ? dyn_cast<ConstantInt>(Move->getLength())
		               : nullptr;

		if (!N || N->getValue().ugt(SHORT))
			continue;
		if (auto *Set = dyn_cast<MemSetInst>(Move))
			expandSet(*Set, N->getZExtValue());
		else if (auto *Copy = dyn_cast<MemTransferInst>(Move))
			expandCopy(*Copy, N->getZExtValue());
	}
}

// --- computed gotos
// --------------------------------------------------------------

// The same edges, and no block more: the first target is the default.
static void switchInstead(IndirectBrInst &Goto,
                          const DenseMap<BasicBlock *, uint64_t> &Numbers)
{
	IRBuilder<> B(&Goto);
	Value *N = B.CreatePtrToInt(Goto.getAddress(), B.getInt64Ty());
	SmallPtrSet<BasicBlock *, 16> Targets;
	SmallVector<BasicBlock *, 16> Order;
	BasicBlock *From = Goto.getParent();

	for (BasicBlock *To : successors(&Goto))
		if (Numbers.contains(To) && Targets.insert(To).second)
			Order.push_back(To);
		else // named twice, or by no address: one edge less
			To->removePredecessor(From, true);
	if (Order.empty()) {
		B.CreateUnreachable();
	} else {
		auto *S = B.CreateSwitch(N, Order.front(),
		                         unsigned(Order.size()) - 1);

		for (BasicBlock *To : ArrayRef(Order).drop_front())
			S->addCase(B.getInt64(Numbers.lookup(To)), To);
		S->setMetadata(CAIRN_IR_GOTO, MDNode::get(S->getContext(), {}));
	}
	Goto.eraseFromParent();
}

// Addresses of blocks become 1, 2, 3 ..., wherever they stand.
static void numberLabels(Function &F)
{
	DenseMap<BasicBlock *, uint64_t> Numbers;
	Type *I64 = Type::getInt64Ty(F.getContext());

	for (BasicBlock &B : F) {
		if (!B.hasAddressTaken())
			continue;
		BlockAddress *Address = BlockAddress::lookup(&B);
		uint64_t N = Numbers.size() + 1;

		if (!Address)
			continue;
		Numbers[&B] = N;
		Address->replaceAllUsesWith(ConstantExpr::getIntToPtr(
		        ConstantInt::get(I64, N), Address->getType()));
		Address->destroyConstant();
	}
	for (BasicBlock &B : make_early_inc_range(F))
		if (auto *Goto = dyn_cast<IndirectBrInst>(B.getTerminator()))
			switchInstead(*Goto, Numbers);
}

// --- asm goto
// --------------------------------------------------------------------

// What of an asm goto is not constant: constants may have to be such.
static SmallVector<Value *, 8> varyingOperands(const CallBrInst &Goto)
{
	SmallVector<Value *, 8> Values;

	for (Value *V : Goto.args())
		if (!isa<Constant>(V))
			Values.push_back(V);
	return Values;
}

// Results of the assembly, and the number of the way that it took: 0 if it
// came to its end, then its labels.
static StructType *resultOf(const CallBrInst &Goto)
{
	SmallVector<Type *, 8> Parts;

	if (!Goto.getType()->isVoidTy())
		Parts.push_back(Goto.getType());
	Parts.push_back(Type::getInt32Ty(Goto.getContext()));
	return StructType::get(Goto.getContext(), Parts);
}

static Function *makeOutside(const CallBrInst &Goto, ArrayRef<Value *> Varying)
{
	const Function &F = *Goto.getFunction();
	SmallVector<Type *, 8> Types;

	for (Value *V : Varying)
		Types.push_back(V->getType());
	auto *New = Function::Create(
	        FunctionType::get(resultOf(Goto), Types, false),
	        GlobalValue::InternalLinkage, F.getAddressSpace(), SHIM_GOTO,
	        const_cast<Module *>(F.getParent()));

	New->addFnAttrs(
	        AttrBuilder(F.getContext(), F.getAttributes().getFnAttrs()));
	New->setAttributes(
	        withoutFacts(New->getAttributes(), New->getContext()));
	New->removeFnAttr(Attribute::AlwaysInline);
	New->removeFnAttr(Attribute::InlineHint);
	New->addFnAttr(Attribute::NoInline);
	New->addFnAttr(CAIRN_IR_LEFT_OUT);
	return New;
}

// A block that returns what the assembly has computed, and which way it took.
static BasicBlock *returnBlock(Function &F, unsigned Way)
{
	BasicBlock *Block = BasicBlock::Create(F.getContext(), "", &F);
	IRBuilder<> B(Block);
	auto *T = cast<StructType>(F.getReturnType());

	B.CreateRet(B.CreateInsertValue(Constant::getNullValue(T),
	                                B.getInt32(Way),
	                                T->getNumElements() - 1));
	return Block;
}

static void fillOutside(Function &New, const CallBrInst &Goto)
{
	BasicBlock *Entry = BasicBlock::Create(New.getContext(), "", &New);
	SmallVector<BasicBlock *, 8> Ways;
	SmallVector<Value *, 8> Args;
	Function::arg_iterator Next = New.arg_begin();

	for (unsigned I = 0; I <= Goto.getNumIndirectDests(); I++)
		Ways.push_back(returnBlock(New, I));
	for (Value *V : Goto.args())
		Args.push_back(isa<Constant>(V) ? V : &*Next++);
	auto *Copy = CallBrInst::Create(
	        Goto.getFunctionType(), Goto.getCalledOperand(), Ways[0],
	        ArrayRef(Ways).drop_front(), Args, "", Entry);
	Copy->setAttributes(Goto.getAttributes());
	Copy->copyMetadata(Goto, {Goto.getContext().getMDKindID("srcloc")});
	if (Goto.getType()->isVoidTy())
		return;
	for (BasicBlock *Way : Ways) {
		auto *Return = cast<ReturnInst>(Way->getTerminator());
		IRBuilder<> B(Return);

		Return->setOperand(
		        0, B.CreateInsertValue(Return->getOperand(0), Copy, 0));
	}
}

static void callOutside(CallBrInst &Goto)
{
	SmallVector<Value *, 8> Varying = varyingOperands(Goto);
	Function *New = makeOutside(Goto, Varying);
	IRBuilder<> B(&Goto);

	fillOutside(*New, Goto);
	CallInst *Call = B.CreateCall(New, Varying);
	unsigned Last =
	        cast<StructType>(New->getReturnType())->getNumElements() - 1;
	// the same edges as before
	auto *S = B.CreateSwitch(B.CreateExtractValue(Call, Last),
	                         Goto.getDefaultDest(),
	                         Goto.getNumIndirectDests());

	for (unsigned I = 0; I < Goto.getNumIndirectDests(); I++)
		S->addCase(B.getInt32(I + 1), Goto.getIndirectDest(I));
	if (!Goto.use_empty()) {
		B.SetInsertPoint(S);
		Goto.replaceAllUsesWith(B.CreateExtractValue(Call, 0));
	}
	Goto.eraseFromParent();
}

static void moveGotos(Module &M)
{
	SmallVector<CallBrInst *, 8> All;

	for (Function &F : M)
		for (BasicBlock &B : F)
			if (auto *Goto =
			            dyn_cast<CallBrInst>(B.getTerminator()))
				if (!F.hasFnAttribute(Attribute::Naked))
					All.push_back(Goto);
	for (CallBrInst *Goto : All)
		callOutside(*Goto);
}

// --- __builtin_setjmp
// --------------------------------------------------------------

// What the source calls, for users.
static void setName(CallBase &Call, StringRef Name)
{
	Call.addFnAttr(Attribute::get(Call.getContext(), SHIM_NAME, Name));
}

// A function that is nothing but assembly.
static Function *assembly(Module &M, const char *Name, ArrayRef<Type *> Types,
                          const char *Text)
{
	LLVMContext &C = M.getContext();
	auto *None = FunctionType::get(Type::getVoidTy(C), false);

	if (Function *Old = M.getFunction(Name))
		return Old;
	auto *F = Function::Create(
	        FunctionType::get(Type::getVoidTy(C), Types, false),
	        GlobalValue::InternalLinkage, Name, M);
	IRBuilder<> B(BasicBlock::Create(C, "", F));

	B.CreateCall(None, InlineAsm::get(None, Text, "", true));
	B.CreateUnreachable();
	F->addFnAttr(Attribute::Naked);
	F->addFnAttr(Attribute::NoInline);
	F->setDoesNotReturn();
	F->setDoesNotThrow();
	F->addFnAttr(CAIRN_IR_LEFT_OUT);
	return F;
}

#define JMP_BUF_WORDS 25
#define JMP_BUF_ALIGN 16

// Its buffer has a frame pointer, an address and a stack pointer; whoever jumps
// loads them, and nothing else.  They lead to `cairn.land`, with the address of
// a jmp_buf as the frame pointer, and from there to a call of setjmp.  As the
// stack pointer has been that of the second stack, it is there that longjmp
// runs.
static void setjmpInstead(CallInst &Call)
{
	Module &M = *Call.getModule();
	IRBuilder<> B(&Call);
	Value *Buffer = Call.getArgOperand(0);
	auto *Save =
	        new AllocaInst(ArrayType::get(B.getInt64Ty(), JMP_BUF_WORDS), 0,
	                       nullptr, Align(JMP_BUF_ALIGN), "",
	                       Call.getFunction()->getEntryBlock().begin());
	auto Setjmp =
	        M.getOrInsertFunction("_setjmp", B.getInt32Ty(), B.getPtrTy());

	B.CreateStore(Save, Buffer);
	B.CreateStore(assembly(M, "cairn.land", {},
	                       "movq %rbp, %rdi\n\tmovl $$1, %esi\n\t"
	                       "andq $$-16, %rsp\n\tcall longjmp@PLT"),
	              B.CreateConstGEP1_64(B.getPtrTy(), Buffer, 1));
	CallInst *New = B.CreateCall(Setjmp, {Save});
	New->addFnAttr(Attribute::ReturnsTwice);
	setName(*New, "__builtin_setjmp");
	Call.replaceAllUsesWith(New);
	Call.eraseFromParent();
}

static void jumpInstead(CallInst &Call)
{
	Module &M = *Call.getModule();

	Call.setCalledFunction(
	        assembly(M, "cairn.jump", {PointerType::get(M.getContext(), 0)},
	                 "movq (%rdi), %rbp\n\tmovq 16(%rdi), %rsp\n\t"
	                 "jmpq *8(%rdi)"));
	Call.setTailCall(false);
	setName(Call, "__builtin_longjmp");
}

static void replaceBuiltins(Module &M)
{
	SmallVector<CallInst *, 8> Setjmps, Longjmps;

	for (Function &F : M)
		for (Instruction &I : instructions(F)) {
			auto *Call = dyn_cast<IntrinsicInst>(&I);

			if (!Call || F.hasFnAttribute(Attribute::Naked))
				continue;
			if (Call->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp)
				Setjmps.push_back(Call);
			if (Call->getIntrinsicID() ==
			    Intrinsic::eh_sjlj_longjmp)
				Longjmps.push_back(Call);
		}
	for (CallInst *Call : Setjmps)
		setjmpInstead(*Call);
	for (CallInst *Call : Longjmps)
		jumpInstead(*Call);
}

// --- what setjmp finds
// -----------------------------------------------------------

void canonical_begin(LLVMModuleRef Module)
{
	moveGotos(*unwrap(Module));
	replaceBuiltins(*unwrap(Module));
}

// In all of the module: what has no marks may call what has.
static void forkInstead(Module &M)
{
	for (const char *Name : {"vfork", "__vfork"}) {
		Function *F = M.getFunction(Name);

		if (!F || !F->isDeclaration())
			continue;
		for (User *U : F->users())
			if (auto *Call = dyn_cast<CallBase>(U)) {
				Call->removeFnAttr(Attribute::ReturnsTwice);
				if (Call->getCalledOperand() == F)
					setName(*Call, Name);
			}
		F->replaceAllUsesWith(
		        M.getOrInsertFunction("fork", F->getFunctionType())
		                .getCallee());
	}
}

static bool returnsTwice(const Instruction &I)
{
	auto *Call = dyn_cast<CallBase>(&I);

	return Call && Call->hasFnAttr(Attribute::ReturnsTwice);
}

// All blocks that control can come to from the beginning of another.
static void reach(BasicBlock *From, SmallPtrSetImpl<BasicBlock *> &Reached)
{
	SmallVector<BasicBlock *, 32> Todo{From};

	while (!Todo.empty()) {
		BasicBlock *B = Todo.pop_back_val();

		if (Reached.insert(B).second)
			Todo.append(succ_begin(B), succ_end(B));
	}
}

// Is the value still to be used where one of these blocks begins?
static bool isAlive(const Instruction &I,
                    const SmallPtrSetImpl<BasicBlock *> &Where)
{
	SmallPtrSet<const BasicBlock *, 32> Seen;
	SmallVector<const BasicBlock *, 32> Todo; // alive at their ends

	auto aliveIn = [&](const BasicBlock *B) {
		if (B != I.getParent() && Seen.insert(B).second)
			Todo.append(pred_begin(B), pred_end(B));
	};
	for (const Use &U : I.uses()) {
		auto *At = cast<Instruction>(U.getUser());

		if (auto *Phi = dyn_cast<PHINode>(At))
			Todo.push_back(Phi->getIncomingBlock(U));
		else
			aliveIn(At->getParent());
	}
	while (!Todo.empty())
		aliveIn(Todo.pop_back_val());
	return any_of(Where, [&](BasicBlock *B) { return Seen.contains(B); });
}

// A value that is kept over a call of setjmp and computed again before the
// longjmp is, after that, the old one if it is in a register, and the new one
// if it is in memory.  Such values are in memory, and the last one counts; the
// blocks stay as they are.
static void keepInMemory(Function &F)
{
	SmallVector<Instruction *, 32> Values;
	SmallVector<Instruction *, 4> Calls;
	SmallPtrSet<BasicBlock *, 4> Behind;
	SmallVector<BasicBlock *, 4> Split;
	SmallPtrSet<BasicBlock *, 32> Later;

	for (Instruction &I : instructions(F))
		if (returnsTwice(I))
			Calls.push_back(&I);
	for (Instruction *I : Calls) {
		auto *Invoke = dyn_cast<InvokeInst>(I);

		if (!Invoke)
			Split.push_back(
			        SplitBlock(I->getParent(), I->getNextNode()));
		Behind.insert(Invoke ? Invoke->getNormalDest() : Split.back());
	}
	for (BasicBlock *B : Behind)
		reach(B, Later);
	for (Instruction &I : instructions(F))
		if (!isa<AllocaInst>(I) && !I.getType()->isVoidTy() &&
		    Later.contains(I.getParent()) && isAlive(I, Behind))
			Values.push_back(&I);
	for (Instruction *I : Values)
		DemoteRegToStack(*I);
	for (BasicBlock *B : Split)
		MergeBlockIntoPredecessor(B);
}

// --- tail calls
// -----------------------------------------------------------------------
//
// What the language or the optimizer has marked as a tail call stays one, so
// that the program needs no more stack than without marks: it is made when the
// second stack is what it was at the entry, and nothing is done after it.  A
// function that may so end in a call of anything hands the result on, and its
// own callers look whether it is that of foreign code.

// The tail call before a return; nullptr: none.
static CallInst *tailCallOf(const ReturnInst &R)
{
	for (const Instruction *I = R.getPrevNode(); I; I = I->getPrevNode())
		if (auto *Call = dyn_cast<CallInst>(I))
			if (ir_is_tail(wrap(Call)))
				return const_cast<CallInst *>(Call);
	return nullptr;
}

// Where what is returned is the result in other words, as undef or as an
// argument that the callee returns, it becomes the result.
static void returnResults(Function &F)
{
	for (BasicBlock &B : F) {
		Value *Call = unwrap(ir_tail_call(wrap(&B)));
		auto *Return = dyn_cast<ReturnInst>(B.getTerminator());

		if (Call && Return->getReturnValue() &&
		    Return->getReturnValue()->getType() == Call->getType())
			Return->setOperand(0, Call);
	}
}

static bool takesCopies(const CallBase &Call)
{
	for (unsigned I = 0; I < Call.arg_size(); I++)
		if (Call.isPassPointeeByValueArgument(I))
			return true;
	return false;
}

// A function that setjmp returns to twice ticks before it returns, one with a
// variable number of arguments has one entry, in which it does more after that.
static bool canHaveTails(Function &F)
{
	return !F.isVarArg() && !any_of(instructions(F), returnsTwice);
}

static void findTails(Function &F)
{
	LLVMContext &C = F.getContext();

	if (!canHaveTails(F))
		return;
	for (BasicBlock &B : F) {
		auto *Call =
		        cast_or_null<CallInst>(unwrap(ir_tail_call(wrap(&B))));

		if (Call && ir_can_be_tail(wrap(Call)) && !takesCopies(*Call))
			Call->setMetadata(CAIRN_IR_TAIL, MDNode::get(C, {}));
	}
}

static bool handsOn(const Function &F)
{
	return any_of(instructions(F), [](const Instruction &I) {
		return ir_is_tail(wrap(&I)) && ir_hands_on(wrap(&I));
	});
}

// Functions that end in calls of anything, and those that end in calls of such.
static void findHandsOn(Module &M)
{
	SmallVector<Function *, 32> Work;
	auto add = [&](Function &F) {
		if (!F.hasFnAttribute(CAIRN_IR_HANDS_ON) && handsOn(F)) {
			F.addFnAttr(CAIRN_IR_HANDS_ON);
			Work.push_back(&F);
		}
	};

	for (Function &F : M)
		add(F);
	while (!Work.empty())
		for (User *U : Work.pop_back_val()->users())
			if (auto *Call = dyn_cast<CallInst>(U))
				add(*Call->getFunction());
}

// --- variables of threads
// -----------------------------------------------------------

static bool isAddress(const User *U)
{
	auto *I = dyn_cast<IntrinsicInst>(U);

	return I && I->getIntrinsicID() == Intrinsic::threadlocal_address;
}

static void addressThreadLocals(Instruction &I)
{
	for (Use &U : I.operands()) {
		auto *G = dyn_cast<GlobalVariable>(U);
		auto *Phi = dyn_cast<PHINode>(&I);

		if (!G || !G->isThreadLocal() ||
		    G->getName() == CAIRN_RT_RECORD || isAddress(&I))
			continue;
		IRBuilder<> B(Phi ? Phi->getIncomingBlock(U)->getTerminator()
		                  : &I);
		Value *At = B.CreateThreadLocalAddress(G);

		if (Phi)
			Phi->setIncomingValueForBlock(Phi->getIncomingBlock(U),
			                              At);
		else
			U = At;
	}
}

// Where a variable of a thread is, is an input.  Most code asks for it by an
// intrinsic; what initialises such variables does not.
static void addressThreadLocals(Module &M,
                                function_ref<bool(Function &)> HasMarks)
{
	SmallVector<Constant *, 8> All;

	for (GlobalVariable &G : M.globals())
		if (G.isThreadLocal() && G.getName() != CAIRN_RT_RECORD)
			All.push_back(&G);
	for (Function &F : M) {
		if (!HasMarks(F))
			continue;
		convertUsersOfConstantsToInstructions(All, &F, false);
		for (Instruction &I : make_early_inc_range(instructions(F)))
			addressThreadLocals(I);
	}
}

// --- globals of others
// -----------------------------------------------------------

namespace
{

class Externs
{
	Module &M;
	bool IsExecutable;
	TargetLibraryInfoImpl Library;
	MapVector<GlobalValue *, unsigned> Index;
	SmallVector<std::pair<LoadInst *, unsigned>, 64> Loads;

	// Is its address that of whatever the linker or loader finds?
	static bool isElsewhere(const GlobalValue &G)
	{
		auto *F = dyn_cast<Function>(&G);

		// the loader chooses what an ifunc is
		if (isa_and_nonnull<GlobalIFunc>(G.getAliaseeObject()))
			return true;
		return !(F && F->isIntrinsic()) && !G.isThreadLocal() &&
		       !G.getName().starts_with("__cairn") &&
		       (G.isDeclaration() ||
		        G.hasAvailableExternallyLinkage() || !G.isDSOLocal());
	}

	static bool mustStay(const Use &U)
	{
		auto *Call = dyn_cast<CallBase>(U.getUser());

		return isa<LandingPadInst>(U.getUser()) ||
		       (Call &&
		        Call->getIntrinsicID() == Intrinsic::eh_typeid_for) ||
		       (Call && Call->isInlineAsm()) ||
		       (Call && Call->isCallee(&U) &&
		        (Call->hasFnAttr(Attribute::ReturnsTwice) ||
		         ir_read(wrap(Call)) >= 0));
	}

	unsigned number(GlobalValue *G)
	{
		return Index.insert({G, Index.size()}).first->second;
	}

	// Is it a call by name of a function that this link may have?  Symbols
	// of a shared object may be another's, unless they are hidden; libc is
	// not part of any link of ours.
	bool mayBeLinked(const Use &U, const Function &F)
	{
		auto *Call = dyn_cast<CallBase>(U.getUser());
		LibFunc Known;

		return Call && Call->isCallee(&U) && F.isDeclaration() &&
		       !F.isVarArg() && !F.hasExternalWeakLinkage() &&
		       Call->getFunctionType() == F.getFunctionType() &&
		       (IsExecutable || F.hasHiddenVisibility()) &&
		       !F.getName().starts_with("\1") &&
		       !Library.getLibFunc(F.getName(), Known) &&
		       !ir_changes_env(wrap(Call));
	}

	// Without dso_local: its address may be 0.
	Function *linked(Function &F)
	{
		std::string Name = (CAIRN_LINK_BODY + F.getName()).str();

		if (Function *Old = M.getFunction(Name))
			return Old;
		auto *New = Function::Create(F.getFunctionType(),
		                             GlobalValue::ExternalWeakLinkage,
		                             F.getAddressSpace(), Name, &M);
		New->copyAttributesFrom(&F);
		New->setVisibility(GlobalValue::HiddenVisibility);
		New->setDSOLocal(false);
		New->addFnAttr(CAIRN_IR_LINKED, std::to_string(number(&F)));
		return New;
	}

	Value *load(GlobalValue *G, Instruction *Before)
	{
		unsigned N = number(G);
		auto *L = new LoadInst(PointerType::get(M.getContext(), 0),
		                       Constant::getNullValue(PointerType::get(
		                               M.getContext(), 0)),
		                       "", Before->getIterator());

		L->setDebugLoc(Before->getDebugLoc());
		Loads.push_back({L, N});
		return L;
	}

	void replacePhi(PHINode &Phi)
	{
		for (unsigned I = 0; I < Phi.getNumIncomingValues(); I++) {
			auto *G =
			        dyn_cast<GlobalValue>(Phi.getIncomingValue(I));

			if (!G || !isElsewhere(*G))
				continue;
			BasicBlock *From = Phi.getIncomingBlock(I);
			Phi.setIncomingValueForBlock(
			        From, load(G, From->getTerminator()));
		}
	}

	void replaceIn(Instruction &I)
	{
		if (auto *Phi = dyn_cast<PHINode>(&I)) {
			replacePhi(*Phi);
			return;
		}
		for (Use &U : I.operands()) {
			auto *G = dyn_cast<GlobalValue>(U);
			auto *F = dyn_cast<Function>(U);

			if (!G || !isElsewhere(*G) || mustStay(U))
				continue;
			if (F && mayBeLinked(U, *F))
				U = linked(*F);
			else
				U = load(G, &I);
		}
	}

      public:
	Externs(Module &M, bool IsExecutable)
	    : M(M), IsExecutable(IsExecutable),
	      Library(Triple(M.getTargetTriple()))
	{
	}

	// Expressions of such addresses become instructions, then all uses
	// loads.
	void replace(function_ref<bool(Function &)> HasMarks)
	{
		SmallVector<Constant *, 32> Elsewhere;

		for (GlobalValue &G : M.global_values())
			if (isElsewhere(G))
				Elsewhere.push_back(&G);
		for (Function &F : M)
			if (HasMarks(F))
				convertUsersOfConstantsToInstructions(
				        Elsewhere, &F, false);
		for (Function &F : M)
			if (HasMarks(F))
				for (Instruction &I :
				     make_early_inc_range(instructions(F)))
					replaceIn(I);
		writeTable();
	}

	void writeTable()
	{
		Type *Pointer = PointerType::get(M.getContext(), 0);
		auto *T = ArrayType::get(Pointer, Index.size());
		SmallVector<Constant *, 32> Values;

		if (Index.empty())
			return;
		for (auto &[G, N] : Index)
			Values.push_back(G);
		// not a constant: nobody may look through it
		auto *Table = new GlobalVariable(
		        M, T, false, GlobalValue::InternalLinkage,
		        ConstantArray::get(T, Values), CAIRN_IR_EXTERNS);
		for (auto &[L, N] : Loads) {
			Constant *Indices[2] = {
			        ConstantInt::get(
			                Type::getInt64Ty(M.getContext()), 0),
			        ConstantInt::get(
			                Type::getInt64Ty(M.getContext()), N)};
			L->setOperand(0, ConstantExpr::getGetElementPtr(
			                         T, Table, Indices));
		}
	}
};

// --- the second stack
// --------------------------------------------------------------

class SecondStack
{
	Function &F;
	const DataLayout &Layout;
	IRBuilder<> B;
	Constant *Top; // where the top of it is

	// What is private is cleared at the entry, by a store for each part.
	static constexpr uint64_t MostPrivate = 256;

	bool isSmall(const AllocaInst &A)
	{
		auto Size = A.getAllocationSize(Layout);

		return Size && !Size->isScalable() &&
		       Size->getFixedValue() <= MostPrivate;
	}

	// Only loads and stores at constant places within it?
	bool isPrivate(const AllocaInst &A, const Value &At, uint64_t Offset)
	{
		auto Size = A.getAllocationSize(Layout);
		auto fits = [&](Type *T) {
			return Size && !Size->isScalable() &&
			       Offset + Layout.getTypeStoreSize(T) <=
			               Size->getFixedValue();
		};

		for (const Use &U : At.uses()) {
			auto *I = U.getUser();
			if (auto *L = dyn_cast<LoadInst>(I)) {
				if (!fits(L->getType()))
					return false;
			} else if (auto *S = dyn_cast<StoreInst>(I)) {
				if (U.getOperandNo() != 1 ||
				    !fits(S->getValueOperand()->getType()))
					return false;
			} else if (auto *G = dyn_cast<GetElementPtrInst>(I)) {
				APInt Step(64, 0);
				if (!G->accumulateConstantOffset(Layout,
				                                 Step) ||
				    Step.isNegative() || Step.ugt(1 << 30) ||
				    !isPrivate(A, *G,
				               Offset + Step.getZExtValue()))
					return false;
			} else {
				return false;
			}
		}
		return true;
	}

	Value *loadTop()
	{
		return B.CreateLoad(B.getInt64Ty(), Top);
	}

	void storeTop(Value *V)
	{
		B.CreateStore(V, Top);
	}

	Value *below(Value *From, Value *Bytes, Align A)
	{
		return B.CreateAnd(B.CreateSub(From, Bytes),
		                   ConstantInt::getSigned(B.getInt64Ty(),
		                                          -int64_t(A.value())));
	}

	SmallVector<AllocaInst *, 8> Fixed, Varying, Private;
	SmallVector<IntrinsicInst *, 4> Saves, Restores;
	SmallVector<Instruction *, 4> ComesBack; // pads and calls that return
	                                         // twice
	SmallVector<Instruction *, 4> Ends; // returns, or tail calls before
	bool ReturnsTwice = false;

	// Of coroutines they stand behind other code.
	void gatherAllocas()
	{
		BasicBlock &Entry = F.getEntryBlock();
		Instruction *First = &*Entry.getFirstNonPHIOrDbgOrAlloca();

		for (Instruction &I : make_early_inc_range(Entry)) {
			auto *A = dyn_cast<AllocaInst>(&I);

			if (A && A->isStaticAlloca() && First->comesBefore(A))
				A->moveBefore(First);
		}
	}

	void look()
	{
		// what setjmp finds must be in the shadow, too
		ReturnsTwice = any_of(instructions(F), returnsTwice);
		for (Instruction &I : instructions(F)) {
			auto *A = dyn_cast<AllocaInst>(&I);
			auto *In = dyn_cast<IntrinsicInst>(&I);

			if (A && A->isStaticAlloca()) {
				(!ReturnsTwice && isSmall(*A) &&
				                 isPrivate(*A, *A, 0)
				         ? Private
				         : Fixed)
				        .push_back(A);
			} else if (A) {
				Varying.push_back(A);
			} else if (In && In->getIntrinsicID() ==
			                         Intrinsic::stacksave) {
				Saves.push_back(In);
			} else if (In && In->getIntrinsicID() ==
			                         Intrinsic::stackrestore) {
				Restores.push_back(In);
			} else if (returnsTwice(I)) {
				ComesBack.push_back(&I);
			} else if (isa<LandingPadInst>(I)) {
				ComesBack.push_back(&I);
			} else if (auto *R = dyn_cast<ReturnInst>(&I)) {
				Instruction *Tail = tailCallOf(*R);

				Ends.push_back(Tail ? Tail : R);
			}
		}
	}

	// Their places below Base, which is at the end of them.
	uint64_t layOut(SmallVectorImpl<uint64_t> &At, Align &Most)
	{
		uint64_t Size = ReturnsTwice ? 16 : 0;

		Most = Align(16);
		for (AllocaInst *A : Fixed) {
			Align Own = std::max(
			        A->getAlign(),
			        Layout.getPrefTypeAlign(A->getAllocatedType()));
			uint64_t Bytes =
			        A->getAllocationSize(Layout)->getFixedValue();

			Size = alignTo(Size, Own);
			At.push_back(Size);
			Size += Bytes ? Bytes : 1;
			Most = std::max(Most, Own);
		}
		return alignTo(Size, Most);
	}

	void replaceAlloca(AllocaInst *A, Value *Address)
	{
		Address->takeName(A);
		A->replaceAllUsesWith(Address);
		A->eraseFromParent();
	}

	void vary(AllocaInst *A, AllocaInst *Current)
	{
		B.SetInsertPoint(A);
		Type *T = A->getAllocatedType();
		Value *Count =
		        B.CreateZExtOrTrunc(A->getArraySize(), B.getInt64Ty());
		Value *Bytes = B.CreateMul(
		        Count, B.getInt64(Layout.getTypeAllocSize(T)));
		Value *New = below(loadTop(), Bytes,
		                   std::max(Align(16), A->getAlign()));

		storeTop(New);
		B.CreateStore(New, Current);
		replaceAlloca(A, B.CreateIntToPtr(New, A->getType()));
	}

	void saveAndRestore(AllocaInst *Current)
	{
		for (IntrinsicInst *I : Saves) {
			B.SetInsertPoint(I);
			I->replaceAllUsesWith(
			        B.CreateIntToPtr(loadTop(), I->getType()));
			I->eraseFromParent();
		}
		for (IntrinsicInst *I : Restores) {
			B.SetInsertPoint(I);
			Value *To = B.CreatePtrToInt(I->getArgOperand(0),
			                             B.getInt64Ty());
			storeTop(To);
			B.CreateStore(To, Current);
			I->eraseFromParent();
		}
	}

	// With zeros in all leaves, and in the padding between: a copy of the
	// whole has that, too, and the code generator may leave there what it
	// likes.
	void clear(AllocaInst *A, Type *T)
	{
		BitVector Covered(Layout.getTypeAllocSize(T).getFixedValue());
		SmallVector<unsigned, 4> Path;

		eachLeaf(T, Path, [&](ArrayRef<unsigned> At) {
			Type *Leaf = At.empty()
			                     ? T
			                     : ExtractValueInst::getIndexedType(
			                               T, At);
			Value *P = leafPointer(B, T, A, At);
			APInt Offset(64, 0);

			cast<GEPOperator>(P)->accumulateConstantOffset(Layout,
			                                               Offset);
			Covered.set(Offset.getZExtValue(),
			            Offset.getZExtValue() +
			                    Layout.getTypeStoreSize(Leaf)
			                            .getFixedValue());
			B.CreateAlignedStore(Constant::getNullValue(Leaf), P,
			                     Align(1));
		});
		Covered.flip();
		for (unsigned Byte : Covered.set_bits())
			B.CreateAlignedStore(
			        B.getInt8(0),
			        B.CreateConstGEP1_64(B.getInt8Ty(), A, Byte),
			        Align(1));
	}

	// What nobody has written yet must not be what was there before.
	void clearPrivate()
	{
		B.SetInsertPoint(
		        &*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
		for (AllocaInst *A : Private) {
			Type *T = A->getAllocatedType();

			if (A->isArrayAllocation())
				T = ArrayType::get(
				        T, cast<ConstantInt>(A->getArraySize())
				                   ->getZExtValue());
			clear(A, T);
		}
	}

	// Behind what comes back from deeper calls: as it was.
	void comeBack(Instruction *I, AllocaInst *Current, Value *Base)
	{
		Instruction *Next = I->getNextNode();

		if (auto *Invoke = dyn_cast<InvokeInst>(I))
			Next = &*Invoke->getNormalDest()->getFirstInsertionPt();
		if (Current && returnsTwice(*I)) {
			comeBackTo(I, Next, Current);
			return;
		}
		B.SetInsertPoint(Next);
		storeTop(Current ? B.CreateLoad(B.getInt64Ty(), Current)
		                 : Base);
	}

	// longjmp takes the stack back to where it was at setjmp.
	void comeBackTo(Instruction *I, Instruction *Next, AllocaInst *Current)
	{
		auto *There = new AllocaInst(B.getInt64Ty(), 0, "",
		                             F.getEntryBlock().begin());

		B.SetInsertPoint(I);
		B.CreateStore(loadTop(), There);
		B.SetInsertPoint(Next);
		Value *At = B.CreateLoad(B.getInt64Ty(), There);

		storeTop(At); // first: record.c asks for the top behind it
		B.CreateStore(At, Current);
	}

      public:
	SecondStack(Function &F, Constant *Top)
	    : F(F), Layout(F.getDataLayout()), B(F.getContext()), Top(Top)
	{
	}

	void run()
	{
		SmallVector<uint64_t, 8> At;
		Align Most;

		gatherAllocas();
		look();
		clearPrivate();
		if (Fixed.empty() && Varying.empty() && ComesBack.empty())
			return;
		B.SetInsertPoint(
		        &*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
		Instruction *Behind = &*B.GetInsertPoint();
		Value *Old = loadTop();
		uint64_t Size = layOut(At, Most);
		Value *Base = Size ? below(Old, B.getInt64(Size), Most) : Old;
		AllocaInst *Current = nullptr;

		if (Size)
			storeTop(Base);
		for (size_t I = 0; I < Fixed.size(); I++)
			replaceAlloca(
			        Fixed[I],
			        B.CreateIntToPtr(
			                B.CreateAdd(Base, B.getInt64(At[I])),
			                Fixed[I]->getType()));
		if (!Varying.empty() || !Restores.empty()) {
			BasicBlock &Entry = F.getEntryBlock();
			Current = new AllocaInst(B.getInt64Ty(), 0, "",
			                         Entry.begin());
			B.SetInsertPoint(Behind);
			B.CreateStore(Base, Current);
		}
		for (AllocaInst *A : Varying)
			vary(A, Current);
		saveAndRestore(Current);
		for (Instruction *I : ComesBack)
			comeBack(I, Current, Base);
		if (Size || Current)
			for (Instruction *End : Ends) {
				B.SetInsertPoint(End);
				storeTop(Old);
			}
	}
};

} // namespace

// --- all of it
// ---------------------------------------------------------------------

static Constant *topOfStack(Module &M, bool IsExecutable)
{
	Type *I64 = Type::getInt64Ty(M.getContext());
	auto *T = ArrayType::get(I64, CAIRN_RECORD_WORDS);
	auto *G = M.getNamedGlobal(CAIRN_RT_RECORD);

	if (!G)
		G = new GlobalVariable(
		        M, T, false, GlobalValue::ExternalLinkage, nullptr,
		        CAIRN_RT_RECORD, nullptr,
		        IsExecutable ? GlobalValue::LocalExecTLSModel
		                     : GlobalValue::InitialExecTLSModel);
	Constant *At = ConstantInt::get(I64, CAIRN_RECORD_STACK);
	return ConstantExpr::getInBoundsGetElementPtr(
	        Type::getInt8Ty(M.getContext()), G, At);
}

static void noteFinal(Function &F)
{
	if (!F.isVarArg() && F.isDSOLocal() && !F.isInterposable() &&
	    F.hasExactDefinition())
		F.addFnAttr(CAIRN_IR_FINAL);
}

// --- order of arithmetic
// ------------------------------------------------------

// Does anything but a call by name use a function?
static bool isPointedAt(const Function &F)
{
	return any_of(F.uses(), [](const Use &U) {
		auto *Call = dyn_cast<CallBase>(U.getUser());

		return !Call || !Call->isCallee(&U);
	});
}

static bool isByPointer(const CallBase &Call)
{
	return !Call.isInlineAsm() &&
	       !isa<GlobalValue>(Call.getCalledOperand());
}

// Calls of functions that change how arithmetic rounds say so themselves: the
// functions will be pointers from a table (Externs).  Where the unit uses the
// address of such a function, each call of a pointer may be one.
static void noteChanges(Module &M)
{
	bool ByPointer = any_of(M, [](Function &F) {
		return ir_function_changes_env(wrap(&F)) && isPointedAt(F);
	});

	for (Function &F : M)
		for (Instruction &I : instructions(F)) {
			auto *Call = dyn_cast<CallBase>(&I);

			if (!Call || Call->isInlineAsm() ||
			    isa<IntrinsicInst>(Call))
				continue;
			if (ir_changes_env(wrap(Call)) ||
			    (ByPointer && isByPointer(*Call)))
				Call->addFnAttr(Attribute::get(
				        M.getContext(), CAIRN_IR_ROUNDS));
		}
}

// Code that changes how arithmetic rounds: what is computed before and what
// behind it, each compilation would decide for itself.  In functions that do
// so, or call one of the unit that does, arithmetic keeps its place.
static SmallPtrSet<Function *, 8> changersOf(Module &M)
{
	SmallPtrSet<Function *, 8> Changers;
	SmallVector<Function *, 8> Work;

	for (Function &F : M)
		for (Instruction &I : instructions(F))
			if (ir_changes_env(wrap(&I)) &&
			    Changers.insert(&F).second)
				Work.push_back(&F);
	while (!Work.empty())
		for (User *U : Work.pop_back_val()->users())
			if (auto *Call = dyn_cast<CallBase>(U))
				if (Changers.insert(Call->getFunction()).second)
					Work.push_back(Call->getFunction());
	return Changers;
}

static Intrinsic::ID orderedIntrinsic(const Instruction &I)
{
	auto *Known = dyn_cast<IntrinsicInst>(&I);

	if (Known && Known->getIntrinsicID() == Intrinsic::sqrt)
		return Intrinsic::experimental_constrained_sqrt;
	if (Known && Known->getIntrinsicID() == Intrinsic::fma)
		return Intrinsic::experimental_constrained_fma;
	return Intrinsic::not_intrinsic;
}

// The same instruction, in its place; nullptr: it need not keep it.
static Value *ordered(IRBuilder<> &B, Instruction &I)
{
	auto Operand = [&](unsigned N) { return I.getOperand(N); };

	switch (I.getOpcode()) {
	case Instruction::FAdd:
		return B.CreateFAdd(Operand(0), Operand(1));
	case Instruction::FSub:
		return B.CreateFSub(Operand(0), Operand(1));
	case Instruction::FMul:
		return B.CreateFMul(Operand(0), Operand(1));
	case Instruction::FDiv:
		return B.CreateFDiv(Operand(0), Operand(1));
	case Instruction::FPTrunc:
	case Instruction::FPExt:
	case Instruction::SIToFP:
	case Instruction::UIToFP:
	case Instruction::FPToSI:
	case Instruction::FPToUI:
		return B.CreateCast(cast<CastInst>(I).getOpcode(), Operand(0),
		                    I.getType());
	case Instruction::FCmp:
		return B.CreateFCmp(cast<FCmpInst>(I).getPredicate(),
		                    Operand(0), Operand(1));
	case Instruction::Call:
		if (auto ID = orderedIntrinsic(I)) {
			SmallVector<Value *, 4> Args(cast<CallInst>(I).args());

			return B.CreateConstrainedFPCall(
			        Intrinsic::getDeclaration(I.getModule(), ID,
			                                  {I.getType()}),
			        Args);
		}
		return nullptr;
	default:
		return nullptr;
	}
}

static void orderArithmetic(Function &F)
{
	IRBuilder<> B(F.getContext());

	B.setIsFPConstrained(true);
	B.setDefaultConstrainedRounding(RoundingMode::Dynamic);
	B.setDefaultConstrainedExcept(fp::ebStrict);
	for (Instruction &I : make_early_inc_range(instructions(F))) {
		B.SetInsertPoint(&I);
		if (Value *V = ordered(B, I)) {
			I.replaceAllUsesWith(V);
			I.eraseFromParent();
		}
	}
}

void canonical_module(LLVMModuleRef Module, bool IsExecutable)
{
	auto &M = *unwrap(Module);
	auto HasMarks = [](Function &F) { return ir_has_marks(wrap(&F)); };
	Constant *Top = topOfStack(M, IsExecutable);

	forkInstead(M);
	for (Function &F : M)
		if (F.hasAvailableExternallyLinkage()) {
			F.deleteBody(); // another unit has it
			F.setComdat(nullptr);
		}
	noteChanges(M);
	auto Changers = changersOf(M);
	for (Function &F : M)
		if (HasMarks(F))
			returnResults(F); // before facts are gone
	for (Function &F : M) {
		if (!F.isIntrinsic())
			F.setAttributes(withoutFacts(F.getAttributes(),
			                             M.getContext()));
		if (!HasMarks(F))
			continue;
		noteFinal(F);
		decide(F);
		if (Changers.contains(&F))
			orderArithmetic(F);
		copyArguments(F);
		expandCopies(F);
		numberLabels(F);
		keepInMemory(F);
		splitStructures(F);
		findTails(F);
		SecondStack(F, Top).run();
	}
	addressThreadLocals(M, HasMarks);
	Externs(M, IsExecutable).replace(HasMarks);
	findHandsOn(M);
}

// What the processor puts on the stack for a handler of interrupts may be of an
// incomplete type.  The code generator takes it for an empty one; the replayer
// reads the IR only if it says so.
static void completeArguments(Function &F)
{
	for (Argument &A : F.args()) {
		Type *T = A.getParamByValType();

		if (!T || T->isSized())
			continue;
		A.removeAttr(Attribute::ByVal);
		A.addAttr(Attribute::getWithByValType(
		        F.getContext(), StructType::get(F.getContext())));
	}
}

void canonical_leave_out(LLVMValueRef Value)
{
	auto &F = *unwrap<Function>(Value);

	F.addFnAttr(CAIRN_IR_LEFT_OUT);
	completeArguments(F);
}

// Of a call that has to be a tail call.
static const char *whyNoTail(const CallBase &Call)
{
	const Function &F = *Call.getFunction();

	if (F.isVarArg())
		return "hands on a variable number of arguments";
	if (F.callsFunctionThatReturnsTwice())
		return "calls setjmp, and makes a guaranteed tail call "
		       "(musttail)";
	if (takesCopies(Call))
		return "makes a guaranteed tail call (musttail) with a "
		       "structure in memory as an argument";
	return nullptr;
}

const char *canonical_why_not(LLVMValueRef Value)
{
	auto &F = *unwrap<Function>(Value);

	if (shim_is_called_unseen(Value))
		return "the code generator calls it unseen";
	for (Argument &A : F.args())
		if (A.hasInAllocaAttr() || A.hasPreallocatedAttr() ||
		    A.hasAttribute(Attribute::SwiftError))
			return "has arguments that only the code generator "
			       "sees";
	for (Instruction &I : instructions(F)) {
		auto *Call = dyn_cast<CallBase>(&I);

		if (isa<VAArgInst>(I))
			return "uses va_arg of the IR";
		if (I.getType()->isScalableTy() || I.getType()->isX86_AMXTy())
			return "uses types without a size in memory";
		if (Call && Call->hasOperandBundles())
			return "has calls with operand bundles";
		if (Call && Call->isMustTailCall())
			if (const char *Why = whyNoTail(*Call))
				return Why;
	}
	return nullptr;
}
