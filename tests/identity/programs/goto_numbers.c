/* SPDX-License-Identifier: Apache-2.0 */
// A recording, in which a computed goto is a switch, has no other blocks.
// levels: -O1
// modes: edges record
// differs: record step
// ask: edges | 0 | report --json {file} | \A(?![^\0]*"id": 6)
// ask: record | 0 | report --json {file} | \A(?![^\0]*"id": 6)
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
