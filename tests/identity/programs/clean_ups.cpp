/* SPDX-License-Identifier: Apache-2.0 */
// Clean-ups of exceptions have the lines of scopes' ends: a line ran if its
// ordinary code did, a handler's if the handler did.
// ask: edges | 0 | report --format lcov {file} | ^DA:50,5
// ask: edges | 0 | report --format lcov {file} | ^DA:60,0
// ask: edges | 0 | report --format lcov {file} | ^DA:61,5
// ask: edges | 0 | report --format lcov {file} | ^DA:77,1\nLF
// ask: trace | 0 | report --format lcov {file} | ^DA:50,5
// ask: trace | 0 | report --format lcov {file} | ^DA:60,0
// ask: trace | 0 | report --format lcov {file} | ^DA:61,5
// ask: trace | 0 | report --format lcov {file} | ^DA:77,1\nLF
// ask: record | 0 | report --format lcov {file} | ^DA:50,5
// ask: record | 0 | report --format lcov {file} | ^DA:60,0
// ask: record | 0 | report --format lcov {file} | ^DA:61,5
// ask: record | 0 | report --format lcov {file} | ^DA:77,1\nLF
#include <cstdio>
#include <cstdlib>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

struct Holder {
	NOINLINE Holder()
	{
		sink += 1;
	}
	NOINLINE ~Holder()
	{
		sink += 2;
	}
};

NOINLINE static void odd(int x)
{
	if (x & 1)
		throw x;
}

struct Other {
	int x;
};

/* clang-format off */
NOINLINE static int caught(int x)
{
	Holder h;

	odd(x);
	return x; }

NOINLINE static int handled(int x)
{
	int r = 0;

	try {
		Holder h;
		r = caught(x);
	} catch (const Other &o) {
		r = o.x;
	} catch (int y) { r = y + 1; }
	return r;
}

NOINLINE static void never_ends(int n)
{
	Holder h;
	for (;;) { odd(n++); } }

int main()
{
	Holder h;

	for (volatile int i = 0; i < 10; i++) { sink += handled(i); }
	try { never_ends(0); } catch (int) { sink += 9; }
	std::printf("%d\n", sink);
	std::exit(0);
	return 0; }
