/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with 1 MiB of counters, of which it touches a few pages, or none,
 * or all: the checksum of the file has to be right in any case.
 * usage: big PAGE...: counts in these pages; "again" has the file sealed and
 * opened again in between, "all" stands for all pages.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "marks.h"

#define PAGES 256
#define WORDS_PER_PAGE 512

extern uint64_t cnt_big[PAGES * WORDS_PER_PAGE]
        __attribute__((visibility("hidden")));
__asm__(".pushsection cairn_cnts,\"aw\",@nobits\n"
        ".balign 8\n.globl cnt_big\n.hidden cnt_big\ncnt_big:\n"
        ".zero 1048576\n.popsection\n");

static void touch(unsigned page)
{
	ENTER();
	__asm__ volatile(
	        "addq $1, %0"
	        : "+m"(*(
	                uint64_t *)((uintptr_t)&cnt_big[page * WORDS_PER_PAGE +
	                                                page % WORDS_PER_PAGE] +
	                            (uint64_t)delta_)));
}

int main(int argc, char **argv)
{
	ENTER();
	(void)delta_;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "again"))
			execl("/nonexistent/program", "x", (char *)NULL);
		else if (!strcmp(argv[i], "all"))
			for (unsigned n = 0; n < PAGES; n++)
				touch(n);
		else
			touch((unsigned)atoi(argv[i]) % PAGES);
	}
	return 0;
}
