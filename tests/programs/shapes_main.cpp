/* SPDX-License-Identifier: Apache-2.0 */
/* C++ over two files: exceptions, virtual calls, templates, lambdas, static
 * constructors, thread-local objects, threads. */
#include "shapes.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>

struct noisy {
	const char *name;
	explicit noisy(const char *n) : name(n)
	{
		std::printf("make %s\n", name);
	}
	~noisy()
	{
		std::printf("destroy %s\n", name);
	}
};

static noisy global("global");
static thread_local ring<int, 4> mine;

static int guarded(int x)
{
	noisy local("local");

	return limit(x) + limit(x * 2);
}

static int catches(int n)
{
	int s = 0;

	for (int i = -2; i < n; i++) {
		try {
			s += guarded(i * 20);
		} catch (const std::out_of_range &e) {
			std::printf("caught %s\n", e.what());
			s += 1000;
		}
	}
	return s;
}

static double areas()
{
	double sum = 0;

	for (const char *kind : {"square", "circle", "blob", "square"}) {
		try {
			std::unique_ptr<shape> s(make(kind, 1.5));

			sum += s->area() +
			       static_cast<double>(s->name().size());
		} catch (const std::invalid_argument &e) {
			std::printf("%s\n", e.what());
		}
	}
	return sum;
}

static long threads()
{
	std::atomic<long> sum{0};
	std::vector<std::thread> all;

	for (int t = 0; t < 3; t++)
		all.emplace_back([t, &sum] {
			for (int i = 0; i < 1000; i++)
				mine.push(i * t);
			sum += mine.sum();
		});
	for (std::thread &t : all)
		t.join();
	return sum;
}

int main()
{
	std::map<std::string, int> words;
	std::vector<std::string> text = {"a", "b", "a", "c", "b", "a"};

	for (const std::string &w : text)
		words[w]++;
	std::sort(text.begin(), text.end(),
	          [&](const std::string &x, const std::string &y) {
		          return words[x] != words[y] ? words[x] > words[y]
		                                      : x < y;
	          });
	std::printf("%s %s\n", text.front().c_str(), text.back().c_str());
	std::printf("catches %d\n", catches(5));
	std::printf("areas %.3f\n", areas());
	std::printf("templates %d %s\n", use_templates(50),
	            largest(text).c_str());
	std::printf("threads %ld\n", threads());
	return 3;
}
