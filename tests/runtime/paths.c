/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that counts paths by hand: in tables, from several threads, from
 * signal handlers at every instruction, over fork; and whose frames have path
 * registers, in all places that a compiler may put them.
 *
 * Where it knows what must be in the file it says so, in the words of dump.py;
 * run.sh compares.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "marks.h"

#define NOINLINE __attribute__((noinline))
#define TRAP_FLAG 0x100

TABLE(table);
TABLE(other);

uint64_t slow_calls;

/* --- what must be in the file --------------------------------------------- */

static uint64_t total, sum;

static void expect(uint64_t path)
{
	__atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sum, path, __ATOMIC_RELAXED);
}

NOINLINE static void count_path(uint64_t path)
{
	ENTER();
	COUNT_PATH(table, path);
}

static void count_expected(uint64_t path)
{
	expect(path);
	count_path(path);
}

static void say(void)
{
	printf("paths table %" PRIu64 " * %" PRIu64 "\n", total, sum);
	fflush(stdout);
}

/* --- keys ----------------------------------------------------------------- */

static uint64_t mix(uint64_t z)
{
	z = (z + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
	return z ^ z >> 32;
}

/* A path of n: number k as often as 1/k, spread over 2^59 numbers. */
static uint64_t skewed(uint64_t *state, uint64_t n)
{
	static double sums[20001];
	static uint64_t for_n;
	uint64_t lo = 1, hi = n;
	double x;

	if (for_n != n) {
		for (uint64_t i = 1; i <= n; i++)
			sums[i] = sums[i - 1] + 1.0 / (double)i;
		for_n = n;
	}
	*state = mix(*state);
	x = (double)(*state >> 11) * 0x1p-53 * sums[n];
	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;

		if (sums[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return mix(lo) >> 5;
}

static uint64_t even(uint64_t *state, uint64_t n)
{
	*state = mix(*state);
	return mix(*state % n) >> 5;
}

/* --- threads and a handler ------------------------------------------------ */

static volatile sig_atomic_t nsignals;
static __thread volatile uint64_t handler_state;

NOINLINE static void on_alarm(int sig)
{
	(void)sig;
	handler_state = mix(handler_state);
	for (uint64_t i = 0; i < 3; i++)
		count_expected(mix(handler_state % 2000 + i) >> 5);
	nsignals++;
}

static void start_timer(void)
{
	struct itimerval every = {{0, 100}, {0, 100}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void stop_timer(void)
{
	struct itimerval never = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
}

static void *thread_counts(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed;

	for (int i = 0; i < 500000; i++)
		count_expected(skewed(&state, 2000));
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];
	uint64_t state = 0;

	skewed(&state, 2000);
	start_timer();
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 4; i++)
			if (pthread_create(&t[i], NULL, thread_counts,
			                   (void *)(uintptr_t)(i + 1)))
				abort();
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
	stop_timer();
	if (nsignals < 100)
		exit(1);
	say();
}

/* killed in the middle: the file has what was counted */
static void killed(void)
{
	for (uint64_t i = 0; i < 3000; i++)
		count_expected(mix(i % 300) >> 5);
	say();
	raise(SIGKILL);
}

/* --- the share of calls --------------------------------------------------- */

static void share(const char *what, uint64_t n,
                  uint64_t (*key)(uint64_t *, uint64_t))
{
	const uint64_t ncounts = 10000000;
	static uint64_t keys[1 << 16];
	uint64_t state = 1, before = slow_calls;

	for (uint64_t i = 0; i < 1 << 16; i++)
		keys[i] = key(&state, n);
	for (uint64_t i = 0; i < ncounts; i++) {
		if (!(i & 0xffff) && n > 1000)
			for (uint64_t k = 0; k < 1 << 16; k++)
				keys[k] = key(&state, n);
		count_path(keys[i & 0xffff]);
	}
	printf("share %s %" PRIu64 " %.4f %%\n", what, n,
	       (double)(slow_calls - before) * 100 / (double)ncounts);
}

static void share_skewed(void)
{
	uint64_t n = strtoull(getenv("NKEYS"), NULL, 10);

	share("skewed", n, skewed);
}

static void share_even(void)
{
	uint64_t n = strtoull(getenv("NKEYS"), NULL, 10);

	share("even", n, even);
}

/* --- a handler at every instruction --------------------------------------- */

static void (*in_step)(void);
static volatile int nsteps, nchildren;
static volatile sig_atomic_t is_child, is_enough;

/* The trap flag is the handler's to keep: it is in the flags it returns to. */
NOINLINE static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	nsteps++;
	in_step();
	if (is_child || is_enough)
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static inline __attribute__((always_inline)) void step_begin(void)
{
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::
	                         : "memory", "cc");
}

static inline __attribute__((always_inline)) void step_end(void)
{
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::
	                         : "memory", "cc");
}

static void set_step(void (*f)(void))
{
	struct sigaction a = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	in_step = f;
	sigaction(SIGTRAP, &a, NULL);
}

/* One count with a handler after each instruction that may be one: not where
 * the runtime blocks signals, which is where it adds a table. */
NOINLINE static void count_stepped(uint64_t path)
{
	ENTER();
	expect(path);
	step_begin();
	COUNT_PATH(table, path);
	step_end();
}

static uint64_t nth;

static void count_others(void)
{
	count_expected(1000);
	count_expected(1000 + nth++ % 60);
}

static void count_the_same(void)
{
	count_expected(nth);
}

/* A table of 64 slots or more, of which no more than a few are taken. */
static void make_room(void)
{
	for (uint64_t i = 0; i < 6; i++)
		count_expected(mix(i));
}

static void steps(void)
{
	make_room();
	set_step(count_the_same);
	for (nth = 2000; nth < 2006; nth++) {
		count_stepped(nth); /* makes a slot, or finds it made */
		count_stepped(nth); /* finds it */
	}
	/* the handler has the table replaced under the count */
	set_step(count_others);
	nth = 0;
	for (uint64_t i = 0; i < 20; i++)
		count_stepped(3000 + i);
	for (uint64_t i = 0; i < 20; i++)
		count_stepped(3000 + i);
	if (nsteps < 500)
		exit(1);
	say();
}

/* How often a path was counted, all of it in this process. */
static uint64_t counted(const uint64_t *words, uint64_t path)
{
	const uint64_t *slots =
	        (const uint64_t *)((uintptr_t)&words[3] + words[2]);

	for (uint64_t i = 0; words[2] && i < words[1] + 16; i += 16)
		if (slots[i / 8] == path + 1)
			return slots[i / 8 + 1];
	return 0;
}

static uint64_t stepped_path, before_step;

/* A child goes on from here: it has to count the path if we had not. */
NOINLINE static void fork_child(void)
{
	ENTER();
	int status;
	uint64_t now = counted(WORDS(table), stepped_path);
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		is_child = 1 + (now == before_step);
		return;
	}
	nchildren++;
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		exit(2);
}

NOINLINE static void count_forking(uint64_t path)
{
	ENTER();
	expect(path);
	stepped_path = path;
	before_step = counted(WORDS(table), path);
	step_begin();
	COUNT_PATH(table, path);
	step_end();
	if (is_child) {
		uint64_t n = counted(WORDS(table), path);

		printf("paths table %d * %" PRIu64 "\n", is_child - 1,
		       is_child > 1 ? path : 0);
		fflush(stdout);
		_exit(n != (uint64_t)is_child - 1);
	}
}

static void fork_steps(void)
{
	make_room();
	set_step(fork_child);
	count_forking(mix(0)); /* at home, or found behind it */
	count_forking(7);
	count_forking(7);
	if (nchildren < 60)
		exit(1);
	say();
}

/* a child of its own accord: its tables are new */
static void forks(void)
{
	int status;
	pid_t pid;

	for (uint64_t i = 0; i < 1000; i++)
		count_expected(mix(i) >> 5);
	pid = fork();
	if (pid == 0) {
		total = sum = 0;
		for (uint64_t i = 500; i < 1500; i++)
			count_expected(mix(i) >> 5);
		say();
		return;
	}
	waitpid(pid, &status, 0);
	for (uint64_t i = 0; i < 1000; i++)
		count_expected(mix(i) >> 5);
	say();
}

/* --- what the call leaves alone ------------------------------------------- */

/* Counts with known values in all registers that C code may change; false if
 * one has another value then. */
NOINLINE static int keeps_registers(uint64_t path)
{
	ENTER();
	uint64_t bad = 0, saved_sp = 0;
	uint64_t *words = WORDS(table);

	expect(path++);
	__asm__ volatile(
	        "leaq -256(%%rsp), %%rsp\n\t"
	        "movl $1, %%eax\n\tmovl $2, %%ecx\n\tmovl $3, %%edx\n\t"
	        "movl $8, %%r8d\n\tmovl $9, %%r9d\n\tmovl $10, %%r10d\n\t"
	        "movl $11, %%r11d\n\tmovl $12, %%r12d\n\tmovl $13, %%ebx\n\t"
	        "movq %%rax, %%xmm0\n\tmovq %%rcx, %%xmm7\n\t"
	        "movq %%rdx, %%xmm15\n\tfld1\n\t"
	        "call __cairn_count_path\n\t"
	        "xorq $1, %%rax\n\txorq $2, %%rcx\n\txorq $3, %%rdx\n\t"
	        "xorq $8, %%r8\n\txorq $9, %%r9\n\txorq $10, %%r10\n\t"
	        "xorq $11, %%r11\n\txorq $12, %%r12\n\txorq $13, %%rbx\n\t"
	        "orq %%rcx, %%rax\n\torq %%rdx, %%rax\n\torq %%r8, %%rax\n\t"
	        "orq %%r9, %%rax\n\torq %%r10, %%rax\n\torq %%r11, %%rax\n\t"
	        "orq %%r12, %%rax\n\torq %%rbx, %%rax\n\t"
	        "movq %%xmm0, %%rcx\n\txorq $1, %%rcx\n\torq %%rcx, %%rax\n\t"
	        "movq %%xmm7, %%rcx\n\txorq $2, %%rcx\n\torq %%rcx, %%rax\n\t"
	        "movq %%xmm15, %%rcx\n\txorq $3, %%rcx\n\torq %%rcx, %%rax\n\t"
	        "fistpll (%%rsp)\n\tmovq (%%rsp), %%rcx\n\txorq $1, %%rcx\n\t"
	        "orq %%rcx, %%rax\n\t"
	        "leaq 256(%%rsp), %%rsp"
	        : "=&a"(bad), "+D"(words), "+S"(path), "+m"(saved_sp)
	        :
	        : "rcx", "rdx", "rbx", "r8", "r9", "r10", "r11", "r12", "xmm0",
	          "xmm7", "xmm15", "memory", "cc");
	return !bad;
}

static void registers(void)
{
	for (uint64_t i = 0; i < 3000; i++)
		if (!keeps_registers(mix(i % 700)))
			exit(1);
	say();
}

/* --- frames with path registers ------------------------------------------- */

typedef void action(void);

/* Each calls `next` with its path register `value` in its own place. */
void in_rbx(uint64_t value, action *next) __attribute__((visibility("hidden")));
void in_r15(uint64_t value, action *next) __attribute__((visibility("hidden")));
void at_rsp(uint64_t value, action *next) __attribute__((visibility("hidden")));
void at_rbp(uint64_t value, action *next) __attribute__((visibility("hidden")));
void nowhere(uint64_t value, action *next)
        __attribute__((visibility("hidden")));
void in_rbp(uint64_t value, action *next) __attribute__((visibility("hidden")));
void in_r12(uint64_t value, action *next) __attribute__((visibility("hidden")));
void in_r13(uint64_t value, action *next) __attribute__((visibility("hidden")));
void in_r14(uint64_t value, action *next) __attribute__((visibility("hidden")));
/* has none, and puts other things in all registers */
void in_none(uint64_t value, action *next)
        __attribute__((visibility("hidden")));

#define FUNCTION(name, prologue, epilogue, entry)                         \
	__asm__(".text\n.globl " name "\n.hidden " name "\n.type " name   \
	        ", @function\n" name ":\n\t.cfi_startproc\n\t"            \
	        ".cfi_personality 0x9b, personality_pointer\n\t" prologue \
	        "call *%rsi\n77:\n\t" epilogue "ret\n\t.cfi_endproc\n"    \
	        ".size " name ", .-" name "\n" entry)
#define ENTRY(place)                                                      \
	".pushsection cairn_regs,\"ao\",@progbits,.text\n\t.balign 8\n\t" \
	".long 77b - .\n\t.long " place "\n\t.popsection\n"

__asm__(".pushsection .data.rel.ro,\"aw\",@progbits\n.balign 8\n"
        "personality_pointer:\n\t.quad __cairn_personality\n.popsection\n");
#define IN_REGISTER(reg, number)                                         \
	FUNCTION("in_" reg,                                              \
	         "pushq %" reg "\n\t.cfi_def_cfa_offset 16\n\t"          \
	         ".cfi_offset %" reg ", -16\n\tmovq %rdi, %" reg "\n\t", \
	         "popq %" reg "\n\t.cfi_def_cfa_offset 8\n\t",           \
	         ENTRY(number " + 16"))

IN_REGISTER("rbx", "3");
IN_REGISTER("rbp", "6");
IN_REGISTER("r12", "12");
IN_REGISTER("r13", "13");
IN_REGISTER("r14", "14");
IN_REGISTER("r15", "15");
FUNCTION("in_none",
         "pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t"
         "pushq %r15\n\t.cfi_def_cfa_offset 24\n\t"
         "pushq %r14\n\t.cfi_def_cfa_offset 32\n\t"
         "pushq %r13\n\t.cfi_def_cfa_offset 40\n\t"
         "pushq %r12\n\t.cfi_def_cfa_offset 48\n\t"
         "pushq %rbx\n\t.cfi_def_cfa_offset 56\n\t"
         "pushq %rdi\n\t.cfi_def_cfa_offset 64\n\t"
         ".cfi_offset %rbp, -16\n\t.cfi_offset %r15, -24\n\t"
         ".cfi_offset %r14, -32\n\t.cfi_offset %r13, -40\n\t"
         ".cfi_offset %r12, -48\n\t.cfi_offset %rbx, -56\n\t"
         "movl $1, %ebx\n\tmovl $2, %ebp\n\tmovl $3, %r12d\n\t"
         "movl $4, %r13d\n\tmovl $5, %r14d\n\tmovl $6, %r15d\n\t",
         "popq %rdi\n\t.cfi_def_cfa_offset 56\n\t"
         "popq %rbx\n\t.cfi_def_cfa_offset 48\n\t"
         "popq %r12\n\t.cfi_def_cfa_offset 40\n\t"
         "popq %r13\n\t.cfi_def_cfa_offset 32\n\t"
         "popq %r14\n\t.cfi_def_cfa_offset 24\n\t"
         "popq %r15\n\t.cfi_def_cfa_offset 16\n\t"
         "popq %rbp\n\t.cfi_def_cfa_offset 8\n\t",
         "");
FUNCTION("at_rsp",
         "subq $40, %rsp\n\t.cfi_def_cfa_offset 48\n\t"
         "movq %rdi, 24(%rsp)\n\t",
         "addq $40, %rsp\n\t.cfi_def_cfa_offset 8\n\t", ENTRY("7 + (24 << 5)"));
FUNCTION("at_rbp",
         "pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\t"
         "movq %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n\t"
         "subq $32, %rsp\n\tmovq %rdi, -24(%rbp)\n\t",
         "leave\n\t.cfi_def_cfa %rsp, 8\n\t", ENTRY("6 + (-24 << 5)"));
FUNCTION("nowhere",
         "pushq %rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbx, -16\n\t"
         "movq %rdi, %rbx\n\t",
         "popq %rbx\n\t.cfi_def_cfa_offset 8\n\t", "");

static action *last;
static uint64_t base;

/* base + 1 to base + 5, one in each */
static void fifth(void)
{
	at_rbp(base + 5, last);
}

static void fourth(void)
{
	at_rsp(base + 4, fifth);
}

static void third(void)
{
	in_r15(base + 3, fourth);
}

static void second(void)
{
	nowhere(base + 2, third);
}

NOINLINE static void nested(void)
{
	ENTER();
	COUNT_PATH(other, 0);
	in_rbx(base + 1, second);
}

static jmp_buf env;

static void leave_exit(void)
{
	exit(3);
}

static void leave_jump(void)
{
	longjmp(env, 1);
}

static void leave_abort(void)
{
	abort();
}

static void *leave_thread(void *unused)
{
	(void)unused;
	nested();
	return NULL;
}

static void end_thread(void)
{
	pthread_exit(NULL);
}

static void frames_exit(void)
{
	base = 1000;
	last = leave_exit;
	nested();
}

static void frames_abort(void)
{
	base = 1000;
	last = leave_abort;
	nested();
}

/* a hundred places, ten times each */
static void frames_jump(void)
{
	volatile int n = 0;

	last = leave_jump;
	setjmp(env);
	if (n < 1000) {
		base = (uint64_t)(n % 100) * 10;
		n++;
		nested();
	}
}

/* only what the short way of the runtime can look at */
static void frames_near(void)
{
	volatile int n = 0;

	ENTER();
	COUNT_PATH(other, 0);
	setjmp(env);
	if (n < 1000) {
		n++;
		at_rsp((uint64_t)n, leave_jump);
	}
}

/* --- jumps over many kinds of frames -------------------------------------- */

static struct kind {
	const char *name;
	void (*call)(uint64_t value, action *next);
	uint64_t n, sum;
} kinds[] = {
        {"in_rbx", in_rbx, 0, 0},   {"in_rbp", in_rbp, 0, 0},
        {"in_r12", in_r12, 0, 0},   {"in_r13", in_r13, 0, 0},
        {"in_r14", in_r14, 0, 0},   {"in_r15", in_r15, 0, 0},
        {"at_rsp", at_rsp, 0, 0},   {"at_rbp", at_rbp, 0, 0},
        {"in_none", in_none, 0, 0},
};

#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What is on the stack of a jump: `left` more frames, then out of all. */
static struct {
	unsigned left, nkinds;
	bool is_stepped;
	jmp_buf *env;
} pile;

static uint64_t any; /* the state of a generator of random numbers */

static uint64_t some(uint64_t n)
{
	any = any * 6364136223846793005u + 1442695040888963407u;
	return (any >> 33) % n;
}

NOINLINE static void pile_up(void)
{
	struct kind *k = &kinds[some(pile.nkinds)];
	uint64_t value = some(4) * 1000 + (uint64_t)(k - kinds);

	if (pile.left-- > 0) {
		k->n++;
		k->sum += value;
		k->call(value, pile_up);
	}
	if (pile.is_stepped)
		step_begin();
	longjmp(*pile.env, 1);
}

/* Of so many frames; with a handler at every instruction of the jump or not. */
NOINLINE static void pile_and_jump(unsigned n, bool is_stepped)
{
	jmp_buf here;

	pile.left = n;
	pile.env = &here;
	pile.is_stepped = is_stepped;
	if (!setjmp(here))
		pile_up();
	if (is_stepped)
		step_end();
}

static void say_kinds(void)
{
	for (size_t i = 0; i < NKINDS; i++)
		printf("frame OUT %s %" PRIu64 "\n", kinds[i].name, kinds[i].n);
	for (size_t i = 0; i < NKINDS - 1; i++)
		printf("register OUT %s %" PRIu64 "\n", kinds[i].name,
		       kinds[i].sum);
}

/* up to more frames than a plan has room for */
static void frames_random(void)
{
	ENTER();
	COUNT_PATH(other, 0);
	pile.nkinds = NKINDS;
	for (int i = 0; i < 20000; i++)
		pile_and_jump((unsigned)some(i % 10 ? 8 : 50), false);
	say_kinds();
}

static int jump_at; /* the step, or -1: all */

static void jump_too(void)
{
	jmp_buf *env_before = pile.env;

	if (jump_at >= 0 && nsteps != jump_at)
		return;
	pile_and_jump((unsigned)some(4), false);
	pile.env = env_before;
	is_enough = jump_at >= 0;
}

/*
 * A handler that jumps over the same places, at every instruction of jumps that
 * are new to the runtime; then at one instruction each of jumps that are not,
 * which otherwise go the short way.
 */
static void jump_steps(void)
{
	ENTER();
	COUNT_PATH(other, 0);
	pile.nkinds = 1;
	pile_and_jump(3, false);
	pile.nkinds = NKINDS;
	set_step(jump_too);
	jump_at = -1;
	for (unsigned i = 0; i < 3; i++)
		pile_and_jump(1 + i, true);
	if (nsteps < 5000)
		exit(1);
	pile.nkinds = 3;
	for (int i = 0; i < 1000; i++) {
		nsteps = is_enough = 0;
		jump_at = i % 250;
		pile_and_jump(3, true);
	}
	say_kinds();
}

static void frames_thread(void)
{
	pthread_t t;

	base = 1000;
	last = end_thread;
	if (pthread_create(&t, NULL, leave_thread, NULL))
		abort();
	pthread_join(t, NULL);
}

static void leave_fork(void)
{
	int status;
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, &status, 0);
}

static void frames_fork(void)
{
	base = 1000;
	last = leave_fork;
	nested();
}

/* as many frames as a table has no room for, inherited by the child */
static void recurse(void)
{
	base++;
	if (base < 2000)
		in_rbx(base, recurse);
	else
		leave_fork();
}

static void frames_many(void)
{
	ENTER();
	COUNT_PATH(other, 0);
	base = 1000;
	recurse();
}

static void leave_exec(void)
{
	execl("/nonexistent/program", "x", (char *)NULL);
}

static void frames_exec(void)
{
	base = 1000;
	last = leave_exec;
	nested();
}

/* a library that comes again, at another address */
static void library(void)
{
	void (*count)(uint64_t), (*frame)(uint64_t, action *);
	Dl_info at;
	void *h, *before = NULL;

	for (int round = 0; round < 3; round++) {
		h = dlopen("./lib_paths.so", RTLD_NOW);
		if (!h)
			exit(1);
		*(void **)&count = dlsym(h, "lib_count");
		*(void **)&frame = dlsym(h, "lib_frame");
		if (!dladdr(*(void **)&count, &at) || at.dli_fbase == before)
			exit(2);
		before = at.dli_fbase;
		for (uint64_t i = 0; i < 100; i++)
			count(i);
		if (!setjmp(env))
			frame(10, leave_jump);
		if (round == 2)
			frame(20, leave_exit);
		dlclose(h);
		/* something else takes its place */
		if (mmap(before, 4096, PROT_NONE,
		         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		         0) != before)
			exit(4);
	}
}

/* A handler at every instruction, the tables of frames with registers. */
void __cairn_core_dying(uintptr_t pc, _Bool between, const void *exception,
                        _Bool lands, uint64_t reg);

uint32_t __cairn_core_register(uintptr_t pc);

static volatile uint64_t ndead, sum_dead;
static uintptr_t site;

static void note_site(void)
{
	site = (uintptr_t)__builtin_return_address(0);
}

/* As a personality routine says it. */
static inline __attribute__((always_inline)) void tell(uint64_t reg)
{
	if (__cairn_core_register(site) == (3 | 16))
		__cairn_core_dying(site, 0, NULL, 0, reg);
}

static void die(uint64_t reg)
{
	ndead++;
	sum_dead += reg - 1;
	tell(reg);
}

static void die_too(void)
{
	/* every second time not everywhere, which would keep the runtime from
	 * remembering anything */
	if (nth % 2 == 0 || nsteps % 31 == 0)
		die(1 + nth % 40 + (uint64_t)nsteps / 2 % 2);
}

static void frames_steps(void)
{
	ENTER();
	COUNT_PATH(other, 0);
	in_rbx(0, note_site);
	die(1);
	set_step(die_too);
	for (nth = 0; nth < 200; nth++) {
		ndead++;
		sum_dead += nth % 40;
		step_begin();
		tell(1 + nth % 40);
		step_end();
	}
	printf("frame OUT in_rbx %" PRIu64 "\n", (uint64_t)ndead);
	printf("register OUT in_rbx %" PRIu64 "\n", (uint64_t)sum_dead);
}

static const struct {
	const char *name;
	action *run;
} modes[] = {
        {"threads", threads},
        {"killed", killed},
        {"share_skewed", share_skewed},
        {"share_even", share_even},
        {"steps", steps},
        {"fork_steps", fork_steps},
        {"forks", forks},
        {"registers", registers},
        {"frames_exit", frames_exit},
        {"frames_abort", frames_abort},
        {"frames_jump", frames_jump},
        {"frames_near", frames_near},
        {"frames_random", frames_random},
        {"jump_steps", jump_steps},
        {"frames_thread", frames_thread},
        {"frames_fork", frames_fork},
        {"frames_many", frames_many},
        {"frames_exec", frames_exec},
        {"frames_steps", frames_steps},
        {"library", library},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc < 2 || strcmp(argv[1], modes[i].name))
			continue;
		modes[i].run();
		return 0;
	}
	return 99;
}
