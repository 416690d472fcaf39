// Exceptions and destructors through calls that may be inlined, and threads.
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

static thread_local unsigned state = 7;

static NOINLINE unsigned next(unsigned n)
{
	state = state * 1103515245u + 12345u;
	return (state >> 16) % n;
}

struct Guard {
	int &count;
	explicit Guard(int &c) : count(c)
	{
	}
	NOINLINE ~Guard()
	{
		count++;
	}
};

static NOINLINE int fails(int x)
{
	if (x == 3)
		throw std::runtime_error("three");
	if (x == 5)
		throw 5;
	return x * 2;
}

static NOINLINE int passes(int x, int &count)
{
	Guard guard(count);

	return fails(x) + 1;
}

static NOINLINE int plain(int x)
{
	return fails(x) - (x > 4 ? fails(x - 4) : 0);
}

static NOINLINE int catches(int x, int &count)
{
	try {
		return passes(x, count) + plain(x);
	} catch (const std::exception &) {
		return -1;
	}
}

static NOINLINE int outer(int x, int &count)
{
	int y;

	try {
		y = catches(x, count);
		if (y < 0)
			y = plain(x + 1);
	} catch (int z) {
		y = z;
	}
	return y;
}

static NOINLINE long work(unsigned seed)
{
	long sum = 0;
	int count = 0;

	state = seed;
	for (int i = 0; i < 300; i++)
		sum += outer(static_cast<int>(next(8)), count);
	return sum + count;
}

int main()
{
	std::vector<std::thread> threads;
	long sums[3];

	for (unsigned i = 0; i < 3; i++)
		threads.emplace_back([&sums, i] { sums[i] = work(i); });
	for (auto &t : threads)
		t.join();
	printf("%ld %ld %ld %ld\n", sums[0], sums[1], sums[2], work(9));
	return 0;
}
