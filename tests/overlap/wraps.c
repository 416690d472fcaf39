// SPDX-License-Identifier: Apache-2.0
/* What wrapped.c calls, and what it would have called. */

static volatile int sink;

int called(int n);
int __real_called(int n);
int __wrap_called(int n);

int called(int n)
{
	if (n & 8)
		sink++;
	return n + 1;
}

int __wrap_called(int n)
{
	if (n % 3 == 0)
		sink += 2;
	else if (n % 3 == 1)
		sink += 3;
	return __real_called(n) + sink % 2;
}
