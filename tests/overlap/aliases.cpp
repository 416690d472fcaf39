// SPDX-License-Identifier: Apache-2.0
// Calls of a function in another file by a name that is an alias there.
#include "alias.h"

int main()
{
	int sum = 0;

	for (int i = 0; i < 50; i++) {
		counted c(i);

		if (i % 3)
			sum += c.value;
	}
	return sum == 0;
}
