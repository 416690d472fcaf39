// SPDX-License-Identifier: Apache-2.0
//
// What a frame consists of, where it is left for a checkpoint, and how it is
// made again.
//
// A frame at a point is: the values that live across it; private variables; in
// a function that calls setjmp, all values that live across that; and, where a
// question may have to know it, from which block control came.  Live is what
// the function itself uses later, and, since a question may use them at any
// place, all values that debug records name, wherever they are known: a use
// that a value reaches around a point is behind a definition that dominates it.
//
// The rewriter takes a mark along, a call with these values as operands, from
// the point to the block where frames are left.  In the end the mark becomes
// code that writes them, if the engine says so; and, in a copy of the function,
// a block per point that loads them and jumps behind the look at `unwinding`.
// Values are in memory for that, and afterwards in registers again.
//
// Invariant: numbers, order and sizes are a function of canonical IR.
// Cost: bits for values times blocks; nothing on the ways that replay code
// usually goes, but for debug values that live longer.
#include "replay/points.hpp"

#include "replay/state.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

// --- points ------------------------------------------------------------------

// The first instruction behind variables.
static Instruction *firstOf(Function &f)
{
	for (Instruction &i : f.getEntryBlock())
		if (!isa<AllocaInst>(i))
			return &i;
	return nullptr;
}

static bool hasLine(const Instruction &i)
{
	const DILocation *at = i.getDebugLoc();

	return at && at->getLine();
}

// May a question at a later instruction of the block ask where control came
// from?  Not behind one that has a line.
static bool mayTellFrom(const Point &point)
{
	const BasicBlock *b = point.at->getParent();

	if (!b->getParent()->getSubprogram() || b->hasNPredecessors(0) ||
	    b->getUniquePredecessor())
		return false;
	for (const Instruction &i : *b) {
		if (&i == point.at)
			return !point.isIn || !hasLine(i);
		if (!isa<PHINode>(i) && hasLine(i))
			return false;
	}
	return false;
}

static void addPoint(points &p, uint32_t n, Instruction *at, bool isIn)
{
	Point point;

	point.at = at;
	point.isIn = isIn;
	point.tellsFrom = mayTellFrom(point);
	p.all[n] = std::move(point);
}

// Is a frame there while it makes the call?
static bool isIn(const ir_site &s)
{
	return (s.kind == IR_CALL || s.kind == IR_KNOWN ||
	        s.kind == IR_LINKED) &&
	       !s.is_tail;
}

static void addPoints(points &p, const ir_function *ir)
{
	addPoint(p, POINTS_ENTRY, firstOf(*p.f), false);
	for (uint32_t i = 0; i < ir->nheads; i++)
		addPoint(p, points_head(i),
		         &*unwrap(ir->heads[i])->getFirstInsertionPt(), false);
	for (uint32_t i = 0; i < ir->nsites; i++) {
		auto *at = unwrap<Instruction>(ir->sites[i].at);

		if (isIn(ir->sites[i]))
			addPoint(p, points_in(ir, i), at, true);
	}
}

struct points *points_find(const struct ir_function *ir)
{
	auto *p = new points;
	std::vector<Instruction *> twice;

	p->f = unwrap<Function>(ir->f);
	p->f->getParent()->setIsNewDbgInfoFormat(true);
	for (Instruction &i : instructions(*p->f)) {
		if (auto *phi = dyn_cast<PHINode>(&i))
			p->phis.insert(phi);
		if (auto *a = dyn_cast<AllocaInst>(&i)) {
			p->variables.push_back(a);
			p->own.insert(a);
		}
	}
	addPoints(*p, ir);
	for (uint32_t i = 0; i < ir->nsites; i++)
		if (ir->sites[i].kind == IR_TWICE)
			twice.push_back(unwrap<Instruction>(ir->sites[i].at));
	p->hasTwice = !twice.empty();
	findLive(*p, twice);
	return p;
}

bool points_has(const struct points *p, uint32_t point)
{
	return p->all.count(point);
}

void points_free(struct points *p)
{
	delete p;
}

// --- marks -------------------------------------------------------------------

static FunctionCallee markFunction(Module &m)
{
	LLVMContext &c = m.getContext();

	return m.getOrInsertFunction(
	        REPLAY_MARK, FunctionType::get(Type::getVoidTy(c), true));
}

// Of a phi the end of the block that a value comes from.
static Instruction *placeOf(const Use &u)
{
	auto *user = cast<Instruction>(u.getUser());
	auto *phi = dyn_cast<PHINode>(user);

	return phi ? phi->getIncomingBlock(u)->getTerminator() : user;
}

static AllocaInst *demoteArgument(Argument &a)
{
	Function &f = *a.getParent();
	IRBuilder<> b(&f.getEntryBlock(), f.getEntryBlock().begin());
	AllocaInst *slot = b.CreateAlloca(a.getType());
	// a phi has one value for a block, however often it names it
	std::map<std::pair<Value *, Value *>, LoadInst *> known;
	std::vector<Use *> uses;

	for (Use &u : a.uses())
		uses.push_back(&u);
	for (Use *u : uses) {
		Instruction *at = placeOf(*u);
		LoadInst *&v = known[{u->getUser(), at}];

		if (!v)
			v = new LoadInst(a.getType(), slot, "",
			                 at->getIterator());
		u->set(v);
	}
	b.SetInsertPoint(firstOf(f));
	b.CreateStore(&a, slot);
	return slot;
}

// Values in memory from here on: stored where they are made.
static AllocaInst *demote(Value *v)
{
	auto *i = dyn_cast<Instruction>(v);

	if (!i)
		return demoteArgument(*cast<Argument>(v));
	return DemoteRegToStack(*i, false,
	                        firstOf(*i->getFunction())->getIterator());
}

// One that only debug information names, which LLVM would remove: it gets a use
// for as long as that takes, before the setjmp that it is there at.
static AllocaInst *demoteUnused(Instruction &i, const ir_function *ir)
{
	DominatorTree tree(*i.getFunction());
	AllocaInst *slot = nullptr;

	for (uint32_t k = 0; !slot && k < ir->nsites; k++) {
		auto *at = unwrap<Instruction>(ir->sites[k].at);

		if (ir->sites[k].kind != IR_TWICE || !tree.dominates(&i, at))
			continue;
		auto *use = new FreezeInst(&i, "", at->getIterator());

		slot = demote(&i);
		auto *load = cast<Instruction>(use->getOperand(0));
		use->eraseFromParent();
		load->eraseFromParent();
	}
	return slot;
}

// The number of the block that control came from.
static PHINode *tellFrom(BasicBlock &b)
{
	IRBuilder<> top(&b, b.begin());
	PHINode *phi = top.CreatePHI(top.getInt32Ty(), pred_size(&b));
	DenseMap<BasicBlock *, uint32_t> known;

	for (BasicBlock *from : predecessors(&b)) {
		auto [at, isNew] =
		        known.try_emplace(from, uint32_t(known.size()));

		phi->addIncoming(top.getInt32(at->second), from);
	}
	return phi;
}

// What a question put there says, for each of these numbers.
static void findFlags(const points &p, Point &point, const PHINode &from)
{
	for (PHINode &phi : point.at->getParent()->phis()) {
		Flag flag = {&phi, {}};
		bool isFlag = !p.phis.count(&phi) && &phi != &from &&
		              phi.getType()->isIntegerTy(64);

		for (unsigned i = 0; isFlag && i < from.getNumIncomingValues();
		     i++) {
			auto *n = cast<ConstantInt>(from.getIncomingValue(i));
			auto *v =
			        dyn_cast<Constant>(phi.getIncomingValueForBlock(
			                from.getIncomingBlock(i)));

			isFlag = v;
			flag.from.resize(
			        std::max(flag.from.size(),
			                 size_t(n->getZExtValue() + 1)));
			flag.from[n->getZExtValue()] = v;
		}
		if (isFlag)
			point.flags.push_back(flag);
	}
}

void points_place(struct points *p, const struct ir_function *ir)
{
	FunctionCallee mark = markFunction(*p->f->getParent());
	DenseMap<BasicBlock *, PHINode *> froms;

	for (auto &[n, point] : p->all) {
		if (!point.tellsFrom)
			continue;
		PHINode *&from = froms[point.at->getParent()];

		if (!from)
			from = tellFrom(*point.at->getParent());
		point.from = from;
		findFlags(*p, point, *from);
	}
	for (auto &[n, point] : p->all) {
		IRBuilder<> b(point.at);
		std::vector<Value *> args(point.values);

		// questions come behind the tick of a head
		if (n >= 1 && n < 1 + ir->nheads)
			b.SetInsertPoint(
			        point.at->getParent(),
			        point.at->getParent()->getFirstInsertionPt());
		if (point.from)
			args.push_back(point.from);
		b.SetCurrentDebugLocation(point.at->getDebugLoc());
		point.mark = b.CreateCall(mark, args);
	}
	for (Value *v : p->jumped) {
		auto *i = dyn_cast<Instruction>(v);

		p->variables.push_back(
		        i && i->use_empty() ? demoteUnused(*i, ir) : demote(v));
	}
}

LLVMValueRef points_behind(const struct points *p, uint32_t n,
                           LLVMValueRef usual)
{
	if (!p || !p->hasTwice)
		return usual;
	return wrap(p->all.at(n).mark->getNextNode());
}

void points_add_variable(struct points *p, LLVMValueRef alloca)
{
	p->variables.push_back(unwrap<AllocaInst>(alloca));
}

void points_leave(struct points *p, uint32_t n, LLVMValueRef check,
                  LLVMValueRef leave)
{
	Point &point = p->all.at(n);

	point.check = unwrap<Instruction>(check);
	point.mark->moveBefore(unwrap<Instruction>(leave));
}

void points_result(struct points *p, uint32_t n, LLVMValueRef v)
{
	p->all.at(n).result = unwrap(v);
}

// --- frames ------------------------------------------------------------------

namespace
{

// Where the parts of a frame are, behind the number of its point.
class Parts
{
	const DataLayout &layout;
	uint64_t size = 8;

      public:
	explicit Parts(const Function &f) : layout(f.getDataLayout())
	{
	}

	uint64_t add(uint64_t bytes)
	{
		uint64_t at = size;

		size += alignTo(bytes, 8);
		return at;
	}

	uint64_t add(Type *t)
	{
		return add(layout.getTypeAllocSize(t));
	}

	uint64_t add(const AllocaInst *a)
	{
		return add(bytesOf(a));
	}

	uint64_t bytesOf(const AllocaInst *a)
	{
		return a->getAllocationSize(layout)->getFixedValue();
	}

	uint64_t total() const
	{
		return size;
	}
};

} // namespace

static Value *placeIn(IRBuilder<> &b, Value *frame, uint64_t offset)
{
	return b.CreateConstGEP1_64(b.getInt8Ty(), frame, offset);
}

// Variables have nothing in them when a function is entered, but for arguments
// that longjmp brings back and frames of setjmp.
static bool hasVariables(const points &p, uint32_t n)
{
	return n != POINTS_ENTRY || p.hasTwice;
}

static void copyVariable(IRBuilder<> &b, Parts &parts, AllocaInst *a,
                         Value *frame, bool isOut)
{
	Value *there = placeIn(b, frame, parts.add(a));
	Type *t = a->getAllocatedType();

	if (!isAllocaPromotable(a)) {
		Value *to = isOut ? there : a, *from = isOut ? a : there;

		b.CreateMemCpy(to, Align(1), from, Align(1), parts.bytesOf(a));
	} else if (isOut) {
		b.CreateAlignedStore(b.CreateLoad(t, a), there, Align(8));
	} else {
		b.CreateStore(b.CreateAlignedLoad(t, there, Align(8)), a);
	}
}

static uint64_t sizeOf(const points &p, uint32_t n, const Point &point)
{
	Parts parts(*p.f);

	for (const Use &u : point.mark->args())
		parts.add(u->getType());
	if (hasVariables(p, n))
		for (AllocaInst *a : p.variables)
			parts.add(a);
	return parts.total();
}

static void writeFrame(points &p, uint32_t n, Point &point, FunctionCallee save,
                       Value *cell)
{
	IRBuilder<> b(point.mark);
	Parts parts(*p.f);
	Value *frame = b.CreateCall(
	        save, {cell, b.getInt64(n), b.getInt64(sizeOf(p, n, point))});
	Instruction *end = SplitBlockAndInsertIfThen(
	        b.CreateIsNotNull(frame), point.mark->getIterator(), true);
	Type *t = p.f->getReturnType();

	b.SetInsertPoint(end);
	for (const Use &u : point.mark->args())
		b.CreateAlignedStore(u,
		                     placeIn(b, frame, parts.add(u->getType())),
		                     Align(8));
	if (hasVariables(p, n))
		for (AllocaInst *a : p.variables)
			copyVariable(b, parts, a, frame, true);
	if (t->isVoidTy())
		b.CreateRetVoid();
	else
		b.CreateRet(Constant::getNullValue(t));
	end->eraseFromParent();
}

static FunctionCallee calleeOf(LLVMValueRef f)
{
	return FunctionCallee(unwrap<Function>(f));
}

void points_write(struct points *p, LLVMValueRef save, LLVMValueRef cell)
{
	for (auto &[n, point] : p->all)
		if (point.check)
			writeFrame(*p, n, point, calleeOf(save), unwrap(cell));
}

// --- again -------------------------------------------------------------------

// Variables and addresses in them are known wherever the function begins.
static void moveVariables(BasicBlock &from, BasicBlock &to)
{
	std::vector<Instruction *> all;

	for (Instruction &i : from)
		if (isa<AllocaInst>(i))
			all.push_back(&i);
	for (BasicBlock *b : ReversePostOrderTraversal<BasicBlock *>(&from))
		for (Instruction &i : *b)
			if (isa<GetElementPtrInst>(i) && isPrivateAddress(&i))
				all.push_back(&i);
	for (Instruction *i : all)
		i->moveBefore(to, to.end());
}

static void giveSlot(points &p, Value *v)
{
	if (!isKept(v) || p.slots.count(v))
		return;
	AllocaInst *slot = demote(v);

	p.slots[v] = slot;
}

// What a question's flag is, by the number of the block before.
static Value *valueOf(IRBuilder<> &b, const Flag &flag, Value *from)
{
	Value *v = flag.from[0];

	for (size_t i = 1; i < flag.from.size(); i++)
		v = b.CreateSelect(
		        b.CreateICmpEQ(from, b.getInt32(uint32_t(i))),
		        flag.from[i], v);
	return v;
}

// The variable that the rewriter has put a value into: from there others take
// it, too.
static AllocaInst *variableOf(const points &p, Value *v)
{
	auto *load = dyn_cast<LoadInst>(v);
	auto *a = load ? dyn_cast<AllocaInst>(load->getPointerOperand())
	               : nullptr;

	return a && !p.own.count(a) ? a : nullptr;
}

static void setFlag(points &p, IRBuilder<> &b, const Flag &flag, Value *from)
{
	Value *v = valueOf(b, flag, from), *phi = flag.phi;

	if (p.slots.count(phi))
		b.CreateStore(v, p.slots[phi]);
	if (AllocaInst *a = variableOf(p, phi))
		b.CreateStore(v, a);
}

static void readFrame(points &p, uint32_t n, Point &point,
                      const std::vector<Value *> &values)
{
	IRBuilder<> b(point.end);
	Parts parts(*p.f);

	for (Value *v : values) {
		Value *got = b.CreateAlignedLoad(
		        v->getType(),
		        placeIn(b, p.frame, parts.add(v->getType())), Align(8));

		if (p.slots.count(v))
			b.CreateStore(got, p.slots[v]);
		if (AllocaInst *a = variableOf(p, v))
			b.CreateStore(got, a);
		if (v != point.from)
			continue;
		for (const Flag &flag : point.flags)
			setFlag(p, b, flag, got);
	}
	if (hasVariables(p, n))
		for (AllocaInst *a : p.variables)
			copyVariable(b, parts, a, p.frame, false);
}

// The block that makes a frame, and then goes behind the point.
static void beginAt(points &p, uint32_t n, Point &point,
                    const std::vector<Value *> &values)
{
	BasicBlock *block = BasicBlock::Create(p.f->getContext(), "", p.f);
	BasicBlock *there = point.check->getParent();

	if (&there->front() != point.check)
		there = SplitBlock(there, point.check);
	point.end = BranchInst::Create(there, block);
	readFrame(p, n, point, values);
}

void points_begin_again(struct points *p, LLVMValueRef take, LLVMValueRef cell,
                        const uint32_t *numbers, uint32_t n)
{
	std::map<uint32_t, std::vector<Value *>> values;
	BasicBlock *old = &p->f->getEntryBlock();

	for (uint32_t i = 0; i < n; i++) {
		std::vector<Value *> &list = values[numbers[i]];

		for (Use &u : p->all.at(numbers[i]).mark->args())
			list.push_back(u);
	}
	for (auto &[number, list] : values) {
		Point &point = p->all.at(number);

		for (Value *v : list)
			giveSlot(*p, v);
		for (Flag &flag : point.flags)
			if (flag.phi)
				giveSlot(*p, flag.phi);
		if (Value *v = point.result; v && !v->use_empty()) {
			giveSlot(*p, v);
			point.resultSlot = p->slots[v];
		}
	}
	p->begin = BasicBlock::Create(p->f->getContext(), "", p->f, old);
	moveVariables(*old, *p->begin);
	IRBuilder<> b(p->begin);

	p->frame = b.CreateCall(calleeOf(take), {unwrap(cell)});
	SwitchInst *way =
	        b.CreateSwitch(b.CreateLoad(b.getInt64Ty(), p->frame), old);
	for (auto &[number, list] : values) {
		Point &point = p->all.at(number);

		beginAt(*p, number, point, list);
		way->addCase(b.getInt64(number), point.end->getParent());
	}
}

void points_finish(struct points *p)
{
	for (auto &[n, point] : p->all)
		point.mark->eraseFromParent();
}

LLVMValueRef points_again(struct points *p, uint32_t n)
{
	return wrap(p->all.at(n).end);
}

void points_returned(struct points *p, uint32_t n, LLVMValueRef v)
{
	Point &point = p->all.at(n);

	if (point.resultSlot && v)
		new StoreInst(unwrap(v), point.resultSlot,
		              point.end->getIterator());
}

LLVMValueRef points_call(LLVMValueRef like, LLVMValueRef callee,
                         LLVMValueRef before)
{
	CallBase *c = unwrap<CallBase>(like);
	std::vector<Value *> args;

	for (const Use &u : c->args())
		args.push_back(Constant::getNullValue(u->getType()));
	CallInst *call =
	        CallInst::Create(c->getFunctionType(), unwrap(callee), args, "",
	                         unwrap<Instruction>(before)->getIterator());

	call->setCallingConv(c->getCallingConv());
	call->setAttributes(c->getAttributes());
	return wrap(call);
}

void points_part(LLVMValueRef function, const char *name)
{
	Function *f = unwrap<Function>(function);
	Function *old = Function::Create(f->getFunctionType(),
	                                 GlobalValue::ExternalLinkage, "",
	                                 f->getParent());

	old->copyAttributesFrom(f);
	f->replaceAllUsesWith(old);
	old->takeName(f);
	f->setName(name);
}

void points_declare(LLVMValueRef f)
{
	unwrap<Function>(f)->deleteBody();
}
