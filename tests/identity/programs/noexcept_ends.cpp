/* SPDX-License-Identifier: Apache-2.0 */
// A throw that may not leave: the handler of std::terminate ends it all.
// exit: 3
#include <cstdio>
#include <cstdlib>
#include <exception>

static int n;

static void end()
{
	std::printf("terminate %d\n", n);
	std::fflush(stdout);
	std::_Exit(3);
}

static int inner(int x)
{
	if (x > 2)
		throw x;
	return x;
}

static int outer(int x) noexcept
{
	n++;
	return inner(x) + 1;
}

int main()
{
	int sum = 0;

	std::set_terminate(end);
	for (int i = 0; i < 5; i++)
		sum += outer(i);
	std::printf("%d\n", sum);
}
