/* SPDX-License-Identifier: Apache-2.0 */
// Arrays and members of which some are made when a constructor throws; try
// blocks of functions; destructors while the stack unwinds.
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

static int alive, gone;

struct part {
	static int next;
	part()
	{
		if (++next % 5 == 0)
			throw next;
		alive++;
	}
	~part()
	{
		alive--;
		gone++;
		try {
			if (gone % 3 == 0)
				throw 1;
		} catch (int) {
		}
	}
};
int part::next;

struct whole {
	part a, b;
	std::vector<part> more;
	explicit whole(int n)
	try : more(n) {
	} catch (int x) {
		throw std::runtime_error(x % 2 ? "odd" : "even");
	}
};

int main()
{
	int odd = 0, made = 0;

	for (int i = 0; i < 12; i++) {
		try {
			whole w(i % 4);
			std::unique_ptr<part[]> p(new part[i % 3]);
			made++;
		} catch (const std::runtime_error &e) {
			odd += e.what()[0] == 'o';
		} catch (int) {
			odd += 10;
		}
	}
	std::printf("%d %d %d %d\n", alive, gone, odd, made);
}
