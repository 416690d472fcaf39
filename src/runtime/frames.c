/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames table: where frames died or began in the middle, and how often.
 *
 * Ball and Larus, "Optimally profiling and tracing programs", TOPLAS 1994,
 * figure 4: a frame that leaves by other ways than a return is one more edge
 * to the outside.  Each thread has its own table, open addressing with linear
 * probing, in chunks of the output file; when one is three quarters full a
 * bigger one is put before it.  A key may then occur in both: counts add up.
 *
 * Frames that have a path register are in tables of their own, since there a
 * slot is known by two words, key and register.  A slot is claimed by one
 * compare-and-exchange per word, the register first, and counted by one add, so
 * that a signal handler on the same thread may come in between any two
 * instructions.
 *
 * Invariant: a word of a slot, once it is not zero, stays.  Who counts in a
 * slot has seen his own words in it.  So two that claim a slot word by word,
 * one in the middle of the other, may get neither of them: then both go on, and
 * the slot either waits for a frame that is just this mixture or counts nothing
 * for ever, as one does of whose claim only half was made.
 * Cost: 20 instructions for a place that was seen before; the lock only when a
 * table is added.
 */
#include "runtime/frames.h"

#include "abi/trace.h"
#include "runtime/out.h"
#include "runtime/registers.h"
#include "runtime/rt.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"

#define FIRST_SLOTS 168u /* with the header less than one page */
#define MAX_SLOTS (1u << 20)

struct slot {
	uint64_t key;
	uint64_t reg; /* always 0 in tables without registers */
	uint64_t count;
};

/* Requires: lock held. */
static bool add_table(struct thread *t, bool has_reg, uint64_t nslots)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_FRAMES,
	        .id = t->serial,
	        .n = nslots,
	        .payload = nslots * sizeof(struct slot),
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = out_chunk(&spec);

	if (!c)
		return false;
	out_publish(c);
	c->sibling = t->frames[has_reg];
	__atomic_store_n(&t->frames[has_reg], c, __ATOMIC_RELEASE);
	return true;
}

bool frames_ensure(struct thread *t)
{
	return t->frames[0] || add_table(t, false, FIRST_SLOTS);
}

/* A bigger table in front of `full`, unless somebody was faster. */
static bool grow(struct thread *t, bool has_reg, const struct chunk *full)
{
	uint64_t mask, n = FIRST_SLOTS;
	/* a fork child looks at its frames with the lock held */
	bool ok = true, is_inside = rt_is_inside();

	if (full)
		n = rt_get64(full->mem + CAIRN_CHK_N) * 4;
	if (!is_inside)
		rt_enter(&mask);
	if (t->frames[has_reg] == full)
		ok = add_table(t, has_reg, n < MAX_SLOTS ? n : MAX_SLOTS);
	if (!is_inside)
		rt_leave(&mask);
	return ok;
}

/* The home of a key among n slots: the high bits of a product, without a
 * division. */
static uint64_t home(uint64_t key, uint64_t n)
{
	key *= 0x9e3779b97f4a7c15u;
	return (key >> 32) * n >> 32;
}

/* Is the word this value, or can it become so? */
static inline bool claim(uint64_t *word, uint64_t value)
{
	uint64_t there = __atomic_load_n(word, __ATOMIC_RELAXED);

	return there == value ||
	       (!there && __atomic_compare_exchange_n(word, &there, value,
	                                              false, __ATOMIC_RELAXED,
	                                              __ATOMIC_RELAXED)) ||
	       there == value;
}

/*
 * The slot of a frame without a register, in a table of such; NULL if three
 * quarters of the places from its home on are taken.
 */
static uint64_t *find(const struct chunk *c, uint64_t key)
{
	struct slot *slots = out_payload(c);
	uint64_t n = rt_get64(c->mem + CAIRN_CHK_N);
	uint64_t at = home(key, n);

	for (uint64_t i = 0; i < n / 4 * 3; i++) {
		if (claim(&slots[at].key, key))
			return &slots[at].count;
		if (++at == n)
			at = 0;
	}
	return NULL;
}

/* The same with one.  A handler that forks leaves its child an empty table:
 * so the first word is looked at again after the second. */
static uint64_t *find_with(const struct chunk *c, uint64_t key, uint64_t reg)
{
	struct slot *slots = out_payload(c);
	uint64_t n = rt_get64(c->mem + CAIRN_CHK_N);
	uint64_t at = home(key ^ reg * 0xd6e8feb86659fd93u, n);

	for (uint64_t i = 0; i < n / 4 * 3; i++) {
		struct slot *s = &slots[at];

		if (claim(&s->reg, reg) && claim(&s->key, key) &&
		    __atomic_load_n(&s->reg, __ATOMIC_RELAXED) == reg)
			return &s->count;
		if (++at == n)
			at = 0;
	}
	return NULL;
}

uint64_t *frames_slot(struct thread *t, const struct frames_place *place)
{
	uint64_t link = place->pc - process.modules[place->module].bias;
	uint64_t key = (uint64_t)place->kind << CAIRN_FRAME_KIND_SHIFT |
	               (uint64_t)place->module << CAIRN_FRAME_MODULE_SHIFT |
	               (link & CAIRN_FRAME_PC_MASK);
	bool has_reg = place->reg != 0;

	for (;;) {
		const struct chunk *c = t->frames[has_reg];
		uint64_t *count = NULL;

		if (c)
			count = has_reg ? find_with(c, key, place->reg)
			                : find(c, key);
		if (count)
			return count;
		if (!grow(t, has_reg, c)) {
			out_flag(CAIRN_FILE_FRAMES_LOST, 1);
			return NULL;
		}
	}
}

/* The key of a rule that is only about a slot: no pc is as great. */
static uint64_t slot_key(unsigned kind, uintptr_t pc)
{
	return (uint64_t)kind << CAIRN_FRAME_KIND_SHIFT | pc << 1;
}

static bool is_async(unsigned kind)
{
	return kind == CAIRN_FRAME_OUT_ASYNC || kind == CAIRN_FRAME_IN_ASYNC;
}

/* Makes the rule; its slot is not looked for yet.  False: no module of ours. */
static bool make_rule(unsigned kind, uintptr_t pc, struct unwind_rule *rule)
{
	rt_zero(rule, sizeof(*rule));
	rule->key = slot_key(kind, pc);
	rule->generation = process.generation;
	rule->module = (uint16_t)rt_module_of(is_async(kind) ? pc : pc - 1);
	if (rule->module && kind == CAIRN_FRAME_OUT)
		rule->reg_at = registers_at(rule->module, pc);
	return rule->module != 0;
}

__attribute__((noinline)) static uint64_t *
remember_slot(struct thread *t, unsigned kind, uintptr_t pc)
{
	struct unwind_rule rule;

	if (!make_rule(kind, pc, &rule))
		return NULL;
	rule.slot = frames_slot(
	        t, &(struct frames_place){kind, rule.module, pc, 0});
	if (rule.slot && !rule.reg_at)
		unwind_keep(t, &rule);
	return rule.slot;
}

uint64_t *frames_slot_of(struct thread *t, unsigned kind, uintptr_t pc)
{
	uint32_t kept = unwind_nkept(t);
	const struct unwind_rule *rule =
	        unwind_known(t, slot_key(kind, pc), process.generation);
	uint64_t *slot = rule && !rule->reg_at ? rule->slot : NULL;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return slot && unwind_nkept(t) == kept ? slot
	                                       : remember_slot(t, kind, pc);
}

static void add(uint64_t *count, int64_t n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*count) : "er"(n) : "cc");
}

void frames_add(struct thread *t, const struct frames_place *place, int64_t n)
{
	uint64_t *count = frames_slot(t, place);

	if (count)
		add(count, n);
}

/* --- frames that an unwinder takes away ----------------------------------- */

__attribute__((noinline)) static uint32_t remember_register(struct thread *t,
                                                            uintptr_t pc)
{
	struct unwind_rule rule;

	if (make_rule(CAIRN_FRAME_OUT, pc, &rule) && t)
		unwind_keep(t, &rule);
	return rule.reg_at;
}

uint32_t core_register(uintptr_t pc)
{
	struct thread *t = rt_self();
	const struct unwind_rule *rule = NULL;
	uint32_t kept = 0, at = 0;

	if (!process.has_registers)
		return 0;
	if (t) {
		kept = unwind_nkept(t);
		rule = unwind_known(t, slot_key(CAIRN_FRAME_OUT, pc),
		                    process.generation);
	}
	if (rule) {
		at = rule->reg_at;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (unwind_nkept(t) == kept)
			return at;
	}
	return remember_register(t, pc);
}

/* The slot of a frame that died in a call, with a path register. */
static uint64_t *slot_with(struct thread *t, uintptr_t pc, uint64_t reg)
{
	struct frames_place place = {CAIRN_FRAME_OUT, 0, pc, reg};
	uint32_t kept = unwind_nkept(t);
	const struct unwind_rule *rule = unwind_known(
	        t, slot_key(CAIRN_FRAME_OUT, pc), process.generation);
	uint64_t *slot = NULL;

	if (rule) {
		place.module = rule->module;
		slot = rule->path == reg ? rule->slot : NULL;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (unwind_nkept(t) != kept)
			rule = NULL;
	}
	if (rule && slot)
		return slot;
	if (!rule)
		place.module = rt_module_of(pc - 1);
	slot = place.module ? frames_slot(t, &place) : NULL;
	if (rule && slot)
		unwind_set_slot(t, rule, reg, slot, &kept);
	return slot;
}

void core_dying(uintptr_t pc, bool between, const void *exception, bool lands,
                uint64_t reg)
{
	struct thread *t = rt_self();
	uint64_t *count;

	if (!t)
		return;
	if (lands) {
		t->resumes = exception;
		return;
	}
	if (exception && t->resumes == exception) {
		t->resumes = NULL;
		return;
	}
	if (t->stream && rt_module_of(between ? pc : pc - 1))
		process.trace->mark(
		        t, between ? CAIRN_TRACE_CUT : CAIRN_TRACE_DEATH, pc);
	if (reg && !between)
		count = slot_with(t, pc, reg);
	else
		count = frames_slot_of(
		        t, between ? CAIRN_FRAME_OUT_ASYNC : CAIRN_FRAME_OUT,
		        pc);
	if (count)
		add(count, 1);
}
