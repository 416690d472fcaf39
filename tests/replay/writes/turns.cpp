// SPDX-License-Identifier: Apache-2.0
// As turns.c, in C++: std::atomic, std::atomic_flag, a shared pointer, fences
// around what is relaxed; a member that is atomic.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

constexpr int NTHREADS = 4, ROUNDS = 40;

int guarded, published;
std::atomic<int> counted;

namespace
{

class Spin
{
	std::atomic<bool> Taken{false};

      public:
	void lock()
	{
		while (Taken.exchange(true, std::memory_order_acquire))
			std::this_thread::yield();
	}
	void unlock()
	{
		Taken.store(false, std::memory_order_release);
	}
};

Spin Lock;
std::atomic<int> Whose{0};

void publish(int Me)
{
	while (Whose.load(std::memory_order_relaxed) != Me)
		std::this_thread::yield();
	std::atomic_thread_fence(std::memory_order_acquire);
	published++;
	std::atomic_thread_fence(std::memory_order_release);
	Whose.store((Me + 1) % NTHREADS, std::memory_order_relaxed);
}

void work(int Me, std::shared_ptr<int> Shared)
{
	for (int I = 0; I < ROUNDS; I++) {
		auto Mine = Shared;

		Lock.lock();
		guarded += *Mine;
		Lock.unlock();
		publish(Me);
		counted++;
		if (I % 3 == Me % 3)
			std::this_thread::yield();
	}
}

} // namespace

int main()
{
	auto Shared = std::make_shared<int>(1);
	std::vector<std::thread> Threads;

	for (int I = 0; I < NTHREADS; I++)
		Threads.emplace_back(work, I, Shared);
	for (auto &T : Threads)
		T.join();
	for (const char *Name : {"guarded", "published", "counted"})
		for (int I = 0; I < NTHREADS * ROUNDS; I++)
			std::printf("%s %d %d\n", Name, I, I + 1);
	return 0;
}
