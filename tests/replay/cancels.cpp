// SPDX-License-Identifier: Apache-2.0
// Threads that end in C++: destructors, pthread_cleanup_push, catch (...) that
// passes the end on, pthread_exit in a destructor's scope.
#include <cstdio>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t ready;
static char text[400];
static int used;

static void note(const char *what)
{
	used += snprintf(text + used, sizeof(text) - size_t(used), "%s%d ",
	                 what, used);
}

struct Noisy {
	const char *name;
	~Noisy()
	{
		note(name);
	}
};

static void handler(void *arg)
{
	note(static_cast<const char *>(arg));
}

static int deep(int n, bool leaves)
{
	Noisy here{"deep"};
	int k = 0;

	if (n)
		k = deep(n - 1, leaves);
	else if (leaves)
		pthread_exit(nullptr);
	else
		for (sem_post(&ready);;)
			pause();
	return k + n;
}

static void *run(void *arg)
{
	Noisy top{"top"};
	bool leaves = arg != nullptr;

	pthread_cleanup_push(handler, const_cast<char *>("pushed"));
	try {
		Noisy inner{"inner"};
		note("sum");
		used += deep(3, leaves);
	} catch (...) {
		note("caught");
		throw;
	}
	pthread_cleanup_pop(0);
	return nullptr;
}

int main()
{
	sem_init(&ready, 0, 0);
	for (int i = 0; i < 2; i++) {
		pthread_t t;

		pthread_create(&t, nullptr, run, i ? &ready : nullptr);
		if (!i) {
			sem_wait(&ready);
			pthread_cancel(t);
		}
		pthread_join(t, nullptr);
		puts(text);
	}
	return 0;
}
