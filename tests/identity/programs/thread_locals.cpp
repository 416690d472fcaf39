/* SPDX-License-Identifier: Apache-2.0 */
// Destructors of thread-local objects, which make others and end threads.
// cc: -pthread -std=c++17
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

static std::string log_;

struct late {
	std::string name;
	~late()
	{
		log_ += "~" + name;
	}
};

static thread_local late *pointer;

struct first {
	int n;
	explicit first(int x) : n(x)
	{
		log_ += "(" + std::to_string(n);
	}
	~first()
	{
		static thread_local late other{"x" + std::to_string(n)};
		log_ += ")" + other.name;
		if (pointer)
			pointer->name += "!";
	}
};

static void work(int n)
{
	thread_local late kept{"k"};
	thread_local first f(n);
	pointer = &kept;
	if (n > 1)
		work(n - 1);
}

int main()
{
	for (int i = 1; i < 4; i++)
		std::thread(work, i).join();
	std::printf("%s\n", log_.c_str());
}
