/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that call section() one after the other, whatever makes them wait:
 * sync HOW.  Prints the kernel ids in the order of the calls. */
#include "battery.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 300

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore[THREADS];
static mtx_t mtx;
static cnd_t cnd;
static int order[THREADS * ROUNDS + 1], norder, turn;
static const char *how;

static NOINLINE void section(void)
{
	order[norder++] = (int)syscall(SYS_gettid);
}

static void by_mutex(void)
{
	while (pthread_mutex_trylock(&mutex))
		battery_nop();
	section();
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void by_condition(int me)
{
	pthread_mutex_lock(&mutex);
	while (turn != me)
		pthread_cond_wait(&changed, &mutex);
	section();
	turn = (turn + 1) % THREADS;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void by_semaphore(int me)
{
	sem_wait(&semaphore[me]);
	section();
	sem_post(&semaphore[(me + 1) % THREADS]);
}

static void by_barrier(int me)
{
	for (int i = 0; i < THREADS; i++) {
		if (i == me)
			section();
		pthread_barrier_wait(&barrier);
	}
}

static void by_c11(int me)
{
	mtx_lock(&mtx);
	while (turn != me)
		cnd_wait(&cnd, &mtx);
	section();
	turn = (turn + 1) % THREADS;
	cnd_broadcast(&cnd);
	mtx_unlock(&mtx);
}

static void by_rwlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	section();
	pthread_rwlock_unlock(&rwlock);
}

static void by_spinlock(void)
{
	pthread_spin_lock(&spin);
	section();
	pthread_spin_unlock(&spin);
}

static void *run(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		switch (how[0]) {
		case 'm':
			by_mutex();
			break;
		case 'c':
			by_condition(me);
			break;
		case 's':
			by_semaphore(me);
			break;
		case 'b':
			by_barrier(me);
			break;
		case '1':
			by_c11(me);
			break;
		case 'r':
			by_rwlock();
			break;
		case 'l':
			by_spinlock();
			break;
		default:
			abort();
		}
	}
	return NULL;
}

static void *once(void *arg)
{
	section();
	return arg;
}

static int once_c11(void *arg)
{
	(void)arg;
	section();
	return 0;
}

/* One creates and joins another, in turn. */
static void by_join(void)
{
	pthread_t t;
	thrd_t c;

	for (int i = 0; i < ROUNDS / 4; i++) {
		section();
		pthread_create(&t, NULL, once, NULL);
		pthread_join(t, NULL);
		section();
		thrd_create(&c, once_c11, NULL);
		thrd_join(c, NULL);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	how = argc > 1 ? argv[1] : "mutex";
	pthread_barrier_init(&barrier, NULL, THREADS);
	pthread_spin_init(&spin, 0);
	mtx_init(&mtx, mtx_plain);
	cnd_init(&cnd);
	for (int i = 0; i < THREADS; i++)
		sem_init(&semaphore[i], 0, i == 0);
	if (how[0] == 'j')
		by_join();
	for (int i = 0; how[0] != 'j' && i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)(long)i);
	for (int i = 0; how[0] != 'j' && i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < norder; i++)
		printf("%d\n", order[i]);
	return 0;
}
