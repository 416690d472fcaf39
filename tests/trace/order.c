/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of C that wait for each other: order HOW (a name of the table). */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "order.h"

#define THREADS 8
#define ROUNDS 100
#define MANY 300

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t other = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag once11 = ONCE_FLAG_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t token, free_places, items;
static mtx_t mtx;
static cnd_t cnd;
static int turn, nthreads = THREADS, nrounds = ROUNDS;
static void (*round_of)(int me);

/* A time that comes soon enough to pass while somebody waits. */
static const struct timespec *soon(int clock)
{
	static _Thread_local struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += 200000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return &t;
}

/* --- locks ---------------------------------------------------------------- */

#define LOCK(name, lock, unlock)     \
	static void name(int me)     \
	{                            \
		(void)me;            \
		while (lock)         \
			work_some(); \
		section();           \
		unlock;              \
	}

LOCK(by_lock, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
LOCK(by_trylock, pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex))
LOCK(by_timedlock, pthread_mutex_timedlock(&mutex, soon(CLOCK_REALTIME)),
     pthread_mutex_unlock(&mutex))
LOCK(by_clocklock,
     pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)),
     pthread_mutex_unlock(&mutex))
LOCK(by_spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))
LOCK(by_spin_try, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin))
LOCK(by_mtx, mtx_lock(&mtx) != thrd_success, mtx_unlock(&mtx))
LOCK(by_mtx_try, mtx_trylock(&mtx) != thrd_success, mtx_unlock(&mtx))
LOCK(by_mtx_timed, mtx_timedlock(&mtx, soon(CLOCK_REALTIME)) != thrd_success,
     mtx_unlock(&mtx))
LOCK(by_sem, sem_wait(&token), sem_post(&token))
LOCK(by_sem_try, sem_trywait(&token), sem_post(&token))
LOCK(by_sem_timed, sem_timedwait(&token, soon(CLOCK_REALTIME)),
     sem_post(&token))
LOCK(by_sem_clock,
     sem_clockwait(&token, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)),
     sem_post(&token))

/* --- readers and writers -------------------------------------------------- */

#define RWLOCK(name, rdlock, wrlock)            \
	static void name(int me)                \
	{                                       \
		while (rdlock)                  \
			work_some();            \
		look();                         \
		pthread_rwlock_unlock(&rwlock); \
		if (me % 2)                     \
			return;                 \
		while (wrlock)                  \
			work_some();            \
		section();                      \
		pthread_rwlock_unlock(&rwlock); \
	}

RWLOCK(by_rwlock, pthread_rwlock_rdlock(&rwlock),
       pthread_rwlock_wrlock(&rwlock))
RWLOCK(by_rwlock_try, pthread_rwlock_tryrdlock(&rwlock),
       pthread_rwlock_trywrlock(&rwlock))
RWLOCK(by_rwlock_timed,
       pthread_rwlock_timedrdlock(&rwlock, soon(CLOCK_REALTIME)),
       pthread_rwlock_timedwrlock(&rwlock, soon(CLOCK_REALTIME)))
RWLOCK(by_rwlock_clock,
       pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC,
                                  soon(CLOCK_MONOTONIC)),
       pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC,
                                  soon(CLOCK_MONOTONIC)))

/* --- conditions: in turns ------------------------------------------------- */

#define CONDITION(name, wait)                     \
	static void name(int me)                  \
	{                                         \
		pthread_mutex_lock(&mutex);       \
		while (turn != me)                \
			wait;                     \
		section();                        \
		turn = (turn + 1) % THREADS;      \
		pthread_cond_broadcast(&changed); \
		pthread_mutex_unlock(&mutex);     \
	}

CONDITION(by_wait, pthread_cond_wait(&changed, &mutex))
CONDITION(by_timedwait,
          pthread_cond_timedwait(&changed, &mutex, soon(CLOCK_REALTIME)))
CONDITION(by_clockwait,
          pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC,
                                 soon(CLOCK_MONOTONIC)))

#define CONDITION11(name, wait)              \
	static void name(int me)             \
	{                                    \
		mtx_lock(&mtx);              \
		while (turn != me)           \
			wait;                \
		section();                   \
		turn = (turn + 1) % THREADS; \
		cnd_broadcast(&cnd);         \
		mtx_unlock(&mtx);            \
	}

CONDITION11(by_cnd, cnd_wait(&cnd, &mtx))
CONDITION11(by_cnd_timed, cnd_timedwait(&cnd, &mtx, soon(CLOCK_REALTIME)))

static void by_barrier(int me)
{
	for (int i = 0; i < THREADS; i++) {
		if (i == me)
			section();
		pthread_barrier_wait(&barrier);
		if (i % 4 == 3) {
			look();
			pthread_barrier_wait(&barrier);
		}
	}
}

static void by_once(int me)
{
	(void)me;
	pthread_once(&once, section);
	look();
}

static void by_call_once(int me)
{
	(void)me;
	call_once(&once11, section);
	look();
}

/* --- producers and consumers ---------------------------------------------- */

#define PLACES 4
static int nitems;

static void by_queue_sem(int me)
{
	sem_wait(me % 2 ? &free_places : &items);
	pthread_mutex_lock(&mutex);
	section();
	pthread_mutex_unlock(&mutex);
	sem_post(me % 2 ? &items : &free_places);
}

static void by_queue_cond(int me)
{
	pthread_mutex_lock(&mutex);
	while (me % 2 ? nitems == PLACES : nitems == 0)
		pthread_cond_wait(me % 2 ? &other : &changed, &mutex);
	nitems += me % 2 ? 1 : -1;
	section();
	pthread_cond_signal(me % 2 ? &changed : &other);
	pthread_mutex_unlock(&mutex);
}

/* --- threads that do rounds ----------------------------------------------- */

static void *run(void *arg)
{
	for (int i = 0; i < nrounds; i++) {
		work_some();
		round_of((int)(long)arg);
	}
	return NULL;
}

static void run_all(void)
{
	pthread_t threads[MANY];

	for (int i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, run, (void *)(long)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
}

/* So many at a time that their buffers are small. */
static void run_many(void)
{
	nthreads = MANY;
	nrounds = 20;
	round_of = by_lock;
	run_all();
}

/* --- create and join ------------------------------------------------------ */

static void *child(void *arg)
{
	work_some();
	section();
	return arg;
}

static int child11(void *arg)
{
	work_some();
	section();
	return (int)(long)arg;
}

#define JOIN(name, join)                                       \
	static void name(void)                                 \
	{                                                      \
		for (int i = 0; i < ROUNDS; i++) {             \
			pthread_t t;                           \
                                                               \
			section();                             \
			pthread_create(&t, NULL, child, NULL); \
			while (join)                           \
				work_some();                   \
		}                                              \
	}

JOIN(run_join, pthread_join(t, NULL))
JOIN(run_tryjoin, pthread_tryjoin_np(t, NULL))
JOIN(run_timedjoin, pthread_timedjoin_np(t, NULL, soon(CLOCK_REALTIME)))
JOIN(run_clockjoin,
     pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)))

static void run_thrd_join(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		thrd_t t;

		section();
		thrd_create(&t, child11, NULL);
		thrd_join(t, NULL);
	}
}

/* A tree: who is inside another one is created and joined by it. */
static void *tree(void *arg)
{
	long depth = (long)arg;
	pthread_t t[2];

	look();
	work_some();
	for (int i = 0; depth && i < 2; i++)
		pthread_create(&t[i], NULL, tree, (void *)(depth - 1));
	for (int i = 0; depth && i < 2; i++)
		pthread_join(t[i], NULL);
	look();
	return NULL;
}

/* Sections before, between and behind trees: all of a tree is in between. */
static void run_tree(void)
{
	for (int i = 0; i < 8; i++) {
		section();
		tree((void *)(long)4);
	}
	section();
}

/* --- a pool --------------------------------------------------------------- */

static int ntasks, ndone;

static void *serve(void *arg)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (!ntasks)
			pthread_cond_wait(&changed, &mutex);
		ntasks--;
		section();
		pthread_mutex_unlock(&mutex);
		work_some();
		pthread_mutex_lock(&mutex);
		ndone++;
		section();
		pthread_cond_signal(&other);
	}
	return arg;
}

static void start_pool(void)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		pthread_create(&t, NULL, serve, NULL);
		pthread_detach(t);
	}
}

/* At the end nobody can go on: the mutex stays locked. */
static void run_pool(void)
{
	start_pool();
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 40; i++) {
		section();
		ntasks += 16;
		ndone = 0;
		pthread_cond_broadcast(&changed);
		while (ndone < 16)
			pthread_cond_wait(&other, &mutex);
	}
}

/* Threads that are always made anew, and that nobody joins. */
static void *detached(void *arg)
{
	work_some();
	pthread_mutex_lock(&mutex);
	section();
	if (!--nitems)
		pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void run_detached(void)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 40; i++) {
		for (nitems = 0; nitems < THREADS; nitems++) {
			pthread_t t;

			if (pthread_create(&t, NULL, detached, NULL))
				abort();
			pthread_detach(t);
		}
		while (nitems)
			pthread_cond_wait(&changed, &mutex);
		section();
	}
}

/* --- cancelled, and never asked ------------------------------------------- */

static void give_back(void *arg)
{
	section();
	pthread_mutex_unlock(arg);
}

/* Is cancelled while it waits, and has the mutex then. */
static void *wait_forever(void *arg)
{
	pthread_mutex_lock(&mutex);
	section();
	nitems++;
	pthread_cleanup_push(give_back, &mutex);
	for (;;)
		pthread_cond_wait(&other, &mutex);
	pthread_cleanup_pop(0);
	return arg;
}

static void run_cancel(void)
{
	pthread_t t[THREADS];

	for (int round = 0; round < 40; round++) {
		nitems = 0;
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, wait_forever, NULL);
		for (int ready = 0; ready < THREADS;) {
			pthread_mutex_lock(&mutex);
			ready = nitems;
			pthread_mutex_unlock(&mutex);
			usleep(100);
			work_some();
		}
		for (int i = 0; i < THREADS; i++) {
			pthread_mutex_lock(&mutex);
			section();
			pthread_cancel(t[i]);
			work_some();
			section();
			pthread_mutex_unlock(&mutex);
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
}

static void *forever(void *arg)
{
	for (;;) {
		work_some();
		by_lock(0);
	}
	return arg;
}

/* The process ends while they run. */
static void run_exit(void)
{
	pthread_t t;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t, NULL, forever, NULL);
	for (int enough = 0; !enough;) {
		work_some();
		pthread_mutex_lock(&mutex);
		enough = order_nsections > 2000;
		if (!enough)
			pthread_mutex_unlock(&mutex);
	}
}

/* --- all ------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*round)(int me);
	void (*all)(void);
} hows[] = {
        {"lock", by_lock, run_all},
        {"trylock", by_trylock, run_all},
        {"timedlock", by_timedlock, run_all},
        {"clocklock", by_clocklock, run_all},
        {"spin", by_spin, run_all},
        {"spin_try", by_spin_try, run_all},
        {"mtx", by_mtx, run_all},
        {"mtx_try", by_mtx_try, run_all},
        {"mtx_timed", by_mtx_timed, run_all},
        {"sem", by_sem, run_all},
        {"sem_try", by_sem_try, run_all},
        {"sem_timed", by_sem_timed, run_all},
        {"sem_clock", by_sem_clock, run_all},
        {"rwlock", by_rwlock, run_all},
        {"rwlock_try", by_rwlock_try, run_all},
        {"rwlock_timed", by_rwlock_timed, run_all},
        {"rwlock_clock", by_rwlock_clock, run_all},
        {"cond", by_wait, run_all},
        {"cond_timed", by_timedwait, run_all},
        {"cond_clock", by_clockwait, run_all},
        {"cnd", by_cnd, run_all},
        {"cnd_timed", by_cnd_timed, run_all},
        {"barrier", by_barrier, run_all},
        {"once", by_once, run_all},
        {"call_once", by_call_once, run_all},
        {"queue_sem", by_queue_sem, run_all},
        {"queue_cond", by_queue_cond, run_all},
        {"join", NULL, run_join},
        {"tryjoin", NULL, run_tryjoin},
        {"timedjoin", NULL, run_timedjoin},
        {"clockjoin", NULL, run_clockjoin},
        {"thrd_join", NULL, run_thrd_join},
        {"tree", NULL, run_tree},
        {"pool", NULL, run_pool},
        {"detached", NULL, run_detached},
        {"cancel", NULL, run_cancel},
        {"exit", NULL, run_exit},
        {"many", NULL, run_many},
};

int main(int argc, char **argv)
{
	pthread_barrier_init(&barrier, NULL, THREADS);
	pthread_spin_init(&spin, 0);
	mtx_init(&mtx, mtx_timed);
	cnd_init(&cnd);
	sem_init(&token, 0, 1);
	sem_init(&free_places, 0, PLACES);
	sem_init(&items, 0, 0);
	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		if (argc < 2)
			puts(hows[i].name);
		else if (!strcmp(argv[1], hows[i].name)) {
			round_of = hows[i].round;
			hows[i].all();
			order_print();
			exit(0);
		}
	}
	return argc > 1;
}
