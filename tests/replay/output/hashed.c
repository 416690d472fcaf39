/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what it has computed, and waits to be killed. */
#include <unistd.h>

static char text[101];

int main(void)
{
	unsigned x = 1;

	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] =
		        (char)('a' + (x = x * 1103515245 + 12345) % 7919 % 26);
	if (write(1, text, sizeof(text)) < 0)
		return 1;
	for (;;)
		pause();
}
