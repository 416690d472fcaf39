// SPDX-License-Identifier: Apache-2.0
//
// Blocks for what the heads of catch, while and switch declare.
//
// Clang gives if and for a lexical block of their own, but says of a variable
// in the head of these three that it is in the block around the statement,
// where nothing tells whether code behind the statement means that variable or
// an outer one of the same name.  Before the optimizer the IR still shows which
// statement has declared it:
//
// - catch: the record is just before the call of __cxa_begin_catch.  The body
//   is the first block of the same scope that begins behind the declaration.
// - switch and while: the instruction that branches has the position of the
//   keyword, which is before that of the declaration, and comes later.  The
//   body of switch is a block; that of while is what only the branch leads to,
//   up to the end of the loop, which the loop's metadata have.
//
// The variable, the body and the instructions of the head then get a block
// between them and the scope.  What is not recognized stays as it was.
//
// It has to be before clang's own first pass, which makes records of
// assignments of those of declarations (entry.cpp).
//
// Invariant: lines and columns stay, and so do all instructions.
// Cost: linear in the instructions of functions with such heads, per head.
#include "plugin/record.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

namespace
{

using Position = std::pair<unsigned, unsigned>; // line and column

// A variable as it is declared.
struct Declaration {
	DbgVariableRecord *Record;
	DILocalVariable *Variable;
	const DILocalScope *Scope;
	Position At;

	const BasicBlock *block() const
	{
		return Record->getParent();
	}

	// behind it
	const Instruction *place() const
	{
		return Record->getInstruction();
	}
};

class Heads
{
	Function &F;
	DominatorTree Tree;
	std::vector<Declaration> Declarations;
	DenseSet<const DILocalVariable *> Done;
	bool Changed = false;

	bool isCatch(const Declaration &D, const Instruction *Begin) const;
	bool isTopOfLoop(const Declaration &D, const DILocation *Keyword) const;
	bool isOfHead(const Declaration &D, const Instruction &Branch) const;
	void addVariable(DILocalVariable *V, DILexicalBlock *Block);
	DILexicalBlock *addBlock(const Declaration &D);
	void enterHead(const Declaration &D, const Instruction &Branch,
	               DILexicalBlock *Block);
	DILexicalBlock *bodyOfCatch(const Declaration &D,
	                            const Instruction &Begin) const;
	DILexicalBlock *bodyOfSwitch(const Declaration &D,
	                             const Instruction &Branch) const;
	std::optional<Position> endOfLoop(const Instruction &Branch) const;
	Position behindLoop(const Declaration &D,
	                    const Instruction &Branch) const;
	void enterBody(const Declaration &D, const Instruction &Branch,
	               Position End, DILexicalBlock *Block);
	void doCatch(const Declaration &D, Instruction &Begin);
	void doSwitch(const Declaration &D, Instruction &Branch);
	void doWhile(const Declaration &D, Instruction &Branch);

      public:
	explicit Heads(Function &F);
	bool run();
};

} // namespace

// --- positions and scopes ----------------------------------------------------

static const DILocalScope *scopeOf(const DILocation *L)
{
	return L->getScope()->getNonLexicalBlockFileScope();
}

static Position positionOf(const DILocation *L)
{
	return {L->getLine(), L->getColumn()};
}

static Position beginOf(const DILocalScope *S)
{
	if (auto *B = dyn_cast<DILexicalBlock>(S))
		return {B->getLine(), B->getColumn()};
	return {cast<DISubprogram>(S)->getLine(), 0};
}

// The block of `Scope` itself that has the location, or NULL.
static DILexicalBlock *childAt(const DILocation *L, const DILocalScope *Scope)
{
	for (const DILocalScope *S = scopeOf(L); S != Scope;) {
		if (isa<DISubprogram>(S))
			return nullptr;
		auto *B = cast<DILexicalBlock>(S);
		S = B->getScope()->getNonLexicalBlockFileScope();
		if (S == Scope && B->getFile() == Scope->getFile())
			return const_cast<DILexicalBlock *>(B);
	}
	return nullptr;
}

static const DILocation *inBlock(const DILocation *L, DILexicalBlock *Block)
{
	return DILocation::get(L->getContext(), L->getLine(), L->getColumn(),
	                       Block, nullptr, L->isImplicitCode());
}

// Is code of the scope itself here?
static bool isIn(const DILocation *L, const DILocalScope *Scope)
{
	return L && scopeOf(L) == Scope && L->getFile() == Scope->getFile();
}

Heads::Heads(Function &F) : F(F), Tree(F)
{
	for (Instruction &I : instructions(F))
		for (DbgVariableRecord &R :
		     filterDbgVars(I.getDbgRecordRange())) {
			const DILocation *L = R.getDebugLoc();

			if (R.isDbgDeclare() && L && !L->getInlinedAt())
				Declarations.push_back({&R, R.getVariable(),
				                        nullptr,
				                        positionOf(L)});
		}
}

// --- the new block -----------------------------------------------------------

static void setScope(DILocalVariable *V, DILexicalBlock *Block)
{
	V->replaceOperandWith(0, Block);
}

static void setScope(DILexicalBlock *B, DILexicalBlock *Block)
{
	B->replaceOperandWith(1, Block);
}

void Heads::addVariable(DILocalVariable *V, DILexicalBlock *Block)
{
	setScope(V, Block);
	for (const Declaration &D : Declarations)
		if (D.Variable == V)
			D.Record->setDebugLoc(
			        inBlock(D.Record->getDebugLoc(), Block));
}

DILexicalBlock *Heads::addBlock(const Declaration &D)
{
	auto *Block = DILexicalBlock::getDistinct(
	        F.getContext(), const_cast<DILocalScope *>(D.Scope),
	        D.Scope->getFile(), D.At.first, D.At.second);

	addVariable(D.Variable, Block);
	Done.insert(D.Variable);
	Changed = true;
	return Block;
}

// The instructions of a head, from the declaration to the branch.
void Heads::enterHead(const Declaration &D, const Instruction &Branch,
                      DILexicalBlock *Block)
{
	for (Instruction &I : instructions(F)) {
		const DILocation *L = I.getDebugLoc();

		if (isIn(L, D.Scope) &&
		    (&I == &Branch || positionOf(L) >= D.At) &&
		    Tree.dominates(D.block(), I.getParent()) &&
		    Tree.dominates(I.getParent(), Branch.getParent()))
			I.setDebugLoc(inBlock(L, Block));
	}
}

// --- catch -------------------------------------------------------------------

static bool isCallOf(const Instruction &I, StringRef Name)
{
	auto *Call = dyn_cast<CallBase>(&I);
	const Function *Callee = Call ? Call->getCalledFunction() : nullptr;

	return Callee && Callee->getName() == Name;
}

// Is the declaration the last one before a handler begins?  A constructor that
// copies the exception may be between them.
bool Heads::isCatch(const Declaration &D, const Instruction *Begin) const
{
	const BasicBlock *B = Begin->getParent();

	while (B != D.block()) {
		const BasicBlock *Before = B->getSinglePredecessor();
		auto *Invoke =
		        Before ? dyn_cast<InvokeInst>(Before->getTerminator())
		               : nullptr;

		if (!Invoke || Invoke->getNormalDest() != B)
			return false;
		B = Before;
	}
	return D.place() == Begin || B != Begin->getParent() ||
	       D.place()->comesBefore(Begin);
}

// In a macro all blocks begin at one place; the end of the handler is in the
// right one.
DILexicalBlock *Heads::bodyOfCatch(const Declaration &D,
                                   const Instruction &Begin) const
{
	DILexicalBlock *Body = nullptr, *Ended = nullptr;
	bool IsClear = true;

	for (const BasicBlock *B :
	     depth_first(const_cast<BasicBlock *>(Begin.getParent())))
		for (const Instruction &I : *B) {
			const DILocation *L = I.getDebugLoc();
			DILexicalBlock *Child =
			        L ? childAt(L, D.Scope) : nullptr;

			if (!Child || beginOf(Child) < D.At ||
			    !Tree.dominates(&Begin, &I))
				continue;
			if (!Ended && isCallOf(I, "__cxa_end_catch"))
				Ended = Child;
			if (!Body || beginOf(Child) < beginOf(Body)) {
				Body = Child;
				IsClear = true;
			} else if (Child != Body &&
			           beginOf(Child) == beginOf(Body)) {
				IsClear = false;
			}
		}
	return IsClear && Body && beginOf(Body) > D.At ? Body : Ended;
}

// What copies the exception has the position of what clang emitted before.
void Heads::doCatch(const Declaration &D, Instruction &Begin)
{
	DILexicalBlock *Body = bodyOfCatch(D, Begin);

	if (!Body)
		return;
	DILexicalBlock *Block = addBlock(D);
	setScope(Body, Block);
	for (BasicBlock &B : F)
		for (Instruction &I : B) {
			const DILocation *L = I.getDebugLoc();

			if (!L || !Tree.dominates(D.block(), &B) ||
			    !Tree.dominates(&B, Begin.getParent()) ||
			    childAt(L, Block))
				continue;
			if (L->getLine() == D.At.first &&
			    L->getFile() == D.Scope->getFile())
				I.setDebugLoc(inBlock(L, Block));
		}
}

// --- switch and while --------------------------------------------------------

static bool isLife(const Instruction &I)
{
	auto *Call = dyn_cast<IntrinsicInst>(&I);

	return Call && Call->isLifetimeStartOrEnd();
}

// Is this what is done first in every turn of a loop with this keyword?  In a
// macro, where all positions are one, there has to be a second turn.
bool Heads::isTopOfLoop(const Declaration &D, const DILocation *Keyword) const
{
	const Instruction *I = &D.block()->front();
	bool IsEntered = false, IsAgain = positionOf(Keyword) < D.At;

	while (isLife(*I) && I != D.place())
		I = I->getNextNode();
	for (const BasicBlock *B : predecessors(D.block())) {
		const DILocation *L = B->getTerminator()->getDebugLoc();

		IsAgain |= Tree.isReachableFromEntry(B) &&
		           Tree.dominates(D.block(), B);
		IsEntered |= L && positionOf(L) == positionOf(Keyword);
	}
	return I == D.place() && IsEntered && IsAgain;
}

// Is the branch that of the statement whose head this is in?
bool Heads::isOfHead(const Declaration &D, const Instruction &Branch) const
{
	const DILocation *L = Branch.getDebugLoc();

	if (!isIn(L, D.Scope) || beginOf(D.Scope) >= positionOf(L) ||
	    !Tree.dominates(D.block(), Branch.getParent()))
		return false;
	return isa<SwitchInst>(Branch)
	               ? positionOf(L) < D.At
	               : positionOf(L) <= D.At && isTopOfLoop(D, L);
}

static const DILocation *firstLocation(const BasicBlock &B)
{
	for (const Instruction &I : B)
		if (const DILocation *L = I.getDebugLoc())
			return L;
	return nullptr;
}

DILexicalBlock *Heads::bodyOfSwitch(const Declaration &D,
                                    const Instruction &Branch) const
{
	DILexicalBlock *Body = nullptr;

	for (const BasicBlock *B : successors(&Branch)) {
		const DILocation *L = firstLocation(*B);
		DILexicalBlock *Child = L ? childAt(L, D.Scope) : nullptr;

		if (Child && beginOf(Child) > D.At &&
		    (!Body || beginOf(Child) < beginOf(Body)))
			Body = Child;
	}
	return Body;
}

void Heads::doSwitch(const Declaration &D, Instruction &Branch)
{
	DILexicalBlock *Body = bodyOfSwitch(D, Branch);

	if (!Body && cast<SwitchInst>(Branch).getNumCases())
		return; // a body without braces
	DILexicalBlock *Block = addBlock(D);
	if (Body)
		setScope(Body, Block);
	for (Declaration Other : Declarations) {
		Other.Scope = D.Scope;
		if (Other.Variable->getScope() == D.Scope &&
		    isOfHead(Other, Branch)) {
			addVariable(Other.Variable, Block);
			Done.insert(Other.Variable);
		}
	}
	enterHead(D, Branch, Block);
}

// The position behind a loop.  One whose body never comes back has none.
std::optional<Position> Heads::endOfLoop(const Instruction &Branch) const
{
	Position Keyword = positionOf(Branch.getDebugLoc());

	for (const BasicBlock &B : F) {
		const MDNode *Loop =
		        B.getTerminator()->getMetadata(LLVMContext::MD_loop);

		if (!Loop || Loop->getNumOperands() < 3 ||
		    !Tree.dominates(Branch.getParent(), &B))
			continue;
		auto *From = dyn_cast<DILocation>(Loop->getOperand(1));
		auto *To = dyn_cast<DILocation>(Loop->getOperand(2));
		if (From && To && positionOf(From) == Keyword)
			return Position(To->getLine(), To->getColumn() + 1);
	}
	return std::nullopt;
}

// The position of what follows a loop; the last one if that is not seen.
Position Heads::behindLoop(const Declaration &D,
                           const Instruction &Branch) const
{
	for (const Instruction &I : *Branch.getSuccessor(1)) {
		const DILocation *L = I.getDebugLoc();

		if (isIn(L, D.Scope) && !isLife(I) && positionOf(L) > D.At)
			return positionOf(L);
	}
	return {~0u, ~0u};
}

// What only the branch leads to, up to a position.
void Heads::enterBody(const Declaration &D, const Instruction &Branch,
                      Position End, DILexicalBlock *Block)
{
	BasicBlockEdge Way(Branch.getParent(), Branch.getSuccessor(0));
	auto isInside = [&](const Instruction &I, Position P) {
		return P >= D.At && P < End &&
		       Tree.isReachableFromEntry(I.getParent()) &&
		       Tree.dominates(Way, I.getParent());
	};

	for (Instruction &I : instructions(F)) {
		const DILocation *L = I.getDebugLoc();
		DILexicalBlock *Child = L ? childAt(L, D.Scope) : nullptr;

		if (isIn(L, D.Scope) && isInside(I, positionOf(L)))
			I.setDebugLoc(inBlock(L, Block));
		else if (Child && Child != Block && isInside(I, beginOf(Child)))
			setScope(Child, Block);
	}
	for (const Declaration &Other : Declarations)
		if (Other.Variable->getScope() == D.Scope &&
		    isInside(*Other.place(), Other.At))
			addVariable(Other.Variable, Block);
}

void Heads::doWhile(const Declaration &D, Instruction &Branch)
{
	auto End = endOfLoop(Branch);
	const DILocation *First = firstLocation(*Branch.getSuccessor(0));
	DILexicalBlock *Body = First ? childAt(First, D.Scope) : nullptr;
	DILexicalBlock *Block = addBlock(D);

	enterHead(D, Branch, Block);
	if (!End && Body && beginOf(Body) > D.At)
		setScope(Body, Block);
	else
		enterBody(D, Branch, End ? *End : behindLoop(D, Branch), Block);
}

// --- all heads ---------------------------------------------------------------

bool Heads::run()
{
	if (Declarations.empty())
		return false;
	for (Instruction &I : instructions(F)) {
		bool IsBegin = isCallOf(I, "__cxa_begin_catch");
		bool IsSwitch = isa<SwitchInst>(I);
		auto *Branch = dyn_cast<BranchInst>(&I);

		if ((!IsBegin && !IsSwitch &&
		     !(Branch && Branch->isConditional())) ||
		    !Tree.isReachableFromEntry(I.getParent()))
			continue;
		for (Declaration &D : Declarations) {
			const DILocalScope *S = D.Variable->getScope();

			D.Scope = S->getNonLexicalBlockFileScope();
			if (Done.contains(D.Variable) ||
			    !isIn(D.Record->getDebugLoc(), D.Scope))
				continue;
			if (IsBegin && isCatch(D, &I))
				doCatch(D, I);
			else if (IsSwitch && isOfHead(D, I))
				doSwitch(D, I);
			else if (Branch && isOfHead(D, I))
				doWhile(D, I);
		}
	}
	return Changed;
}

// C has no such heads.
static bool isCxx(const Function &F)
{
	const DISubprogram *S = F.getSubprogram();

	return S && S->getUnit() &&
	       dwarf::isCPlusPlus(dwarf::SourceLanguage(
	               S->getUnit()->getSourceLanguage()));
}

bool record_give_blocks(LLVMModuleRef Module)
{
	bool Changed = false;

	for (Function &F : *unwrap(Module))
		if (!F.isDeclaration() && isCxx(F))
			Changed |= Heads(F).run();
	return Changed;
}
