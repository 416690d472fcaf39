/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches that run until a timer ends the program, wherever it is then.  The
 * program keeps the count of each of its blocks in a file, too.
 *
 *     stopped FILE MICROSECONDS
 *     stopped FILE MICROSECONDS threads
 *
 * With threads it is the first one that ends the program, while others run or
 * are about to.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile long *own; /* per block, see HERE */
static unsigned table[4096];

/* The test looks for the lines that have this, in order. */
#define HERE(k) own[k]++

static NOINLINE unsigned leaf(unsigned x)
{
	if (x & 1) {
		HERE(0);
		return x * 3;
	}
	HERE(1);
	return x >> 1;
}

static NOINLINE unsigned work(unsigned n, unsigned s)
{
	for (unsigned i = 0; i < n; i++) {
		HERE(2);
		if (s & 4) {
			HERE(3);
			s = s * 31 + table[s & 4095];
		} else if (s & 8) {
			HERE(4);
			s ^= i;
		} else {
			s += leaf(s);
			HERE(5);
		}
		switch (s & 7) {
		case 0:
			HERE(6);
			table[s >> 20]++;
			break;
		case 1:
		case 2:
			HERE(7);
			s += 5;
			break;
		case 5:
			if (s & 64)
				continue;
			HERE(8);
			s ^= 9;
			break;
		default:
			break;
		}
		do {
			HERE(9);
			s = s * 5 + 1;
		} while (s & 0x30);
	}
	HERE(10);
	return s;
}

static void *forever(void *seed)
{
	unsigned s = (unsigned)(long)seed;

	for (;;)
		s = work(20, s);
	return NULL;
}

static void end_with_threads(unsigned moment)
{
	pthread_t thread;

	for (long i = 1; i <= 6; i++)
		if (pthread_create(&thread, NULL, forever, (void *)i))
			exit(1);
	usleep(moment);
	exit(0);
}

int main(int argc, char **argv)
{
	struct itimerval timer = {.it_value.tv_usec = 1000};
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	unsigned s = 1;

	if (argc < 3 || fd < 0 || ftruncate(fd, 4096) < 0)
		return 1;
	own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (own == MAP_FAILED)
		return 1;
	if (argc == 4)
		end_with_threads((unsigned)atoi(argv[2]));
	timer.it_value.tv_usec = atoi(argv[2]);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (;;)
		s = work(20, s);
}
