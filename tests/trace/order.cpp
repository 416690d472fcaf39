// SPDX-License-Identifier: Apache-2.0
// Threads of C++ that wait for each other: order HOW (a name of the table).
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "order.h"

namespace
{

const int threads = 8, rounds = 100;
const auto moment = std::chrono::microseconds(200);

std::mutex mutex;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::shared_mutex shared;
std::shared_timed_mutex shared_timed;
std::condition_variable changed;
std::condition_variable_any changed_any;
std::once_flag flag;
int turn;

void by_mutex(int)
{
	std::lock_guard<std::mutex> lock(mutex);
	section();
}

void by_try(int)
{
	std::unique_lock<std::mutex> lock(mutex, std::defer_lock);

	while (!lock.try_lock())
		work_some();
	section();
}

void by_recursive(int)
{
	std::scoped_lock<std::recursive_mutex> outer(recursive);
	std::scoped_lock<std::recursive_mutex> inner(recursive);

	section();
}

void by_timed(int)
{
	while (!timed.try_lock_for(moment))
		work_some();
	section();
	timed.unlock();
}

// Two at a time, in any order.
void by_both(int)
{
	std::scoped_lock lock(mutex, recursive);

	section();
}

void by_shared(int me)
{
	{
		std::shared_lock<std::shared_mutex> lock(shared);
		look();
	}
	if (me % 2)
		return;
	std::unique_lock<std::shared_mutex> lock(shared);
	section();
}

void by_shared_timed(int me)
{
	while (!shared_timed.try_lock_shared_for(moment))
		work_some();
	look();
	shared_timed.unlock_shared();
	if (me % 2)
		return;
	while (!shared_timed.try_lock_for(moment))
		work_some();
	section();
	shared_timed.unlock();
}

void by_condition(int me)
{
	std::unique_lock<std::mutex> lock(mutex);

	changed.wait(lock, [me] { return turn == me; });
	section();
	turn = (turn + 1) % threads;
	changed.notify_all();
}

void by_condition_for(int me)
{
	std::unique_lock<std::mutex> lock(mutex);

	while (turn != me)
		changed.wait_for(lock, moment);
	section();
	turn = (turn + 1) % threads;
	changed.notify_all();
}

void by_condition_any(int me)
{
	std::unique_lock<std::timed_mutex> lock(timed);

	while (turn != me)
		changed_any.wait(lock);
	section();
	turn = (turn + 1) % threads;
	changed_any.notify_all();
}

void by_once(int)
{
	std::call_once(flag, section);
	look();
}

void child()
{
	work_some();
	section();
}

void run_join()
{
	for (int i = 0; i < rounds; i++) {
		section();
		std::thread(child).join();
	}
}

void run_async()
{
	for (int i = 0; i < rounds; i++) {
		section();
		std::async(std::launch::async, child).get();
	}
}

void run_deferred()
{
	for (int i = 0; i < rounds; i++) {
		auto f = std::async(std::launch::deferred, child);

		section();
		std::thread([&f] { f.wait(); }).join();
	}
}

// One dies of an exception with the lock, which is caught outside.
void by_throw(int)
{
	try {
		std::lock_guard<std::mutex> lock(mutex);

		section();
		throw 1;
	} catch (int) {
		work_some();
	}
}

// Has the lock while it dies.
struct mourner {
	~mourner()
	{
		section();
	}
};

int nready;

void *wait_forever(void *)
{
	std::unique_lock<std::mutex> lock(mutex);
	mourner m;

	section();
	nready++;
	for (;;)
		changed.wait(lock);
}

// Threads that are cancelled while they wait.
void run_cancel()
{
	for (int i = 0; i < rounds / 4; i++) {
		pthread_t t[threads];
		bool is_ready = false;

		nready = 0;
		for (auto &one : t)
			pthread_create(&one, nullptr, wait_forever, nullptr);
		while (!is_ready) {
			usleep(100);
			std::lock_guard<std::mutex> lock(mutex);

			is_ready = nready == threads;
		}
		for (auto one : t) {
			std::lock_guard<std::mutex> lock(mutex);

			section();
			pthread_cancel(one);
			work_some();
			section();
		}
		for (auto one : t)
			pthread_join(one, nullptr);
	}
}

const struct {
	const char *name;
	void (*round)(int me);
	void (*all)();
} hows[] = {
        {"mutex", by_mutex, nullptr},
        {"try", by_try, nullptr},
        {"recursive", by_recursive, nullptr},
        {"timed", by_timed, nullptr},
        {"both", by_both, nullptr},
        {"shared", by_shared, nullptr},
        {"shared_timed", by_shared_timed, nullptr},
        {"condition", by_condition, nullptr},
        {"condition_for", by_condition_for, nullptr},
        {"condition_any", by_condition_any, nullptr},
        {"once", by_once, nullptr},
        {"throw", by_throw, nullptr},
        {"join", nullptr, run_join},
        {"async", nullptr, run_async},
        {"deferred", nullptr, run_deferred},
        {"cancel", nullptr, run_cancel},
};

void run(void (*round)(int me), int me)
{
	for (int i = 0; i < rounds; i++) {
		work_some();
		round(me);
	}
}

void run_all(void (*round)(int me))
{
	std::vector<std::thread> all;

	for (int i = 0; i < threads; i++)
		all.emplace_back(run, round, i);
	for (auto &t : all)
		t.join();
}

} // namespace

int main(int argc, char **argv)
{
	for (const auto &how : hows) {
		if (argc < 2) {
			puts(how.name);
		} else if (!strcmp(argv[1], how.name)) {
			if (how.all)
				how.all();
			else
				run_all(how.round);
			order_print();
			return 0;
		}
	}
	return argc > 1;
}
