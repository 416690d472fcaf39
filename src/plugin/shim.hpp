// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_PLUGIN_SHIM_HPP
#define CAIRN_PLUGIN_SHIM_HPP

#include "plugin/shim.h"

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/IR/PassManager.h"

// The analyses of the module being compiled, and the estimates for one
// function of it.
struct shim {
	llvm::FunctionAnalysisManager &Analyses;
	llvm::BlockFrequencyInfo *Frequencies = nullptr;
	llvm::BranchProbabilityInfo *Probabilities = nullptr;
};

// Makes F the body of a new function, which has its name and all but its code;
// the uses of F stay.
llvm::Function *makeEntry(llvm::Function &F);

#endif // CAIRN_PLUGIN_SHIM_HPP
