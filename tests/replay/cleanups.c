/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_cleanup_push in C: libc comes back into the function by a jump of its
 * own when the thread is cancelled or ends.  Handlers in several frames and
 * nested in one, that change memory and values, that are popped, run or not;
 * cancelled while it waits, by pthread_testcancel, by pthread_exit.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct notes {
	char text[200];
	int n;
	pthread_mutex_t lock;
};

static sem_t ready;

static void note(struct notes *s, const char *what)
{
	size_t n = strlen(s->text);

	snprintf(s->text + n, sizeof(s->text) - n, "%s%d ", what, s->n++);
}

static void first(void *arg)
{
	note(arg, "first");
}

static void second(void *arg)
{
	note(arg, "second");
}

static void unlock(void *arg)
{
	struct notes *s = arg;

	pthread_mutex_unlock(&s->lock);
	note(s, "unlock");
}

static void wait_forever(struct notes *s, int how)
{
	static int pipes[2];
	char c;

	if (how == 0) {
		sem_post(&ready);
		for (;;)
			pause();
	} else if (how == 1) {
		sem_post(&ready);
		for (;;) {
			pthread_testcancel();
			usleep(100);
		}
	} else if (how == 2) {
		note(s, "exits");
		pthread_exit(s->text);
	} else {
		if (pipe(pipes))
			abort();
		sem_post(&ready);
		s->n += (int)read(pipes[0], &c, 1);
	}
}

static int deeper(struct notes *s, int depth, int how)
{
	int k = depth * 3;

	pthread_cleanup_push(first, s);
	if (depth)
		k += deeper(s, depth - 1, how);
	else
		wait_forever(s, how);
	pthread_cleanup_pop(1);
	return k;
}

static int nested(struct notes *s, int how)
{
	int sum = how;

	pthread_mutex_lock(&s->lock);
	pthread_cleanup_push(unlock, s);
	for (int i = 0; i < 4; i++) {
		pthread_cleanup_push(i % 2 ? first : second, s);
		sum += i;
		pthread_cleanup_pop(i % 3 == 0);
	}
	pthread_cleanup_push(second, s);
	sum += deeper(s, 2, how);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(1);
	return sum;
}

static void *run(void *arg)
{
	struct notes *s = arg;

	s->n += nested(s, s->n);
	note(s, "never");
	return NULL;
}

int main(void)
{
	sem_init(&ready, 0, 0);
	for (int how = 0; how < 4; how++) {
		struct notes s = {.n = how};
		pthread_t t;
		void *result;

		pthread_mutex_init(&s.lock, NULL);
		pthread_create(&t, NULL, run, &s);
		if (how != 2) {
			sem_wait(&ready);
			usleep(how * 300);
			pthread_cancel(t);
		}
		pthread_join(t, &result);
		printf("%d: %s%s %d\n", how,
		       result == PTHREAD_CANCELED ? "cancelled " : "", s.text,
		       pthread_mutex_trylock(&s.lock));
	}
	return 0;
}
