/* SPDX-License-Identifier: Apache-2.0 */
int counted = 3;
static __thread int each = 5;
int work(int n);

int work(int n)
{
	counted += n;
	each += n;
	return counted + each;
}
