/* SPDX-License-Identifier: Apache-2.0 */
// The same addresses in every run.
// wrap: setarch x86_64 -R
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char *a = malloc(100), *b = malloc(300000);
	int same = 0;

	strcpy(a, argv[argc - 1] ? "some" : "none");
	memset(b, 'x', 300000);
	for (int i = 0; i < 4; i++)
		same += a[i] == b[i];
	printf("%d %d\n", same, b[299999]);
	free(b);
	free(a);
	return 0;
}
