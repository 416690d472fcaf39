/* SPDX-License-Identifier: Apache-2.0 */
// Compiled where every symbol has to be there at once, as on hardened systems.
// buildenv: LD_BIND_NOW=1
// env: LD_BIND_NOW=1
// ld: -Wl,-z,now -Wl,-z,relro
// defect: 10
#include <math.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	double s = 0;

	for (int i = 0; i < argc + 20; i++)
		if (i % 3)
			s += (double)strlen(argv[0] + strlen(argv[0])) + i;
	printf("%.1f\n", s);
	return 0;
}
