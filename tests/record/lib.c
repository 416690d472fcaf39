/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object of a recording; uselib.c calls it, and it calls back. */
int calls;
int api(int (*f)(int), int n);

int api(int (*f)(int), int n)
{
	int sum = 0;

	calls++;
	for (int i = 0; i < n; i++)
		sum += f(i) * 3;
	return sum;
}
