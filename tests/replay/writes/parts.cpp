// SPDX-License-Identifier: Apache-2.0
// Bit-fields one by one, members that hide others, variables of threads.
#include <csignal>
#include <cstdio>
#include <pthread.h>

struct Fields {
	unsigned a : 3;
	int b : 9;
	bool c : 1;
	unsigned long long d : 40;
};
Fields fields;

struct Base {
	int x = 1, same = 2;
};
struct Derived : Base {
	int same = 3;
};
Derived derived;
struct Virtual : virtual Base {
	int own = 4;
};
Virtual object;

struct Own {
	int n, list[3];
};
thread_local Own own = {5, {1, 2, 3}};
static thread_local int hits;
thread_local int unused;

static void handle(int)
{
	hits += 100;
}

static void *work(void *argument)
{
	long n = (long)argument;

	for (int i = 0; i < n; i++) {
		hits++;
		own.list[1] += (int)n;
	}
	return nullptr;
}

int main()
{
	volatile int five = 5;
	pthread_t thread;

	fields.a = five & 7;
	fields.b = -five;
	fields.c = true;
	fields.d = 1ull << 39;
	fields.b = 100 + five;
	fields.a = five & 7;
	derived.same = 33 + five;
	derived.Base::same = 22 + five;
	object.x = five;
	object.own = five;
	for (long i = 1; i < 3; i++) {
		pthread_create(&thread, nullptr, work, (void *)i);
		pthread_join(thread, nullptr);
	}
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	std::printf("%d %d %d\n", fields.b, hits, derived.same);
	return 0;
}
