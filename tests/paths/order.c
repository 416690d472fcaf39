/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes paths in an order that it logs, for order.py: the argument says how,
 * and how the process ends.  walk has 2^13 paths, wide 4^8, turns has a loop.
 */
#include "log.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

/* A branch per bit; each way has a line. */
#define BIT(k) ((x >> (k)) & 1)

static uint32_t walk(uint32_t x)
{
	ENTER;
	uint32_t sum = 0;
	AT;
	if (BIT(0)) {
		AT;
		sum += 1;
	}
	if (BIT(1)) {
		AT;
		sum += 2;
	}
	if (BIT(2)) {
		AT;
		sum += 3;
	}
	if (BIT(3)) {
		AT;
		sum += 4;
	}
	if (BIT(4)) {
		AT;
		sum += 5;
	}
	if (BIT(5)) {
		AT;
		sum += 6;
	}
	if (BIT(6)) {
		AT;
		sum += 7;
	}
	if (BIT(7)) {
		AT;
		sum += 8;
	}
	if (BIT(8)) {
		AT;
		sum += 9;
	}
	if (BIT(9)) {
		AT;
		sum += 10;
	}
	if (BIT(10)) {
		AT;
		sum += 11;
	}
	if (BIT(11)) {
		AT;
		sum += 12;
	}
	if (BIT(12)) {
		AT;
		sum += 13;
	}
	AT;
	RETURN(sum);
}

static uint32_t wide(uint32_t x)
{
	ENTER;
	uint32_t sum = x;
	AT;
	switch (x & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	switch (x >> 2 & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	switch (x >> 4 & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	switch (x >> 6 & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	switch (x >> 8 & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	switch (x >> 10 & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	switch (x >> 12 & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	switch (x >> 14 & 3) {
	case 0:
		AT;
		break;
	case 1:
		AT;
		break;
	case 2:
		AT;
		break;
	default:
		AT;
	}
	AT;
	RETURN(sum);
}

static uint32_t turns(uint32_t x)
{
	ENTER;
	uint32_t sum = 0;
	AT;
	for (uint32_t i = 0; i < 8; i++) {
		AT;
		if (BIT(i)) {
			AT;
			sum += i;
		} else {
			AT;
			sum ^= i;
		}
		if (BIT(i + 8)) {
			AT;
			sum *= 3;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

/* n random paths; those of different seeds are different, mostly. */
static void take(uint32_t seed, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t x = RANDOM(seed);

		switch (i % 4) {
		case 0:
			wide(x & 0xffff);
			break;
		case 1:
			turns(x);
			break;
		default:
			walk(x & 0x1fff);
		}
	}
}

/* --- ways to end -------------------------------------------------------- */

static void in_child(void)
{
	log_thread(1);
	take(7, 60);
	take(2, 100);
}

static void fork_once(void)
{
	pid_t child = fork();

	if (!child) {
		in_child();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* The handler has a log of its own: it interrupts the one of main. */
#define ALARMS 300

static volatile int nsignals, forks;
static struct log_event *handler_at;
static uint32_t handler_activation = 2 << 24;

/* A child that goes on where its parent was interrupted. */
static void forget_log(void)
{
	size_t size = LOG_THREADS * LOG_EVENTS * sizeof(struct log_event);

	mmap(log_all, size, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	nsignals = ALARMS;
}

static void on_alarm(int sig)
{
	struct log_event *at = log_at;
	uint32_t activation = log_activation;

	(void)sig;
	log_at = handler_at;
	log_activation = handler_activation;
	take(1000 + (uint32_t)nsignals, 3);
	handler_at = log_at;
	handler_activation = log_activation;
	nsignals++;
	if (forks && nsignals == 3 && !fork())
		forget_log();
	log_at = at;
	log_activation = activation;
}

static void with_alarms(void)
{
	const struct itimerval every = {{0, 50}, {0, 50}},
	                       never = {{0, 0}, {0, 0}};

	handler_at = log_all + 2 * LOG_EVENTS;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint32_t i = 0; nsignals < ALARMS; i++)
		take(i % 100, 20);
	setitimer(ITIMER_REAL, &never, NULL);
	while (wait(NULL) > 0)
		;
}

static void at_exit(void)
{
	take(11, 100);
}

static void *in_thread(void *arg)
{
	log_thread((uint32_t)(uintptr_t)arg);
	take(77, 200);                             /* as the others do */
	take(1000 + (uint32_t)(uintptr_t)arg, 50); /* alone */
	return NULL;
}

static void with_threads(void)
{
	pthread_t thread[LOG_THREADS];

	for (uintptr_t i = 1; i < LOG_THREADS; i++)
		if (pthread_create(&thread[i], NULL, in_thread, (void *)i))
			exit(2);
	for (uintptr_t i = 1; i < LOG_THREADS; i++)
		pthread_join(thread[i], NULL);
}

static pthread_barrier_t together;

static void *in_crowd(void *arg)
{
	/* all logs but one would do: they are equal */
	static __thread struct log_event mine[1 << 16];

	(void)arg;
	pthread_barrier_wait(&together);
	log_at = mine;
	take(5, 400);
	pthread_barrier_wait(&together);
	return NULL;
}

/* Together they put more paths into their tables than the list holds. */
#define CROWD 24

static void in_a_crowd(void)
{
	pthread_t thread[CROWD];

	pthread_barrier_init(&together, NULL, CROWD);
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&thread[i], NULL, in_crowd, NULL))
			exit(2);
	for (int i = 0; i < CROWD; i++)
		pthread_join(thread[i], NULL);
}

static void fill(void)
{
	for (uint32_t i = 0; i < 1 << 13; i++)
		walk(i * 1237 & 0x1fff);
}

static void run(const char *how)
{
	if (!strcmp(how, "full"))
		fill();
	else if (!strcmp(how, "threads"))
		with_threads();
	else if (!strcmp(how, "crowd"))
		in_a_crowd();
	else
		take(2, 400);
	if (!strcmp(how, "fork"))
		fork_once();
	forks = !strcmp(how, "handler-fork");
	if (!strncmp(how, "handler", 7))
		with_alarms();
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "late"))
		atexit(at_exit);
	take(3, 40);
}

int main(int argc, char **argv)
{
	log_open();
	if (argc < 2)
		take(1, 40); /* the test */
	else
		run(argv[1]);
	return 0;
}
