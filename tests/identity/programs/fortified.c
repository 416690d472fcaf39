/* SPDX-License-Identifier: Apache-2.0 */
// Functions of libc that look whether there is room.
// cc: -fstack-protector-strong -D_FORTIFY_SOURCE=3
// levels: -O1 -O2 -O3
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf out;

__attribute__((noinline)) static void copy(char *to, const char *from)
{
	if (!*from)
		longjmp(out, 1);
	memcpy(to, from, strlen(from) + 1);
	strcat(to, "+");
}

int main(int argc, char **argv)
{
	char *heap = malloc((size_t)argc * 10);
	char local[12], *texts[] = {"abc", "de", "f", ""};
	int fds[2];

	if (pipe(fds) || write(fds[1], "12345678", 8) != 8)
		return 1;
	if (!setjmp(out))
		for (int i = 0;; i++) {
			copy(heap, texts[i]);
			snprintf(local, sizeof(local), "%s %d", heap, i);
			puts(local);
		}
	printf("%zd %.3s\n", read(fds[0], local, sizeof(local) - 1), local);
	return 0;
}
