// SPDX-License-Identifier: Apache-2.0
// Functions that this unit's IR has and the program has not, or not from here:
// inline ones of two files, weak ones, what the compiler drops late (streams).
#include "files.h"

#include <cstdio>

__attribute__((weak, noinline)) int weakling(int x)
{
	return x > 1 ? 2 * x : 1;
}

static int step(int x)
{
	return x + (x > 2);
}

static int (*const table[])(int) = {shared, step, weakling};

int main()
{
	Box<int> *box = make(3);
	int sum = 0;

	box->set(shared(4));
	for (int i = 0; i < 6; i++)
		sum += table[i % 3](i);
	printf("%d %d %d %s\n", box->value, sum, weakling(3),
	       text_of(box->value).c_str());
	delete box;
	return 0;
}
