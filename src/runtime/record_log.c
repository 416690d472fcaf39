/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: events (abi/record.h).  What the marks of a module call when they
 * saw something that the program could not know, through record.S; each module
 * has a copy, which knows its cells.
 *
 * An event is written behind the log and then made part of it by one store
 * (record.h).  Memory that was found changed is likely to have changed behind
 * there, too: a run goes on while words differ, so that a buffer that somebody
 * filled is one event.
 *
 * Compiled for general registers only: the caller's vector registers are
 * neither saved nor changed here.  Calls nothing but record.S; what goes out is
 * said by hooks, which may call more.
 *
 * Invariant: the shadow holds what the log says, before and after each event.
 * Cost: some 40 instructions and the bytes; a look at two words behind them.
 */
#include "runtime/record.h"

#include "runtime/sys.h"

#define PAGE ((uintptr_t)4096)
#define GAP 16u /* so many equal bytes end a run */

#define HIDDEN __attribute__((visibility("hidden")))

/* What record.S calls. */
HIDDEN void cairn_record_in(const void *cell, const unsigned char *p,
                            uint64_t how);
HIDDEN uint64_t cairn_record_enter(const void *cell);
HIDDEN void cairn_record_leave(uint64_t expected);
HIDDEN void cairn_record_env(void);
HIDDEN void cairn_record_back(const void *cell, uint64_t frame);

/* --- an event --------------------------------------------------------------
 */

/* One that is being written. */
struct event {
	struct context *c;
	unsigned char *at;
	struct record_last last; /* when it is complete */
	const struct record_last *before;
};

static inline void put_uv(struct event *e, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*e->at++ = (unsigned char)(v | 0x80);
	*e->at++ = (unsigned char)v;
}

static inline void put_sv(struct event *e, int64_t v)
{
	put_uv(e, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static inline void start(struct event *e, struct context *c, uint64_t tick,
                         unsigned kind)
{
	uint64_t word = *(const uint64_t *)c->bytes;

	e->c = c;
	e->at = c->bytes + CAIRN_STREAM_COUNT_SIZE + (word >> 1);
	e->before = &c->last[word & 1];
	e->last = (struct record_last){tick, e->before->id};
	put_uv(e, (tick - e->before->tick) << CAIRN_EVENT_BITS | kind);
}

static inline void put_id(struct event *e, uint64_t id)
{
	put_sv(e, (int64_t)(id - e->before->id));
	e->last.id = id;
}

/* Makes it part of the log. */
static inline void complete(struct event *e)
{
	struct context *c = e->c;
	uint64_t *word = (uint64_t *)c->bytes;
	uint64_t other = ~*word & 1;
	uint64_t n = (uint64_t)(e->at - c->bytes) - CAIRN_STREAM_COUNT_SIZE;

	*(volatile struct record_last *)&c->last[other] = e->last;
	__atomic_store_n(word, n << 1 | other, __ATOMIC_RELEASE);
}

static inline bool has_room(const struct context *c, uint64_t n)
{
	return c && c->bytes && record_used(c) + n <= c->room &&
	       cairn_module.index;
}

/* From here on, or no longer, it knows where its buffer is. */
static inline void set_writing(struct context *c, bool is_writing)
{
	if (c)
		*(volatile bool *)&c->is_writing = is_writing;
}

/* The context of the calling thread, with room for n bytes; NULL: nothing is
 * recorded any more.  done() follows. */
static inline struct context *ready(uint64_t n)
{
	struct context *c = record_self();

	set_writing(c, true);
	/* a context that begins may call the program, which takes room */
	for (int i = 0; i < 2; i++) {
		if (has_room(c, n))
			return c;
		if (c && c->is_over)
			return NULL;
		cairn_record_slow();
		c = record_self();
		set_writing(c, true);
	}
	return has_room(c, n) ? c : NULL;
}

static inline void done(void)
{
	set_writing(record_self(), false);
}

static inline uint64_t tick_now(void)
{
	return __cairn_record[CAIRN_RECORD_TICK / 8];
}

static inline uint64_t id_of(const void *cell)
{
	return (uint64_t)cairn_module.index << CAIRN_CELL_BITS |
	       (uint64_t)((const uint64_t *)cell - cairn_module.counters);
}

void record_note(struct context *c, uint64_t tick, unsigned what,
                 const uint64_t *values, unsigned nvalues)
{
	struct event e;

	start(&e, c, tick, CAIRN_EVENT_OTHER);
	put_uv(&e, what);
	for (unsigned i = 0; i < nvalues; i++)
		put_uv(&e, values[i]);
	complete(&e);
}

/* --- inputs ----------------------------------------------------------------
 */

/* Appends n bytes of the shadow of p. */
static inline void put_shadow(struct event *e, const unsigned char *p,
                              uint64_t n)
{
	uint64_t i = 0;

	for (; i + 8 <= n; i += 8)
		((struct record_word *)(e->at + i))->v = record_get(p + i);
	for (; i < n; i++)
		e->at[i] = record_get1(p + i);
	e->at += n;
}

static void put_piece(const void *cell, const unsigned char *p, uint64_t offset,
                      uint64_t n)
{
	struct context *c = ready(n + RECORD_HEAD);
	struct event e;

	if (c) {
		start(&e, c, tick_now(), CAIRN_EVENT_IN);
		put_id(&e, id_of(cell));
		put_uv(&e, n << 1 | (offset != 0));
		if (offset)
			put_uv(&e, offset);
		put_shadow(&e, p + offset, n);
		complete(&e);
	}
	done();
}

/* Nobody else got a number since the last one of the context: that will do. */
static inline bool is_alone(struct context *c, uint64_t number, uint64_t back)
{
	if (!c || back > 1 || number - back != c->last_turn + 1)
		return false;
	c->last_turn = number;
	return true;
}

void record_turn(const void *cell, uint64_t number, uint64_t back)
{
	struct context *c = record_self();
	struct event e;

	if (is_alone(c, number, back))
		return;
	c = ready(RECORD_HEAD);
	if (c) {
		start(&e, c, tick_now(), CAIRN_EVENT_OTHER);
		put_uv(&e, CAIRN_OTHER_TURN);
		put_id(&e, id_of(cell));
		put_uv(&e, number);
		put_uv(&e, back);
		complete(&e);
		c->last_turn = number;
	}
	done();
}

static void put_bytes(const void *cell, const unsigned char *p, uint64_t offset,
                      uint64_t n)
{
	for (; n > RECORD_PIECE; n -= RECORD_PIECE, offset += RECORD_PIECE)
		put_piece(cell, p, offset, RECORD_PIECE);
	if (n)
		put_piece(cell, p, offset, n);
}

/* What was found may be another thread's. */
static void follow_others(const void *cell)
{
	struct record_turns *t = __cairn_record_turns;

	if (t)
		record_turn(cell, record_next_turn(t), 0);
}

void record_bytes(const void *cell, const unsigned char *p, uint64_t offset,
                  uint64_t n)
{
	put_bytes(cell, p, offset, n);
	follow_others(cell);
}

/* Where the run that begins at p, and has n bytes, ends.  Corrects the shadow
 * up to there.  A word is read once: others may write it. */
static inline const unsigned char *run_end(const unsigned char *p, uint64_t n)
{
	const unsigned char *q = p + n, *end = q;
	uintptr_t first = (uintptr_t)cairn_module.counters;
	uintptr_t limit = ((uintptr_t)p | (PAGE - 1)) + 1;

	if (first - (uintptr_t)p < limit - (uintptr_t)p)
		limit = first; /* cells are no memory */
	for (; (uintptr_t)q + 8 <= limit && q - end < (long)GAP; q += 8) {
		uint64_t v = record_load(q);

		if (v == record_get(q))
			continue;
		record_put(q, v);
		end = q + 8;
	}
	return end;
}

/* What most results of foreign code are: one cell, and there is room. */
static inline bool put_cell(const void *cell, const unsigned char *p,
                            uint64_t n)
{
	struct context *c = record_self();
	struct event e;

	set_writing(c, true);
	if (n > 8 || !has_room(c, RECORD_HEAD + 8))
		return false;
	start(&e, c, tick_now(), CAIRN_EVENT_IN);
	put_id(&e, id_of(cell));
	*e.at++ = (unsigned char)(n << 1);
	((struct record_word *)e.at)->v = record_get(p);
	e.at += n;
	complete(&e);
	set_writing(c, false);
	return true;
}

void cairn_record_in(const void *cell, const unsigned char *p, uint64_t how)
{
	uint64_t n = how & ~(uint64_t)CAIRN_IN_ATOMIC;
	bool is_cell = (uintptr_t)p - (uintptr_t)cairn_module.counters <
	               (uintptr_t)cairn_module.counters_end -
	                       (uintptr_t)cairn_module.counters;

	if (is_cell && put_cell(cell, p, n))
		return;
	if (is_cell || how & CAIRN_IN_ATOMIC) {
		/* of an atomic nothing beside it: its turn is over */
		put_bytes(cell, p, 0, n);
		return;
	}
	put_bytes(cell, p, 0, (uint64_t)(run_end(p, n) - p));
	follow_others(cell);
}

/* --- what goes out ---------------------------------------------------------
 */

static inline void start_out(struct event *e, struct context *c, unsigned how,
                             uint64_t pending, uint64_t n)
{
	const unsigned both = CAIRN_OUT_AT | CAIRN_OUT_BYTES;

	if (pending)
		how |= CAIRN_OUT_PENDING;
	start(e, c, tick_now(), CAIRN_EVENT_OTHER);
	put_uv(e, (how & both) == CAIRN_OUT_AT ? CAIRN_OTHER_HASHED
	                                       : CAIRN_OTHER_OUT);
	put_uv(e, n << CAIRN_OUT_BITS | how);
	if (pending)
		put_uv(e, pending);
}

void record_text(unsigned how, uint64_t pending, const void *text, uint64_t n)
{
	struct context *c = ready(n + RECORD_HEAD);
	struct event e;

	if (c) {
		start_out(&e, c, n ? how | CAIRN_OUT_BYTES : how, pending, n);
		for (uint64_t i = 0; i < n; i++)
			*e.at++ = ((const unsigned char *)text)[i];
		complete(&e);
	}
	done();
}

/* Of n bytes of the shadow of p. */
static inline void put_hash(struct event *e, const unsigned char *p, uint64_t n)
{
	uint64_t h = n, last = 0, i = 0;
	uint32_t hash;

	for (; i + 8 <= n; i += 8)
		h = cairn_out_step(h, record_get(p + i));
	for (unsigned k = 0; i < n; i++, k += 8)
		last |= (uint64_t)record_get1(p + i) << k;
	if (n % 8)
		h = cairn_out_step(h, last);
	hash = cairn_out_hash(h);
	for (unsigned k = 0; k < 32; k += 8)
		*e->at++ = (unsigned char)(hash >> k);
}

void record_memory(unsigned how, uint64_t pending, const void *p, uint64_t n)
{
	struct context *c = ready(n + RECORD_HEAD);
	struct event e;

	if (c) {
		how |= CAIRN_OUT_AT;
		if (record_correct(p, n))
			how |= CAIRN_OUT_BYTES;
		start_out(&e, c, how, pending, n);
		put_uv(&e, (uint64_t)(uintptr_t)p);
		if (how & CAIRN_OUT_BYTES)
			put_shadow(&e, p, n);
		else
			put_hash(&e, p, n);
		complete(&e);
	}
	done();
}

/* --- calls from outside, and ways back -------------------------------------
 */

/* Notes how floating-point arithmetic rounds, if that is new.  Requires: there
 * is room. */
static inline void note_env(struct context *c)
{
	uint32_t mxcsr, env;
	uint16_t x87;
	uint64_t value;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(x87));
	env = (mxcsr & CAIRN_ENV_MXCSR) | (x87 & CAIRN_ENV_X87)
	                                          << CAIRN_ENV_X87_SHIFT;
	if (env == c->env)
		return;
	c->env = env;
	value = env;
	record_note(c, tick_now(), CAIRN_OTHER_ENV, &value, 1);
}

void cairn_record_env(void)
{
	struct context *c = ready(RECORD_HEAD);

	if (c)
		note_env(c);
	done();
}

/*
 * While code with marks runs, nobody is expected, and nobody can come but from
 * a handler of a signal.  If record.c knows of that, another context runs; if
 * the handler was set behind our back, by a program that was not linked with
 * --cairn=record, its events would be in the midst of others.
 */
static void refuse(void)
{
	__cairn_record[CAIRN_RECORD_WRONG / 8] = 1;
	cairn_record_slow();
}

uint64_t cairn_record_enter(const void *cell)
{
	uint64_t *expect = &__cairn_record[CAIRN_RECORD_EXPECT / 8];
	uint64_t expected = record_self() ? *expect : CAIRN_RECORD_BASE;
	struct context *c;
	struct event e;

	*(volatile uint64_t *)expect = 0; /* first: a handler looks */
	if (!expected)
		refuse();
	c = ready(2 * RECORD_HEAD);
	if (expected == CAIRN_RECORD_BASE &&
	    __cairn_record[CAIRN_RECORD_FRAME / 8]) {
		cairn_record_slow(); /* a handler: says where it came */
		c = ready(2 * RECORD_HEAD);
	}
	if (c) {
		note_env(c);
		start(&e, c, tick_now(), CAIRN_EVENT_CALLBACK);
		put_id(&e, id_of(cell));
		complete(&e);
	}
	done();
	return expected;
}

void cairn_record_leave(uint64_t expected)
{
	struct context *c = record_self();

	c->tick = ++__cairn_record[CAIRN_RECORD_TICK / 8];
	__cairn_record[CAIRN_RECORD_EXPECT / 8] = expected;
}

void cairn_record_back(const void *cell, uint64_t frame)
{
	struct context *c = ready(2 * RECORD_HEAD);
	struct event e;

	/* LAND: an exception may be passed on by code with marks */
	if (frame && !__cairn_record[CAIRN_RECORD_EXPECT / 8])
		refuse();
	if (__cairn_record[CAIRN_RECORD_FRAME / 8])
		cairn_record_slow(); /* is it still in the handler? */
	if (c) {
		start(&e, c, tick_now(), CAIRN_EVENT_BACK);
		put_id(&e, id_of(cell));
		put_uv(&e, frame);
		complete(&e);
		/* a jump out of a handler leaves the handler's */
		note_env(c);
	}
	done();
}
