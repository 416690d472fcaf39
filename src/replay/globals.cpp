// SPDX-License-Identifier: Apache-2.0
//
// Variables by name: which address they had, what they are made of, what they
// began with, from the IR that is embedded and its debug information.
//
// A type is walked down to a scalar by offset, or by the names in a question;
// arrays of several dimensions are one type, whose dimensions are taken one by
// one.
//
// In C++: LLVM-C has no way to ask what a type consists of.
// Cost: one look at the variables of every unit, without its functions.
#include "replay/globals.h"

extern "C" {
#include "base/err.h"
#include "replay/fatal.h"
#include "replay/program.h"
}

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

using namespace llvm;

// A type, or an array of which `dim` dimensions have been taken.
struct part {
	const DIType *type;
	unsigned dim;
};

// What was embedded of a unit, without its functions.
struct unit {
	std::vector<char> bitcode;
	LLVMContext context;
	std::unique_ptr<Module> module;
};

struct global_type {
	std::shared_ptr<unit> of;
	part top;
};

// --- types ------------------------------------------------------------------

// Without names of types and qualifiers.
static const DIType *strip(const DIType *t)
{
	while (auto *d = dyn_cast_or_null<DIDerivedType>(t)) {
		switch (d->getTag()) {
		case dwarf::DW_TAG_typedef:
		case dwarf::DW_TAG_const_type:
		case dwarf::DW_TAG_volatile_type:
		case dwarf::DW_TAG_restrict_type:
		case dwarf::DW_TAG_atomic_type:
			t = d->getBaseType();
			break;
		default:
			return t;
		}
	}
	return t;
}

static const DICompositeType *composite(const part &p)
{
	return dyn_cast_or_null<DICompositeType>(strip(p.type));
}

static bool is_array(const part &p)
{
	const DICompositeType *c = composite(p);

	return c && c->getTag() == dwarf::DW_TAG_array_type;
}

static bool is_record(const part &p)
{
	const DICompositeType *c = composite(p);

	return c && (c->getTag() == dwarf::DW_TAG_structure_type ||
	             c->getTag() == dwarf::DW_TAG_class_type ||
	             c->getTag() == dwarf::DW_TAG_union_type);
}

// Elements of a dimension of an array; 0: not known.
static uint64_t count_of(const DICompositeType *array, unsigned dim)
{
	auto *range = dyn_cast_or_null<DISubrange>(
	        dim < array->getElements().size() ? array->getElements()[dim]
	                                          : nullptr);
	ConstantInt *n =
	        range ? dyn_cast_if_present<ConstantInt *>(range->getCount())
	              : nullptr;

	return n && n->getSExtValue() > 0 ? n->getZExtValue() : 0;
}

static uint64_t size_of(const part &p)
{
	const DIType *t = strip(p.type);
	uint64_t n;

	if (!t)
		return 0;
	if (!is_array(p))
		return t->getSizeInBits() / 8;
	n = size_of({composite(p)->getBaseType(), 0});
	for (unsigned i = p.dim; i < composite(p)->getElements().size(); i++)
		n *= count_of(composite(p), i);
	return n;
}

// One element.
static part element_of(const part &p)
{
	const DICompositeType *c = composite(p);

	if (p.dim + 1 < c->getElements().size())
		return {p.type, p.dim + 1};
	return {c->getBaseType(), 0};
}

// A base whose place only the object says.
static bool is_virtual_base(const DIDerivedType *d)
{
	return d->getTag() == dwarf::DW_TAG_inheritance && d->isVirtual();
}

// A member that is memory of its own, at a known place.
static const DIDerivedType *member(const Metadata *m)
{
	auto *d = dyn_cast_or_null<DIDerivedType>(m);

	if (!d || d->isStaticMember() || d->isBitField() ||
	    is_virtual_base(d) ||
	    (d->getTag() != dwarf::DW_TAG_member &&
	     d->getTag() != dwarf::DW_TAG_inheritance))
		return nullptr;
	return d;
}

static global_kind kind_of_basic(const DIBasicType *b)
{
	switch (b->getEncoding()) {
	case dwarf::DW_ATE_signed:
	case dwarf::DW_ATE_signed_char:
		return GLOBAL_SIGNED;
	case dwarf::DW_ATE_unsigned:
	case dwarf::DW_ATE_unsigned_char:
	case dwarf::DW_ATE_UTF:
		return GLOBAL_UNSIGNED;
	case dwarf::DW_ATE_boolean:
		return GLOBAL_BOOL;
	case dwarf::DW_ATE_float:
		return GLOBAL_FLOAT;
	default:
		return GLOBAL_BYTES;
	}
}

static global_kind kind_of(const DIType *type)
{
	const DIType *t = strip(type);

	if (!t || t->getSizeInBits() > 128)
		return GLOBAL_BYTES;
	if (auto *b = dyn_cast<DIBasicType>(t))
		return kind_of_basic(b);
	if (auto *c = dyn_cast<DICompositeType>(t))
		return c->getTag() != dwarf::DW_TAG_enumeration_type
		               ? GLOBAL_BYTES
		       : c->getBaseType() ? kind_of(c->getBaseType())
		                          : GLOBAL_SIGNED;
	return t->getTag() == dwarf::DW_TAG_pointer_type ||
	                       t->getTag() == dwarf::DW_TAG_reference_type
	               ? GLOBAL_POINTER
	               : GLOBAL_BYTES;
}

// --- from an offset to a scalar ---------------------------------------------

// Each of these leaves offset and n as those of the scalar that has the n bytes
// at the offset, or as they were.
static global_kind scalar_at(const part &p, uint64_t &offset, uint64_t &n,
                             std::string &path);

static global_kind scalar_in_array(const part &p, uint64_t &offset, uint64_t &n,
                                   std::string &path)
{
	part element = element_of(p);
	uint64_t size = size_of(element), before, within;
	global_kind kind;

	if (!size)
		return GLOBAL_BYTES;
	path += "[" + std::to_string(offset / size) + "]";
	within = offset % size;
	before = offset - within;
	kind = scalar_at(element, within, n, path);
	offset = before + within;
	return kind;
}

// .name of a base becomes .Base::name if the class has another one.
static void unhide(const part &p, const DIDerivedType *base, size_t at,
                   std::string &path)
{
	StringRef name = StringRef(path).substr(at + 1);

	name = name.take_front(name.find_first_of(".["));
	for (const Metadata *m : composite(p)->getElements()) {
		auto *d = dyn_cast_or_null<DIDerivedType>(m);

		if (d && d->getTag() == dwarf::DW_TAG_member &&
		    d->getName() == name) {
			path.insert(at + 1,
			            base->getBaseType()->getName().str() +
			                    "::");
			return;
		}
	}
}

static global_kind scalar_in_record(const part &p, uint64_t &offset,
                                    uint64_t &n, std::string &path)
{
	for (const Metadata *m : composite(p)->getElements()) {
		const DIDerivedType *d = member(m);
		uint64_t at = d ? d->getOffsetInBits() / 8 : 0, within;
		std::string longer = path;
		global_kind kind;

		if (!d || offset < at ||
		    offset - at >= size_of({d->getBaseType(), 0}))
			continue;
		if (d->getTag() == dwarf::DW_TAG_member &&
		    !d->getName().empty())
			longer += "." + d->getName().str();
		within = offset - at;
		kind = scalar_at({d->getBaseType(), 0}, within, n, longer);
		if (kind == GLOBAL_BYTES)
			continue; // another member of a union may fit
		if (d->getTag() == dwarf::DW_TAG_inheritance)
			unhide(p, d, path.size(), longer);
		path = longer;
		offset = at + within;
		return kind;
	}
	return GLOBAL_BYTES;
}

// Of a long double 10 bytes count, and 16 are copied.
static global_kind scalar_at(const part &p, uint64_t &offset, uint64_t &n,
                             std::string &path)
{
	uint64_t size = size_of(p);
	global_kind kind;

	if (is_array(p))
		return scalar_in_array(p, offset, n, path);
	if (is_record(p))
		return scalar_in_record(p, offset, n, path);
	kind = offset < size && n <= size - offset ? kind_of(p.type)
	                                           : GLOBAL_BYTES;
	if (kind == GLOBAL_BYTES)
		return kind;
	offset = 0;
	n = kind == GLOBAL_FLOAT && size == 16 && n <= 10 ? 10 : size;
	return kind;
}

global_kind global_scalar(const struct global *g, uint64_t *offset, uint64_t *n,
                          char *text, size_t size)
{
	std::string path;
	global_kind kind = GLOBAL_BYTES;

	if (g->type)
		kind = scalar_at(g->type->top, *offset, *n, path);
	snprintf(text, size, "%s", kind == GLOBAL_BYTES ? "" : path.c_str());
	return kind;
}

// --- bit-fields --------------------------------------------------------------

// Those that are wanted, and what was found so far.
struct bit_search {
	uint64_t from, to; // bits
	struct global_bits *out;
	size_t n, max;
};

static struct global_bits bits_of(const DIDerivedType *d, uint64_t at)
{
	struct global_bits b = {};
	global_kind kind = kind_of(d->getBaseType());

	b.first = at + d->getOffsetInBits();
	b.n = static_cast<unsigned>(d->getSizeInBits());
	b.is_signed = kind == GLOBAL_SIGNED;
	b.is_bool = kind == GLOBAL_BOOL;
	return b;
}

static void take_bits(bit_search &s, const DIDerivedType *d, uint64_t at,
                      const std::string &path)
{
	uint64_t first = at + d->getOffsetInBits(), n = d->getSizeInBits();

	if (first < s.from || first + n > s.to || !n || n > 64 ||
	    d->getName().empty())
		return;
	if (s.n < s.max) {
		struct global_bits &b = s.out[s.n];

		b = bits_of(d, at);
		snprintf(b.part, sizeof(b.part), "%s.%s", path.c_str(),
		         d->getName().str().c_str());
	}
	s.n++;
}

// at: of the part, in bits.
static void search_bits(bit_search &s, const part &p, uint64_t at,
                        const std::string &path)
{
	uint64_t size = 8 * size_of(p);

	if (!size || at >= s.to || at + size <= s.from)
		return;
	if (is_array(p)) {
		uint64_t step = 8 * size_of(element_of(p));
		uint64_t i = s.from > at ? (s.from - at) / step : 0;

		for (; at + i * step < s.to && i * step < size; i++)
			search_bits(s, element_of(p), at + i * step,
			            path + "[" + std::to_string(i) + "]");
		return;
	}
	if (!is_record(p))
		return;
	for (const Metadata *m : composite(p)->getElements()) {
		auto *bits = dyn_cast_or_null<DIDerivedType>(m);
		const DIDerivedType *d = member(m);
		bool has_name = d && d->getTag() == dwarf::DW_TAG_member &&
		                !d->getName().empty();

		if (bits && bits->isBitField())
			take_bits(s, bits, at, path);
		else if (d)
			search_bits(s, {d->getBaseType(), 0},
			            at + d->getOffsetInBits(),
			            has_name ? path + "." + d->getName().str()
			                     : path);
	}
}

size_t global_bit_fields(const struct global *g, uint64_t offset, uint64_t n,
                         struct global_bits *out, size_t max)
{
	bit_search s = {8 * offset, 8 * (offset + n), out, 0, max};

	if (g->type)
		search_bits(s, g->type->top, 0, "");
	return s.n;
}

// --- from names to an offset -------------------------------------------------

// Where a part is.
struct spot_of_part {
	part p;
	uint64_t offset;
	struct global_bits bits; // n 0: it is none
	bool is_virtual;         // somewhere in a virtual base
};

static bool enter_member(spot_of_part &s, StringRef name);

// A member by its own name; of what has none, one in there.
static bool enter_own(spot_of_part &s, const DIDerivedType *d, StringRef name)
{
	spot_of_part inner = {{d->getBaseType(), 0},
	                      s.offset + d->getOffsetInBits() / 8,
	                      {},
	                      false};

	if (d->getTag() != dwarf::DW_TAG_member || d->isStaticMember())
		return false;
	if (d->isBitField() && d->getName() == name &&
	    d->getSizeInBits() <= 64) {
		inner.bits = bits_of(d, 0);
		inner.bits.first %= 8;
		s = inner;
		return true;
	}
	if (d->isBitField() ||
	    (d->getName() != name &&
	     !(d->getName().empty() && enter_member(inner, name))))
		return false;
	s = inner;
	return true;
}

// Members hide those of the same name in bases.
static bool enter_member(spot_of_part &s, StringRef name)
{
	if (!is_record(s.p))
		return false;
	DINodeArray members = composite(s.p)->getElements();

	for (const Metadata *m : members) {
		auto *d = dyn_cast_or_null<DIDerivedType>(m);

		if (d && enter_own(s, d, name))
			return true;
	}
	for (const Metadata *m : members) {
		auto *d = dyn_cast_or_null<DIDerivedType>(m);
		spot_of_part inner = s;

		if (!d || d->getTag() != dwarf::DW_TAG_inheritance)
			continue;
		inner.p = {d->getBaseType(), 0};
		inner.is_virtual |= d->isVirtual();
		if (!d->isVirtual())
			inner.offset += d->getOffsetInBits() / 8;
		if (enter_member(inner, name)) {
			inner.is_virtual |= s.is_virtual || d->isVirtual();
			s = inner;
			return true;
		}
	}
	return false;
}

static bool enter_element(spot_of_part &s, StringRef index)
{
	uint64_t i;

	if (!is_array(s.p) || index.getAsInteger(0, i) ||
	    i >= count_of(composite(s.p), s.p.dim))
		return false;
	s.p = element_of(s.p);
	s.offset += i * size_of(s.p);
	return true;
}

// ".name" and "[3]", one after the other.
static bool enter(spot_of_part &s, StringRef way)
{
	while (!way.empty()) {
		size_t end = way.find_first_of(".[]", 1);
		StringRef word = way.slice(1, end);
		bool was_virtual = s.is_virtual;

		if (s.bits.n)
			return false;
		if (way[0] == '.' && enter_member(s, word)) {
			way = way.substr(1 + word.size());
		} else if (way[0] == '[' && end != StringRef::npos &&
		           way[end] == ']' && enter_element(s, word)) {
			way = way.substr(end + 1);
		} else {
			return false;
		}
		s.is_virtual |= was_virtual;
	}
	return true;
}

// --- what it began with ------------------------------------------------------

struct image {
	unsigned char *bytes;
	bool *is_known;
	uint64_t from, size; // the part of the variable that counts
};

static void put(image &m, uint64_t at, const void *bytes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (at + i >= m.from && at + i - m.from < m.size)
			m.bytes[at + i - m.from] =
			        static_cast<const unsigned char *>(bytes)[i];
}

static void doubt(image &m, uint64_t at, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (at + i >= m.from && at + i - m.from < m.size)
			m.is_known[at + i - m.from] = false;
}

static void put_number(image &m, uint64_t at, const APInt &v, uint64_t n)
{
	std::vector<unsigned char> bytes(n);
	APInt wide = v.zextOrTrunc(static_cast<unsigned>(8 * n));

	for (uint64_t i = 0; i < n; i++)
		bytes[i] =
		        static_cast<unsigned char>(wide.extractBitsAsZExtValue(
		                8, static_cast<unsigned>(8 * i)));
	put(m, at, bytes.data(), n);
}

// What the linker or the loader fills in is not known; all else begins as
// zeros.
static void put_constant(image &m, uint64_t at, const Constant *c,
                         const DataLayout &layout)
{
	uint64_t n = layout.getTypeStoreSize(c->getType());

	if (c->isNullValue() || isa<UndefValue>(c))
		return;
	if (auto *i = dyn_cast<ConstantInt>(c)) {
		put_number(m, at, i->getValue(), n);
	} else if (auto *f = dyn_cast<ConstantFP>(c)) {
		put_number(m, at, f->getValueAPF().bitcastToAPInt(), n);
	} else if (auto *d = dyn_cast<ConstantDataSequential>(c)) {
		StringRef raw = d->getRawDataValues();

		put(m, at, raw.data(), raw.size());
	} else if (auto *s = dyn_cast<ConstantStruct>(c)) {
		const StructLayout *fields =
		        layout.getStructLayout(s->getType());

		for (unsigned i = 0; i < s->getNumOperands(); i++)
			put_constant(m, at + fields->getElementOffset(i),
			             s->getOperand(i), layout);
	} else if (auto *a = dyn_cast<ConstantArray>(c)) {
		uint64_t step =
		        layout.getTypeAllocSize(a->getType()->getElementType());

		for (unsigned i = 0; i < a->getNumOperands(); i++)
			put_constant(m, at + i * step, a->getOperand(i),
			             layout);
	} else {
		doubt(m, at, n);
	}
}

// --- all variables -----------------------------------------------------------

// One that has the name.
struct found {
	uint64_t address, offset, size; // of the variable, of the part in it
	std::string file, name;         // of its source, and there
	unsigned line;                  // of its declaration
	const GlobalVariable *variable;
	global_type type;
	uint32_t unit;
	struct global_bits bits;
	bool is_virtual;
};

struct search {
	const program *p;
	std::string file, name, way;
	bool is_top;    // ::name, outside of everything
	uint64_t which; // load, from 1 on, or line; 0: the only one
	std::vector<found> all;
	bool has_name; // there is a variable, if not the part
};

static bool is_file(StringRef file, StringRef wanted)
{
	return wanted.empty() || file == wanted ||
	       (file.ends_with(wanted) &&
	        file[file.size() - wanted.size() - 1] == '/');
}

// The debug information of a variable that is in one piece.
static const DIGlobalVariable *describe(const GlobalVariable &g)
{
	SmallVector<DIGlobalVariableExpression *, 2> all;

	g.getDebugInfo(all);
	return all.size() == 1 && !all[0]->getExpression()->getNumElements()
	               ? all[0]->getVariable()
	               : nullptr;
}

// With the function, the namespaces and classes that it is in.
static std::string full_name(const DIGlobalVariable *v)
{
	const DIDerivedType *member = v->getStaticDataMemberDeclaration();
	const DIScope *scope = member ? member->getScope() : v->getScope();
	std::string name = v->getName().str();

	if (auto *local = dyn_cast_or_null<DILocalScope>(scope)) {
		const DISubprogram *f = local->getSubprogram();

		name = f->getName().str() + "::" + name;
		if (f->getDeclaration())
			f = f->getDeclaration();
		scope = f->getScope();
	}
	for (; isa_and_nonnull<DINamespace>(scope) ||
	       isa_and_nonnull<DICompositeType>(scope);
	     scope = scope->getScope())
		if (!scope->getName().empty())
			name = scope->getName().str() + "::" + name;
	return name;
}

// Those in the arguments of a template may be anywhere.
static std::string without_blanks(StringRef name)
{
	std::string s;

	for (char c : name)
		if (c != ' ')
			s += c;
	return s;
}

// Qualifiers may be left out, from the left.
static bool has_name(const DIGlobalVariable *v, StringRef wanted, bool is_top)
{
	std::string name = without_blanks(full_name(v));

	return name == wanted ||
	       (!is_top && StringRef(name).ends_with(wanted) &&
	        StringRef(name).drop_back(wanted.size()).ends_with("::"));
}

// One that several units have.
static bool is_same(const found &a, const found &b)
{
	if (a.variable->isThreadLocal() || b.variable->isThreadLocal())
		return a.variable->getName() == b.variable->getName() &&
		       !a.variable->hasLocalLinkage() &&
		       !b.variable->hasLocalLinkage();
	return a.address == b.address;
}

// Without debug information the name is the linker's, which may have dots.
static void take(search &s, const GlobalVariable &g, uint64_t address,
                 const std::shared_ptr<unit> &u, uint32_t number)
{
	const DIGlobalVariable *v = describe(g);
	found f = {address,
	           0,
	           0,
	           v ? v->getFilename().str() : "",
	           v ? full_name(v) : "",
	           v ? v->getLine() : 0,
	           &g,
	           {u, {}},
	           number,
	           {},
	           false};
	spot_of_part at = {{v ? v->getType() : nullptr, 0}, 0, {}, false};

	if (!(v ? has_name(v, without_blanks(s.name), s.is_top)
	        : g.getName() == s.name + s.way) ||
	    !is_file(f.file, s.file))
		return;
	s.has_name = true;
	if (v && !enter(at, s.way))
		return;
	f.type.top = at.p;
	f.offset = at.offset;
	f.bits = at.bits;
	f.is_virtual = at.is_virtual;
	f.size = at.bits.n ? (at.bits.first + at.bits.n + 7) / 8
	         : v && !s.way.empty()
	                 ? size_of(at.p)
	                 : g.getParent()->getDataLayout().getTypeAllocSize(
	                           g.getValueType());
	for (const found &other : s.all)
		if (is_same(other, f))
			return;
	s.all.push_back(f);
}

// LLVM's own handler prints, and ends the process.
static void ignore_diagnostic(const DiagnosticInfo *, void *)
{
}

static std::shared_ptr<unit>
open_unit(const program &p, const program_unit &from, struct cairn_err *err)
{
	auto u = std::make_shared<unit>();
	size_t n;
	unsigned char *bytes;

	if (program_bitcode(&p, &from, &bytes, &n, err) < 0)
		return nullptr;
	u->context.setDiagnosticHandlerCallBack(ignore_diagnostic);
	u->bitcode.assign(bytes, bytes + n);
	free(bytes);
	fatal_read(true);
	Expected<std::unique_ptr<Module>> m = getLazyBitcodeModule(
	        MemoryBufferRef(StringRef(u->bitcode.data(), n), ""),
	        u->context);
	Error e = m ? (*m)->materializeMetadata() : m.takeError();
	fatal_read(false);
	if (e) {
		consumeError(std::move(e));
		cairn_fail(err, CAIRN_E_CORRUPT,
		           "%s: LLVM cannot read its IR; build the program "
		           "again",
		           p.modules[from.module].path);
		return nullptr;
	}
	u->module = std::move(*m);
	return u;
}

// Variables come first in the table of a unit (replay/rewrite.h).
static int search_unit(search &s, uint32_t number, struct cairn_err *err)
{
	const program_unit &from = s.p->units[number];
	std::shared_ptr<unit> u = open_unit(*s.p, from, err);
	uint32_t i = 0;

	if (!u)
		return CAIRN_E_CORRUPT;
	for (const GlobalVariable &g : u->module->globals()) {
		if (g.isDeclaration())
			continue;
		if (g.isThreadLocal())
			take(s, g, 0, u, number);
		else if (i < from.ntable && from.table[i])
			take(s, g, from.table[i], u, number);
		i++;
	}
	return 0;
}

// --- a question --------------------------------------------------------------

// FILE:NAME has one colon; a name may have two, one after the other.
static size_t find_colon(StringRef what)
{
	for (size_t i = 0; i < what.size(); i++) {
		if (what[i] != ':')
			continue;
		if (!what.substr(i).starts_with("::"))
			return i;
		i++;
	}
	return StringRef::npos;
}

static search split(const program *p, StringRef what)
{
	size_t colon = find_colon(what);
	StringRef file = colon == StringRef::npos ? "" : what.take_front(colon);
	StringRef name =
	        colon == StringRef::npos ? what : what.substr(colon + 1);
	bool is_top = name.consume_front("::");
	uint64_t which = 0;
	size_t at = name.rfind('@');

	if (at != StringRef::npos &&
	    !name.substr(at + 1).getAsInteger(10, which))
		name = name.take_front(at);
	size_t end = name.find_first_of(".[");

	return {p,
	        file.str(),
	        name.slice(0, end).str(),
	        end == StringRef::npos ? "" : name.substr(end).str(),
	        is_top,
	        which,
	        {},
	        false};
}

static uint32_t module_of(const search &s, const found &f)
{
	return s.p->units[f.unit].module;
}

// Is it the same variable, of several loads of a library?
static bool is_loaded_again(const search &s)
{
	for (const found &f : s.all)
		if (&f != &s.all[0] &&
		    (module_of(s, f) == module_of(s, s.all[0]) ||
		     f.variable->getName() != s.all[0].variable->getName() ||
		     f.file != s.all[0].file ||
		     strcmp(s.p->modules[module_of(s, f)].path,
		            s.p->modules[module_of(s, s.all[0])].path) != 0))
			return false;
	return true;
}

// How to say that one is meant: with its line if the function has another one,
// and if that is of the same line, its address will have to do.
static std::string choice(const search &s, const found &f)
{
	auto is_other = [&](const found &g) {
		return &g != &f && g.file == f.file && g.name == f.name;
	};
	std::string text = f.file + ":" + f.name + s.way;

	if (f.file.empty())
		return "?";
	if (none_of(s.all, is_other))
		return text;
	if (f.address && any_of(s.all, [&](const found &g) {
		    return is_other(g) && g.line == f.line;
	    }))
		return text + " at 0x" + utohexstr(f.address + f.offset, true);
	return text + "@" + std::to_string(f.line);
}

static int fail(const search &s, const char *what, struct cairn_err *err)
{
	std::string choices;

	if (s.all.empty() && s.has_name)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "the variable %s has no part %s, or no debug "
		                  "information; name one of its members or "
		                  "elements, and compile with -g",
		                  s.name.c_str(), s.way.c_str());
	if (s.all.empty())
		return cairn_fail(
		        err, CAIRN_E_ABSENT,
		        "the program has no global or static variable "
		        "%s; the optimizer may have removed it: use "
		        "--addr, or compile with -O0",
		        what);
	if (is_loaded_again(s))
		return cairn_fail(
		        err, CAIRN_E_ABSENT,
		        "the variable %s is in %s, which was loaded %zu times "
		        "at different places; say which, from %s@1 to %s@%zu",
		        s.name.c_str(),
		        s.p->modules[module_of(s, s.all[0])].path, s.all.size(),
		        (s.name + s.way).c_str(), (s.name + s.way).c_str(),
		        s.all.size());
	for (const found &f : s.all)
		choices += (choices.empty() ? "" : ", ") + choice(s, f);
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%zu variables have the name %s; say one of %s, or "
	                  "use --addr",
	                  s.all.size(), s.name.c_str(), choices.c_str());
}

static void fill(struct global *g, const found &f)
{
	const Constant *c = f.variable->getInitializer();

	g->address = f.address + f.offset;
	g->size = f.size;
	g->bits = f.bits;
	g->unit = f.unit;
	g->is_static = f.variable->hasLocalLinkage();
	if (f.variable->isThreadLocal())
		g->local = strdup(f.variable->getName().str().c_str());
	g->initial = static_cast<unsigned char *>(calloc(f.size + 1, 1));
	g->is_known = static_cast<bool *>(calloc(f.size + 1, sizeof(bool)));
	g->type = new global_type(f.type);
	if (!g->initial || !g->is_known)
		abort();
	memset(g->is_known, true, f.size);
	image m = {g->initial, g->is_known, f.offset, f.size};

	put_constant(m, 0, c, f.variable->getParent()->getDataLayout());
}

// Leaves those of a line, if NAME@N says so, and not which load is meant.
static void keep_line(search &s)
{
	std::vector<found> kept;

	for (const found &f : s.all)
		if (s.which && f.line == s.which && !is_loaded_again(s))
			kept.push_back(f);
	if (kept.empty())
		return;
	s.all = kept;
	s.which = 0;
}

int global_find(struct global *g, const struct program *p, const char *what,
                struct cairn_err *err)
{
	search s = split(p, what);

	*g = {};
	if (s.name.empty())
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "--var '%s' has no name of a variable; say "
		                  "NAME or FILE:NAME",
		                  what);
	for (uint32_t i = 0; i < p->nunits; i++)
		CAIRN_TRY(search_unit(s, i, err));
	keep_line(s);
	bool chosen = s.which && s.which <= s.all.size() && is_loaded_again(s);
	if (s.all.size() != 1 && !chosen)
		return fail(s, what, err);
	if (s.which > s.all.size())
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "%s: its library was loaded only once; name "
		                  "it without @%llu",
		                  what, (unsigned long long)s.which);
	const found &f = s.all[chosen ? s.which - 1 : 0];
	if (f.is_virtual)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "%s is in a virtual base, whose place only "
		                  "the object says; cairn print '&%s' has its "
		                  "address, for --addr",
		                  what, what);
	fill(g, f);
	return 0;
}

void global_release(struct global *g)
{
	free(g->initial);
	free(g->is_known);
	free(g->local);
	delete g->type;
	*g = {};
}
