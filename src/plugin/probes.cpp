// SPDX-License-Identifier: Apache-2.0
//
// Which block of the CFG is the code at an address of?  For frames that a
// signal stops: analysis/frames.c asks, and takes the last answer at or before
// the address.
//
// Answers come from pseudo probes at the tops of blocks and from notes on
// marks, for the addresses of a mark and behind it (shim.h), and on calls after
// which nothing follows: from there on nothing is left to count.  That is not
// enough.  A block that only jumps has no probe, since it had better have no
// code, and yet the code generator may put some there: constants for a loop,
// values for the block that follows.  It makes new blocks on edges, and one
// block of two ends that are alike.  So each machine block that does not begin
// with an answer is given one, from where it is entered:
//
//   - it is a block that only jumps, entered from where that one is: the note
//     on the jump says what to say;
//   - else what those before it say at their ends, if that is one thing;
//   - it is the end of several blocks that all go to one place: that they do;
//   - else nobody knows: frames there are reported, not guessed.
//
// Invariant: an answer is true of every frame that is stopped there, or is
// CAIRN_PROBE_UNKNOWN.
// Cost: O(edges of the machine code) for every turn of the fixed point, of
// which there are as many as parts follow each other against the layout.
#include "plugin/probes.hpp"

#include "abi/map.h"
#include "plugin/shim.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/DebugHandlerBase.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace
{

bool isNote(const MDNode *Node, unsigned At)
{
	if (!Node || Node->getNumOperands() <= At)
		return false;
	auto *Name = dyn_cast_or_null<MDString>(Node->getOperand(At));
	return Name && Name->getString() == PLUGIN_NOTE;
}

struct Around {
	uint32_t Before = SHIM_NOTHING, Behind = SHIM_NOTHING;
};

// What shim_set_around noted on the instruction.
Around aroundOf(const MachineInstr &MI)
{
	const MDNode *Tag = MI.getMMRAMetadata();
	uint64_t Both = 0;

	if (MI.isInlineAsm())
		for (const MachineOperand &O : MI.operands())
			if (O.isMetadata() && isNote(O.getMetadata(), 1)) {
				Both = mdconst::extract<ConstantInt>(
				               O.getMetadata()->getOperand(0))
				               ->getZExtValue();
				return {uint32_t(Both >> 32), uint32_t(Both)};
			}
	if (isNote(Tag, 0) && Tag->getNumOperands() == 2 &&
	    !cast<MDString>(Tag->getOperand(1))
	             ->getString()
	             .getAsInteger(10, Both))
		return {uint32_t(Both >> 32), uint32_t(Both)};
	return {};
}

uint32_t probeOf(const MachineInstr &MI)
{
	return MI.isPseudoProbe() ? uint32_t(MI.getOperand(1).getImm())
	                          : SHIM_NOTHING;
}

// Is it what became of a call after which nothing follows, if that is a call?
bool isLastCall(const MachineInstr &MI)
{
	return isNote(MI.getHeapAllocMarker(), 0);
}

// What shim_note_jump noted.
uint32_t jumpNoteOf(const BasicBlock *B, const char *Where)
{
	const Instruction *End = B ? B->getTerminator() : nullptr;
	const MDNode *Note = End ? End->getMetadata(Where) : nullptr;

	if (!Note)
		return SHIM_NOTHING;
	return uint32_t(mdconst::extract<ConstantInt>(Note->getOperand(0))
	                        ->getZExtValue());
}

bool onlyJumps(const BasicBlock *B)
{
	return jumpNoteOf(B, SHIM_AT_TOP) != SHIM_NOTHING;
}

class Probes : public DebugHandlerBase
{
	struct State {
		bool Begins = false; // with an answer of its own
		uint32_t Start = SHIM_NOTHING, End = SHIM_NOTHING;
		bool HasEnd = false; // one of its own
		// Is there a call since that answer?  Then the part of the
		// block that one is in follows only from code without a gap.
		bool StartCalls = false, EndCalls = false;

		void set(uint32_t What)
		{
			Start = What;
			StartCalls = false;
		}
	};

	AsmPrinter &Printer;
	std::function<void(uint32_t)> Say;
	DenseMap<const MachineBasicBlock *, State> States;
	const Function *Current = nullptr;
	const MachineBasicBlock *Block = nullptr;
	// What the last answer was, and what the next one has to be.
	uint32_t Last = SHIM_NOTHING, Behind = SHIM_NOTHING;

	static State scan(const MachineBasicBlock &B)
	{
		State S;
		bool IsFirst = true;

		for (const MachineInstr &MI : B) {
			Around A = aroundOf(MI);
			uint32_t Probe = probeOf(MI);

			if (Probe != SHIM_NOTHING || A.Before != SHIM_NOTHING)
				S.Begins |= IsFirst;
			IsFirst &= MI.isMetaInstruction();
			S.EndCalls |= MI.isCall();
			if (isLastCall(MI))
				A.Behind = 0;
			for (uint32_t What : {Probe, A.Before, A.Behind}) {
				if (What == SHIM_NOTHING)
					continue;
				S.End = What;
				S.HasEnd = true;
				S.EndCalls = false;
			}
		}
		return S;
	}

	// Is every way into this machine block one into the block that it is
	// the code of?  On the way may be blocks that only jump, without code.
	static bool isEnteredAs(const MachineBasicBlock &B)
	{
		SmallPtrSet<const BasicBlock *, 8> Known;
		SmallVector<const BasicBlock *, 8> Work{B.getBasicBlock()};

		while (!Work.empty())
			for (const BasicBlock *P :
			     predecessors(Work.pop_back_val()))
				if (Known.insert(P).second && onlyJumps(P))
					Work.push_back(P);
		return all_of(B.predecessors(), [&](auto *P) {
			return Known.count(P->getBasicBlock());
		});
	}

	// What may be said of a block that goes on from the end of another, or
	// of one after it that only jumps.
	static SmallVector<uint32_t, 4> endsOf(const MachineBasicBlock *P)
	{
		const BasicBlock *From = P->getBasicBlock();
		SmallVector<uint32_t, 4> Ends{jumpNoteOf(From, SHIM_AT_END)};

		if (From)
			for (const BasicBlock *S : successors(From))
				if (onlyJumps(S))
					Ends.push_back(
					        jumpNoteOf(S, SHIM_AT_END));
		return Ends;
	}

	// The same for ends that have become one: SHIM_NOTHING if they do not
	// all go to one place.
	static uint32_t endOfAll(const MachineBasicBlock &B)
	{
		for (uint32_t End : endsOf(*B.pred_begin()))
			if (End != SHIM_NOTHING &&
			    all_of(B.predecessors(), [&](auto *P) {
				    return is_contained(endsOf(P), End);
			    }))
				return End;
		return SHIM_NOTHING;
	}

	// What holds at the start of a block, by what holds at the ends of
	// those before it.
	void join(State &S, const MachineBasicBlock &B)
	{
		S.Start = SHIM_NOTHING;
		for (const MachineBasicBlock *P : B.predecessors()) {
			const State &From = States[P];

			S.StartCalls |= From.EndCalls;
			if (S.Start == SHIM_NOTHING)
				S.Start = From.End;
			else if (From.End != SHIM_NOTHING && // else later
			         From.End != S.Start)
				S.Start = CAIRN_PROBE_UNKNOWN;
		}
	}

	// The same for any block that does not begin with an answer.
	void begin(State &S, const MachineBasicBlock &B)
	{
		uint32_t Top = jumpNoteOf(B.getBasicBlock(), SHIM_AT_TOP);
		uint32_t End = SHIM_NOTHING;

		join(S, B);
		if (S.Start == CAIRN_PROBE_UNKNOWN)
			End = endOfAll(B);
		if (Top != SHIM_NOTHING && isEnteredAs(B))
			S.set(Top);
		else if (End != SHIM_NOTHING)
			S.set(End);
		if (S.HasEnd)
			return;
		S.End = S.Start;
		S.EndCalls |= S.StartCalls;
	}

	// What is before the first answer of a function is its prologue.
	void solve(const MachineFunction &F)
	{
		bool IsAny = false, Changes = true;

		States.clear();
		for (const MachineBasicBlock &B : F) {
			State &S = States[&B] = scan(B);

			IsAny |= S.HasEnd;
			if (B.isEntryBlock() && !S.HasEnd)
				S.End = 0;
		}
		while (IsAny && Changes) {
			Changes = false;
			for (const MachineBasicBlock &B : F) {
				State S = States[&B];

				if (S.Begins || B.isEntryBlock())
					continue;
				begin(S, B);
				Changes |= S.Start != States[&B].Start ||
				           S.EndCalls != States[&B].EndCalls;
				States[&B] = S;
			}
		}
	}

	void say(uint32_t What)
	{
		if (What != SHIM_NOTHING)
			Say(Last = What);
	}

	void sayStart(const State &S)
	{
		uint32_t What = S.StartCalls ? CAIRN_PROBE_UNKNOWN : S.Start;

		if (S.Start == SHIM_NOTHING && !S.Begins && Last == 0)
			What = CAIRN_PROBE_UNKNOWN; // not that all is counted
		if (S.Start != Last)
			say(What);
	}

      public:
	Probes(AsmPrinter &AP, std::function<void(uint32_t)> Say)
	    : DebugHandlerBase(&AP), Printer(AP), Say(std::move(Say))
	{
		Asm = nullptr; // no debug information is ours
	}
	void beginModule(Module *) override
	{
	}
	void endModule() override
	{
	}
	void beginFunctionImpl(const MachineFunction *) override
	{
	}
	void endFunctionImpl(const MachineFunction *) override
	{
	}

	void beginInstruction(const MachineInstr *MI) override
	{
		Around A = aroundOf(*MI);

		if (Current != &Printer.MF->getFunction()) {
			Current = &Printer.MF->getFunction();
			Block = nullptr;
			Last = SHIM_NOTHING;
			solve(*Printer.MF);
		}
		if (Block != MI->getParent()) {
			Block = MI->getParent();
			sayStart(States[Block]);
		}
		say(probeOf(*MI));
		if (isLastCall(*MI))
			A.Before = 0;
		if (A.Before != Last)
			say(A.Before);
		Behind = A.Behind;
	}

	void endInstruction() override
	{
		say(Behind);
		Behind = SHIM_NOTHING;
	}
};

} // namespace

std::unique_ptr<DebugHandlerBase> makeProbes(AsmPrinter &Printer,
                                             std::function<void(uint32_t)> Say)
{
	return std::make_unique<Probes>(Printer, std::move(Say));
}
