// SPDX-License-Identifier: Apache-2.0
// What lines of C++ count, at every level and in every mode: lines.py.
#include <cstdio>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

static volatile int sink, sixty = 60;

struct Guard {
	NOINLINE ~Guard()
	{
		sink = sink - 1; /* counts 220 */
	}
};

struct Plain {
	int x[16];
};

NOINLINE static void touch(Plain &p, int i)
{
	p.x[i & 15] = i; /* counts 60 */
	asm volatile("" : : "r"(p.x) : "memory");
}

NOINLINE static void scopes(int n)
{
	for (int i = 0; i < n; i++) { /* counts 61 */
		{
			Guard g;
			sink = sink + 1; /* counts 60 */
		}                        /* counts 60 */
		{
			Plain p;     /* no code */
			touch(p, i); /* counts 60 */
		}                    /* no code */
		Guard h;
		if (i % 2) /* counts 60 */
			continue;
		sink = sink + 2; /* counts 30 */
	}
}

NOINLINE static int thrower(int i)
{
	Guard g;
	if (i % 3 == 0)                            /* counts 60 */
		throw std::runtime_error("three"); /* counts 20 */
	if (i % 3 == 1)
		throw i; /* counts 20 */
	return i;
}

NOINLINE static int catches(int i)
{
	try {
		return thrower(i); /* counts 60 */
	} catch (const std::exception &e) {
		return e.what()[0];
	} catch (int x) {
		Guard g;
		sink = x; /* counts 20 */
		return x;
	}
}

int main()
{
	int r = 0, n = sixty;
	scopes(n);                  /* counts 1 */
	for (int i = 0; i < n; i++) /* counts 61 */
		r += catches(i);    /* counts 60 */
	auto twice = [&r](int x) {
		sink = x; /* counts 4 */
		r += x;
	};
	for (int i = 0; i < n; i += 15)
		twice(i);
	Guard g[20];
	std::printf("%d\n", r); /* counts 1 */
}
