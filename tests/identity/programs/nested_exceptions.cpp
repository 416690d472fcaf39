/* SPDX-License-Identifier: Apache-2.0 */
// Exceptions in exceptions, thrown in handlers, kept beyond them, of types
// with several bases.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

struct coded {
	int code;
};
struct error : std::runtime_error, coded {
	error(const char *w, int c) : std::runtime_error(w), coded{c}
	{
	}
};

static void level(int n)
{
	try {
		if (n == 0)
			throw error("bottom", 4);
		level(n - 1);
	} catch (const coded &c) {
		if (n % 2)
			std::throw_with_nested(std::logic_error("wrapped"));
		throw;
	} catch (...) {
		if (n > 3)
			std::throw_with_nested(error("outer", n));
		throw;
	}
}

static int unwrap(const std::exception &e)
{
	int n = static_cast<int>(std::string(e.what()).size());
	if (auto *c = dynamic_cast<const coded *>(&e))
		n += c->code * 100;
	try {
		std::rethrow_if_nested(e);
	} catch (const std::exception &inner) {
		n += 10 * unwrap(inner);
	}
	return n;
}

int main()
{
	for (int i = 0; i < 6; i++)
		try {
			level(i);
		} catch (const std::exception &e) {
			std::printf("%d\n", unwrap(e));
		}
}
