/* SPDX-License-Identifier: Apache-2.0 */
// Input that comes while the program goes on: POSIX's asynchronous reads.
// varies: main
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char room[64];
	struct aiocb cb;
	const struct aiocb *list[] = {&cb};
	int p[2], sum = 0;

	if (pipe(p))
		return 1;
	for (int i = 0; i < 5; i++) {
		memset(&cb, 0, sizeof(cb));
		memset(room, 'r', sizeof(room));
		cb.aio_fildes = p[0];
		cb.aio_buf = room + i;
		cb.aio_nbytes = 10;
		if (aio_read(&cb))
			return 2;
		if (write(p[1], "0123456789", 10) != 10)
			return 3;
		while (aio_error(&cb) == EINPROGRESS)
			aio_suspend(list, 1, NULL);
		if (aio_return(&cb) == 10 && room[i + 3] == '3')
			sum += room[i + 9] + room[i + 10];
	}
	printf("%d\n", sum);
	return 0;
}
