// SPDX-License-Identifier: Apache-2.0
//
// What the rewriter needs and LLVM-C lacks, wrapped in C; nothing else.
#include "replay/shim.h"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <new>
#include <vector>

using namespace llvm;

static void (*noMemory)();

static void handleBadAlloc(void *, const char *, bool)
{
	noMemory();
}

void replay_shim_on_no_memory(void (*handle)(void))
{
	noMemory = handle;
	std::set_new_handler(handle);
	install_bad_alloc_error_handler(handleBadAlloc);
}

LLVMBasicBlockRef replay_shim_split(LLVMValueRef before)
{
	Instruction *i = unwrap<Instruction>(before);

	return wrap(i->getParent()->splitBasicBlock(i));
}

void replay_shim_cut(LLVMValueRef first)
{
	BasicBlock *block = unwrap<Instruction>(first)->getParent();
	Instruction *last;

	do {
		last = &block->back();
		last->dropDbgRecords();
		if (!last->use_empty())
			last->replaceAllUsesWith(
			        PoisonValue::get(last->getType()));
		last->eraseFromParent();
	} while (wrap(last) != first);
}

LLVMValueRef replay_shim_if(LLVMValueRef condition, LLVMValueRef before,
                            bool is_rare)
{
	Instruction *i = unwrap<Instruction>(before);
	MDNode *weights = nullptr;

	if (is_rare)
		weights = MDBuilder(i->getContext())
		                  .createBranchWeights(1, 1u << 20);
	return wrap(SplitBlockAndInsertIfThen(unwrap(condition), i, false,
	                                      weights));
}

void replay_shim_if_else(LLVMValueRef condition, LLVMValueRef before,
                         LLVMValueRef *then, LLVMValueRef *otherwise)
{
	Instruction *a, *b;

	SplitBlockAndInsertIfThenElse(unwrap(condition),
	                              unwrap<Instruction>(before), &a, &b);
	*then = wrap(a);
	*otherwise = wrap(b);
}

// What may stay: what the calling convention depends on.  But for sret: replay
// code looks at no address that such a function returns, and LLVM makes no tail
// call of one whose argument is loaded, as in a frame that is made again.
static AttributeSet kept(LLVMContext &context, AttributeSet set)
{
	static const Attribute::AttrKind abi[] = {
	        Attribute::ZExt,           Attribute::SExt,
	        Attribute::InReg,          Attribute::Nest,
	        Attribute::StackAlignment, Attribute::SwiftSelf,
	        Attribute::SwiftError};
	AttrBuilder b(context);

	for (Attribute::AttrKind kind : abi)
		if (set.hasAttribute(kind))
			b.addAttribute(set.getAttribute(kind));
	return AttributeSet::get(context, b);
}

static AttributeList kept(LLVMContext &context, AttributeList list,
                          unsigned nargs, AttributeSet function)
{
	std::vector<AttributeSet> args;

	for (unsigned i = 0; i < nargs; i++)
		args.push_back(kept(context, list.getParamAttrs(i)));
	return AttributeList::get(context, function,
	                          kept(context, list.getRetAttrs()), args);
}

static void strip(CallBase *c)
{
	AttrBuilder none(c->getContext());

	none.addAttribute(Attribute::NoUnwind);
	c->setAttributes(kept(c->getContext(), c->getAttributes(),
	                      c->arg_size(),
	                      AttributeSet::get(c->getContext(), none)));
	if (auto *call = dyn_cast<CallInst>(c))
		call->setTailCallKind(CallInst::TCK_None);
}

void replay_shim_strip_call(LLVMValueRef call)
{
	strip(unwrap<CallBase>(call));
}

// What the choice of instructions depends on.
static AttributeSet target_of(Function *f)
{
	AttrBuilder b(f->getContext());

	for (Attribute a : f->getAttributes().getFnAttrs())
		if (a.isStringAttribute() &&
		    (a.getKindAsString() == "target-cpu" ||
		     a.getKindAsString() == "target-features" ||
		     a.getKindAsString() == "tune-cpu" ||
		     a.getKindAsString().ends_with("vector-width") ||
		     a.getKindAsString().starts_with("denormal-fp-math")))
			b.addAttribute(a);
	b.addAttribute(Attribute::NoUnwind);
	return AttributeSet::get(f->getContext(), b);
}

void replay_shim_strip_function(LLVMValueRef function)
{
	Function *f = unwrap<Function>(function);
	f->setAttributes(kept(f->getContext(), f->getAttributes(),
	                      f->arg_size(), target_of(f)));
	if (f->hasPersonalityFn())
		f->setPersonalityFn(nullptr);
	if (f->hasPrefixData())
		f->setPrefixData(nullptr);
	if (f->hasPrologueData())
		f->setPrologueData(nullptr);
	f->clearGC();
	f->setComdat(nullptr);
	f->setSection("");
	f->setPartition("");
	f->clearMetadata();
}

bool replay_shim_is_in_memory(LLVMValueRef f, unsigned parameter)
{
	return unwrap<Function>(f)
	        ->getArg(parameter)
	        ->hasPassPointeeByValueCopyAttr();
}

LLVMValueRef replay_shim_call_like(LLVMValueRef like, LLVMValueRef callee,
                                   LLVMValueRef before)
{
	CallBase *c = unwrap<CallBase>(like);
	std::vector<Value *> args(c->arg_begin(), c->arg_end());
	CallInst *call =
	        CallInst::Create(c->getFunctionType(), unwrap(callee), args, "",
	                         unwrap<Instruction>(before));

	call->setCallingConv(c->getCallingConv());
	call->setAttributes(c->getAttributes());
	call->setDebugLoc(c->getDebugLoc());
	strip(call);
	return wrap(call);
}

// Does a function take and return its values as a call expects it?
static bool isLike(const Function &f, const CallInst &call)
{
	if (f.getFunctionType() != call.getFunctionType() ||
	    f.getCallingConv() != call.getCallingConv() ||
	    f.getAttributes().getRetAttrs() !=
	            call.getAttributes().getRetAttrs())
		return false;
	for (unsigned i = 0; i < f.arg_size(); i++)
		if (f.getAttributes().getParamAttrs(i) !=
		    call.getAttributes().getParamAttrs(i))
			return false;
	return true;
}

LLVMValueRef replay_shim_tail_like(LLVMValueRef like, LLVMValueRef callee,
                                   LLVMValueRef before)
{
	auto *call =
	        unwrap<CallInst>(replay_shim_call_like(like, callee, before));
	bool must = unwrap<CallInst>(like)->isMustTailCall() ||
	            isLike(*call->getFunction(), *call);

	call->setTailCallKind(must ? CallInst::TCK_MustTail
	                           : CallInst::TCK_Tail);
	return wrap(call);
}

void replay_shim_call_abi(LLVMValueRef call, LLVMValueRef function)
{
	CallInst *c = unwrap<CallInst>(call);
	Function *f = unwrap<Function>(function);

	c->setCallingConv(f->getCallingConv());
	c->setAttributes(f->getAttributes());
	strip(c);
	c->getFunction()->setAttributes(AttributeList::get(
	        f->getContext(), target_of(f), AttributeSet(), {}));
}

void replay_shim_clear_module(LLVMModuleRef module)
{
	Module *m = unwrap(module);
	std::vector<NamedMDNode *> nodes;
	std::vector<GlobalVariable *> special;

	m->setModuleInlineAsm("");
	for (NamedMDNode &n : m->named_metadata())
		if (n.getName() != "llvm.dbg.cu")
			nodes.push_back(&n);
	for (NamedMDNode *n : nodes)
		m->eraseNamedMetadata(n);
	for (GlobalVariable &g : m->globals())
		if (g.getName().starts_with("llvm."))
			special.push_back(&g);
	for (GlobalVariable *g : special)
		g->eraseFromParent();
}

bool replay_shim_is_used(LLVMValueRef global)
{
	unwrap<GlobalValue>(global)->removeDeadConstantUsers();
	return !unwrap(global)->use_empty();
}

void replay_shim_erase(LLVMValueRef alias)
{
	unwrap<GlobalAlias>(alias)->eraseFromParent();
}

LLVMValueRef replay_shim_invoke_to_call(LLVMValueRef invoke)
{
	InvokeInst *i = unwrap<InvokeInst>(invoke);
	BasicBlock *next = i->getNormalDest();
	LLVMValueRef call = replay_shim_call_like(
	        invoke, wrap(i->getCalledOperand()), invoke);

	unwrap(call)->takeName(i);
	i->replaceAllUsesWith(unwrap(call));
	BranchInst::Create(next, i);
	i->eraseFromParent();
	return call;
}

void replay_shim_phis_from(LLVMBasicBlockRef block, LLVMBasicBlockRef from,
                           LLVMBasicBlockRef to)
{
	unwrap(block)->replacePhiUsesWith(unwrap(from), unwrap(to));
}

LLVMValueRef replay_shim_after_allocas(LLVMValueRef f)
{
	BasicBlock &entry = unwrap<Function>(f)->getEntryBlock();
	std::vector<AllocaInst *> allocas;
	BasicBlock::iterator at;

	for (Instruction &i : entry)
		if (auto *a = dyn_cast<AllocaInst>(&i))
			if (isa<ConstantInt>(a->getArraySize()))
				allocas.push_back(a);
	for (auto a = allocas.rbegin(); a != allocas.rend(); a++)
		(*a)->moveBefore(entry, entry.begin());
	at = entry.begin();
	for (size_t n = allocas.size(); n; n--)
		++at;
	return wrap(&*at);
}

LLVMValueRef replay_shim_insertion_point(LLVMBasicBlockRef block)
{
	return wrap(&*unwrap(block)->getFirstInsertionPt());
}

static bool leaves_its_block(Instruction &i)
{
	if (isa<AllocaInst>(i))
		return false;
	for (User *u : i.users()) {
		auto *user = cast<Instruction>(u);

		if (user->getParent() != i.getParent() || isa<PHINode>(user))
			return true;
	}
	return false;
}

void replay_shim_demote(LLVMValueRef function)
{
	Function *f = unwrap<Function>(function);
	Instruction *at =
	        unwrap<Instruction>(replay_shim_after_allocas(function));
	std::vector<Instruction *> values;
	std::vector<PHINode *> phis;

	for (BasicBlock &b : *f)
		for (Instruction &i : b)
			if (leaves_its_block(i))
				values.push_back(&i);
	for (Instruction *i : values)
		DemoteRegToStack(*i, false, at->getIterator());
	for (BasicBlock &b : *f)
		for (PHINode &p : b.phis())
			phis.push_back(&p);
	for (PHINode *p : phis)
		DemotePHIToStack(p, at->getIterator());
}

void replay_shim_lower_atomics(LLVMValueRef function)
{
	std::vector<Instruction *> all;

	for (BasicBlock &b : *unwrap<Function>(function))
		for (Instruction &i : b)
			if (isa<AtomicRMWInst, AtomicCmpXchgInst>(i))
				all.push_back(&i);
	for (Instruction *i : all)
		if (auto *r = dyn_cast<AtomicRMWInst>(i))
			lowerAtomicRMWInst(r);
		else
			lowerAtomicCmpXchgInst(cast<AtomicCmpXchgInst>(i));
}

void replay_shim_promote(LLVMValueRef function)
{
	Function *f = unwrap<Function>(function);
	std::vector<AllocaInst *> allocas;

	for (Instruction &i : f->getEntryBlock())
		if (auto *a = dyn_cast<AllocaInst>(&i))
			if (isAllocaPromotable(a))
				allocas.push_back(a);
	if (!allocas.empty()) {
		removeUnreachableBlocks(*f);
		DominatorTree tree(*f);

		PromoteMemToReg(allocas, tree);
	}
}

unsigned replay_shim_line(LLVMValueRef instruction)
{
	const DILocation *at = unwrap<Instruction>(instruction)->getDebugLoc();

	if (!at)
		return 0;
	while (at->getInlinedAt())
		at = at->getInlinedAt();
	return at->getLine();
}

/* Nobody asks where headers of the system do something. */
static const DILocation *leave_headers(const DILocation *at)
{
	while (at && at->getInlinedAt() &&
	       at->getFilename().starts_with("/usr/"))
		at = at->getInlinedAt();
	return at;
}

bool replay_shim_find_place(LLVMValueRef instruction,
                            struct replay_shim_place *place)
{
	const DILocation *at =
	        leave_headers(unwrap<Instruction>(instruction)->getDebugLoc());
	const DISubprogram *f = at ? at->getScope()->getSubprogram() : nullptr;

	if (!f)
		return false;
	place->function = f->getName().data();
	place->nfunction = f->getName().size();
	place->file = at->getFilename().data();
	place->nfile = at->getFilename().size();
	place->line = at->getLine();
	return true;
}
