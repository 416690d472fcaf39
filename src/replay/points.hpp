// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_REPLAY_POINTS_HPP
#define CAIRN_REPLAY_POINTS_HPP

// What the files of points.h share.

#include "replay/points.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

#include <map>
#include <vector>

// A phi of a question: what it is, coming from each block.
struct Flag {
	llvm::WeakTrackingVH phi;
	std::vector<llvm::Constant *> from;
};

struct Point {
	llvm::Instruction *at = nullptr; // it is before this
	bool isIn = false;               // or in the call at it
	bool tellsFrom = false;
	std::vector<llvm::Value *> values;
	llvm::CallInst *mark = nullptr;
	std::vector<Flag> flags;
	llvm::WeakTrackingVH from, result;
	llvm::Instruction *check = nullptr, *end = nullptr;
	llvm::AllocaInst *resultSlot = nullptr;
};

struct points {
	llvm::Function *f;
	std::map<uint32_t, Point> all;
	bool hasTwice = false;             // it calls setjmp
	std::vector<llvm::Value *> jumped; // values that longjmp brings back
	std::vector<llvm::AllocaInst *> variables;
	llvm::DenseSet<const llvm::AllocaInst *> own; // those of the IR
	llvm::DenseSet<const llvm::PHINode *> phis;   // before any question
	llvm::DenseMap<llvm::Value *, llvm::AllocaInst *> slots;
	llvm::BasicBlock *begin = nullptr; // of the copy
	llvm::Value *frame = nullptr;
};

// Can it be a part of a frame?  Addresses in private variables follow from
// where those are.
bool isPrivateAddress(const llvm::Value *v);
bool isKept(const llvm::Value *v);

// Fills in what lives where; twice: calls that longjmp comes back to.
void findLive(points &p, const std::vector<llvm::Instruction *> &twice);

#endif // CAIRN_REPLAY_POINTS_HPP
