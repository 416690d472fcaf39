/* SPDX-License-Identifier: Apache-2.0 */
// exit: 216
// main calls itself, and is called by an exit handler.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv);

static void again(void)
{
	printf("again %d\n", main(50, NULL));
}

int main(int argc, char **argv)
{
	if (argc == 1)
		atexit(again);
	if (argc == 50 || argc == 7)
		return argc + 1;
	return main(argc + 1, argv) - 8;
}
