/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder: from a frame to its caller.
 *
 * Our own, because it has to run where libgcc's must not: in signal handlers,
 * at the end of exit, a million times a second under longjmp, in programs that
 * do not link libgcc_s.  cfi.c says what the tables mean; most rows are "CFA is
 * a register plus a constant, some registers are saved on the stack, the
 * return address is below the CFA", and such rows are kept in a small table of
 * the thread, by pc, so that a step is a few loads.
 *
 * The frame behind a signal handler is known by the bytes of the trampoline
 * that the kernel returns to: its registers are in the ucontext above it.
 *
 * Invariant: nothing is read but words of the stack between where the walk
 * stands and pages that the kernel confirmed to be readable.
 * Breaks when: code has no or wrong tables: UNWIND_LOST, and who walks says so.
 * Cost: a dozen loads for a known pc; a search and one pass over the function's
 * program for a new one, and always for code of modules without marks.
 */
#include "runtime/unwind.h"

#include <dlfcn.h>
#include <link.h>
#include <ucontext.h>

#include "runtime/cfi.h"
#include "runtime/object.h"
#include "runtime/registers.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define MAX_SWITCHES 64
#define RED_ZONE 128u
#define CALL 0xe8 /* opcode */

/* By unwind_saved_index. */
static const uint8_t saved_reg[UNWIND_NSAVED] = {3, 6, 12, 13, 14, 15};

struct dl_find_object; /* glibc 2.35 */
extern int _dl_find_object(void *pc, struct dl_find_object *result)
        __attribute__((weak));
extern int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *),
                           void *data) __attribute__((weak));

/* --- reading the stack ---------------------------------------------------- */

/* The walk stands at `floor`; [lo, hi) is known to be readable. */
struct reader {
	struct thread *t;
	uintptr_t floor, lo, hi;
};

/*
 * In an epilogue registers that are popped already are, by the tables, still
 * where they were saved, now below the stack pointer: in the red zone, which
 * a signal leaves alone.
 */
static void reader_init(struct reader *r, struct thread *t,
                        const struct unwind *u)
{
	r->t = t;
	r->floor = u->reg[UNWIND_RSP] - (u->is_async ? RED_ZONE : 0);
	r->lo = t ? t->stack_lo : 0;
	r->hi = t ? t->stack_hi : 0;
}

/* Asks the kernel about the page of `at`, and remembers. */
static bool extend(struct reader *r, uintptr_t at)
{
	uintptr_t page = at & ~(uintptr_t)(RT_PAGE - 1);

	if (at < r->floor || at & 7 || !sys_readable(at))
		return false;
	if (page == r->hi) {
		r->hi += RT_PAGE;
	} else if (page + RT_PAGE == r->lo) {
		r->lo = page;
	} else {
		r->lo = page;
		r->hi = page + RT_PAGE;
	}
	if (r->t) {
		r->t->stack_lo = r->lo;
		r->t->stack_hi = r->hi;
	}
	return true;
}

static inline bool read_word(struct reader *r, uintptr_t at, uint64_t *value)
{
	if ((at < r->floor || at < r->lo || at > r->hi - 8 || !r->hi) &&
	    !extend(r, at))
		return false;
	*value = rt_get64((const void *)at);
	return true;
}

static bool read_for_cfi(void *context, uintptr_t at, uint64_t *value)
{
	return read_word(context, at, value);
}

/* --- the object of a pc --------------------------------------------------- */

struct found {
	const unsigned char *eh_frame_hdr;
	uint32_t module; /* 0: not ours */
};

/* The same, by the older interface. */
struct search {
	uintptr_t pc;
	const unsigned char *eh_frame_hdr;
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	const unsigned char *hdr = NULL;
	bool here = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && s->pc - at < ph->p_memsz)
			here = true;
		if (ph->p_type == PT_GNU_EH_FRAME)
			hdr = (const unsigned char *)at;
	}
	if (here)
		s->eh_frame_hdr = hdr;
	return here;
}

static const unsigned char *ask_libc(uintptr_t pc)
{
	struct dl_find_object_result {
		unsigned long long flags;
		void *start, *end;
		struct link_map *map;
		void *eh_frame;
		unsigned long long reserved[7];
	} result;
	struct search search = {pc, NULL};

	if (process.is_static)
		return NULL;
	if (_dl_find_object) {
		if (_dl_find_object((void *)pc, (void *)&result) == 0)
			return result.eh_frame;
		return NULL;
	}
	if (dl_iterate_phdr)
		dl_iterate_phdr(visit_object, &search);
	return search.eh_frame_hdr;
}

static bool find_object(uintptr_t pc, struct found *f)
{
	struct object vdso;

	f->module = rt_module_of(pc);
	if (f->module) {
		f->eh_frame_hdr = process.modules[f->module].eh_frame_hdr;
		return f->eh_frame_hdr != NULL;
	}
	if (process.vdso) {
		/* its size is its own affair: other objects may be next to it
		 */
		object_read(&vdso, process.vdso);
		if (pc >= vdso.text && pc < vdso.text_end) {
			f->eh_frame_hdr = vdso.eh_frame_hdr;
			return f->eh_frame_hdr != NULL;
		}
	}
	f->eh_frame_hdr = ask_libc(pc);
	return f->eh_frame_hdr != NULL;
}

uintptr_t unwind_function(uintptr_t pc)
{
	struct found f;
	struct cfi_fde fde;

	return find_object(pc, &f) && cfi_find(f.eh_frame_hdr, pc, &fde)
	               ? fde.start
	               : 0;
}

void unwind_from_call(struct unwind *u, const uint64_t *saved, uintptr_t sp,
                      uintptr_t pc)
{
	for (unsigned i = 0; i < UNWIND_NSAVED; i++)
		u->reg[saved_reg[i]] = saved[i];
	u->reg[UNWIND_RSP] = sp;
	u->pc = pc;
}

/* --- signal frames -------------------------------------------------------- */

/*
 * Is the code at pc in the middle of a call that steps over the red zone
 * (slow.S), before the call or behind it?  The unwind tables know nothing of
 * the step.
 */
static bool is_stepping(uintptr_t pc)
{
	static const unsigned char down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const unsigned char up[] = {0x48, 0x8d, 0xa4, 0x24,
	                                   0x80, 0x00, 0x00, 0x00};
	const unsigned char *code = (const unsigned char *)pc;
	uint32_t module = rt_module_of(pc);
	const struct module *m = &process.modules[module];

	if (!module || pc - m->text < sizeof(down) ||
	    m->text_end - pc < sizeof(up))
		return false;
	return (code[0] == CALL && rt_same(code - 5, down, sizeof(down))) ||
	       (code[-5] == CALL && rt_same(code, up, sizeof(up)));
}

void unwind_from_signal(struct unwind *u, const void *context)
{
	/* gregset_t by DWARF number */
	static const uint8_t order[16] = {
	        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
	        REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
	        REG_R12, REG_R13, REG_R14, REG_R15,
	};
	const ucontext_t *uc = context;

	for (int i = 0; i < 16; i++)
		u->reg[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
	u->pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	u->is_async = true;
	if (is_stepping(u->pc))
		u->reg[UNWIND_RSP] += RED_ZONE;
}

/* Is the code at pc "mov $15, %rax; syscall"?  Requires: pc is in code. */
static bool is_trampoline(uintptr_t pc)
{
	static const unsigned char bytes[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
	                                      0x00, 0x00, 0x0f, 0x05};

	return rt_same((const void *)pc, bytes, sizeof(bytes));
}

static enum unwind_result step_signal(struct unwind *u, struct reader *r)
{
	const ucontext_t *uc = (const ucontext_t *)u->reg[UNWIND_RSP];
	uint64_t last;

	/* the registers end below the pointer to the floating-point state */
	if (++u->nswitches > MAX_SWITCHES ||
	    !read_word(r, (uintptr_t)&uc->uc_mcontext.fpregs, &last))
		return UNWIND_LOST;
	u->cfa = u->reg[UNWIND_RSP];
	u->module = 0;
	unwind_from_signal(u, uc);
	return UNWIND_OK;
}

/* --- known rows ----------------------------------------------------------- */

static uint64_t rule_key(const struct unwind *u)
{
	return u->pc << 1 | u->is_async;
}

/* A copy, which is whole: no handler put another rule there meanwhile. */
static bool find_rule(struct thread *t, uint64_t key, struct unwind_rule *rule)
{
	uint32_t n = unwind_nkept(t);
	const struct unwind_rule *there =
	        unwind_known(t, key, process.generation);

	if (!there)
		return false;
	rt_copy_words(rule, there, sizeof(*rule));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return unwind_nkept(t) == n;
}

/* Reads the path register of the frame that *u stands in. */
__attribute__((noinline)) static void read_path(struct unwind *u,
                                                struct reader *r, uint32_t at)
{
	uint64_t base = u->reg[at & CAIRN_REG_NUMBER], value;

	if (at & CAIRN_REG_IN_REGISTER)
		u->path = 1 + base;
	else if (read_word(r, base + registers_offset(at), &value))
		u->path = 1 + value;
}

static enum unwind_result step_by_rule(struct unwind *u, struct reader *r,
                                       const struct unwind_rule *rule)
{
	uint64_t cfa = u->reg[rule->cfa_reg] + (uint64_t)rule->cfa_offset, ra;

	if (rule->reg_at)
		read_path(u, r, rule->reg_at);
	if (cfa <= u->reg[UNWIND_RSP] || !read_word(r, cfa - 8, &ra))
		return UNWIND_LOST;
	for (unsigned i = 0; i < UNWIND_NSAVED; i++)
		if (rule->saved[i] &&
		    !read_word(r, cfa + (uint64_t)(rule->saved[i] * 8),
		               &u->reg[saved_reg[i]]))
			return UNWIND_LOST;
	u->cfa = cfa;
	u->module = rule->module;
	u->reg[UNWIND_RSP] = cfa;
	u->pc = ra;
	u->is_async = false;
	return UNWIND_OK;
}

/* Can the row be kept as a rule? */
static bool make_rule(const struct cfi_row *row, struct unwind_rule *rule)
{
	if (row->has_cfa_expression || row->cfa_reg > 15 ||
	    row->cfa.number != (int32_t)row->cfa.number ||
	    row->kind[CFI_RA] != CFI_OFFSET ||
	    row->value[CFI_RA].number != -8 ||
	    row->kind[UNWIND_RSP] != CFI_SAME)
		return false;
	rt_zero(rule, sizeof(*rule));
	_Static_assert(sizeof(*rule) % 8 == 0, "words");
	rule->cfa_reg = row->cfa_reg;
	rule->cfa_offset = (int32_t)row->cfa.number;
	for (unsigned i = 0; i < UNWIND_NSAVED; i++) {
		uint8_t kind = row->kind[saved_reg[i]];
		int64_t at = row->value[saved_reg[i]].number;

		if (kind == CFI_SAME || kind == CFI_UNDEFINED)
			continue;
		if (kind != CFI_OFFSET || at % 8 || !at ||
		    at / 8 != (int16_t)(at / 8))
			return false;
		rule->saved[i] = (int16_t)(at / 8);
	}
	return true;
}

/* The place of the same key, or one that is out of date, or any. */
static struct unwind_rule *choose_place(struct thread *t, uint64_t key)
{
	struct unwind_rule *home = unwind_home(t, key), *old = NULL;

	for (unsigned i = 0; i < RT_RULE_WAYS; i++) {
		if (home[i].key == key)
			return &home[i];
		if (!old && home[i].generation != process.generation)
			old = &home[i];
	}
	return old ? old : &home[t->nrules_kept % RT_RULE_WAYS];
}

/* A handler in between finds no rule rather than half of one: the key is taken
 * away first and put there last. */
void unwind_keep(struct thread *t, const struct unwind_rule *rule)
{
	struct unwind_rule *place;

	if (t->rules_busy)
		return;
	t->rules_busy = 1;
	t->nrules_kept++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	place = choose_place(t, rule->key);
	_Static_assert(offsetof(struct unwind_rule, key) == 0, "first word");
	__atomic_store_n(&place->key, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	rt_copy_words(&place->key + 1, &rule->key + 1,
	              sizeof(*rule) - sizeof(rule->key));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&place->key, rule->key, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->rules_busy = 0;
}

/* The same for two words of a rule, with `path` for its key. */
void unwind_set_slot(struct thread *t, const struct unwind_rule *rule,
                     uint64_t path, uint64_t *slot, uint32_t *kept)
{
	struct unwind_rule *place = &t->rules[rule - t->rules];

	if (t->rules_busy)
		return;
	t->rules_busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (t->nrules_kept == *kept) {
		*kept = ++t->nrules_kept;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		__atomic_store_n(&place->path, 0, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		place->slot = slot;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		__atomic_store_n(&place->path, path, __ATOMIC_RELAXED);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->rules_busy = 0;
}

/* --- any row -------------------------------------------------------------- */

/* The caller's register i, by the row, from registers and CFA of the frame. */
static bool caller_register(const struct cfi_row *row, unsigned i,
                            const uint64_t *reg, uint64_t cfa, struct reader *r,
                            uint64_t *value)
{
	int64_t number = row->value[i].number;
	uint64_t at;

	switch (row->kind[i]) {
	case CFI_SAME:
		*value = reg[i];
		return true;
	case CFI_UNDEFINED:
		*value = 0;
		return true;
	case CFI_OFFSET:
		return read_word(r, cfa + (uint64_t)number, value);
	case CFI_VAL_OFFSET:
		*value = cfa + (uint64_t)number;
		return true;
	case CFI_REGISTER:
		*value = number < CFI_REGS ? reg[number] : 0;
		return true;
	case CFI_EXPRESSION:
		return cfi_evaluate(row->value[i].expression, reg, &cfa,
		                    read_for_cfi, r, &at) &&
		       read_word(r, at, value);
	default:
		return cfi_evaluate(row->value[i].expression, reg, &cfa,
		                    read_for_cfi, r, value);
	}
}

static bool caller_registers(struct unwind *u, const struct cfi_row *row,
                             const uint64_t *old, uint64_t cfa,
                             struct reader *r)
{
	for (unsigned i = 0; i < 16; i++)
		if (i != UNWIND_RSP &&
		    !caller_register(row, i, old, cfa, r, &u->reg[i]))
			return false;
	u->reg[UNWIND_RSP] = cfa;
	if (row->kind[UNWIND_RSP] != CFI_SAME &&
	    !caller_register(row, UNWIND_RSP, old, cfa, r, &u->reg[UNWIND_RSP]))
		return false;
	return caller_register(row, CFI_RA, old, cfa, r, &u->pc);
}

static enum unwind_result step_by_row(struct unwind *u, struct reader *r,
                                      const struct cfi_row *row)
{
	struct reader anywhere = {.t = NULL};
	uint64_t old[CFI_REGS], cfa;

	for (unsigned i = 0; i < 16; i++)
		old[i] = u->reg[i];
	old[CFI_RA] = u->pc;
	if (!row->has_cfa_expression)
		cfa = old[row->cfa_reg & 15] + (uint64_t)row->cfa.number;
	else if (!cfi_evaluate(row->cfa.expression, old, NULL, read_for_cfi, r,
	                       &cfa))
		return UNWIND_LOST;
	u->cfa = cfa;
	if (row->kind[CFI_RA] == CFI_UNDEFINED)
		return UNWIND_END;
	if (row->kind[UNWIND_RSP] == CFI_REGISTER) {
		/* the last instructions of longjmp: the jmp_buf is the frame,
		 * and the caller the frame it jumps to */
		u->cfa = old[UNWIND_RSP];
		r = &anywhere;
	} else if (cfa <= old[UNWIND_RSP]) {
		return UNWIND_LOST;
	}
	u->is_async = false;
	return caller_registers(u, row, old, cfa, r) ? UNWIND_OK : UNWIND_LOST;
}

static enum unwind_result step_unknown(struct unwind *u, struct thread *t,
                                       struct reader *r)
{
	uintptr_t pc = u->is_async ? u->pc : u->pc - 1;
	struct unwind_rule rule;
	struct cfi_row row;
	struct cfi_fde fde;
	struct found f;
	uint32_t generation, reg_at;

	u->module = 0;
	generation = process.generation;
	if (!find_object(pc, &f)) {
		/* the trampoline may be the first thing of an object */
		if (u->is_async || !find_object(u->pc, &f))
			return UNWIND_LOST;
	}
	if (!u->is_async && is_trampoline(u->pc))
		return step_signal(u, r);
	u->module = (uint16_t)f.module;
	u->cfa = 0;
	if (!cfi_find(f.eh_frame_hdr, pc, &fde) || !cfi_row_at(&fde, pc, &row))
		return UNWIND_LOST;
	reg_at = u->is_async ? 0 : registers_at(f.module, u->pc);
	if (fde.is_signal_frame || !make_rule(&row, &rule)) {
		enum unwind_result result;

		if (reg_at)
			read_path(u, r, reg_at);
		result = step_by_row(u, r, &row);
		u->is_async = fde.is_signal_frame;
		return result;
	}
	rule.module = (uint16_t)f.module;
	rule.reg_at = reg_at;
	/* other objects may be unloaded without our knowing */
	if (t && f.module) {
		rule.key = rule_key(u);
		rule.generation = generation;
		unwind_keep(t, &rule);
	}
	return step_by_rule(u, r, &rule);
}

enum unwind_result unwind_step(struct unwind *u, struct thread *t)
{
	struct unwind_rule rule;
	enum unwind_result result;
	struct reader r;

	u->path = 0;
	reader_init(&r, t, u);
	result = t && find_rule(t, rule_key(u), &rule)
	                 ? step_by_rule(u, &r, &rule)
	                 : step_unknown(u, t, &r);
	return result == UNWIND_OK && u->pc == 0 ? UNWIND_END : result;
}
