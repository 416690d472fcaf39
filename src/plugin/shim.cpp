// SPDX-License-Identifier: Apache-2.0
//
// What LLVM-C lacks, wrapped in C: shim.h has the contracts.
#include "plugin/shim.hpp"

#include "abi/map.h"
#include "abi/record.h"
#include "abi/rt.h"
#include "ir/assembly.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PseudoProbe.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

// --- analyses ---------------------------------------------------------------

void shim_prepare(struct shim *s, LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);
	s->Frequencies = &s->Analyses.getResult<BlockFrequencyAnalysis>(F);
	s->Probabilities = &s->Analyses.getResult<BranchProbabilityAnalysis>(F);
}

uint64_t shim_edge_frequency(struct shim *s, LLVMBasicBlockRef block,
                             unsigned k)
{
	BasicBlock *B = unwrap(block);
	BlockFrequency Frequency = s->Frequencies->getBlockFreq(B);

	if (k < B->getTerminator()->getNumSuccessors())
		Frequency *= s->Probabilities->getEdgeProbability(B, k);
	return Frequency.getFrequency();
}

// --- changes to the IR that LLVM-C cannot make -------------------------------

LLVMBasicBlockRef shim_split_edge(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
	BasicBlock *From = unwrap(from), *To = unwrap(to);
	Function *F = From->getParent();
	BasicBlock *New =
	        BasicBlock::Create(F->getContext(), "cairn.edge", F, To);
	BranchInst *Br = BranchInst::Create(To, New);

	// Its jumps go to addresses, not to what stands in its list.
	if (isa<IndirectBrInst>(From->getTerminator()))
		report_fatal_error("cairn: cannot split a computed goto");

	Br->setDebugLoc(From->getTerminator()->getDebugLoc());
	From->getTerminator()->replaceSuccessorWith(To, New);
	for (PHINode &Phi : To->phis()) {
		int I = Phi.getBasicBlockIndex(From);
		Phi.setIncomingBlock(unsigned(I), New);
		while ((I = Phi.getBasicBlockIndex(From)) >= 0)
			Phi.removeIncomingValue(unsigned(I), false);
	}
	return wrap(New);
}

LLVMBasicBlockRef shim_split_pad(LLVMBasicBlockRef from)
{
	BasicBlock *From = unwrap(from);
	BasicBlock *Pad =
	        cast<InvokeInst>(From->getTerminator())->getUnwindDest();
	SmallVector<BasicBlock *, 2> New;

	if (!Pad->getUniquePredecessor())
		SplitLandingPadPredecessors(Pad, From, ".cairn", ".rest", New);
	return wrap(cast<InvokeInst>(From->getTerminator())->getUnwindDest());
}

LLVMBasicBlockRef shim_split_before(LLVMValueRef instruction)
{
	Instruction *I = unwrap<Instruction>(instruction);

	return wrap(I->getParent()->splitBasicBlock(I, "cairn.body"));
}

LLVMValueRef shim_insertion_point(LLVMBasicBlockRef block)
{
	BasicBlock *B = unwrap(block);

	return wrap(&*B->getFirstInsertionPt());
}

LLVMValueRef shim_after_allocas(LLVMValueRef f)
{
	BasicBlock &Entry = unwrap<Function>(f)->getEntryBlock();
	Instruction *Place = &*Entry.getFirstInsertionPt();

	while (isa<AllocaInst>(Place))
		Place = Place->getNextNode();
	for (Instruction *I = Place, *Next; I; I = Next) {
		Next = I->getNextNode();
		if (auto *Alloca = dyn_cast<AllocaInst>(I))
			if (isa<ConstantInt>(Alloca->getArraySize()))
				Alloca->moveBefore(Place);
	}
	return wrap(Place);
}

static bool isBuiltinSetjmp(const Instruction &I)
{
	auto *Call = dyn_cast<IntrinsicInst>(&I);

	return Call && Call->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
}

// Inline assembly that calls, returns or jumps away.  It is noted before there
// is any of ours, some of which calls the runtime.
static const char Leaves[] = "cairn-leaves";

static bool leavesInAssembly(const Instruction &I)
{
	auto *Call = dyn_cast<CallBase>(&I);

	return Call && Call->isInlineAsm() &&
	       Call->getAttributes().hasFnAttr(Leaves);
}

void shim_note_assembly(LLVMModuleRef module)
{
	for (Function &F : *unwrap(module))
		for (BasicBlock &B : F)
			for (Instruction &I : B) {
				auto *Call = dyn_cast<CallBase>(&I);

				if (!Call || !Call->isInlineAsm())
					continue;
				StringRef Text =
				        cast<InlineAsm>(
				                Call->getCalledOperand())
				                ->getAsmString();
				if (ir_assembly_leaves(Text.data(),
				                       Text.size()))
					Call->addFnAttr(Attribute::get(
					        I.getContext(), Leaves));
			}
}

// Declarations of functions like sqrt keep what is said of them: it makes
// instructions of their calls.
static void keepCall(CallBase &Call)
{
	Function *Callee = Call.getCalledFunction();

	if (isa<IntrinsicInst>(Call) || Call.isInlineAsm())
		return;
	if (Callee && !Callee->isDeclaration())
		Call.removeFnAttr(Attribute::Memory);
	if (!Call.use_empty() || Call.mayWriteToMemory())
		return;
	Call.removeFnAttr(Attribute::Memory);
	if (Callee)
		Callee->removeFnAttr(Attribute::Memory);
}

void shim_keep_calls(LLVMModuleRef module)
{
	for (Function &F : *unwrap(module)) {
		if (F.isDeclaration())
			continue;
		F.removeFnAttr(Attribute::Memory);
		for (Instruction &I : instructions(F))
			if (auto *Call = dyn_cast<CallBase>(&I))
				keepCall(*Call);
	}
}

bool shim_is_call(LLVMValueRef instruction)
{
	auto *Call = dyn_cast<CallBase>(unwrap(instruction));

	if (!Call || isa<CallBrInst>(Call))
		return false;
	if (Call->isInlineAsm())
		return leavesInAssembly(*Call);
	return !isa<IntrinsicInst>(Call) || isBuiltinSetjmp(*Call);
}

bool shim_is_quiet(LLVMValueRef instruction)
{
	Instruction *I = unwrap<Instruction>(instruction);

	if (auto *Call = dyn_cast<CallBase>(I))
		return isa<IntrinsicInst>(Call) && Call->doesNotThrow() &&
		       Call->hasFnAttr(Attribute::WillReturn);
	return !I->isAtomic() && !I->isVolatile();
}

bool shim_has_address_taken(LLVMBasicBlockRef block)
{
	return unwrap(block)->hasAddressTaken();
}

int64_t shim_step_of(LLVMValueRef phi, LLVMBasicBlockRef latch)
{
	PHINode *Phi = unwrap<PHINode>(phi);
	Value *Next = Phi->getIncomingValueForBlock(unwrap(latch));
	Type *T = Phi->getType();

	if (auto *Gep = dyn_cast<GEPOperator>(Next); Gep && T->isPointerTy()) {
		const DataLayout &Layout = Phi->getModule()->getDataLayout();
		APInt Offset(Layout.getIndexTypeSizeInBits(T), 0);

		if (Gep->getPointerOperand() == Phi &&
		    Gep->accumulateConstantOffset(Layout, Offset))
			return Offset.getSExtValue();
		return 0;
	}
	auto *Add = dyn_cast<BinaryOperator>(Next);
	if (!(T->isIntegerTy(32) || T->isIntegerTy(64)) || !Add ||
	    Add->getOpcode() != Instruction::Add || Add->getOperand(0) != Phi)
		return 0;
	auto *Step = dyn_cast<ConstantInt>(Add->getOperand(1));
	return Step ? Step->getSExtValue() : 0;
}

LLVMValueRef shim_edge_place(LLVMBasicBlockRef from, unsigned k)
{
	BasicBlock *From = unwrap(from);
	BasicBlock *To = From->getTerminator()->getSuccessor(k);

	if (!To->getUniquePredecessor())
		To = unwrap(shim_split_edge(from, wrap(To)));
	return wrap(&*To->getFirstInsertionPt());
}

void shim_copy_loop(LLVMBasicBlockRef head, LLVMBasicBlockRef latch,
                    LLVMValueRef choose, LLVMBasicBlockRef *copied_before,
                    LLVMBasicBlockRef *copied_head,
                    LLVMBasicBlockRef *copied_latch)
{
	BasicBlock *Head = unwrap(head);
	DominatorTree Tree(*Head->getParent());
	LoopInfo Loops(Tree);
	Loop *L = Loops.getLoopFor(Head);
	ValueToValueMapTy Map;
	SmallVector<BasicBlock *, 8> Blocks, Exits;

	formLCSSA(*L, Tree, &Loops, nullptr);
	BasicBlock *Before = L->getLoopPreheader();
	BasicBlock *Short =
	        SplitBlock(Before, Before->getTerminator(), &Tree, &Loops);
	Loop *Copy = cloneLoopWithPreheader(Short, Before, L, Map, ".long",
	                                    &Loops, &Tree, Blocks);
	remapInstructionsInBlocks(Blocks, Map);
	Before->getTerminator()->eraseFromParent();
	auto *Branch = BranchInst::Create(Copy->getLoopPreheader(), Short,
	                                  unwrap(choose), Before);
	shim_set_unlikely(wrap(Branch));

	L->getUniqueExitBlocks(Exits);
	for (BasicBlock *Exit : Exits)
		for (PHINode &Phi : Exit->phis())
			for (unsigned I = 0, N = Phi.getNumIncomingValues();
			     I < N; I++) {
				Value *From =
				        Map.lookup(Phi.getIncomingBlock(I));
				Value *V = Phi.getIncomingValue(I);

				if (!From)
					continue;
				if (Value *Copied = Map.lookup(V))
					V = Copied;
				Phi.addIncoming(V, cast<BasicBlock>(From));
			}
	*copied_before = wrap(Copy->getLoopPreheader());
	*copied_head = wrap(cast<BasicBlock>(Map[Head]));
	*copied_latch = wrap(cast<BasicBlock>(Map[unwrap(latch)]));
}

// Functions of libc that call nothing: memory, strings, characters, numbers.
// A program may have its own, with marks: its trace is still read right, but
// they stand before the history of their caller.
bool shim_calls_nothing(LLVMValueRef call)
{
	static const StringSet<> Names = {"memcpy",
	                                  "memmove",
	                                  "memset",
	                                  "memcmp",
	                                  "memchr",
	                                  "memrchr",
	                                  "bcmp",
	                                  "strlen",
	                                  "strnlen",
	                                  "strcmp",
	                                  "strncmp",
	                                  "strcpy",
	                                  "stpcpy",
	                                  "strncpy",
	                                  "strcat",
	                                  "strncat",
	                                  "strchr",
	                                  "strrchr",
	                                  "strstr",
	                                  "strspn",
	                                  "strcspn",
	                                  "strpbrk",
	                                  "strcasecmp",
	                                  "strncasecmp",
	                                  "tolower",
	                                  "toupper",
	                                  "isalpha",
	                                  "isdigit",
	                                  "isalnum",
	                                  "isspace",
	                                  "isupper",
	                                  "islower",
	                                  "ispunct",
	                                  "isxdigit",
	                                  "isprint",
	                                  "abs",
	                                  "labs",
	                                  "sqrt",
	                                  "sqrtf",
	                                  "sin",
	                                  "sinf",
	                                  "cos",
	                                  "cosf",
	                                  "tan",
	                                  "tanf",
	                                  "asin",
	                                  "acos",
	                                  "atan",
	                                  "atan2",
	                                  "atan2f",
	                                  "sinh",
	                                  "cosh",
	                                  "tanh",
	                                  "exp",
	                                  "expf",
	                                  "exp2",
	                                  "log",
	                                  "logf",
	                                  "log2",
	                                  "log10",
	                                  "pow",
	                                  "powf",
	                                  "fmod",
	                                  "fmodf",
	                                  "floor",
	                                  "floorf",
	                                  "ceil",
	                                  "ceilf",
	                                  "round",
	                                  "roundf",
	                                  "trunc",
	                                  "truncf",
	                                  "fabs",
	                                  "fabsf",
	                                  "ldexp",
	                                  "frexp",
	                                  "modf",
	                                  "fmin",
	                                  "fmax",
	                                  "lrint",
	                                  "lround",
	                                  "rint",
	                                  "nearbyint",
	                                  "cbrt",
	                                  "hypot",
	                                  "__ctype_b_loc",
	                                  "__ctype_tolower_loc",
	                                  "__ctype_toupper_loc",
	                                  "__errno_location"};
	const Function *To = unwrap<CallBase>(call)->getCalledFunction();

	return To && To->isDeclaration() && Names.contains(To->getName());
}

bool shim_always_returns(LLVMValueRef call)
{
	auto *Call = unwrap<CallBase>(call);

	return Call->doesNotThrow() && Call->hasFnAttr(Attribute::WillReturn);
}

static CallBase *addDeopt(CallBase *Old, ArrayRef<Value *> Values)
{
	OperandBundleDef Deopt("deopt", Values);
	CallBase *New = CallBase::addOperandBundle(Old, LLVMContext::OB_deopt,
	                                           Deopt, Old->getIterator());

	New->copyMetadata(*Old);
	New->takeName(Old);
	Old->replaceAllUsesWith(New);
	Old->eraseFromParent();
	return New;
}

LLVMValueRef shim_add_site(LLVMValueRef call, uint32_t id, LLVMValueRef value)
{
	auto *Call = unwrap<CallBase>(call);

	if (Call->getOperandBundle(LLVMContext::OB_deopt)) {
		CallBase *Bare = CallBase::removeOperandBundle(
		        Call, LLVMContext::OB_deopt, Call->getIterator());
		Bare->copyMetadata(*Call);
		Bare->takeName(Call);
		Call->replaceAllUsesWith(Bare);
		Call->eraseFromParent();
		Call = Bare;
	}
	SmallVector<Value *, 1> Values;
	if (value)
		Values.push_back(unwrap(value));
	CallBase *New = addDeopt(Call, Values);

	New->addFnAttr(Attribute::get(New->getContext(), "statepoint-id",
	                              std::to_string(id)));
	return wrap(New);
}

bool shim_site_constant(LLVMValueRef call, LLVMValueRef symbol, uint64_t *value)
{
	auto *Call = unwrap<CallBase>(call);
	Value *V = Call->getOperandBundle(LLVMContext::OB_deopt)->Inputs[0];
	const DataLayout &Layout = Call->getModule()->getDataLayout();

	if (auto *Number = dyn_cast<ConstantInt>(V)) {
		*value = Number->getZExtValue();
		return true;
	}
	auto *Cast = dyn_cast<ConstantExpr>(V);
	if (!Cast || Cast->getOpcode() != Instruction::PtrToInt)
		return false;
	APInt Offset(64, 0);
	const Value *Base =
	        Cast->getOperand(0)->stripAndAccumulateConstantOffsets(
	                Layout, Offset, true);
	*value = Offset.getZExtValue();
	return Base == unwrap(symbol);
}

void shim_keep_apart(LLVMValueRef call)
{
	unwrap<CallBase>(call)->addFnAttr(Attribute::NoMerge);
}

bool shim_find_returns_twice(LLVMModuleRef module)
{
	// as the front end does, unless -fno-builtin says it must not
	static const char *const Names[] = {
	        "setjmp",     "_setjmp",     "__setjmp", "sigsetjmp",
	        "_sigsetjmp", "__sigsetjmp", "vfork",    "__vfork",
	        "getcontext", "savectx"};
	bool HasChanged = false;

	for (const char *Name : Names) {
		Function *F = unwrap(module)->getFunction(Name);

		if (!F || !F->isDeclaration() ||
		    F->hasFnAttribute(Attribute::ReturnsTwice))
			continue;
		F->addFnAttr(Attribute::ReturnsTwice);
		HasChanged = true;
	}
	return HasChanged;
}

bool shim_returns_twice(LLVMValueRef call)
{
	return unwrap<CallBase>(call)->hasFnAttr(Attribute::ReturnsTwice);
}

LLVMValueRef shim_place(LLVMValueRef before)
{
	IRBuilder<> Builder(unwrap<Instruction>(before));

	Builder.SetCurrentDebugLocation(DebugLoc());
	return wrap(Builder.CreateIntrinsic(Intrinsic::donothing, {}, {}));
}

bool shim_is_place(LLVMValueRef instruction)
{
	auto *I = dyn_cast<IntrinsicInst>(unwrap(instruction));

	return I && I->getIntrinsicID() == Intrinsic::donothing;
}

void shim_keep_tails_apart(void)
{
	auto &Options = cl::getRegisteredOptions();
	auto Found = Options.find("enable-tail-merge");

	if (Found != Options.end())
		static_cast<cl::opt<cl::boolOrDefault> *>(Found->second)
		        ->setValue(cl::BOU_FALSE);
}

void shim_promote(LLVMValueRef variable)
{
	auto *Variable = unwrap<AllocaInst>(variable);
	DominatorTree Tree(*Variable->getFunction());

	PromoteMemToReg({Variable}, Tree);
}

// Of what a block gets from computed gotos, and what from other ways in.
static void landGotos(BasicBlock *To)
{
	SmallPtrSet<BasicBlock *, 8> Gotos;
	bool HasOthers = false;

	for (BasicBlock *From : predecessors(To))
		if (isa<IndirectBrInst>(From->getTerminator()))
			Gotos.insert(From);
		else
			HasOthers = true;
	if (Gotos.empty() || !HasOthers)
		return;
	auto *Landing = BasicBlock::Create(To->getContext(), "cairn.landing",
	                                   To->getParent(), To);
	for (PHINode &Phi : To->phis()) {
		auto *New = PHINode::Create(Phi.getType(), Gotos.size(),
		                            Phi.getName(), Landing);
		for (unsigned I = Phi.getNumIncomingValues(); I-- > 0;) {
			BasicBlock *From = Phi.getIncomingBlock(I);
			if (!Gotos.count(From))
				continue;
			New->addIncoming(Phi.getIncomingValue(I), From);
			Phi.removeIncomingValue(I, false);
		}
		Phi.addIncoming(New, Landing);
	}
	for (BasicBlock *From : Gotos)
		From->getTerminator()->replaceSuccessorWith(To, Landing);
	if (BlockAddress *Address = BlockAddress::lookup(To))
		Address->replaceAllUsesWith(BlockAddress::get(Landing));
	BranchInst::Create(To, Landing);
}

void shim_land_gotos(struct shim *s, LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);
	SmallSetVector<BasicBlock *, 16> Targets;

	for (BasicBlock &B : F)
		if (isa<IndirectBrInst>(B.getTerminator()))
			for (BasicBlock *To : successors(&B))
				Targets.insert(To);
	for (BasicBlock *To : Targets)
		landGotos(To);
	if (!Targets.empty())
		s->Analyses.invalidate(F, PreservedAnalyses::none());
}

// Inlining a call appends the bundles inside to the caller's: the list of a
// call is then the whole stack of inlined functions, three values each.
void shim_add_early_site(LLVMValueRef call, uint64_t key, uint32_t id)
{
	auto *Call = unwrap<CallBase>(call);
	auto *I32 = Type::getInt32Ty(Call->getContext());

	addDeopt(Call, {ConstantInt::get(I32, key & 0x7fffffff),
	                ConstantInt::get(I32, key >> 31 & 0x7fffffff),
	                ConstantInt::get(I32, id)});
}

uint64_t shim_module_key(LLVMModuleRef module)
{
	Module &M = *unwrap(module);
	std::string Name = M.getSourceFileName() + "\n";

	for (const Function &F : M)
		if (!F.isDeclaration() && !F.hasLocalLinkage() &&
		    !F.hasLinkOnceLinkage())
			Name += F.getName().str() + "\n";
	return xxh3_64bits(Name);
}

uint64_t shim_key(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);
	std::string Name = F.getName().str();

	if (F.hasLocalLinkage())
		Name += "\n" + F.getParent()->getSourceFileName() + "\n" +
		        F.getParent()->getModuleIdentifier();
	return xxh3_64bits(Name) >> 2;
}

LLVMValueRef shim_define_counters(LLVMValueRef f, uint32_t n, uint64_t key)
{
	Function &F = *unwrap<Function>(f);
	Module &M = *F.getParent();
	auto *Type = ArrayType::get(Type::getInt64Ty(M.getContext()), n);
	auto *G =
	        new GlobalVariable(M, Type, false, GlobalValue::InternalLinkage,
	                           Constant::getNullValue(Type));

	if (F.hasComdat() && !F.hasLocalLinkage()) {
		G->setName("__cairn_cnt." + F.getName());
		G->setLinkage(GlobalValue::LinkOnceODRLinkage);
		G->setVisibility(GlobalValue::HiddenVisibility);
		G->setComdat(M.getOrInsertComdat(G->getName()));
	} else {
		G->setName("__cairn_cnt." + utohexstr(key));
	}
	G->setSection(CAIRN_COUNTERS_SECTION);
	G->setAlignment(Align(8));
	return wrap(G);
}

LLVMValueRef shim_placeholder(LLVMModuleRef module)
{
	Module &M = *unwrap(module);
	LLVMContext &C = M.getContext();
	auto Callee = M.getOrInsertFunction(
	        PLUGIN_PLACEHOLDER, Type::getVoidTy(C), PointerType::get(C, 0),
	        Type::getInt64Ty(C));
	auto *F = cast<Function>(Callee.getCallee());

	F->setDoesNotThrow();
	F->setWillReturn();
	F->addFnAttr(Attribute::NoCallback);
	F->addFnAttr(Attribute::NoMerge);
	F->setOnlyAccessesInaccessibleMemory();
	return wrap(F);
}

LLVMValueRef shim_add_probe(LLVMValueRef before, uint32_t what)
{
	Instruction *Place = unwrap<Instruction>(before);
	IRBuilder<> Builder(Place);

	Builder.SetCurrentDebugLocation(DebugLoc());
	Place->getModule()->getOrInsertNamedMetadata(
	        PseudoProbeDescMetadataName);
	return wrap(Builder.CreateIntrinsic(
	        Intrinsic::pseudoprobe, {},
	        {Builder.getInt64(1), Builder.getInt64(what),
	         Builder.getInt32(0), Builder.getInt64(0)}));
}

void shim_note_jump(LLVMValueRef jump, const char *where, uint32_t what)
{
	Instruction *I = unwrap<Instruction>(jump);
	LLVMContext &C = I->getContext();

	I->setMetadata(where,
	               MDNode::get(C, ConstantAsMetadata::get(ConstantInt::get(
	                                      Type::getInt32Ty(C), what))));
}

// The one note on a call that the code generator puts on the instruction that
// it makes of it; it has a meaning only in CodeView.
void shim_note_last_call(LLVMValueRef call)
{
	Instruction *I = unwrap<Instruction>(call);
	LLVMContext &C = I->getContext();

	I->setMetadata("heapallocsite",
	               MDNode::get(C, {MDString::get(C, PLUGIN_NOTE)}));
}

uint32_t shim_probed(LLVMValueRef probe)
{
	return uint32_t(
	        unwrap<PseudoProbeInst>(probe)->getIndex()->getZExtValue());
}

void shim_set_probed(LLVMValueRef probe, uint32_t what)
{
	auto *Probe = unwrap<PseudoProbeInst>(probe);

	Probe->setArgOperand(
	        1, ConstantInt::get(Probe->getIndex()->getType(), what));
}

// A note that lasts until the assembly printer sees the machine instruction: a
// scope of aliasing that nothing else refers to, or, for assembly, the place
// that errors in it would be reported at.
void shim_set_around(LLVMValueRef instruction, uint32_t before, uint32_t behind)
{
	Instruction *I = unwrap<Instruction>(instruction);
	LLVMContext &C = I->getContext();
	uint64_t Both = uint64_t(before) << 32 | behind;

	if (isa<CallInst>(I)) {
		auto *What = ConstantInt::get(Type::getInt64Ty(C), Both);
		I->setMetadata("srcloc",
		               MDNode::get(C, {ConstantAsMetadata::get(What),
		                               MDString::get(C, PLUGIN_NOTE)}));
		return;
	}
	I->setMetadata(LLVMContext::MD_mmra,
	               MDNode::get(C, {MDString::get(C, PLUGIN_NOTE),
	                               MDString::get(C, utostr(Both))}));
}

bool shim_may_add_probes(LLVMModuleRef module)
{
	return !unwrap(module)->getNamedMetadata(PseudoProbeDescMetadataName);
}

// Our routine for a function: one that notes dying frames and does what the
// language wants; null if the language is not known to us.
static const char *personalityFor(const Function &F)
{
	if (!F.hasPersonalityFn())
		return CAIRN_RT_PERSONALITY;
	return StringSwitch<const char *>(
	               F.getPersonalityFn()->stripPointerCasts()->getName())
	        .Case("__gxx_personality_v0", CAIRN_RT_GXX_PERSONALITY)
	        .Case("__gcc_personality_v0", CAIRN_RT_GCC_PERSONALITY)
	        .Default(nullptr);
}

bool shim_has_foreign_personality(LLVMValueRef f)
{
	return !personalityFor(*unwrap<Function>(f));
}

void shim_see_through(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);

	F.setMemoryEffects(MemoryEffects::unknown()); // it counts now
	if (!F.hasFnAttribute(Attribute::UWTable))
		F.setUWTableKind(UWTableKind::Async);
}

void shim_prepare_function(LLVMValueRef f, bool needs_personality)
{
	Function &F = *unwrap<Function>(f);
	Module &M = *F.getParent();
	auto personality = [&](const char *Name) {
		auto *Type = FunctionType::get(Type::getInt32Ty(M.getContext()),
		                               true);
		auto Callee = M.getOrInsertFunction(Name, Type);
		auto *G = cast<GlobalValue>(Callee.getCallee());
		G->setVisibility(GlobalValue::HiddenVisibility);
		F.setPersonalityFn(cast<Constant>(Callee.getCallee()));
	};

	F.setGC(PLUGIN_GC);
	F.setMemoryEffects(MemoryEffects::unknown()); // it counts now
	if (!needs_personality)
		return;
	if (!F.hasFnAttribute(Attribute::UWTable))
		F.setUWTableKind(UWTableKind::Async);
	if (const char *Name = personalityFor(F))
		personality(Name);
}

void shim_hook_jumps(LLVMModuleRef module)
{
	Module &M = *unwrap(module);
	Function *Builtin =
	        M.getFunction(Intrinsic::getName(Intrinsic::eh_sjlj_longjmp));

	if (!Builtin)
		return;
	auto Hook = M.getOrInsertFunction(CAIRN_RT_JUMP,
	                                  Builtin->getFunctionType());
	if (auto *F = dyn_cast<Function>(Hook.getCallee())) {
		F->setDoesNotReturn();
		F->setDoesNotThrow();
	}
	for (User *U : make_early_inc_range(Builtin->users())) {
		auto *Call = cast<CallInst>(U);
		Call->setCalledFunction(Hook);
		Call->setTailCall(false);
		Call->addFnAttr(Attribute::get(M.getContext(), SHIM_NAME,
		                               "__builtin_longjmp"));
	}
	Builtin->eraseFromParent();
}

void shim_pin(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);

	F.removeFnAttr(Attribute::AlwaysInline);
	F.addFnAttr(Attribute::NoInline);
}

void shim_keep_out_of_line(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);

	if (!F.hasFnAttribute(Attribute::AlwaysInline))
		F.addFnAttr(Attribute::NoInline);
}

// What a function must not have if it is not to be optimized.
static const Attribute::AttrKind Wishes[] = {Attribute::OptimizeForSize,
                                             Attribute::MinSize};
static const char *const Kept[] = {"cairn.optsize", "cairn.minsize"};
static const char Frozen[] = "cairn.frozen";

void shim_freeze(LLVMModuleRef module)
{
	SmallVector<GlobalValue *, 16> Used; // or arguments would be changed

	for (Function &F : *unwrap(module)) {
		if (!F.hasGC() || F.getGC() != PLUGIN_GC || F.hasOptNone())
			continue;
		for (size_t I = 0; I < std::size(Wishes); I++) {
			if (!F.hasFnAttribute(Wishes[I]))
				continue;
			F.removeFnAttr(Wishes[I]);
			F.addFnAttr(Kept[I]);
		}
		F.addFnAttr(Attribute::OptimizeNone);
		F.addFnAttr(Frozen);
		Used.push_back(&F);
	}
	appendToCompilerUsed(*unwrap(module), Used);
}

void shim_thaw(LLVMModuleRef module)
{
	SmallPtrSet<const Value *, 16> Thawed;

	for (Function &F : *unwrap(module)) {
		if (!F.hasFnAttribute(Frozen))
			continue;
		F.removeFnAttr(Attribute::OptimizeNone);
		F.removeFnAttr(Frozen);
		for (size_t I = 0; I < std::size(Wishes); I++) {
			if (!F.hasFnAttribute(Kept[I]))
				continue;
			F.removeFnAttr(Kept[I]);
			F.addFnAttr(Wishes[I]);
		}
		Thawed.insert(&F);
	}
	removeFromUsedLists(*unwrap(module), [&](Constant *C) {
		return Thawed.count(C->stripPointerCasts());
	});
}

void shim_no_sanitize(LLVMValueRef instruction)
{
	unwrap<Instruction>(instruction)->setNoSanitizeMetadata();
}

void shim_set_element_type(LLVMValueRef call, LLVMTypeRef type)
{
	auto *Call = unwrap<CallBase>(call);

	Call->addParamAttr(0, Attribute::get(Call->getContext(),
	                                     Attribute::ElementType,
	                                     unwrap(type)));
}

void shim_set_unlikely(LLVMValueRef branch)
{
	Instruction *I = unwrap<Instruction>(branch);
	MDBuilder Builder(I->getContext());

	I->setMetadata(LLVMContext::MD_prof,
	               Builder.createBranchWeights(1, 1 << 20));
}

// --- questions ---------------------------------------------------------

// What libc.a calls before threads have memory of their own: its own ifuncs,
// unless the program has functions of these names.
static const char *const CalledByLoader[] = {"memcpy", "memmove", "mempcpy",
                                             "memset", "strlen"};

bool shim_runs_while_loading(LLVMValueRef f)
{
	const Function &F = *unwrap<Function>(f);
	const Module &M = *F.getParent();
	SmallPtrSet<const Function *, 8> Seen;
	SmallVector<const Function *, 8> Stack;

	for (const GlobalIFunc &I : M.ifuncs())
		Stack.push_back(I.getResolverFunction());
	for (const char *Name : CalledByLoader)
		Stack.push_back(M.getFunction(Name));
	while (!Stack.empty()) {
		const Function *Next = Stack.pop_back_val();
		if (Next == &F)
			return true;
		if (!Next || !Seen.insert(Next).second)
			continue;
		for (const BasicBlock &B : *Next)
			for (const Instruction &I : B)
				if (auto *Call = dyn_cast<CallBase>(&I))
					Stack.push_back(
					        Call->getCalledFunction());
	}
	return false;
}

const char *shim_why_not(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);

	if (F.hasFnAttribute(Attribute::Naked))
		return "naked function";
	if (F.isPresplitCoroutine())
		return "coroutine";
	if (F.hasGC() && F.getGC() != PLUGIN_GC)
		return "uses a garbage collector";
	for (BasicBlock &B : F) {
		Instruction *T = B.getTerminator();
		if (isa<CallBrInst>(T))
			return "asm goto";
		if (isa<CatchSwitchInst>(T) || isa<CatchReturnInst>(T) ||
		    isa<CleanupReturnInst>(T))
			return "funclet exception handling";
	}
	return nullptr;
}

using Kind = bool (*)(const Instruction &);

// Has it an instruction of a kind, or will it, once what must be is inlined?
static bool has(const Function &F, Kind Is,
                SmallPtrSetImpl<const Function *> &Seen)
{
	auto hasAfterInlining = [&](const Instruction &I) {
		auto *Call = dyn_cast<CallBase>(&I);
		const Function *To = Call ? Call->getCalledFunction() : nullptr;

		return To && To->hasFnAttribute(Attribute::AlwaysInline) &&
		       Seen.insert(To).second && has(*To, Is, Seen);
	};

	for (const BasicBlock &B : F)
		for (const Instruction &I : B)
			if (Is(I) || hasAfterInlining(I))
				return true;
	return false;
}

bool shim_has_builtin_setjmp(LLVMValueRef f)
{
	SmallPtrSet<const Function *, 8> Seen;

	return has(*unwrap<Function>(f), isBuiltinSetjmp, Seen);
}

bool shim_leaves_in_assembly(LLVMValueRef f)
{
	SmallPtrSet<const Function *, 8> Seen;

	return has(*unwrap<Function>(f), leavesInAssembly, Seen);
}

// How calls are made in all of a function.
static bool isHardened(const Function &F, bool IsIndirect)
{
	StringRef Features =
	        F.getFnAttribute("target-features").getValueAsString();

	return F.hasFnAttribute(Attribute::SpeculativeLoadHardening) ||
	       (IsIndirect && (Features.contains("+retpoline") ||
	                       Features.contains("+lvi-")));
}

// Of a call with a deopt bundle LLVM 19 does nothing else that is asked for:
// not the check of another bundle (kcfi), not what nocf_check says; and it
// cannot make it by a thunk.
static bool cannotBeSite(const Instruction &I)
{
	auto *Call = dyn_cast<CallBase>(&I);

	if (!shim_is_call(wrap(const_cast<Instruction *>(&I))) ||
	    Call->isInlineAsm())
		return false;
	for (unsigned N = 0; N < Call->getNumOperandBundles(); N++)
		if (Call->getOperandBundleAt(N).getTagID() !=
		    LLVMContext::OB_deopt)
			return true;
	return Call->doesNoCfCheck() ||
	       isHardened(*I.getFunction(), Call->isIndirectCall());
}

bool shim_has_calls_without_sites(LLVMValueRef f)
{
	SmallPtrSet<const Function *, 8> Seen;

	return has(*unwrap<Function>(f), cannotBeSite, Seen);
}

bool shim_is_sanitized(LLVMModuleRef module)
{
	for (const Function &F : *unwrap(module))
		for (Attribute::AttrKind Kind :
		     {Attribute::SanitizeAddress, Attribute::SanitizeHWAddress,
		      Attribute::SanitizeMemory, Attribute::SanitizeThread})
			if (F.hasFnAttribute(Kind))
				return true;
	return false;
}

bool shim_is_not_optimized(LLVMValueRef f)
{
	return unwrap<Function>(f)->hasOptNone();
}

// A local function whose every use is a call by a function that is marked
// itself: its caller has seen to the shard.
bool shim_has_outside_callers(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);

	if (!F.hasLocalLinkage() || F.hasAddressTaken())
		return true;
	for (User *U : F.users()) {
		auto *Call = dyn_cast<CallBase>(U);
		if (!Call || shim_why_not(wrap(Call->getFunction())))
			return true;
	}
	return false;
}

static bool handsOver(StringRef Assembly)
{
	return ir_assembly_hands_over(Assembly.data(), Assembly.size());
}

bool shim_hands_over(LLVMModuleRef module)
{
	Module &M = *unwrap(module);

	if (handsOver(M.getModuleInlineAsm()))
		return true;
	for (const Function &F : M)
		for (const Instruction &I : instructions(F)) {
			auto *Call = dyn_cast<CallBase>(&I);

			if (Call && Call->isInlineAsm() &&
			    handsOver(cast<InlineAsm>(Call->getCalledOperand())
			                      ->getAsmString()))
				return true;
		}
	return false;
}

// As %gs, or gs: in the other syntax, or in one of the instructions.
static bool namesGs(StringRef Assembly)
{
	for (size_t At = Assembly.find("gs"); At != StringRef::npos;
	     At = Assembly.find("gs", At + 1)) {
		StringRef Before = Assembly.take_front(At);
		StringRef Behind = Assembly.drop_front(At + 2);

		if (Before.ends_with("%") || Before.ends_with("swap") ||
		    Behind.starts_with("base"))
			return true;
		if (Behind.ltrim().starts_with(":") &&
		    (Before.empty() ||
		     !(isAlnum(Before.back()) || Before.back() == '_')))
			return true;
	}
	return false;
}

static bool setsGs(const CallBase &Call)
{
	const unsigned SetGs = 0x1001; // ARCH_SET_GS
	auto *What = Call.arg_size()
	                     ? dyn_cast<ConstantInt>(Call.getArgOperand(0))
	                     : nullptr;

	return !What || What->getZExtValue() == SetGs;
}

static bool usesGs(const Instruction &I)
{
	const unsigned Space = 256; // LLVM's name for it
	if (const Value *Pointer = getLoadStorePointerOperand(&I))
		return Pointer->getType()->getPointerAddressSpace() == Space;
	auto *Call = dyn_cast<CallBase>(&I);
	if (!Call)
		return false;
	if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
		return namesGs(Asm->getAsmString());
	if (const Function *Callee = Call->getCalledFunction())
		return (Callee->getName() == "arch_prctl" && setsGs(*Call)) ||
		       Callee->getName().starts_with("llvm.x86.wrgsbase");
	return false;
}

bool shim_uses_gs(LLVMModuleRef module)
{
	Module &M = *unwrap(module);

	if (namesGs(M.getModuleInlineAsm()))
		return true;
	for (const Function &F : M)
		for (const BasicBlock &B : F)
			for (const Instruction &I : B)
				if (usesGs(I))
					return true;
	return false;
}

bool shim_is_executable_only(LLVMModuleRef module)
{
	Module &M = *unwrap(module);

	return M.getPICLevel() == PICLevel::NotPIC ||
	       M.getPIELevel() != PIELevel::Default;
}

uint32_t shim_discriminator(LLVMMetadataRef location)
{
	return unwrap<DILocation>(location)->getBaseDiscriminator();
}

const char *shim_scope_function(LLVMMetadataRef scope, size_t *n)
{
	auto *Scope = unwrap<DILocalScope>(scope);
	DISubprogram *Function = Scope->getSubprogram();
	StringRef Name = Function->getLinkageName();

	if (Name.empty())
		Name = Function->getName();
	*n = Name.size();
	return Name.data();
}

LLVMValueRef shim_external(LLVMValueRef callee)
{
	auto *Load = dyn_cast<LoadInst>(unwrap(callee));

	if (!Load)
		return nullptr;
	const DataLayout &DL = Load->getModule()->getDataLayout();
	Value *At = Load->getPointerOperand();
	APInt Offset(DL.getIndexTypeSizeInBits(At->getType()), 0);
	auto *Table = dyn_cast<GlobalVariable>(
	        At->stripAndAccumulateConstantOffsets(DL, Offset, true));
	if (!Table || Table->getName() != CAIRN_IR_EXTERNS ||
	    !Table->hasInitializer())
		return nullptr;
	uint64_t I = Offset.getZExtValue() / DL.getPointerSize();
	auto *All = dyn_cast<ConstantArray>(Table->getInitializer());
	return All && I < All->getNumOperands() ? wrap(All->getOperand(I))
	                                        : nullptr;
}

LLVMMetadataRef shim_scope_subprogram(LLVMMetadataRef scope)
{
	return wrap(unwrap<DILocalScope>(scope)->getSubprogram());
}

LLVMMetadataRef shim_subprogram_file(LLVMMetadataRef subprogram)
{
	return wrap(unwrap<DISubprogram>(subprogram)->getFile());
}

void shim_note_source(LLVMModuleRef module, LLVMMetadataRef file,
                      const char *path)
{
	auto Checksum = unwrap<DIFile>(file)->getChecksum();
	std::string Bytes;

	if (!Checksum || Checksum->Kind != DIFile::CSK_MD5 ||
	    !tryGetFromHex(Checksum->Value, Bytes) ||
	    Bytes.size() != CAIRN_SOURCES_MD5_SIZE)
		return;
	Module &M = *unwrap(module);
	LLVMContext &C = M.getContext();
	MDNode *Node = MDNode::get(
	        C, {MDString::get(C, path), MDString::get(C, Bytes)});
	NamedMDNode *List = M.getOrInsertNamedMetadata(PLUGIN_SOURCES);
	for (unsigned I = List->getNumOperands(); I-- > 0;)
		if (List->getOperand(I) == Node)
			return;
	List->addOperand(Node);
}

bool shim_may_call_marked(LLVMValueRef call)
{
	auto *Call = cast<CallBase>(unwrap(call));
	const Function *Callee = Call->getCalledFunction();
	TargetLibraryInfoImpl Library{
	        Triple(Call->getModule()->getTargetTriple())};
	LibFunc Known;

	if (Call->isInlineAsm() || isa<CallBrInst>(Call) ||
	    Call->hasFnAttr(Attribute::ReturnsTwice))
		return false;
	if (!Callee)
		return true;
	if (Callee->isIntrinsic() || Callee->getName().starts_with("__cairn"))
		return false;
	return !Callee->isDeclaration() ||
	       !Library.getLibFunc(Callee->getName(), Known);
}
