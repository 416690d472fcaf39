/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths: loops that count their turns.
 *
 * Innermost loops of functions with many paths that make no calls count their
 * turns themselves (graph/local.h): in a second register q, which is the
 * address of the turn's counter.  The first one is not kept there: it is what
 * it was when the loop was entered, less what it would be had a path begun at
 * the head, so that it is 0 when a path has.  (It is 0 only then: no two ways
 * to a block have the same sum.)
 *
 *     back   test %r, %r;  jne other;  incq %gs:8*v(%q)
 *     exit   add  gain(%q), %r
 *
 * Residual: q is the address of a byte that says whether the turn is tested.
 *
 * If few turns go back they are held: counted in one register, in functions
 * with few paths, too, and added to their counters when the loop is left and
 * before the register is full.  An increment of memory in a short loop waits
 * for the one before it (ijpeg: paths cost 1.29 times the plain run without
 * holding, 1.23 with it; fann 1.15 and 1.08; bzip2 1.37 and 1.28 with loops of
 * one turn alone).  The register has a field for each turn but the first, and
 * above them one for all of them together, which begins so high that it
 * overflows when the fields might.  q is then the address of what the turn adds
 * to it:
 *
 *     back   add  (%q), %held;  jc other
 *
 * A path that came from outside has the register overflow at once.
 *
 * Invariant: where the loop is left, the registers are what they would be had
 * they been kept in it.
 * Breaks when: a held loop is left in the middle (a fault, a handler that
 * jumps): up to held_max() turns are then not counted.  Its blocks are marked
 * CAIRN_BLOCK_HELD (path.c); a reader that finds a frame dead in one says that
 * its counts are not exact.
 * Cost: what is shown, per turn; per entry of the loop a few instructions, and
 * a word per turn of a loop for each register if turns gain different sums.
 */
#include "plugin/path_writer.h"

#include "abi/map.h"
#include "base/alloc.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <stdlib.h>

/* Are pairs of its turns counted? */
static bool has_pairs(const struct path_writer *w, const struct turns *t)
{
	return counts_pairs_at(w->m.fn->paths, t->local.head);
}

/* --- what is held -------------------------------------------------------- */

/* Bits for the count of a turn. */
static unsigned held_width(const struct turns *t)
{
	return t->nheld < 3 ? 16 : t->nheld < 5 ? 10 : 8;
}

/* Where the count of all turns begins. */
static unsigned held_total(const struct turns *t)
{
	return (t->nheld - 1) * held_width(t);
}

/* Turns that can be held, and the mask of a field. */
static uint64_t held_max(const struct turns *t)
{
	return ((uint64_t)1 << held_width(t)) - 1;
}

/* The word when nothing is held, and so many turns are to come until it
 * overflows. */
static LLVMValueRef held_when(struct path_writer *w, const struct turns *t,
                              uint64_t turns)
{
	return pw_constant(w, 0 - (turns << held_total(t)));
}

/* What a turn adds to the word. */
static uint64_t step_of(const struct turns *t, uint64_t turn)
{
	uint64_t step = (uint64_t)1 << held_total(t);

	for (uint32_t i = 1; i < t->nheld; i++)
		if (t->held[i] == turn)
			step += (uint64_t)1 << (i - 1) * held_width(t);
	return step;
}

static LLVMValueRef step_table(struct path_writer *w, struct turns *t)
{
	uint64_t n = t->local.paths.n;
	LLVMValueRef *values;

	if (t->step_table)
		return t->step_table;
	values = xcalloc(n, sizeof(LLVMValueRef));
	for (uint64_t i = 0; i < n; i++)
		values[i] = pw_constant(w, step_of(t, i));
	t->step_table = pw_add_table(w, "cairn.steps", w->m.i64, values, n);
	free(values);
	return t->step_table;
}

/* --- registers ----------------------------------------------------------- */

/* The second register when the turn so far is v: the address of its counter,
 * of what it adds to the word that is held, or of the byte that says whether it
 * is tested. */
static LLVMValueRef turn_at(struct path_writer *w, struct turns *t, uint64_t v)
{
	if (t->nheld)
		return pw_address_in(w, step_table(w, t), 8 * v);
	if (!t->tested)
		return pw_symbol(w, 8 * (v + t->first));
	if (!t->tested_table)
		t->tested_table = pw_add_bytes(w, "cairn.tested", t->tested,
		                               t->local.paths.n);
	return pw_address_in(w, t->tested_table, v);
}

static uint64_t turn_units(const struct turns *t, uint64_t v)
{
	return t->tested ? v : 8 * v;
}

/* The first register when a path has begun at the loop's head, had it not been
 * made 0. */
static LLVMValueRef base_of(struct path_writer *w, const struct turns *t)
{
	const struct paths *p = &w->m.fn->paths->paths;

	return pw_register_at(w, p->value[p->dag.begin_of[t->local.head]]);
}

/* The third register then. */
static LLVMValueRef slot_base_of(struct path_writer *w, const struct turns *t)
{
	const struct function_paths *p = w->m.fn->paths;
	uint32_t begin = p->paths.dag.begin_of[t->local.head];

	return pw_constant(w, 8 * (uint64_t)p->prefer.value[begin]);
}

static LLVMValueRef gain_table(struct path_writer *w, const uint64_t *gain,
                               uint64_t n, uint64_t unit, LLVMValueRef *table)
{
	LLVMValueRef *values;

	if (*table)
		return *table;
	values = xcalloc(n, sizeof(LLVMValueRef));
	for (uint64_t i = 0; i < n; i++)
		values[i] = pw_constant(w, unit * gain[i]);
	*table = pw_add_table(w, "cairn.turns", w->m.i64, values, n);
	free(values);
	return *table;
}

/* The turn that ends here, as the address of its counter. */
static LLVMValueRef turn_of(struct path_writer *w, const struct path_deed *p)
{
	if (p->op->kind == INCREMENT_COUNT_AT)
		return turn_at(w, p->turns, p->op->value);
	return pw_sum(w, pw_get(w, w->q),
	              pw_constant(w, turn_units(p->turns, p->op->value)));
}

/* What the turn that ends here adds to a register. */
static LLVMValueRef gain_of(struct path_writer *w, const struct path_deed *p,
                            const uint64_t *gain, uint64_t unit,
                            LLVMValueRef *table)
{
	LLVMBuilderRef b = w->m.builder;
	struct turns *t = p->turns;
	LLVMValueRef at;

	if (p->op->kind == INCREMENT_COUNT_AT)
		return pw_constant(w, unit * gain[p->op->value]);
	at = LLVMBuildSub(b, turn_of(w, p), turn_at(w, t, 0), "");
	if (t->tested)
		at = LLVMBuildShl(b, at, pw_constant(w, 3), "");
	gain_table(w, gain, t->local.paths.n, unit, table);
	at = pw_sum(w, at, pw_address_in(w, *table, 0));
	at = LLVMBuildIntToPtr(b, at, w->m.ptr, "");
	return marker_ours(LLVMBuildLoad2(b, w->m.i64, at, "cairn.gain"));
}

/* The first register with what the turn that ends here adds. */
static LLVMValueRef gained(struct path_writer *w, const struct path_deed *p)
{
	LLVMValueRef r = pw_sum(w, pw_get(w, w->r), base_of(w, p->turns));

	return pw_sum(w, r,
	              gain_of(w, p, p->turns->local.sum, pw_in_units(w, 1),
	                      &p->turns->table));
}

/* The third one; NULL if there is none. */
static LLVMValueRef slot_gained(struct path_writer *w,
                                const struct path_deed *p)
{
	if (!w->m.fn->paths->has_slots)
		return NULL;
	return pw_sum(
	        w, pw_get(w, w->s),
	        gain_of(w, p, p->turns->slot_sum, 8, &p->turns->slot_table));
}

/* A path that came from outside has ended: the next begins at the head. */
static void begin_at_head(struct path_writer *w, const struct turns *t)
{
	pw_set(w, w->r, pw_constant(w, 0));
	if (w->m.fn->paths->has_slots)
		pw_set(w, w->s, slot_base_of(w, t));
}

static LLVMValueRef began_outside(struct path_writer *w)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntNE, pw_get(w, w->r),
	                     pw_constant(w, 0), "");
}

static void add_held(struct path_writer *w, LLVMValueRef at, LLVMValueRef n)
{
	if (w->m.by_segment) /* assembly names the segment */
		at = LLVMBuildIntToPtr(w->m.builder, at, w->m.ptr, "");
	else
		at = pw_pointer(w, at);
	marker_add_to(&w->m, at, w->m.by_segment, n);
}

/* Counts the path that the first register says with the turn that ends here. */
static void count_gained(struct path_writer *w, const struct path_deed *p,
                         LLVMValueRef place)
{
	LLVMValueRef r = gained(w, p);

	path_calls_end(w, p, r, place);
	path_count(w, r, slot_gained(w, p), place);
	path_comes_before(w, has_pairs(w, p->turns) ? r : NULL);
}

/* Adds n to the counter of a turn that is held. */
static void count_held(struct path_writer *w, struct turns *t, uint32_t i,
                       LLVMValueRef n)
{
	uint64_t number;
	LLVMValueRef at;

	local_path(&t->local, &w->m.fn->paths->paths, t->held[i], &number);
	at = pw_symbol(w, 8 * (w->is_direct ? number : t->first + t->held[i]));
	add_held(w, at, n);
}

static void release_pairs(struct path_writer *w, struct turns *t,
                          LLVMValueRef n, LLVMValueRef place);

/* Counts all that is held; `from` is what the word was when it was nothing. */
static void release_held(struct path_writer *w, struct turns *t,
                         LLVMValueRef from, LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef all = LLVMBuildSub(b, pw_get(w, w->held), from, ""), rest;

	rest = LLVMBuildLShr(b, all, pw_constant(w, held_total(t)), "");
	if (has_pairs(w, t)) {
		release_pairs(w, t, rest, place);
		return;
	}
	for (uint32_t i = 1; i < t->nheld; i++) {
		LLVMValueRef n = LLVMBuildLShr(
		        b, all, pw_constant(w, (i - 1) * held_width(t)), "");

		n = LLVMBuildAnd(b, n, pw_constant(w, held_max(t)), "");
		rest = LLVMBuildSub(b, rest, n, "");
		count_held(w, t, i, n);
	}
	count_held(w, t, 0, rest);
}

/* What the turn that ends here adds to the word. */
static LLVMValueRef held_step(struct path_writer *w, const struct path_deed *p)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef at;

	if (p->op->kind == INCREMENT_COUNT_AT)
		return pw_constant(w, step_of(p->turns, p->op->value));
	if (p->turns->nheld == 1)
		return pw_constant(w, 1);
	at = LLVMBuildIntToPtr(b, turn_of(w, p), w->m.ptr, "");
	return marker_ours(LLVMBuildLoad2(b, w->m.i64, at, "cairn.step"));
}

/* Pairs: counts n turns, of the only one that goes back, and the path or the
 * turn before the first of them. */
static void release_pairs(struct path_writer *w, struct turns *t,
                          LLVMValueRef n, LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef end, at;
	uint64_t number;

	local_path(&t->local, &w->m.fn->paths->paths, t->held[0], &number);
	LLVMBuildCondBr(b,
	                LLVMBuildICmp(b, LLVMIntNE, n, pw_constant(w, 0), ""),
	                f.common, f.rare);
	LLVMPositionBuilderAtEnd(b, f.rare);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.common);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	path_count_known(w, number, end);
	path_comes_before(w, pw_register_at(w, number));
	at = w->is_direct
	             ? pw_symbol(w,
	                         8 * (number + pairs_row(&w->m.fn->paths->pairs,
	                                                 number)))
	             : pw_symbol(w, 8 * (t->first +
	                                 t->held[0] * (t->local.paths.n + 1)));
	add_held(w, at, LLVMBuildSub(b, n, pw_constant(w, 1), ""));
	pw_add_probe_to(w, f.common, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rare, w->before);
	pw_add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, place);
}

/* A path that came from outside ends, or as many turns are held as can be. */
static void write_held(struct path_writer *w, const struct path_deed *p)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, p->at), g;
	LLVMValueRef held = pw_get(w, w->held), test, end;

	end = pw_sum(w, held, held_step(w, p));
	pw_set(w, w->held, end);
	test = LLVMBuildICmp(b, LLVMIntULT, end, held, "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMBuildBr(b, f.rest);

	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	g = pw_fork_before(w, end);
	LLVMBuildCondBr(b, began_outside(w), g.common, g.rare);
	LLVMPositionBuilderAtEnd(b, g.rare);
	test = LLVMBuildBr(b, g.rest);
	LLVMPositionBuilderBefore(b, test);
	release_held(w, p->turns, held_when(w, p->turns, held_max(p->turns)),
	             test);
	LLVMPositionBuilderAtEnd(b, g.common);
	test = LLVMBuildBr(b, g.rest);
	LLVMPositionBuilderBefore(b, test);
	count_gained(w, p, test);
	begin_at_head(w, p->turns);
	LLVMPositionBuilderBefore(b, end);
	pw_set(w, w->held, held_when(w, p->turns, held_max(p->turns)));
	pw_add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, g.rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, g.common, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, p->at);
}

static bool are_all_tested(const struct turns *t)
{
	for (uint64_t i = 0; i < t->local.paths.n; i++)
		if (!t->tested[i])
			return false;
	return true;
}

/* Residual: a turn from the head. */
static void count_untested_turn(struct path_writer *w,
                                const struct path_deed *p, LLVMValueRef place)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMBuilderRef b = w->m.builder;
	struct turns *t = p->turns;
	LLVMValueRef byte, test, number, end;
	struct path_fork f;

	if (are_all_tested(t) ||
	    (p->op->kind == INCREMENT_COUNT_AT && t->tested[p->op->value]))
		return;
	f = pw_fork_before(w, place);
	byte = marker_ours(LLVMBuildLoad2(
	        b, i8, LLVMBuildIntToPtr(b, turn_of(w, p), w->m.ptr, ""), ""));
	test = LLVMBuildICmp(b, LLVMIntEQ, byte, LLVMConstInt(i8, 0, false),
	                     "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	number = gained(w, p); /* the first register is 0 */
	path_count_other(w, path_key(w, number), end);
	LLVMPositionBuilderBefore(b, place);
}

/* --- pairs of turns ------------------------------------------------------ */

static LLVMValueRef follows_no_turn(struct path_writer *w)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntEQ, pw_get(w, w->last),
	                     pw_constant(w, 0), "");
}

/* 8 * (1 + the turn that ends here). */
static LLVMValueRef mark_of_turn(struct path_writer *w,
                                 const struct path_deed *p)
{
	return pw_sum(w,
	              LLVMBuildSub(w->m.builder, turn_of(w, p),
	                           turn_at(w, p->turns, 0), ""),
	              pw_constant(w, 8));
}

/* A turn behind a turn: the counter is in the row of that one. */
static void count_turn_pair(struct path_writer *w, const struct path_deed *p)
{
	uint64_t n = p->turns->local.paths.n;
	LLVMValueRef row;

	row = LLVMBuildMul(w->m.builder, pw_get(w, w->last), pw_constant(w, n),
	                   "");
	row = LLVMBuildSub(w->m.builder, row, pw_constant(w, 8 * n), "");
	path_count_at(w, pw_sum(w, turn_of(w, p), row));
	pw_set(w, w->last, mark_of_turn(w, p));
}

/* What ends here is the turn before the next, if it began at the head. */
static void note_turn(struct path_writer *w, const struct path_deed *p)
{
	pw_set(w, w->last,
	       LLVMBuildSelect(w->m.builder, began_outside(w),
	                       pw_constant(w, 0), mark_of_turn(w, p), ""));
}

/* Where the loop is left: the turn before is the path before. */
static void leave_turns(struct path_writer *w, const struct path_deed *p)
{
	struct turns *t = p->turns;
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef old = pw_get(w, w->o), none = follows_no_turn(w), at, r;

	at = LLVMBuildSub(b, pw_get(w, w->last), pw_constant(w, 8), "");
	at = LLVMBuildSelect(b, none, pw_constant(w, 0), at, "");
	gain_table(w, t->local.sum, t->local.paths.n, pw_in_units(w, 1),
	           &t->table);
	at = pw_sum(w, at, pw_address_in(w, t->table, 0));
	at = LLVMBuildIntToPtr(b, at, w->m.ptr, "");
	r = marker_ours(LLVMBuildLoad2(b, w->m.i64, at, "cairn.gain"));
	path_comes_before(w, pw_sum(w, r, base_of(w, t)));
	pw_set(w, w->o, LLVMBuildSelect(b, none, old, pw_get(w, w->o), ""));
}

/* To the head: a turn from there, or a path that came from outside. */
static void write_turn(struct path_writer *w, const struct path_deed *p)
{
	bool pairs = has_pairs(w, p->turns);
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, p->at);
	LLVMValueRef end;

	shim_set_unlikely(LLVMBuildCondBr(
	        b, pairs ? follows_no_turn(w) : began_outside(w), f.rare,
	        f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	if (pairs)
		count_turn_pair(w, p);
	else if (p->turns->tested)
		count_untested_turn(w, p, end);
	else
		path_count_at(w, turn_of(w, p));
	pw_add_probe_to(w, f.common, w->before);

	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	if (pairs)
		note_turn(w, p);
	count_gained(w, p, end);
	begin_at_head(w, p->turns);
	pw_add_probe_to(w, f.rare, w->before);
	pw_add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, p->at);
}

void path_turns_back(struct path_writer *w, const struct path_deed *p)
{
	if (p->turns->nheld)
		write_held(w, p);
	else
		write_turn(w, p);
}

/* The path ends where the loop is left. */
static void count_at_exit(struct path_writer *w, const struct path_deed *p,
                          LLVMValueRef r, LLVMValueRef s)
{
	const struct function_paths *paths = w->m.fn->paths;
	const struct increment *op = paths->op[p->edge];

	path_calls_end(w, p, r, p->at);
	path_count(w, r, s, p->at);
	if (dag_is_ended(&paths->paths.dag, p->edge))
		path_comes_before(w, path_is_before(w->m.fn, p) ? r : NULL);
	if (!op->then_set)
		return;
	pw_set(w, w->r, pw_register_at(w, op->set));
	if (s)
		pw_set(w, w->s,
		       pw_constant(w, 8 * paths->slot_op[p->edge]->set));
}

/* Out of the loop: the registers are what they would be had they been kept. */
void path_turns_exit(struct path_writer *w, const struct path_deed *p)
{
	const struct function *fn = w->m.fn;
	const struct increments *inc = &fn->paths->inc;
	const struct increments *slot_inc = &fn->paths->slot_inc;
	const struct increment *op = fn->paths->op[p->edge];
	block_id dst = fn->g.edges[p->edge].dst;
	uint32_t behind = w->m.behind;
	LLVMValueRef r, s;

	if (p->turns->nheld) {
		w->before = 2 * fn->g.nblocks + p->edge;
		w->m.before = w->m.behind = w->before;
		/* nothing in the first turn */
		release_held(w, p->turns,
		             LLVMBuildSelect(
		                     w->m.builder, began_outside(w),
		                     held_when(w, p->turns, 1),
		                     held_when(w, p->turns, held_max(p->turns)),
		                     ""),
		             p->at);
		w->m.behind = behind;
	} else if (has_pairs(w, p->turns)) {
		leave_turns(w, p);
	}
	r = gained(w, p);
	s = slot_gained(w, p);
	if (op &&
	    (op->kind == INCREMENT_COUNT || op->kind == INCREMENT_COUNT_AT)) {
		count_at_exit(w, p, r, s);
		return;
	}
	if (inc->is_known[dst])
		return;
	pw_set(w, w->r,
	       pw_sum(w, r,
	              pw_constant(w, 0 - pw_in_units(w, inc->offset[dst]))));
	if (s)
		pw_set(w, w->s,
		       pw_sum(w, s,
		              pw_constant(w, 0 - 8 * slot_inc->offset[dst])));
}

/* In a loop the third register is the sum itself. */
static void enter_slots(struct path_writer *w, block_id head)
{
	const struct increments *inc = &w->m.fn->paths->slot_inc;
	LLVMValueRef offset = pw_constant(w, 8 * inc->offset[head]);

	pw_set(w, w->s,
	       inc->is_known[head] ? offset
	                           : pw_sum(w, pw_get(w, w->s), offset));
}

void path_turns_enter(struct path_writer *w, const struct path_deed *p)
{
	const struct function_paths *paths = w->m.fn->paths;
	const struct increments *inc = &paths->inc;
	block_id head = p->turns->local.head;
	uint64_t offset = inc->offset[head];
	LLVMValueRef r;

	if (inc->is_known[head])
		r = pw_register_at(w, offset);
	else
		r = pw_sum(w, pw_get(w, w->r),
		           pw_constant(w, pw_in_units(w, offset)));
	pw_set(w, w->r,
	       LLVMBuildSub(w->m.builder, r, base_of(w, p->turns), ""));
	if (paths->has_slots)
		enter_slots(w, head);
	if (p->op)
		pw_set(w, w->q, turn_at(w, p->turns, p->op->value));
	pw_set(w, w->last, pw_constant(w, 0));
	if (!p->turns->nheld)
		return;
	/* the first turn may begin at the head, too */
	pw_set(w, w->held,
	       held_when(w, p->turns,
	                 dag_is_ended(&paths->paths.dag, p->edge)
	                         ? held_max(p->turns)
	                         : 1));
}

void path_turns_step(struct path_writer *w, const struct path_deed *p)
{
	uint64_t by = turn_units(p->turns, p->op->value);

	if (p->op->kind == INCREMENT_SET)
		pw_set(w, w->q, turn_at(w, p->turns, p->op->value));
	else
		pw_set(w, w->q, pw_sum(w, pw_get(w, w->q), pw_constant(w, by)));
}
