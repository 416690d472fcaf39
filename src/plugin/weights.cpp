// SPDX-License-Identifier: Apache-2.0
//
// Counts as the optimizer wants them, where LLVM-C has no way: the metadata
// that clang's own PGOInstrumentationUse leaves, so that all passes behind it
// see what they see there.  But no !irr_loop: before the optimizer a function
// has one computed goto, and counts of its targets are wrong once it is copied
// (Lua: 2.7 % more instructions).
//
//     branch weights    !prof on branches, switches, gotos and invokes
//     entry counts      !prof on functions
//     the summary       a module flag: from which count on code is hot
//
// Weights have 32 bits: the counts of one branch are all divided by the same
// number, the smallest one that lets the largest fit.  Cost: linear.
#include "plugin/shim.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ProfileSummary.h"
#include "llvm/ProfileData/InstrProf.h"
#include "llvm/ProfileData/ProfileCommon.h"

#include <algorithm>

using namespace llvm;

// Counts are summed over many: a sum does not wrap, it stays at the top.
static uint64_t plus(uint64_t A, uint64_t B)
{
	return A + B < A ? UINT64_MAX : A + B;
}

void shim_set_weights(LLVMValueRef terminator, const uint64_t *counts,
                      unsigned n)
{
	auto *End = unwrap<Instruction>(terminator);
	uint64_t Top = *std::max_element(counts, counts + n);
	uint64_t Scale = Top / UINT32_MAX + 1;
	SmallVector<uint32_t, 8> Weights;

	for (unsigned I = 0; I < n; I++)
		Weights.push_back(uint32_t(counts[I] / Scale));
	MDBuilder Builder(End->getContext());
	End->setMetadata(LLVMContext::MD_prof,
	                 Builder.createBranchWeights(Weights));
}

void shim_set_entries(LLVMValueRef f, uint64_t count)
{
	unwrap<Function>(f)->setEntryCount(
	        Function::ProfileCount(count, Function::PCT_Real));
}

uint64_t shim_estimate(struct shim *s, LLVMBasicBlockRef block)
{
	auto Count = s->Frequencies->getBlockProfileCount(unwrap(block));

	return Count ? *Count : 0;
}

void shim_set_temperature(LLVMValueRef f, bool is_hot)
{
	Function &F = *unwrap<Function>(f);

	if (is_hot)
		F.addFnAttr(Attribute::InlineHint);
	else if (!F.hasFnAttribute(Attribute::Hot))
		F.addFnAttr(Attribute::Cold);
}

// --- the summary
// --------------------------------------------------------------

struct shim_summary {
	InstrProfSummaryBuilder Builder{ProfileSummaryBuilder::DefaultCutoffs};
	InstrProfRecord Function;
	uint64_t Total = 0;
};

struct shim_summary *shim_summary_new(void)
{
	return new shim_summary;
}

void shim_summary_add(struct shim_summary *s, uint64_t count, bool is_entry)
{
	if (is_entry && !s->Function.Counts.empty()) {
		s->Builder.addRecord(s->Function);
		s->Function.Counts.clear();
	}
	s->Function.Counts.push_back(count);
	s->Total = plus(s->Total, count);
}

bool shim_summary_set(struct shim_summary *s, LLVMModuleRef module,
                      uint64_t *hot, uint64_t *cold)
{
	Module &M = *unwrap(module);

	if (!s->Function.Counts.empty())
		s->Builder.addRecord(s->Function);
	s->Function.Counts.clear();
	if (!s->Total)
		return false;
	auto Summary = s->Builder.getSummary();
	auto &Detailed = Summary->getDetailedSummary();
	*hot = ProfileSummaryBuilder::getHotCountThreshold(Detailed);
	*cold = ProfileSummaryBuilder::getColdCountThreshold(Detailed);
	M.setProfileSummary(Summary->getMD(M.getContext()),
	                    ProfileSummary::PSK_Instr);
	return true;
}

void shim_summary_free(struct shim_summary *s)
{
	delete s;
}

bool shim_has_summary(LLVMModuleRef module)
{
	return unwrap(module)->getProfileSummary(/*IsCS=*/false);
}
