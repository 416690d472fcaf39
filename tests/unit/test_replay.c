/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replayer, on IR and logs that are made by hand.  Results are checked by
 * the code that is replayed: it traps where a value is wrong.
 */
#include "abi/record.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/recording.h"
#include "format/zframe.h"
#include "ir/digest.h"
#include "ir/sites.h"
#include "replay/arena.h"
#include "replay/engine.h"
#include "replay/jit.h"
#include "replay/program.h"
#include "replay/rewrite.h"
#include "replay/shim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <llvm-c/BitWriter.h>
#include <llvm-c/IRReader.h>

#define BIAS UINT64_C(0x555500000000)
#define LINK UINT64_C(0x10000)
#define CODE UINT64_C(0x1000)
#define DATA UINT64_C(0x8000)
#define STACK UINT64_C(0x7ffd00001000)
#define FOREIGN UINT64_C(0x7f1234560000)

static const char text[] =
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-"
        "i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"
        "target triple = \"x86_64-pc-linux-gnu\"\n"
        "@__cairn_record = external thread_local global [8 x i64]\n"
        "@g = global i64 5\n"
        "@e = internal global [2 x ptr] [ptr @away, ptr @twice]\n"
        "declare void @away()\n"
        "declare i32 @setjmp(ptr) returns_twice\n"
        "declare i32 @personality(...)\n"
        "declare void @llvm.trap()\n"
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        /* a loop over memory that somebody else wrote */
        "define void @sum(ptr %p, i64 %n, i64 %want) {\n"
        "  br label %loop\n"
        "loop:\n"
        "  %i = phi i64 [ 0, %0 ], [ %j, %loop ]\n"
        "  %s = phi i64 [ 0, %0 ], [ %t, %loop ]\n"
        "  %q = getelementptr i64, ptr %p, i64 %i\n"
        "  %v = load i64, ptr %q\n"
        "  %t = add i64 %s, %v\n"
        "  %j = add i64 %i, 1\n"
        "  %c = icmp ult i64 %j, %n\n"
        "  br i1 %c, label %loop, label %done\n"
        "done:\n"
        "  store i64 %t, ptr @g\n"
        "  call void @check(i64 %want)\n"
        "  ret void\n"
        "}\n"
        "define internal void @check(i64 %want) {\n"
        "  %v = load i64, ptr @g\n"
        "  %c = icmp eq i64 %v, %want\n"
        "  br i1 %c, label %fine, label %bad\n"
        "fine:\n"
        "  ret void\n"
        "bad:\n"
        "  call void @llvm.trap()\n"
        "  unreachable\n"
        "}\n"
        /* a callback, and a function that is called through a pointer */
        "define i64 @twice(i64 %x) {\n"
        "  %v = load i64, ptr @g\n"
        "  %w = add i64 %v, %x\n"
        "  store i64 %w, ptr @g\n"
        "  ret i64 %w\n"
        "}\n"
        "define void @calls(i64 %want) {\n"
        "  %f = load ptr, ptr @e\n"
        "  %r = call i64 %f(i64 1, ptr @twice)\n"
        "  %h = load ptr, ptr getelementptr ([2 x ptr], ptr @e, i64 0, "
        "i64 1)\n"
        "  %z = call i64 %h(i64 %r)\n"
        "  store i64 %z, ptr @g\n"
        "  call void @check(i64 %want)\n"
        "  ret void\n"
        "}\n"
        "define internal i64 @factorial(i64 %n) {\n"
        "  %c = icmp eq i64 %n, 0\n"
        "  br i1 %c, label %zero, label %more\n"
        "zero:\n"
        "  ret i64 1\n"
        "more:\n"
        "  %m = sub i64 %n, 1\n"
        "  %f = call i64 @factorial(i64 %m)\n"
        "  %r = mul i64 %f, %n\n"
        "  ret i64 %r\n"
        "}\n"
        "define void @recursion(i64 %n, i64 %want) {\n"
        "  %r = call i64 @factorial(i64 %n)\n"
        "  store i64 %r, ptr @g\n"
        "  call void @check(i64 %want)\n"
        "  ret void\n"
        "}\n"
        /* setjmp: comes back as long as what it returns is below 3 */
        "define void @jumps(i64 %want) {\n"
        "  %top = load i64, ptr getelementptr (i8, ptr @__cairn_record, "
        "i64 16)\n"
        "  %frame = sub i64 %top, 256\n"
        "  store i64 %frame, ptr getelementptr (i8, ptr @__cairn_record, "
        "i64 16)\n"
        "  %buffer = inttoptr i64 %frame to ptr\n"
        "  %three = mul i64 %want, 3\n"
        "  %r = call i32 @setjmp(ptr %buffer) returns_twice\n"
        "  store i64 %frame, ptr getelementptr (i8, ptr @__cairn_record, "
        "i64 16)\n"
        "  %c = icmp ult i32 %r, 3\n"
        "  br i1 %c, label %deeper, label %done\n"
        "deeper:\n"
        "  %rr = zext i32 %r to i64\n"
        "  call void @deep(i64 %rr)\n"
        "  unreachable\n"
        "done:\n"
        "  %u = udiv i64 %three, 3\n"
        "  store i64 %top, ptr getelementptr (i8, ptr @__cairn_record, "
        "i64 16)\n"
        "  call void @check(i64 %u)\n"
        "  ret void\n"
        "}\n"
        "define internal void @deep(i64 %r) {\n"
        "  %v = load i64, ptr @g\n"
        "  %w = add i64 %v, 10\n"
        "  store i64 %w, ptr @g\n"
        "  %f = load ptr, ptr @e\n"
        "  call void %f(i64 %r)\n"
        "  call void @llvm.trap()\n"
        "  unreachable\n"
        "}\n"
        /* a throw, through a frame with a cleanup, and one without a pad */
        "define void @catches(i64 %want) personality ptr @personality {\n"
        "  invoke void @cleans() to label %normal unwind label %pad\n"
        "normal:\n"
        "  call void @llvm.trap()\n"
        "  unreachable\n"
        "pad:\n"
        "  %x = phi i64 [ 100, %0 ]\n"
        "  %l = landingpad { ptr, i32 } catch ptr null\n"
        "  %s = extractvalue { ptr, i32 } %l, 1\n"
        "  %t = zext i32 %s to i64\n"
        "  %v = load i64, ptr @g\n"
        "  %w = add i64 %v, %t\n"
        "  %y = add i64 %w, %x\n"
        "  store i64 %y, ptr @g\n"
        "  call void @check(i64 %want)\n"
        "  ret void\n"
        "}\n"
        "define internal void @cleans() personality ptr @personality {\n"
        "  invoke void @throws() to label %normal unwind label %pad\n"
        "normal:\n"
        "  ret void\n"
        "pad:\n"
        "  %l = landingpad { ptr, i32 } cleanup\n"
        "  %f = load ptr, ptr @e\n"
        "  call void %f(i64 7)\n"
        "  store i64 20, ptr @g\n"
        "  resume { ptr, i32 } %l\n"
        "}\n"
        "define internal void @throws() {\n"
        "  %f = load ptr, ptr @e\n"
        "  call void %f(i64 9)\n"
        "  call void @llvm.trap()\n"
        "  unreachable\n"
        "}\n"
        /* does not come back from what it calls */
        "define void @leaves() {\n"
        "  %f = load ptr, ptr @e\n"
        "  call void %f(i64 3)\n"
        "  call void @llvm.trap()\n"
        "  unreachable\n"
        "}\n"
        /* bytes by the row */
        "define void @copies(ptr %to, ptr %from, i64 %n, i64 %want) {\n"
        "  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 "
        "false)\n"
        "  %v = load i64, ptr %to\n"
        "  store i64 %v, ptr @g\n"
        "  call void @check(i64 %want)\n"
        "  ret void\n"
        "}\n";

struct named {
	char *name;
	uint64_t first; /* cell of the function */
	struct ir_function ir;
};

static struct {
	struct program program;
	LLVMContextRef context;
	LLVMModuleRef module;
	struct named functions[16];
	unsigned nfunctions;
	struct recording_event log[64];
	unsigned nlog;
	uint64_t ticks[64]; /* what the tick is after so many places */
	unsigned nticks;
	unsigned char bytes[16384]; /* of events */
	size_t nbytes;
	struct bytes packed;
} t;

/* --- making logs --------------------------------------------------------- */

static struct named *named(const char *name)
{
	for (unsigned i = 0; i < t.nfunctions; i++)
		if (!strcmp(t.functions[i].name, name))
			return &t.functions[i];
	fail_msg("no function %s", name);
	return NULL;
}

static uint64_t arg(const char *f, uint32_t i)
{
	return named(f)->first + named(f)->ir.args[i];
}

/* The cell of the n-th site of a kind. */
static uint64_t site(const char *f, enum ir_kind kind, unsigned n)
{
	const struct named *d = named(f);

	for (uint32_t i = 0; i < d->ir.nsites; i++)
		if (d->ir.sites[i].kind == kind && !n--)
			return d->first + d->ir.sites[i].cell;
	fail_msg("%s has no such site", f);
	return 0;
}

/* By how much a place lets the tick go on: "e sum" at its entry, "h sum" at the
 * head of its loop, "c sum" before its first site that ticks, "d sum" before
 * the second, "r sum" before it passes an exception on, "b" behind a call. */
static uint32_t tick_of(const char *place)
{
	const struct ir_function *ir;
	unsigned n = place[0] == 'd';

	if (place[0] == 'b')
		return IR_TICK_BEHIND;
	ir = &named(place + 2)->ir;
	if (place[0] == 'e')
		return ir_tick_at_entry(ir);
	if (place[0] == 'h')
		return ir_tick_at_head(ir, 0);
	for (uint32_t i = 0; i < ir->nsites; i++)
		if (ir_ticks_before(ir->sites[i].kind) &&
		    (place[0] == 'r') == (ir->sites[i].kind == IR_RESUME) &&
		    !n--)
			return ir_tick_before(ir, &ir->sites[i]);
	fail_msg("no place %s", place);
	return 0;
}

/* A log of a context that comes by these places, in order. */
static void begin_log(const char *way)
{
	char *copy = xstrdup(way), *rest = copy, *place;

	t.nlog = 0;
	t.nbytes = 0;
	t.nticks = 0;
	t.ticks[t.nticks++] = 0;
	while ((place = strsep(&rest, ","))) {
		t.ticks[t.nticks] = t.ticks[t.nticks - 1] + tick_of(place);
		t.nticks++;
	}
	free(copy);
}

/* The tick after so many places. */
static uint64_t tick_at(uint64_t n)
{
	return n < t.nticks ? t.ticks[n]
	                    : t.ticks[t.nticks - 1] + n - t.nticks + 1;
}

static struct recording_event *put(uint64_t tick, enum cairn_event kind)
{
	struct recording_event *v = &t.log[t.nlog++];

	*v = (struct recording_event){.tick = tick_at(tick), .kind = kind};
	return v;
}

static void put_in(uint64_t tick, uint64_t id, uint64_t offset,
                   const void *data, size_t n)
{
	struct recording_event *v = put(tick, CAIRN_EVENT_IN);

	v->cell = id;
	v->offset = offset;
	v->bytes = memcpy(t.bytes + t.nbytes, data, n);
	v->nbytes = n;
	t.nbytes += n;
}

static void put_word(uint64_t tick, uint64_t id, uint64_t word)
{
	put_in(tick, id, 0, &word, 8);
}

static void put_callback(uint64_t tick, const char *f)
{
	put(tick, CAIRN_EVENT_CALLBACK)->cell = named(f)->first;
}

static void put_back(uint64_t tick, uint64_t id, uint64_t frame)
{
	struct recording_event *v = put(tick, CAIRN_EVENT_BACK);

	v->cell = id;
	v->frame = frame;
}

static void put_turn(uint64_t tick, uint64_t id, uint64_t number)
{
	struct recording_event *v = put(tick, CAIRN_EVENT_OTHER);

	v->what = CAIRN_OTHER_TURN;
	v->cell = id;
	v->value[0] = number;
}

static void put_end(uint64_t tick)
{
	put(tick, CAIRN_EVENT_OTHER)->what = CAIRN_OTHER_END;
}

static void put_stack(void)
{
	struct recording_event *v = put(0, CAIRN_EVENT_OTHER);

	v->what = CAIRN_OTHER_STACK;
	v->value[0] = STACK;
}

/* --- running ------------------------------------------------------------- */

static int next(void *context, struct recording_event *v, struct cairn_err *err)
{
	unsigned *at = context;

	(void)err;
	if (*at == t.nlog)
		return 0;
	*v = t.log[(*at)++];
	return 1;
}

static struct engine_result run(struct cairn_err *err)
{
	unsigned at = 0;
	struct engine_log log = {
	        .name = "test.cairn", .next = next, .context = &at};
	struct engine_result result = {0};

	err->text[0] = '\0';
	if (engine_run(&log, NULL, &result, err) < 0)
		fail_msg("%s", err->text);
	return result;
}

static void assert_identical(uint64_t nticks)
{
	struct cairn_err err;
	struct engine_result r = run(&err);

	if (r.end != ENGINE_ENDED)
		fail_msg("end %d: %s", (int)r.end, err.text);
	assert_int_equal(r.nticks, tick_at(nticks));
}

static void assert_diverges(const char *sentence)
{
	struct cairn_err err;
	struct engine_result r = run(&err);

	assert_int_equal(r.end, ENGINE_DIVERGED);
	if (!strstr(err.text, sentence))
		fail_msg("not '%s': %s", sentence, err.text);
}

static int set_up(void **state)
{
	struct cairn_err err;
	char *message = NULL;
	LLVMMemoryBufferRef source, bitcode;
	uint64_t table[32], cells = LINK;
	struct program_unit u = {0};
	uint32_t n = 0, unit;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.context = LLVMContextCreate();
	source = LLVMCreateMemoryBufferWithMemoryRange(text, sizeof(text) - 1,
	                                               "test", 1);
	if (LLVMParseIRInContext(t.context, source, &t.module, &message))
		fail_msg("%s", message);
	bitcode = LLVMWriteBitcodeToMemoryBuffer(t.module);
	assert_int_equal(zframe_pack(&t.packed, LLVMGetBufferStart(bitcode),
	                             LLVMGetBufferSize(bitcode), &err),
	                 0);
	u.packed = t.packed.data;
	u.npacked = t.packed.n;
	u.nraw = LLVMGetBufferSize(bitcode);
	digest_unit(LLVMGetBufferStart(bitcode), u.nraw, u.id);
	LLVMDisposeMemoryBuffer(bitcode);
	table[n++] = DATA;      /* g */
	table[n++] = DATA + 64; /* e */
	for (LLVMValueRef f = LLVMGetFirstFunction(t.module); f;
	     f = LLVMGetNextFunction(f)) {
		struct named *d = &t.functions[t.nfunctions];
		size_t length;

		if (LLVMIsDeclaration(f))
			continue;
		d->name = xstrdup(LLVMGetValueName2(f, &length));
		ir_function_init(&d->ir, f);
		d->first = (cells - LINK) / 8;
		cells += 8 * (uint64_t)d->ir.ncells;
		table[n++] = CODE + 64 * t.nfunctions++;
	}
	assert_int_equal(arena_open(&err), 0);
	assert_int_equal(program_add_module(&t.program, "a.out", BIAS, LINK,
	                                    (cells - LINK) / 8, &err),
	                 0);
	unit = program_add_unit(&t.program, &u, table, n);
	for (unsigned i = 0; i < t.nfunctions; i++) {
		struct program_function f = {
		        .name = t.functions[i].name,
		        .file = t.functions[i].name,
		        .line = 7,
		        .unit = unit,
		        .index = i,
		        .address = CODE + 64 * i,
		        .cells = LINK + 8 * t.functions[i].first,
		        .ncells = t.functions[i].ir.ncells,
		};
		assert_int_equal(program_add_function(&t.program, &f, &err), 0);
	}
	assert_int_equal(program_finish(&t.program, &err), 0);
	assert_int_equal(engine_open(&t.program, &jit_compiler, &err), 0);
	assert_int_equal(
	        jit_open(&t.program, false, &(struct rewrite_options){0}, &err),
	        0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jit_close();
	engine_close();
	program_release(&t.program);
	arena_close();
	for (unsigned i = 0; i < t.nfunctions; i++) {
		ir_function_release(&t.functions[i].ir);
		free(t.functions[i].name);
	}
	LLVMDisposeModule(t.module);
	LLVMContextDispose(t.context);
	bytes_release(&t.packed);
	return 0;
}

static uint64_t address_of(const char *f)
{
	return BIAS + CODE + 64 * (uint64_t)(named(f) - t.functions);
}

/* --- tests --------------------------------------------------------------- */

/* Callback at tick 0; one tick of the entry, 3 of the loop, one of check. */
#define SUM "e sum,h sum,h sum,h sum,e check,b"
static void put_sum(const char *way, uint64_t want)
{
	uint64_t row[3] = {10, 20, 30};

	begin_log(way);
	put_stack();
	put_callback(0, "sum");
	put_word(0, arg("sum", 0), UINT64_C(0x7ffc12345678));
	put_word(0, arg("sum", 1), 3);
	put_word(0, arg("sum", 2), want);
	put_in(2, site("sum", IR_LOAD, 0), 0, row, 16);
	put_in(4, site("sum", IR_LOAD, 0), 0, row + 2, 8);
}

static void test_load(void **state)
{
	(void)state;
	put_sum(SUM, 60);
	put_end(6);
	assert_identical(6);
	/* the same function again, with nothing new to see but an argument */
	put_sum(SUM ",e sum,h sum,h sum,e check,b", 60);
	put_callback(6, "sum");
	put_word(6, arg("sum", 1), 2);
	put_word(6, arg("sum", 2), 30);
	put_end(11);
	assert_identical(11);
}

/* At the load, with an input and without, and at the wrong place. */
static void put_turns(uint64_t second)
{
	uint64_t row[3] = {10, 20, 30}, load = site("sum", IR_LOAD, 0);

	begin_log(SUM);
	put_stack();
	put_callback(0, "sum");
	put_word(0, arg("sum", 0), UINT64_C(0x7ffc12345678));
	put_word(0, arg("sum", 1), 3);
	put_word(0, arg("sum", 2), 60);
	put_in(2, load, 0, row, 16);
	put_turn(2, load, 5);
	put_turn(3, second, 7);
	put_in(4, load, 0, row + 2, 8);
	put_turn(4, load, 9);
	put_end(6);
}

static void test_turn(void **state)
{
	(void)state;
	put_turns(site("sum", IR_LOAD, 0));
	assert_identical(6);
	assert_int_equal(engine_order(), ENGINE_ORDER(9));
	put_turns(site("check", IR_LOAD, 0));
	assert_diverges("the log has a turn of function check");
}

/* A handler that came before the end is behind it, one that came then is not.
 */
static void test_interrupt(void **state)
{
	struct engine_came came = {.order = ENGINE_ORDER(12) + 1};

	(void)state;
	put_turns(site("sum", IR_LOAD, 0));
	engine_interrupt(&came, 1);
	came.tick = tick_at(5);
	assert_identical(6);
	assert_int_equal(engine_order(), ENGINE_ORDER(12) + 1);
	came.tick = tick_at(6);
	assert_identical(6);
	assert_int_equal(engine_order(), ENGINE_ORDER(9));
	came.is_in_call = true;
	assert_identical(6);
	assert_int_equal(engine_order(), ENGINE_ORDER(12) + 1);
	engine_interrupt(NULL, 0);
}

static void test_divergence(void **state)
{
	struct cairn_err err;
	uint64_t word = 1;
	char where[64];

	(void)state;
	put_sum(SUM, 61);
	put_end(6);
	snprintf(where, sizeof(where), "tick %d in function check",
	         (int)tick_at(5));
	assert_diverges(where);
	put_sum(SUM, 60);
	put_end(7);
	assert_diverges("nothing is left to run");
	put_sum(SUM, 60);
	put_end(5);
	assert_diverges("the tick ends");
	put_sum(SUM, 60);
	put_in(5, site("sum", IR_LOAD, 0), 0, &word, 8);
	put_end(6);
	assert_diverges("an input of function sum");
	/* one turn less, and as many places: the sum is another one */
	put_sum("e sum,h sum,h sum,h sum,e sum,b", 60);
	if (tick_of("e sum") == tick_of("e check"))
		fail_msg("the names do not suit this test");
	put_end(6);
	assert_int_equal(run(&err).end, ENGINE_DIVERGED);
	put_sum(SUM, 60);
	assert_int_equal(run(&err).end, ENGINE_LOG_ENDS);
}

/* Is the log refused, or does it diverge? */
static bool is_wrong(void)
{
	unsigned at = 0;
	struct engine_log log = {
	        .name = "test.cairn", .next = next, .context = &at};
	struct engine_result result = {0};
	struct cairn_err err = {0};

	if (engine_run(&log, NULL, &result, &err) == 0 &&
	    result.end != ENGINE_DIVERGED)
		return false;
	assert_true(strlen(err.text) > 20);
	return true;
}

/* Any event changed, or left out: it is seen. */
static void test_damage(void **state)
{
	(void)state;
	put_sum(SUM, 60);
	put_end(6);
	for (unsigned i = 1; i < t.nlog; i++) {
		struct recording_event old[64];
		unsigned n = t.nlog;

		memcpy(old, t.log, sizeof(old));
		t.log[i].cell++;
		t.log[i].tick += t.log[i].kind == CAIRN_EVENT_OTHER;
		assert_true(is_wrong());
		memcpy(t.log, old, sizeof(old));
		t.log[i].cell = UINT64_MAX;
		assert_true(is_wrong() || t.log[i].kind == CAIRN_EVENT_OTHER);
		memcpy(t.log, old, sizeof(old));
		t.log[i].tick++;
		assert_true(is_wrong());
		memcpy(t.log + i, old + i + 1, (n - i - 1) * sizeof(*old));
		t.nlog--;
		assert_true(is_wrong() || i == t.nlog);
		memcpy(t.log, old, sizeof(old));
		t.nlog = n;
	}
	assert_identical(6);
}

/* END counts only at the end; STOP where its tick is reached. */
static void test_ends(void **state)
{
	struct cairn_err err;
	struct engine_result r;

	(void)state;
	put_sum(SUM ",e recursion,e factorial,e factorial,e factorial", 60);
	put_end(6);
	put_callback(6, "recursion");
	put_word(6, arg("recursion", 0), 3);
	put_word(6, arg("recursion", 1), 6);
	put(10, CAIRN_EVENT_OTHER)->what = CAIRN_OTHER_STOP;
	r = run(&err);
	assert_int_equal(r.end, ENGINE_STOPPED);
	assert_int_equal(r.nticks, tick_at(10));
}

/* calls: foreign (tick 2), with two callbacks, then twice by its address. */
static void test_calls(void **state)
{
	(void)state;
	begin_log("e calls,c calls,e twice,b,e twice,b,d calls,e twice,e "
	          "check,b");
	put_stack();
	put_callback(0, "calls");
	put_word(0, arg("calls", 0), 1 + 2 + 7 + 100);
	put_word(1, site("calls", IR_LOAD, 0), FOREIGN);
	put_callback(2, "twice");
	put_word(2, arg("twice", 0), 1);
	/* entry: tick 3; g was 7 */
	put_word(3, site("twice", IR_LOAD, 0), 7);
	/* it returns: 4 */
	put_callback(4, "twice");
	put_word(4, arg("twice", 0), 2);
	/* entry 5, returns 6 */
	put_word(6, site("calls", IR_CALL, 0), 100);
	put_word(6, site("calls", IR_LOAD, 1), address_of("twice"));
	/* 7: the call; 8: entry of twice; 9: check; 10: returns */
	put_end(10);
	assert_identical(10);
}

static void test_recursion(void **state)
{
	(void)state;
	begin_log("e recursion,e factorial,e factorial,e factorial,e "
	          "factorial,e factorial,e factorial,e factorial,e factorial,e "
	          "factorial,e factorial,e factorial,e check,b");
	put_stack();
	put_callback(0, "recursion");
	put_word(0, arg("recursion", 0), 10);
	put_word(0, arg("recursion", 1), 3628800);
	/* 1, then 11 of factorial, 1 of check, 1 back */
	put_end(14);
	assert_identical(14);
}

/* Each turn: deep 1, its call 1, behind setjmp 1. */
static void test_setjmp(void **state)
{
	const uint64_t frame = STACK - 256;
	uint64_t tick = 0;

	(void)state;
	begin_log("e jumps,c jumps,b,e deep,c deep,b,e deep,c deep,b,e deep,c "
	          "deep,b,e check,d jumps,b");
	put_stack();
	put_callback(tick, "jumps");
	put_word(tick, arg("jumps", 0), 5 + 30);
	tick += 3; /* entry, setjmp, behind it */
	for (uint32_t i = 1; i <= 3; i++) {
		tick++; /* deep */
		if (i == 1) {
			put_word(tick, site("deep", IR_LOAD, 0), 5);
			put_word(tick, site("deep", IR_LOAD, 1), FOREIGN);
		}
		tick += 2; /* its call, and behind setjmp */
		put_back(tick, site("jumps", IR_TWICE, 0), frame);
		put_in(tick, site("jumps", IR_TWICE, 0), 0, &i, 4);
	}
	tick += 3; /* check, return, back */
	put_end(tick);
	assert_identical(tick);
}

/* A handler jumps away from deep, somewhere in tick 4; what that had stored is
 * forgotten, as all memory is. */
static void test_forget(void **state)
{
	uint32_t three = 3;

	(void)state;
	begin_log("e jumps,c jumps,b,e deep,b,e check,d jumps,b");
	put_stack();
	put_callback(0, "jumps");
	put_word(0, arg("jumps", 0), 35);
	put_word(4, site("deep", IR_LOAD, 0), 5);
	put(4, CAIRN_EVENT_OTHER)->what = CAIRN_OTHER_FORGET;
	put_back(5, site("jumps", IR_TWICE, 0), STACK - 256);
	put_in(5, site("jumps", IR_TWICE, 0), 0, &three, 4);
	put_word(6, site("check", IR_LOAD, 0), 35);
	put_end(8);
	assert_identical(8);
}

/* The same, and the next handler comes when the jump has just arrived, and its
 * tick is all that it did. */
static void test_forget_twice(void **state)
{
	uint32_t three = 3;

	(void)state;
	begin_log("e jumps,c jumps,b,e deep,b,b,e check,d jumps,b");
	put_stack();
	put_callback(0, "jumps");
	put_word(0, arg("jumps", 0), 35);
	put_word(4, site("deep", IR_LOAD, 0), 5);
	put(4, CAIRN_EVENT_OTHER)->what = CAIRN_OTHER_FORGET;
	put(5, CAIRN_EVENT_OTHER)->what = CAIRN_OTHER_FORGET;
	put_back(6, site("jumps", IR_TWICE, 0), STACK - 256);
	put_in(6, site("jumps", IR_TWICE, 0), 0, &three, 4);
	put_word(7, site("check", IR_LOAD, 0), 35);
	put_end(9);
	assert_identical(9);
}

/* An exception leaves a callback for foreign code, which goes on. */
static void test_caught_outside(void **state)
{
	(void)state;
	begin_log("e calls,c calls,e leaves,c leaves,b,d calls,e twice,e "
	          "check,b");
	put_stack();
	put_callback(0, "calls");
	put_word(0, arg("calls", 0), 107);
	put_word(1, site("calls", IR_LOAD, 0), FOREIGN);
	put_callback(2, "leaves");
	put_word(3, site("leaves", IR_LOAD, 0), FOREIGN);
	put_back(5, named("leaves")->first, 0);
	put_word(5, site("calls", IR_CALL, 0), 100);
	put_word(5, site("calls", IR_LOAD, 1), address_of("twice"));
	put_word(7, site("twice", IR_LOAD, 0), 7);
	put_end(9);
	assert_identical(9);
}

/* The wrong frame is nobody's. */
static void test_wrong_frame(void **state)
{
	(void)state;
	begin_log("e jumps,c jumps,b,e deep,c deep,b");
	put_stack();
	put_callback(0, "jumps");
	put_word(0, arg("jumps", 0), 5);
	put_word(4, site("deep", IR_LOAD, 1), FOREIGN);
	put_back(6, site("jumps", IR_TWICE, 0), STACK);
	put_end(9);
	assert_diverges("no frame has what is reached");
}

static void test_throw(void **state)
{
	uint32_t selector = 3;

	(void)state;
	begin_log("e catches,e cleans,e throws,c throws,b,c cleans,r "
	          "cleans,b,e check,b");
	put_stack();
	put_callback(0, "catches");
	put_word(0, arg("catches", 0), 123);
	put_word(3, site("throws", IR_LOAD, 0), FOREIGN);
	/* 4: the call that throws; 5: the cleanup */
	put_back(5, site("cleans", IR_PAD, 0), 0);
	put_word(5, site("cleans", IR_PAD, 0), 0x1234);
	/* 6: its call, which returns; 7: passes it on */
	put_back(8, site("catches", IR_PAD, 0), 0);
	put_in(8, site("catches", IR_PAD, 0) + 1, 0, &selector, 4);
	put_end(10);
	assert_identical(10);
}

static void test_copy(void **state)
{
	unsigned char row[5000];

	(void)state;
	memset(row, 1, sizeof(row));
	begin_log("e copies,e check,b");
	put_stack();
	put_callback(0, "copies");
	put_word(0, arg("copies", 0), UINT64_C(0x7ff000000ff8));
	put_word(0, arg("copies", 1), UINT64_C(0x7ff0000ffff0));
	put_word(0, arg("copies", 2), sizeof(row));
	put_word(0, arg("copies", 3), UINT64_C(0x0101010100020000));
	/* nothing is known of bytes 0, 1 and 3 */
	row[0] = 2;
	put_in(1, site("copies", IR_COPY, 0), 2, row, 1);
	put_in(1, site("copies", IR_COPY, 0), 4, row + 1, sizeof(row) - 4);
	put_end(3);
	assert_identical(3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_load),
	        cmocka_unit_test(test_turn),
	        cmocka_unit_test(test_interrupt),
	        cmocka_unit_test(test_divergence),
	        cmocka_unit_test(test_calls),
	        cmocka_unit_test(test_recursion),
	        cmocka_unit_test(test_setjmp),
	        cmocka_unit_test(test_forget),
	        cmocka_unit_test(test_forget_twice),
	        cmocka_unit_test(test_caught_outside),
	        cmocka_unit_test(test_wrong_frame),
	        cmocka_unit_test(test_throw),
	        cmocka_unit_test(test_copy),
	        cmocka_unit_test(test_damage),
	        cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
