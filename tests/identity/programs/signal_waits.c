/* SPDX-License-Identifier: Apache-2.0 */
// Signals that are waited for, with values, by a thread of their own.
// cc: -pthread
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static int sum, ended;

static void *waiter(void *set)
{
	siginfo_t info;

	while (!ended) {
		if (sigwaitinfo(set, &info) < 0)
			continue;
		if (info.si_value.sival_int < 0)
			ended = 1;
		else
			sum = sum * 2 + info.si_value.sival_int;
	}
	return NULL;
}

int main(void)
{
	pthread_t t;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t, NULL, waiter, &set);
	for (int i = 0; i < 10; i++) {
		union sigval v = {.sival_int = i};
		pthread_sigqueue(t, SIGRTMIN, v);
	}
	pthread_sigqueue(t, SIGRTMIN, (union sigval){.sival_int = -1});
	pthread_join(t, NULL);
	printf("%d %d\n", sum, ended);
	return 0;
}
