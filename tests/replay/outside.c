/* SPDX-License-Identifier: Apache-2.0 */
/* The time, the pid, random bytes, addresses: the output decides the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	unsigned char bytes[64];
	char text[256];
	void *p = malloc(100);
	unsigned long s = 0;
	size_t n;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return 1;
	snprintf(text, sizeof(text), "%ld %d %p %p", (long)time(NULL),
	         (int)getpid(), p, (void *)&s);
	n = strlen(text);
	for (size_t i = 0; i < sizeof(bytes); i++)
		for (unsigned k = 0; k < bytes[i]; k++)
			s = s * 31 + (unsigned char)text[k % n];
	printf("%lu\n", s);
	free(p);
	return 0;
}
