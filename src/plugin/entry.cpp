// SPDX-License-Identifier: Apache-2.0
//
// The C++ shim: clang hands a plugin a C++ PassBuilder, and LLVM-C lacks a few
// things.  This file registers the passes, wraps those things (shim.h), and
// writes the sections that only the assembly printer can write.  Everything
// else is C: plugin.c.
//
// How a return address becomes a site: a call that carries a "deopt" operand
// bundle and the attribute "statepoint-id" is emitted as the same call
// instruction, and its return address is recorded in the stack maps, under
// that id.  A function whose garbage collector is "cairn" has its stack maps
// written by us: not as LLVM's section, which is loaded and does not link into
// position independent executables, but as part of the map records, in a
// section that is not loaded at all.
#include "plugin/shim.h"

#include "abi/crc32c.h"
#include "abi/map.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/GCMetadataPrinter.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/StackMaps.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GCStrategy.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PseudoProbe.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCPseudoProbe.h"
#include "llvm/MC/MCSectionELF.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetLoweringObjectFile.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

static cl::opt<std::string> OptMode("cairn-mode", cl::Hidden,
                                    cl::desc("Cairn: what to record"));
static cl::opt<std::string> OptFeedback("cairn-feedback", cl::Hidden,
                                        cl::desc("Cairn: measured weights"));
static cl::opt<std::string> OptStage("cairn-stage", cl::Hidden,
                                     cl::init("late"),
                                     cl::desc("Cairn: late or source"));
static cl::opt<bool> OptLto("cairn-lto", cl::Hidden,
                            cl::desc("Cairn: marks go in at link time"));

static cl::opt<bool> OptVerify("cairn-verify", cl::Hidden,
                               cl::desc("Cairn: check the marked module"));

// --- analyses ---------------------------------------------------------------

struct shim {
	FunctionAnalysisManager &Analyses;
	BlockFrequencyInfo *Frequencies = nullptr;
	BranchProbabilityInfo *Probabilities = nullptr;
};

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

bool shim_is_call(LLVMValueRef instruction)
{
	auto *Call = dyn_cast<CallBase>(unwrap(instruction));

	return Call && !isa<IntrinsicInst>(Call) && !Call->isInlineAsm() &&
	       !isa<CallBrInst>(Call);
}

bool shim_is_quiet(LLVMValueRef instruction)
{
	Instruction *I = unwrap<Instruction>(instruction);

	if (auto *Call = dyn_cast<CallBase>(I))
		return isa<IntrinsicInst>(Call) && Call->doesNotThrow() &&
		       Call->hasFnAttr(Attribute::WillReturn);
	return !I->isAtomic() && !I->isVolatile();
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
                    LLVMValueRef choose, LLVMBasicBlockRef *copied_head,
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
	*copied_head = wrap(cast<BasicBlock>(Map[Head]));
	*copied_latch = wrap(cast<BasicBlock>(Map[unwrap(latch)]));
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

void shim_add_site(LLVMValueRef call, uint32_t id)
{
	CallBase *New = addDeopt(unwrap<CallBase>(call), {});

	New->addFnAttr(Attribute::get(New->getContext(), "statepoint-id",
	                              std::to_string(id)));
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

void shim_add_probe(LLVMValueRef before, uint32_t id)
{
	Instruction *Place = unwrap<Instruction>(before);
	IRBuilder<> Builder(Place);

	Builder.SetCurrentDebugLocation(DebugLoc());
	Builder.CreateIntrinsic(Intrinsic::pseudoprobe, {},
	                        {Builder.getInt64(1), Builder.getInt64(id),
	                         Builder.getInt32(0), Builder.getInt64(0)});
	Place->getModule()->getOrInsertNamedMetadata(
	        PseudoProbeDescMetadataName);
}

bool shim_may_add_probes(LLVMModuleRef module)
{
	return !unwrap(module)->getNamedMetadata(PseudoProbeDescMetadataName);
}

static bool isCallOfGxx(const Function &F)
{
	return F.getPersonalityFn()->stripPointerCasts()->getName() ==
	       "__gxx_personality_v0";
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
	if (!F.hasPersonalityFn())
		personality("__cairn_personality");
	else if (isCallOfGxx(F))
		personality("__cairn_gxx_personality");
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

// --- questions
// ----------------------------------------------------------------

static bool isIfuncResolver(const Function &F)
{
	for (const GlobalIFunc &I : F.getParent()->ifuncs())
		if (I.getResolverFunction() == &F)
			return true;
	return false;
}

const char *shim_why_not(LLVMValueRef f)
{
	Function &F = *unwrap<Function>(f);

	if (F.hasFnAttribute(Attribute::Naked))
		return "naked function";
	if (F.isPresplitCoroutine())
		return "coroutine";
	if (isIfuncResolver(F))
		return "ifunc resolver: runs before the program is set up";
	if (F.hasGC() && F.getGC() != PLUGIN_GC)
		return "uses a garbage collector";
	for (BasicBlock &B : F) {
		Instruction *T = B.getTerminator();
		if (isa<CallBrInst>(T))
			return "asm goto";
		if (isa<CatchSwitchInst>(T) || isa<CatchReturnInst>(T) ||
		    isa<CleanupReturnInst>(T))
			return "funclet exception handling";
		for (Instruction &I : B)
			if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
				if (Intrinsic->getIntrinsicID() ==
				    Intrinsic::eh_sjlj_setjmp)
					return "__builtin_setjmp";
	}
	return nullptr;
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

bool shim_is_executable_only(LLVMModuleRef module)
{
	Module &M = *unwrap(module);

	return M.getPICLevel() == PICLevel::NotPIC ||
	       M.getPIELevel() != PIELevel::Default;
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

LLVMMetadataRef shim_subprogram_file(LLVMMetadataRef subprogram)
{
	return wrap(unwrap<DISubprogram>(subprogram)->getFile());
}

// --- sections
// -------------------------------------------------------------------

namespace
{

class CairnStrategy : public GCStrategy
{
      public:
	CairnStrategy()
	{
		UseStatepoints = false;
		NeededSafePoints = false;
		UsesMetadata = true;
	}
};

// Writes counters and map records; see abi/map.h for their form.  What to
// write comes from the named metadata PLUGIN_FUNCTIONS, one node per function:
// the function (null if it is gone), its counters (or null), their number, and
// the blob.
class CairnPrinter : public GCMetadataPrinter
{
	struct Site {
		const MCExpr *Offset;
		uint64_t Id;
		uint64_t Key; // of the function, if marked before inlining
	};
	DenseMap<const MCSymbol *, std::vector<Site>> Sites, Probes;

	static const MCExpr *difference(const MCSymbol *A, const MCSymbol *B,
	                                MCContext &Context)
	{
		return MCBinaryExpr::createSub(
		        MCSymbolRefExpr::create(A, Context),
		        MCSymbolRefExpr::create(B, Context), Context);
	}

	// Takes the probes out of LLVM's table: they go into our section.
	void collectProbes(MCContext &Context)
	{
		auto &Table =
		        Context.getMCPseudoProbeTable().getProbeSections();

		for (auto &[Symbol, Tree] : Table.getMCProbes())
			for (auto &[Inlined, Node] : Tree.getChildren())
				for (MCPseudoProbe &Probe : Node->getProbes())
					Probes[Symbol].push_back(
					        {difference(Probe.getLabel(),
					                    Symbol, Context),
					         Probe.getIndex(), 0});
		Table = MCPseudoProbeSections();
	}

	// A record lists calling convention, flags and number of values, then
	// the values of the bundle: none, or three per inlined function.
	static void addSites(const StackMaps::CallsiteInfo &Call,
	                     std::vector<Site> &List)
	{
		auto value = [&](size_t I) {
			return uint64_t(Call.Locations[I].Offset);
		};

		if (Call.Locations.size() < 6) {
			List.push_back({Call.CSOffsetExpr, Call.ID, 0});
			return;
		}
		for (size_t I = 3; I + 2 < Call.Locations.size(); I += 3)
			List.push_back({Call.CSOffsetExpr, value(I + 2),
			                value(I) | value(I + 1) << 31});
	}

	void collect(StackMaps &Maps)
	{
		auto Next = Maps.getCSInfos().begin();
		for (auto &[Symbol, Info] : Maps.getFnInfos())
			for (uint64_t I = 0; I < Info.RecordCount; I++, Next++)
				addSites(*Next, Sites[Symbol]);
	}

	MCSection *section(AsmPrinter &AP, const char *Name, unsigned Type,
	                   unsigned Flags, const Function *F,
	                   const GlobalObject *KeyHolder)
	{
		const MCSymbolELF *Linked = nullptr;
		StringRef Group;

		if (KeyHolder && KeyHolder->hasComdat())
			Group = KeyHolder->getComdat()->getName();
		if (F) {
			Linked = cast<MCSymbolELF>(AP.getSymbol(F));
			Flags |= ELF::SHF_LINK_ORDER;
		}
		if (!Group.empty())
			Flags |= ELF::SHF_GROUP;
		return AP.OutContext.getELFSection(Name, Type, Flags, 0, Group,
		                                   !Group.empty(), NextUnique++,
		                                   Linked);
	}

	void emitCounters(AsmPrinter &AP, const GlobalVariable *Counters,
	                  const Function *F, uint64_t Count)
	{
		MCStreamer &Out = *AP.OutStreamer;
		MCSymbol *Symbol = AP.getSymbol(Counters);

		Out.switchSection(
		        section(AP, CAIRN_COUNTERS_SECTION, ELF::SHT_NOBITS,
		                ELF::SHF_ALLOC | ELF::SHF_WRITE, nullptr, F));
		Out.emitValueToAlignment(Align(8));
		if (F && F->hasComdat()) {
			Out.emitSymbolAttribute(Symbol, MCSA_Weak);
			Out.emitSymbolAttribute(Symbol, MCSA_Hidden);
		}
		Out.emitSymbolAttribute(Symbol, MCSA_ELF_TypeObject);
		Out.emitLabel(Symbol);
		Out.emitZeros(8 * Count);
		Out.emitELFSize(Symbol,
		                MCConstantExpr::create(int64_t(8 * Count),
		                                       AP.OutContext));
	}

	// As an expression where the streamer knows it, which needs no help
	// from the linker; as a relocation in assembly text.
	void emitCodeSize(AsmPrinter &AP, MCSymbol *Code)
	{
		if (!Code)
			AP.OutStreamer->emitInt32(0);
		else if (const MCExpr *Size =
		                 cast<MCSymbolELF>(Code)->getSize())
			AP.OutStreamer->emitValue(Size, 4);
		else
			AP.OutStreamer->emitValue(
			        MCSymbolRefExpr::create(
			                Code, MCSymbolRefExpr::VK_SIZE,
			                AP.OutContext),
			        4);
	}

	void emitRecord(AsmPrinter &AP, const Function *F,
	                const GlobalVariable *Counters, uint64_t Count,
	                StringRef Blob)
	{
		MCStreamer &Out = *AP.OutStreamer;
		MCSymbol *Code = F ? AP.getSymbol(F) : nullptr;
		std::vector<Site> Calls, Blocks;

		const GlobalObject *Holder = F;
		if (F) {
			Calls = Sites.lookup(Code);
			Blocks = Probes.lookup(Code);
		} else {
			Holder = Counters;
		}
		Out.switchSection(section(AP, CAIRN_MAP_SECTION,
		                          ELF::SHT_PROGBITS, 0, F, Holder));
		Out.emitInt32(CAIRN_MAP_MAGIC);
		Out.emitInt32(uint32_t(CAIRN_MAP_HEAD_SIZE + Blob.size() +
		                       8 * (Calls.size() + Blocks.size())));
		if (Code)
			Out.emitSymbolValue(Code, 8);
		else
			Out.emitInt64(0);
		if (Counters)
			Out.emitSymbolValue(AP.getSymbol(Counters), 8);
		else
			Out.emitInt64(0);
		Out.emitInt32(uint32_t(Count));
		Out.emitInt32(crc32c(0, Blob.data(), Blob.size()));
		Out.emitInt32(uint32_t(Blob.size()));
		Out.emitInt32(uint32_t(Calls.size()));
		Out.emitInt32(uint32_t(Blocks.size()));
		emitCodeSize(AP, Code);
		Out.emitBytes(Blob);
		for (const auto *List : {&Calls, &Blocks}) {
			for (const Site &Entry : *List) {
				Out.emitValue(Entry.Offset, 4);
				Out.emitInt32(uint32_t(Entry.Id));
			}
		}
	}

	// Sites of code that was marked before inlining.
	void emitSites(AsmPrinter &AP, const Function &F)
	{
		MCStreamer &Out = *AP.OutStreamer;
		MCSymbol *Code = AP.getSymbol(&F);
		std::vector<Site> Known;

		for (const Site &S : Sites.lookup(Code))
			if (Keys.count(S.Key))
				Known.push_back(S);
		if (F.isDeclaration() || !F.hasGC() || F.getGC() != PLUGIN_GC)
			return;
		Out.switchSection(section(AP, CAIRN_MAP_SECTION,
		                          ELF::SHT_PROGBITS, 0, &F, &F));
		Out.emitInt32(CAIRN_SITES_MAGIC);
		Out.emitInt32(uint32_t(CAIRN_SITES_HEAD_SIZE +
		                       CAIRN_SITES_ENTRY_SIZE * Known.size()));
		Out.emitSymbolValue(Code, 8);
		Out.emitInt32(uint32_t(Known.size()));
		emitCodeSize(AP, Code);
		for (const Site &S : Known) {
			Out.emitValue(S.Offset, 4);
			Out.emitInt32(uint32_t(S.Id));
			Out.emitSymbolValue(AP.getSymbol(Keys[S.Key]), 8);
		}
	}

	DenseMap<uint64_t, const GlobalVariable *> Keys;
	unsigned NextUnique = 0x40000000;

      public:
	bool emitStackMaps(StackMaps &Maps, AsmPrinter &AP) override
	{
		const Module &M = *AP.MMI->getModule();
		const NamedMDNode *List = M.getNamedMetadata(PLUGIN_FUNCTIONS);

		collect(Maps);
		collectProbes(AP.OutContext);
		AP.OutStreamer->pushSection();
		for (unsigned I = 0; List && I < List->getNumOperands(); I++) {
			const MDNode *Node = List->getOperand(I);
			auto *F = mdconst::dyn_extract_or_null<Function>(
			        Node->getOperand(0));
			auto *Counters =
			        mdconst::dyn_extract_or_null<GlobalVariable>(
			                Node->getOperand(1));
			auto *Count = mdconst::extract<ConstantInt>(
			        Node->getOperand(2));
			auto *Blob = cast<MDString>(Node->getOperand(3));
			auto *Key = mdconst::extract<ConstantInt>(
			        Node->getOperand(4));

			if (!Key->isZero()) {
				if (Counters)
					Keys[Key->getZExtValue()] = Counters;
				if (Counters)
					emitRecord(AP, nullptr, Counters,
					           Count->getZExtValue(),
					           Blob->getString());
				continue;
			}
			if (!F || F->isDeclaration())
				continue;
			if (Counters)
				emitCounters(AP, Counters, F,
				             Count->getZExtValue());
			emitRecord(AP, F, Counters, Count->getZExtValue(),
			           Blob->getString());
		}
		if (!Keys.empty())
			for (const Function &F : M)
				emitSites(AP, F);
		AP.OutStreamer->popSection();
		Keys.clear();
		Sites.clear();
		Probes.clear();
		return true;
	}
};

GCRegistry::Add<CairnStrategy> RegisterStrategy(PLUGIN_GC, "Cairn");
GCMetadataPrinterRegistry::Add<CairnPrinter> RegisterPrinter(PLUGIN_GC,
                                                             "Cairn");

// --- the passes --------------------------------------------------------------

class CairnPass : public PassInfoMixin<CairnPass>
{
	plugin_moment Moment;
	bool AtLink;

      public:
	CairnPass(plugin_moment Moment, bool AtLink)
	    : Moment(Moment), AtLink(AtLink)
	{
	}

	static bool isRequired()
	{
		return true;
	}

	// Options of this compilation, or those that travelled in bitcode.
	static plugin_options options(Module &M)
	{
		if (!OptMode.empty())
			return {OptMode.c_str(), OptFeedback.c_str(),
			        OptStage.c_str()};
		auto *List = M.getNamedMetadata(PLUGIN_OPTIONS);
		if (!List || !List->getNumOperands())
			return {nullptr, "", ""};
		const MDNode *Node = List->getOperand(0);
		auto text = [&](unsigned I) {
			return cast<MDString>(Node->getOperand(I))
			        ->getString()
			        .data();
		};
		return {text(0), text(1), text(2)};
	}

	// Link-time optimization: marks go in there; leave word in the module.
	static void leaveWord(Module &M)
	{
		LLVMContext &C = M.getContext();
		auto *List = M.getOrInsertNamedMetadata(PLUGIN_OPTIONS);

		if (List->getNumOperands())
			return;
		auto text = [&](const std::string &S) {
			return MDString::get(
			        C, StringRef(S.c_str(), S.size() + 1));
		};
		List->addOperand(MDNode::get(
		        C, {text(OptMode), text(OptFeedback), text(OptStage)}));
	}

	PreservedAnalyses run(Module &M, ModuleAnalysisManager &Manager)
	{
		// Of a fat object the bitcode waits, the code is made now.
		if (OptLto && !AtLink && Moment == PLUGIN_LATE &&
		    !M.getNamedGlobal("llvm.embedded.object")) {
			leaveWord(M);
			return PreservedAnalyses::all();
		}
		plugin_options Options = options(M);
		if (!Options.mode)
			return PreservedAnalyses::all();
		auto &Functions =
		        Manager.getResult<FunctionAnalysisManagerModuleProxy>(M)
		                .getManager();
		struct shim Shim = {Functions};
		char Message[1024] = "";
		bool Changed =
		        cairn_plugin_run(wrap(&M), &Shim, &Options, Moment,
		                         Message, sizeof(Message));
		if (!Message[0] && Changed && OptVerify &&
		    verifyModule(M, &errs()))
			snprintf(Message, sizeof(Message),
			         "cairn: the marked module is not valid");
		if (Message[0])
			M.getContext().emitError(Message);
		return Changed ? PreservedAnalyses::none()
		               : PreservedAnalyses::all();
	}
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	auto Register = [](PassBuilder &Builder) {
		Builder.registerPipelineStartEPCallback(
		        [](ModulePassManager &Passes, OptimizationLevel) {
			        Passes.addPass(CairnPass(PLUGIN_EARLY, false));
		        });
		Builder.registerOptimizerLastEPCallback(
		        [](ModulePassManager &Passes, OptimizationLevel) {
			        Passes.addPass(CairnPass(PLUGIN_LATE, false));
		        });
		Builder.registerFullLinkTimeOptimizationLastEPCallback(
		        [](ModulePassManager &Passes, OptimizationLevel) {
			        Passes.addPass(CairnPass(PLUGIN_LATE, true));
		        });
	};
	return {LLVM_PLUGIN_API_VERSION, "cairn", CAIRN_VERSION, Register};
}
