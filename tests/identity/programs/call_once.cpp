/* SPDX-License-Identifier: Apache-2.0 */
// std::call_once whose function throws the first times; a jthread that stops.
// cc: -pthread -std=c++20
// varies: *
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <thread>

static std::once_flag flag;
static int tries;

static void once()
{
	if (++tries < 3)
		throw tries;
}

int main()
{
	int failed = 0;
	std::mutex m;
	std::condition_variable_any cv;

	for (int i = 0; i < 5; i++)
		try {
			std::call_once(flag, once);
		} catch (int) {
			failed++;
		}
	{
		std::jthread t([&](std::stop_token stop) {
			std::unique_lock<std::mutex> lock(m);
			cv.wait(lock, stop, [] { return false; });
			tries += 10;
		});
		t.request_stop();
	}
	std::printf("%d %d\n", failed, tries);
}
