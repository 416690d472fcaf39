/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tail calls: deep ones in threads whose stack is small, and what they end in:
 * functions known, of anything, and foreign ones that come back, call
 * back, jump.  Only calls that the language guarantees are deep at -O0.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifdef __OPTIMIZE__
#define STEPS GUARANTEED
#else
#define STEPS 100
#endif
#define GUARANTEED steps
#define TAIL __attribute__((musttail))
#define NOINLINE __attribute__((noinline))

typedef long op(long n, long s);

static long steps = 20000;
static volatile long sum;

/* --- known, and through a table ------------------------------------------- */

static op even, odd;
NOINLINE static long even(long n, long s)
{
	return n ? odd(n - 1, s + n) : s;
}

NOINLINE static long odd(long n, long s)
{
	return n ? even(n - 1, s ^ n) : -s;
}

static op step, jump, stop;
static op *table[] = {step, jump, stop};

static long step(long n, long s)
{
	if (!n)
		TAIL return stop(n, s);
	sum += s & 3;
	TAIL return table[s % 2](n - 1, s + 1);
}

static long jump(long n, long s)
{
	long here[2] = {n, s}; /* on the second stack, and gone */
	volatile long *p = here;

	if (!p[0])
		TAIL return table[2](0, p[1]);
	TAIL return table[n & 1](p[0] - 1, p[1] + 2);
}

static long stop(long n, long s)
{
	return s - n;
}

/* --- other prototypes, arguments on the stack, structures ----------------- */

struct pair {
	long a, b;
};

NOINLINE static struct pair swap(long n, long a, long b);
NOINLINE static struct pair keep(long a, long n, long b, int c)
{
	if (!n)
		return (struct pair){a, b + c};
	return swap(n - 1, b, a);
}

NOINLINE static struct pair swap(long n, long a, long b)
{
	if (!n)
		return (struct pair){b, a};
	return keep(a, n - 1, b + 1, (int)n);
}

static long many(long a, long b, long c, long d, long e, long f, long g,
                 double h)
{
	if (!a)
		return b + 2 * c + 3 * d + 4 * e + 5 * f + 6 * g + (long)h;
	TAIL return many(a - 1, c, d, e, f, g, b, h + 0.5);
}

struct large {
	long v[8];
};

static struct large fill(long n, struct large *p)
{
	p->v[n & 7] += n;
	if (n)
		TAIL return fill(n - 1, p);
	return *p;
}

NOINLINE static void count(long n)
{
	sum += n & 1;
	if (n)
		count(n - 1);
}

/* --- ends of foreign code ------------------------------------------------- */

NOINLINE static long number(const char *text)
{
	return strtol(text, NULL, 8);
}

NOINLINE static long number_again(const char *text)
{
	sum += 7;
	return number(text + 1);
}

static int compare(const void *a, const void *b)
{
	sum++;
	return strcasecmp(a, b);
}

NOINLINE static void sort(char (*names)[8], size_t n)
{
	sum += 1000;
	qsort(names, n, sizeof(*names), compare);
}

static int find(const void *a, const void *b)
{
	sort((void *)(uintptr_t)b, 2);
	return compare(a, b);
}

NOINLINE static void *search(const char *name, char (*names)[8], size_t n)
{
	return bsearch(name, names, n, sizeof(*names), find);
}

/* Callbacks that end in foreign code, which calls back. */
static pthread_once_t once;
static char (*looked_in)[8];

static void inner(void)
{
	sum += 3;
	sort(looked_in, 3);
}

static int ends_in_callback(const void *a, const void *b)
{
	sum += strcasecmp(a, b) == 0;
	if (strcasecmp(a, b))
		return compare(a, b);
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	return pthread_once(&once, inner);
}

static void *searches(void *names)
{
	looked_in = names;
	return bsearch("ghi", names, 5, sizeof(*looked_in), ends_in_callback);
}

static long guaranteed(const char *text, char **end, int base)
{
	TAIL return strtol(text, end, base);
}

NOINLINE static int say(const char *text)
{
	return puts(text);
}

/* --- jumps ---------------------------------------------------------------- */

static jmp_buf there;

NOINLINE static void leave(int n)
{
	sum += n;
	longjmp(there, n);
}

static void (*leaver)(jmp_buf, int) = (void (*)(jmp_buf, int))longjmp;

NOINLINE static void leave_by_pointer(int n)
{
	sum += n;
	leaver(there, n);
}

static int jumping_compare(const void *a, const void *b)
{
	if (++sum % 5 == 0)
		leave_by_pointer(3);
	return strcasecmp(a, b);
}

static long jumps(char (*names)[8], size_t n)
{
	volatile long r = 0;
	int k = setjmp(there);

	r = r * 10 + k;
	if (k == 0)
		leave(1);
	else if (k == 1)
		leave_by_pointer(2);
	else if (k == 2)
		qsort(names, n, sizeof(*names), jumping_compare);
	return r;
}

/* --- signals, threads ----------------------------------------------------- */

static volatile sig_atomic_t came;

static void note(int signal)
{
	came += signal;
}

static void handler(int signal)
{
	came++;
	note(signal);
}

static void asking_handler(int signal)
{
	came += signal;
	sigqueue(getpid(), SIGUSR2, (union sigval){0});
}

NOINLINE static int send(int signal)
{
	return raise(signal);
}

static void *deep(void *unused)
{
	(void)unused;
	sum = 0;
	printf("%ld %ld\n", even(STEPS, 3), odd(STEPS + 1, 4));
	printf("%ld %ld\n", step(GUARANTEED, 0), sum);
	printf("%ld\n", many(GUARANTEED, 1, 2, 3, 4, 5, 6, 7));
	count(STEPS);
	for (int i = 0; i < 2; i++) {
		struct pair p = swap(100 + i, i, 5);
		struct large l = fill(GUARANTEED, &(struct large){{i}});

		printf("%ld %ld %ld %ld\n", p.a, p.b, l.v[0], l.v[7]);
	}
	return NULL;
}

static void *exits(void *value)
{
	sum += 2;
	pthread_exit(value);
}

static void run_thread(void *(*f)(void *), void *value)
{
	pthread_attr_t small;
	pthread_t thread;
	void *result;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 * 1024);
	if (pthread_create(&thread, &small, f, value))
		abort();
	pthread_join(thread, &result);
	printf("%d %ld\n", result && value, sum);
}

/* What it reads, and how many steps it makes. */
int main(int argc, char **argv)
{
	char names[][8] = {"dEf", "abc", "Xyz", "Ghi", "aBB", "zz"};
	void *found;

	if (argc > 2)
		steps = atol(argv[2]);
	run_thread(deep, NULL);
	steps /= 5;
	deep(NULL);
	run_thread(exits, names);
	printf("%ld %ld\n", number("777"), number_again("x17"));
	printf("%ld %ld\n", number("777"), guaranteed("ff", NULL, 16));
	sort(names, 5);
	found = search("GHI", names, 5);
	printf("%s %s %d %ld\n", names[0], names[4], found != NULL, sum);
	run_thread(searches, names);
	printf("%d\n", say("said") >= 0);
	printf("%ld %ld\n", jumps(names, 5), sum);
	signal(SIGUSR1, handler);
	signal(SIGUSR2, asking_handler);
	send(SIGUSR1);
	signal(SIGUSR2, note);
	send(SIGUSR2);
	signal(SIGUSR1, asking_handler);
	send(SIGUSR1);
	printf("%d\n", (int)came);
	return 0;
}
