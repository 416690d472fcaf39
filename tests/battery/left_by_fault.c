/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults that a handler jumps out of, in functions that always return as far as
 * the compiler knows, and in calls that it makes of assignments.
 */
#include "battery.h"

#include <setjmp.h>
#include <signal.h>

struct big {
	long a[2000];
};

static sigjmp_buf target;
static struct big one, two;
static volatile int calls;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(target, 1);
}

NOINLINE int load(const int *p)
{
	return *p;
}

NOINLINE void store(int *p)
{
	*p = 1;
}

NOINLINE int behind_load(const int *p)
{
	int value = load(p);

	calls += value;
	return value + 1; /* MARK(0); */
}

NOINLINE int behind_store(int *p)
{
	store(p);
	return 4; /* MARK(1); */
}

NOINLINE int in_tail_call(const int *p)
{
	HIT();
	return load(p);
}

NOINLINE void behind_copy(struct big *to, const struct big *from, int i)
{
	if (i < 8) {
		HIT();
		*to = *from;
	} else {
		HIT();
	}
	HIT();
}

NOINLINE void copy_last(struct big *to, const struct big *from, int i)
{
	if (i < 8) {
		HIT();
		*to = *from;
	} else {
		HIT();
	}
}

NOINLINE void cut(int i)
{
	HIT();
	calls += i;
}

NOINLINE int copy_and_call(struct big *to, const struct big *from, int i)
{
	if (i < 8) {
		*to = *from;
		cut(i);
		return 5; /* MARK(2); */
	}
	HIT();
	return -1;
}

int main(void)
{
	struct sigaction a = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
	volatile int i, sum = 0;
	int value = battery_int(3);

	sigaction(SIGSEGV, &a, 0);
	for (i = 0; i < battery_int(10); i++)
		if (!sigsetjmp(target, 1)) {
			sum += behind_load(i % 2 ? 0 : &value);
			BOOK(0, 1);
		}
	for (i = 0; i < battery_int(10); i++)
		if (!sigsetjmp(target, 1)) {
			sum += behind_store(i % 3 ? 0 : &value);
			BOOK(1, 1);
		}
	for (i = 0; i < battery_int(10); i++)
		if (!sigsetjmp(target, 1)) {
			HIT();
			sum += in_tail_call(i % 3 ? 0 : &value);
			HIT();
		}
	for (i = 0; i < battery_int(10); i++)
		if (!sigsetjmp(target, 1)) {
			behind_copy(i % 2 ? 0 : &one, &two, i);
			HIT();
		}
	for (i = 0; i < battery_int(10); i++)
		if (!sigsetjmp(target, 1)) {
			copy_last(i % 2 ? 0 : &one, &two, i);
			HIT();
		}
	for (i = 0; i < battery_int(10); i++)
		if (!sigsetjmp(target, 1)) {
			int got = copy_and_call(i % 2 ? 0 : &one, &two, i);

			BOOK(2, got > 0);
		}
	signal(SIGSEGV, SIG_DFL);
	HIT();
	sum += behind_load((const int *)(long)battery_int(0));
	BOOK(0, 1);
	return sum;
}
