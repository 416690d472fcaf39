/* SPDX-License-Identifier: Apache-2.0 */
// Lines of half() ran, but only in inlined copies, of which the optimizer left
// the call of printf.  Its own code was never called: that is no zero.
// levels: -O2 -O3
// ask: * | 0 | report --format lcov {file} | \A(?![^\0]*^DA:\d+,0$)
// ask: * | 0 | report --format lcov {file} | ^DA:14,2$
#include <stdio.h>

int half(int x)
{
	if (x < 0)
		x = -x;
	x = x / 2;
	printf("%d\n", x);
	x = x * 2;
	return x;
}

int (*volatile kept)(int) = half;

int main(void)
{
	half(4);
	half(8);
	return 0;
}
