// SPDX-License-Identifier: Apache-2.0
#include "linked.h"

extern "C" int plain(int x, int (*call)(int x))
{
	return call(x) + call(x + 1) + known(x);
}
