/* SPDX-License-Identifier: Apache-2.0 */
// Exceptions and thread-local destructors in a static executable.
// ld: -static
// cc: -pthread
#include <cstdio>
#include <stdexcept>
#include <thread>

struct tracker {
	int n = 0;
	~tracker()
	{
		std::printf("gone %d\n", n);
	}
};

static thread_local tracker t;

static void work(int x)
{
	try {
		t.n += x;
		if (x > 1)
			throw std::runtime_error("two");
	} catch (const std::exception &e) {
		std::printf("%s\n", e.what());
	}
}

int main()
{
	for (int i = 1; i < 4; i++)
		std::thread(work, i).join();
	work(2);
}
