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
#include "replay/program.h"
}

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
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

// A member that is memory of its own.
static const DIDerivedType *member(const Metadata *m)
{
	auto *d = dyn_cast_or_null<DIDerivedType>(m);

	if (!d || d->isStaticMember() || d->isBitField() ||
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

// --- bit-fields
// ---------------------------------------------------------------

// Those that are wanted, and what was found so far.
struct bit_search {
	uint64_t from, to; // bits
	struct global_bits *out;
	size_t n, max;
};

static void take_bits(bit_search &s, const DIDerivedType *d, uint64_t at,
                      const std::string &path)
{
	uint64_t first = at + d->getOffsetInBits(), n = d->getSizeInBits();

	if (first < s.from || first + n > s.to || !n || n > 64 ||
	    d->getName().empty())
		return;
	if (s.n < s.max) {
		struct global_bits &b = s.out[s.n];

		b.first = first;
		b.n = static_cast<unsigned>(n);
		b.is_signed = kind_of(d->getBaseType()) == GLOBAL_SIGNED;
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

static bool enter_member(part &p, uint64_t &offset, StringRef name)
{
	if (!is_record(p))
		return false;
	for (const Metadata *m : composite(p)->getElements()) {
		const DIDerivedType *d = member(m);
		part inner = {d ? d->getBaseType() : nullptr, 0};
		uint64_t at = d ? offset + d->getOffsetInBits() / 8 : 0;

		if (!d)
			continue;
		if (d->getName() == name ||
		    (d->getName().empty() && enter_member(inner, at, name)) ||
		    (d->getTag() == dwarf::DW_TAG_inheritance &&
		     enter_member(inner, at, name))) {
			p = inner;
			offset = at;
			return true;
		}
	}
	return false;
}

static bool enter_element(part &p, uint64_t &offset, StringRef index)
{
	uint64_t i;

	if (!is_array(p) || index.getAsInteger(0, i) ||
	    i >= count_of(composite(p), p.dim))
		return false;
	p = element_of(p);
	offset += i * size_of(p);
	return true;
}

// ".name" and "[3]", one after the other.
static bool enter(part &p, uint64_t &offset, StringRef way)
{
	while (!way.empty()) {
		size_t end = way.find_first_of(".[]", 1);
		StringRef word = way.slice(1, end);

		if (way[0] == '.' && enter_member(p, offset, word)) {
			way = way.substr(1 + word.size());
		} else if (way[0] == '[' && end != StringRef::npos &&
		           way[end] == ']' && enter_element(p, offset, word)) {
			way = way.substr(end + 1);
		} else {
			return false;
		}
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
	std::string file;
	const GlobalVariable *variable;
	global_type type;
};

struct search {
	const program *p;
	std::string file, name, way;
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

// With the namespaces and classes that it is in.
static std::string full_name(const DIGlobalVariable *v)
{
	const DIDerivedType *member = v->getStaticDataMemberDeclaration();
	const DIScope *scope = member ? member->getScope() : v->getScope();
	std::string name = v->getName().str();

	for (; isa_and_nonnull<DINamespace>(scope) ||
	       isa_and_nonnull<DICompositeType>(scope);
	     scope = scope->getScope())
		if (!scope->getName().empty())
			name = scope->getName().str() + "::" + name;
	return name;
}

// Qualifiers may be left out, from the left.
static bool has_name(const DIGlobalVariable *v, StringRef wanted)
{
	std::string name = full_name(v);

	return name == wanted ||
	       (StringRef(name).ends_with(wanted) &&
	        StringRef(name).drop_back(wanted.size()).ends_with("::"));
}

// Without debug information the name is the linker's, which may have dots.
static void take(search &s, const GlobalVariable &g, uint64_t address,
                 const std::shared_ptr<unit> &u)
{
	const DIGlobalVariable *v = describe(g);
	found f = {address, 0, 0, v ? v->getFilename().str() : "", &g, {u, {}}};
	part &top = f.type.top;

	top = {v ? v->getType() : nullptr, 0};
	if (!(v ? has_name(v, s.name) : g.getName() == s.name + s.way) ||
	    !is_file(f.file, s.file))
		return;
	s.has_name = true;
	if (v && !enter(top, f.offset, s.way))
		return;
	f.size = v && !s.way.empty()
	                 ? size_of(top)
	                 : g.getParent()->getDataLayout().getTypeAllocSize(
	                           g.getValueType());
	for (const found &other : s.all)
		if (other.address == address)
			return;
	s.all.push_back(f);
}

static std::shared_ptr<unit> open_unit(const program_unit &from)
{
	auto u = std::make_shared<unit>();
	size_t n;
	unsigned char *bytes = program_bitcode(&from, &n);

	if (!bytes)
		return nullptr;
	u->bitcode.assign(bytes, bytes + n);
	free(bytes);
	Expected<std::unique_ptr<Module>> m = getLazyBitcodeModule(
	        MemoryBufferRef(StringRef(u->bitcode.data(), n), ""),
	        u->context);
	if (!m) {
		consumeError(m.takeError());
		return nullptr;
	}
	u->module = std::move(*m);
	if (Error e = u->module->materializeMetadata()) {
		consumeError(std::move(e));
		return nullptr;
	}
	return u;
}

// Variables come first in the table of a unit (replay/rewrite.h).
static void search_unit(search &s, const program_unit &from)
{
	std::shared_ptr<unit> u = open_unit(from);
	uint32_t i = 0;

	if (!u)
		return;
	for (const GlobalVariable &g : u->module->globals()) {
		if (g.isDeclaration())
			continue;
		if (i < from.ntable && from.table[i])
			take(s, g, from.table[i], u);
		i++;
	}
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
	name.consume_front("::");
	size_t end = name.find_first_of(".[");

	return {p,
	        file.str(),
	        name.slice(0, end).str(),
	        end == StringRef::npos ? "" : name.substr(end).str(),
	        {},
	        false};
}

static int fail(const search &s, const char *what, struct cairn_err *err)
{
	std::string files;

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
	for (const found &f : s.all)
		files += (files.empty() ? "" : ", ") +
		         (f.file.empty() ? "?" : f.file);
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%zu variables have the name %s, in %s; say "
	                  "FILE:NAME, or use --addr",
	                  s.all.size(), s.name.c_str(), files.c_str());
}

static void fill(struct global *g, const found &f)
{
	const Constant *c = f.variable->getInitializer();

	g->address = f.address + f.offset;
	g->size = f.size;
	g->initial = static_cast<unsigned char *>(calloc(f.size + 1, 1));
	g->is_known = static_cast<bool *>(calloc(f.size + 1, sizeof(bool)));
	g->type = new global_type(f.type);
	if (!g->initial || !g->is_known)
		abort();
	memset(g->is_known, true, f.size);
	image m = {g->initial, g->is_known, f.offset, f.size};

	put_constant(m, 0, c, f.variable->getParent()->getDataLayout());
}

int global_find(struct global *g, const struct program *p, const char *what,
                struct cairn_err *err)
{
	search s = split(p, what);

	*g = {};
	for (uint32_t i = 0; i < p->nunits; i++)
		search_unit(s, p->units[i]);
	if (s.all.size() != 1)
		return fail(s, what, err);
	if (s.all[0].variable->isThreadLocal())
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "the variable %s is one per thread; use "
		                  "--addr with the address of one",
		                  s.name.c_str());
	fill(g, s.all[0]);
	return 0;
}

void global_release(struct global *g)
{
	free(g->initial);
	free(g->is_known);
	delete g->type;
	*g = {};
}
