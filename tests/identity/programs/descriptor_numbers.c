/* SPDX-License-Identifier: Apache-2.0 */
// Which descriptors are free is nobody else's business.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int a = open("/dev/null", O_RDONLY), b = dup(a), c, p[2];

	close(a);
	c = open("/dev/zero", O_RDONLY);
	if (pipe(p))
		return 1;
	printf("%d %d %d %d %d\n", a, b, c, p[0], p[1]);
	return c == a ? 0 : 1;
}
