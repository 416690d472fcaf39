/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: takes the events of a log one by one, at the ticks and cells
 * where replay code comes by.
 *
 * One event is looked at ahead.  It is `armed` once its tick is reached; until
 * then state->left counts down to it.  An armed input shows its cell in
 * state->next_cell, and the site that has it takes it.  All other kinds are
 * taken in calls of the engine: CALLBACK, SYNC and END in what foreign code
 * does, BACK at a landing pad or behind setjmp.  A TURN is taken as an input
 * is.
 *
 * A foreign call that does not return is seen by the next event: BACK, one tick
 * ahead, since a pad and the place behind a setjmp begin with a tick and any
 * other way there has another tick before it.
 *
 * Invariant: all events before `event` were taken at their ticks and cells; if
 * the tick goes on while an event is armed, nobody took it: a divergence.
 * Breaks when: a divergence makes replay code run wild; it is stopped by the
 * next event at the latest, or by a fault.
 * Cost: per event, a few hundred instructions.
 */
#include "replay/engine.h"

#include "abi/record.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/recording.h"
#include "ir/sites.h"
#include "replay/arena.h"
#include "replay/program.h"
#include "replay/shadow.h"
#include "replay/state.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)16 << 30)
#define NSTEPS ((size_t)1 << 14)
#define NFOUND_MAX 16384u
#define OUT_MAX ((uint64_t)1 << 31)
#define NO_MEMORY_BELOW 65536u /* as Linux has it, vm.mmap_min_addr */

/* A function that makes frames again, and at which points. */
struct again {
	struct program_function *f;
	uint32_t *points;
	size_t n, cap;
	struct engine_again code;
};

static struct {
	struct replay_state *state;
	struct program *program;
	const struct engine_compiler *compiler;
	void (*watch)(uint64_t tick, uint64_t callee, const uint64_t *args,
	              unsigned nargs);
	void (*tell)(void *context, uint64_t id, uint64_t tick,
	             const uint64_t *args);
	void *listener;
	const struct engine_follower *follower;
	uint32_t *steps; /* for it */
	/* This tick is one that ends the context, or that it leaves: what is
	 * said of it is known, doubtful, or no more than replay code goes on
	 * to do. */
	bool is_held;
	bool has_told;  /* of this tick, which the context will leave */
	bool is_trying; /* in a child: will_halt */
	enum { DOUBTFUL, KNOWN, PAST } held;
	bool is_forking; /* in this tick, and it was not told */
	bool notes_seen, has_forgotten, has_doubts;
	uint64_t nuntold; /* what was not told, since it may not have been */
	void (*output)(void *context, const struct engine_output *o);
	void *output_listener;
	void (*wrote)(void *context, const struct engine_write *w);
	void *wrote_listener;
	uint64_t watched, nwatched;
	void (*numbered)(void *context, uint64_t number, uint64_t own);
	void *number_listener;
	uint64_t caller; /* cell of the innermost foreign call; 0: none */
	uint32_t site;   /* and its site */
	uint64_t order;  /* of what is done from here on: ENGINE_ORDER */
	struct {
		uint64_t at, tick, order;
	} turn; /* of an atomic store, which is about to be made */
	/* where handlers interrupted the context; from `ncame` on, later */
	const struct engine_came *came;
	size_t ncame, nall_came;
	uint64_t raised; /* the order behind the last one that was before */
	const struct engine_log *log;
	struct engine_mark mark;      /* of the event that is next: */
	struct recording_event event; /* its cell is as in state.h */
	bool is_armed;
	uint64_t aim; /* what is counted down to, if it is not armed: the tick
	                 of the event, or one before it: */
	uint64_t target; /* where somebody attends; UINT64_MAX: nowhere */
	uint64_t (*reached)(void *context, uint64_t tick, bool can_save);
	void *attendant;
	/* while frames are written */
	bool is_saving;
	int (*write)(void *context, const struct engine_moment *m);
	void *writer;
	struct bytes frames;
	/* while they are made again: those that are left, outermost last */
	const struct engine_start *start;
	const unsigned char **left;
	size_t nleft, left_cap;
	struct again *again;
	size_t nagain, again_cap;
	uint64_t nevents;
	unsigned nfound; /* what was noted in state->found */
	uint64_t env;    /* CAIRN_ENV_*, as it is */
	volatile bool is_running;
	/* the end */
	sigjmp_buf stop;
	int code;
	enum engine_end end;
	struct cairn_err *err;
} e;

/* --- ways to the end ----------------------------------------------------- */

static uint64_t tick_now(void)
{
	return e.is_armed ? e.event.tick : e.aim - e.state->left;
}

/* Whoever looks in between two stores sees another tick: so be it. */
uint64_t engine_tick(void)
{
	const volatile uint64_t *left;

	if (!e.is_running)
		return 0;
	left = &e.state->left;
	return *(const volatile bool *)&e.is_armed
	               ? *(const volatile uint64_t *)&e.event.tick
	               : *(const volatile uint64_t *)&e.aim - *left;
}

/* Ticks from here to the next event, if it is not armed. */
static uint64_t distance(void)
{
	return e.event.tick - tick_now();
}

static _Noreturn void stop(int code, enum engine_end end)
{
	if (e.is_trying)
		_exit(end != ENGINE_HALTED);
	e.code = code;
	e.end = end;
	siglongjmp(e.stop, 1);
}

/* "function f (file.c:12)" of a cell; line 0: that of the cell. */
static void describe(char *text, size_t size, uint64_t cell, uint64_t line)
{
	const struct program_function *f = program_of_cell(e.program, cell);

	if (f && f->file && !line)
		line = e.compiler->line(e.program, f,
		                        (uint32_t)((cell - f->cells) / 8));
	if (!f)
		snprintf(text, size, "no function");
	else if (!f->file)
		snprintf(text, size, "function %s", f->name);
	else
		snprintf(text, size, "function %s (%s:%" PRIu64 ")", f->name,
		         f->file, line ? line : f->line);
}

static bool is_other(enum cairn_other what)
{
	return e.event.kind == CAIRN_EVENT_OTHER && e.event.what == what;
}

/* Did the process end in this tick?  By what is done here, if it is a fault. */
static bool is_last(void)
{
	return e.is_armed &&
	       (is_other(CAIRN_OTHER_STOP) || is_other(CAIRN_OTHER_HALT));
}

/* Did it end in foreign code? */
static bool is_abroad(void)
{
	return (is_other(CAIRN_OTHER_HALT) || is_other(CAIRN_OTHER_LEFT)) &&
	       e.event.value[0] & 1;
}

/* Will the context leave this tick, from a place that is known? */
static bool is_leaving(void)
{
	return e.is_armed && is_other(CAIRN_OTHER_LEFT);
}

/* The signal that the context raises in this tick; 0: none. */
static int own_signal(void)
{
	if (!e.is_armed ||
	    !(is_other(CAIRN_OTHER_HALT) || is_other(CAIRN_OTHER_LEFT)))
		return 0;
	return e.event.value[0] & 1 ? 0 : CAIRN_HALT_SIGNAL(e.event.value[0]);
}

/* Does what is computed here not matter, since it will be forgotten, and maybe
 * was not computed? */
static bool is_lost(void)
{
	return e.is_armed &&
	       (is_other(CAIRN_OTHER_FORGET) || is_other(CAIRN_OTHER_STOP));
}

/* Did the context leave this tick before, by a signal that it raised? */
static bool is_past(void)
{
	return e.is_held && e.held == PAST;
}

/* What the log has next. */
static void describe_event(char *text, size_t size)
{
	static const char *const kinds[] = {"an input of", "a callback of",
	                                    "a way back into", "a turn of"};
	char where[512];

	if (!recording_has_cell(&e.event)) {
		snprintf(text, size, "%s at tick %" PRIu64,
		         e.event.what == CAIRN_OTHER_END ? "the end"
		         : e.event.what == CAIRN_OTHER_SYNC
		                 ? "a synchronisation"
		         : e.event.what == CAIRN_OTHER_OUT  ? "output"
		         : e.event.what == CAIRN_OTHER_HALT ? "a fault"
		                                            : "another context",
		         e.event.tick);
		return;
	}
	describe(where, sizeof(where), e.event.cell, 0);
	snprintf(text, size, "%s %s at tick %" PRIu64, kinds[e.event.kind],
	         where, e.event.tick);
}

/* Stops with "where: what; the log has ...". */
static _Noreturn void diverge(uint64_t cell, uint64_t line, const char *what)
{
	char where[512] = "", next[640];

	if (cell)
		describe(where, sizeof(where), cell, line);
	describe_event(next, sizeof(next));
	cairn_fail(e.err, CAIRN_E_MISMATCH,
	           "%s: the replay diverges at tick %" PRIu64 "%s%s: %s; the "
	           "log has %s",
	           e.log->name, tick_now(), cell ? " in " : "", where, what,
	           next);
	stop(0, ENGINE_DIVERGED);
}

static void come_to(int signal, uint64_t p);
static void leave_elsewhere(void);

static _Noreturn void out_of_memory(void)
{
	stop(cairn_fail(e.err, CAIRN_E_LIMIT,
	                "%s: the program uses more memory at tick %" PRIu64
	                " than a replay may have; end other programs, and if "
	                "you trust the recording, say --trusted, or set "
	                "CAIRN_REPLAY_TRUSTED=1",
	                e.log->name, tick_now()),
	     ENGINE_DIVERGED);
}

/* No memory, or a signal that the program cannot have survived, unless it
 * jumped out of a handler. */
static void fault(int signal, uint64_t p, uint64_t pc)
{
	const struct program_function *f;
	char what[96];

	come_to(signal, p);
	if (is_last())
		stop(0, ENGINE_STOPPED);
	if (is_leaving())
		leave_elsewhere();
	if (signal == SIGSEGV && is_lost() && shadow_humour(p))
		return;
	if (signal == SIGSEGV && shadow_is_full())
		out_of_memory();
	if (signal == SIGSEGV)
		snprintf(what, sizeof(what),
		         "it uses the address %#" PRIx64
		         ", where no memory can be",
		         p);
	else
		snprintf(what, sizeof(what), "it gets the signal %s",
		         strsignal(signal));
	f = program_of_code(e.program, pc);
	diverge(f ? f->cells : 0, 0, what);
}

/* --- frames that are written --------------------------------------------- */

/* In the child of engine_save: frames cannot be left here. */
static void cannot_save(void)
{
	if (e.is_saving)
		_exit(1);
}

static void lost(void)
{
	cannot_save();
}

static uint32_t number_of(const struct program_function *f)
{
	return (uint32_t)(f - e.program->functions);
}

#define FRAME_HEAD 16u

enum frame_kind {
	FRAME_OWN,      /* what the function itself writes */
	FRAME_CALLBACK, /* foreign code has called it; its frames were before */
	FRAME_HANDED,   /* the same, but it has ended, in a tail call of foreign
	                   code, which is running */
};

/* Room for n bytes of a frame. */
static unsigned char *add_frame(const struct program_function *f,
                                enum frame_kind kind, uint64_t n)
{
	unsigned char *head = bytes_grow(&e.frames, FRAME_HEAD + (size_t)n);

	put_le32(head, number_of(f));
	put_le32(head + 4, kind);
	put_le64(head + 8, n);
	return head + FRAME_HEAD;
}

static void *save(uint64_t cell, uint64_t point, uint64_t n)
{
	const struct program_function *f;
	unsigned char *frame;

	if (!e.is_saving)
		return NULL;
	f = program_of_cell(e.program, cell);
	if (!f)
		_exit(1);
	frame = add_frame(f, FRAME_OWN, (n + 7) & ~(uint64_t)7);
	put_le64(frame, point);
	return frame;
}

/* Where foreign code was called: a cell and its site. */
struct caller {
	uint64_t cell;
	uint32_t site;
};

#define CALLER_SIZE 16u

static void save_callback(const struct program_function *f,
                          const struct caller *from, enum frame_kind kind)
{
	unsigned char *frame = add_frame(f, kind, CALLER_SIZE);

	put_le64(frame, program_name_cell(e.program, from->cell));
	put_le64(frame + 8, from->site);
}

void engine_now(struct engine_moment *m)
{
	*m = (struct engine_moment){
	        .tick = tick_now(),
	        .nevents = e.nevents,
	        .mark = e.mark,
	        .env = e.env,
	        .order = e.order,
	        .has_forgotten = e.has_forgotten,
	        .has_seen = e.notes_seen,
	};
	memcpy(m->record, e.state->record, sizeof(m->record));
}

static struct engine_moment moment; /* that the child writes */

static _Noreturn void end_saving(void)
{
	moment.frames = e.frames.data;
	moment.nframes = e.frames.n;
	_exit(e.write(e.writer, &moment) < 0);
}

pid_t engine_save(int (*write)(void *context, const struct engine_moment *m),
                  void *context)
{
	pid_t child = fork();

	if (child)
		return child;
	engine_now(&moment);
	e.is_saving = true;
	e.write = write;
	e.writer = context;
	e.state->unwinding = REPLAY_SAVING;
	return 0;
}

void engine_attend(uint64_t (*reached)(void *context, uint64_t tick,
                                       bool can_save),
                   uint64_t tick, void *context)
{
	e.reached = reached;
	e.target = tick;
	e.attendant = context;
}

/* --- the log ------------------------------------------------------------- */

static _Noreturn void damaged(const char *what)
{
	stop(cairn_fail(e.err, CAIRN_E_CORRUPT,
	                "%s: in event %" PRIu64 " of the log, at tick %" PRIu64
	                ": %s; record again, and report it if that does not "
	                "help",
	                e.log->name, e.nevents, e.event.tick, what),
	     ENGINE_DIVERGED);
}

static _Noreturn void damaged_checkpoint(void)
{
	stop(cairn_fail(e.err, CAIRN_E_CORRUPT,
	                "%s: a checkpoint of its replay makes no sense; remove "
	                "the folder %s.checkpoints",
	                e.log->name, e.log->name),
	     ENGINE_DIVERGED);
}

/* False at the end of the log. */
static bool read_event(struct recording_event *v)
{
	int rc = e.log->next(e.log->context, v, e.err);

	if (rc < 0)
		stop(rc, ENGINE_DIVERGED);
	return rc > 0;
}

static bool is_end(const struct recording_event *v)
{
	return v->kind == CAIRN_EVENT_OTHER &&
	       (v->what == CAIRN_OTHER_END || v->what == CAIRN_OTHER_STOP ||
	        v->what == CAIRN_OTHER_HALT);
}

static bool is_access(const struct recording_event *v)
{
	int signal = CAIRN_HALT_SIGNAL(v->value[0]);

	return signal == SIGSEGV || signal == SIGBUS;
}

/* There is memory at most addresses: the access at which the context will raise
 * its signal is made a fault. */
static void forbid(void)
{
	const struct recording_event *v = &e.event;

	if (!is_abroad() && is_access(v) && v->value[1] >= NO_MEMORY_BELOW)
		shadow_forbid(v->value[1], v->value[0] & CAIRN_HALT_WRITES);
}

/* The next event that means something: END and STOP do so only at the end. */
static bool next_event(void)
{
	struct recording_event v;

	if (e.log->where)
		e.log->where(e.log->context, &e.mark);
	if (!read_event(&e.event))
		return false;
	while (is_end(&e.event) && read_event(&v))
		e.event = v;
	return true;
}

static void check_event(uint64_t now)
{
	struct recording_event *v = &e.event;

	e.nevents++;
	if (v->tick < now)
		damaged("ticks overflow");
	if (!recording_has_cell(v))
		return;
	v->cell = program_cell(e.program, v->cell);
	if (!v->cell)
		damaged("it names a cell that no module has");
}

static void take_event(void);
static void put_out(void);
void engine_take_steps(void);

/* What was not written out when the process ended, wherever that was. */
static void take_end(void)
{
	e.caller = 0;
	put_out();
	take_event();
}

/* Somewhere in this tick: mostly in a call of foreign code, which says so. */
static void take_fork(void)
{
	e.is_forking = true;
	take_event();
}

/*
 * Does the context raise the signal in this tick that ended it?  Assembly is in
 * no replay, and stacks are of another size.  A child of this process tries it,
 * for those who will believe all that is done before.
 */
static bool will_halt(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		e.is_trying = true;
	if (child <= 0)
		return child == 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The last tick concerns those who want to know what was done in it, or may
 * have been.  Foreign code runs from where a tick begins. */
static void begin_last(void)
{
	if (is_abroad()) {
		e.held = KNOWN;
		stop(0, ENGINE_STOPPED_IN_CALL);
	}
	if (!e.wrote && !e.tell && (!e.follower || is_lost()))
		stop(0, ENGINE_STOPPED);
	if (is_other(CAIRN_OTHER_HALT) && !e.follower && !will_halt()) {
		shadow_permit();
		e.event.what = CAIRN_OTHER_STOP;
	}
}

/* The tick ends the context, or is left by it: what is said from here on. */
static void hold(void)
{
	if (e.is_held ||
	    !(is_other(CAIRN_OTHER_FORGET) || is_other(CAIRN_OTHER_LEFT) ||
	      is_other(CAIRN_OTHER_STOP) || is_other(CAIRN_OTHER_HALT)))
		return;
	engine_take_steps(); /* of what was before */
	e.is_held = true;
	e.held = DOUBTFUL;
	if (is_other(CAIRN_OTHER_HALT) || is_other(CAIRN_OTHER_LEFT))
		forbid();
}

/* The tick of the next event is reached. */
static void arm(void)
{
	hold();
	e.is_armed = true;
	e.state->left = 1;
	if (is_leaving() && is_abroad()) {
		e.held = KNOWN;
		take_event();
	} else if (e.event.kind == CAIRN_EVENT_IN || is_other(CAIRN_OTHER_TURN))
		e.state->next_cell = e.event.cell;
	else if (is_last())
		begin_last();
	else if (is_other(CAIRN_OTHER_OUT) && !e.event.nbytes)
		take_end();
	else if (is_other(CAIRN_OTHER_FORK))
		take_fork();
}

/* Counts down, to the event or to where somebody attends before it. */
static void go_on(uint64_t now)
{
	e.is_armed = false;
	e.aim = e.target > now ? e.target : now + 1;
	if (e.aim > e.event.tick)
		e.aim = e.event.tick;
	e.state->left = e.aim - now;
	if (e.event.tick == now)
		arm();
}

/* Hands on what was said since the last time. */
void engine_take_steps(void)
{
	size_t n = e.follower ? (size_t)(e.state->step - e.steps) : 0;

	e.state->step = e.steps;
	if (!e.follower)
		return;
	if (e.is_held && e.held != KNOWN)
		e.follower->doubt(e.follower->context, e.steps, n, is_past());
	else
		e.follower->steps(e.follower->context, e.steps, n);
}

/* The context left this tick from another place than the log says, one that is
 * in no replay: nobody knows what it did before. */
static void leave_elsewhere(void)
{
	if (e.has_told)
		diverge(0, 0, "the signal does not come that it got");
	shadow_permit();
	take_event();
}

/* At this address, or where it is noted that this is seen. */
static bool is_at(uint64_t p, uint64_t address)
{
	return p == address || p + SHADOW_SEEN == address;
}

/* The context raises a signal of its own here, with this address, if it is
 * known: is it that of the log? */
static void come_to(int signal, uint64_t p)
{
	int own = own_signal();

	if (own == SIGBUS)
		own = SIGSEGV;
	if (signal == SIGBUS)
		signal = SIGSEGV;
	if (!own || own != signal ||
	    (signal == SIGSEGV && p && !is_at(p, e.event.value[1])))
		return;
	shadow_permit();
	e.held = KNOWN;
	engine_take_steps();
	if (e.follower)
		e.follower->halted(e.follower->context, e.state->line);
	e.held = PAST;
	e.has_told = false;
	if (is_last())
		stop(0, ENGINE_HALTED);
	take_event();
}

static void follow_fork(bool is_in_call)
{
	if (!e.is_forking)
		return;
	e.is_forking = false;
	if (!e.follower)
		return;
	engine_take_steps();
	e.follower->forked(e.follower->context, is_in_call);
}

static void follow_sync(void)
{
	if (!e.follower || !is_other(CAIRN_OTHER_SYNC))
		return;
	engine_take_steps();
	e.follower->sync(e.follower->context, e.event.value[0]);
}

/* Takes the event and looks at the next one.  A log that breaks off ends the
 * replay: what the program computed then, nobody knows. */
static void take_event(void)
{
	uint64_t now = tick_now();

	follow_sync();
	e.state->next_cell = 0;
	if (!next_event()) {
		e.event.tick = now;
		e.is_armed = true;
		stop(0, ENGINE_LOG_ENDS);
	}
	check_event(now);
	go_on(now);
}

/* --- what replay code calls ---------------------------------------------- */

/* One tick ahead is BACK: frames are left from here on. */
static void look_back(void)
{
	if (!e.is_armed && e.event.kind == CAIRN_EVENT_BACK &&
	    distance() == IR_TICK_BEHIND) {
		e.state->unwinding = e.event.cell;
		e.state->frame = e.event.frame;
	}
}

/*
 * A handler of a signal interrupted the context in this tick, and jumped away.
 * Where in the tick, nobody knows: what was done since does not matter, since
 * all memory is forgotten now.  The next handler may have come before the jump
 * had arrived, or when it just had.
 */
static void forget(void)
{
	shadow_permit();
	e.has_doubts |= e.held == DOUBTFUL;
	engine_take_steps(); /* those of this tick */
	e.is_held = false;
	shadow_clear();
	program_clear_cells(e.program);
	e.has_forgotten = true;
	do {
		e.is_armed = true;
		take_event();
	} while ((is_other(CAIRN_OTHER_FORGET) || is_other(CAIRN_OTHER_LEFT)) &&
	         (e.is_armed || distance() == IR_TICK_BEHIND));
	look_back();
}

/* Replay code cannot go on; nor did the program, if the tick was its last, or
 * if it left the tick. */
static void break_off(void)
{
	if (is_last())
		stop(0, ENGINE_STOPPED);
	if (is_leaving())
		leave_elsewhere();
	if (is_lost())
		forget();
}

void engine_arm(uint64_t cell, uint64_t line);
void engine_in(uint64_t cell, uint64_t p);

/* The tick of the next event is reached, or passed. */
static void reach_event(uint64_t cell, uint64_t line, bool is_passed)
{
	e.state->left = 1;
	if (is_lost() || is_leaving()) {
		break_off();
		return;
	}
	if (is_last() && e.follower)
		stop(0, ENGINE_STOPPED); /* by inline assembly; it is told */
	if (e.is_armed)
		diverge(cell, line, "the tick ends");
	arm();
	if (is_passed)
		diverge(cell, line,
		        "it came another way, as programs may that switch "
		        "stacks by themselves (fibers)");
}

/* Is there a tick before that of the next event?  Then nothing is armed. */
static bool is_before_event(uint64_t *now)
{
	*now = tick_now();
	return !e.is_armed && *now < e.event.tick;
}

/* The tick of the next event is reached, or passed; or one where somebody
 * attends. */
void engine_arm(uint64_t cell, uint64_t line)
{
	uint64_t now;

	cannot_save();
	follow_fork(false);
	if (!is_before_event(&now)) {
		reach_event(cell, (uint32_t)line,
		            !e.is_armed && now != e.event.tick);
		return;
	}
	if (e.reached)
		e.target = e.reached(e.attendant, now, line & REPLAY_CAN_SAVE);
	go_on(now);
}

static void bump_tick(uint64_t cell)
{
	uint64_t now;

	if (--e.state->left)
		return;
	follow_fork(false);
	if (is_before_event(&now))
		go_on(now);
	else
		reach_event(cell, 0, false);
}

/* Did a handler interrupt the context before what it does now?  In the same
 * tick of the program's own code nobody knows, unless an input tells. */
static bool has_come(const struct engine_came *c)
{
	uint64_t now = tick_now();

	if (now != c->tick)
		return now > c->tick;
	if (e.mark.link != c->link)
		return e.mark.link < c->link;
	return c->is_in_call ? e.mark.position >= c->position
	                     : e.mark.position > c->position;
}

uint64_t engine_order(void)
{
	for (; e.ncame < e.nall_came && has_come(&e.came[e.ncame]); e.ncame++)
		if (e.raised < e.came[e.ncame].order)
			e.raised = e.came[e.ncame].order;
	return e.order > e.raised ? e.order : e.raised;
}

/* That of a store to p. */
static uint64_t order_of_store(uint64_t p)
{
	uint64_t order = engine_order();

	if (!e.turn.order || e.turn.at != p || e.turn.tick != tick_now())
		return order;
	order = e.turn.order;
	e.turn.order = 0;
	return order;
}

/* Tells who watches memory at p, if it is in there. */
static void tell_write(struct engine_write w, uint64_t p, uint64_t n)
{
	uint64_t end =
	        p + n < e.watched + e.nwatched ? p + n : e.watched + e.nwatched;

	w.at = p > e.watched ? p : e.watched;
	if (!e.wrote || w.at >= end || is_past() || e.is_trying)
		return;
	e.has_told |= is_leaving();
	w.n = (size_t)(end - w.at);
	w.tick = tick_now();
	w.order = w.is_outside ? engine_order() : order_of_store(p);
	e.wrote(e.wrote_listener, &w);
}

/* What came from outside. */
static void tell_outside(uint64_t cell, uint32_t site, uint64_t p, uint64_t n)
{
	struct engine_write w = {
	        .cell = cell, .site = site, .is_outside = true};

	tell_write(w, p, n);
}

static void wrote(uint64_t cell, uint64_t what, uint64_t p, uint64_t n)
{
	struct engine_write w = {
	        .cell = cell,
	        .site = (uint32_t)(what >> REPLAY_SITE_SHIFT),
	        .is_copy = (uint32_t)what == REPLAY_WROTE_COPY,
	        .is_only_a_change = (uint32_t)what == REPLAY_WROTE_MAYBE,
	        .is_doubtful = is_lost(),
	};

	tell_write(w, p, n);
}

static bool is_input_of(uint64_t cell)
{
	return e.is_armed && e.event.kind == CAIRN_EVENT_IN &&
	       e.event.cell == cell;
}

/* The function of a cell: mostly that of the input before. */
static const struct program_function *owner_of(uint64_t cell)
{
	static const struct program_function *last;
	const struct program_function *f = last;
	const struct program *p = e.program;

	if (f >= p->functions && f < p->functions + p->nfunctions &&
	    cell - f->cells < 8 * (uint64_t)f->ncells)
		return f;
	return last = program_of_cell(p, cell);
}

/* An input that is no memory stays within the cells of its function. */
static void check_cells(const struct recording_event *v)
{
	const struct program_function *f = owner_of(v->cell);
	uint64_t room = f ? f->cells + 8 * (uint64_t)f->ncells - v->cell : 0;

	if (v->offset > room || v->nbytes > room - v->offset)
		damaged("an input is longer than its cells");
}

static void note_seen(uint64_t p, uint64_t n)
{
	if (e.notes_seen && n)
		shadow_note(p, n);
}

/* The context got a number; own: that of what was found just before, or 0. */
static void take_number(uint64_t number, uint64_t own)
{
	e.order = ENGINE_ORDER(number);
	if (e.numbered)
		e.numbered(e.number_listener, e.order, ENGINE_ORDER(own));
}

static bool is_turn_of(uint64_t cell)
{
	return e.is_armed && is_other(CAIRN_OTHER_TURN) && e.event.cell == cell;
}

/* What the site stores, at p, has a number of its own. */
static void take_turn(uint64_t p, bool has_found)
{
	const uint64_t *value = e.event.value;

	take_number(value[0], has_found ? value[0] - value[1] : 0);
	e.turn.at = p;
	e.turn.tick = tick_now();
	e.turn.order = ENGINE_ORDER(value[0] - value[1]);
}

/* What the log names is memory of the program: no event reads or writes what
 * belongs to this process. */
static void check_memory(uint64_t p, uint64_t n)
{
	if (n && (!shadow_has(p, n) ||
	          (e.notes_seen && !shadow_has(p - SHADOW_SEEN, n))))
		damaged("it names an address where no memory can be");
}

/* Requires: the next event is an input of the cell, or its turn. */
void engine_in(uint64_t cell, uint64_t p)
{
	bool has_found = false;

	while (is_input_of(cell) || is_turn_of(cell)) {
		const struct recording_event *v = &e.event;

		if (v->kind == CAIRN_EVENT_OTHER) {
			take_turn(p, has_found);
		} else if (p) {
			check_memory(p + v->offset, v->nbytes);
			memcpy(shadow_at(p + v->offset), v->bytes, v->nbytes);
			note_seen(p + v->offset, v->nbytes);
			tell_outside(cell, ENGINE_NO_SITE, p + v->offset,
			             v->nbytes);
			has_found = true;
		} else {
			check_cells(v);
			memcpy((void *)(uintptr_t)(cell + v->offset), v->bytes,
			       v->nbytes);
		}
		take_event();
	}
}

/* --- how floating-point arithmetic rounds -------------------------------- */

/* Exceptions stay masked: where the program got a signal by one, it jumped
 * away, or ended. */
static void set_env(uint64_t bits)
{
	uint32_t mxcsr = 0x1f80u | (bits & CAIRN_ENV_MXCSR);
	uint16_t x87 = (uint16_t)(0x7fu | (bits >> CAIRN_ENV_X87_SHIFT &
	                                   CAIRN_ENV_X87));

	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	__asm__ volatile("fldcw %0" : : "m"(x87));
	e.env = bits;
}

/* --- calls --------------------------------------------------------------- */

/* A compiler computes as usual. */
static void load_function(struct program_function *f)
{
	uint64_t bits = e.env;
	int rc;

	if (f->body)
		return;
	set_env(CAIRN_ENV_DEFAULT);
	rc = e.compiler->load(e.program, f->unit, e.err);
	set_env(bits);
	if (rc < 0)
		stop(rc, ENGINE_DIVERGED);
}

/* --- frames that are made again ------------------------------------------ */

static enum frame_kind kind_of(const unsigned char *frame)
{
	return (enum frame_kind)get_le32(frame + 4);
}

/* The one that is next. */
static const unsigned char *look_at_frame(void)
{
	if (!e.nleft)
		damaged_checkpoint();
	return e.left[e.nleft - 1];
}

static const unsigned char *take_frame(bool is_callback)
{
	const unsigned char *frame = look_at_frame();

	if ((kind_of(frame) != FRAME_OWN) != is_callback)
		damaged_checkpoint();
	e.nleft--;
	return frame;
}

static struct program_function *function_of(const unsigned char *frame)
{
	uint32_t k = get_le32(frame);

	if (k >= e.program->nfunctions)
		damaged_checkpoint();
	return &e.program->functions[k];
}

static const struct engine_again *code_of(const struct program_function *f)
{
	for (size_t i = 0; i < e.nagain; i++)
		if (e.again[i].f == f)
			return &e.again[i].code;
	damaged_checkpoint();
}

static void *take(uint64_t cell)
{
	const unsigned char *frame = take_frame(false);

	if (function_of(frame) != program_of_cell(e.program, cell))
		damaged_checkpoint();
	return (void *)(uintptr_t)(frame + FRAME_HEAD);
}

static void *next(void)
{
	const unsigned char *frame = look_at_frame();

	if (kind_of(frame) != FRAME_OWN)
		return NULL;
	return code_of(function_of(frame))->body;
}

/* The cells of a result of foreign code. */
struct result {
	uint64_t cell, n;
};

static void run_foreign(const struct caller *from, struct result result);
static void end_callback(const struct program_function *f,
                         const struct caller *from, bool is_handed);

/* The function that foreign code had called goes on, or those that have taken
 * its place by tail calls, and returns.  Where it was called. */
static struct caller run_callback_again(void)
{
	const unsigned char *frame = take_frame(true);
	struct program_function *f = function_of(frame);
	bool is_handed = kind_of(frame) == FRAME_HANDED;
	const struct caller from = {
	        .cell = program_named_cell(e.program,
	                                   get_le64(frame + FRAME_HEAD)),
	        .site = (uint32_t)get_le64(frame + FRAME_HEAD + 8),
	};

	if (is_handed) {
		const struct caller tail = run_callback_again();

		run_foreign(&tail, (struct result){f->cells, 0});
	} else {
		code_of(function_of(look_at_frame()))->entry();
	}
	end_callback(f, &from, is_handed);
	return from;
}

/* Of what a site has. */
static struct result result_of(uint64_t cell, uint64_t what)
{
	return (struct result){cell, (uint32_t)what};
}

static struct caller caller_of(uint64_t cell, uint64_t what)
{
	return (struct caller){cell, (uint32_t)(what >> REPLAY_SITE_SHIFT)};
}

static void back(uint64_t cell, uint64_t what)
{
	const struct caller from = run_callback_again();

	run_foreign(&from, result_of(cell, what));
}

static struct again *again_of(struct program_function *f)
{
	for (size_t i = 0; i < e.nagain; i++)
		if (e.again[i].f == f)
			return &e.again[i];
	VEC_RESERVE(e.again, e.nagain, e.again_cap);
	e.again[e.nagain] = (struct again){.f = f};
	return &e.again[e.nagain++];
}

/* Ascending, each once. */
static void add_point(struct again *a, uint32_t point)
{
	size_t i = 0;

	while (i < a->n && a->points[i] < point)
		i++;
	if (i < a->n && a->points[i] == point)
		return;
	VEC_RESERVE(a->points, a->n, a->cap);
	memmove(a->points + i + 1, a->points + i,
	        (a->n - i) * sizeof(*a->points));
	a->points[i] = point;
	a->n++;
}

static void read_frames(const struct engine_moment *m)
{
	const unsigned char *p = m->frames;
	size_t rest = m->nframes;

	while (rest) {
		uint64_t n = rest < FRAME_HEAD ? UINT64_MAX : get_le64(p + 8);
		bool is_own = n < UINT64_MAX && kind_of(p) == FRAME_OWN;

		if (n > rest - FRAME_HEAD || n < (is_own ? 8 : CALLER_SIZE))
			damaged_checkpoint();
		VEC_RESERVE(e.left, e.nleft, e.left_cap);
		e.left[e.nleft++] = p;
		if (is_own)
			add_point(again_of(function_of(p)),
			          (uint32_t)get_le64(p + FRAME_HEAD));
		p += FRAME_HEAD + n;
		rest -= FRAME_HEAD + n;
	}
}

static void load_again(struct again *a)
{
	uint64_t bits = e.env;
	int rc;

	load_function(a->f);
	set_env(CAIRN_ENV_DEFAULT);
	rc = e.compiler->again(e.program, a->f, a->points, (uint32_t)a->n,
	                       &a->code, e.err);
	set_env(bits);
	if (rc < 0)
		stop(rc, ENGINE_DIVERGED);
}

static void forget_again(void)
{
	for (size_t i = 0; i < e.nagain; i++)
		free(e.again[i].points);
	e.nagain = 0;
	e.nleft = 0;
}

/* The context as it was at a moment, but for frames. */
static void begin_at(const struct engine_start *start)
{
	const struct engine_moment *m = start->moment;
	int rc = e.log->seek(e.log->context, &m->mark, e.err);

	forget_again();
	read_frames(m);
	if (rc == 0)
		rc = start->fill(start->context, e.err);
	if (rc < 0)
		stop(rc, ENGINE_DIVERGED);
	memcpy(e.state->record, m->record, sizeof(m->record));
	e.nevents = m->nevents - 1;
	e.order = m->order;
	e.has_forgotten = m->has_forgotten;
	if (!next_event())
		damaged_checkpoint();
	check_event(m->tick);
	if (e.event.tick <= m->tick)
		damaged_checkpoint();
	go_on(m->tick);
	for (size_t i = 0; i < e.nagain; i++)
		load_again(&e.again[i]);
	set_env(m->env);
}

/* Notes for replay code what was found; not without end, since that costs two
 * system calls. */
static void note_found(uint64_t address, void *body)
{
	struct replay_found *all = e.state->found;
	struct cairn_err err;

	if (e.nfound == NFOUND_MAX)
		return;
	e.nfound++;
	arena_unseal(all, sizeof(e.state->found));
	all[address >> REPLAY_FOUND_SHIFT & (REPLAY_NFOUND - 1)] =
	        (struct replay_found){address, body};
	if (arena_seal(all, sizeof(e.state->found), false, &err) < 0)
		damaged(err.text);
}

static void *find(uint64_t address)
{
	struct program_function *f = program_find(e.program, address);
	void *body = NULL;

	if (f) {
		load_function(f);
		body = f->body;
	}
	note_found(address, body);
	return body;
}

/* The tail call of foreign code in which a function has ended. */
static struct caller take_handed(void)
{
	const struct caller c = {e.state->handed,
	                         (uint32_t)e.state->handed_site};

	e.state->handed = 0;
	if (e.watch)
		e.watch(tick_now(), e.state->callee, e.state->args,
		        (unsigned)e.state->nargs);
	return c;
}

/* It returned.  Its frames may have been left by an exception that foreign code
 * catches: BACK of its own cell. */
static void end_callback(const struct program_function *f,
                         const struct caller *from, bool is_handed)
{
	uint64_t cell = f->cells;

	if (e.state->handed) {
		const struct caller tail = take_handed();

		is_handed = true;
		run_foreign(&tail, (struct result){cell, 0});
	}
	if (e.is_saving) {
		save_callback(f, from,
		              is_handed ? FRAME_HANDED : FRAME_CALLBACK);
	} else if (!e.state->unwinding) {
		bump_tick(cell);
	} else if (e.state->unwinding == cell) {
		bump_tick(cell);
		e.state->unwinding = 0;
		take_event();
	}
}

/* Foreign code calls a function that has marks. */
static void run_callback(const struct caller *from)
{
	struct program_function *f = program_of_cell(e.program, e.event.cell);

	if (!f || f->cells != e.event.cell)
		damaged("a callback is of no function");
	load_function(f);
	take_event();
	if (!f->entry)
		damaged("a callback is of a function that nobody can call");
	f->entry();
	end_callback(f, from, false);
}

/* Memory was unmapped, or is new: nobody has seen it. */
static void zero(uint64_t p, uint64_t n)
{
	shadow_zero(p, n);
	if (e.notes_seen)
		shadow_zero(p - SHADOW_SEEN, n);
}

/* Is it what the program had there? */
static void check_hash(const unsigned char *p, uint64_t n, uint64_t hash)
{
	uint64_t h = n, last = 0, i = 0, word;

	for (; i + 8 <= n; i += 8) {
		memcpy(&word, p + i, 8);
		h = cairn_out_step(h, word);
	}
	memcpy(&last, p + i, n - i);
	if (n % 8)
		h = cairn_out_step(h, last);
	if (hash != cairn_out_hash(h))
		diverge(e.caller, 0, "it writes out other bytes");
}

/* A piece that went out.  What it names was there for foreign code; it is so
 * for the program from now on. */
static void put_out(void)
{
	const struct recording_event *v = &e.event;
	uint64_t at = v->value[2];
	struct engine_output o = {
	        .tick = tick_now(),
	        .cell = e.caller,
	        .site = e.site,
	        .order = engine_order(),
	        .is_inherited = v->is_inherited,
	        .how = (unsigned)v->value[0],
	        .pending = v->value[1],
	        .bytes = v->bytes,
	        .n = v->nbytes,
	};

	if (v->nbytes > OUT_MAX)
		damaged("more goes out than a system call can take");
	if (at || !v->bytes)
		check_memory(at, v->nbytes);
	if (at && v->bytes) {
		memcpy(shadow_at(at), v->bytes, v->nbytes);
		tell_outside(e.caller, e.site, at, v->nbytes);
	}
	if (at)
		note_seen(at, v->nbytes);
	if (at && v->value[3])
		check_hash(shadow_at(at), v->nbytes, v->value[3]);
	if (!v->bytes && v->nbytes)
		o.bytes = shadow_at(at);
	if (e.output)
		e.output(e.output_listener, &o);
}

/* What foreign code did that concerns no code: the next event. */
static void take_other(void)
{
	const struct recording_event *v = &e.event;

	if (v->what == CAIRN_OTHER_STACK)
		e.state->record[CAIRN_RECORD_STACK / 8] = v->value[0];
	else if (v->what == CAIRN_OTHER_ZERO)
		zero(v->value[0], v->value[1]);
	else if (v->what == CAIRN_OTHER_ENV)
		set_env(v->value[0]);
	else if (v->what == CAIRN_OTHER_SYNC)
		take_number(v->value[0], 0);
	else if (v->what == CAIRN_OTHER_OUT)
		put_out();
	take_event();
}

/* Behind a way back, how arithmetic rounds may be that of a handler. */
static void take_back(void)
{
	e.state->unwinding = 0;
	take_event();
	if (e.is_armed && is_other(CAIRN_OTHER_ENV))
		take_other();
}

/* Is an input of one of its cells next? */
static bool has_result(struct result r)
{
	return e.is_armed && e.event.kind == CAIRN_EVENT_IN &&
	       e.event.cell - r.cell < 8 * r.n;
}

/* What foreign code did, up to where replay code goes on: a result is the last
 * thing. */
static void run_foreign(const struct caller *from, struct result result)
{
	follow_fork(true);
	while (e.is_armed && !e.state->unwinding) {
		e.caller = from->cell;
		e.site = from->site;
		if (e.event.kind == CAIRN_EVENT_CALLBACK) {
			run_callback(from);
		} else if (is_other(CAIRN_OTHER_END)) {
			stop(0, ENGINE_ENDED);
		} else if (is_lost() || is_last() || is_leaving()) {
			if (is_last() || e.held != KNOWN)
				return; /* it may have come back */
			break_off();
		} else if (!recording_has_cell(&e.event)) {
			take_other();
		} else {
			while (has_result(result))
				engine_in(e.event.cell, 0);
			return;
		}
		follow_fork(true);
	}
	if (!e.is_saving)
		look_back();
}

static void foreign(uint64_t cell, uint64_t what)
{
	const struct caller from = caller_of(cell, what);

	if (e.watch)
		e.watch(tick_now(), e.state->callee, e.state->args,
		        (unsigned)e.state->nargs);
	run_foreign(&from, result_of(cell, what));
}

static void handed(uint64_t cell, uint64_t what)
{
	const struct caller from = take_handed();

	run_foreign(&from, result_of(cell, what));
}

/* A site that has no number and no result. */
static void run_outside(uint64_t cell)
{
	const struct caller from = {cell, UINT32_MAX};

	run_foreign(&from, (struct result){cell, 0});
}

static void env(uint64_t cell)
{
	run_outside(cell);
}

static void copy(uint64_t cell, uint64_t dst, uint64_t src, uint64_t n)
{
	if (e.state->next_cell == cell)
		engine_in(cell, src);
	if (is_lost())
		return;
	memmove(shadow_at(dst), shadow_at(src), n);
	note_seen(src, n);
	note_seen(dst, n);
}

/* Are the 8 bytes from p on in one page?  Behind that nothing need be. */
static bool is_within_page(const unsigned char *p)
{
	return ((uintptr_t)p & (SHADOW_PAGE - 1)) <= SHADOW_PAGE - 8;
}

/* How many bytes at the beginning are surely the same. */
static uint64_t count_same(const unsigned char *p, const unsigned char *q,
                           uint64_t n)
{
	uint64_t i = 0;

	while (n - i >= 8 && is_within_page(p + i) && is_within_page(q + i) &&
	       !memcmp(p + i, q + i, 8))
		i += 8;
	return i;
}

/* Byte differences, as the recorder has them. */
static uint64_t compare(uint64_t a, uint64_t b, uint64_t n, bool is_string)
{
	const unsigned char *p = shadow_at(a), *q = shadow_at(b);
	uint64_t i = is_string ? 0 : count_same(p, q, n);

	for (; i < n; i++)
		if (p[i] != q[i] || (is_string && !p[i]))
			return (uint64_t)(p[i] - q[i]);
	return 0;
}

static uint64_t find_byte(uint64_t a, uint64_t c, uint64_t n, bool is_string)
{
	const unsigned char *p = shadow_at(a);
	uint64_t i = 0;

	while (i < n && p[i] != (unsigned char)c && (p[i] || !is_string))
		i++;
	return i < n && p[i] == (unsigned char)c ? a + i : 0;
}

static uint64_t read_memory(uint64_t cell, uint64_t what, uint64_t a,
                            uint64_t b, uint64_t n)
{
	for (;;) { /* in whatever order it looked at them */
		if (e.state->next_cell == cell)
			engine_in(cell, a);
		else if (e.state->next_cell == cell + 8)
			engine_in(cell + 8, b);
		else
			break;
	}
	if (is_lost())
		return 0;
	switch (what) {
	case CAIRN_READ_STRCMP:
		return compare(a, b, UINT64_MAX, true);
	case CAIRN_READ_STRNCMP:
		return compare(a, b, n, true);
	case CAIRN_READ_MEMCMP:
		return compare(a, b, n, false);
	case CAIRN_READ_STRLEN:
		return find_byte(a, 0, UINT64_MAX, true) - a;
	case CAIRN_READ_STRCHR:
		return find_byte(a, b, UINT64_MAX, true);
	default:
		return find_byte(a, b, n, false);
	}
}

static void set(uint64_t dst, uint64_t c, uint64_t n)
{
	if (is_lost())
		return;
	memset(shadow_at(dst), (int)c, n);
	note_seen(dst, n);
}

/* Requires: unwinding is this cell.  The tick before it has armed the event. */
static void land(uint64_t cell)
{
	cannot_save();
	if (!e.is_armed || e.event.kind != CAIRN_EVENT_BACK ||
	    e.event.cell != cell || e.state->unwinding != cell)
		diverge(cell, 0, "a landing pad is reached");
	take_back();
}

static void again(uint64_t cell, uint64_t frame)
{
	cannot_save();
	if (!e.is_armed || e.event.kind != CAIRN_EVENT_BACK ||
	    e.event.cell != cell || e.event.frame != frame)
		diverge(cell, 0, "a call returns once more");
	take_back();
}

static void resume(uint64_t cell)
{
	cannot_save();
	run_outside(cell);
	if (!e.state->unwinding)
		diverge(cell, 0, "an exception is passed on");
}

static void fault_here(void)
{
	come_to(SIGFPE, 0);
	break_off();
}

static void stop_here(uint64_t cell, uint64_t line)
{
	e.state->line = (uint32_t)line;
	come_to(SIGILL, 0);
	break_off();
	if (e.state->unwinding)
		return;
	diverge(cell, line, "it comes to a place that ends the program");
}

void engine_note_seen(void)
{
	e.notes_seen = true;
}

bool engine_has_doubts(void)
{
	return e.has_doubts;
}

bool engine_has_forgotten(void)
{
	return e.has_forgotten;
}

uint64_t engine_untold(void)
{
	return e.nuntold;
}

_Noreturn void engine_pause(void)
{
	stop(0, ENGINE_PAUSED);
}

_Noreturn void engine_differ(const char *what)
{
	diverge(0, 0, what);
}

static void tell(uint64_t id)
{
	e.has_told |= is_leaving();
	if (is_lost())
		e.nuntold += !is_past();
	else if (e.tell && !e.is_trying)
		e.tell(e.listener, id, tick_now(), e.state->args);
}

const struct engine_symbol *engine_symbols(size_t *n)
{
	static struct engine_symbol symbols[32];
	size_t k = 0;

#define SYMBOL(name, target) \
	symbols[k++] = (struct engine_symbol){name, (uint64_t)(target)}
	SYMBOL(REPLAY_STATE, (uintptr_t)e.state);
	SYMBOL(REPLAY_ARM, (uintptr_t)replay_stub_arm);
	SYMBOL(REPLAY_IN, (uintptr_t)replay_stub_in);
	SYMBOL(REPLAY_FIND, (uintptr_t)find);
	SYMBOL(REPLAY_FOREIGN, (uintptr_t)foreign);
	SYMBOL(REPLAY_HANDED, (uintptr_t)handed);
	SYMBOL(REPLAY_COPY, (uintptr_t)copy);
	SYMBOL(REPLAY_SET, (uintptr_t)set);
	SYMBOL(REPLAY_READ, (uintptr_t)read_memory);
	SYMBOL(REPLAY_ENV, (uintptr_t)env);
	SYMBOL(REPLAY_FAULT, (uintptr_t)fault_here);
	SYMBOL(REPLAY_LAND, (uintptr_t)land);
	SYMBOL(REPLAY_AGAIN, (uintptr_t)again);
	SYMBOL(REPLAY_RESUME, (uintptr_t)resume);
	SYMBOL(REPLAY_STOP, (uintptr_t)stop_here);
	SYMBOL(REPLAY_TELL, (uintptr_t)tell);
	SYMBOL(REPLAY_STEPS, (uintptr_t)replay_stub_steps);
	SYMBOL(REPLAY_WROTE, (uintptr_t)wrote);
	SYMBOL(REPLAY_SAVE, (uintptr_t)save);
	SYMBOL(REPLAY_LOST, (uintptr_t)lost);
	SYMBOL(REPLAY_TAKE, (uintptr_t)take);
	SYMBOL(REPLAY_NEXT, (uintptr_t)next);
	SYMBOL(REPLAY_BACK, (uintptr_t)back);
#undef SYMBOL
	*n = k;
	return symbols;
}

/* --- a context ----------------------------------------------------------- */

/* Foreign code is below all frames: events until the end. */
static void run_context(void)
{
	const struct caller outermost = {0, 0};

	for (;;) {
		const struct recording_event *v = &e.event;

		if (e.is_saving)
			end_saving();
		if (e.state->unwinding)
			diverge(0, 0, "no frame has what is reached");
		follow_fork(true);
		if (!e.is_armed)
			diverge(0, 0, "nothing is left to run");
		if (v->kind == CAIRN_EVENT_CALLBACK) {
			run_callback(&outermost);
		} else if (recording_has_cell(v)) {
			diverge(0, 0, "nothing is left to run");
		} else if (v->what == CAIRN_OTHER_END) {
			stop(0, ENGINE_ENDED);
		} else if (is_last()) {
			stop(0, ENGINE_STOPPED);
		} else {
			e.caller = 0;
			take_other();
		}
	}
}

static void forget_found(void)
{
	madvise(e.state->found, sizeof(e.state->found), MADV_DONTNEED);
	e.nfound = 0;
}

static void reset(void)
{
	program_clear_cells(e.program);
	shadow_clear();
	memset(e.state, 0, offsetof(struct replay_state, found));
	forget_found();
	e.state->step = e.steps;
	e.state->steps_end = e.steps + NSTEPS;
	set_env(CAIRN_ENV_DEFAULT);
	e.nevents = 0;
	e.has_forgotten = e.has_doubts = false;
	e.is_held = e.has_told = false;
	e.held = DOUBTFUL;
	e.is_forking = false;
	e.order = e.raised = 0;
	e.turn.order = 0;
	e.ncame = 0;
	e.state->watched = e.watched;
	e.state->nwatched = e.nwatched;
	e.event = (struct recording_event){.kind = CAIRN_EVENT_OTHER};
	e.is_armed = true;
	if (!e.reached)
		e.target = UINT64_MAX;
}

static void *run_thread(void *unused)
{
	(void)unused;
	e.code = shadow_open(fault, e.err);
	if (e.code < 0)
		return NULL;
	reset();
	e.is_running = true;
	if (!sigsetjmp(e.stop, 1)) {
		if (e.start) {
			begin_at(e.start);
			run_callback_again();
		} else {
			take_event();
		}
		run_context();
	}
	e.is_running = false;
	shadow_permit();
	follow_fork(false);
	if (e.is_held && e.held == DOUBTFUL)
		e.state->step = e.steps; /* it may not have come so far */
	engine_take_steps();
	set_env(CAIRN_ENV_DEFAULT);
	shadow_close();
	return NULL;
}

/* Recorded programs may have had more stack than we have. */
static int run_on_stack(void *stack)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int rc;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, STACK_SIZE);
	rc = pthread_create(&thread, &attributes, run_thread, NULL);
	pthread_attr_destroy(&attributes);
	if (rc)
		return cairn_fail(e.err, CAIRN_E_SYSTEM, "pthread_create: %s",
		                  strerror(rc));
	pthread_join(thread, NULL);
	return e.code;
}

int engine_open(struct program *p, const struct engine_compiler *compiler,
                struct cairn_err *err)
{
	e.state = arena_take(sizeof(*e.state));
	if (!e.state)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "no memory is left below 2 GiB");
	CAIRN_TRY(
	        arena_seal(e.state->found, sizeof(e.state->found), false, err));
	e.program = p;
	e.compiler = compiler;
	e.steps = xcalloc(NSTEPS, sizeof(*e.steps));
	return 0;
}

void engine_watch(void (*call)(uint64_t tick, uint64_t callee,
                               const uint64_t *args, unsigned nargs))
{
	e.watch = call;
}

void engine_listen(void (*tell)(void *context, uint64_t id, uint64_t tick,
                                const uint64_t *args),
                   void *context)
{
	e.tell = tell;
	e.listener = context;
}

void engine_follow(const struct engine_follower *follower)
{
	e.follower = follower;
}

void engine_listen_output(void (*output)(void *context,
                                         const struct engine_output *o),
                          void *context)
{
	e.output = output;
	e.output_listener = context;
}

void engine_listen_writes(uint64_t at, uint64_t n,
                          void (*told)(void *context,
                                       const struct engine_write *w),
                          void *context)
{
	e.watched = at;
	e.nwatched = n;
	e.wrote = told;
	e.wrote_listener = context;
}

void engine_listen_numbers(void (*numbered)(void *context, uint64_t number,
                                            uint64_t own),
                           void *context)
{
	e.numbered = numbered;
	e.number_listener = context;
}

void engine_interrupt(const struct engine_came *came, size_t n)
{
	e.came = came;
	e.nall_came = n;
}

void engine_close(void)
{
	forget_again();
	free(e.again);
	free(e.left);
	free(e.frames.data);
	free(e.steps);
	memset(&e, 0, sizeof(e));
}

int engine_run(const struct engine_log *log, const struct engine_start *start,
               struct engine_result *result, struct cairn_err *err)
{
	void *stack = mmap(
	        NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	int rc;

	if (stack == MAP_FAILED)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "no room for the stack of a replay; raise "
		                  "ulimit -v");
	e.log = log;
	e.start = start;
	e.err = err;
	rc = run_on_stack(stack);
	munmap(stack, STACK_SIZE);
	*result = (struct engine_result){e.end, tick_now(), e.nevents,
	                                 start ? start->moment->tick : 0};
	return rc;
}
