// SPDX-License-Identifier: Apache-2.0
//
// Types of LLVM's debug information become struct type.  Each is made once;
// types may contain themselves by pointers.  A typedef is a copy of its type
// under its own name, which is made when the outermost type is whole.
#include "replay/debug.hpp"

#include "llvm/BinaryFormat/Dwarf.h"

using namespace llvm;

const DIScope *scopeOf(const DISubprogram *f)
{
	if (f->getDeclaration())
		f = f->getDeclaration();
	return f->getScope();
}

std::string qualifiedScope(const DIScope *scope)
{
	std::string s;

	for (; scope; scope = scope->getScope()) {
		if (auto *b = dyn_cast<DILexicalBlockBase>(scope)) {
			scope = b->getSubprogram();
			if (!scope)
				break;
		}
		if (!isa<DINamespace>(scope) && !isa<DICompositeType>(scope))
			continue;
		if (scope->getName().empty())
			continue;
		s = scope->getName().str() + (s.empty() ? "" : "::") + s;
	}
	return s;
}

std::string qualifiedName(const DIScope *scope, StringRef name)
{
	std::string s = qualifiedScope(scope);

	return s.empty() ? name.str() : s + "::" + name.str();
}

type *Types::add(const DIType *t, type_kind kind, std::string name)
{
	all.push_back({});
	type *made = &all.back();

	made->kind = kind;
	made->name = names.keep(std::move(name));
	made->size = t ? (t->getSizeInBits() + 7) / 8 : 0;
	if (t)
		known[t] = made;
	return made;
}

const type *Types::basic(const DIBasicType *t)
{
	type_kind kind = TYPE_OTHER;

	switch (t->getEncoding()) {
	case dwarf::DW_ATE_boolean:
		kind = TYPE_BOOL;
		break;
	case dwarf::DW_ATE_float:
		if (t->getSizeInBits() == 32 || t->getSizeInBits() == 64 ||
		    t->getName().contains("long double"))
			kind = TYPE_REAL;
		break;
	case dwarf::DW_ATE_complex_float:
		kind = TYPE_COMPLEX;
		break;
	case dwarf::DW_ATE_signed:
	case dwarf::DW_ATE_unsigned:
	case dwarf::DW_ATE_signed_char:
	case dwarf::DW_ATE_unsigned_char:
	case dwarf::DW_ATE_UTF:
		if (t->getSizeInBits() <= 128)
			kind = TYPE_INTEGER;
		break;
	default:
		break;
	}
	type *made = add(t, kind, t->getName().str());

	made->is_signed = t->getEncoding() == dwarf::DW_ATE_signed ||
	                  t->getEncoding() == dwarf::DW_ATE_signed_char ||
	                  kind == TYPE_REAL;
	made->is_char = t->getEncoding() == dwarf::DW_ATE_signed_char ||
	                t->getEncoding() == dwarf::DW_ATE_unsigned_char;
	return made;
}

const type *Types::alias(const DIDerivedType *t)
{
	const type *target = get(t->getBaseType());
	type *made = add(t, target->kind,
	                 qualifiedName(t->getScope(), t->getName()));
	const char *name = made->name;

	*made = *target;
	made->name = name;
	aliases.push_back({made, target});
	return made;
}

static std::string pointerName(const char *target, const char *sign)
{
	std::string s = target;

	if (s.empty() || (s.back() != '*' && s.back() != '&'))
		s += ' ';
	return s + sign;
}

const type *Types::derived(const DIDerivedType *t)
{
	bool isPointer = t->getTag() == dwarf::DW_TAG_pointer_type;
	type *made;

	switch (t->getTag()) {
	case dwarf::DW_TAG_typedef:
		return alias(t);
	case dwarf::DW_TAG_pointer_type:
	case dwarf::DW_TAG_reference_type:
	case dwarf::DW_TAG_rvalue_reference_type:
		made = add(t, isPointer ? TYPE_POINTER : TYPE_REFERENCE, "");
		made->size = 8;
		made->target = get(t->getBaseType());
		made->name = names.keep(
		        pointerName(made->target->name, isPointer ? "*" : "&"));
		return made;
	case dwarf::DW_TAG_ptr_to_member_type:
		return add(t, TYPE_OTHER, "pointer to a member");
	default: // const, volatile and the like
		return known[t] = get(t->getBaseType());
	}
}

static int64_t countOf(const DISubrange *range)
{
	if (auto *n = dyn_cast_if_present<ConstantInt *>(range->getCount()))
		return n->getSExtValue();
	return -1;
}

const type *Types::array(const DICompositeType *t)
{
	const type *element = get(t->getBaseType());
	DINodeArray ranges = t->getElements();
	std::string dimensions;

	for (unsigned i = ranges.size(); i--;) {
		auto *range = dyn_cast<DISubrange>(ranges[i]);
		int64_t n = range ? countOf(range) : -1;
		auto *count = range ? dyn_cast_if_present<DIVariable *>(
		                              range->getCount())
		                    : nullptr;

		dimensions = "[" + (n < 0 ? "" : std::to_string(n)) + "]" +
		             dimensions;
		type *made = add(i ? nullptr : t, TYPE_ARRAY, "");

		made->target = element;
		made->n = n < 0 ? 0 : uint64_t(n);
		made->size = made->n * element->size;
		if (count)
			made->count = names.keep(count->getName().str());
		made->is_incomplete = count || (element->kind == TYPE_ARRAY &&
		                                element->is_incomplete);
		element = made;
		const type *inner = element;
		while (inner->kind == TYPE_ARRAY)
			inner = inner->target;
		made->name =
		        names.keep(std::string(inner->name) + " " + dimensions);
	}
	return element;
}

const type *Types::record(const DICompositeType *t)
{
	StringRef name = t->getName();
	std::string shown =
	        name.empty() ? "{...}" : qualifiedName(t->getScope(), name);

	if (!isCxx)
		shown = (t->getTag() == dwarf::DW_TAG_union_type ? "union "
		                                                 : "struct ") +
		        shown;
	type *made = add(t, TYPE_RECORD, shown);
	std::vector<type_member> list;

	made->record = made;
	made->is_class = isCxx;
	made->is_incomplete = t->isForwardDecl();
	for (DINode *n : t->getElements()) {
		auto *m = dyn_cast_or_null<DIDerivedType>(n);
		bool isBase = m && m->getTag() == dwarf::DW_TAG_inheritance;

		bool isVirtual = isBase && m->isVirtual();

		if (!m || m->isStaticMember() ||
		    (!isBase && m->getTag() != dwarf::DW_TAG_member))
			continue;
		// clang has bytes where a virtual base has an offset in bits
		list.push_back(
		        {names.keep(m->getName().str()), get(m->getBaseType()),
		         isVirtual ? 0 : m->getOffsetInBits(),
		         m->isBitField() ? uint32_t(m->getSizeInBits()) : 0,
		         isBase, isVirtual ? m->getOffsetInBits() : 0});
	}
	members.push_back(std::move(list));
	made->members = members.back().data();
	made->nmembers = members.back().size();
	return made;
}

const type *Types::enumeration(const DICompositeType *t)
{
	std::string name = t->getName().empty()
	                           ? "{...}"
	                           : qualifiedName(t->getScope(), t->getName());
	type *made = add(t, TYPE_ENUM, isCxx ? name : "enum " + name);
	std::vector<type_constant> list;
	auto *base = dyn_cast_or_null<DIBasicType>(t->getBaseType());

	made->is_signed = base && base->getEncoding() == dwarf::DW_ATE_signed;
	if (!base && t->getBaseType())
		made->is_signed = get(t->getBaseType())->is_signed;
	for (DINode *n : t->getElements())
		if (auto *e = dyn_cast_or_null<DIEnumerator>(n))
			list.push_back(
			        {names.keep(e->getName().str()),
			         e->getValue().sextOrTrunc(64).getSExtValue()});
	constants.push_back(std::move(list));
	made->constants = constants.back().data();
	made->nconstants = constants.back().size();
	return made;
}

const type *Types::build(const DIType *t)
{
	if (auto *b = dyn_cast<DIBasicType>(t))
		return b->getTag() == dwarf::DW_TAG_base_type
		               ? basic(b)
		               : add(t, TYPE_OTHER, b->getName().str());
	if (auto *d = dyn_cast<DIDerivedType>(t))
		return derived(d);
	auto *c = dyn_cast<DICompositeType>(t);
	if (!c)
		return add(t,
		           isa<DISubroutineType>(t) ? TYPE_FUNCTION
		                                    : TYPE_OTHER,
		           isa<DISubroutineType>(t) ? "function" : "unknown");
	switch (c->getTag()) {
	case dwarf::DW_TAG_array_type:
		return array(c);
	case dwarf::DW_TAG_enumeration_type:
		return enumeration(c);
	case dwarf::DW_TAG_structure_type:
	case dwarf::DW_TAG_class_type:
	case dwarf::DW_TAG_union_type:
		return record(c);
	default:
		return add(t, TYPE_OTHER, c->getName().str());
	}
}

const type *Types::get(const DIType *t)
{
	if (!t)
		return &type_void;
	auto found = known.find(t);
	if (found != known.end())
		return found->second;
	depth++;
	const type *made = build(t);
	depth--;
	if (!depth) {
		for (auto &[to, from] : aliases) {
			const char *name = to->name;

			*to = *from;
			to->name = name;
		}
		aliases.clear();
	}
	return made;
}
