// SPDX-License-Identifier: Apache-2.0
#include "files.h"

__attribute__((weak, noinline)) int weakling(int x)
{
	return x > 2 ? 5 * x : 2;
}

Box<int> *make(int x)
{
	auto *box = new Box<int>;

	box->set(shared(x) + weakling(x) + int(text_of(x).size()));
	return box;
}
