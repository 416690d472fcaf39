// SPDX-License-Identifier: Apache-2.0
//
// Writes the sections that only the assembly printer can write: counters and
// map records (abi/map.h).
//
// How a return address becomes a site: a call that carries a "deopt" operand
// bundle and the attribute "statepoint-id" is emitted as the same call
// instruction, and its return address is recorded in the stack maps, under
// that id.  A function whose garbage collector is "cairn" has its stack maps
// written by us: not as LLVM's section, which is loaded and does not link into
// position independent executables, but as part of the map records, in a
// section that is not loaded at all.  How an address becomes a block:
// probes.cpp says where it begins, and it becomes a label there.
#include "plugin/shim.h"

#include "abi/crc32c.h"
#include "abi/map.h"
#include "plugin/probes.hpp"
#include "plugin/record.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/DebugHandlerBase.h"
#include "llvm/CodeGen/GCMetadataPrinter.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/StackMaps.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GCStrategy.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCPseudoProbe.h"
#include "llvm/MC/MCSectionELF.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

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
		uint32_t Register = 0; // where the path register is, 0: nowhere
	};
	DenseMap<const MCSymbol *, std::vector<Site>> Sites, Probes;

	static const MCExpr *difference(const MCSymbol *A, const MCSymbol *B,
	                                MCContext &Context)
	{
		return MCBinaryExpr::createSub(
		        MCSymbolRefExpr::create(A, Context),
		        MCSymbolRefExpr::create(B, Context), Context);
	}

	// In the form of an entry of CAIRN_REGISTERS_SECTION; 0 if it cannot
	// be said, and frames that die there have no register.
	static uint32_t placeOf(const StackMaps::Location &L)
	{
		const int64_t Limit = int64_t(1)
		                      << (31 - CAIRN_REG_OFFSET_SHIFT);

		if (L.Reg > CAIRN_REG_NUMBER)
			return 0;
		if (L.Type == StackMaps::Location::Register)
			return L.Reg | CAIRN_REG_IN_REGISTER;
		if ((L.Type != StackMaps::Location::Direct &&
		     L.Type != StackMaps::Location::Indirect) ||
		    L.Offset < -Limit || L.Offset >= Limit)
			return 0;
		return L.Reg | uint32_t(L.Offset) << CAIRN_REG_OFFSET_SHIFT;
	}

	// A record lists calling convention, flags and number of values, then
	// the values of the bundle: none, the path register, or three per
	// inlined function.
	static void addSites(const StackMaps::CallsiteInfo &Call,
	                     std::vector<Site> &List)
	{
		auto value = [&](size_t I) {
			return uint64_t(Call.Locations[I].Offset);
		};

		if (Call.Locations.size() < 6) {
			List.push_back({Call.CSOffsetExpr, Call.ID, 0,
			                Call.Locations.size() == 4
			                        ? placeOf(Call.Locations[3])
			                        : 0});
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

	// Its symbol, or a local one if there is such.
	static MCSymbol *ownSymbol(AsmPrinter &AP, const Function &F)
	{
		const GlobalAlias *Own = F.getParent()->getNamedAlias(
		        (F.getName() + SHIM_OWN).str());

		return Own && Own->hasLocalLinkage() ? AP.getSymbol(Own)
		                                     : AP.getSymbol(&F);
	}

	void emitRecord(AsmPrinter &AP, const Function *F,
	                const GlobalVariable *Counters, uint64_t Count,
	                StringRef Blob, const MDNode *Callees)
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
		                       8 * (Calls.size() + Blocks.size() +
		                            Callees->getNumOperands())));
		if (Code)
			Out.emitSymbolValue(ownSymbol(AP, *F), 8);
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
		for (const MDOperand &Callee : Callees->operands())
			Out.emitSymbolValue(
			        AP.getSymbol(
			                mdconst::extract<Function>(Callee)),
			        8);
	}

	// With -fno-plt: GNU ld finds a function of a shared object in what is
	// not loaded only if it has an entry in the PLT, so that it gets one.
	void emitEntries(AsmPrinter &AP, const Function *F,
	                 const MDNode *Callees)
	{
		MCStreamer &Out = *AP.OutStreamer;
		MCContext &Context = AP.OutContext;
		SmallPtrSet<const Function *, 8> Known;

		for (const MDOperand &Operand : Callees->operands()) {
			auto *Callee = mdconst::extract<Function>(Operand);

			if (!Callee->isDeclaration() ||
			    !Callee->hasFnAttribute(Attribute::NonLazyBind) ||
			    !Known.insert(Callee).second)
				continue;
			if (Known.size() == 1)
				Out.switchSection(
				        section(AP, CAIRN_ENTRIES_SECTION,
				                ELF::SHT_PROGBITS,
				                ELF::SHF_ALLOC, F, F));
			MCSymbol *Here = Context.createTempSymbol();
			Out.emitLabel(Here);
			Out.emitValue(
			        MCBinaryExpr::createSub(
			                MCSymbolRefExpr::create(
			                        AP.getSymbol(Callee),
			                        MCSymbolRefExpr::VK_PLT,
			                        Context),
			                MCSymbolRefExpr::create(Here, Context),
			                Context),
			        4);
		}
	}

	// Where the path register is at the sites that need it.  A site's
	// offset is its label minus the function; the label alone is local to
	// the file, which matters in a shared object.
	void emitRegisters(AsmPrinter &AP, const Function *F)
	{
		MCStreamer &Out = *AP.OutStreamer;
		MCContext &Context = AP.OutContext;
		bool IsFirst = true;

		for (const Site &S : Sites.lookup(AP.getSymbol(F))) {
			if (!S.Register)
				continue;
			if (IsFirst)
				Out.switchSection(
				        section(AP, CAIRN_REGISTERS_SECTION,
				                ELF::SHT_PROGBITS,
				                ELF::SHF_ALLOC, F, F));
			IsFirst = false;
			MCSymbol *Here = Context.createTempSymbol();
			Out.emitLabel(Here);
			Out.emitValue(
			        MCBinaryExpr::createSub(
			                cast<MCBinaryExpr>(S.Offset)->getLHS(),
			                MCSymbolRefExpr::create(Here, Context),
			                Context),
			        4);
			Out.emitInt32(S.Register);
		}
	}

	// Sites of code that was marked before inlining.
	void emitSites(AsmPrinter &AP, const Function &F)
	{
		MCStreamer &Out = *AP.OutStreamer;
		MCSymbol *Code = AP.getSymbol(&F);
		std::vector<Site> Known;

		for (const Site &S : Sites.lookup(Code))
			if (Keys.count(S.Key) && S.Id != SHIM_NO_SITE)
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

	// The entry of a function of another file, as the linker knows it.
	static MCSymbol *linked(AsmPrinter &AP, const Function &F)
	{
		StringRef Name =
		        F.getName().drop_front(strlen(CAIRN_LINK_BODY));
		MCSymbol *S = AP.OutContext.getOrCreateSymbol(CAIRN_LINK_ENTRY +
		                                              Name);

		AP.OutStreamer->emitSymbolAttribute(S, MCSA_Weak);
		AP.OutStreamer->emitSymbolAttribute(S, MCSA_Hidden);
		return S;
	}

	// The IR of a recording, where what it defines is, and what it calls.
	void emitUnit(AsmPrinter &AP, const MDNode &Unit)
	{
		MCStreamer &Out = *AP.OutStreamer;
		unsigned N = Unit.getNumOperands() - 2;

		Out.switchSection(AP.OutContext.getELFSection(
		        CAIRN_IR_SECTION, ELF::SHT_PROGBITS, 0));
		Out.emitValueToAlignment(Align(8));
		Out.emitBytes(cast<MDString>(Unit.getOperand(0))->getString());
		// GNU ld would drop what is not loaded and has relocations
		Out.switchSection(
		        section(AP, CAIRN_MAP_SECTION, ELF::SHT_PROGBITS,
		                ELF::SHF_GNU_RETAIN, nullptr, nullptr));
		Out.emitInt32(CAIRN_UNIT_MAGIC);
		Out.emitInt32(CAIRN_UNIT_HEAD + 8 * N);
		Out.emitBytes(cast<MDString>(Unit.getOperand(1))->getString());
		Out.emitInt32(N);
		unsigned NLinked = 0;
		auto global = [&](unsigned I) {
			return mdconst::dyn_extract_or_null<GlobalValue>(
			        Unit.getOperand(I + 2));
		};
		// what it is, the loader knows; GNU ld fails on such a word
		auto isChosen = [](const GlobalValue *G) {
			return isa_and_nonnull<GlobalIFunc>(
			        G->getAliaseeObject());
		};
		auto isLinked = [](const GlobalValue *G) {
			auto *F = dyn_cast_or_null<Function>(G);

			return F && F->hasFnAttribute(CAIRN_IR_LINKED);
		};
		for (unsigned I = 0; I < N; I++)
			NLinked += isLinked(global(I));
		Out.emitInt32(NLinked);
		for (unsigned I = 0; I < N; I++) {
			auto *G = global(I);

			if (isLinked(G))
				Out.emitSymbolValue(
				        linked(AP, *cast<Function>(G)), 8);
			else if (G && !G->isThreadLocal() && !isChosen(G))
				Out.emitSymbolValue(AP.getSymbol(G), 8);
			else
				Out.emitIntValue(0, 8);
		}
	}

	// A function whose record is there, best one that others call: what is
	// not a function's goes where that goes, since `ld -r` takes a section
	// whose parts all have an order, or none.
	static const Function *holder(const Module &M)
	{
		const Function *Any = nullptr;

		for (const Function &F : M) {
			if (F.isDeclaration() ||
			    F.hasAvailableExternallyLinkage())
				continue;
			if (!F.hasComdat() && !F.hasLocalLinkage())
				return &F;
			if (!Any)
				Any = &F;
		}
		return Any;
	}

	// Checksums of the source files that records name; those of a file
	// that was linked in (LTO) may be there twice.
	void emitSources(AsmPrinter &AP, const Module &M,
	                 const NamedMDNode *List)
	{
		MCStreamer &Out = *AP.OutStreamer;
		SmallPtrSet<const MDNode *, 32> Known;
		std::string Files;

		for (unsigned I = 0; List && I < List->getNumOperands(); I++) {
			const MDNode *Node = List->getOperand(I);

			if (!Known.insert(Node).second)
				continue;
			auto text = [&](unsigned K) {
				return cast<MDString>(Node->getOperand(K))
				        ->getString();
			};
			raw_string_ostream Stream(Files);
			encodeULEB128(text(0).size(), Stream);
			Stream << text(0) << text(1);
		}
		if (Known.empty())
			return;
		const Function *F = holder(M);
		Out.switchSection(section(AP, CAIRN_MAP_SECTION,
		                          ELF::SHT_PROGBITS, 0, F, F));
		Out.emitInt32(CAIRN_SOURCES_MAGIC);
		Out.emitInt32(uint32_t(CAIRN_SOURCES_HEAD_SIZE + Files.size()));
		Out.emitInt32(uint32_t(Known.size()));
		Out.emitInt32(crc32c(0, Files.data(), Files.size()));
		Out.emitBytes(Files);
	}

	DenseMap<uint64_t, const GlobalVariable *> Keys;
	unsigned NextUnique = 0x40000000;

      public:
	void beginAssembly(Module &, GCModuleInfo &, AsmPrinter &AP) override
	{
		AP.addDebugHandler(makeProbes(AP, [this, &AP](uint32_t What) {
			addProbe(AP, What);
		}));
	}

	void addProbe(AsmPrinter &AP, uint32_t What)
	{
		MCSymbol *Here = AP.OutContext.createTempSymbol();

		AP.OutStreamer->emitLabel(Here);
		Probes[AP.CurrentFnSym].push_back(
		        {difference(Here, AP.CurrentFnSym, AP.OutContext), What,
		         0});
	}

	bool emitStackMaps(StackMaps &Maps, AsmPrinter &AP) override
	{
		const Module &M = *AP.MMI->getModule();
		const NamedMDNode *List = M.getNamedMetadata(PLUGIN_FUNCTIONS);

		collect(Maps);
		// LLVM's table of probes is not wanted: they are in our section
		AP.OutContext.getMCPseudoProbeTable().getProbeSections() =
		        MCPseudoProbeSections();
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
			auto *Callees = cast<MDNode>(Node->getOperand(5));

			if (!Key->isZero()) {
				if (Counters)
					Keys[Key->getZExtValue()] = Counters;
				if (Counters)
					emitRecord(AP, nullptr, Counters,
					           Count->getZExtValue(),
					           Blob->getString(), Callees);
				continue;
			}
			if (!F || F->isDeclaration())
				continue;
			if (Counters)
				emitCounters(AP, Counters, F,
				             Count->getZExtValue());
			// nobody counts: the declaration is gone
			emitRecord(AP, F, Counters,
			           Counters ? Count->getZExtValue() : 0,
			           Blob->getString(), Callees);
			emitEntries(AP, F, Callees);
			emitRegisters(AP, F);
		}
		if (!Keys.empty())
			for (const Function &F : M)
				emitSites(AP, F);
		emitSources(AP, M, M.getNamedMetadata(PLUGIN_SOURCES));
		if (const NamedMDNode *Units = M.getNamedMetadata(RECORD_UNIT))
			for (const MDNode *Unit : Units->operands())
				emitUnit(AP, *Unit);
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

} // namespace
