/* SPDX-License-Identifier: Apache-2.0 */
// longjmp and exceptions through a library, and out of it.
// library: lib.so
// ld: {dir}/lib.so -Wl,-rpath,{dir}
#include <csetjmp>
#include <cstdio>

struct broken {
	int n;
};
typedef int call_back(int);
int through(call_back *f, int x);

#ifdef LIBRARY
struct guard {
	int &n;
	~guard()
	{
		n++;
	}
};

int through(call_back *f, int x)
{
	static int left;
	guard g{left};
	int r;

	try {
		r = f(x) + 1;
	} catch (const broken &b) {
		if (b.n > 5)
			throw;
		r = -b.n;
	}
	return r + left;
}
#else
static std::jmp_buf out;

static int thrower(int x)
{
	if (x % 3 == 1)
		throw broken{x};
	return x;
}

static int jumper(int x)
{
	if (x % 4 == 1)
		std::longjmp(out, x + 1);
	return x * 2;
}

int main()
{
	volatile int sum = 0;

	for (volatile int i = 0; i < 12; i++) {
		try {
			sum = sum + through(thrower, i);
		} catch (const broken &b) {
			sum = sum + b.n * 100;
		}
		if (int got = setjmp(out))
			sum = sum + got;
		else
			sum = sum + through(jumper, i);
	}
	std::printf("%d\n", sum);
}
#endif
