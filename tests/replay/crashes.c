/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends of a program.  Argument: which; every one is in a line that has a
 * comment with its name, with the same frames: main, middle three times, last.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct node {
	struct node *next;
	int value;
};

static struct node third = {NULL, 3}, second = {&third, 2},
                   first = {&second, 1};
static const char *volatile text = "constant";
static volatile int zero, sum;
static struct node *volatile wild = (struct node *)0x123456789000;
static struct node *volatile strange = (struct node *)0x8123456789abcdef;

static void handle(int sig)
{
	(void)!write(1, "fault\n", 6);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int __attribute__((noinline)) last(int how)
{
	struct node *p = &first;
	int *page, i;

	switch (how) {
	case 0:
		while (sum >= 0) {
			sum += p->value; /* null */
			p = p->next;
		}
		break;
	case 1:
		sum = 5;
		*(char *)text = 1; /* constant */
		sum = 6;
		break;
	case 2:
		sum += wild->value; /* wild */
		sum = 7;
		break;
	case 3:
		sum += strange->value; /* strange */
		break;
	case 4:
		for (i = 3; i > -3; i--)
			sum += 12 / (i + zero); /* divide */
		break;
	case 5:
		if (sum == 0)
			__builtin_trap(); /* trap */
		break;
	case 6:
		page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect((char *)page + 4096, 4096, PROT_READ);
		for (i = 0; i < 2048; i += 256) {
			sum += page[i];
			page[i] = i; /* protected */
		}
		break;
	case 7:
		abort(); /* abort */
		break;
	case 8:
		raise(SIGTERM); /* raise */
		break;
	case 9:
		assert(sum > 0); /* assert */
		break;
	case 10:
		kill(getpid(), SIGKILL); /* kill */
		break;
	case 11:
		exit(3); /* exit */
		break;
	case 12:
		_exit(4); /* _exit */
		break;
	case 13:
		memcpy((void *)wild, &first, sizeof(first)); /* copy */
		break;
	case 14:
		sum = (int)strlen((char *)wild); /* length */
		break;
	case 15:
		((void (*)(void))(void *)wild)(); /* call */
		break;
	case 16:
		__builtin_debugtrap(); /* debug */
		break;
	case 17:
		puts((char *)wild); /* foreign */
		break;
	case 19:
		signal(SIGSEGV, _exit);
		sum += wild->value; /* handled */
		break;
	case 20:
		signal(SIGFPE, handle);
		for (i = 2; i >= 0; i--)
			sum += 12 / (i + zero); /* reported */
		break;
	case 18:
		__asm__ volatile("ud2"); /* assembly */
		break;
	}
	return sum;
}

static int __attribute__((noinline)) middle(int how, int depth)
{
	int got = depth ? middle(how, depth - 1) : last(how);

	return got + 1;
}

int main(int argc, char **argv)
{
	printf("%d\n", middle(argc > 1 ? atoi(argv[1]) : 0, 2));
	return 0;
}
