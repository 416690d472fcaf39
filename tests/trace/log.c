/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log that --cairn=trace,log calls in every block.  Compiled without marks.
 *
 * CAIRN_LOG is a directory.  Each thread of each process has a file there, with
 * the name PID.IMAGE.NUMBER: a word with its kernel id, one with how many
 * blocks it executed, and the blocks, function and number in a word each.  An
 * image that exec replaced keeps its files, a child of fork has its own.  The
 * files are mapped, so that they have everything whatever happens to the
 * process; a place in them is taken by one instruction, so that a signal
 * handler may come in between.
 *
 * Without CAIRN_LOG nothing is logged.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_SIZE ((size_t)1 << 30) /* sparse */
#define LOG_WORDS (LOG_SIZE / 8 - 2)

struct log {
	uint64_t tid, n;
	uint64_t blocks[];
};

void cairn_log_block(const void *function, uint64_t block);

static __thread struct log *mine;
static struct log nobodys;
static unsigned nthreads, image;

static void log_fail(const char *what)
{
	perror(what);
	abort();
}

static void *log_make(const char *dir)
{
	char path[4096];
	unsigned number = __atomic_fetch_add(&nthreads, 1, __ATOMIC_RELAXED);
	void *at;
	int fd = -1;

	do {
		snprintf(path, sizeof(path), "%s/%ld.%u.%u", dir,
		         (long)getpid(), image, number);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno == EEXIST && !number)
			image++;
		else if (fd < 0)
			log_fail(path);
	} while (fd < 0);
	if (ftruncate(fd, (off_t)LOG_SIZE))
		log_fail(path);
	at = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE,
	          MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (at == MAP_FAILED)
		log_fail(path);
	close(fd);
	return at;
}

static void log_begin(void)
{
	const char *dir = getenv("CAIRN_LOG");
	struct log *log = dir ? log_make(dir) : &nobodys;

	log->tid = (uint64_t)syscall(SYS_gettid);
	mine = log;
}

static void log_fork(void)
{
	mine = NULL;
	nthreads = image = 0;
}

__attribute__((constructor(101))) static void log_start(void)
{
	if (pthread_atfork(NULL, NULL, log_fork))
		log_fail("log: pthread_atfork");
}

void cairn_log_block(const void *function, uint64_t block)
{
	uint64_t id = (uint64_t)(uint32_t)(uintptr_t)function << 32 | block;
	uint64_t at = 1;
	int error = errno;

	if (!mine)
		log_begin();
	if (mine == &nobodys)
		return;
	__asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(mine->n) : : "memory");
	if (at < LOG_WORDS)
		mine->blocks[at] = id;
	errno = error;
}
