/* SPDX-License-Identifier: Apache-2.0 */
/* ends HOW: ends with something in the buffer of stdout, which comes out or
 * not; or with a stdout that is not as it should be. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static void last(void)
{
	printf("an exit handler\n");
	putc_unlocked('!', stdout);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "wide")) {
		wprintf(L"wide\n");
		printf("narrow: %d\n", 1);
		return puts("nothing") == EOF ? 0 : 1;
	}
	if (!strcmp(how, "unbuffered"))
		setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(how, "lines"))
		setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(how, "closed"))
		close(1);
	printf("line %d: one\nand two %d", __LINE__, argc);
	putc_unlocked('x', stdout);
	putc_unlocked('\n', stdout);
	putc_unlocked('y', stdout);
	printf("three");
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "signal"))
		raise(SIGSEGV);
	if (!strcmp(how, "crash")) {
		fflush(stdout);
		printf("lost");
		fprintf(stderr, "not lost\n");
		for (int i = 0; i < argc; i++)
			*(volatile int *)(uintptr_t)(argc - 2) = 1;
	}
	if (!strcmp(how, "fork")) {
		fflush(stdout);
		if (fork())
			wait(NULL);
		else
			printf("the child ");
		printf("and its parent\n");
	}
	if (!strcmp(how, "exec"))
		execl("/bin/echo", "echo", "another program", (char *)0);
	if (!strcmp(how, "noexec"))
		execl("/nowhere", "nowhere", (char *)0);
	if (!strcmp(how, "quick_exit"))
		quick_exit(0);
	if (!strcmp(how, "fclose"))
		fclose(stdout);
	atexit(last);
	return 0;
}
