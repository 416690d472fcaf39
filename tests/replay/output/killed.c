/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to stdout, and waits to be killed with something in its buffer, or
 * nothing: as argv[1] says. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is(char **argv, const char *how)
{
	return !strcmp(argv[1], how);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (is(argv, "unbuffered"))
		setvbuf(stdout, NULL, _IONBF, 0);
	printf("first\n");
	if (is(argv, "large"))
		for (int i = 0; i < 2000; i++)
			printf("number %d\n", i);
	printf("%s", "second");
	if (is(argv, "flushed"))
		fflush(stdout);
	if (is(argv, "closed"))
		fclose(stdout);
	if (is(argv, "direct") && write(1, "direct\n", 7) != 7)
		return 1;
	for (;;)
		pause();
}
