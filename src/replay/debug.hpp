// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_REPLAY_DEBUG_HPP
#define CAIRN_REPLAY_DEBUG_HPP

// What the files debug_*.cpp share.
extern "C" {
#include "base/spot.h"
#include "replay/debug.h"
#include "replay/rewrite.h"
#include "replay/type.h"
}

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

// Strings that stay where they are.
class Names
{
	std::deque<std::string> all;

      public:
	const char *keep(std::string s)
	{
		all.push_back(std::move(s));
		return all.back().c_str();
	}
};

// "a::b" of a scope; "" outside of everything.
std::string qualifiedScope(const llvm::DIScope *scope);
std::string qualifiedName(const llvm::DIScope *scope, llvm::StringRef name);
// The scope that a function's name has in the source.
const llvm::DIScope *scopeOf(const llvm::DISubprogram *f);

// From types of the debug information to ours.
class Types
{
	Names &names;
	bool isCxx;
	std::deque<type> all;
	std::deque<std::vector<type_member>> members;
	std::deque<std::vector<type_constant>> constants;
	llvm::DenseMap<const llvm::DIType *, const type *> known;
	std::vector<std::pair<type *, const type *>> aliases;
	unsigned depth = 0;

	const type *build(const llvm::DIType *t);
	const type *basic(const llvm::DIBasicType *t);
	const type *derived(const llvm::DIDerivedType *t);
	const type *alias(const llvm::DIDerivedType *t);
	const type *array(const llvm::DICompositeType *t);
	const type *record(const llvm::DICompositeType *t);
	const type *enumeration(const llvm::DICompositeType *t);
	type *add(const llvm::DIType *t, type_kind kind, std::string name);

      public:
	Types(Names &names, bool isCxx) : names(names), isCxx(isCxx)
	{
	}

	const type *get(const llvm::DIType *t);
};

// A line of one function, inlined at one place.
struct Group {
	const llvm::DISubprogram *function;
	const llvm::DILocation *inlinedAt;
	std::vector<const llvm::DILocalScope *> scopes; // of its instructions
};

// Where control comes to a line, or leaves it.
struct Event {
	llvm::Instruction *at;
	unsigned group; // from 1 on
	bool isEnd;
	// for each predecessor of the block of `at`: does it count?  Empty:
	// always
	std::vector<bool> counts;
};

// The lines of a function.
class Lines
{
	const spot &line;
	llvm::DenseMap<const llvm::DIFile *, bool> files;

      public:
	std::vector<Group> groups; // group 1 is groups[0]

	explicit Lines(const spot &line) : line(line)
	{
	}

	bool isFile(const llvm::DIFile *f);
	// The group of an instruction, OTHER or NOWHERE.
	static constexpr int OTHER = 0, NOWHERE = -1, UNKNOWN = -2;
	int groupOf(const llvm::Instruction &i);
	std::vector<Event> find(llvm::Function &f);
};

// Where a variable is from a debug record on.
struct Location {
	std::vector<llvm::Value *> values;
	std::vector<uint64_t> ops;
	bool isMemory;
};

struct Piece {
	uint64_t bit, nbits;
	const Location *location;
	uint64_t own; // where the bits of the location begin in the variable

	bool operator==(const Piece &p) const
	{
		return bit == p.bit && nbits == p.nbits &&
		       location == p.location && own == p.own;
	}
};

using Pieces = std::vector<Piece>;

// Where the variables of a function are.
class Whereabouts
{
	llvm::Function &f;
	Lines &lines;
	llvm::DominatorTree tree;
	std::deque<Location> made;
	std::map<std::tuple<void *, void *, bool>, const Location *> known;

	using Variable = std::pair<const llvm::DILocalVariable *,
	                           const llvm::DILocation *>;
	llvm::MapVector<Variable, std::vector<llvm::DbgVariableRecord *>>
	        records; // in the order of the IR
	std::map<Variable, llvm::DenseMap<llvm::BasicBlock *, Pieces>> entries;

	const Location *intern(void *where, const llvm::DIExpression *e,
	                       bool isMemory,
	                       const std::vector<llvm::Value *> &values);
	const Location *locationOf(llvm::DbgVariableRecord &r);
	void apply(llvm::DbgVariableRecord &r, Pieces &p);
	Pieces transfer(llvm::BasicBlock &b, const Variable &v, Pieces p);
	const llvm::DenseMap<llvm::BasicBlock *, Pieces> &
	entriesOf(const Variable &v);
	bool isOf(llvm::DbgVariableRecord &r, unsigned group, bool isAtEnd);
	bool isUsable(const Location &l, llvm::Instruction *at);

      public:
	Whereabouts(llvm::Function &f, Lines &lines);

	// All variables of a scope that have records.
	std::vector<const llvm::DILocalVariable *>
	inScope(const llvm::DILocalScope *s, const llvm::DILocation *inlinedAt);
	Pieces at(const Event &e, const llvm::DILocalVariable *v,
	          const llvm::DILocation *inlinedAt);
	// Is there a record of it on all ways to the place?  Yes, if it has
	// none at all.
	bool reaches(const Event &e, const llvm::DILocalVariable *v,
	             const llvm::DILocation *inlinedAt);
	// Is it in memory all the time?
	bool isDeclared(const llvm::DILocalVariable *v,
	                const llvm::DILocation *inlinedAt);
	// Does the line write to this?
	bool isWritten(unsigned group, const llvm::Value *object);
	// Variables with a name for the linker that it writes to.
	std::vector<llvm::StringRef> written(unsigned group);
	bool isAssigned(unsigned group, const llvm::DILocalVariable *v,
	                const llvm::DILocation *inlinedAt);
};

#endif // CAIRN_REPLAY_DEBUG_HPP
