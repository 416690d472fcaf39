/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends in one of several ways: what it wrote just before is in no other tick
 * than its end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int written, zero;
int *null, *wild = (int *)0x123456789000;
void (*volatile nobody)(void);
atomic_int counter;
static sigjmp_buf out;
static volatile int njumps;

static void jump(int sig)
{
	(void)sig;
	njumps = njumps + 1;
	siglongjmp(out, 1);
}

/* Handlers jump out of a loop. */
static void leave_often(void)
{
	signal(SIGALRM, jump);
	sigsetjmp(out, 1);
	while (njumps < 10) {
		ualarm(1500, 0);
		for (;;)
			atomic_fetch_add(&counter, 1);
	}
}

/* A handler jumps away from what faults, again and again. */
static void recover(void)
{
	signal(SIGSEGV, jump);
	for (int i = 0; i < 6; i++)
		if (!sigsetjmp(out, 1)) {
			written = 100 + i;
			*null = i;
		} else {
			written = 200 + njumps;
		}
}

static void *count(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		atomic_fetch_add(&counter, 1);
	return unused;
}

static void cancel_often(void)
{
	for (int i = 0; i < 10; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, count, NULL);
		usleep(1000);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	written = 1;
	puts(how);
	fflush(stdout);
	written = 2;
	if (!strcmp(how, "null")) {
		written = 3;
		*null = written;
		return 1;
	} else if (!strcmp(how, "division")) {
		written = 4;
		written = 100 / zero;
	} else if (!strcmp(how, "trap")) {
		written = 5;
		__builtin_trap();
	} else if (!strcmp(how, "wild")) {
		written = 6;
		*wild = written;
		return 1;
	} else if (!strcmp(how, "copy")) {
		written = 7;
		strcpy((char *)null, how);
	} else if (!strcmp(how, "raise")) {
		written = 8;
		raise(SIGTERM);
	} else if (!strcmp(how, "abort")) {
		written = 9;
		abort();
	} else if (!strcmp(how, "call")) {
		written = 10;
		nobody();
	} else if (!strcmp(how, "assembly")) {
		written = 11;
		__asm__ volatile("hlt");
	} else if (!strcmp(how, "recover")) {
		recover();
		return 0;
	} else if (!strcmp(how, "jumps")) {
		leave_often();
	} else if (!strcmp(how, "cancel")) {
		cancel_often();
	}
	written = 20;
	printf("counter %d\n", atomic_load(&counter));
	return 0;
}
