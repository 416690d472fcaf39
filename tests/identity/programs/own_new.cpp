/* SPDX-License-Identifier: Apache-2.0 */
// operator new and delete of the program, which throw, and a handler that
// makes room.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

static int left_ = 40, handled;

void *operator new(std::size_t n)
{
	while (left_-- <= 0) {
		std::new_handler h = std::get_new_handler();
		if (!h)
			throw std::bad_alloc();
		h();
	}
	return std::malloc(n ? n : 1);
}

void operator delete(void *p) noexcept
{
	left_++;
	std::free(p);
}

void operator delete(void *p, std::size_t) noexcept
{
	left_++;
	std::free(p);
}

static void more()
{
	if (++handled == 2)
		std::set_new_handler(nullptr);
	left_ = 3;
}

int main()
{
	std::vector<std::string *> all;
	int failed = 0;

	all.reserve(100);
	std::set_new_handler(more);
	for (int i = 0; i < 60; i++) {
		try {
			all.push_back(new std::string(30 + i, 'x'));
		} catch (const std::bad_alloc &) {
			failed++;
		}
	}
	std::printf("%zu %d %d\n", all.size(), failed, handled);
	for (auto *s : all)
		delete s;
}
