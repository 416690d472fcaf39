/* SPDX-License-Identifier: Apache-2.0 */
// A label that computed gotos and other branches reach (b) has a block of its
// own for the gotos: in all modes, so that blocks have the same numbers in all.
// defect: 28
__attribute__((noinline)) static int step(int i, int *n)
{
	static void *labels[] = {&&a, &&b, &&end};

	goto *labels[i];
a:
	n[0]++;
	i = 2;
b: /* by the goto, and from above */
	n[1]++;
	i = 2;
	goto *labels[i];
end:
	return n[1];
}

int main(void)
{
	int n[2] = {0};

	return step(0, n) != 1;
}
