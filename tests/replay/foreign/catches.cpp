// SPDX-License-Identifier: Apache-2.0
// Code without marks that catches what its callbacks throw.
extern "C" int outside(int (*F)(int, ...), int N);

extern "C" int outside(int (*F)(int, ...), int N)
{
	try {
		return F(3, N, N, N) + 1;
	} catch (...) {
		return -1;
	}
}
