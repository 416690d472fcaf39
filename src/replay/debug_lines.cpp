// SPDX-License-Identifier: Apache-2.0
//
// Where a line is entered and left in the IR.
//
// An instruction belongs to a line if its location is there, or that of a call
// by which it was inlined: a call is executed as long as what was inlined is.
// A line is entered at an instruction of it if control comes from one that is
// not, or of the same line of another function or another copy; it is left at
// the first that is of another line, or before a tail call.  Instructions
// without a line belong to what was before them.  At the top of a block the
// ways in may differ; each then has its own say.  A loop that is all in one
// line enters it anew in every turn; so does a copy of a loop's body, which
// shows by a variable that is assigned again while the other lines have no
// instructions left.
//
// Cost: linear in instructions, times the nesting of loops without lines.
#include "replay/debug.hpp"

#include "ir/sites.h"

extern "C" {
#include "base/alloc.h"
#include "base/plain.h"
}

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

bool Lines::isFile(const DIFile *f)
{
	if (!f)
		return false;
	auto [at, isNew] = files.insert({f, false});
	if (!isNew)
		return at->second;
	std::string name = f->getFilename().str();
	std::string path = name.empty() || name[0] == '/'
	                           ? name
	                           : f->getDirectory().str() + "/" + name;
	char *plain = plain_file(xstrdup(path.c_str()));

	files[f] = spot_is_file(path.c_str(), line.file) ||
	           spot_is_file(plain, line.file);
	free(plain);
	return files[f];
}

int Lines::groupOf(const Instruction &i)
{
	const DILocation *innermost = i.getDebugLoc().get();

	for (const DILocation *l = innermost; l; l = l->getInlinedAt()) {
		if (l->getLine() != line.line || !isFile(l->getFile()))
			continue;
		const DILocalScope *scope = l->getScope();
		const DISubprogram *f = scope->getSubprogram();
		size_t k = 0;

		while (k < groups.size() &&
		       (groups[k].function != f ||
		        groups[k].inlinedAt != l->getInlinedAt()))
			k++;
		if (k == groups.size())
			groups.push_back({f, l->getInlinedAt(), {}});
		if (!is_contained(groups[k].scopes, scope))
			groups[k].scopes.push_back(scope);
		return int(k) + 1;
	}
	if (isa<ReturnInst>(i))
		return OTHER;
	return innermost && innermost->getLine() ? OTHER : NOWHERE;
}

namespace
{

// The way from one block to another.
struct Way {
	int group;
	bool isTurn; // of a loop in one line
};

class Finder
{
	Lines &lines;
	Function &f;
	DenseMap<const BasicBlock *, int> out;
	DominatorTree tree;
	LoopInfo loops;
	std::vector<Event> events;

	int lastOf(const BasicBlock &b)
	{
		for (const Instruction &i : reverse(b)) {
			int k = lines.groupOf(i);

			if (k != Lines::NOWHERE)
				return k;
		}
		return Lines::NOWHERE;
	}

	int joined(const BasicBlock &b)
	{
		int all = Lines::UNKNOWN;

		for (const BasicBlock *p : predecessors(&b)) {
			int k = out.lookup(p);

			if (k == Lines::UNKNOWN)
				continue;
			if (all != Lines::UNKNOWN && all != k)
				return Lines::OTHER;
			all = k;
		}
		return all;
	}

	void solve()
	{
		std::vector<BasicBlock *> empty;
		bool changes = true;

		for (BasicBlock &b : f) {
			int k = lastOf(b);

			out[&b] = k == Lines::NOWHERE ? Lines::UNKNOWN : k;
			if (k == Lines::NOWHERE)
				empty.push_back(&b);
		}
		while (changes) {
			changes = false;
			for (BasicBlock *b : empty) {
				int k = b == &f.getEntryBlock() ? Lines::OTHER
				                                : joined(*b);
				changes |= k != out[b];
				out[b] = k;
			}
		}
	}

	bool isInOneLine(const Loop &l, int group)
	{
		for (const BasicBlock *b : l.blocks())
			for (const Instruction &i : *b) {
				int k = lines.groupOf(i);

				if (k != group && k != Lines::NOWHERE)
					return false;
			}
		return true;
	}

	Way way(const BasicBlock *from, BasicBlock &to)
	{
		auto *invoke = dyn_cast<InvokeInst>(from->getTerminator());
		int k = out.lookup(from);
		Loop *l = loops.getLoopFor(&to);

		if (k < 0 || (invoke && invoke->getUnwindDest() == &to))
			k = Lines::OTHER;
		return {k, k > 0 && l && l->getHeader() == &to &&
		                   l->contains(from) && isInOneLine(*l, k)};
	}

	void add(Instruction &at, int group, bool isEnd,
	         std::vector<bool> counts)
	{
		bool all = !is_contained(counts, false);
		Instruction *place = &at;

		if (!counts.empty() && !is_contained(counts, true))
			return;
		if (all)
			counts.clear();
		if (isa<PHINode>(at) || at.isEHPad())
			place = &*at.getParent()->getFirstInsertionPt();
		events.push_back({place, unsigned(group), isEnd, counts});
	}

	// At the first instruction of a block that has a line.
	void enterBlock(Instruction &at, int group)
	{
		BasicBlock &b = *at.getParent();
		std::vector<Way> ways;
		std::vector<bool> counts;
		std::vector<int> left;

		for (const BasicBlock *p : predecessors(&b))
			ways.push_back(way(p, b));
		for (const Way &w : ways)
			if (w.group > 0 && (w.group != group || w.isTurn) &&
			    !is_contained(left, w.group))
				left.push_back(w.group);
		for (int g : left) {
			counts.clear();
			for (const Way &w : ways)
				counts.push_back(w.group == g &&
				                 (g != group || w.isTurn));
			add(at, g, true, counts);
		}
		if (group <= 0)
			return;
		counts.clear();
		for (const Way &w : ways)
			counts.push_back(w.group != group || w.isTurn);
		add(at, group, false, counts);
	}

	// Variables of the function that other lines assigned just before an
	// instruction.
	std::vector<const DILocalVariable *> assignedBefore(Instruction &i,
	                                                    int group)
	{
		std::vector<const DILocalVariable *> list;
		const Group &g = lines.groups[size_t(group) - 1];
		auto isHere = [&](const Value *v) {
			auto *at = dyn_cast_or_null<Instruction>(v);

			return at && lines.groupOf(*at) == group;
		};

		for (DbgVariableRecord &r :
		     filterDbgVars(i.getDbgRecordRange()))
			if (!r.isDbgDeclare() && r.getDebugLoc() &&
			    r.getDebugLoc()->getInlinedAt() == g.inlinedAt &&
			    !r.isKillLocation() &&
			    !any_of(r.location_ops(), isHere))
				list.push_back(r.getVariable());
		return list;
	}

	// Did other lines assign a variable again, in the middle of a line?
	bool isAgain(Instruction &i, int group,
	             std::vector<const DILocalVariable *> &seen)
	{
		bool is = false;
		auto list = assignedBefore(i, group);

		for (const DILocalVariable *v : list)
			is |= is_contained(seen, v);
		if (is)
			seen.clear();
		seen.insert(seen.end(), list.begin(), list.end());
		return is;
	}

	// The frame is gone when a tail call is made: a line that goes on until
	// then is left before it.
	void leaveByTail(Instruction &call, int group)
	{
		if (group > 0)
			add(call, group, true, {});
	}

	void scan(BasicBlock &b)
	{
		std::vector<const DILocalVariable *> assigned;
		bool isFirst = true, isGone = false;
		int now = Lines::OTHER;

		for (Instruction &i : b) {
			int k = lines.groupOf(i);

			if (isGone) {
				leaveByTail(*i.getPrevNode(),
				            isFirst ? out.lookup(&b) : now);
				break;
			}
			isGone = ir_is_tail(wrap(&i));
			if (k == Lines::NOWHERE)
				continue;
			if (isFirst) {
				enterBlock(i, k);
			} else if (k != now) {
				if (now > 0)
					add(i, now, true, {});
				if (k > 0)
					add(i, k, false, {});
			} else if (k > 0 && isAgain(i, k, assigned)) {
				add(i, k, true, {});
				add(i, k, false, {});
			}
			if (isFirst || k != now)
				assigned = k > 0 ? assignedBefore(i, k)
				                 : decltype(assigned)();
			isFirst = false;
			now = k;
			if (isa<ReturnInst>(i) && k > 0)
				add(i, k, true, {});
		}
	}

      public:
	Finder(Lines &lines, Function &f)
	    : lines(lines), f(f), tree(f), loops(tree)
	{
	}

	std::vector<Event> find()
	{
		solve();
		for (BasicBlock &b : f)
			if (tree.isReachableFromEntry(&b))
				scan(b);
		return std::move(events);
	}
};

} // namespace

std::vector<Event> Lines::find(Function &f)
{
	bool has = false;

	groups.clear();
	for (BasicBlock &b : f)
		for (Instruction &i : b)
			has |= groupOf(i) > 0;
	return has ? Finder(*this, f).find() : std::vector<Event>();
}
