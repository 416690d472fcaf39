/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps the table in which a battery program counts for itself (battery.h).
 * Compiled plain, without any instrumentation, and linked into every program.
 *
 * The file is $BATTERY_TRUTH/PID.N with the first N that is free: an image
 * that exec replaced keeps its pid and must keep its table.  A child of fork
 * gets a fresh table before fork returns, a child of vfork counts in its
 * parent's, as it does with every other store.  BATTERY_FILE names a file that
 * exists already at full size, for programs that may not create one (ulimit).
 */
#include "battery.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void battery_fail(const char *what)
{
	perror(what);
	_exit(99);
}

static int battery_create(const char *dir)
{
	char path[4096];
	int fd = -1;

	for (int n = 0; fd < 0 && n < 64; n++) {
		snprintf(path, sizeof(path), "%s/%ld.%d", dir, (long)getpid(),
		         n);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	if (fd < 0 || ftruncate(fd, BATTERY_SIZE))
		battery_fail(path);
	return fd;
}

static void battery_map(int fd, int flags)
{
	uint64_t pid = (uint64_t)getpid();
	void *at = mmap((void *)(uintptr_t)BATTERY_BASE, BATTERY_SIZE,
	                PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

	if (at != (void *)(uintptr_t)BATTERY_BASE)
		battery_fail("battery: cannot map the table");
	memcpy(at, &pid, sizeof(pid));
	close(fd);
}

static void battery_fork_child(void)
{
	battery_map(battery_create(getenv("BATTERY_TRUTH")), MAP_FIXED);
}

__attribute__((constructor(101))) static void battery_start(void)
{
	const char *dir = getenv("BATTERY_TRUTH");
	const char *file = getenv("BATTERY_FILE");
	int fd;

	if (!dir) {
		fputs("battery: BATTERY_TRUTH is not set\n", stderr);
		_exit(99);
	}
	fd = file ? open(file, O_RDWR | O_CLOEXEC) : battery_create(dir);
	if (fd < 0)
		battery_fail(file);
	battery_map(fd, MAP_FIXED_NOREPLACE);
	if (pthread_atfork(NULL, NULL, battery_fork_child))
		battery_fail("battery: pthread_atfork");
}

void battery_ready(void)
{
	static const char word[] = "ready\n";

	if (write(1, word, sizeof(word) - 1) < 0)
		battery_fail("battery: stdout");
}

int battery_int(int value)
{
	return value;
}

void battery_nop(void)
{
}
