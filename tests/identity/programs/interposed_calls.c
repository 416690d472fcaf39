/* SPDX-License-Identifier: Apache-2.0 */
// What a preloaded library has takes the place of libc's, and of the program's
// own exports.
// plain: front.so
// ld: -rdynamic
// env: LD_PRELOAD={dir}/front.so
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PLAIN
#include <dlfcn.h>
int atoi(const char *s)
{
	int (*next)(const char *) =
	        (int (*)(const char *))dlsym(RTLD_NEXT, "atoi");
	return next(s) + 1000;
}

size_t strcspn(const char *a, const char *b)
{
	return strlen(a) * 2 + strlen(b);
}
#else
int main(int argc, char **argv)
{
	int s = 0;

	for (int i = 0; i < 5; i++) {
		char text[12];
		snprintf(text, sizeof(text), "%d", i * argc);
		s += atoi(text);
		s += (int)strcspn(text, argv[argc] ? "x" : "yz");
	}
	printf("%d\n", s);
	return 0;
}
#endif
