// SPDX-License-Identifier: Apache-2.0
// Variables of threads that are initialised when they are first used.
#include <cstdio>
#include <string>
#include <thread>

static int count;

static int next()
{
	return ++count * 3;
}

thread_local int number = next();
thread_local std::string text = "thread " + std::to_string(number);
thread_local int plain = 5;

static int *where(bool first)
{
	static thread_local int one = next();
	static thread_local int other = 40;

	return first ? &one : &other;
}

static void work()
{
	for (int i = 0; i < 3; i++)
		plain += number + ++*where(i % 2 == 0);
	std::printf("%s %d %d\n", text.c_str(), plain, *where(true));
}

int main()
{
	work();
	for (int i = 0; i < 3; i++)
		std::thread(work).join();
	return 0;
}
