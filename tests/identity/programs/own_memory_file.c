/* SPDX-License-Identifier: Apache-2.0 */
// It writes its own memory, through /proc and by a system call for others'.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

static int value = 3;
static volatile int other = 5;

__attribute__((noinline)) static int look(void)
{
	if (value > 10)
		return value + other;
	return value;
}

int main(void)
{
	int fd = open("/proc/self/mem", O_RDWR), to = 40, sum = look();
	struct iovec from = {&to, sizeof(to)}, at = {&value, sizeof(value)};

	if (fd < 0)
		return 1;
	if (process_vm_writev(getpid(), &from, 1, &at, 1, 0) != sizeof(to))
		return 2;
	sum = sum * 100 + look();
	to = 7;
	if (pwrite(fd, &to, sizeof(to), (off_t)&other) != sizeof(to))
		return 3;
	sum = sum * 100 + look();
	printf("%d\n", sum);
	return 0;
}
